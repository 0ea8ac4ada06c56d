//! A strict pull scanner over one JSON text (RFC 8259): tokens as byte spans, no recursion, no copies.
//!
//! Everything that walks a payload (the tree, the line index, the masks) reads these tokens, so there is one
//! grammar, one depth limit and one kind of error: the byte offset where the text stopped being strict JSON.

/// The deepest nesting of arrays and objects that is accepted (contract section 2 and 3).
pub const MAX_DEPTH: usize = 100;

/// A byte range of one payload; 32 bits each, because payloads are limited far below 4 GiB.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Span {
    /// Offset of the first byte.
    pub start: u32,
    /// Offset behind the last byte.
    pub end: u32,
}

impl Span {
    pub(crate) fn new(start: usize, end: usize) -> Self {
        let fit = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        Self { start: fit(start), end: fit(end) }
    }

    /// The bytes of the span; empty where the span does not belong to `text`.
    pub fn of(self, text: &[u8]) -> &[u8] {
        text.get(self.start as usize..self.end as usize).unwrap_or_default()
    }

    /// Length in bytes.
    pub fn len(self) -> usize {
        self.end.saturating_sub(self.start) as usize
    }

    /// Whether the span holds no byte.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }
}

/// Where a text stopped being strict JSON within the depth limit, as a byte offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Syntax(pub usize);

/// One token of the text. Strings include their quotes; commas and colons are checked and not reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Token {
    /// `{` (true) or `[` (false) at an offset.
    Open(bool, usize),
    /// `}` or `]`, at an offset.
    Close(usize),
    /// The name of a member.
    Key(Span),
    /// A string, number, true, false or null.
    Scalar(Span),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Expect {
    Value,
    FirstElement,
    FirstKey,
    Key,
    Separator,
}

/// The scanner's place in a text; `Copy`, so that a reader can come back to it later.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    at: u32,
    depth: u8,
    expect: Expect,
    /// One bit per open container, the innermost lowest: set for an object.
    objects: u128,
}

impl Place {
    pub(crate) fn start() -> Self {
        Self { at: 0, depth: 0, expect: Expect::Value, objects: 0 }
    }

    /// The start of a line of raw text, which is not read as tokens.
    pub(crate) fn at(offset: usize) -> Self {
        Self { at: u32::try_from(offset).unwrap_or(u32::MAX), ..Self::start() }
    }

    /// The byte offset of this place.
    pub(crate) fn offset(self) -> u32 {
        self.at
    }

    /// How many containers are open here.
    pub(crate) fn depth(self) -> usize {
        usize::from(self.depth)
    }
}

/// Reads tokens one by one. The text must be UTF-8; the caller checks that once.
pub(crate) struct Scanner<'t> {
    text: &'t [u8],
    at: usize,
    depth: usize,
    expect: Expect,
    objects: u128,
}

impl<'t> Scanner<'t> {
    pub(crate) fn new(text: &'t [u8]) -> Self {
        Self::resume(text, Place::start())
    }

    pub(crate) fn resume(text: &'t [u8], place: Place) -> Self {
        Self {
            text,
            at: place.at as usize,
            depth: place.depth(),
            expect: place.expect,
            objects: place.objects,
        }
    }

    /// Where the scanner stands, between two tokens.
    pub(crate) fn place(&self) -> Place {
        Place {
            at: u32::try_from(self.at).unwrap_or(u32::MAX),
            depth: u8::try_from(self.depth).unwrap_or(u8::MAX),
            expect: self.expect,
            objects: self.objects,
        }
    }

    /// How many containers are open.
    pub(crate) fn depth(&self) -> usize {
        self.depth
    }

    /// Whether a comma follows, without moving.
    pub(crate) fn comma_follows(&self) -> bool {
        self.text.get(skip_space(self.text, self.at)) == Some(&b',')
    }

    fn in_object(&self) -> bool {
        self.depth > 0 && self.objects & 1 == 1
    }

    /// The next token; `None` at the end of a complete text.
    pub(crate) fn next(&mut self) -> Result<Option<Token>, Syntax> {
        let mut at = skip_space(self.text, self.at);
        let mut byte = self.text.get(at).copied();
        if self.expect == Expect::Separator {
            match byte {
                None if self.depth == 0 => return Ok(None),
                Some(b'}') if self.in_object() => return Ok(Some(self.close(at))),
                Some(b']') if self.depth > 0 && !self.in_object() => return Ok(Some(self.close(at))),
                Some(b',') if self.depth > 0 => {
                    self.expect = if self.in_object() { Expect::Key } else { Expect::Value };
                    at = skip_space(self.text, at + 1);
                    byte = self.text.get(at).copied();
                }
                _ => return Err(Syntax(at)),
            }
        }
        match (self.expect, byte) {
            (Expect::FirstKey, Some(b'}')) | (Expect::FirstElement, Some(b']')) => Ok(Some(self.close(at))),
            (Expect::FirstKey | Expect::Key, Some(b'"')) => self.key(at).map(Some),
            (Expect::Value | Expect::FirstElement, Some(byte)) => self.value(at, byte).map(Some),
            _ => Err(Syntax(at)),
        }
    }

    fn key(&mut self, at: usize) -> Result<Token, Syntax> {
        let end = string_end(self.text, at)?;
        let colon = skip_space(self.text, end);
        if self.text.get(colon) != Some(&b':') {
            return Err(Syntax(colon));
        }
        self.at = colon + 1;
        self.expect = Expect::Value;
        Ok(Token::Key(Span::new(at, end)))
    }

    fn value(&mut self, at: usize, byte: u8) -> Result<Token, Syntax> {
        if byte == b'{' || byte == b'[' {
            if self.depth == MAX_DEPTH {
                return Err(Syntax(at));
            }
            let object = byte == b'{';
            self.objects = (self.objects << 1) | u128::from(object);
            self.depth += 1;
            self.at = at + 1;
            self.expect = if object { Expect::FirstKey } else { Expect::FirstElement };
            return Ok(Token::Open(object, at));
        }
        let end = scalar_end(self.text, at)?;
        self.at = end;
        self.expect = Expect::Separator;
        Ok(Token::Scalar(Span::new(at, end)))
    }

    fn close(&mut self, at: usize) -> Token {
        self.objects >>= 1;
        self.depth = self.depth.saturating_sub(1);
        self.at = at + 1;
        self.expect = Expect::Separator;
        Token::Close(at)
    }
}

/// The offset of the first byte at or behind `at` that is not JSON white space.
pub(crate) fn skip_space(text: &[u8], mut at: usize) -> usize {
    while matches!(text.get(at), Some(b' ' | b'\t' | b'\n' | b'\r')) {
        at += 1;
    }
    at
}

/// The end of the string, number or word that starts at `at`.
pub(crate) fn scalar_end(text: &[u8], at: usize) -> Result<usize, Syntax> {
    let word = |word: &[u8]| match text.get(at..at + word.len()) {
        Some(found) if found == word => Ok(at + word.len()),
        _ => Err(Syntax(at)),
    };
    match text.get(at) {
        Some(b'"') => string_end(text, at),
        Some(b't') => word(b"true"),
        Some(b'f') => word(b"false"),
        Some(b'n') => word(b"null"),
        _ => number_end(text, at),
    }
}

fn number_end(text: &[u8], start: usize) -> Result<usize, Syntax> {
    let digits = |from: usize| {
        let run = text.get(from..).unwrap_or_default();
        let end = from + run.iter().take_while(|b| b.is_ascii_digit()).count();
        if end == from { Err(Syntax(from)) } else { Ok(end) }
    };
    let mut at = start + usize::from(text.get(start) == Some(&b'-'));
    at = if text.get(at) == Some(&b'0') { at + 1 } else { digits(at)? };
    if text.get(at) == Some(&b'.') {
        at = digits(at + 1)?;
    }
    if matches!(text.get(at), Some(b'e' | b'E')) {
        at += 1;
        at = digits(at + usize::from(matches!(text.get(at), Some(b'+' | b'-'))))?;
    }
    Ok(at)
}

/// The end of the string whose opening quote stands at `at`, its escapes checked.
pub(crate) fn string_end(text: &[u8], at: usize) -> Result<usize, Syntax> {
    let mut at = at + 1;
    loop {
        at = plain_end(text, at);
        match text.get(at) {
            Some(b'"') => return Ok(at + 1),
            Some(b'\\') => at = escape_end(text, at)?,
            _ => return Err(Syntax(at)),
        }
    }
}

/// The offset of the next quote, backslash, control byte or the end, eight bytes at a time.
fn plain_end(text: &[u8], mut at: usize) -> usize {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGH: u64 = 0x8080_8080_8080_8080;
    let zero = |word: u64| word.wrapping_sub(ONES) & !word & HIGH;
    while let Some(chunk) = text.get(at..).and_then(<[u8]>::first_chunk::<8>) {
        let word = u64::from_le_bytes(*chunk);
        let quote = zero(word ^ (ONES * u64::from(b'"')));
        let back = zero(word ^ (ONES * u64::from(b'\\')));
        let control = word.wrapping_sub(ONES * 0x20) & !word & HIGH;
        let found = quote | back | control;
        if found != 0 {
            return at + (found.trailing_zeros() / 8) as usize;
        }
        at += 8;
    }
    while text.get(at).is_some_and(|&b| b != b'"' && b != b'\\' && b >= 0x20) {
        at += 1;
    }
    at
}

fn escape_end(text: &[u8], at: usize) -> Result<usize, Syntax> {
    match text.get(at + 1) {
        Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => Ok(at + 2),
        Some(b'u') => match hex4(text, at + 2).ok_or(Syntax(at))? {
            0xD800..=0xDBFF => {
                let low = hex4(text, at + 8).filter(|_| text.get(at + 6..at + 8) == Some(b"\\u"));
                if matches!(low, Some(0xDC00..=0xDFFF)) { Ok(at + 12) } else { Err(Syntax(at)) }
            }
            0xDC00..=0xDFFF => Err(Syntax(at)),
            _ => Ok(at + 6),
        },
        _ => Err(Syntax(at)),
    }
}

/// The value of four hexadecimal digits at `at`.
pub(crate) fn hex4(text: &[u8], at: usize) -> Option<u32> {
    text.get(at..at + 4)?.iter().try_fold(0, |sum, &b| Some(sum * 16 + char::from(b).to_digit(16)?))
}
