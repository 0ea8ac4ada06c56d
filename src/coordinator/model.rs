//! What a coordinator shows: tasks, sides, payloads, records, as one principal may see them.

use crate::domain::actor::Principal;
use crate::domain::attention::{Reason, Stuck};
use crate::domain::command::Stored;
use crate::domain::digest::Digest;
use crate::domain::event::Outcome;
use crate::domain::failure::FailureKind;
use crate::domain::ids::{TaskId, Timestamp};
use crate::domain::interruption::Need;
use crate::domain::ledger::{CandidateSet, Head, Record};
use crate::domain::query::Query;
use crate::domain::task::{Task, TaskState};
use crate::store::{Entry, Order, Scope};
use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A message at the door.
#[derive(Clone, Debug)]
pub struct Incoming {
    /// Its bytes.
    pub raw: Arc<[u8]>,
    /// Where they came from, for people: a file and line, a connection.
    pub source: String,
    /// For a message past the limit of bytes, of which `raw` is only the beginning: what the whole was.
    pub whole: Option<Whole>,
}

/// What is known of a message that was too long to be kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Whole {
    /// How many bytes it had.
    pub size: u64,
    /// Their SHA-256.
    pub digest: Digest,
}

/// What to list.
#[derive(Clone, Debug, PartialEq)]
pub struct ListRequest {
    /// From which tasks. A filter that names a state widens `Waiting` to every task.
    pub scope: Scope,
    /// Which of them.
    pub query: Query,
    /// In which order.
    pub order: Order,
    /// The cursor of the row before the page.
    pub after: Option<String>,
    /// The page before the cursor in place of the one after it.
    pub backwards: bool,
    /// How many rows, 1 to 1,000.
    pub limit: usize,
}

/// One row of a list, as `list --json` prints it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// The task; for a quarantine entry the one it names, if it names one.
    pub task_id: Option<String>,
    /// Its run.
    pub trace_id: Option<String>,
    /// Where it stands.
    pub state: Option<TaskState>,
    /// Its version.
    pub state_version: Option<u64>,
    /// Why it waits; `None` = it does not.
    pub reason: Option<Reason>,
    /// How it is stuck.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stuck: Option<Stuck>,
    /// Since when.
    pub since: Timestamp,
    /// How many candidates wait to be judged.
    pub candidates: u64,
    /// How many deliveries were recorded.
    pub messages: u64,
    /// How many messages are held.
    pub held: u64,
    /// The open question.
    pub interruption: Option<RowQuestion>,
    /// What is asked of the task.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub goal: Option<String>,
    /// Its priority.
    pub priority: i64,
    /// Its deadline.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deadline: Option<Timestamp>,
    /// The last failure's kind.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<FailureKind>,
    /// Who holds it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub worker: Option<String>,
    /// Its labels.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
    /// The last record.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approval_id: Option<String>,
    /// The quarantine entry this row stands for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quarantine: Option<String>,
    /// A sentence about a quarantine entry.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// Where the next page goes on.
    pub cursor: String,
}

/// The open question, in a row.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RowQuestion {
    /// Its id within the task.
    pub id: String,
    /// What is needed.
    pub need: Need,
    /// What is asked.
    pub prompt: String,
    /// Until when it can be answered.
    pub expires_at: Option<Timestamp>,
}

/// A stored submission as it is shown.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Submitted {
    /// What it said.
    #[serde(flatten)]
    pub submission: crate::domain::event::Submission,
    /// What became of it on arrival.
    pub outcome: Outcome,
    /// Whether it took effect later.
    pub applied: bool,
    /// How many times it was delivered.
    pub deliveries: u64,
    /// The record that judged it last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub judged_by: Option<String>,
    /// Always false: nothing an agent sent is trusted by being recorded.
    pub trusted: bool,
}

impl From<Stored> for Submitted {
    fn from(s: Stored) -> Self {
        Submitted {
            submission: s.submission,
            outcome: s.outcome,
            applied: s.applied,
            deliveries: s.duplicates + 1,
            judged_by: s.judged_by,
            trusted: false,
        }
    }
}

/// A task with all that a person needs to judge it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Shown {
    /// The task: state, lease, open question, conflict sets, last decision.
    #[serde(flatten)]
    pub task: Task,
    /// Why it waits now.
    pub reason: Option<Reason>,
    /// How it is stuck.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stuck: Option<Stuck>,
    /// Since when.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<Timestamp>,
    /// Every candidate of every open conflict set, by arrival.
    pub candidates: Vec<Submitted>,
    /// Held messages, by arrival.
    pub held_messages: Vec<Submitted>,
    /// What a decision would judge now: what its record will keep.
    pub candidate_set: CandidateSet,
    /// Its digest, to be sent with the decision.
    pub candidate_set_digest: Option<Digest>,
    /// What this principal may do now; the screen shows why for the rest.
    pub may: BTreeMap<&'static str, bool>,
    /// Sides that this principal wrote and may not judge.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub own: Vec<u64>,
}

/// A payload, and what is known of it.
#[derive(Clone, Debug, PartialEq)]
pub struct PayloadView {
    /// The JSON text, masked where it must be; `None` where the content is behind a reference.
    pub bytes: Option<Arc<[u8]>>,
    /// Whether something is masked: then `bytes` are not what the digest is of.
    pub masked: bool,
    /// Whether the digest was recomputed just now from the stored bytes and is the claimed one.
    pub verified: bool,
    /// A sentence where it is not.
    pub problem: Option<String>,
}

/// An approval record and its exact bytes.
#[derive(Clone, Debug, PartialEq)]
pub struct Approval {
    /// The record.
    pub record: Box<Record>,
    /// As stored, canonical JSON.
    pub bytes: Vec<u8>,
}

/// Which approval records to read.
#[derive(Clone, Debug, PartialEq)]
pub struct LedgerRequest {
    /// Those of one task, or of the whole ledger.
    pub task: Option<TaskId>,
    /// Which of them. A record is asked as it is shown to whoever asks; the keys in [`crate::domain::ledger::NOT_OF_RECORDS`] fit none.
    pub query: Query,
    /// From where, and in which direction.
    pub from: LedgerPlace,
    /// At most this many, 1 to 1,000.
    pub limit: usize,
}

impl LedgerRequest {
    /// Every record of a task, or of the whole ledger, from a place on.
    pub fn all(task: Option<TaskId>, from: LedgerPlace, limit: usize) -> Self {
        LedgerRequest { task, query: Query::default(), from, limit }
    }
}

/// A place between two records, and in which direction is read from there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LedgerPlace {
    /// Those with a higher number, the lowest first.
    After(u64),
    /// Those with a lower number, the highest first.
    Before(u64),
}

/// Records, in the direction they were read.
#[derive(Clone, Debug, PartialEq)]
pub struct LedgerPage {
    /// Those that fit. There may be none where others were read.
    pub rows: Vec<Approval>,
    /// Where reading goes on; `None` where the ledger ends in that direction.
    pub next: Option<LedgerPlace>,
}

/// A quarantine entry and its bytes.
#[derive(Clone, Debug, PartialEq)]
pub struct Quarantined {
    /// The entry.
    pub entry: Entry,
    /// Its bytes.
    pub bytes: Arc<[u8]>,
}

/// How the way to the coordinator is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "link", rename_all = "snake_case")]
pub enum Link {
    /// Changes arrive as they happen.
    Live,
    /// Trying again.
    Reconnecting {
        /// Since when.
        since: Timestamp,
    },
    /// Given up for now; what is shown is of this moment.
    Offline {
        /// When the data was read.
        data_of: Timestamp,
    },
}

/// How store and connection do.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Status {
    /// What the store is called on screen.
    pub name: String,
    /// Its id.
    pub store_id: String,
    /// Who is asking.
    pub principal: Principal,
    /// How the way there is.
    pub link: Link,
    /// Where the ledger stands.
    pub head: Head,
    /// How many events there are.
    pub events: u64,
    /// Why writes are refused until a person accepts the head.
    pub mismatch: Option<String>,
    /// Why the store is open for viewing only, so that nothing can be written; `None` = it may be written.
    pub read_only: Option<String>,
    /// Why the last write failed.
    pub write_failure: Option<String>,
}
