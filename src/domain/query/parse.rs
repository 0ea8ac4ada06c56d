//! From input to terms, and from mistakes to hints.

use std::ops::Range;

use crate::domain::text::clip;

use super::time::Edge;
use super::value::Value;
use super::words;
use super::{MAX_INPUT, MAX_TERMS, Op, Query, QueryError, Term, Test};

/// One character of a term, with its place and whether quotes took its meaning from it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Mark {
    pub(super) at: usize,
    /// Nothing where a quote opens: it keeps `""` apart from no text at all.
    pub(super) c: Option<char>,
    literal: bool,
}

impl Mark {
    pub(super) fn is(&self, c: char) -> bool {
        self.c == Some(c) && !self.literal
    }
}

pub(super) fn parse(input: &str) -> (Query, Vec<QueryError>) {
    let mut query = Query::default();
    let mut errors = Vec::new();
    if input.len() > MAX_INPUT {
        let at = input.floor_char_boundary(MAX_INPUT)..input.len();
        errors.push(error(
            at,
            "the filter is longer than 4096 bytes".to_owned(),
            "write a shorter one".to_owned(),
        ));
        return (query, errors);
    }
    let mut rest = Chars { input, at: 0 };
    while let Some((span, marks)) = rest.next_term(&mut errors) {
        if query.terms.len() >= MAX_TERMS {
            let message = format!("more than {MAX_TERMS} terms");
            errors.push(error(span.start..input.len(), message, "leave some out".to_owned()));
            break;
        }
        match term(span, &marks) {
            Ok(term) => query.terms.push(term),
            Err(error) => errors.push(error),
        }
    }
    errors.sort_by_key(|error| error.at.start);
    (query, errors)
}

pub(super) fn error(at: Range<usize>, message: String, hint: String) -> QueryError {
    QueryError { at, message, hint }
}

/// What was written, for a message: revealed, short, in backticks.
pub(super) fn said(text: &str) -> String {
    format!("`{}`", clip(text, 40).text)
}

struct Chars<'a> {
    input: &'a str,
    at: usize,
}

impl Chars<'_> {
    fn next(&mut self) -> Option<(usize, char)> {
        let at = self.at;
        let c = self.input.get(at..)?.chars().next()?;
        self.at += c.len_utf8();
        Some((at, c))
    }

    /// The next run of characters up to a space outside quotes. A term whose quote is never closed becomes an
    /// error and ends the input.
    fn next_term(&mut self, errors: &mut Vec<QueryError>) -> Option<(Range<usize>, Vec<Mark>)> {
        let rest = self.input.get(self.at..)?;
        self.at += rest.len() - rest.trim_start().len();
        let start = self.at;
        let mut marks = Vec::new();
        let mut open = None;
        while let Some((at, c)) = self.next() {
            match (open, c) {
                (None, '"') => {
                    open = Some(at);
                    marks.push(Mark { at, c: None, literal: true });
                }
                (Some(_), '"') => open = None,
                (Some(_), '\\') => {
                    let next = self.input.get(self.at..).and_then(|rest| rest.chars().next());
                    let escaped = next.filter(|&next| next == '"' || next == '\\');
                    if escaped.is_some() {
                        self.at += 1;
                    }
                    marks.push(Mark { at, c: Some(escaped.unwrap_or('\\')), literal: true });
                }
                (None, c) if c.is_whitespace() => return Some((start..at, marks)),
                (open, c) => marks.push(Mark { at, c: Some(c), literal: open.is_some() }),
            }
        }
        if let Some(at) = open {
            let hint = "close it with a second \" or leave it out".to_owned();
            errors.push(error(at..self.input.len(), "this quote is never closed".to_owned(), hint));
            return None;
        }
        (start < self.input.len()).then_some((start..self.input.len(), marks))
    }
}

pub(super) fn text(marks: &[Mark]) -> String {
    marks.iter().filter_map(|mark| mark.c).collect()
}

fn term(span: Range<usize>, marks: &[Mark]) -> Result<Term, QueryError> {
    let (negated, marks) = match marks {
        [first, rest @ ..] if first.is('-') => (true, rest),
        all => (false, all),
    };
    if marks.is_empty() {
        let hint = "write the term to exclude, as in -state:failed".to_owned();
        return Err(error(span, "nothing stands behind this -".to_owned(), hint));
    }
    let what = test(&span, marks)?;
    Ok(Term { negated, span, what })
}

fn test(span: &Range<usize>, marks: &[Mark]) -> Result<Test, QueryError> {
    let letters =
        marks.iter().take_while(|mark| !mark.literal && mark.c.is_some_and(|c| c.is_ascii_alphabetic()));
    let (head, tail) = marks.split_at(letters.count());
    let key = text(head).to_ascii_lowercase();
    let known = words::KEYS.iter().find(|(name, ..)| *name == key);
    let separator = tail.first().filter(|mark| mark.is(':') || mark.is('<') || mark.is('>') || mark.is('='));
    match (known, separator) {
        (Some(&("mine", ..)), None) if tail.is_empty() => Ok(Test::Mine),
        (Some(&(name, example, _)), Some(_)) => filter(span, name, example, tail),
        (None, Some(mark)) if !head.is_empty() && !mark.is('=') => {
            Err(unknown_key(span, marks, head.len(), &key))
        }
        _ => {
            let text = text(marks);
            if text.is_empty() {
                let hint = "write the text to search for between the quotes".to_owned();
                return Err(error(span.clone(), "there is nothing to search for".to_owned(), hint));
            }
            Ok(Test::Text(text))
        }
    }
}

fn unknown_key(span: &Range<usize>, marks: &[Mark], length: usize, key: &str) -> QueryError {
    let start = marks.first().map_or(span.start, |mark| mark.at);
    let near = words::nearest(words::KEYS.iter().map(|&(name, ..)| name), key);
    let hint = match near.and_then(|near| words::KEYS.iter().find(|(name, ..)| *name == near)) {
        Some((_, example, _)) => format!("write {example}, or put it in quotes to search for it"),
        None => "put it in quotes to search for it; ? lists the keys".to_owned(),
    };
    error(start..start + length, format!("there is no key {}", said(key)), hint)
}

fn filter(span: &Range<usize>, name: &'static str, example: &str, tail: &[Mark]) -> Result<Test, QueryError> {
    let (op, rest) = operator(tail);
    let wrong_operator = || {
        let at = tail.first().map_or(span.start, |mark| mark.at);
        let value_at = rest.first().map_or(span.end, |mark| mark.at);
        error(at..value_at, format!("{name} is not compared like this"), format!("write {example}"))
    };
    let ordered = matches!(name, "age" | "candidates");
    if op.is_none_or(|op| !ordered && op != Op::Exactly) || (name == "age" && op == Some(Op::Exactly)) {
        return Err(wrong_operator());
    }
    let op = op.unwrap_or(Op::Exactly);
    let value = Value::new(span, name, example, rest)?;
    match name {
        "state" => value.names(words::STATES).map(Test::State),
        "reason" => value.names(words::REASONS).map(Test::Reason),
        "failure" => value.names(words::FAILURES).map(Test::Failure),
        "trace" => value.globs().map(Test::Trace),
        "task" => value.globs().map(Test::Task),
        "agent" => value.globs().map(Test::Agent),
        "label" => value.label(),
        "age" => value.duration().map(|millis| Test::Age { op, millis }),
        "since" => value.when(Edge::Start).map(Test::Since),
        "until" => value.when(Edge::End).map(Test::Until),
        "candidates" => value.number().map(|n| Test::Candidates { op, n }),
        _ => Err(wrong_operator()),
    }
}

/// The comparison at the start of `tail`, and what follows it.
fn operator(tail: &[Mark]) -> (Option<Op>, &[Mark]) {
    match tail {
        [first, second, rest @ ..] if first.is('>') && second.is('=') => (Some(Op::AtLeast), rest),
        [first, second, rest @ ..] if first.is('<') && second.is('=') => (Some(Op::AtMost), rest),
        [first, rest @ ..] if first.is('>') => (Some(Op::Over), rest),
        [first, rest @ ..] if first.is('<') => (Some(Op::Under), rest),
        [first, rest @ ..] if first.is(':') || first.is('=') => (Some(Op::Exactly), rest),
        all => (None, all),
    }
}
