//! Where the suite takes place: principals, a clock that tests set, tasks brought to where a case begins.

use crate::common::{self, NOON, Place};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use tribunal::coordinator::local::Local;
use tribunal::coordinator::{Coordinator, Error, Incoming, LedgerPlace, LedgerRequest};
use tribunal::domain::actor::{Grant, Pattern, Principal, Role, Scope};
use tribunal::domain::command::{Admitted, Command, Reply, Rules, Transition};
use tribunal::domain::decision::Decision;
use tribunal::domain::ids::{TaskId, Timestamp};
use tribunal::domain::ledger::Record;
use tribunal::domain::redact::Rule;
use tribunal::domain::task::TaskState;
use tribunal::store::sqlite::{Options, SqliteStore};

/// A coordinator's house: everybody who comes in sees the same store.
pub trait House: Sync {
    /// A handle for a principal.
    fn seen_by(&self, principal: Principal) -> Arc<dyn Coordinator>;
    /// A handle for a principal, with masks.
    fn masked(&self, principal: Principal, rules: Vec<Rule>) -> Arc<dyn Coordinator>;
    /// Sets the coordinator's clock.
    fn set_clock(&self, now: Timestamp);
    /// Quotes the coordinator's clock.
    fn now(&self) -> Timestamp;
}

/// A local coordinator over SQLite.
pub struct LocalHouse {
    store: Arc<SqliteStore>,
    rules: Arc<Rules>,
    clock: Arc<AtomicI64>,
    pub place: Place,
}

impl LocalHouse {
    pub fn new() -> Self {
        Self::with(Rules::default())
    }

    /// One with rules of its own.
    pub fn with(rules: Rules) -> Self {
        let place = Place::new();
        let options = Options { rules: rules.clone(), ..place.options() };
        let store = Arc::new(SqliteStore::open(&place.path(), options).unwrap());
        LocalHouse { store, rules: Arc::new(rules), clock: Arc::new(AtomicI64::new(NOON.0)), place }
    }

    fn local(&self, principal: Principal) -> Local<SqliteStore> {
        let clock = Arc::clone(&self.clock);
        Local::seen_by(Arc::clone(&self.store), Arc::clone(&self.rules), principal)
            .with_clock(Arc::new(move || Timestamp(clock.load(Ordering::SeqCst))))
    }
}

impl House for LocalHouse {
    fn seen_by(&self, principal: Principal) -> Arc<dyn Coordinator> {
        Arc::new(self.local(principal))
    }

    fn masked(&self, principal: Principal, rules: Vec<Rule>) -> Arc<dyn Coordinator> {
        Arc::new(self.local(principal).with_redaction(rules))
    }

    fn set_clock(&self, now: Timestamp) {
        self.clock.store(now.0, Ordering::SeqCst);
    }

    fn now(&self) -> Timestamp {
        Timestamp(self.clock.load(Ordering::SeqCst))
    }
}

/// A principal with one role everywhere, bound to the sender of its own name.
pub fn holds(subject: &str, role: Role) -> Principal {
    scoped(subject, role, Scope::default())
}

pub fn scoped(subject: &str, role: Role, scope: Scope) -> Principal {
    Principal { grants: vec![Grant { role, scope }], ..Principal::owner(subject) }
}

/// The runtime, which may deliver as anybody.
pub fn runtime() -> Principal {
    Principal { senders: vec![Pattern("*".into())], ..holds("runtime", Role::Worker) }
}

pub fn worker(h: &dyn House) -> Arc<dyn Coordinator> {
    h.seen_by(runtime())
}

pub fn reviewer(h: &dyn House) -> Arc<dyn Coordinator> {
    h.seen_by(holds("rita", Role::Reviewer))
}

pub fn operator(h: &dyn House) -> Arc<dyn Coordinator> {
    h.seen_by(holds("otto", Role::Operator))
}

pub fn incoming(raw: Vec<u8>) -> Incoming {
    Incoming { raw: raw.into(), source: "test".into(), whole: None }
}

/// Delivers one message as the runtime.
pub async fn say(h: &dyn House, raw: Vec<u8>) -> Admitted {
    worker(h).admit(vec![incoming(raw)]).await.unwrap().pop().unwrap()
}

pub fn id(task: &str) -> TaskId {
    TaskId::from(task)
}

pub async fn version(h: &dyn House, task: &str) -> u64 {
    operator(h).show(&id(task)).await.unwrap().task.state_version
}

pub async fn state(h: &dyn House, task: &str) -> TaskState {
    operator(h).show(&id(task)).await.unwrap().task.state
}

pub fn to(task: &str, to: TaskState, expected_version: u64) -> Command {
    let reason = "test".to_owned();
    Command::Transition(Transition { task_id: id(task), to, expected_version, reason, retry_at: None })
}

pub fn claim(task: &str, worker: &str) -> Command {
    Command::Claim { task_id: id(task), worker: worker.into(), ttl_ms: 60_000 }
}

pub async fn go(h: &dyn House, task: &str, next: TaskState) {
    let v = version(h, task).await;
    worker(h).run(to(task, next, v)).await.unwrap();
}

/// A task in `ready`.
pub async fn ready(h: &dyn House, task: &str) {
    assert_eq!(say(h, common::asks(task)).await.outcome, "accepted");
    go(h, task, TaskState::Ready).await;
}

/// A task in `running`, without a lease.
pub async fn running(h: &dyn House, task: &str) {
    ready(h, task).await;
    go(h, task, TaskState::Running).await;
}

/// A task with two sides, #2 by `agent-a` and #3 by `agent-b`; gives its version.
pub async fn conflict(h: &dyn House, task: &str) -> u64 {
    running(h, task).await;
    for (message, sender, value) in [("a", "agent-a", 1), ("b", "agent-b", 2)] {
        let overrides =
            json!({"task_id": task, "message_id": message, "sender": sender, "payload": {"value": value}});
        say(h, common::envelope(overrides)).await;
    }
    assert_eq!(state(h, task).await, TaskState::NeedsReview);
    version(h, task).await
}

/// A running task's question; gives its id.
pub async fn ask(h: &dyn House, task: &str, message: &str, question: Value) -> String {
    let overrides = json!({"task_id": task, "message_id": message, "idempotency_key": message,
        "type": "human_request", "payload": question});
    assert_eq!(say(h, common::envelope(overrides)).await.outcome, "accepted");
    operator(h).show(&id(task)).await.unwrap().task.interruption.unwrap().id
}

/// A decision for `ready` that upholds nothing.
pub fn decision(task: &str, expected_version: u64) -> Decision {
    Decision {
        task_id: id(task),
        decision: TaskState::Ready,
        expected_version,
        candidate_set_digest: None,
        interruption: None,
        upheld: Vec::new(),
        resume: None,
        reason: "because".into(),
        evidence_opened: Vec::new(),
        input: None,
        supersedes: None,
        idempotency_key: String::new(),
        approval_id: String::new(),
        masked: Vec::new(),
    }
}

/// The first records of the ledger.
pub fn whole_ledger() -> LedgerRequest {
    LedgerRequest::all(None, LedgerPlace::After(0), 10)
}

/// The record of a decision that was made.
pub fn record(reply: Result<Reply, Error>) -> Box<Record> {
    match reply {
        Ok(Reply::Decided { record, .. }) => record,
        other => panic!("not decided: {other:?}"),
    }
}

/// The code of a refusal.
pub fn code<T: std::fmt::Debug>(answer: Result<T, Error>) -> &'static str {
    match answer {
        Err(Error::Refused(refusal)) => refusal.code(),
        other => panic!("not refused: {other:?}"),
    }
}
