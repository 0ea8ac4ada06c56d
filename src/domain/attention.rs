//! What waits for a person, since when and why (contract section 7).
//!
//! A task's rows follow from its state alone: each holds from `since` until `until`, so that a task becomes stuck by
//! the passing of time without a write. A store keeps the rows; whoever reads compares them with the clock.

use super::ids::Timestamp;
use super::task::{Task, TaskState};
use serde::{Deserialize, Serialize};

/// Why something waits, as lists and filters name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Reason {
    /// A contradiction.
    #[serde(rename = "needs_review")]
    NeedsReview,
    /// A task of this store asks a person, whatever the need.
    #[serde(rename = "waiting_human")]
    WaitingHuman,
    /// A remote agent asks for input.
    #[serde(rename = "INPUT_REQUIRED")]
    InputRequired,
    /// A remote agent waits for an authorization given elsewhere.
    #[serde(rename = "AUTH_REQUIRED")]
    AuthRequired,
    /// Nothing moves it.
    #[serde(rename = "stuck")]
    Stuck,
}

impl Reason {
    /// Every reason, most urgent first.
    pub const ALL: [Reason; 5] = [
        Reason::NeedsReview,
        Reason::WaitingHuman,
        Reason::InputRequired,
        Reason::AuthRequired,
        Reason::Stuck,
    ];

    /// The word on every surface.
    pub fn as_str(self) -> &'static str {
        match self {
            Reason::NeedsReview => "needs_review",
            Reason::WaitingHuman => "waiting_human",
            Reason::InputRequired => "INPUT_REQUIRED",
            Reason::AuthRequired => "AUTH_REQUIRED",
            Reason::Stuck => "stuck",
        }
    }

    /// The reason that a word names, whatever its case.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|r| r.as_str().eq_ignore_ascii_case(word))
    }
}

/// How something is stuck.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stuck {
    /// Running, and its lease is over.
    LeaseExpired,
    /// Past the moment of its next try.
    RetryOverdue,
    /// Ready for longer than the threshold.
    ReadyTooLong,
    /// Pending for longer than the threshold.
    PendingTooLong,
    /// Its question can no longer be answered.
    InterruptionExpired,
    /// An effect was announced, and nobody knows whether it happened.
    EffectUnknown,
    /// A message was put aside.
    Quarantined,
}

impl Stuck {
    /// Every way.
    pub const ALL: [Stuck; 7] = [
        Stuck::LeaseExpired,
        Stuck::RetryOverdue,
        Stuck::ReadyTooLong,
        Stuck::PendingTooLong,
        Stuck::InterruptionExpired,
        Stuck::EffectUnknown,
        Stuck::Quarantined,
    ];

    /// The word on every surface.
    pub fn as_str(self) -> &'static str {
        match self {
            Stuck::LeaseExpired => "lease_expired",
            Stuck::RetryOverdue => "retry_overdue",
            Stuck::ReadyTooLong => "ready_too_long",
            Stuck::PendingTooLong => "pending_too_long",
            Stuck::InterruptionExpired => "interruption_expired",
            Stuck::EffectUnknown => "effect_unknown",
            Stuck::Quarantined => "quarantined",
        }
    }

    /// The way that a word names.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|s| s.as_str() == word)
    }

    /// What is safe to do about it.
    pub fn advice(self) -> &'static str {
        match self {
            Stuck::LeaseExpired => "check the worker, then release the lease or cancel",
            Stuck::RetryOverdue => "move it to ready, or cancel",
            Stuck::ReadyTooLong => "no worker takes it: check the workers",
            Stuck::PendingTooLong => "nothing starts it: check the runtime, move it to ready, or cancel",
            Stuck::InterruptionExpired => "the question is void: cancel, or have it asked anew",
            Stuck::EffectUnknown => {
                "find out at the target whether it happened, then `commit-effect` or `void-effect`; never repeat it blindly"
            }
            Stuck::Quarantined => "read why, repair and re-admit it, or drop it with a reason",
        }
    }
}

/// When a quiet task counts as stuck, in milliseconds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Thresholds {
    /// `ready` for longer than this.
    pub ready_ms: i64,
    /// `pending` for longer than this.
    pub pending_ms: i64,
}

impl Default for Thresholds {
    fn default() -> Self {
        Thresholds { ready_ms: 3_600_000, pending_ms: 3_600_000 }
    }
}

/// One reason why a task waits, and while it holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attention {
    /// Why.
    pub reason: Reason,
    /// How, where it is stuck.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stuck: Option<Stuck>,
    /// From this moment on.
    pub since: Timestamp,
    /// Before this moment; for ever where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Timestamp>,
}

/// Every row of a task: at most one of them holds at any moment, so that a list counts tasks.
pub fn of(task: &Task, thresholds: &Thresholds) -> Vec<Attention> {
    let row = |reason, stuck, since| Attention { reason, stuck, since, until: None };
    let stuck = |way, since| row(Reason::Stuck, Some(way), since);
    let mut rows = match task.state {
        TaskState::NeedsReview => vec![row(Reason::NeedsReview, None, task.entered_at)],
        TaskState::WaitingHuman => waiting(task),
        TaskState::Running => {
            task.lease.iter().map(|l| stuck(Stuck::LeaseExpired, l.expires_at.max(task.entered_at))).collect()
        }
        TaskState::RetryWait => {
            let due = task.retry_at.unwrap_or(task.entered_at.plus(thresholds.ready_ms));
            vec![stuck(Stuck::RetryOverdue, due.max(task.entered_at))]
        }
        TaskState::Ready => vec![stuck(Stuck::ReadyTooLong, task.entered_at.plus(thresholds.ready_ms))],
        TaskState::Pending => vec![stuck(Stuck::PendingTooLong, task.entered_at.plus(thresholds.pending_ms))],
        TaskState::Succeeded | TaskState::Failed | TaskState::Denied | TaskState::Canceled => Vec::new(),
    };
    let unknown =
        task.reservations.iter().filter_map(|r| r.unknown_since.or_else(|| lease_end(task, r))).min();
    if let Some(since) = unknown.filter(|_| !task.state.waits_for_a_record()) {
        // An effect of unknown fate matters more than a quiet task: the other row ends where it begins.
        rows.retain(|r| r.since < since);
        for row in &mut rows {
            row.until = Some(since);
        }
        rows.push(stuck(Stuck::EffectUnknown, since));
    }
    rows
}

fn waiting(task: &Task) -> Vec<Attention> {
    let Some(open) = &task.interruption else {
        return vec![Attention {
            reason: Reason::WaitingHuman,
            stuck: None,
            since: task.entered_at,
            until: None,
        }];
    };
    let expires = open.question.expires_at.map(|t| t.max(open.opened_at));
    let reason = Reason::WaitingHuman;
    let mut rows = vec![Attention { reason, stuck: None, since: open.opened_at, until: expires }];
    if let Some(since) = expires {
        let stuck = Some(Stuck::InterruptionExpired);
        rows.push(Attention { reason: Reason::Stuck, stuck, since, until: None });
    }
    rows.retain(|r| r.until.is_none_or(|until| until > r.since));
    rows
}

fn lease_end(task: &Task, reservation: &super::task::Reservation) -> Option<Timestamp> {
    reservation.lease_version?;
    task.lease.as_ref().map(|l| l.expires_at.max(reservation.at))
}
