//! What can be asked of the coordinator, what a rule needs to know for it, and what it answers.
//!
//! A store loads a [`Context`] for a [`Command`], hands both to [`handle`], and writes the [`Verdict`] in the same
//! commit. Nothing here reads a clock or makes an id: both come in with the command.

use super::actor::Principal;
use super::decision::{Decision, Policy};
use super::digest::{Digest, Scheme};
use super::envelope::{EffectName, Envelope, Fault, Limits};
use super::event::{CommittedEffect, Event, Outcome, Submission, What};
use super::ids::{TaskId, Timestamp};
use super::ledger::{Head, Record};
use super::refusal::Refusal;
use super::task::{Task, TaskState, evolve};
use super::{admission, decision, runtime};
use serde::{Deserialize, Serialize};

/// One thing asked of the coordinator about one task.
#[derive(Clone, Debug)]
pub enum Command {
    /// A message arrived.
    Admit(Box<Admit>),
    /// A person decides or answers.
    Decide(Box<Decision>),
    /// The runtime moves a task.
    Transition(Transition),
    /// A worker takes a ready task.
    Claim {
        /// The task.
        task_id: TaskId,
        /// Who will hold it.
        worker: String,
        /// For how long, in milliseconds.
        ttl_ms: i64,
    },
    /// The holder prolongs its lease.
    Renew {
        /// The task.
        task_id: TaskId,
        /// The lease.
        lease_version: u64,
        /// For how long from now, in milliseconds.
        ttl_ms: i64,
    },
    /// A lease is taken away: running goes to `retry_wait`.
    Release {
        /// The task.
        task_id: TaskId,
        /// The lease.
        lease_version: u64,
        /// Why.
        reason: String,
    },
    /// An effect is about to happen.
    Reserve {
        /// The task.
        task_id: TaskId,
        /// Which effect.
        effect: EffectName,
        /// Under which lease.
        lease_version: Option<u64>,
    },
    /// An effect happened.
    Commit {
        /// The task.
        task_id: TaskId,
        /// Which effect.
        effect: EffectName,
        /// The digest of its receipt's payload.
        digest: Digest,
        /// The scheme of `digest`.
        scheme: Scheme,
        /// Under which lease.
        lease_version: Option<u64>,
    },
    /// A person found out that an announced effect did not happen.
    Void {
        /// The task.
        task_id: TaskId,
        /// Which effect.
        effect: EffectName,
        /// The version it was read at.
        expected_version: u64,
        /// How that is known.
        reason: String,
    },
    /// An artifact did not pass.
    Gate {
        /// The task.
        task_id: TaskId,
        /// Why.
        reason: String,
    },
}

/// A message to admit.
#[derive(Clone, Debug)]
pub struct Admit {
    /// The message, or why it is none; the bytes are in either.
    pub message: Result<Envelope, BadMessage>,
    /// Where it came from: a file and line, a connection.
    pub source: String,
    /// The quarantine entry this settles, when it is re-admitted.
    pub readmits: Option<String>,
}

/// Bytes that are no envelope.
#[derive(Clone, Debug)]
pub struct BadMessage {
    /// As they arrived.
    pub raw: std::sync::Arc<[u8]>,
    /// What is wrong.
    pub fault: Box<Fault>,
}

/// A move asked for by the runtime or an operator.
#[derive(Clone, Debug)]
pub struct Transition {
    /// The task.
    pub task_id: TaskId,
    /// Where to.
    pub to: TaskState,
    /// The version it was read at.
    pub expected_version: u64,
    /// Why.
    pub reason: String,
    /// For `retry_wait`: not before this moment.
    pub retry_at: Option<Timestamp>,
}

impl Command {
    /// The task it is about; `None` for bytes that name none.
    pub fn task_id(&self) -> Option<TaskId> {
        match self {
            Command::Admit(admit) => match &admit.message {
                Ok(envelope) => Some(envelope.task_id.clone()),
                Err(_) => None,
            },
            Command::Decide(d) => Some(d.task_id.clone()),
            Command::Transition(t) => Some(t.task_id.clone()),
            Command::Claim { task_id, .. }
            | Command::Renew { task_id, .. }
            | Command::Release { task_id, .. }
            | Command::Reserve { task_id, .. }
            | Command::Commit { task_id, .. }
            | Command::Void { task_id, .. }
            | Command::Gate { task_id, .. } => Some(task_id.clone()),
        }
    }

    /// Whether it must have a commit of its own, so that nothing else can fail it.
    pub fn wants_own_commit(&self) -> bool {
        matches!(self, Command::Decide(_))
    }
}

/// A command, by whom, when, and under which rules.
#[derive(Clone, Debug)]
pub struct Request {
    /// What is asked.
    pub command: Command,
    /// By whom; authenticated.
    pub principal: Principal,
    /// The coordinator's time.
    pub now: Timestamp,
}

/// The rules in force that are not the contract's: bounds and policy.
#[derive(Clone, Debug, Default)]
pub struct Rules {
    /// Bounds on messages.
    pub limits: Limits,
    /// How decisions are made.
    pub policy: Policy,
    /// When a quiet task counts as stuck.
    pub thresholds: super::attention::Thresholds,
    /// The digest scheme of messages that name none (contract section 2).
    pub default_scheme: Scheme,
}

/// A stored submission as a rule sees it: what it said, and what became of it since.
#[derive(Clone, Debug, PartialEq)]
pub struct Stored {
    /// What it said.
    pub submission: Submission,
    /// What became of it on arrival.
    pub outcome: Outcome,
    /// Whether it took effect later, when held first.
    pub applied: bool,
    /// How many repeats of it were counted.
    pub duplicates: u64,
    /// The record that judged it last.
    pub judged_by: Option<String>,
}

/// What a store must load for a command, beside the task itself.
#[derive(Clone, Debug, Default)]
pub struct Context {
    /// The task, where there is one.
    pub task: Option<Task>,
    /// For an admission: every stored submission of the same intent, by arrival.
    pub same_intent: Vec<Stored>,
    /// For an admission: every stored submission of this task that was delivered under the same `message_id`, whoever
    /// sent it.
    pub same_message_id: Vec<Stored>,
    /// Committed effects under the command's effect key, and on its target.
    pub committed: Vec<CommittedEffect>,
    /// For a decision, or a move to `running`: every stored submission among the task's candidates (open or judged)
    /// and its held ones, by arrival.
    pub of_task: Vec<Stored>,
    /// For a decision: a record by the same principal under the same idempotency key.
    pub replay: Option<Replay>,
    /// For a decision: the ledger's head.
    pub head: Head,
}

/// An earlier decision under the same key.
#[derive(Clone, Debug)]
pub struct Replay {
    /// The digest of its body.
    pub body_digest: Digest,
    /// Its record.
    pub record: Box<Record>,
}

/// What a rule decided; a store writes all of it or nothing.
#[derive(Clone, Debug)]
pub enum Verdict {
    /// Recorded: these events, and what they say.
    Recorded(Box<Recorded>),
    /// Put aside: no event, the task unchanged.
    Quarantine(Box<Fault>),
    /// Nothing is written, and that is the answer: an earlier decision under the same key, or an effect done before.
    Unchanged(Reply),
}

/// Events to append and their side tables.
#[derive(Clone, Debug)]
pub struct Recorded {
    /// The task after them.
    pub task: Task,
    /// The events, in order.
    pub events: Vec<Event>,
    /// The approval record, for a decision, with the body digest of its idempotency key.
    pub record: Option<(Box<Record>, Digest)>,
    /// What to answer.
    pub reply: Reply,
}

/// What the caller is told.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Reply {
    /// What became of a message.
    Admitted(Admitted),
    /// What became of a decision.
    Decided {
        /// `decided` or `replayed`.
        outcome: DecisionOutcome,
        /// The record.
        record: Box<Record>,
    },
    /// A lease.
    Leased {
        /// Its number.
        lease_version: u64,
        /// The task's version now.
        state_version: u64,
        /// Until when.
        expires_at: Timestamp,
        /// Where the task stands: a held outcome may have ended it at once.
        state: TaskState,
    },
    /// An effect.
    Effect {
        /// `reserved`, `committed`, `already_committed`, `conflict`.
        outcome: EffectOutcome,
        /// Where the task stands.
        state: TaskState,
        /// The task's version now.
        state_version: u64,
    },
    /// A move.
    Moved {
        /// Where the task stands.
        state: TaskState,
        /// The task's version now.
        state_version: u64,
    },
}

/// What became of a message, as `ingest --json` prints it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Admitted {
    /// Its id, where it had one.
    pub message_id: Option<String>,
    /// Its task, where it named one.
    pub task_id: Option<String>,
    /// `accepted`, `duplicate`, …, `quarantined`.
    pub outcome: String,
    /// Its arrival; `None` when quarantined.
    pub arrival: Option<u64>,
    /// The submission it repeats, for a duplicate: the accepted result is there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duplicate_of: Option<u64>,
    /// Where the task stands now.
    pub state: Option<TaskState>,
    /// The task's version now.
    pub state_version: Option<u64>,
    /// Why, for people.
    pub reason: Option<String>,
    /// The quarantine entry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quarantine: Option<String>,
}

/// Whether a decision was made now or before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DecisionOutcome {
    /// Now.
    Decided,
    /// Before, under the same key.
    Replayed,
}

/// What became of an effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EffectOutcome {
    /// Announced.
    Reserved,
    /// Done.
    Committed,
    /// Done before, the same.
    AlreadyCommitted,
    /// Found not to have happened; it may be announced again.
    Voided,
    /// Done before, otherwise: a person must judge.
    Conflict,
}

/// Applies the rule for a command.
///
/// # Errors
/// The [`Refusal`]; nothing is to be written.
pub fn handle(context: &Context, request: &Request, rules: &Rules) -> Result<Verdict, Refusal> {
    match &request.command {
        Command::Admit(admit) => admission::admit(context, admit, request, rules),
        Command::Decide(decision) => decision::decide(context, decision, request, rules),
        _ => runtime::run(context, request, rules),
    }
}

/// Events being made for one task: each is folded at once, so the next rule sees its effect.
pub(super) struct Draft {
    task: Task,
    events: Vec<Event>,
    now: Timestamp,
    bumped: bool,
}

impl Draft {
    /// Goes on from `task`.
    pub(super) fn on(task: &Task, now: Timestamp) -> Self {
        Draft { task: task.clone(), events: Vec::new(), now, bumped: false }
    }

    /// Begins a task with its `created` event.
    pub(super) fn create(id: &TaskId, created: What, now: Timestamp) -> Option<Self> {
        let event = Event { revision: 1, at: now, state_version: 1, what: created };
        let task = evolve(None, id, &event)?;
        Some(Draft { task, events: vec![event], now, bumped: true })
    }

    /// Adds an event that leaves the version alone.
    pub(super) fn push(&mut self, what: What) {
        self.add(what, false);
    }

    /// Adds an event that raises the version.
    pub(super) fn bump(&mut self, what: What) {
        self.add(what, true);
    }

    /// Raises the version unless something in this draft already did: a change of a candidate set together with
    /// the transition it causes is one change.
    pub(super) fn bump_once(&mut self, what: What) {
        self.add(what, !self.bumped);
    }

    fn add(&mut self, what: What, bump: bool) {
        let event = Event {
            revision: self.task.revision + 1,
            at: self.now,
            state_version: self.task.state_version + u64::from(bump),
            what,
        };
        self.bumped |= bump;
        self.task.fold(&event);
        self.events.push(event);
    }

    /// The coordinator's time.
    pub(super) fn now(&self) -> Timestamp {
        self.now
    }

    /// The task as it stands now.
    pub(super) fn task(&self) -> &Task {
        &self.task
    }

    /// What was drafted.
    pub(super) fn done(self, reply: Reply) -> Verdict {
        Verdict::Recorded(Box::new(Recorded { task: self.task, events: self.events, record: None, reply }))
    }

    /// The parts, for a decision's record.
    pub(super) fn into_parts(self) -> (Task, Vec<Event>) {
        (self.task, self.events)
    }
}
