//! The filter language asked of approval records: what its keys mean there.

use super::Record;
use crate::domain::query::{Row, contains_ignoring_case};

#[cfg(test)]
mod tests;

/// The keys of the filter language that no record has anything for.
pub const NOT_OF_RECORDS: &[&str] = &["reason", "label", "failure"];

/// A record as the filter sees it, and the subject who looks.
pub struct Judged<'a> {
    /// The record, as it is shown to whoever looks.
    pub record: &'a Record,
    /// Whose records are `mine`.
    pub me: &'a str,
}

impl Row for Judged<'_> {
    fn state(&self) -> &str {
        self.record.decision.as_str()
    }
    fn has_reason(&self, _reason: &str) -> bool {
        false
    }
    fn trace(&self) -> &str {
        &self.record.trace_id
    }
    fn task(&self) -> &str {
        self.record.task_id.as_str()
    }
    /// Who decided.
    fn agent(&self) -> Option<&str> {
        Some(&self.record.principal.subject)
    }
    fn label(&self, _key: &str) -> Option<&str> {
        None
    }
    /// When it was decided.
    fn since_ms(&self) -> Option<i64> {
        Some(self.record.decided_at.0)
    }
    fn candidates(&self) -> u32 {
        u32::try_from(self.record.candidates.len()).unwrap_or(u32::MAX)
    }
    fn failure(&self) -> Option<&str> {
        None
    }
    /// Whether whoever looks decided it.
    fn mine(&self) -> bool {
        self.record.principal.subject == self.me
    }
    fn text_contains(&self, text: &str) -> bool {
        let record = self.record;
        let prompt = record.interruption.as_ref().map(|asked| asked.prompt.as_str());
        [
            record.task_id.as_str(),
            &record.trace_id,
            &record.approval_id,
            &record.principal.subject,
            &record.reason,
        ]
        .into_iter()
        .chain(prompt)
        .any(|own| contains_ignoring_case(own, text))
    }
}
