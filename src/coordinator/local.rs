//! A coordinator over a store of its own: the rules and the authority are applied here, in this process.

use super::authorize::Sight;
use super::{
    Approval, Change, Coordinator, Cursor, Entry, Error, Incoming, LedgerPage, LedgerRequest, Link,
    ListRequest, Page, PayloadView, Quarantined, Row, Shown, Status, Submitted, Tallies,
};
use crate::domain::actor::{Operation, Principal};
use crate::domain::command::{Admitted, Command, Reply, Request, Rules};
use crate::domain::decision::Decision;
use crate::domain::event::Event;
use crate::domain::ids::{TaskId, Timestamp};
use crate::domain::ledger::{Pin, Report};
use crate::domain::redact::Rule;
use crate::domain::refusal::Refusal;
use crate::domain::task::{Task, TaskState};
use crate::store::Store;
use async_trait::async_trait;
use std::sync::Arc;

/// What time it is for the coordinator; tests give their own.
pub type Clock = Arc<dyn Fn() -> Timestamp + Send + Sync>;

/// The computer's clock.
pub fn system_clock() -> Clock {
    Arc::new(|| Timestamp(jiff::Timestamp::now().as_millisecond()))
}

/// A coordinator over its own store, seen by one principal.
pub struct Local<S> {
    pub(super) store: Arc<S>,
    pub(super) rules: Arc<Rules>,
    pub(super) sight: Sight,
    /// As whom the runtime's side acts: the principal itself, or on an embedded store `local-worker`.
    pub(super) runtime: Principal,
    pub(super) embedded: bool,
    clock: Clock,
}

impl<S: Store> Local<S> {
    /// Everything is done as `principal`. `rules` must be those the store was opened with.
    pub fn seen_by(store: Arc<S>, rules: Arc<Rules>, principal: Principal) -> Self {
        Local {
            store,
            rules,
            runtime: principal.clone(),
            sight: Sight::of(principal),
            embedded: false,
            clock: system_clock(),
        }
    }

    /// The owner of the store's file, who is also its runtime (contract section 12): messages, leases, effects and
    /// transitions act as `local-worker`; everything else, and a move to `canceled`, as the owner.
    pub fn embedded(store: Arc<S>, rules: Arc<Rules>, owner: Principal) -> Self {
        Local { runtime: Principal::local_worker(), embedded: true, ..Self::seen_by(store, rules, owner) }
    }

    /// Masks by these rules.
    #[must_use]
    pub fn with_redaction(mut self, rules: Vec<Rule>) -> Self {
        self.sight.redact(rules);
        self
    }

    /// Reads the time from `clock`.
    #[must_use]
    pub fn with_clock(mut self, clock: Clock) -> Self {
        self.clock = clock;
        self
    }

    pub(super) fn now(&self) -> Timestamp {
        (self.clock)()
    }

    /// The task, where this principal may know of it.
    pub(super) async fn visible(&self, id: &TaskId) -> Result<Task, Error> {
        self.sight.require(Operation::Inspect)?;
        match self.store.task(id).await? {
            Some(task) if self.sight.sees(&task) => Ok(task),
            _ => Err(Refusal::TaskNotFound { task_id: id.0.clone() }.into()),
        }
    }

    /// Hands one command to the store.
    pub(super) async fn one(&self, command: Command, principal: Principal) -> Result<Reply, Error> {
        let request = Request { command, principal, now: self.now() };
        let mut answers = self.store.submit(vec![request]).await?;
        match answers.pop() {
            Some(answer) => Ok(answer?),
            None => Err(super::StoreError::Failed("it gave no answer".into()).into()),
        }
    }

    /// The runtime's side; which commands act as the owner of an embedded store is contract section 12.
    async fn command(&self, command: Command) -> Result<Reply, Error> {
        let as_owner = match &command {
            Command::Admit(_) | Command::Decide(_) => {
                return Err(Refusal::Invalid { why: "not a runtime command".into() }.into());
            }
            Command::Transition(t) => t.to == TaskState::Canceled,
            Command::Release { .. } | Command::Void { .. } | Command::Gate { .. } => true,
            Command::Claim { .. }
            | Command::Renew { .. }
            | Command::Reserve { .. }
            | Command::Commit { .. } => false,
        };
        if let Some(id) = command.task_id() {
            self.visible(&id).await?;
        }
        let principal = if as_owner { self.sight.principal() } else { &self.runtime };
        self.one(command, principal.clone()).await
    }
}

#[async_trait]
impl<S: Store> Coordinator for Local<S> {
    fn principal(&self) -> &Principal {
        self.sight.principal()
    }

    async fn status(&self) -> Result<Status, Error> {
        self.sight.require(Operation::Inspect)?;
        let status = self.store.status().await?;
        Ok(Status {
            name: status.name,
            store_id: status.store_id,
            principal: self.sight.principal().clone(),
            link: Link::Live,
            events: status.head.events,
            head: status.head.ledger,
            mismatch: status.mismatch,
            read_only: status.read_only,
            write_failure: status.write_failure,
        })
    }

    async fn admit(&self, messages: Vec<Incoming>) -> Result<Vec<Admitted>, Error> {
        self.admit_batch(messages).await
    }

    async fn list(&self, request: ListRequest) -> Result<Page<Row>, Error> {
        self.page(request).await
    }

    async fn tallies(&self) -> Result<Tallies, Error> {
        self.counts().await
    }

    async fn show(&self, id: &TaskId) -> Result<Shown, Error> {
        self.whole(id).await
    }

    async fn submissions(&self, id: &TaskId, after: u64, limit: usize) -> Result<Vec<Submitted>, Error> {
        self.said(id, after, limit).await
    }

    async fn payload(&self, id: &TaskId, arrival: u64) -> Result<PayloadView, Error> {
        self.content(id, arrival).await
    }

    async fn envelope(&self, id: &TaskId, arrival: u64) -> Result<Arc<[u8]>, Error> {
        self.original(id, arrival).await
    }

    async fn arrivals_of(&self, id: &TaskId, message_id: &str) -> Result<Vec<u64>, Error> {
        self.visible(id).await?;
        Ok(self.store.arrivals_of(id, message_id).await?)
    }

    async fn timeline(&self, id: &TaskId, after: u64, limit: usize) -> Result<Vec<Event>, Error> {
        self.history(id, after, limit).await
    }

    async fn decide(&self, decision: Decision) -> Result<Reply, Error> {
        self.judge(decision).await
    }

    async fn run(&self, command: Command) -> Result<Reply, Error> {
        self.command(command).await
    }

    async fn approvals(&self, request: LedgerRequest) -> Result<LedgerPage, Error> {
        self.records(request).await
    }

    async fn approval(&self, approval_id: &str) -> Result<Option<Approval>, Error> {
        self.record(approval_id).await
    }

    async fn verify(&self, pins: Vec<Pin>) -> Result<Report, Error> {
        self.verify_ledger(pins).await
    }

    async fn verify_everything(&self, pins: Vec<Pin>) -> Result<Report, Error> {
        Local::verify_everything(self, pins).await
    }

    async fn quarantine(&self, after: u64, limit: usize, settled_too: bool) -> Result<Vec<Entry>, Error> {
        self.entries(after, limit, settled_too).await
    }

    async fn entry(&self, id: &str) -> Result<Quarantined, Error> {
        self.one_entry(id).await
    }

    async fn readmit(&self, id: &str, repaired: Option<Vec<u8>>) -> Result<Admitted, Error> {
        self.admit_again(id, repaired).await
    }

    async fn drop_entry(&self, id: &str, reason: &str) -> Result<(), Error> {
        self.drop_with_reason(id, reason).await
    }

    async fn accept_head(&self, reason: &str) -> Result<(), Error> {
        self.accept(reason).await
    }

    async fn feed_end(&self) -> Result<Cursor, Error> {
        self.sight.require(Operation::Inspect)?;
        Ok(self.store.feed_end().await?)
    }

    async fn follow(&self, cursor: Cursor) -> Result<Vec<Change>, Error> {
        self.changes(cursor).await
    }
}
