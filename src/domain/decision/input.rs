//! The answer to a question: its parts, and whether they fit what was asked (contract section 8).

use super::Decision;
use crate::domain::digest::Digest;
use crate::domain::form;
use crate::domain::ids::Timestamp;
use crate::domain::interruption::{Interruption, Need};
use crate::domain::refusal::Refusal;
use crate::domain::secret::looks_like_secret;
use crate::domain::task::TaskState;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What a person answers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// The content.
    #[serde(default)]
    pub parts: Vec<Part>,
    /// The schema it was made for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schema_digest: Option<Digest>,
    /// Yes or no, for `human_approval`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approved: Option<bool>,
}

/// One piece of an answer: exactly one of its kinds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Part {
    /// Words.
    Text(String),
    /// A JSON value.
    Data(Value),
}

const MAX_PARTS: usize = 64;
const MAX_BYTES: usize = 1 << 20;

fn invalid<T>(why: impl Into<String>) -> Result<T, Refusal> {
    Err(Refusal::InputInvalid { why: why.into() })
}

/// Checks the answer against the open question; `judged` is the state that is decided from.
pub(super) fn check(
    d: &Decision,
    judged: TaskState,
    question: Option<&Interruption>,
    now: Timestamp,
) -> Result<(), Refusal> {
    let Some(open) = question else {
        return match &d.input {
            Some(_) => invalid(format!("no question is open: a task in {judged} takes no input")),
            None => Ok(()),
        };
    };
    if d.decision == TaskState::Canceled {
        return match &d.input {
            Some(_) => invalid("canceling takes no input"),
            None => Ok(()),
        };
    }
    if open.expired(now) {
        let at = open.question.expires_at.unwrap_or(now);
        let why =
            Some(format!("question {} expired at {at}: it can only be canceled or asked anew", open.id));
        return Err(Refusal::NotWaiting { state: judged, why });
    }
    match (open.question.need, &d.input) {
        (Need::MachineCredentials, Some(_)) => {
            invalid("an authorization is given where the link leads, never here: send no input")
        }
        (Need::MachineCredentials, None) => Ok(()),
        (Need::HumanApproval, Some(input)) if input.approved.is_some() => content(input, open, false),
        (Need::HumanApproval, _) => invalid("say yes or no: `approved` is true or false"),
        (Need::BusinessInput, Some(input)) => content(input, open, true),
        (Need::BusinessInput, None) => invalid("the question needs an answer: send input"),
    }
}

fn content(input: &Input, open: &Interruption, required: bool) -> Result<(), Refusal> {
    let size: usize = input.parts.iter().map(|p| serde_json::to_string(p).map_or(0, |s| s.len())).sum();
    if input.parts.len() > MAX_PARTS || size > MAX_BYTES {
        return invalid(format!("an answer has at most {MAX_PARTS} parts and {MAX_BYTES} bytes"));
    }
    for part in &input.parts {
        if let Some(found) = secret_in(part) {
            return invalid(found);
        }
    }
    let Some(schema) = &open.question.schema else {
        let blank = |p: &Part| matches!(p, Part::Text(t) if t.trim().is_empty());
        return if required && input.parts.iter().all(blank) {
            invalid("the answer is empty: the question wants text or data")
        } else if input.schema_digest.is_some() {
            invalid("the question has no schema")
        } else {
            Ok(())
        };
    };
    if input.parts.is_empty() && !required {
        return Ok(());
    }
    if input.schema_digest != open.schema_digest {
        return invalid("the answer was made for another schema: read the question again");
    }
    let [Part::Data(value)] = input.parts.as_slice() else {
        return invalid("the question has a schema: the answer is exactly one data part");
    };
    form::validate(schema, value).or_else(|errors| {
        let list: Vec<String> = errors.iter().take(20).map(ToString::to_string).collect();
        invalid(list.join("; "))
    })
}

fn secret_in(part: &Part) -> Option<String> {
    fn walk(value: &Value) -> Option<String> {
        match value {
            Value::String(s) => sentence(s),
            Value::Array(items) => items.iter().find_map(walk),
            Value::Object(members) => members.iter().find_map(|(k, v)| sentence(k).or_else(|| walk(v))),
            _ => None,
        }
    }
    fn sentence(text: &str) -> Option<String> {
        looks_like_secret(text).map(|kind| format!("the answer holds {}: {}", kind.what(), kind.advice()))
    }
    match part {
        Part::Text(text) => sentence(text),
        Part::Data(value) => walk(value),
    }
}
