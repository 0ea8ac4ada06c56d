//! The one place where rules, authority and storage meet; everything outside speaks to `trait Coordinator` only.
//!
//! A coordinator is seen by one principal: what it may not read is masked or missing, what it may not do is refused.

mod admit;
mod authorize;
mod decide;
mod feed;
mod ledger;
pub mod local;
mod mask;
mod model;
mod quarantine;
mod read;

pub use model::{
    Approval, Incoming, LedgerPage, LedgerPlace, LedgerRequest, Link, ListRequest, PayloadView, Quarantined,
    Row, RowQuestion, Shown, Status, Submitted, Whole,
};

pub use crate::store::{
    Change, Cursor, Entry, EntryState, Order, OrderKey, Page, Scope, StoreError, Tallies, Tally,
};

use crate::domain::actor::Principal;
use crate::domain::command::{Admitted, Command, Reply};
use crate::domain::decision::Decision;
use crate::domain::event::Event;
use crate::domain::ids::TaskId;
use crate::domain::ledger::{Pin, Report};
use crate::domain::refusal::Refusal;
use async_trait::async_trait;
use thiserror::Error;

/// Why a call did not do what it was asked.
#[derive(Debug, Error)]
pub enum Error {
    /// A rule said no; nothing was written.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// Something broke in the store.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// The port that terminal, command line, server and bridge use.
#[async_trait]
pub trait Coordinator: Send + Sync + 'static {
    /// As whom this is seen.
    fn principal(&self) -> &Principal;

    /// How store and connection do.
    async fn status(&self) -> Result<Status, Error>;

    /// Admits messages in order; one answer each. What is wrong with one is in its answer, never an error.
    async fn admit(&self, messages: Vec<Incoming>) -> Result<Vec<Admitted>, Error>;

    /// A page of the docket.
    async fn list(&self, request: ListRequest) -> Result<Page<Row>, Error>;

    /// How many rows each tab lists.
    async fn tallies(&self) -> Result<Tallies, Error>;

    /// A task with all that a person needs to judge it.
    async fn show(&self, id: &TaskId) -> Result<Shown, Error>;

    /// A page of a task's submissions by arrival, after `after`.
    async fn submissions(&self, id: &TaskId, after: u64, limit: usize) -> Result<Vec<Submitted>, Error>;

    /// The payload of one submission, masked where this principal may not read all of it, and verified again.
    async fn payload(&self, id: &TaskId, arrival: u64) -> Result<PayloadView, Error>;

    /// The exact stored envelope, for who may read all of it.
    async fn envelope(&self, id: &TaskId, arrival: u64) -> Result<std::sync::Arc<[u8]>, Error>;

    /// The arrivals that came under a message id.
    async fn arrivals_of(&self, id: &TaskId, message_id: &str) -> Result<Vec<u64>, Error>;

    /// A page of a task's events, after a revision.
    async fn timeline(&self, id: &TaskId, after: u64, limit: usize) -> Result<Vec<Event>, Error>;

    /// Decides or answers. Repeating the same decision under the same idempotency key returns the same record.
    async fn decide(&self, decision: Decision) -> Result<Reply, Error>;

    /// The runtime's side: transition, claim, renew, release, reserve, commit, gate.
    async fn run(&self, command: Command) -> Result<Reply, Error>;

    /// A page of approval records. One call looks at a bounded number of them, and says where to go on.
    async fn approvals(&self, request: LedgerRequest) -> Result<LedgerPage, Error>;

    /// One approval record.
    async fn approval(&self, approval_id: &str) -> Result<Option<Approval>, Error>;

    /// Verifies the whole ledger, against heads seen before.
    async fn verify(&self, pins: Vec<Pin>) -> Result<Report, Error>;

    /// The same, and that everything that is read follows from the log: takes as long as the log is. For who sees
    /// only a part of the tasks it is the ledger alone.
    async fn verify_everything(&self, pins: Vec<Pin>) -> Result<Report, Error>;

    /// A page of quarantine entries, oldest first, after a number.
    async fn quarantine(&self, after: u64, limit: usize, settled_too: bool) -> Result<Vec<Entry>, Error>;

    /// One entry with its bytes.
    async fn entry(&self, id: &str) -> Result<Quarantined, Error>;

    /// Admits an entry again, as it was or repaired; the answer says what became of it.
    async fn readmit(&self, id: &str, repaired: Option<Vec<u8>>) -> Result<Admitted, Error>;

    /// Drops an entry with a reason; its bytes stay readable.
    async fn drop_entry(&self, id: &str, reason: &str) -> Result<(), Error>;

    /// Accepts a store whose head is not the remembered one.
    async fn accept_head(&self, reason: &str) -> Result<(), Error>;

    /// Where the feed ends now.
    async fn feed_end(&self) -> Result<Cursor, Error>;

    /// Changes after `cursor`; waits until there is at least one. Never loses or repeats one within an epoch.
    async fn follow(&self, cursor: Cursor) -> Result<Vec<Change>, Error>;
}
