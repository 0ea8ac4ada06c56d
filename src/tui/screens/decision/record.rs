//! The record as it will be kept: every member that is known before it is written, and which are not.

use serde_json::{Map, Value, json};

use super::Decision;
use crate::domain::task::TaskState;
use crate::tui::model::Model;

/// What only writing gives.
const LATER: [&str; 7] = [
    "store_id",
    "sequence",
    "approval_id",
    "policy",
    "decided_at",
    "previous_record_digest",
    "record_digest",
];

impl Decision {
    /// Its lines; `None` while the task is not read.
    pub(super) fn record_lines(&self, model: &Model) -> Option<Vec<String>> {
        let shown = self.reading.shown()?;
        let task = &shown.task;
        let asked = self.asked();
        let to = self.to.map_or(Value::Null, |to| json!(to));
        let set = &shown.candidate_set;
        let mut record = Map::new();
        let mut keep = |name: &str, value: Value| record.insert(name.to_owned(), value);
        keep("schema_version", json!("1"));
        keep("task_id", json!(task.task_id));
        keep("trace_id", json!(task.trace_id));
        keep("approval_version", json!(task.decided.as_ref().map_or(0, |last| last.approval_version) + 1));
        if let Some(old) = &self.supersedes {
            keep("supersedes", json!(old));
        }
        keep("decision", to.clone());
        keep("from_state", json!(task.state));
        keep("to_state", to);
        keep("state_version_before", json!(task.state_version));
        keep("state_version_after", json!(task.state_version + 1));
        keep("candidates", json!(set.candidates));
        if let Some(asked) = &set.interruption {
            keep("interruption", json!(asked));
        }
        keep("held", json!(set.held));
        keep(
            "candidate_set_digest",
            json!(asked.as_ref().map_or(shown.candidate_set_digest, |d| d.candidate_set_digest)),
        );
        keep("set_seen", json!(if shown.candidate_set_digest.is_some() { "digest" } else { "version" }));
        keep("upheld", json!(self.sides.upheld()));
        keep("evidence_opened", json!([]));
        let resume = asked.and_then(|asked| asked.resume);
        let own = json!({"idempotency_key": "the new approval_id"});
        keep("resume", resume.map_or(own, |resume| json!(resume)));
        keep("reason", json!(self.reason.text().trim()));
        keep("principal", json!(model.who));
        let text = serde_json::to_string_pretty(&Value::Object(record)).unwrap_or_default();
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        lines.push(String::new());
        lines.push("given when it is written, by the coordinator:".to_owned());
        lines.push(format!("  {}", LATER.join(", ")));
        lines.push("  principal in full: subject, issuer, method, roles".to_owned());
        if self.to == Some(TaskState::Canceled) {
            lines.push("canceled: nothing resumes".to_owned());
        }
        Some(lines)
    }
}
