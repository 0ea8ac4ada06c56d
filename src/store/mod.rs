//! The durable log and its projections: what a store promises, whichever engine is under it.
//!
//! A store knows the rules only through `domain::command::handle` and knows nothing of authority. Its core is one
//! atomic step, load – decide – apply: it loads what a command needs, hands it to the pure rules, and writes events
//! and projections together in one commit. Everything else is reading.

mod model;
mod remembered;
mod rows;
pub mod sqlite;

pub use rows::{Listed, Of};

pub use model::{
    Acceptance, Change, CheckPage, Cursor, DocketRow, Entry, EntryState, Order, OrderKey, Page, PageRequest,
    Scope, Sequenced, StoreHead, StoreStatus, Tallies, Tally,
};

use crate::domain::command::{Reply, Request, Stored};
use crate::domain::ids::{TaskId, Timestamp};
use crate::domain::refusal::Refusal;
use crate::domain::task::Task;
use async_trait::async_trait;
use std::pin::Pin;
use std::sync::Arc;
use thiserror::Error;

/// What broke in a store; a rule saying no is a [`Refusal`] instead.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum StoreError {
    /// The store cannot be reached or opened at all.
    #[error("the store cannot be opened: {0}")]
    Unreachable(String),
    /// The file is not ours, or made by a newer program.
    #[error("{0}")]
    Incompatible(String),
    /// It can only be read here.
    #[error("the store is read-only: {0}")]
    ReadOnly(String),
    /// There is no room to write; reads go on.
    #[error("the disk is full: what was not answered was not stored; make room, then repeat it")]
    Full,
    /// Reading or writing failed; nothing of this was acknowledged.
    #[error("the store failed: {0}; nothing of this was acknowledged")]
    Failed(String),
    /// Another process kept the store locked for too long.
    #[error("the store was busy for too long: what was not answered was not stored; repeat it")]
    Busy,
    /// What is stored contradicts itself.
    #[error("the store is damaged: {0}")]
    Damaged(String),
    /// A cursor that no page gave, or one of a page in another order.
    #[error("the cursor is not one of this list: begin again from the first page")]
    BadCursor,
    /// The store was closed.
    #[error("the store is closed")]
    Closed,
}

/// What became of one request.
pub type Answer = Result<Reply, Refusal>;

/// The durable log of one coordinator.
#[async_trait]
pub trait Store: Send + Sync + 'static {
    /// Which store this is, and whether writes are taken.
    async fn status(&self) -> Result<StoreStatus, StoreError>;

    /// Load – decide – apply for each request in order. Requests without an own commit share one; when this returns
    /// `Ok`, everything recorded is durable. On `Err` nothing that was not answered is to be taken as recorded.
    ///
    /// A decision rests on nothing that was altered: where log, state and messages of its task do not agree, each message
    /// digested again in the same step, it is [`StoreError::Damaged`]. Nobody else looks for that.
    async fn submit(&self, requests: Vec<Request>) -> Result<Vec<Answer>, StoreError>;

    /// A task as it stands.
    async fn task(&self, id: &TaskId) -> Result<Option<Task>, StoreError>;

    /// A page of tasks.
    async fn page(&self, request: &PageRequest) -> Result<Page<DocketRow>, StoreError>;

    /// How many rows each tab lists at `now`: exactly as many as `page` would give without a filter.
    async fn tallies(&self, now: Timestamp) -> Result<Tallies, StoreError>;

    /// The stored submissions of a task with these arrivals, ascending; unknown ones are left out.
    async fn submissions_of(&self, id: &TaskId, arrivals: &[u64]) -> Result<Vec<Stored>, StoreError>;

    /// A page of a task's stored submissions, by arrival, after `after` (0 = from the first).
    async fn submissions(&self, id: &TaskId, after: u64, limit: usize) -> Result<Vec<Stored>, StoreError>;

    /// The arrival of the one submission delivered under this message id, or all of them where it is not unique.
    async fn arrivals_of(&self, id: &TaskId, message_id: &str) -> Result<Vec<u64>, StoreError>;

    /// The exact bytes of a stored envelope.
    async fn envelope(&self, id: &TaskId, arrival: u64) -> Result<Option<Arc<[u8]>>, StoreError>;

    /// A page of a task's events, by revision, after `after` (0 = from the first).
    async fn events(
        &self,
        id: &TaskId,
        after: u64,
        limit: usize,
    ) -> Result<Vec<crate::domain::event::Event>, StoreError>;

    /// The feed: changes after `cursor`, in commit order, at most `limit`; empty = nothing new.
    async fn since(&self, cursor: Cursor, limit: usize) -> Result<Vec<Change>, StoreError>;

    /// Where the feed ends now.
    async fn feed_end(&self) -> Result<Cursor, StoreError>;

    /// Resolves when something may have been committed since this call, by this process or another; also from time to
    /// time without a reason. It counts from the call, not from the first poll: call it, read, then await it.
    fn changed(&self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>>;

    /// Approval records as stored, by sequence, after `after`, of one task where one is given.
    async fn records(
        &self,
        task: Option<&TaskId>,
        after: u64,
        limit: usize,
    ) -> Result<Vec<Sequenced>, StoreError>;

    /// One approval record as stored.
    async fn record(&self, approval_id: &str) -> Result<Option<Sequenced>, StoreError>;

    /// A page of quarantine entries that are open (or all), oldest first, after an entry's number.
    async fn quarantine(&self, after: u64, limit: usize, settled_too: bool)
    -> Result<Vec<Entry>, StoreError>;

    /// One quarantine entry with its bytes.
    async fn entry(&self, id: &str) -> Result<Option<(Entry, Arc<[u8]>)>, StoreError>;

    /// Settles an open entry as dropped, with by whom and why; the entry and its bytes stay readable.
    async fn drop_entry(
        &self,
        id: &str,
        by: &str,
        reason: &str,
        now: Timestamp,
    ) -> Result<Result<(), Refusal>, StoreError>;

    /// Checks that what is read follows from the log, and the log from the messages it keeps: `limit` tasks after a
    /// number, counting events up to `through`; the last page (the one without a next) checks what belongs to no task.
    /// Where what is read cannot be brought up to the log (a full disk), that is the error: it proves nothing against it.
    async fn check(&self, after: u64, through: u64, limit: usize) -> Result<CheckPage, StoreError>;

    /// Accepts a store whose head is not the remembered one, so that writes go on; kept with by whom and why.
    async fn accept_head(&self, acceptance: &Acceptance) -> Result<(), StoreError>;
}
