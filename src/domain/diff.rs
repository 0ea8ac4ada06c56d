//! Structural diff of two JSON texts by JSON Pointer, without loss.
//!
//! Both texts are parsed once into hashes of their subtrees. Equal subtrees are folded; members are matched by
//! name, elements aligned by their hashes; what remains is descended into. Rows hold byte spans of the two
//! texts and are formatted only when shown. Scalars are compared by their literals: numbers by exact decimal
//! value, strings by content; equal values in different bytes are `Spelling`, never silently equal.

mod align;
mod cancel;
mod element;
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

use serde::Serialize;
use serde_json::value::RawValue;
use thiserror::Error;

use cancel::heed;
pub use cancel::{Cancel, Phase};
pub use element::Element;
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

impl Side {
    /// The other one.
    pub fn other(self) -> Side {
        if self == Side::A { Side::B } else { Side::A }
    }
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

impl Row {
    /// The value's place in one text; `None` where it is missing.
    pub fn span(&self, side: Side) -> Option<Span> {
        if side == Side::A { self.a } else { self.b }
    }
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
    namings: element::Namings,
    differences: Vec<u32>,
    /// The differences that have a value in A, and those that have one in B, by where it stands.
    places: [Vec<u32>; 2],
    spellings: Spellings,
}

impl Diff {
    /// Compares two texts. Runs for up to a second on tens of megabytes: call it from a worker thread, and set
    /// `cancel` from elsewhere to stop it.
    pub fn new(a: Arc<[u8]>, b: Arc<[u8]>, cancel: &dyn Cancel, limits: Limits) -> Result<Self, DiffError> {
        let found = walk::compare(&a, &b, cancel, limits)?;
        let numbered = (0u32..).zip(&found.rows).filter(|(_, row)| row.kind != Kind::Equal);
        let differences: Vec<u32> = numbered.map(|(at, _)| at).collect();
        let walk::Found { rows, paths, namings, spellings } = found;
        let places = [Side::A, Side::B].map(|side| {
            let start =
                |at: &u32| rows.get(*at as usize).and_then(|row| row.span(side)).map(|span| span.start);
            let mut places: Vec<u32> = differences.iter().copied().filter(|at| start(at).is_some()).collect();
            places.sort_by_key(start);
            places
        });
        Ok(Self { a, b, rows, paths, namings, differences, places, spellings })
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

    /// The first difference of which some byte stands within `span` of one text.
    pub fn difference_in(&self, side: Side, span: Span) -> Option<&Row> {
        let places = if side == Side::A { self.places.first() } else { self.places.last() }?;
        let place = |at: &u32| self.row(*at as usize).and_then(|row| row.span(side));
        // They do not overlap, so their ends ascend as their starts do.
        let next = places.partition_point(|at| place(at).is_some_and(|own| own.end <= span.start));
        let at = places.get(next).filter(|at| place(at).is_some_and(|own| own.start < span.end))?;
        self.row(*at as usize)
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
            Some(Path { a: Step::Index { at: a, .. }, b: Step::Index { at: b, .. }, .. })
                if row.kind == Kind::Equal =>
            {
                Some((*a, *b))
            }
            _ => None,
        }
    }

    /// The path a row stands at; a fold stands at the container it is in.
    fn first_step(&self, row: &Row) -> Option<u32> {
        match row.kind {
            Kind::Equal => self.paths.get(row.path as usize).map(|path| path.parent),
            _ => Some(row.path),
        }
    }

    fn climb(&self, row: &Row, side: Side) -> Option<String> {
        self.pointer_to(self.first_step(row)?, side)
    }

    /// The pointer of a path on one side; `None` where it is not there.
    fn pointer_to(&self, path: u32, side: Side) -> Option<String> {
        let mut steps = Vec::new();
        let mut path = self.paths.get(path as usize)?;
        loop {
            match path.step(side) {
                Step::Root => break,
                Step::Missing => return None,
                step => steps.push(step),
            }
            path = self.paths.get(path.parent as usize)?;
        }
        Some(self.written(&steps, side))
    }

    /// Steps, innermost first, as a pointer.
    fn written(&self, steps: &[Step], side: Side) -> String {
        let mut pointer = String::new();
        for step in steps.iter().rev() {
            match step {
                Step::Key(key) => {
                    let name = text::unescape(key.of(self.source(side)));
                    text::push_step(&mut pointer, &String::from_utf8_lossy(&name));
                }
                Step::Index { at, .. } => text::push_step(&mut pointer, &at.to_string()),
                Step::Root | Step::Missing => {}
            }
        }
        pointer
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
        row.span(side).map(|span| span.of(self.source(side)))
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
