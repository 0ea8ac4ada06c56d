//! Whether a row passes a filter.

use super::{Glob, Test};

/// What a filter may ask of one line of a list.
///
/// Names are those of the contract; `reason` and `state` are compared without regard to case.
pub trait Row {
    /// Runtime state.
    fn state(&self) -> &str;
    /// Whether it waits for this reason, one of [`Query::reasons`](super::Query::reasons).
    fn has_reason(&self, reason: &str) -> bool;
    /// Trace id.
    fn trace(&self) -> &str;
    /// Task id.
    fn task(&self) -> &str;
    /// The agent that sent or runs it.
    fn agent(&self) -> Option<&str>;
    /// The value of a label.
    fn label(&self, key: &str) -> Option<&str>;
    /// Since when it waits, Unix milliseconds.
    fn since_ms(&self) -> Option<i64>;
    /// How many candidates or questions it holds.
    fn candidates(&self) -> u32;
    /// Kind of failure.
    fn failure(&self) -> Option<&str>;
    /// Whether it is assigned to whoever asks.
    fn mine(&self) -> bool;
    /// Whether task, goal, question or trace contains the text, without regard to case; see
    /// [`contains_ignoring_case`].
    fn text_contains(&self, text: &str) -> bool;
}

pub(super) fn holds(test: &Test, row: &impl Row, now_ms: i64) -> bool {
    match test {
        Test::Text(text) => row.text_contains(text),
        Test::State(states) => states.iter().any(|state| state.eq_ignore_ascii_case(row.state())),
        Test::Reason(reasons) => reasons.iter().any(|reason| row.has_reason(reason)),
        Test::Trace(globs) => any(globs, Some(row.trace())),
        Test::Task(globs) => any(globs, Some(row.task())),
        Test::Agent(globs) => any(globs, row.agent()),
        Test::Label { key, values } => {
            let value = row.label(key);
            if values.is_empty() { value.is_some() } else { any(values, value) }
        }
        Test::Age { op, millis } => {
            row.since_ms().is_some_and(|at| op.holds(now_ms.saturating_sub(at), *millis))
        }
        Test::Since(when) => row.since_ms().is_some_and(|at| at >= when.resolve(now_ms)),
        Test::Until(when) => row.since_ms().is_some_and(|at| at <= when.resolve(now_ms)),
        Test::Candidates { op, n } => op.holds(row.candidates(), *n),
        Test::Failure(kinds) => row.failure().is_some_and(|kind| kinds.contains(&kind)),
        Test::Mine => row.mine(),
    }
}

fn any(globs: &[Glob], text: Option<&str>) -> bool {
    text.is_some_and(|text| globs.iter().any(|glob| glob.matches(text)))
}

/// Whether `needle` appears in `text` when both are in lower case.
#[must_use]
pub fn contains_ignoring_case(text: &str, needle: &str) -> bool {
    if text.is_ascii() && needle.is_ascii() {
        let (text, needle) = (text.as_bytes(), needle.as_bytes());
        return needle.is_empty() || text.windows(needle.len()).any(|part| part.eq_ignore_ascii_case(needle));
    }
    text.to_lowercase().contains(&needle.to_lowercase())
}
