//! The message one participant sent to another (contract section 2): its types, and the bounds it must keep.
//!
//! An envelope proposes and has no authority. It is read from the exact bytes that arrived, which are kept; only
//! members the contract names are looked at, each with its own bound, so no two readers can disagree about it.

mod parse;
#[cfg(test)]
mod tests;

pub use parse::{Fault, Named, QuarantineReason, parse};

use super::digest::{Digest, Scheme};
use super::evidence::EvidenceRef;
use super::failure::FailureKind;
use super::ids::{TaskId, Timestamp};
use super::interruption::Question;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

/// Bounds on what is accepted; past one the message is quarantined with the limit named.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// Bytes of one envelope.
    pub envelope_bytes: usize,
    /// Nesting of its JSON, unknown members too.
    pub depth: usize,
    /// Bytes of an id, a name, a key or a label.
    pub id_bytes: usize,
    /// Evidence references of one message.
    pub evidence_refs: usize,
    /// Bytes of one URI, prompt or goal.
    pub text_bytes: usize,
    /// Labels of one message.
    pub labels: usize,
    /// Bytes of an answer's JSON Schema.
    pub schema_bytes: usize,
    /// Held messages, candidates and open reservations of one task, each.
    pub open_per_task: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            envelope_bytes: 16 << 20,
            depth: 100,
            id_bytes: 256,
            evidence_refs: 1000,
            text_bytes: 64 << 10,
            labels: 64,
            schema_bytes: 256 << 10,
            open_per_task: 1000,
        }
    }
}

/// What a message says it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MessageType {
    /// Asks for a task.
    TaskRequest,
    /// Tells how far it is.
    TaskProgress,
    /// Ends it well.
    TaskResult,
    /// Ends it badly, or asks for another try.
    TaskFailure,
    /// Refuses it.
    TaskDenied,
    /// Asks a person.
    HumanRequest,
    /// Reports a side effect as done.
    Receipt,
}

/// The classes that make up a logical intent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Class {
    /// `task_request`.
    Request,
    /// `task_progress`.
    Progress,
    /// `task_result`, `task_failure`, `task_denied`.
    Outcome,
    /// `human_request`.
    Interruption,
    /// `receipt`.
    Receipt,
}

impl MessageType {
    const TABLE: [(MessageType, &'static str, Class); 7] = [
        (MessageType::TaskRequest, "task_request", Class::Request),
        (MessageType::TaskProgress, "task_progress", Class::Progress),
        (MessageType::TaskResult, "task_result", Class::Outcome),
        (MessageType::TaskFailure, "task_failure", Class::Outcome),
        (MessageType::TaskDenied, "task_denied", Class::Outcome),
        (MessageType::HumanRequest, "human_request", Class::Interruption),
        (MessageType::Receipt, "receipt", Class::Receipt),
    ];

    /// The type that a word names.
    pub fn parse(word: &str) -> Option<Self> {
        Self::TABLE.iter().find(|(_, name, _)| *name == word).map(|(t, ..)| *t)
    }

    /// The word on the wire.
    pub fn as_str(self) -> &'static str {
        Self::TABLE.iter().find(|(t, ..)| *t == self).map_or("", |(_, name, _)| name)
    }

    /// The class the type belongs to.
    pub fn class(self) -> Class {
        Self::TABLE.iter().find(|(t, ..)| *t == self).map_or(Class::Progress, |(.., class)| *class)
    }
}

impl Class {
    /// The word on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Class::Request => "request",
            Class::Progress => "progress",
            Class::Outcome => "outcome",
            Class::Interruption => "interruption",
            Class::Receipt => "receipt",
        }
    }
}

/// What a message and its repeats mean to do: the unit of conflict (contract section 4).
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Intent {
    /// The task it is about.
    pub task_id: TaskId,
    /// Its class.
    pub class: Class,
    /// The sender's key for this piece of work.
    pub idempotency_key: String,
}

/// A business side effect that a message reports (contract section 9).
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct EffectName {
    /// The key under which it may happen once.
    pub key: String,
    /// What it touches.
    pub target: String,
}

/// The content, or where it is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Payload {
    /// Where the payload's exact bytes stand in the envelope's.
    Inline(Range<usize>),
    /// A protected reference in place of the content.
    Ref(EvidenceRef),
}

/// What the coordinator reads from a payload; everything else in it is for people and workers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Body {
    /// `task_request`.
    Request(Request),
    /// `task_progress`.
    Progress,
    /// `task_result`.
    Result,
    /// `task_failure`: whether and when to try again.
    Failure {
        /// What kind of failure the sender says it is.
        kind: FailureKind,
        /// Its words about it, cut at 1 KiB.
        message: Option<String>,
        /// Whether another try makes sense.
        retryable: bool,
        /// Not before this moment.
        retry_at: Option<Timestamp>,
    },
    /// `task_denied`, with the sender's words about it.
    Denied(Option<String>),
    /// `human_request`.
    Question(Box<Question>),
    /// `receipt`; the effect is in the envelope.
    Receipt,
}

/// What a request asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Request {
    /// What is to be done, for people; absent where the payload is a reference.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub goal: Option<String>,
    /// Higher is more urgent; 0 where nothing is said.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub priority: i64,
    /// When it should be done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline: Option<Timestamp>,
}

fn is_zero(n: &i64) -> bool {
    *n == 0
}

/// A message, read and bounded, its digest checked against its payload where the payload is here.
#[derive(Clone, Debug)]
pub struct Envelope {
    /// The bytes as they arrived.
    pub raw: Arc<[u8]>,
    /// One delivery, by its sender's count.
    pub message_id: String,
    /// The run the task belongs to.
    pub trace_id: String,
    /// The task.
    pub task_id: TaskId,
    /// Who says they sent it.
    pub sender: String,
    /// For whom.
    pub recipient: String,
    /// What it is.
    pub kind: MessageType,
    /// When the sender says it was made; never orders anything.
    pub created_at: Timestamp,
    /// The sender's key for this piece of work.
    pub idempotency_key: String,
    /// The payload's digest, recomputed where `payload` is inline.
    pub digest: Digest,
    /// The scheme of `digest`.
    pub scheme: Scheme,
    /// The digest under `jcs-sha256/1`, by which submissions under different schemes compare; absent where impossible.
    pub common: Option<Digest>,
    /// The content or its reference.
    pub payload: Payload,
    /// What the sender says it rests on.
    pub evidence_refs: Vec<EvidenceRef>,
    /// The lease the sender works under.
    pub lease_version: Option<u64>,
    /// The sender's count of tries.
    pub attempt: Option<u64>,
    /// The side effect it reports.
    pub effect: Option<EffectName>,
    /// Free labels.
    pub labels: BTreeMap<String, String>,
    /// What was read from the payload.
    pub body: Body,
}

impl Envelope {
    /// The logical intent.
    pub fn intent(&self) -> Intent {
        Intent {
            task_id: self.task_id.clone(),
            class: self.kind.class(),
            idempotency_key: self.idempotency_key.clone(),
        }
    }

    /// The payload's exact bytes, where it is inline.
    pub fn payload_bytes(&self) -> Option<&[u8]> {
        match &self.payload {
            Payload::Inline(range) => self.raw.get(range.clone()),
            Payload::Ref(_) => None,
        }
    }
}
