//! Structural diff of two JSON texts by JSON Pointer, without loss.
//!
//! Both texts are parsed once into hashes of their subtrees. Equal subtrees are folded; members are matched by
//! name, elements aligned by their hashes; what remains is descended into. Rows hold byte spans of the two
//! texts and are formatted only when shown. Scalars are compared by their literals: numbers by exact decimal
//! value, strings by content; equal values in different bytes are `Spelling`, never silently equal.

mod align;
mod few;
mod hash;
mod inline;
mod kin;
mod lines;
mod number;
pub(crate) mod scan;
#[cfg(test)]
mod tests;
pub(crate) mod text;
mod tree;
mod walk;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use serde::Serialize;
use serde_json::value::RawValue;
use thiserror::Error;

pub use inline::{Piece, Tag, inline};
pub use lines::{Lines, Slice};
pub use scan::{MAX_DEPTH, Span};
pub use text::Excerpt;
use walk::{Path, Step};

/// Which of the two texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Side {
    /// The first text.
    A,
    /// The second text.
    B,
}

/// What a diff may cost before it is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of each text; never more than 4 GiB, whatever is set here.
    pub bytes: usize,
    /// Arrays and objects that are not empty, in each text (24 bytes of memory each).
    pub containers: usize,
    /// Members or elements of one container that has to be aligned (some 40 bytes each).
    pub items: usize,
    /// Rows of the result (some 60 bytes each).
    pub rows: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { bytes: 64 << 20, containers: 4 << 20, items: 4 << 20, rows: 1 << 20 }
    }
}

/// The limit that was passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// `Limits::bytes`
    Bytes,
    /// `Limits::containers`
    Containers,
    /// `Limits::items`
    Items,
    /// `Limits::rows`
    Rows,
}

/// Why there is no diff.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum DiffError {
    /// Shown whole instead; see [`Lines`].
    #[error("too large to compare: over the limit of {limit:?}")]
    TooLarge {
        /// Which limit.
        limit: Limit,
    },
    /// The caller asked to stop.
    #[error("comparison cancelled")]
    Cancelled,
    /// Not strict JSON in UTF-8, a name twice in one object, or nested deeper than [`MAX_DEPTH`].
    #[error("side {side:?} is not valid JSON at byte {offset}")]
    Invalid {
        /// Which text.
        side: Side,
        /// The first byte that cannot be accepted.
        offset: usize,
    },
}

/// What a row says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Both sides have a value here, and the values differ.
    Changed,
    /// Only side B has it.
    Added,
    /// Only side A has it.
    Removed,
    /// Equal in value, written with different bytes.
    Spelling,
    /// A fold of equal members or elements.
    Equal,
}

impl Kind {
    /// The word for the command line and for screens.
    pub fn word(self) -> &'static str {
        match self {
            Self::Changed => "changed",
            Self::Added => "added",
            Self::Removed => "removed",
            Self::Spelling => "spelling",
            Self::Equal => "equal",
        }
    }
}

/// One row. `a` and `b` are the spans of the values; for a fold in an array, of the whole run of elements,
/// for a fold in an object, of that object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// What it says.
    pub kind: Kind,
    /// Number of steps of the pointer.
    pub depth: u8,
    /// The value in text A; `None` where it is missing.
    pub a: Option<Span>,
    /// The value in text B; `None` where it is missing.
    pub b: Option<Span>,
    /// How many equal members or elements are folded; 0 for a difference.
    pub fold: u32,
    path: u32,
}

/// How many rows of each kind of difference there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// `Kind::Changed`
    pub changed: usize,
    /// `Kind::Added`
    pub added: usize,
    /// `Kind::Removed`
    pub removed: usize,
    /// `Kind::Spelling`
    pub spelling: usize,
}

/// Differences of bytes that are not differences of value: the reasons why two texts equal in canonical form
/// are not the same text. Numbers and strings have rows too; the others have none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spellings {
    /// White space between tokens.
    pub whitespace: bool,
    /// The order of members.
    pub order: bool,
    /// Escapes in the names of members.
    pub names: bool,
    /// Literals of equal numbers.
    pub numbers: bool,
    /// Escapes in equal strings.
    pub strings: bool,
}

/// What a value is, with the empty ones told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// There is no value.
    Missing,
    /// `null`
    Null,
    /// `true` or `false`
    Boolean,
    /// A number.
    Number,
    /// `""`
    EmptyString,
    /// A string with content.
    String,
    /// `[]`
    EmptyArray,
    /// An array with elements.
    Array,
    /// `{}`
    EmptyObject,
    /// An object with members.
    Object,
}

impl Shape {
    /// The word shown beside a value, so that missing, null and empty never look alike.
    pub fn word(self) -> &'static str {
        match self {
            Self::Missing => "missing",
            Self::Null => "null",
            Self::Boolean => "boolean",
            Self::Number => "number",
            Self::EmptyString => "empty string",
            Self::String => "string",
            Self::EmptyArray => "empty array",
            Self::Array => "array",
            Self::EmptyObject => "empty object",
            Self::Object => "object",
        }
    }

    fn of(value: &[u8]) -> Self {
        let empty = value.get(1..).is_some_and(|rest| rest.trim_ascii_start().len() == 1);
        match (value.first(), empty) {
            (None, _) => Self::Missing,
            (Some(b'n'), _) => Self::Null,
            (Some(b't' | b'f'), _) => Self::Boolean,
            (Some(b'"'), true) if value == b"\"\"" => Self::EmptyString,
            (Some(b'"'), _) => Self::String,
            (Some(b'['), true) => Self::EmptyArray,
            (Some(b'['), false) => Self::Array,
            (Some(b'{'), true) => Self::EmptyObject,
            (Some(b'{'), false) => Self::Object,
            (Some(_), _) => Self::Number,
        }
    }
}

/// A difference as the command line prints it: one object, values as raw JSON on one line, a missing side left out.
#[derive(Clone, Debug, Serialize)]
pub struct JsonRow {
    /// Side A's pointer; side B's for an added value.
    pub pointer: String,
    /// changed, added, removed or spelling.
    pub kind: Kind,
    /// The value in A.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub a: Option<Box<RawValue>>,
    /// The value in B.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub b: Option<Box<RawValue>>,
}

/// The differences between two JSON texts.
pub struct Diff {
    a: Arc<[u8]>,
    b: Arc<[u8]>,
    rows: Vec<Row>,
    paths: Vec<Path>,
    differences: Vec<u32>,
    spellings: Spellings,
}

impl Diff {
    /// Compares two texts. Runs for up to a second on tens of megabytes: call it from a worker thread, and set
    /// `cancel` from elsewhere to stop it.
    pub fn new(a: Arc<[u8]>, b: Arc<[u8]>, cancel: &AtomicBool, limits: Limits) -> Result<Self, DiffError> {
        let found = walk::compare(&a, &b, cancel, limits)?;
        let numbered = (0u32..).zip(&found.rows).filter(|(_, row)| row.kind != Kind::Equal);
        let differences = numbered.map(|(at, _)| at).collect();
        let (rows, paths, spellings) = (found.rows, found.paths, found.spellings);
        Ok(Self { a, b, rows, paths, differences, spellings })
    }

    /// All rows, in the order of side A, added values where they belong.
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// One row.
    pub fn row(&self, at: usize) -> Option<&Row> {
        self.rows.get(at)
    }

    /// Indices of the rows that are differences, ascending: "2 of 5" is the second of these.
    pub fn differences(&self) -> &[u32] {
        &self.differences
    }

    /// How many differences of each kind there are.
    pub fn counts(&self) -> Counts {
        self.rows.iter().fold(Counts::default(), |mut counts, row| {
            match row.kind {
                Kind::Changed => counts.changed += 1,
                Kind::Added => counts.added += 1,
                Kind::Removed => counts.removed += 1,
                Kind::Spelling => counts.spelling += 1,
                Kind::Equal => {}
            }
            counts
        })
    }

    /// Whether both texts are the same bytes.
    pub fn same_bytes(&self) -> bool {
        self.a == self.b
    }

    /// Whether both texts have the same value, that is, differ in spelling at most.
    pub fn same_value(&self) -> bool {
        self.rows.iter().all(|row| matches!(row.kind, Kind::Equal | Kind::Spelling))
    }

    /// In which ways equal values are spelt differently.
    pub fn spellings(&self) -> Spellings {
        self.spellings
    }

    /// Side A's pointer, or side B's for an added value. A fold is named by the container it stands in.
    pub fn pointer(&self, row: &Row) -> String {
        self.pointer_a(row).or_else(|| self.pointer_b(row)).unwrap_or_default()
    }

    /// Where the row stands in A; `None` for an added value.
    pub fn pointer_a(&self, row: &Row) -> Option<String> {
        self.climb(row, Side::A)
    }

    /// Where the row stands in B; `None` for a removed value. It differs from A's where elements shifted.
    pub fn pointer_b(&self, row: &Row) -> Option<String> {
        self.climb(row, Side::B)
    }

    /// For a fold in an array, the index of its first element in A and in B.
    pub fn fold_start(&self, row: &Row) -> Option<(u32, u32)> {
        match self.paths.get(row.path as usize) {
            Some(Path { a: Step::Index(a), b: Step::Index(b), .. }) if row.kind == Kind::Equal => {
                Some((*a, *b))
            }
            _ => None,
        }
    }

    fn climb(&self, row: &Row, side: Side) -> Option<String> {
        let mut steps = Vec::with_capacity(usize::from(row.depth) + 1);
        let mut path = self.paths.get(row.path as usize)?;
        if row.kind == Kind::Equal {
            path = self.paths.get(path.parent as usize)?;
        }
        loop {
            match if side == Side::A { path.a } else { path.b } {
                Step::Root => break,
                Step::Missing => return None,
                step => steps.push(step),
            }
            path = self.paths.get(path.parent as usize)?;
        }
        let mut pointer = String::new();
        for step in steps.iter().rev() {
            match step {
                Step::Key(key) => {
                    let name = text::unescape(key.of(self.source(side)));
                    text::push_step(&mut pointer, &String::from_utf8_lossy(&name));
                }
                Step::Index(index) => text::push_step(&mut pointer, &index.to_string()),
                Step::Root | Step::Missing => {}
            }
        }
        Some(pointer)
    }

    /// One side's whole text.
    pub fn source(&self, side: Side) -> &[u8] {
        match side {
            Side::A => &self.a,
            Side::B => &self.b,
        }
    }

    /// The row's value on one side, byte for byte.
    pub fn value(&self, row: &Row, side: Side) -> Option<&[u8]> {
        let span = if side == Side::A { row.a } else { row.b };
        span.map(|span| span.of(self.source(side)))
    }

    /// The row's value on one side on one line, at most `limit` characters of its JSON text.
    pub fn text(&self, row: &Row, side: Side, limit: usize) -> Option<Excerpt> {
        self.value(row, side).map(|value| text::excerpt(value, limit))
    }

    /// What the row's value on one side is.
    pub fn shape(&self, row: &Row, side: Side) -> Shape {
        self.value(row, side).map_or(Shape::Missing, Shape::of)
    }

    /// The content of a string value, escapes resolved; `None` where the value is not a string.
    pub fn string(&self, row: &Row, side: Side) -> Option<String> {
        let value = self.value(row, side).filter(|value| value.first() == Some(&b'"'))?;
        Some(String::from_utf8_lossy(&text::unescape(value)).into_owned())
    }

    /// The row as the command line prints it; `None` for folds and for a row that is not there.
    pub fn json_row(&self, at: usize) -> Option<JsonRow> {
        let row = self.rows.get(at).filter(|row| row.kind != Kind::Equal)?;
        let raw = |side| {
            let text = String::from_utf8(text::compact(self.value(row, side)?)).ok()?;
            RawValue::from_string(text).ok()
        };
        Some(JsonRow { pointer: self.pointer(row), kind: row.kind, a: raw(Side::A), b: raw(Side::B) })
    }
}

impl std::fmt::Debug for Diff {
    /// Payloads are not ours and may be huge: only counts are shown.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Diff").field("rows", &self.rows.len()).field("counts", &self.counts()).finish()
    }
}
