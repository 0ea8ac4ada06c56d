//! The answer form: a flat JSON Schema as fields a person can fill in.
//!
//! The schema comes from an agent, so it is bounded, its texts are [`Untrusted`], and nothing in it is ever
//! fetched. What is richer than a flat object of plain fields is [`NotFlat`] and belongs in an editor; a field
//! is never dropped silently (screens.md, Answer; contract section 8). Whatever way an answer was made,
//! [`validate`] has the last word.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Number, Value};

use super::text::{Untrusted, reveal};

mod check;
mod collect;
mod guard;
mod number;
mod read;
#[cfg(test)]
mod tests;

pub use check::validate;

/// Largest schema, in bytes of compact JSON.
pub const MAX_SCHEMA: usize = 256 << 10;

/// Largest answer, in bytes of compact JSON.
pub const MAX_ANSWER: usize = 256 << 10;

/// Deepest nesting of a schema or an answer.
pub const MAX_DEPTH: usize = 32;

/// Most fields of one form; more belong in an editor.
pub const MAX_FIELDS: usize = 100;

/// Most choices of one field.
pub const MAX_CHOICES: usize = 256;

/// A form made from a schema.
#[derive(Debug, Clone, PartialEq)]
pub struct Form {
    /// Title of the whole.
    pub title: Option<Untrusted>,
    /// What it is for.
    pub description: Option<Untrusted>,
    /// Required fields in the order the schema requires them, then the others by name.
    pub fields: Vec<Field>,
    schema: Value,
}

/// One field.
#[derive(Debug, Clone, PartialEq)]
pub struct Field {
    /// The property it fills.
    pub name: Untrusted,
    /// What to call it; the name, where there is none.
    pub title: Option<Untrusted>,
    /// What it is for.
    pub description: Option<Untrusted>,
    /// Must be answered.
    pub required: bool,
    /// What it takes.
    pub kind: Kind,
    /// What to offer; never sent unless the person leaves it in the form.
    pub default: Option<Entry>,
}

/// What a field takes.
#[derive(Debug, Clone, PartialEq)]
pub enum Kind {
    /// A string.
    Text {
        /// `date`, `date-time`, `email`, `uri` or another format.
        format: Option<Untrusted>,
        /// Fewest characters.
        min_length: Option<u64>,
        /// Most characters.
        max_length: Option<u64>,
        /// A regular expression it must match somewhere.
        pattern: Option<Untrusted>,
    },
    /// Any number.
    Number(Box<Limits>),
    /// A whole number.
    Integer(Box<Limits>),
    /// Yes or no.
    Boolean,
    /// One of the choices.
    One(Vec<Choice>),
    /// Any of the choices.
    Many {
        /// What can be chosen.
        choices: Vec<Choice>,
        /// Fewest to choose.
        min_items: Option<u64>,
        /// Most to choose.
        max_items: Option<u64>,
    },
}

/// Limits of a number, as the schema states them.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Limits {
    /// `minimum`
    pub minimum: Option<Number>,
    /// `exclusiveMinimum`
    pub exclusive_minimum: Option<Number>,
    /// `maximum`
    pub maximum: Option<Number>,
    /// `exclusiveMaximum`
    pub exclusive_maximum: Option<Number>,
    /// `multipleOf`
    pub multiple_of: Option<Number>,
}

/// Something to choose.
#[derive(Debug, Clone, PartialEq)]
pub struct Choice {
    /// What is sent.
    pub value: Value,
    /// What is shown.
    pub title: Untrusted,
    /// What it means.
    pub description: Option<Untrusted>,
}

/// What a person put into a field; serializable, because drafts are kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Entry {
    /// Nothing: the property is left out.
    Absent,
    /// Typed text. For a boolean `yes` or `no`, for a choice its value or title.
    Text(String),
    /// Yes or no.
    Flag(bool),
    /// The index of the choice.
    One(usize),
    /// The indexes of the choices, in the order they are sent.
    Many(Vec<usize>),
}

/// Why a schema is no flat form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotFlat {
    /// Where in the schema, a JSON Pointer.
    pub pointer: String,
    /// Why, a sentence fragment that is safe to show.
    pub reason: String,
}

impl fmt::Display for NotFlat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.reason, shown_pointer(&self.pointer))
    }
}

impl std::error::Error for NotFlat {}

/// What is wrong with one place of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldError {
    /// Where in the answer, a JSON Pointer; empty for the answer as a whole.
    pub at: String,
    /// What is wrong, a sentence fragment that is safe to show and does not repeat the answer.
    pub message: String,
}

impl FieldError {
    fn new(at: impl Into<String>, message: impl Into<String>) -> Self {
        Self { at: at.into(), message: message.into() }
    }

    /// The name of the field the pointer leads into, if it leads into one.
    #[must_use]
    pub fn field(&self) -> Option<Cow<'_, str>> {
        let token = self.at.strip_prefix('/')?.split('/').next()?;
        Some(if token.contains('~') {
            token.replace("~1", "/").replace("~0", "~").into()
        } else {
            token.into()
        })
    }
}

impl fmt::Display for FieldError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", shown_pointer(&self.at), self.message)
    }
}

impl std::error::Error for FieldError {}

fn shown_pointer(pointer: &str) -> Cow<'_, str> {
    if pointer.is_empty() { "the whole".into() } else { reveal(pointer).into_cow() }
}

/// A property name as one more step of a JSON Pointer (RFC 6901).
fn step(pointer: &str, name: &str) -> String {
    format!("{pointer}/{}", name.replace('~', "~0").replace('/', "~1"))
}

impl Form {
    /// Reads a schema.
    ///
    /// # Errors
    /// [`NotFlat`] where the schema is richer than a flat object of plain fields, too large, or no usable schema.
    pub fn from_schema(schema: &Value) -> Result<Self, NotFlat> {
        read::form(schema)
    }

    /// Makes the answer from what was entered, keyed by the raw field name, and validates it. Text that looks
    /// like a credential is refused, alone or as the value of a field that asks for one.
    ///
    /// # Errors
    /// Everything that is wrong, by field.
    pub fn collect(&self, entries: &BTreeMap<String, Entry>) -> Result<Value, Vec<FieldError>> {
        collect::collect(self, entries)
    }
}

impl Field {
    /// The entry that stands for a value, for defaults and drafts; nothing if the field cannot hold it.
    #[must_use]
    pub fn entry(&self, value: &Value) -> Option<Entry> {
        read::entry(&self.kind, value)
    }
}
