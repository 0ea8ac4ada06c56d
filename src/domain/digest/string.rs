//! Strings inside JSON text: runs of ordinary bytes, escapes, and their canonical spelling.

use std::borrow::Cow;

use super::problem::Problem;

const ONES: u64 = u64::from_le_bytes([1; 8]);
const HIGH: u64 = u64::from_le_bytes([0x80; 8]);

/// How many bytes from `at` on need no attention: no quote, backslash or control character, and with `ASCII`
/// nothing from 0x7f on either. Eight bytes at a time, because most of a payload is read here.
pub(super) fn run<const ASCII: bool>(text: &[u8], at: usize) -> usize {
    let rest = text.get(at..).unwrap_or_default();
    let (words, tail) = rest.as_chunks::<8>();
    for (index, &word) in words.iter().enumerate() {
        let found = special::<ASCII>(u64::from_le_bytes(word));
        if found != 0 {
            return index * 8 + found.trailing_zeros() as usize / 8;
        }
    }
    let is_special = |&byte: &u8| byte < 0x20 || byte == b'"' || byte == b'\\' || ASCII && byte >= 0x7f;
    words.len() * 8 + tail.iter().position(is_special).unwrap_or(tail.len())
}

/// The high bit of each special byte. A borrow can mark a byte wrongly, but only above a true mark, and only
/// the lowest mark is read.
fn special<const ASCII: bool>(word: u64) -> u64 {
    let below = |limit: u8| word.wrapping_sub(ONES * u64::from(limit)) & !word;
    let equal = |byte: u8| {
        let difference = word ^ (ONES * u64::from(byte));
        difference.wrapping_sub(ONES) & !difference
    };
    let mut marks = below(0x20) | equal(b'"') | equal(b'\\');
    if ASCII {
        marks |= word | equal(0x7f);
    }
    marks & HIGH
}

/// How many decimal digits there are from `at` on.
pub(super) fn digits(text: &[u8], at: usize) -> usize {
    let rest = text.get(at..).unwrap_or_default();
    let (words, tail) = rest.as_chunks::<8>();
    for (index, &word) in words.iter().enumerate() {
        // A digit is 0x30 and at most 9; adding 0x76 carries anything greater into the high bit.
        let value = u64::from_le_bytes(word) ^ (ONES * 0x30);
        let found = (((value & !HIGH) + ONES * 0x76) | value) & HIGH;
        if found != 0 {
            return index * 8 + found.trailing_zeros() as usize / 8;
        }
    }
    words.len() * 8 + tail.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(tail.len())
}

/// Reads the escape that `rest` starts with: the character, and how many bytes spell it.
pub(super) fn escape(rest: &[u8]) -> Result<(char, usize), Problem> {
    let simple = match rest.get(1) {
        Some(b'"') => '"',
        Some(b'\\') => '\\',
        Some(b'/') => '/',
        Some(b'b') => '\u{8}',
        Some(b'f') => '\u{c}',
        Some(b'n') => '\n',
        Some(b'r') => '\r',
        Some(b't') => '\t',
        Some(b'u') => return unicode(rest),
        _ => return Err(Problem::Syntax),
    };
    Ok((simple, 2))
}

fn unicode(rest: &[u8]) -> Result<(char, usize), Problem> {
    let first = unit(rest).ok_or(Problem::Syntax)?;
    if let Some(char) = char::from_u32(first.into()) {
        return Ok((char, 6));
    }
    let second = rest.get(6..).and_then(unit).ok_or(Problem::LoneSurrogate)?;
    match char::decode_utf16([first, second]).next() {
        Some(Ok(char)) => Ok((char, 12)),
        _ => Err(Problem::LoneSurrogate),
    }
}

/// The UTF-16 unit of a `\uXXXX`.
fn unit(escape: &[u8]) -> Option<u16> {
    let digits = escape.strip_prefix(b"\\u")?.first_chunk::<4>()?;
    digits.iter().try_fold(0, |unit, &digit| {
        let value = char::from(digit).to_digit(16)?;
        Some(unit << 4 | u16::try_from(value).ok()?)
    })
}

/// The text that the inside of a valid JSON string stands for.
pub(super) fn unescape(raw: &str) -> Cow<'_, str> {
    if !raw.contains('\\') {
        return Cow::Borrowed(raw);
    }
    let mut plain = String::with_capacity(raw.len());
    let mut rest = raw;
    while let Some((before, _)) = rest.split_once('\\') {
        plain.push_str(before);
        let escaped = rest.get(before.len()..).unwrap_or_default();
        let (char, length) = escape(escaped.as_bytes()).unwrap_or((char::REPLACEMENT_CHARACTER, 1));
        plain.push(char);
        rest = escaped.get(length..).unwrap_or_default();
    }
    plain.push_str(rest);
    Cow::Owned(plain)
}

/// Writes a character as the canonical form spells it: as itself, or by the shortest escape where RFC 8785
/// (and with `ascii` CPython's `ensure_ascii`) asks for one.
pub(super) fn spell(char: char, ascii: bool, into: &mut Vec<u8>) {
    let short = match char {
        '"' => b'"',
        '\\' => b'\\',
        '\u{8}' => b'b',
        '\t' => b't',
        '\n' => b'n',
        '\u{c}' => b'f',
        '\r' => b'r',
        _ if char < ' ' || ascii && char > '~' => {
            for unit in char.encode_utf16(&mut [0; 2]) {
                let nibbles = [*unit >> 12, *unit >> 8 & 15, *unit >> 4 & 15, *unit & 15];
                into.extend_from_slice(b"\\u");
                into.extend(nibbles.map(|n| if n < 10 { b'0' + n as u8 } else { b'a' - 10 + n as u8 }));
            }
            return;
        }
        _ => return into.extend_from_slice(char.encode_utf8(&mut [0; 4]).as_bytes()),
    };
    into.extend_from_slice(&[b'\\', short]);
}
