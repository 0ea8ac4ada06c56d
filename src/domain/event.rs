//! The facts the coordinator accepted; State is folded from these alone (contract section 1).

use super::decision::{Input, Resume};
use super::digest::{Digest, Scheme};
use super::envelope::{Body, Class, EffectName, Envelope, MessageType, Payload, Request};
use super::evidence::EvidenceRef;
use super::failure::Failure;
use super::ids::Timestamp;
use super::interruption::Interruption;
use super::ledger::Decider;
use super::task::TaskState;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One fact about one task.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// Numbers the task's events from 1 without a gap.
    pub revision: u64,
    /// When the coordinator recorded it.
    pub at: Timestamp,
    /// The task's version after it.
    pub state_version: u64,
    /// What happened.
    #[serde(flatten)]
    pub what: What,
}

/// What can happen to a task.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum What {
    /// The task began, by the request recorded right after.
    Created {
        /// The run it belongs to.
        trace_id: String,
        /// What is asked.
        #[serde(flatten)]
        request: Request,
        /// Its labels.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        labels: BTreeMap<String, String>,
        /// The request's digest: another request with a new key must carry the same.
        digest: Digest,
        /// The scheme of `digest`.
        scheme: Scheme,
        /// The common digest, as in [`Submission`].
        common: Option<Digest>,
    },
    /// A delivery was recorded.
    Delivered(Box<Delivery>),
    /// The state changed.
    Moved {
        /// Old state.
        from: TaskState,
        /// New state.
        to: TaskState,
        /// Why.
        reason: String,
        /// Who did it.
        executor: String,
        /// The lease that applied.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        lease_version: Option<u64>,
        /// For `retry_wait`: not before this moment.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        retry_at: Option<Timestamp>,
    },
    /// A failure was recorded.
    Failed(Failure),
    /// A worker holds the task.
    Claimed {
        /// Which worker.
        worker: String,
        /// The new lease.
        lease_version: u64,
        /// Until when.
        expires_at: Timestamp,
    },
    /// The lease was prolonged.
    Renewed {
        /// Which lease.
        lease_version: u64,
        /// Until when.
        expires_at: Timestamp,
    },
    /// The lease was taken away; reports under it are stale from now on.
    Released {
        /// Which lease.
        lease_version: u64,
        /// By whom.
        executor: String,
        /// Why.
        reason: String,
    },
    /// A question to a person is open.
    Asked(Box<Interruption>),
    /// The open question is closed.
    Closed {
        /// Its id.
        interruption: String,
        /// How.
        how: Closing,
    },
    /// A held message took effect.
    Applied {
        /// Which.
        arrival: u64,
        /// Its class.
        class: Class,
    },
    /// An effect is about to happen.
    Reserved {
        /// Which.
        effect: EffectName,
        /// Under which lease.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        lease_version: Option<u64>,
        /// By whom.
        executor: String,
    },
    /// A person found out that an announced effect did not happen: it may be announced again.
    Voided {
        /// Which.
        effect: EffectName,
        /// By whom.
        executor: String,
        /// How that is known.
        reason: String,
    },
    /// An effect happened.
    Committed {
        /// Which.
        effect: EffectName,
        /// The digest of its receipt's payload.
        digest: Digest,
        /// The scheme of `digest`.
        scheme: Scheme,
        /// The common digest, where there is one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        common: Option<Digest>,
        /// The receipt, where a message reported it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        arrival: Option<u64>,
    },
    /// A worker reported an effect otherwise than it is committed or reserved.
    Contradicted {
        /// Which.
        effect: EffectName,
        /// The digest it reported.
        digest: Digest,
        /// The scheme of `digest`.
        scheme: Scheme,
        /// What it contradicts.
        conflict: Box<ConflictSet>,
    },
    /// A person decided; the record is in the ledger.
    Decided(Box<Decided>),
    /// An artifact did not pass a gate.
    GateFailed {
        /// By whom.
        executor: String,
        /// Why.
        reason: String,
    },
}

/// How a question was closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Closing {
    /// Answered by a record.
    Answered,
    /// The task was canceled by a record.
    Canceled,
    /// A newer question took its place.
    Replaced,
    /// The task entered `needs_review`.
    Interrupted,
}

/// What became of a recorded delivery (contract section 4; `quarantined` is no event).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// Took effect, or was noted where nothing is to take effect.
    Accepted,
    /// Repeats what is stored.
    Duplicate,
    /// Contradicts what is stored.
    Conflict,
    /// Contradicts a task that was over.
    LateConflict,
    /// Under a lease that is not the current one.
    StaleLease,
    /// For a task that was over.
    Late,
    /// Recorded for later.
    Held,
}

impl Outcome {
    /// The word on every surface.
    pub fn as_str(self) -> &'static str {
        match self {
            Outcome::Accepted => "accepted",
            Outcome::Duplicate => "duplicate",
            Outcome::Conflict => "conflict",
            Outcome::LateConflict => "late_conflict",
            Outcome::StaleLease => "stale_lease",
            Outcome::Late => "late",
            Outcome::Held => "held",
        }
    }
}

/// Whether the payload's digest was recomputed from its bytes here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verification {
    /// Recomputed and equal.
    Verified,
    /// The bytes behind the reference have another digest.
    Mismatch,
    /// The content is behind a reference and was not fetched.
    NotFetched,
}

/// One recorded delivery.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Delivery {
    /// The coordinator's own sequence per task, from 1.
    pub arrival: u64,
    /// What became of it.
    pub outcome: Outcome,
    /// Its id.
    pub message_id: String,
    /// Its sender.
    pub sender: String,
    /// The principal that delivered it.
    pub submitted_by: String,
    /// The stored submission it repeats, for a duplicate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duplicate_of: Option<u64>,
    /// What a duplicate said differently from the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub differs: Option<Differs>,
    /// Whether another sender used the same id in this task.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub id_reused: bool,
    /// The submission, for anything but a duplicate that was not stored again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub submission: Option<Submission>,
    /// The scheme change by which this repeats a submission under another scheme.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scheme_change: Option<SchemeChange>,
    /// The conflict this opened or joined.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conflict: Option<ConflictSet>,
}

/// A repeat under another digest scheme.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SchemeChange {
    /// The scheme of the stored one.
    pub from: Scheme,
    /// The scheme of this one.
    pub to: Scheme,
}

/// Members of a repeat that are unlike the first delivery's.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Differs {
    /// Other evidence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evidence_refs: Option<Vec<EvidenceRef>>,
    /// Another claimed time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created_at: Option<Timestamp>,
    /// Another lease.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lease_version: Option<u64>,
    /// Another attempt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attempt: Option<u64>,
    /// Another recipient.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recipient: Option<String>,
}

/// One distinct thing somebody said, with all that identifies it; its payload is in the stored envelope.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Submission {
    /// Its arrival.
    pub arrival: u64,
    /// Its message id.
    pub message_id: String,
    /// Its sender.
    pub sender: String,
    /// For whom.
    pub recipient: String,
    /// Its class.
    pub class: Class,
    /// Its key.
    pub idempotency_key: String,
    /// Its type.
    #[serde(rename = "type")]
    pub kind: MessageType,
    /// Its digest.
    pub payload_digest: Digest,
    /// The scheme of the digest.
    pub digest_scheme: Scheme,
    /// The digest under `jcs-sha256/1`, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub common_digest: Option<Digest>,
    /// The protected reference in place of a payload.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub payload_ref: Option<EvidenceRef>,
    /// Whether the digest was recomputed here.
    pub verification: Verification,
    /// What it rests on.
    pub evidence_refs: Vec<EvidenceRef>,
    /// The lease it was sent under.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lease_version: Option<u64>,
    /// The sender's count of tries.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attempt: Option<u64>,
    /// The effect it reports.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effect: Option<EffectName>,
    /// When the sender says it was made.
    pub created_at: Timestamp,
    /// When it was recorded here.
    pub received_at: Timestamp,
    /// The task's version when it arrived.
    pub state_version_at: u64,
    /// For a held one, what its payload asks for, so that it can take effect later.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held_body: Option<Box<Body>>,
}

impl Submission {
    /// Whether it says what an envelope says.
    pub fn is_of(&self, e: &Envelope) -> bool {
        let payload_ref = match &e.payload {
            Payload::Inline(_) => None,
            Payload::Ref(r) => Some(r),
        };
        self.message_id == e.message_id
            && self.sender == e.sender
            && self.recipient == e.recipient
            && (self.kind, self.class) == (e.kind, e.kind.class())
            && self.idempotency_key == e.idempotency_key
            && (self.payload_digest, self.digest_scheme, self.common_digest) == (e.digest, e.scheme, e.common)
            && self.payload_ref.as_ref() == payload_ref
            && self.evidence_refs == e.evidence_refs
            && (self.lease_version, self.attempt) == (e.lease_version, e.attempt)
            && self.effect == e.effect
            && self.created_at == e.created_at
    }
}

/// A set of submissions of which at most one can stand.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ConflictSet {
    /// The class of the intent that is in conflict.
    pub class: Class,
    /// Its key.
    pub idempotency_key: String,
    /// The arrivals in it, ascending.
    pub candidates: Vec<u64>,
    /// The record that judged this intent before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judged_before: Option<String>,
    /// The committed effect it contradicts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effect: Option<CommittedEffect>,
    /// Why it is a conflict, for people.
    pub why: String,
}

/// An effect that is done.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CommittedEffect {
    /// Which.
    #[serde(flatten)]
    pub effect: EffectName,
    /// The digest of its receipt's payload.
    pub digest: Digest,
    /// The scheme of `digest`.
    pub scheme: Scheme,
    /// The common digest, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub common: Option<Digest>,
    /// The receipt's arrival, where a message reported it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arrival: Option<u64>,
}

/// What the task keeps of a decision; the whole is the approval record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Decided {
    /// The record.
    pub approval_id: String,
    /// Its number in the store's ledger.
    pub sequence: u64,
    /// Its number in the task, from 1.
    pub approval_version: u64,
    /// The record this one supersedes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub supersedes: Option<String>,
    /// `ready` or `canceled`.
    pub decision: TaskState,
    /// Arrivals a resuming worker reuses.
    pub upheld: Vec<u64>,
    /// Candidates that were judged.
    pub candidates: Vec<u64>,
    /// Held outcomes judged with them.
    pub held: Vec<u64>,
    /// The idempotency point from which work resumes.
    pub resume: Resume,
    /// Why.
    pub reason: String,
    /// Who decided.
    pub principal: Decider,
    /// The record's digest.
    pub record_digest: Digest,
    /// The answer, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<Input>,
}
