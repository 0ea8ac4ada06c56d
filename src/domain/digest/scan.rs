//! Reads JSON text strictly, once, without recursion, and tells a witness what it saw.

use std::ops::Range;

use super::order::{Key, Order};
use super::problem::{Problem, Rejection};
use super::string;

/// Whoever wants to know more than that the text is valid.
pub(super) trait Witness {
    /// A member (with its name) or element of the top-level object or array has been read.
    fn child(&mut self, _key: Option<Key>, _value: Range<usize>) {}
    /// The object that opened and closed at these offsets was not in order; its names are, now.
    fn shuffled(&mut self, _open: usize, _sorted: &[Key], _close: usize) {}
}

impl Witness for () {}

/// Checks that the bytes are UTF-8 and JSON by RFC 8259, at most `max_depth` arrays and objects deep, without
/// repeated member names or lone surrogates. Safe for any input: the stack does not grow with the nesting.
pub fn scan(bytes: &[u8], max_depth: usize) -> Result<(), Rejection> {
    read(bytes, max_depth, Order::CodePoint, &mut ()).map(|_| ())
}

/// Does what [`scan`] does, telling the witness; returns the text.
pub(super) fn read<'a, W: Witness>(
    bytes: &'a [u8],
    max_depth: usize,
    order: Order,
    witness: &mut W,
) -> Result<&'a str, Rejection> {
    let text = str::from_utf8(bytes).map_err(|error| Problem::Utf8.at(error.valid_up_to()))?;
    Reader { text, at: 0, max_depth, order, witness, frames: Vec::new(), keys: Vec::new() }.read()?;
    Ok(text)
}

/// An array or object that is still open.
struct Frame {
    open: usize,
    /// Where its names start on the stack of names; `None` for an array.
    names: Option<usize>,
    sorted: bool,
    escaped: bool,
}

struct Reader<'a, 'w, W> {
    text: &'a str,
    at: usize,
    max_depth: usize,
    order: Order,
    witness: &'w mut W,
    frames: Vec<Frame>,
    /// The names of all open objects, the innermost last.
    keys: Vec<Key>,
}

impl<W: Witness> Reader<'_, '_, W> {
    fn read(&mut self) -> Result<(), Rejection> {
        self.space();
        loop {
            let start = self.at;
            match self.peek() {
                Some(b'"') => _ = self.string()?,
                Some(b'-' | b'0'..=b'9') => self.number()?,
                Some(b'{') => {
                    if self.open(b'}')? {
                        self.name()?;
                        continue;
                    }
                }
                Some(b'[') => {
                    if self.open(b']')? {
                        continue;
                    }
                }
                Some(b't') => self.word(b"true")?,
                Some(b'f') => self.word(b"false")?,
                Some(b'n') => self.word(b"null")?,
                _ => return Err(self.fail()),
            }
            if !self.close(start)? {
                return if self.peek().is_none() { Ok(()) } else { Err(self.fail()) };
            }
        }
    }

    /// Enters an array or object; false when it turned out to be empty and is behind us.
    fn open(&mut self, end: u8) -> Result<bool, Rejection> {
        let open = self.at;
        if self.frames.len() >= self.max_depth {
            return Err(Problem::Depth.at(open));
        }
        self.at += 1;
        self.space();
        if self.peek() == Some(end) {
            self.at += 1;
            return Ok(false);
        }
        let names = (end == b'}').then_some(self.keys.len());
        self.frames.push(Frame { open, names, sorted: true, escaped: false });
        Ok(true)
    }

    /// Goes from the end of a value to the start of the next; false after the last one of the text.
    fn close(&mut self, mut start: usize) -> Result<bool, Rejection> {
        loop {
            let end = self.at;
            self.space();
            let Some(frame) = self.frames.last() else { return Ok(false) };
            if self.frames.len() == 1 {
                self.witness.child(frame.names.and(self.keys.last().copied()), start..end);
            }
            start = frame.open;
            match (self.peek(), frame.names) {
                (Some(b','), names) => {
                    self.at += 1;
                    self.space();
                    if names.is_some() {
                        self.name()?;
                    }
                    return Ok(true);
                }
                (Some(b']'), None) => {}
                (Some(b'}'), Some(names)) => {
                    if !frame.sorted {
                        let keys = self.keys.get_mut(names..).unwrap_or_default();
                        let sorted = self.order.sort(self.text, frame.escaped, keys);
                        sorted.map_err(|repeat| Problem::DuplicateKey.at(repeat.start - 1))?;
                        self.witness.shuffled(frame.open, keys, self.at);
                    }
                    self.keys.truncate(names);
                }
                _ => return Err(self.fail()),
            }
            self.at += 1;
            self.frames.pop();
        }
    }

    /// Reads a member's name and colon.
    fn name(&mut self) -> Result<(), Rejection> {
        let open = self.at;
        if self.peek() != Some(b'"') {
            return Err(self.fail());
        }
        let escaped = self.string()?;
        let key = Key { start: open + 1, end: self.at - 1 };
        if let Some(frame) = self.frames.last_mut() {
            frame.escaped |= escaped;
            let before = self.keys.get(frame.names.unwrap_or_default()..).and_then(<[Key]>::last);
            if let (true, Some(&before)) = (frame.sorted, before) {
                let order = self.order.compare(self.text, frame.escaped, before, key);
                if order.is_eq() {
                    return Err(Problem::DuplicateKey.at(open));
                }
                frame.sorted = order.is_lt();
            }
        }
        self.keys.push(key);
        self.space();
        if self.peek() != Some(b':') {
            return Err(self.fail());
        }
        self.at += 1;
        self.space();
        Ok(())
    }

    /// Reads a string; true when it holds an escape.
    fn string(&mut self) -> Result<bool, Rejection> {
        let mut escaped = false;
        self.at += 1;
        loop {
            self.at += string::run::<false>(self.text.as_bytes(), self.at);
            match self.peek() {
                Some(b'"') => break,
                Some(b'\\') => {
                    let rest = self.text.as_bytes().get(self.at..).unwrap_or_default();
                    let (_, length) = string::escape(rest).map_err(|problem| problem.at(self.at))?;
                    self.at += length;
                    escaped = true;
                }
                _ => return Err(self.fail()),
            }
        }
        self.at += 1;
        Ok(escaped)
    }

    fn number(&mut self) -> Result<(), Rejection> {
        self.at += usize::from(self.peek() == Some(b'-'));
        if self.peek() == Some(b'0') {
            self.at += 1;
        } else {
            self.digits()?;
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        if let Some(b'e' | b'E') = self.peek() {
            self.at += 1;
            self.at += usize::from(matches!(self.peek(), Some(b'+' | b'-')));
            self.digits()?;
        }
        Ok(())
    }

    /// Reads one digit or more.
    fn digits(&mut self) -> Result<(), Rejection> {
        let count = string::digits(self.text.as_bytes(), self.at);
        self.at += count;
        if count == 0 { Err(self.fail()) } else { Ok(()) }
    }

    fn word(&mut self, word: &[u8]) -> Result<(), Rejection> {
        let rest = self.text.as_bytes().get(self.at..).unwrap_or_default();
        let same = rest.iter().zip(word).take_while(|(a, b)| a == b).count();
        self.at += same;
        if same == word.len() { Ok(()) } else { Err(self.fail()) }
    }

    fn space(&mut self) {
        while let Some(b' ' | b'\n' | b'\r' | b'\t') = self.peek() {
            self.at += 1;
        }
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn fail(&self) -> Rejection {
        Problem::Syntax.at(self.at)
    }
}
