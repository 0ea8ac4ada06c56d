//! Masks what a role may not read (contract section 12).
//!
//! A rule names values by JSON Pointer (`*` stands for any one step) or by the name of a member (a pattern in
//! which `*` stands for any text, upper and lower case alike). Which rules hold for whom is the caller's to
//! decide, by each rule's threshold. Masking fails closed: what cannot be read is masked whole.

#[cfg(test)]
mod tests;

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::diff::scan::{Scanner, Span, Syntax, Token};
use super::diff::{Diff, Kind, text};

/// What stands in the place of a masked value.
pub const REDACTED: &str = "\"[redacted]\"";

/// One rule: what to mask, and for roles below which one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Written", into = "Written")]
pub struct Rule {
    /// What is masked.
    pub target: Target,
    /// The lowest role that may read it.
    pub below: String,
}

/// What a rule masks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// The value at a JSON Pointer; a step `*` stands for any member or element.
    Pointer(String),
    /// The value of every member with such a name, at any depth; `*` stands for any text.
    Key(String),
}

/// A rule as it is written in a configuration: `{pointer, below}` or `{key, below}`.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pointer: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    key: Option<String>,
    below: String,
}

/// Why a rule is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum RuleError {
    /// It must have one of the two, and not both.
    #[error("a redaction rule names either a pointer or a key")]
    Target,
    /// RFC 6901: empty or starting with `/`, and `~` only in `~0` and `~1`.
    #[error("not a JSON Pointer")]
    Pointer,
    /// An empty name pattern, which would mask nothing.
    #[error("an empty key pattern masks nothing")]
    Key,
}

impl TryFrom<Written> for Rule {
    type Error = RuleError;

    fn try_from(written: Written) -> Result<Self, RuleError> {
        let target = match (written.pointer, written.key) {
            (Some(pointer), None) => Target::Pointer(pointer),
            (None, Some(key)) => Target::Key(key),
            _ => return Err(RuleError::Target),
        };
        Self::new(target, written.below)
    }
}

impl From<Rule> for Written {
    fn from(rule: Rule) -> Self {
        let (pointer, key) = match rule.target {
            Target::Pointer(pointer) => (Some(pointer), None),
            Target::Key(key) => (None, Some(key)),
        };
        Self { pointer, key, below: rule.below }
    }
}

impl Rule {
    /// Checks the pointer or the pattern.
    pub fn new(target: Target, below: impl Into<String>) -> Result<Self, RuleError> {
        match &target {
            Target::Pointer(pointer) => drop(steps(pointer).ok_or(RuleError::Pointer)?),
            Target::Key(key) if key.is_empty() => return Err(RuleError::Key),
            Target::Key(_) => {}
        }
        Ok(Self { target, below: below.into() })
    }
}

/// The steps of a pointer, `~0` and `~1` resolved; `None` where it is not one.
fn steps(pointer: &str) -> Option<Vec<String>> {
    if pointer.is_empty() {
        return Some(Vec::new());
    }
    let step = |step: &str| {
        let escapes = step.split('~').skip(1).all(|rest| rest.starts_with(['0', '1']));
        escapes.then(|| step.replace("~1", "/").replace("~0", "~"))
    };
    pointer.strip_prefix('/')?.split('/').map(step).collect()
}

/// One step of a rule's pointer.
#[derive(Clone, Debug)]
enum Pattern {
    Any,
    /// The name, and the same as an index where it is one.
    Name(String, Option<u32>),
}

/// One step on the way to a value.
enum Step<'s> {
    Key(Cow<'s, str>),
    Index(u32),
}

impl Pattern {
    fn of(step: String) -> Self {
        let index = step.parse().ok().filter(|index: &u32| index.to_string() == step);
        if step == "*" { Self::Any } else { Self::Name(step, index) }
    }

    fn matches(&self, step: &Step<'_>) -> bool {
        match (self, step) {
            (Self::Any, _) => true,
            (Self::Name(name, _), Step::Key(key)) => name == key,
            (Self::Name(_, index), Step::Index(at)) => *index == Some(*at),
        }
    }
}

/// The rules that hold for one reader.
#[derive(Clone, Debug, Default)]
pub struct Mask {
    pointers: Vec<Vec<Pattern>>,
    /// Name patterns in lower case.
    keys: Vec<String>,
}

impl<'r> FromIterator<&'r Rule> for Mask {
    fn from_iter<I: IntoIterator<Item = &'r Rule>>(rules: I) -> Self {
        let mut mask = Self::default();
        for rule in rules {
            match &rule.target {
                // `Rule::new` has checked the pointer; should it be wrong, everything is masked.
                Target::Pointer(pointer) => mask
                    .pointers
                    .push(steps(pointer).unwrap_or_default().into_iter().map(Pattern::of).collect()),
                Target::Key(key) => mask.keys.push(key.to_lowercase()),
            }
        }
        mask
    }
}

/// The pointers, by number, that a value may still turn out to lie on; `None` once it is masked.
type Alive = Option<Vec<usize>>;

impl Mask {
    /// Whether nothing is masked.
    pub fn is_empty(&self) -> bool {
        self.pointers.is_empty() && self.keys.is_empty()
    }

    /// The same JSON text with every masked value replaced by [`REDACTED`], everything else byte for byte.
    /// A text that is not strict JSON becomes [`REDACTED`] as a whole.
    pub fn apply(&self, payload: &[u8]) -> Vec<u8> {
        if self.is_empty() {
            return payload.to_vec();
        }
        let Ok(spans) = self.find(payload, self.root(), 0) else { return REDACTED.into() };
        let mut out = Vec::with_capacity(payload.len());
        let mut at = 0;
        for span in spans {
            out.extend_from_slice(payload.get(at..span.start as usize).unwrap_or_default());
            out.extend_from_slice(REDACTED.as_bytes());
            at = span.end as usize;
        }
        out.extend_from_slice(payload.get(at..).unwrap_or_default());
        out
    }

    /// Whether the value at this pointer is masked, itself or as part of a masked one. What is not a pointer
    /// counts as masked.
    pub fn hides(&self, pointer: &str) -> bool {
        !self.is_empty() && self.reach(pointer).is_none()
    }

    /// Whether the value at this pointer is masked, lies in a masked one, or holds one.
    pub fn touches(&self, pointer: &str, value: &[u8]) -> bool {
        if self.is_empty() {
            return false;
        }
        let Some((alive, depth)) = self.reach(pointer) else { return true };
        self.find(value, Some(alive), depth).map_or(true, |spans| !spans.is_empty())
    }

    fn root(&self) -> Alive {
        let whole = self.pointers.iter().any(Vec::is_empty);
        (!whole).then(|| (0..self.pointers.len()).collect())
    }

    fn reach(&self, pointer: &str) -> Option<(Vec<usize>, usize)> {
        let steps = steps(pointer)?;
        let mut alive = self.root()?;
        for (depth, step) in steps.iter().enumerate() {
            alive = self.step(&alive, depth, &Step::Key(Cow::Borrowed(step)))?;
        }
        Some((alive, steps.len()))
    }

    /// One step further from a place at `depth`.
    fn step(&self, alive: &[usize], depth: usize, step: &Step<'_>) -> Alive {
        if let Step::Key(key) = step
            && !self.keys.is_empty()
        {
            let key = key.to_lowercase();
            if self.keys.iter().any(|pattern| glob(pattern.as_bytes(), key.as_bytes())) {
                return None;
            }
        }
        let mut further = Vec::new();
        for &index in alive {
            let Some(pointer) = self.pointers.get(index) else { continue };
            if pointer.get(depth).is_some_and(|pattern| pattern.matches(step)) {
                if pointer.len() == depth + 1 {
                    return None;
                }
                further.push(index);
            }
        }
        Some(further)
    }

    /// The spans of the masked values within one text that stands at `depth`, outermost ones only, in order.
    fn find(&self, payload: &[u8], alive: Alive, depth: usize) -> Result<Vec<Span>, Syntax> {
        std::str::from_utf8(payload).map_err(|error| Syntax(error.valid_up_to()))?;
        if payload.len() >= u32::MAX as usize {
            return Err(Syntax(u32::MAX as usize));
        }
        let mut spans = Vec::new();
        let mut scanner = Scanner::new(payload);
        let mut frames: Vec<Frame> = Vec::new();
        let mut value: Alive = alive;
        // A masked container that is still open: where it starts and how many are open around it.
        let mut masked: Option<(usize, usize)> = None;
        while let Some(token) = scanner.next()? {
            if let Some((start, around)) = masked {
                if let Token::Close(at) = token
                    && scanner.depth() == around
                {
                    spans.push(Span::new(start, at + 1));
                    masked = None;
                }
                continue;
            }
            let level = (depth + frames.len()).saturating_sub(1);
            if let (Token::Open(..) | Token::Scalar(_), Some(Frame { alive, index: Some(index) })) =
                (token, frames.last_mut())
            {
                value = self.step(alive, level, &Step::Index(*index));
                *index = index.saturating_add(1);
            }
            match token {
                Token::Key(span) => {
                    let name = text::unescape(span.of(payload));
                    let around = frames.last().map_or(&[][..], |frame| &frame.alive);
                    value = self.step(around, level, &Step::Key(String::from_utf8_lossy(&name)));
                }
                Token::Scalar(span) if value.is_none() => spans.push(span),
                Token::Scalar(_) => {}
                Token::Open(object, at) => match value.take() {
                    None => masked = Some((at, scanner.depth().saturating_sub(1))),
                    Some(alive) => frames.push(Frame { alive, index: (!object).then_some(0) }),
                },
                Token::Close(_) => drop(frames.pop()),
            }
        }
        Ok(spans)
    }
}

/// An open container: the pointers alive in it, and the next index where it is an array.
struct Frame {
    alive: Vec<usize>,
    index: Option<u32>,
}

/// Whether the text matches the pattern, in which `*` stands for any text. No recursion; the time is at most
/// the product of both lengths.
fn glob(pattern: &[u8], text: &[u8]) -> bool {
    let (mut p, mut t) = (0, 0);
    // Where the last star stands, and the text it covers so far.
    let mut star: Option<(usize, usize)> = None;
    while let Some(byte) = text.get(t) {
        match (pattern.get(p), star) {
            (Some(b'*'), _) => {
                star = Some((p, t));
                p += 1;
            }
            (Some(wanted), _) if wanted == byte => (p, t) = (p + 1, t + 1),
            (_, Some((at, covered))) => {
                star = Some((at, covered + 1));
                (p, t) = (at + 1, covered + 1);
            }
            (_, None) => return false,
        }
    }
    pattern.iter().skip(p).all(|&rest| rest == b'*')
}

/// Whether any difference touches a masked value: such a side cannot be upheld by this reader (contract
/// section 6).
pub fn diff_hidden(diff: &Diff, mask: &Mask) -> bool {
    let touched = |pointer: Option<String>, value: Option<&[u8]>| match (pointer, value) {
        (Some(pointer), Some(value)) => mask.touches(&pointer, value),
        _ => false,
    };
    !mask.is_empty()
        && diff.rows().iter().filter(|row| row.kind != Kind::Equal).any(|row| {
            touched(diff.pointer_a(row), diff.value(row, super::diff::Side::A))
                || touched(diff.pointer_b(row), diff.value(row, super::diff::Side::B))
        })
}
