//! What stores give and take beside the domain's own types.

use crate::domain::attention::{Attention, Reason};
use crate::domain::digest::Digest;
use crate::domain::envelope::{Named, QuarantineReason};
use crate::domain::event::Event;
use crate::domain::ids::{TaskId, Timestamp};
use crate::domain::ledger::{Head, LogProblem};
use crate::domain::query::Query;
use crate::domain::task::Task;
use serde::{Deserialize, Serialize};

/// Which tasks a page is taken from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// What waits for a person now, whatever the reason; quarantine entries too.
    #[default]
    Waiting,
    /// Only what waits for this reason.
    Reason(Reason),
    /// Tasks with at least one approval record.
    Decided,
    /// Every task.
    Everything,
}

/// By what a page is ordered; ties by task, so that an order is total.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OrderKey {
    /// Since when it waits (for tasks that do not wait: since when they stand where they stand).
    #[default]
    Since,
    /// Its priority; the most urgent first when ascending.
    Priority,
    /// Its deadline; the nearest first when ascending, none last.
    Deadline,
    /// Its id.
    Task,
    /// Its trace.
    Trace,
    /// Why it waits.
    Reason,
}

/// An order and its direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Order {
    /// By what.
    pub key: OrderKey,
    /// Whether the other way round.
    pub descending: bool,
}

/// What page to read.
#[derive(Clone, Debug)]
pub struct PageRequest {
    /// From which tasks.
    pub scope: Scope,
    /// Which of them.
    pub query: Query,
    /// In which order.
    pub order: Order,
    /// The cursor of the row before the page; from the first where there is none. Opaque, from [`DocketRow::cursor`].
    pub after: Option<String>,
    /// Read backwards from `after`: the rows just before it, nearest last.
    pub backwards: bool,
    /// At most this many rows; a store may cap it at 1,000.
    pub limit: usize,
    /// The time that "now" and ages are measured at.
    pub now: Timestamp,
    /// Who counts as "mine" in the filter.
    pub me: String,
}

/// A page.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Page<T> {
    /// The rows.
    pub rows: Vec<T>,
    /// Whether there are more after the last.
    pub more: bool,
}

/// One row of a list: a task, or a quarantine entry that names none.
#[derive(Clone, Debug, PartialEq)]
pub struct DocketRow {
    /// The task; `None` for a quarantine entry.
    pub task: Option<Task>,
    /// The quarantine entry, for a row that stands for one.
    pub entry: Option<Entry>,
    /// Why it waits; `None` for a task that does not.
    pub attention: Option<Attention>,
    /// Where the next page goes on.
    pub cursor: String,
}

/// How many rows a list has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    /// The count, exact unless capped.
    pub count: u64,
    /// Whether there are more than were counted.
    pub capped: bool,
}

/// A tally per tab.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tallies {
    /// Everything that waits.
    pub all: Tally,
    /// `needs_review`.
    pub needs_review: Tally,
    /// `waiting_human`.
    pub waiting: Tally,
    /// `INPUT_REQUIRED`.
    pub input: Tally,
    /// `AUTH_REQUIRED`.
    pub auth: Tally,
    /// `stuck`.
    pub stuck: Tally,
    /// Open quarantine entries.
    pub quarantine: Tally,
    /// Tasks with a record.
    pub decided: Tally,
}

/// A place in the feed. Within one epoch, positions only grow; after a restore the epoch changes and readers start anew.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Cursor {
    /// The feed's epoch.
    pub epoch: u64,
    /// The position of the last change seen; 0 = none.
    pub position: u64,
}

/// One change in the feed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Change {
    /// Its place.
    pub cursor: Cursor,
    /// The task; `None` where a quarantine entry came or went.
    pub task_id: Option<TaskId>,
    /// The event; `None` likewise.
    pub event: Option<Event>,
    /// The quarantine entry that came or went.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entry: Option<String>,
}

/// A record as stored: canonical JSON, byte for byte.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sequenced {
    /// Its number.
    pub sequence: u64,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

/// A message that was put aside.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// Its name, `Q-` and a number.
    pub id: String,
    /// Its number, for paging.
    pub number: u64,
    /// Why.
    pub reason: QuarantineReason,
    /// In a sentence.
    pub detail: String,
    /// What could be read of its names.
    #[serde(flatten)]
    pub named: Named,
    /// Where it came from, the first time.
    pub source: String,
    /// The principal that delivered it, the first time.
    pub submitted_by: String,
    /// When it came first.
    pub received_at: Timestamp,
    /// When it came last.
    pub last_received_at: Timestamp,
    /// How often exactly these bytes came.
    pub count: u64,
    /// How many bytes they are.
    pub size: u64,
    /// Their SHA-256.
    pub bytes_digest: Digest,
    /// Where it stands.
    pub state: EntryState,
}

/// Where a quarantine entry stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum EntryState {
    /// Somebody should look at it.
    Open,
    /// It was admitted after all.
    Readmitted {
        /// By whom.
        by: String,
        /// When.
        at: Timestamp,
    },
    /// It was dropped.
    Dropped {
        /// By whom.
        by: String,
        /// When.
        at: Timestamp,
        /// Why.
        reason: String,
    },
}

/// Where a store's log stands, as it is remembered outside the store.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoreHead {
    /// How many events there are.
    pub events: u64,
    /// A digest that only this event at this place has; `None` where there is none yet.
    pub last_event: Option<Digest>,
    /// Where the ledger stands.
    pub ledger: Head,
}

/// Which store this is, and how it does.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StoreStatus {
    /// Its id, made when it was made.
    pub store_id: String,
    /// What it is called on screen: the file's name, the database's.
    pub name: String,
    /// The feed's epoch.
    pub epoch: u64,
    /// Where it stands.
    pub head: StoreHead,
    /// Why writes are refused until a person accepts the head; `None` = they are not.
    pub mismatch: Option<String>,
    /// Why it is open for viewing only, so that nothing can be written whatever is tried; `None` = it may be written.
    pub read_only: Option<String>,
    /// Why the last write failed, where it did and none succeeded since: disk full, I/O error.
    pub write_failure: Option<String>,
}

/// A page of checks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CheckPage {
    /// Tasks looked at.
    pub tasks: u64,
    /// Their events, as far as they were counted.
    pub events: u64,
    /// What does not follow from the log.
    pub findings: Vec<LogProblem>,
    /// Where the next page goes on; `None` after the last.
    pub next: Option<u64>,
}

/// A person's acceptance of a head.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Acceptance {
    /// Who.
    pub by: String,
    /// Why.
    pub reason: String,
    /// When.
    pub at: Timestamp,
}
