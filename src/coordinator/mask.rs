//! Masks what is shown of a task beside its payloads: goals, questions, answers and failures are copies of payload
//! members and follow the same rules (contract section 12: on every surface).

use super::Row;
use crate::domain::decision::{Input, Part};
use crate::domain::digest;
use crate::domain::event::{Event, Message, Submission, What};
use crate::domain::failure::Failure;
use crate::domain::interruption::{Interruption, Question};
use crate::domain::ledger::{Asked, CandidateSet, Record};
use crate::domain::redact::{Mask, REDACTED};
use crate::domain::task::Task;

/// What stands in the place of a masked text.
const MASKED: &str = "[redacted]";

fn text(mask: &Mask, pointer: &str, text: &mut String) -> bool {
    let hidden = mask.hides(pointer);
    if hidden {
        MASKED.clone_into(text);
    }
    hidden
}

fn maybe(mask: &Mask, pointer: &str, value: &mut Option<String>) {
    if let Some(value) = value {
        text(mask, pointer, value);
    }
}

/// Masks a task.
pub(super) fn task(mask: &Mask, task: &mut Task) {
    if mask.is_empty() {
        return;
    }
    maybe(mask, "/goal", &mut task.request.goal);
    if let Some(failed) = &mut task.failure {
        failure(mask, failed);
    }
    if let Some(open) = &mut task.interruption {
        interruption(mask, open);
    }
    if let Some(asked) = task.judged.as_mut().and_then(|j| j.interruption.as_mut()) {
        interruption(mask, asked);
    }
    if let Some(given) = task.decided.as_mut().and_then(|d| d.input.as_mut()) {
        input(mask, given);
    }
}

/// A failure's words come from `message`, or from `reason`.
fn failure(mask: &Mask, failure: &mut Failure) {
    if mask.hides("/message") || mask.hides("/reason") {
        failure.message = failure.message.take().map(|_| MASKED.to_owned());
    }
}

fn interruption(mask: &Mask, interruption: &mut Interruption) {
    question(mask, &mut interruption.question);
}

fn question(mask: &Mask, question: &mut Question) {
    text(mask, "/prompt", &mut question.prompt);
    maybe(mask, "/action", &mut question.action);
    maybe(mask, "/scope", &mut question.scope);
    maybe(mask, "/resume", &mut question.resume);
    maybe(mask, "/link", &mut question.link);
    if let Some(schema) = &mut question.schema
        && mask.touches("/schema", schema.to_string().as_bytes())
    {
        *schema = serde_json::Value::String(MASKED.into());
    }
}

/// An answer is masked as a payload is, part by part.
fn input(mask: &Mask, input: &mut Input) {
    for part in &mut input.parts {
        match part {
            Part::Text(words) => drop(text(mask, "", words)),
            Part::Data(value) => {
                let masked = mask.apply(value.to_string().as_bytes());
                let whole = || serde_json::Value::String(MASKED.into());
                *value = serde_json::from_slice(&masked).unwrap_or_else(|_| whole());
            }
        }
    }
}

/// Masks one row of a list.
pub(super) fn row(mask: &Mask, row: &mut Row) {
    maybe(mask, "/goal", &mut row.goal);
    if let Some(question) = &mut row.interruption {
        text(mask, "/prompt", &mut question.prompt);
    }
}

/// Masks one event; `all` = the reader may read every payload of the task.
pub(super) fn event(mask: &Mask, all: bool, event: &mut Event) {
    match &mut event.what {
        What::Created { request, .. } => maybe(mask, "/goal", &mut request.goal),
        What::Delivered(delivery) => {
            if let Message::New(said) = &mut delivery.message {
                submission(mask, all, said);
            }
        }
        What::Failed(failed) => failure(mask, failed),
        What::Asked(asked) => interruption(mask, asked),
        What::Decided(decided) => {
            if let Some(given) = &mut decided.input {
                input(mask, given);
            }
        }
        _ => {}
    }
}

/// Takes away a held message's copy of its payload where the reader may not have all of it.
pub(super) fn submission(mask: &Mask, all: bool, submission: &mut Submission) {
    if !all || !mask.is_empty() {
        submission.held_body = None;
    }
}

/// Masks a set that is to be judged; its digest stays that of what is stored.
pub(super) fn set(mask: &Mask, set: &mut CandidateSet) {
    asked(mask, &mut set.interruption);
}

/// Masks a record; gives whether something is masked.
pub(super) fn record(mask: &Mask, record: &mut Record) -> bool {
    asked(mask, &mut record.interruption)
}

fn asked(mask: &Mask, asked: &mut Option<Asked>) -> bool {
    asked.as_mut().is_some_and(|a| text(mask, "/prompt", &mut a.prompt))
}

/// A whole envelope with its payload masked; as a whole where it cannot be read.
pub(super) fn envelope(mask: &Mask, raw: &[u8]) -> Vec<u8> {
    if mask.is_empty() {
        return raw.to_vec();
    }
    let Ok(Some(members)) = digest::members(raw, digest::MAX_DEPTH) else { return REDACTED.into() };
    let Some(payload) = members.iter().find(|m| m.key == "payload") else { return raw.to_vec() };
    let parts =
        (raw.get(..payload.value.start), raw.get(payload.value.clone()), raw.get(payload.value.end..));
    let (Some(head), Some(value), Some(tail)) = parts else { return REDACTED.into() };
    [head, &mask.apply(value), tail].concat()
}
