//! The facts the coordinator accepted; State is folded from these alone (contract section 1).

mod delivery;

pub use delivery::{Delivery, Differs, Message, Repeat, SchemeChange, Submission, Verification};

use super::decision::{Input, Resume};
use super::digest::{Digest, Scheme};
use super::envelope::{Class, EffectName, Request};
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

impl CommittedEffect {
    /// What an event says was done.
    pub fn of(what: &What) -> Option<Self> {
        let What::Committed { effect, digest, scheme, common, arrival } = what else { return None };
        let (effect, digest, scheme, common, arrival) = (effect.clone(), *digest, *scheme, *common, *arrival);
        Some(CommittedEffect { effect, digest, scheme, common, arrival })
    }
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
