//! Cuts an input into messages while it streams by: JSON Lines, JSON values over several lines, or one array.
//!
//! Nothing is parsed here beyond finding where a value ends, so that a bad message costs only itself. Memory stays
//! bounded whatever comes: of a message past the limit only the beginning is kept, with its size and digest.

use crate::coordinator::Whole;
use crate::domain::digest::Digest;
use sha2::{Digest as _, Sha256};
use std::io::{self, BufRead, BufReader, Read};

/// How much of a message past the limit is kept, in bytes.
pub const KEPT: usize = 1 << 20;

/// One message as it was found.
#[derive(Debug, PartialEq, Eq)]
pub struct Piece {
    /// Its bytes, white space around it taken away.
    pub raw: Vec<u8>,
    /// The line it begins on, from 1.
    pub line: u64,
    /// For a message past the limit: what the whole was.
    pub whole: Option<Whole>,
}

/// How the input is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Unknown,
    Values,
    Array,
    /// The array is over; nothing may follow it.
    Closed,
    Ended,
}

/// Cuts one input.
pub struct Split<R> {
    input: BufReader<R>,
    limit: usize,
    line: u64,
    mode: Mode,
    /// How many bytes were read.
    pub read: u64,
}

impl<R: Read> Split<R> {
    /// Cuts `input` into messages of at most `limit` bytes.
    pub fn new(input: BufReader<R>, limit: usize) -> Self {
        Split { input, limit, line: 1, mode: Mode::Unknown, read: 0 }
    }

    /// Whether everything that has come in so far was handed out, so that the next read may wait.
    pub fn drained(&self) -> bool {
        self.input.buffer().is_empty()
    }

    /// The next message; `None` at the end.
    ///
    /// # Errors
    /// The input cannot be read, or an array does not end, or something follows it.
    pub fn next_piece(&mut self) -> io::Result<Option<Piece>> {
        loop {
            match self.mode {
                Mode::Unknown => self.detect()?,
                Mode::Ended => return Ok(None),
                Mode::Closed => {
                    self.mode = Mode::Ended;
                    self.end_of_array()?;
                }
                Mode::Array => return self.element(),
                Mode::Values => {
                    let Some(piece) = self.line_or_value()? else { return Ok(None) };
                    if !piece.raw.is_empty() {
                        return Ok(Some(piece));
                    }
                }
            }
        }
    }

    fn detect(&mut self) -> io::Result<()> {
        self.mode = match self.skip_space()? {
            None => Mode::Ended,
            Some(b'[') => {
                self.take(1);
                if self.skip_space()? == Some(b']') {
                    self.take(1);
                    Mode::Closed
                } else {
                    Mode::Array
                }
            }
            Some(_) => Mode::Values,
        };
        Ok(())
    }

    fn take(&mut self, bytes: usize) {
        self.input.consume(bytes);
        self.read += bytes as u64;
    }

    /// Skips white space; gives the byte after it, without taking it.
    fn skip_space(&mut self) -> io::Result<Option<u8>> {
        loop {
            let buffer = self.input.fill_buf()?;
            if buffer.is_empty() {
                return Ok(None);
            }
            let space = buffer.iter().take_while(|b| b.is_ascii_whitespace()).count();
            let newlines = buffer.iter().take(space).filter(|b| **b == b'\n').count();
            let next = buffer.get(space).copied();
            self.line += newlines as u64;
            self.take(space);
            if next.is_some() {
                return Ok(next);
            }
        }
    }

    /// One line, or, where an object begins that its line does not end, all lines up to its end. A line that begins
    /// with `{` is never inside of an object that a person or a program laid out, so the one before it was cut short.
    fn line_or_value(&mut self) -> io::Result<Option<Piece>> {
        let mut kept = Kept::new(self.limit);
        let mut nesting = Nesting::default();
        let begins = self.line;
        loop {
            let ended = self.read_line(&mut kept, &mut nesting)?;
            if ended && kept.size == 0 {
                return Ok(None);
            }
            self.line += u64::from(!ended);
            let open = nesting.open() && kept.hash.is_none();
            if ended || !open || self.input.fill_buf()?.first() == Some(&b'{') {
                return Ok(Some(kept.piece(begins)));
            }
        }
    }

    /// Reads up to and with the next newline; true at the end of the input.
    fn read_line(&mut self, kept: &mut Kept, nesting: &mut Nesting) -> io::Result<bool> {
        loop {
            let buffer = self.input.fill_buf()?;
            if buffer.is_empty() {
                return Ok(true);
            }
            let newline = buffer.iter().position(|b| *b == b'\n');
            let part = buffer.get(..newline.map_or(buffer.len(), |at| at + 1)).unwrap_or_default();
            part.iter().for_each(|b| nesting.see(*b));
            kept.push(part);
            let bytes = part.len();
            self.take(bytes);
            if newline.is_some() {
                return Ok(false);
            }
        }
    }

    /// The next element of the array, which has been entered.
    fn element(&mut self) -> io::Result<Option<Piece>> {
        self.skip_space()?;
        let mut kept = Kept::new(self.limit);
        let mut nesting = Nesting::default();
        let begins = self.line;
        loop {
            let buffer = self.input.fill_buf()?;
            if buffer.is_empty() {
                if kept.size > 0 {
                    // What is there of the last element is kept; that the array does not end is told after it.
                    return Ok(Some(kept.piece(begins)));
                }
                self.mode = Mode::Ended;
                return Err(io::Error::new(
                    io::ErrorKind::InvalidData,
                    "the array does not end: it was cut short",
                ));
            }
            let mut end = None;
            for (at, byte) in buffer.iter().enumerate() {
                let outside = nesting.outside();
                if outside && matches!(byte, b',' | b']') {
                    end = Some((at, *byte));
                    break;
                }
                nesting.see(*byte);
            }
            let part = buffer.get(..end.map_or(buffer.len(), |(at, _)| at)).unwrap_or_default();
            self.line += part.iter().filter(|b| **b == b'\n').count() as u64;
            kept.push(part);
            let bytes = part.len() + usize::from(end.is_some());
            self.take(bytes);
            match end {
                Some((_, b']')) => {
                    // What follows the array is told after its last element, which counts.
                    self.mode = Mode::Closed;
                    return Ok(Some(kept.piece(begins)));
                }
                Some(_) => return Ok(Some(kept.piece(begins))),
                None => {}
            }
        }
    }

    fn end_of_array(&mut self) -> io::Result<()> {
        match self.skip_space()? {
            None => Ok(()),
            Some(_) => {
                let why = format!("something follows the end of the array on line {}", self.line);
                Err(io::Error::new(io::ErrorKind::InvalidData, why))
            }
        }
    }
}

/// Where in a JSON value the reader is.
#[derive(Debug, Default)]
struct Nesting {
    depth: i64,
    string: bool,
    escaped: bool,
}

impl Nesting {
    fn see(&mut self, byte: u8) {
        match (self.string, self.escaped, byte) {
            (true, true, _) => self.escaped = false,
            (true, false, b'\\') => self.escaped = true,
            (true, false, b'"') => self.string = false,
            (true, false, _) => {}
            (false, _, b'"') => self.string = true,
            (false, _, b'{' | b'[') => self.depth += 1,
            (false, _, b'}' | b']') => self.depth -= 1,
            _ => {}
        }
    }

    fn open(&self) -> bool {
        self.depth > 0
    }

    fn outside(&self) -> bool {
        self.depth <= 0 && !self.string
    }
}

/// The bytes of one message, or only its beginning once it is past the limit.
struct Kept {
    bytes: Vec<u8>,
    size: u64,
    limit: usize,
    hash: Option<Sha256>,
}

impl Kept {
    fn new(limit: usize) -> Self {
        Kept { bytes: Vec::new(), size: 0, limit, hash: None }
    }

    fn push(&mut self, part: &[u8]) {
        self.size += part.len() as u64;
        if let Some(hash) = &mut self.hash {
            hash.update(part);
            return;
        }
        // A newline may stand behind the last byte that counts.
        if self.bytes.len() + part.len() > self.limit.saturating_add(2) {
            let mut hash = Sha256::new();
            hash.update(&self.bytes);
            hash.update(part);
            self.hash = Some(hash);
            let room = KEPT.saturating_sub(self.bytes.len()).min(part.len());
            self.bytes.extend_from_slice(part.get(..room).unwrap_or_default());
            self.bytes.truncate(KEPT);
            self.bytes.shrink_to_fit();
            return;
        }
        if self.bytes.len() + part.len() > KEPT && self.bytes.capacity() <= self.limit {
            // Room for all that is allowed, once: growing step by step would hold the old room beside the new one.
            self.bytes.reserve_exact(self.limit.saturating_add(2) - self.bytes.len());
        }
        self.bytes.extend_from_slice(part);
    }

    fn piece(self, line: u64) -> Piece {
        let whole = self
            .hash
            .map(|hash| Whole { size: self.size, digest: Digest::from_bytes(hash.finalize().into()) });
        let raw = match whole {
            Some(_) => self.bytes,
            None => trimmed(self.bytes),
        };
        Piece { raw, line, whole }
    }
}

fn trimmed(mut bytes: Vec<u8>) -> Vec<u8> {
    let end = bytes.trim_ascii_end().len();
    bytes.truncate(end);
    let start = end - bytes.trim_ascii_start().len();
    if start > 0 {
        bytes.drain(..start);
    }
    bytes
}

#[cfg(test)]
mod tests;
