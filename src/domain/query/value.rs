//! The value of a filter term, read as what its key asks for.

use std::ops::Range;

use super::parse::{Mark, error, said, text};
use super::time::{self, Edge};
use super::words::{self, Word};
use super::{Glob, QueryError, Test, When};

/// A value that is not empty.
#[derive(Debug)]
pub(super) struct Value<'a> {
    marks: &'a [Mark],
    at: Range<usize>,
    name: &'static str,
    example: &'a str,
}

/// One of the values between commas.
struct Part<'a> {
    marks: &'a [Mark],
    at: Range<usize>,
}

impl<'a> Value<'a> {
    pub(super) fn new(
        span: &Range<usize>,
        name: &'static str,
        example: &'a str,
        marks: &'a [Mark],
    ) -> Result<Self, QueryError> {
        match marks.first() {
            Some(first) => Ok(Self { marks, at: first.at..span.end, name, example }),
            None => Err(error(span.clone(), format!("{name} has no value"), format!("write {example}"))),
        }
    }

    fn wrong(&self, message: String) -> QueryError {
        error(self.at.clone(), message, format!("write {}", self.example))
    }

    /// Splits at commas outside quotes; nothing between two commas is a mistake.
    fn parts(&self, marks: &'a [Mark]) -> Result<Vec<Part<'a>>, QueryError> {
        let mut parts = Vec::new();
        let mut rest = marks;
        loop {
            let comma = rest.iter().position(|mark| mark.is(','));
            let (part, after) = rest.split_at(comma.unwrap_or(rest.len()));
            let end = after.first().map_or(self.at.end, |mark| mark.at);
            let start = part.first().map_or(end, |mark| mark.at);
            if part.is_empty() {
                let at = start.saturating_sub(usize::from(comma.is_none()))..end.max(start);
                let hint = "write a value on both sides of each comma".to_owned();
                return Err(error(at, "a value is missing beside this comma".to_owned(), hint));
            }
            parts.push(Part { marks: part, at: start..end });
            match after {
                [_, after @ ..] => rest = after,
                [] => return Ok(parts),
            }
        }
    }

    pub(super) fn names(&self, words: &'static [Word]) -> Result<Vec<&'static str>, QueryError> {
        self.parts(self.marks)?
            .into_iter()
            .map(|part| {
                let written = text(part.marks);
                words::find(words, &written).ok_or_else(|| {
                    let hint = match words::nearest(words::names(words), &written) {
                        Some(near) => format!("did you mean {near}?"),
                        None => format!("one of {}", words::names(words).collect::<Vec<_>>().join(", ")),
                    };
                    error(part.at, format!("{} is no {}", said(&written), self.name), hint)
                })
            })
            .collect()
    }

    pub(super) fn globs(&self) -> Result<Vec<Glob>, QueryError> {
        self.globs_in(self.marks)
    }

    fn globs_in(&self, marks: &'a [Mark]) -> Result<Vec<Glob>, QueryError> {
        let parts = self.parts(marks)?;
        Ok(parts
            .into_iter()
            .map(|part| Glob::from_pieces(part.marks.split(|mark| mark.is('*')).map(text)))
            .collect())
    }

    pub(super) fn label(&self) -> Result<Test, QueryError> {
        let sign = self.marks.iter().position(|mark| mark.is('='));
        let (key, rest) = self.marks.split_at(sign.unwrap_or(self.marks.len()));
        let key = text(key);
        if key.is_empty() {
            return Err(self.wrong("the label has no key".to_owned()));
        }
        let values = match rest {
            [] => Vec::new(),
            [_] => return Err(self.wrong(format!("the label {} has no value", said(&key)))),
            [_, values @ ..] => self.globs_in(values)?,
        };
        Ok(Test::Label { key, values })
    }

    pub(super) fn duration(&self) -> Result<i64, QueryError> {
        let written = text(self.marks);
        time::duration(&written).ok_or_else(|| {
            let hint = "write a duration such as 90s, 15m, 2h, 3d, 1w or 1h30m".to_owned();
            error(self.at.clone(), format!("{} is no duration", said(&written)), hint)
        })
    }

    pub(super) fn when(&self, edge: Edge) -> Result<When, QueryError> {
        let written = text(self.marks);
        time::when(&written, edge).ok_or_else(|| {
            let hint = "write 2026-01-31, 2026-01-31T09:30:00Z, or 2d for two days ago".to_owned();
            error(self.at.clone(), format!("{} is no date", said(&written)), hint)
        })
    }

    pub(super) fn number(&self) -> Result<u32, QueryError> {
        let written = text(self.marks);
        let digits = written.bytes().all(|b| b.is_ascii_digit());
        let number = if digits { written.parse().ok() } else { None };
        number.ok_or_else(|| self.wrong(format!("{} is no number up to 4294967295", said(&written))))
    }
}
