//! JSON text as people and pointers need it: unescaped strings, one-line excerpts, pointer steps.

use std::borrow::Cow;

use super::scan::{hex4, string_end};

/// How many bytes an excerpt looks at, at most: a payload may hold megabytes of white space.
const EXCERPT_BYTES: usize = 64 * 1024;

/// The text of a value, shortened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Excerpt {
    /// The JSON text on one line, white space between tokens left out. Not ours: reveal it before drawing.
    pub text: String,
    /// Whether something was cut off.
    pub more: bool,
}

/// The content of a JSON string (quotes included in `literal`), escapes resolved.
pub(crate) fn unescape(literal: &[u8]) -> Cow<'_, [u8]> {
    let inner = literal.get(1..literal.len().saturating_sub(1)).unwrap_or_default();
    if !inner.contains(&b'\\') {
        return Cow::Borrowed(inner);
    }
    let mut out = Vec::with_capacity(inner.len());
    let mut rest = inner;
    while let Some(cut) = rest.iter().position(|&b| b == b'\\') {
        out.extend_from_slice(rest.get(..cut).unwrap_or_default());
        rest = rest.get(cut..).unwrap_or_default();
        let (ch, used) = escaped(rest);
        out.extend_from_slice(ch.encode_utf8(&mut [0; 4]).as_bytes());
        rest = rest.get(used..).unwrap_or_default();
    }
    out.extend_from_slice(rest);
    Cow::Owned(out)
}

/// The character an escape stands for and how many bytes it takes. The scanner has checked its form.
fn escaped(text: &[u8]) -> (char, usize) {
    match text.get(1) {
        Some(b'b') => ('\u{8}', 2),
        Some(b'f') => ('\u{c}', 2),
        Some(b'n') => ('\n', 2),
        Some(b'r') => ('\r', 2),
        Some(b't') => ('\t', 2),
        Some(b'u') => match (hex4(text, 2), hex4(text, 8)) {
            (Some(high @ 0xD800..=0xDBFF), Some(low @ 0xDC00..=0xDFFF)) => {
                let code = 0x1_0000 + ((high - 0xD800) << 10) + (low - 0xDC00);
                (char::from_u32(code).unwrap_or('\u{fffd}'), 12)
            }
            (Some(code), _) => (char::from_u32(code).unwrap_or('\u{fffd}'), 6),
            (None, _) => ('\u{fffd}', 2),
        },
        Some(&plain) => (char::from(plain), 2),
        None => ('\u{fffd}', 1),
    }
}

/// Whether two string literals have the same content.
pub(crate) fn same_content(a: &[u8], b: &[u8]) -> bool {
    a == b || (contains_escape(a) || contains_escape(b)) && unescape(a) == unescape(b)
}

fn contains_escape(literal: &[u8]) -> bool {
    literal.contains(&b'\\')
}

/// The value on one line, at most `limit` characters; an escape is never cut in two.
pub(crate) fn excerpt(value: &[u8], limit: usize) -> Excerpt {
    let window = value.get(..EXCERPT_BYTES).unwrap_or(value);
    let window = match std::str::from_utf8(window) {
        Ok(text) => text,
        Err(error) => window
            .get(..error.valid_up_to())
            .and_then(|valid| std::str::from_utf8(valid).ok())
            .unwrap_or_default(),
    };
    let (mut text, mut taken, mut in_string) = (String::new(), 0, false);
    let mut chars = window.char_indices();
    while let Some((at, ch)) = chars.next() {
        if !in_string && matches!(ch, ' ' | '\t' | '\n' | '\r') {
            continue;
        }
        let size = if in_string && ch == '\\' {
            escaped(window.as_bytes().get(at..).unwrap_or_default()).1
        } else {
            1
        };
        if taken + size > limit {
            return Excerpt { text, more: true };
        }
        if ch == '"' {
            in_string = !in_string;
        }
        text.push(ch);
        // Escapes are ASCII, so one byte is one character.
        text.extend(chars.by_ref().take(size - 1).map(|(_, ch)| ch));
        taken += size;
    }
    Excerpt { text, more: window.len() < value.len() }
}

/// The same JSON text on one line: white space between tokens left out, nothing else touched.
pub(crate) fn compact(value: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(value.len());
    let mut at = 0;
    while let Some(&byte) = value.get(at) {
        let end = if byte == b'"' { string_end(value, at).unwrap_or(value.len()) } else { at + 1 };
        if !matches!(byte, b' ' | b'\t' | b'\n' | b'\r') {
            out.extend_from_slice(value.get(at..end).unwrap_or_default());
        }
        at = end;
    }
    out
}

/// Appends `/` and one reference token to a pointer (RFC 6901: `~` is `~0`, `/` is `~1`).
pub(crate) fn push_step(pointer: &mut String, name: &str) {
    pointer.push('/');
    for ch in name.chars() {
        match ch {
            '~' => pointer.push_str("~0"),
            '/' => pointer.push_str("~1"),
            ch => pointer.push(ch),
        }
    }
}
