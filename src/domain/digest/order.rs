//! The order of an object's members: compared while reading, sorted only where it must be.

use std::cmp::Ordering;

use super::string::unescape;

/// By what two member names are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    /// By UTF-16 code units (RFC 8785, section 3.2.3).
    Utf16,
    /// By code points, as CPython does; the byte order of UTF-8.
    CodePoint,
}

/// Where a member name stands in the text, quotes excluded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Key {
    pub(super) start: usize,
    pub(super) end: usize,
}

impl Key {
    /// The name as written, escapes and all.
    pub(super) fn raw(self, text: &str) -> &str {
        text.get(self.start..self.end).unwrap_or_default()
    }
}

impl Order {
    /// Compares two names; `escaped` says that one of them may hold escapes.
    pub(super) fn compare(self, text: &str, escaped: bool, a: Key, b: Key) -> Ordering {
        let (a, b) = (a.raw(text), b.raw(text));
        if escaped {
            self.plain(unescape(a).as_bytes(), unescape(b).as_bytes())
        } else {
            self.plain(a.as_bytes(), b.as_bytes())
        }
    }

    fn plain(self, a: &[u8], b: &[u8]) -> Ordering {
        match self {
            Self::CodePoint => a.cmp(b),
            Self::Utf16 => match a.iter().zip(b).find(|(a, b)| a != b) {
                Some((&a, &b)) => rank(a).cmp(&rank(b)),
                None => a.len().cmp(&b.len()),
            },
        }
    }

    /// Sorts the names of one object; the first one in the text that repeats another is the error.
    pub(super) fn sort(self, text: &str, escaped: bool, keys: &mut [Key]) -> Result<(), Key> {
        if escaped {
            keys.sort_by_cached_key(|key| {
                let mut name = unescape(key.raw(text)).into_owned().into_bytes();
                if self == Self::Utf16 {
                    name.iter_mut().for_each(|byte| *byte = rank(*byte));
                }
                (name, key.start)
            });
        } else {
            keys.sort_unstable_by(|&a, &b| self.compare(text, false, a, b).then(a.start.cmp(&b.start)));
        }
        let repeated = keys.array_windows().filter(|&&[a, b]| self.compare(text, escaped, a, b).is_eq());
        match repeated.map(|&[_, repeat]| repeat).min_by_key(|repeat| repeat.start) {
            Some(repeat) => Err(repeat),
            None => Ok(()),
        }
    }
}

/// Makes the byte order of UTF-8 that of UTF-16: the two differ only in that surrogates (characters that
/// start with 0xf0 to 0xf4) come before U+E000 to U+FFFF (0xee and 0xef).
fn rank(byte: u8) -> u8 {
    match byte {
        0xee | 0xef => byte + 0x10,
        _ => byte,
    }
}
