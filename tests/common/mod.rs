//! What several test programs share: envelopes with right digests, requests, stores in directories of their own, and
//! the check that a store's tables are what its log says.
#![allow(dead_code, reason = "each test program uses some of it")]
#![allow(clippy::allow_attributes, reason = "`expect` would fail in the programs that use all of it")]

pub mod invariants;
pub mod mount;

use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tribunal::domain::actor::Principal;
use tribunal::domain::command::{Admit, Admitted, BadMessage, Command, Reply, Request, Transition};
use tribunal::domain::decision::Decision;
use tribunal::domain::digest::{Scheme, digest};
use tribunal::domain::envelope::{Limits, parse};
use tribunal::domain::ids::{TaskId, Timestamp};
use tribunal::domain::task::TaskState;
use tribunal::store::Store;
use tribunal::store::sqlite::{Options, SqliteStore};

/// 2026-11-30T12:00:00Z.
pub const NOON: Timestamp = Timestamp(1_796_040_000_000);

/// An envelope with every required member, as `overrides` say: a member that is null there is left out. The digest is
/// computed from the payload under the scheme named, unless it is given.
pub fn envelope(overrides: Value) -> Vec<u8> {
    let mut all = json!({
        "message_id": "m-1", "trace_id": "R-1", "task_id": "T-1", "sender": "agent-a", "recipient": "coordinator",
        "type": "task_result", "schema_version": "1", "created_at": "2026-11-30T11:59:00Z",
        "idempotency_key": "k-1", "payload": {"ok": true}, "evidence_refs": []
    });
    let members = all.as_object_mut().unwrap();
    for (name, value) in overrides.as_object().expect("overrides are an object") {
        if value.is_null() {
            members.remove(name);
        } else {
            members.insert(name.clone(), value.clone());
        }
    }
    if overrides.get("payload_digest").is_none()
        && let Some(payload) = members.get("payload")
    {
        let scheme = members.get("digest_scheme").and_then(Value::as_str).and_then(Scheme::parse);
        let bytes = serde_json::to_vec(payload).unwrap();
        let found = digest(scheme.unwrap_or_default(), &bytes).expect("the payload has a digest");
        members.insert("payload_digest".into(), json!(found));
    }
    serde_json::to_vec(&all).unwrap()
}

/// A `task_request` for a task.
pub fn asks(task: &str) -> Vec<u8> {
    envelope(json!({"type": "task_request", "task_id": task, "message_id": format!("{task}-ask"),
        "idempotency_key": "ask", "sender": "planner", "payload": {"goal": format!("do {task}")}}))
}

/// A `task_result` that says `value`, under the key `k-1`.
pub fn result(task: &str, message_id: &str, value: Value) -> Vec<u8> {
    envelope(json!({"task_id": task, "message_id": message_id, "payload": {"value": value}}))
}

/// Bytes delivered by the runtime at a time.
pub fn admit_at(raw: Vec<u8>, now: Timestamp) -> Request {
    let raw: Arc<[u8]> = raw.into();
    let message =
        parse(raw.clone(), &Limits::default(), Scheme::default()).map_err(|fault| BadMessage { raw, fault });
    let admit = Admit { message, source: "test".into(), readmits: None };
    Request { command: Command::Admit(Box::new(admit)), principal: Principal::local_worker(), now }
}

/// Bytes delivered by the runtime at noon.
pub fn admit(raw: Vec<u8>) -> Request {
    admit_at(raw, NOON)
}

/// A command of the runtime at noon.
pub fn run(command: Command) -> Request {
    Request { command, principal: Principal::local_worker(), now: NOON }
}

/// A move by the runtime at noon.
pub fn moves(task: &str, to: TaskState, expected_version: u64) -> Request {
    let (task_id, reason) = (TaskId::from(task), "test".to_owned());
    run(Command::Transition(Transition { task_id, to, expected_version, reason, retry_at: None }))
}

/// A decision by the owner at noon; its idempotency key is made of task and `key`.
pub fn decide(task: &str, decision: TaskState, expected_version: u64, key: &str) -> Request {
    let decision = Decision {
        task_id: TaskId::from(task),
        decision,
        expected_version,
        candidate_set_digest: None,
        interruption: None,
        upheld: Vec::new(),
        resume: None,
        reason: "because".into(),
        evidence_opened: Vec::new(),
        input: None,
        supersedes: None,
        idempotency_key: format!("{task}-{key}"),
        approval_id: format!("ap-{task}-{key}"),
        masked: Vec::new(),
    };
    Request { command: Command::Decide(Box::new(decision)), principal: Principal::owner("wolf"), now: NOON }
}

/// What became of a message.
pub fn admitted(answer: &tribunal::store::Answer) -> &Admitted {
    match answer {
        Ok(Reply::Admitted(admitted)) => admitted,
        other => panic!("not admitted: {other:?}"),
    }
}

/// A store in a directory of its own, with its memory beside it.
pub struct Place {
    pub dir: tempfile::TempDir,
}

impl Place {
    pub fn new() -> Self {
        Place { dir: tempfile::tempdir().unwrap() }
    }

    pub fn path(&self) -> PathBuf {
        self.dir.path().join("data").join("store.db")
    }

    pub fn options(&self) -> Options {
        Options::new(self.dir.path().join("state"))
    }

    pub fn open(&self) -> SqliteStore {
        SqliteStore::open(&self.path(), self.options()).expect("the store opens")
    }
}

/// Asks for a task and sees it through to `running`; its version is then 3.
pub async fn begin(store: &impl Store, task: &str) {
    let steps = vec![admit(asks(task)), moves(task, TaskState::Ready, 1), moves(task, TaskState::Running, 2)];
    for answer in store.submit(steps).await.unwrap() {
        answer.unwrap();
    }
}

/// A task in `needs_review` with candidates 2 and 3; gives its version.
pub async fn conflict(store: &impl Store, task: &str) -> u64 {
    begin(store, task).await;
    let sides = vec![admit(result(task, "a", json!(1))), admit(result(task, "b", json!(2)))];
    let answers = store.submit(sides).await.unwrap();
    assert_eq!(admitted(&answers[0]).outcome, "accepted");
    assert_eq!(admitted(&answers[1]).outcome, "conflict");
    admitted(&answers[1]).state_version.unwrap()
}

/// Runs a test's future on a runtime of its own.
pub fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap()
        .block_on(future)
}

/// The store's file beside which others stand: `-wal`, `-shm`.
pub fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}
