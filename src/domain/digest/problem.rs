//! What can be wrong with a JSON text, and where.

use std::fmt;

/// Why a JSON scheme refuses a payload (contract section 3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Problem {
    /// The bytes are not UTF-8; looked for before anything else.
    Utf8,
    /// The text is not JSON by RFC 8259.
    Syntax,
    /// Two members of one object have the same name once escapes are resolved.
    DuplicateKey,
    /// An escape names half of a surrogate pair, which no UTF-8 text can hold.
    LoneSurrogate,
    /// A number is too large for a double.
    Overflow,
    /// A number that is not zero would become zero.
    Underflow,
    /// A number would be changed by passing through a double.
    Precision,
    /// Too many arrays and objects are open at once.
    Depth,
    /// An integer has more digits than CPython reads.
    IntegerRange,
}

impl Problem {
    /// The stable code, as in the vectors and in a quarantine reason.
    pub fn code(self) -> &'static str {
        match self {
            Self::Utf8 => "utf8",
            Self::Syntax => "syntax",
            Self::DuplicateKey => "duplicate-key",
            Self::LoneSurrogate => "lone-surrogate",
            Self::Overflow => "overflow",
            Self::Underflow => "underflow",
            Self::Precision => "precision",
            Self::Depth => "depth",
            Self::IntegerRange => "integer-range",
        }
    }

    /// What is wrong, as a sentence fragment for a person.
    pub fn sentence(self) -> &'static str {
        match self {
            Self::Utf8 => "the bytes are not UTF-8",
            Self::Syntax => "the text is not JSON here",
            Self::DuplicateKey => "this object already has a member of that name",
            Self::LoneSurrogate => "the escape is half of a surrogate pair",
            Self::Overflow => "the number is too large for a double",
            Self::Underflow => "the number is not zero but would become zero",
            Self::Precision => "the number would be changed by passing through a double",
            Self::Depth => "arrays and objects are nested too deeply",
            Self::IntegerRange => "the integer has more than 4300 digits",
        }
    }

    pub(super) fn at(self, offset: usize) -> Rejection {
        Rejection { problem: self, offset }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.code())
    }
}

/// A problem and its byte offset, counted from 0; at most the length of the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
#[error("{problem} at byte {offset}: {}", problem.sentence())]
pub struct Rejection {
    /// What is wrong.
    pub problem: Problem,
    /// Where: the first byte of the offending token, or the byte no token can start with.
    pub offset: usize,
}
