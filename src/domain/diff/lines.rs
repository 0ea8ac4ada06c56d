//! Lines of one document, pretty printed or raw, of which only the visible ones are ever built.
//!
//! The index keeps a place of the scanner every few lines and the spans of every long line, so that a line is
//! found by reading a few kilobytes, whatever the size of the document; a string of 20 MB is shown in pieces.

use std::sync::Arc;

use super::scan::{Place, Scanner, Span, Syntax, Token, skip_space};
use super::{DiffError, Limit, Side};

/// Lines between two places.
const STRIDE: u32 = 64;
/// A line that takes more bytes than this is kept by its spans, and a place is kept behind it.
const REACH: u32 = 4096;
/// Bytes between two counts of characters.
const BLOCK: usize = 16 * 1024;

/// An index over the lines of one JSON text.
pub struct Lines {
    text: Arc<[u8]>,
    pretty: bool,
    count: u32,
    /// Line numbers, ascending from 0, and how to read on from there.
    places: Vec<(u32, Place)>,
    long: Vec<(u32, Line)>,
    /// Characters of the text in front of each block.
    chars: Vec<u32>,
}

/// A piece of one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slice {
    /// The characters. Not ours: reveal them before drawing.
    pub text: String,
    /// Whether the line holds characters in front of these.
    pub before: bool,
    /// Whether the line goes on behind these.
    pub more: bool,
}

/// What a line is made of.
#[derive(Clone, Copy)]
struct Line {
    level: u8,
    key: Option<Span>,
    value: Value,
    comma: bool,
}

#[derive(Clone, Copy)]
enum Value {
    Text(Span),
    Empty(Span),
}

/// A part of a line: ours or the document's.
#[derive(Clone)]
enum Part {
    Ours(&'static str),
    Theirs(Span),
}

impl Lines {
    /// Indexes the text as pretty-printed lines, two spaces a level, literals as they are written.
    /// Refuses a text over 4 GiB and, unlike [`Lines::raw`], one that is not JSON; errors name side A.
    pub fn pretty(text: Arc<[u8]>) -> Result<Self, DiffError> {
        Self::index(text, true)
    }

    /// Indexes the text as it is, broken at line feeds. Refuses a text over 4 GiB and one that is not UTF-8.
    pub fn raw(text: Arc<[u8]>) -> Result<Self, DiffError> {
        Self::index(text, false)
    }

    fn index(text: Arc<[u8]>, pretty: bool) -> Result<Self, DiffError> {
        if text.len() >= u32::MAX as usize {
            return Err(DiffError::TooLarge { limit: Limit::Bytes });
        }
        let invalid = |offset| DiffError::Invalid { side: Side::A, offset };
        std::str::from_utf8(&text).map_err(|error| invalid(error.valid_up_to()))?;
        let mut chars = vec![0];
        let mut sum = 0u32;
        for block in text.chunks(BLOCK) {
            sum = sum.saturating_add(leads(block));
            chars.push(sum);
        }
        let mut lines =
            Self { text, pretty, count: 0, places: vec![(0, Place::start())], long: vec![], chars };
        let mut place = Place::start();
        let (mut line_at, mut kept) = (0u32, 0u32);
        while let Some((line, next)) = lines.read(place).map_err(|Syntax(offset)| invalid(offset))? {
            if lines.count - line_at >= STRIDE || place.offset() - kept >= REACH {
                lines.places.push((lines.count, place));
                (line_at, kept) = (lines.count, place.offset());
            }
            if next.offset() - place.offset() >= REACH {
                lines.long.push((lines.count, line));
            }
            lines.count = lines.count.saturating_add(1);
            place = next;
        }
        Ok(lines)
    }

    /// How many lines there are.
    pub fn len(&self) -> usize {
        self.count as usize
    }

    /// Whether there are none; only an empty raw text has none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The characters of a line.
    pub fn width(&self, line: usize) -> usize {
        self.line(line).map_or(0, |line| self.parts(line).iter().map(|part| self.part_width(part)).sum())
    }

    /// The bytes of the text that a line shows: from its name or value to the end of it, without a comma.
    pub fn span(&self, line: usize) -> Option<Span> {
        let Line { key, value: Value::Text(value) | Value::Empty(value), .. } = self.line(line)?;
        Some(Span { start: key.map_or(value.start, |key| key.start), end: value.end })
    }

    /// The nesting of a line: 0 at the root.
    pub fn level(&self, line: usize) -> usize {
        self.line(line).map_or(0, |line| usize::from(line.level))
    }

    /// Up to `width` characters of a line, from character `from` on; `None` behind the last line.
    pub fn slice(&self, line: usize, from: usize, width: usize) -> Option<Slice> {
        let parts = self.parts(self.line(line)?);
        let mut out = Slice { text: String::new(), before: false, more: false };
        let (to, mut at) = (from.saturating_add(width), 0);
        for part in &parts {
            let size = self.part_width(part);
            let (start, end) = (from.clamp(at, at + size) - at, to.clamp(at, at + size) - at);
            out.before |= start > 0;
            out.more |= end < size;
            if start < end {
                match part {
                    Part::Ours(text) => out.text.extend(text.chars().skip(start).take(end - start)),
                    Part::Theirs(span) => out.text.push_str(&self.cut(*span, start, end)),
                }
            }
            at += size;
        }
        Some(out)
    }

    /// The line that shows the byte at `offset` of the text, to jump to a span.
    pub fn line_at(&self, offset: u32) -> usize {
        let index = self.places.partition_point(|(_, place)| place.offset() <= offset);
        let Some(&(mut number, mut place)) = self.places.get(index.saturating_sub(1)) else { return 0 };
        while let Some(next) = self.next_place(number, place) {
            if next.offset() > offset || number + 1 >= self.count {
                break;
            }
            (number, place) = (number + 1, next);
        }
        number as usize
    }

    /// The place behind a line; a long one is not read again.
    fn next_place(&self, number: u32, place: Place) -> Option<Place> {
        match self.places.binary_search_by_key(&(number + 1), |(line, _)| *line) {
            Ok(index) => self.places.get(index).map(|(_, place)| *place),
            Err(_) => self.read(place).ok().flatten().map(|(_, next)| next),
        }
    }

    fn line(&self, line: usize) -> Option<Line> {
        let line = u32::try_from(line).ok().filter(|&line| line < self.count)?;
        if let Ok(index) = self.long.binary_search_by_key(&line, |(line, _)| *line) {
            return self.long.get(index).map(|(_, line)| *line);
        }
        let index = self.places.partition_point(|(at, _)| *at <= line).checked_sub(1)?;
        let &(mut at, mut place) = self.places.get(index)?;
        loop {
            let (found, next) = self.read(place).ok()??;
            if at == line {
                return Some(found);
            }
            (at, place) = (at + 1, next);
        }
    }

    /// Reads one line at a place.
    fn read(&self, place: Place) -> Result<Option<(Line, Place)>, Syntax> {
        if !self.pretty {
            return Ok(self.read_raw(place));
        }
        let mut scanner = Scanner::resume(&self.text, place);
        let Some(mut token) = scanner.next()? else { return Ok(None) };
        let mut key = None;
        if let Token::Key(span) = token {
            key = Some(span);
            token = scanner.next()?.ok_or(Syntax(self.text.len()))?;
        }
        let mut level = scanner.depth();
        let (value, ends) = match token {
            Token::Scalar(span) | Token::Key(span) => (Value::Text(span), true),
            Token::Close(at) => (Value::Text(Span::new(at, at + 1)), true),
            Token::Open(_, at) => {
                level = level.saturating_sub(1);
                let inside = skip_space(&self.text, at + 1);
                if matches!(self.text.get(inside), Some(b']' | b'}')) {
                    scanner.next()?;
                    (Value::Empty(Span::new(at, inside + 1)), true)
                } else {
                    (Value::Text(Span::new(at, at + 1)), false)
                }
            }
        };
        let comma = ends && scanner.comma_follows();
        let level = u8::try_from(level).unwrap_or(u8::MAX);
        Ok(Some((Line { level, key, value, comma }, scanner.place())))
    }

    fn read_raw(&self, place: Place) -> Option<(Line, Place)> {
        let start = place.offset() as usize;
        let rest = self.text.get(start..).filter(|rest| !rest.is_empty())?;
        let end = start + rest.iter().position(|&b| b == b'\n').unwrap_or(rest.len());
        let line = Line { level: 0, key: None, value: Value::Text(Span::new(start, end)), comma: false };
        Some((line, Place::at(end + 1)))
    }

    fn parts(&self, line: Line) -> Vec<Part> {
        let mut parts = vec![Part::Ours("  "); usize::from(line.level) * usize::from(self.pretty)];
        if let Some(key) = line.key {
            parts.push(Part::Theirs(key));
            parts.push(Part::Ours(": "));
        }
        parts.push(match line.value {
            Value::Text(span) => Part::Theirs(span),
            Value::Empty(span) if span.of(&self.text).first() == Some(&b'[') => Part::Ours("[]"),
            Value::Empty(_) => Part::Ours("{}"),
        });
        if line.comma {
            parts.push(Part::Ours(","));
        }
        parts
    }

    fn part_width(&self, part: &Part) -> usize {
        match part {
            Part::Ours(text) => text.len(),
            Part::Theirs(span) => {
                self.chars_before(span.end as usize) - self.chars_before(span.start as usize)
            }
        }
    }

    /// Characters of the text in front of a byte offset.
    fn chars_before(&self, offset: usize) -> usize {
        let block = offset / BLOCK;
        let counted = self.chars.get(block).copied().unwrap_or(0);
        (counted + leads(self.text.get(block * BLOCK..offset).unwrap_or_default())) as usize
    }

    /// The byte offset of a character of the text.
    fn offset_of(&self, char: usize) -> usize {
        let block = self.chars.partition_point(|&before| before as usize <= char).saturating_sub(1);
        let skip = char - self.chars.get(block).map_or(0, |&before| before as usize);
        let rest = self.text.get(block * BLOCK..).unwrap_or_default();
        let starts = rest.iter().enumerate().filter(|(_, byte)| is_lead(**byte));
        block * BLOCK + starts.map(|(at, _)| at).nth(skip).unwrap_or(rest.len())
    }

    /// Characters `from..to` of a span.
    fn cut(&self, span: Span, from: usize, to: usize) -> String {
        let first = self.chars_before(span.start as usize);
        let (start, end) = (self.offset_of(first + from), self.offset_of(first + to).min(span.end as usize));
        String::from_utf8_lossy(self.text.get(start..end).unwrap_or_default()).into_owned()
    }
}

impl std::fmt::Debug for Lines {
    /// The text is not ours and may be huge: only its size is shown.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Lines").field("lines", &self.count).field("bytes", &self.text.len()).finish()
    }
}

fn is_lead(byte: u8) -> bool {
    byte & 0xC0 != 0x80
}

fn leads(text: &[u8]) -> u32 {
    u32::try_from(text.iter().filter(|&&byte| is_lead(byte)).count()).unwrap_or(u32::MAX)
}
