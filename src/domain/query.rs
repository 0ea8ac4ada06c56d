//! The filter language of docket, command line and HTTP.
//!
//! Words and quoted phrases are free text; `state: reason: trace: task: agent: label:k=v age>2h since: until:
//! candidates>2 failure: mine` filter; `-` negates any term; a comma inside a value means any of; `*` in a
//! trace, task, agent or label value stands for any text unless quoted. All terms must hold (screens.md,
//! Docket). Dates without a time are days in UTC.

use std::fmt;
use std::ops::Range;

mod complete;
mod glob;
mod matching;
mod parse;
mod show;
#[cfg(test)]
mod tests;
mod time;
mod value;
mod words;

pub use complete::Completion;
pub use glob::Glob;
pub use matching::{Row, contains_ignoring_case};

/// Longest input, in bytes.
pub const MAX_INPUT: usize = 4096;

/// Most terms in one query.
pub const MAX_TERMS: usize = 64;

/// A filter: every term must hold.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Query {
    /// The terms in the order they were written.
    pub terms: Vec<Term>,
}

/// One term of a filter. Two terms are equal if they ask the same, wherever they stand.
#[derive(Debug, Clone)]
pub struct Term {
    /// Written with `-`: holds where the test does not.
    pub negated: bool,
    /// Where it stands in the input, in bytes.
    pub span: Range<usize>,
    /// What it asks.
    pub what: Test,
}

impl PartialEq for Term {
    fn eq(&self, other: &Self) -> bool {
        self.negated == other.negated && self.what == other.what
    }
}

impl Eq for Term {}

/// What a term asks of a row. Lists mean any of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Test {
    /// Appears in task, goal, question or trace, without regard to case.
    Text(String),
    /// Runtime states, from [`Query::states`].
    State(Vec<&'static str>),
    /// Reasons to wait, from [`Query::reasons`].
    Reason(Vec<&'static str>),
    /// Trace ids.
    Trace(Vec<Glob>),
    /// Task ids.
    Task(Vec<Glob>),
    /// Agent names.
    Agent(Vec<Glob>),
    /// A label with one of the values; without values: the label exists.
    Label {
        /// The exact key.
        key: String,
        /// Patterns for its value.
        values: Vec<Glob>,
    },
    /// How long it has waited.
    Age {
        /// The comparison.
        op: Op,
        /// Milliseconds.
        millis: i64,
    },
    /// Waits since this time or later.
    Since(When),
    /// Waits since this time or earlier.
    Until(When),
    /// How many candidates or questions it holds.
    Candidates {
        /// The comparison.
        op: Op,
        /// The number.
        n: u32,
    },
    /// Kinds of failure, from [`Query::failures`].
    Failure(Vec<&'static str>),
    /// Assigned to whoever asks.
    Mine,
}

impl Test {
    /// The key of a term that not every list has.
    fn key(&self) -> Option<&'static str> {
        match self {
            Test::Reason(_) => Some("reason"),
            Test::Label { .. } => Some("label"),
            Test::Failure(_) => Some("failure"),
            _ => None,
        }
    }
}

/// A comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Op {
    /// `>`
    Over,
    /// `>=`
    AtLeast,
    /// `<`
    Under,
    /// `<=`
    AtMost,
    /// `=` or `:`
    Exactly,
}

impl Op {
    fn holds<T: Ord>(self, left: T, right: T) -> bool {
        match self {
            Self::Over => left > right,
            Self::AtLeast => left >= right,
            Self::Under => left < right,
            Self::AtMost => left <= right,
            Self::Exactly => left == right,
        }
    }
}

/// A point in time, as written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum When {
    /// Unix milliseconds.
    At(i64),
    /// This many milliseconds before the moment of asking.
    Ago(i64),
}

impl When {
    /// Unix milliseconds, given the time now.
    #[must_use]
    pub fn resolve(self, now_ms: i64) -> i64 {
        match self {
            Self::At(at) => at,
            Self::Ago(millis) => now_ms.saturating_sub(millis),
        }
    }
}

/// Something in the input that is no filter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueryError {
    /// The bytes to put the caret under; on character boundaries.
    pub at: Range<usize>,
    /// What is wrong, one sentence fragment, safe to show.
    pub message: String,
    /// What to write instead, safe to show.
    pub hint: String,
}

impl fmt::Display for QueryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; {}", self.message, self.hint)
    }
}

impl std::error::Error for QueryError {}

impl Query {
    /// Parses a filter.
    ///
    /// # Errors
    /// All that is wrong with it, in the order of the input.
    pub fn parse(input: &str) -> Result<Self, Vec<QueryError>> {
        let (query, errors) = Self::parse_lenient(input);
        if errors.is_empty() { Ok(query) } else { Err(errors) }
    }

    /// Parses what can be parsed: the terms that are fine, and what is wrong with the others.
    #[must_use]
    pub fn parse_lenient(input: &str) -> (Self, Vec<QueryError>) {
        parse::parse(input)
    }

    /// The same for a list whose rows have nothing for some keys: a term with one of these is wrong there.
    #[must_use]
    pub fn parse_without(input: &str, keys: &[&str]) -> (Self, Vec<QueryError>) {
        let (mut query, mut errors) = Self::parse_lenient(input);
        query.terms.retain(|term| {
            let Some(key) = term.what.key().filter(|key| keys.contains(key)) else { return true };
            errors.push(QueryError {
                at: term.span.clone(),
                message: format!("{key}: means nothing here"),
                hint: "leave it out".to_owned(),
            });
            false
        });
        errors.sort_by_key(|error| error.at.start);
        (query, errors)
    }

    /// Whether all terms hold for a row at a time (Unix milliseconds).
    pub fn matches(&self, row: &impl Row, now_ms: i64) -> bool {
        self.terms.iter().all(|term| matching::holds(&term.what, row, now_ms) != term.negated)
    }

    /// What could stand at `cursor` (bytes): keys, or values of the key that is being written.
    #[must_use]
    pub fn completions(input: &str, cursor: usize) -> Vec<Completion> {
        complete::completions(input, cursor)
    }

    /// The names `state:` accepts (contract section 5).
    pub fn states() -> impl Iterator<Item = &'static str> {
        words::names(words::STATES)
    }

    /// The names `reason:` accepts (contract section 7).
    pub fn reasons() -> impl Iterator<Item = &'static str> {
        words::names(words::REASONS)
    }

    /// The names `failure:` accepts (contract section 10).
    pub fn failures() -> impl Iterator<Item = &'static str> {
        words::names(words::FAILURES)
    }
}
