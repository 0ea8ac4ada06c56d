//! One task: its states, the allow-list of transitions, and what is kept of it (contract section 5).

mod fold;

#[cfg(test)]
mod tests;

pub use fold::evolve;

use super::digest::{Digest, Scheme};
use super::envelope::{EffectName, Request};
use super::event::{ConflictSet, Decided};
use super::failure::Failure;
use super::ids::{TaskId, Timestamp};
use super::interruption::Interruption;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

/// Where a task stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TaskState {
    /// Asked for.
    Pending,
    /// May be claimed.
    Ready,
    /// Being worked on.
    Running,
    /// To be tried again.
    RetryWait,
    /// A person was asked.
    WaitingHuman,
    /// Something contradicts something: a person must judge.
    NeedsReview,
    /// Over, well.
    Succeeded,
    /// Over, badly.
    Failed,
    /// Over, refused.
    Denied,
    /// Over, by decision.
    Canceled,
}

impl TaskState {
    /// Every state.
    pub const ALL: [TaskState; 10] = [
        TaskState::Pending,
        TaskState::Ready,
        TaskState::Running,
        TaskState::RetryWait,
        TaskState::WaitingHuman,
        TaskState::NeedsReview,
        TaskState::Succeeded,
        TaskState::Failed,
        TaskState::Denied,
        TaskState::Canceled,
    ];

    /// The word on every surface.
    pub fn as_str(self) -> &'static str {
        match self {
            TaskState::Pending => "pending",
            TaskState::Ready => "ready",
            TaskState::Running => "running",
            TaskState::RetryWait => "retry_wait",
            TaskState::WaitingHuman => "waiting_human",
            TaskState::NeedsReview => "needs_review",
            TaskState::Succeeded => "succeeded",
            TaskState::Failed => "failed",
            TaskState::Denied => "denied",
            TaskState::Canceled => "canceled",
        }
    }

    /// The state that a word names.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|s| s.as_str() == word)
    }

    /// Whether the task is over.
    pub fn is_terminal(self) -> bool {
        matches!(self, TaskState::Succeeded | TaskState::Failed | TaskState::Denied | TaskState::Canceled)
    }

    /// Whether only an approval record moves the task on.
    pub fn waits_for_a_record(self) -> bool {
        matches!(self, TaskState::NeedsReview | TaskState::WaitingHuman)
    }

    /// What makes the step from here to `to` legal; `None` for every step that is not on the list.
    pub fn step(self, to: TaskState) -> Option<By> {
        use TaskState as S;
        match (self, to) {
            (S::Pending, S::Ready)
            | (S::Ready, S::Running)
            | (S::Running, S::Succeeded | S::RetryWait | S::Failed | S::Denied | S::WaitingHuman)
            | (S::RetryWait, S::Ready) => Some(By::Runtime),
            (_, S::NeedsReview) => Some(By::Conflict),
            (S::NeedsReview | S::WaitingHuman | S::Ready, S::Ready) => Some(By::Record),
            (S::NeedsReview | S::WaitingHuman, S::Canceled) => Some(By::Record),
            (S::Pending | S::Ready | S::Running | S::RetryWait, S::Canceled) => Some(By::Authority),
            _ => None,
        }
    }
}

impl fmt::Display for TaskState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// What a legal step needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// A message or the runtime's own transition.
    Runtime,
    /// A contradiction that admission found.
    Conflict,
    /// An approval record.
    Record,
    /// An authorized actor.
    Authority,
}

/// A worker's hold on a running task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lease {
    /// Who.
    pub worker: String,
    /// Until when; past it the task is stuck, and nothing else changes.
    pub expires_at: Timestamp,
}

/// An effect that was announced and is not known to have happened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reservation {
    /// Which.
    #[serde(flatten)]
    pub effect: EffectName,
    /// Under which lease.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lease_version: Option<u64>,
    /// Since when.
    pub at: Timestamp,
    /// Since when its lease is over, so that nobody knows whether it happened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unknown_since: Option<Timestamp>,
}

/// The open conflict sets of a task.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Review {
    /// One per intent in conflict.
    pub sets: Vec<ConflictSet>,
}

impl Review {
    /// Every candidate, once, in arrival order.
    pub fn candidates(&self) -> Vec<u64> {
        let mut all: Vec<u64> = self.sets.iter().flat_map(|s| s.candidates.iter().copied()).collect();
        all.sort_unstable();
        all.dedup();
        all
    }
}

/// What the last decision judged; kept while it can still be superseded.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Judged {
    /// The state it decided from.
    pub from: TaskState,
    /// The conflict sets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub review: Option<Review>,
    /// The question.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interruption: Option<Interruption>,
    /// Held outcomes that were judged with it.
    pub held: Vec<u64>,
}

/// The view folded from a task's events; bounded, however many messages there are.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Task {
    /// The task.
    pub task_id: TaskId,
    /// Its run.
    pub trace_id: String,
    /// Where it stands.
    pub state: TaskState,
    /// Guards every write.
    pub state_version: u64,
    /// The number of its last event.
    pub revision: u64,
    /// The arrival of its last delivery.
    pub arrivals: u64,
    /// Distinct submissions stored.
    pub submissions: u64,
    /// Since when it is known.
    pub created_at: Timestamp,
    /// Since when it stands where it stands.
    pub entered_at: Timestamp,
    /// What is asked.
    #[serde(flatten)]
    pub request: Request,
    /// Its labels.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
    /// The request's digest, its scheme, and the common digest.
    pub request_digest: (Digest, Scheme, Option<Digest>),
    /// The last lease given; 0 = none yet.
    pub lease_version: u64,
    /// Who holds the task, while it runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lease: Option<Lease>,
    /// Whether the last lease was taken away.
    #[serde(default, skip_serializing_if = "is_false")]
    pub lease_revoked: bool,
    /// In `retry_wait`: not before this moment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_at: Option<Timestamp>,
    /// The last failure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<Failure>,
    /// The arrival of the outcome the task stands on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<u64>,
    /// Open conflicts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub review: Option<Review>,
    /// Messages recorded for later, ascending.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub held: Vec<u64>,
    /// The open question.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interruption: Option<Interruption>,
    /// How many questions there were.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub questions: u64,
    /// Announced effects of unknown fate.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reservations: Vec<Reservation>,
    /// Effects done.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub effects_committed: u64,
    /// The exact count of repeats.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub duplicates: u64,
    /// The last ids that repeats came under, at most 16.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub duplicate_ids: Vec<String>,
    /// The last decision.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decided: Option<Box<Decided>>,
    /// What it judged, while it can be superseded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judged: Option<Box<Judged>>,
}

fn is_false(b: &bool) -> bool {
    !*b
}

fn is_zero(n: &u64) -> bool {
    *n == 0
}

impl Task {
    /// What a role's scope looks at.
    pub fn subject(&self) -> super::actor::Subject<'_> {
        super::actor::Subject { task_id: &self.task_id, trace_id: &self.trace_id, labels: &self.labels }
    }

    /// Whether `lease` is the current one: the last given, and not taken away.
    pub fn is_current_lease(&self, lease: u64) -> bool {
        lease == self.lease_version && lease > 0 && !self.lease_revoked
    }

    /// Whether a message of `sender` under `lease` comes from whoever may report now.
    pub fn may_report(&self, sender: &str, lease: Option<u64>) -> bool {
        match (lease, &self.lease) {
            (Some(version), _) => self.is_current_lease(version),
            (None, Some(held)) => held.worker == sender,
            (None, None) => true,
        }
    }
}
