//! A store in memory, for tests of the rules: loads what `Context` documents, applies verdicts, keeps everything.

use super::actor::Principal;
use super::command::{
    Admit, Admitted, BadMessage, Command, Context, Replay, Reply, Request, Rules, Stored, Transition,
    Verdict, handle,
};
use super::decision::Decision;
use super::digest::{Digest, Scheme, digest};
use super::envelope::{Envelope, QuarantineReason, parse};
use super::event::{CommittedEffect, Event, What};
use super::ids::{TaskId, Timestamp};
use super::ledger::{CandidateSet, Head, Record};
use super::refusal::Refusal;
use super::task::{Task, TaskState, evolve};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Where the tests' time begins: 2026-11-30T12:00:00Z.
pub(crate) const T0: Timestamp = Timestamp(1_796_040_000_000);

/// The bytes of an envelope about task `T` in trace `R`, with `change` merged over and the digest made right.
pub(crate) fn message(kind: &str, id: &str, key: &str, payload: Value, change: Value) -> Vec<u8> {
    let mut envelope = json!({
        "message_id": id, "trace_id": "R", "task_id": "T", "sender": "agent-a", "recipient": "coordinator",
        "type": kind, "schema_version": "1", "created_at": "2026-11-30T11:59:00Z", "idempotency_key": key,
        "payload": payload, "evidence_refs": [],
    });
    for (name, value) in change.as_object().unwrap() {
        envelope[name] = value.clone();
    }
    if envelope.get("payload_digest").is_none() {
        let scheme =
            envelope.get("digest_scheme").and_then(Value::as_str).and_then(Scheme::parse).unwrap_or_default();
        let payload = serde_json::to_vec(&envelope["payload"]).unwrap();
        envelope["payload_digest"] = json!(digest(scheme, &payload).unwrap());
    }
    serde_json::to_vec(&envelope).unwrap()
}

/// A request for task `T`.
pub(crate) fn request() -> Vec<u8> {
    message("task_request", "M-0", "req", json!({"goal": "collect evidence"}), json!({}))
}

/// A result for task `T`.
pub(crate) fn result(id: &str, key: &str, value: i64) -> Vec<u8> {
    message("task_result", id, key, json!({"revenue": value}), json!({}))
}

#[derive(Clone, Debug)]
pub(crate) struct TaskLog {
    pub(crate) task: Task,
    pub(crate) events: Vec<Event>,
    pub(crate) stored: Vec<Stored>,
    pub(crate) committed: Vec<CommittedEffect>,
}

#[derive(Clone, Debug)]
pub(crate) struct World {
    pub(crate) tasks: BTreeMap<TaskId, TaskLog>,
    pub(crate) quarantine: Vec<(Envelope, QuarantineReason)>,
    pub(crate) bad: Vec<QuarantineReason>,
    pub(crate) records: Vec<Record>,
    pub(crate) keys: BTreeMap<(String, String), (Digest, usize)>,
    pub(crate) rules: Rules,
    pub(crate) store_id: String,
    pub(crate) now: Timestamp,
}

impl World {
    pub(crate) fn new() -> Self {
        World {
            tasks: BTreeMap::new(),
            quarantine: Vec::new(),
            bad: Vec::new(),
            records: Vec::new(),
            keys: BTreeMap::new(),
            rules: Rules::default(),
            store_id: "S".into(),
            now: T0,
        }
    }

    /// A world in which task `T` runs under lease 1 of `agent-a`.
    pub(crate) fn running() -> Self {
        let mut w = World::ready();
        w.claim("agent-a").unwrap();
        w
    }

    /// A world in which task `T` is ready.
    pub(crate) fn ready() -> Self {
        let mut w = World::new();
        w.admit(&request());
        w.go(TaskState::Ready).unwrap();
        w
    }

    /// A world in which task `T` needs review: results 1 (arrival 2) and 2 (arrival 3) under one key.
    pub(crate) fn conflicted() -> Self {
        let mut w = World::running();
        w.admit(&result("M-1", "k", 1));
        let second =
            w.admit(&message("task_result", "M-2", "k", json!({"revenue": 2}), json!({"sender": "agent-b"})));
        assert_eq!(second.outcome, "conflict");
        w
    }

    /// A world in which task `T` waits for a person, asked by `agent-a` (arrival 2).
    pub(crate) fn waiting(question: Value) -> Self {
        let mut w = World::running();
        let asked = w.admit(&message("human_request", "M-1", "q", question, json!({})));
        assert_eq!(asked.state, Some(TaskState::WaitingHuman), "{asked:?}");
        w
    }

    pub(crate) fn task(&self) -> &Task {
        &self.tasks[&TaskId::from("T")].task
    }

    pub(crate) fn log(&self) -> &TaskLog {
        &self.tasks[&TaskId::from("T")]
    }

    pub(crate) fn admit(&mut self, raw: &[u8]) -> Admitted {
        match self.submit(self.incoming(raw), Principal::local_worker()).unwrap() {
            Reply::Admitted(admitted) => admitted,
            other => panic!("{other:?}"),
        }
    }

    pub(crate) fn incoming(&self, raw: &[u8]) -> Command {
        let raw: Arc<[u8]> = Arc::from(raw);
        let message = parse(raw.clone(), &self.rules.limits, Scheme::default())
            .map_err(|fault| BadMessage { raw, fault });
        Command::Admit(Box::new(Admit { message, source: "test".into(), readmits: None }))
    }

    pub(crate) fn go(&mut self, to: TaskState) -> Result<Reply, Refusal> {
        let expected_version = self.task().state_version;
        let by = if to == TaskState::Canceled { owner() } else { Principal::local_worker() };
        self.submit(
            Command::Transition(Transition {
                task_id: "T".into(),
                to,
                expected_version,
                reason: "test".into(),
                retry_at: None,
            }),
            by,
        )
    }

    pub(crate) fn claim(&mut self, worker: &str) -> Result<Reply, Refusal> {
        let command = Command::Claim { task_id: "T".into(), worker: worker.into(), ttl_ms: 300_000 };
        self.submit(command, Principal::local_worker())
    }

    /// A decision on what is stored now; tests change what they need.
    pub(crate) fn decision(&self, decision: TaskState) -> Decision {
        let task = self.task();
        let question = match task.state {
            TaskState::Ready => task.judged.as_ref().and_then(|j| j.interruption.as_ref()),
            _ => task.interruption.as_ref(),
        };
        Decision {
            task_id: "T".into(),
            decision,
            expected_version: task.state_version,
            candidate_set_digest: Some(self.set().digest().unwrap()),
            interruption: question.map(|i| i.id.clone()),
            upheld: vec![],
            resume: None,
            reason: "checked against the filing".into(),
            evidence_opened: vec![],
            input: None,
            supersedes: None,
            idempotency_key: format!("key-{}", self.records.len()),
            approval_id: format!("A-{}", self.records.len() + 1),
            masked: vec![],
        }
    }

    pub(crate) fn set(&self) -> CandidateSet {
        CandidateSet::of(self.task(), &self.log().stored)
    }

    pub(crate) fn decide(&mut self, d: Decision) -> Result<Record, Refusal> {
        self.decide_as(d, owner())
    }

    pub(crate) fn decide_as(&mut self, d: Decision, by: Principal) -> Result<Record, Refusal> {
        match self.submit(Command::Decide(Box::new(d)), by)? {
            Reply::Decided { record, .. } => Ok(*record),
            other => panic!("{other:?}"),
        }
    }

    pub(crate) fn submit(&mut self, command: Command, principal: Principal) -> Result<Reply, Refusal> {
        let context = self.context(&command, &principal);
        let request = Request { command, principal, now: self.now };
        let verdict = handle(&context, &request, &self.rules)?;
        Ok(self.apply(&request, verdict))
    }

    fn context(&self, command: &Command, principal: &Principal) -> Context {
        let head = Head {
            store_id: self.store_id.clone(),
            sequence: self.records.len() as u64,
            record_digest: self.records.last().map(|r| r.record_digest),
        };
        let mut ctx = Context { head, ..Context::default() };
        let Some(log) = command.task_id().and_then(|id| self.tasks.get(&id)) else { return ctx };
        ctx.task = Some(log.task.clone());
        ctx.of_task = log.stored.clone();
        if let Command::Admit(admit) = command
            && let Ok(e) = &admit.message
        {
            let same = |s: &&Stored| {
                s.submission.class == e.kind.class() && s.submission.idempotency_key == e.idempotency_key
            };
            ctx.same_intent = log.stored.iter().filter(same).cloned().collect();
            let aliases: Vec<u64> =
                log.events.iter().filter_map(|event| alias(event, &e.message_id)).collect();
            let named = |s: &&Stored| {
                s.submission.message_id == e.message_id || aliases.contains(&s.submission.arrival)
            };
            ctx.same_message_id = log.stored.iter().filter(named).cloned().collect();
        }
        let effect = match command {
            Command::Admit(a) => a.message.as_ref().ok().and_then(|e| e.effect.as_ref()),
            Command::Reserve { effect, .. } | Command::Commit { effect, .. } => Some(effect),
            _ => None,
        };
        if let Some(effect) = effect {
            let touches =
                |c: &&CommittedEffect| c.effect.key == effect.key || c.effect.target == effect.target;
            ctx.committed = log.committed.iter().filter(touches).cloned().collect();
        }
        if let Command::Decide(d) = command
            && let Some((body_digest, at)) =
                self.keys.get(&(principal.subject.clone(), d.idempotency_key.clone()))
        {
            ctx.replay =
                Some(Replay { body_digest: *body_digest, record: Box::new(self.records[*at].clone()) });
        }
        ctx
    }

    fn apply(&mut self, request: &Request, verdict: Verdict) -> Reply {
        match verdict {
            Verdict::Unchanged(reply) => reply,
            Verdict::Quarantine(fault) => {
                let Command::Admit(admit) = &request.command else { panic!("only messages are put aside") };
                match &admit.message {
                    Ok(e) => self.quarantine.push((e.clone(), fault.reason)),
                    Err(_) => self.bad.push(fault.reason),
                }
                Reply::Admitted(Admitted {
                    message_id: fault.named.message_id,
                    task_id: fault.named.task_id,
                    outcome: "quarantined".into(),
                    arrival: None,
                    duplicate_of: None,
                    state: None,
                    state_version: None,
                    reason: Some(format!("{}: {}", fault.reason.as_str(), fault.detail)),
                    quarantine: None,
                })
            }
            Verdict::Recorded(recorded) => {
                let id = recorded.task.task_id.clone();
                let created = !self.tasks.contains_key(&id);
                let log = self.tasks.entry(id.clone()).or_insert_with(|| TaskLog {
                    task: recorded.task.clone(),
                    events: vec![],
                    stored: vec![],
                    committed: vec![],
                });
                for event in &recorded.events {
                    log.note(event);
                }
                log.task = recorded.task;
                if let Some((record, body)) = recorded.record {
                    let Command::Decide(d) = &request.command else { panic!("records come of decisions") };
                    let key = (request.principal.subject.clone(), d.idempotency_key.clone());
                    self.keys.insert(key, (body, self.records.len()));
                    self.records.push(*record);
                }
                if created {
                    self.readmit(&id);
                }
                recorded.reply
            }
        }
    }

    fn readmit(&mut self, id: &TaskId) {
        let waits =
            |(e, r): &(Envelope, QuarantineReason)| e.task_id == *id && *r == QuarantineReason::MissingTask;
        let (again, rest) = std::mem::take(&mut self.quarantine).into_iter().partition(waits);
        self.quarantine = rest;
        for (e, _) in Vec::<(Envelope, QuarantineReason)>::from_iter(again) {
            self.admit(&e.raw);
        }
    }

    /// I3, I5, I6 and the shape of the log: asserted after every scenario.
    pub(crate) fn check(&self) {
        self.check_logs();
        let mut chain = super::ledger::Chain::new([]);
        for record in &self.records {
            chain.push(&super::digest::jcs_bytes_of(record).unwrap());
        }
        assert!(chain.finish().ok);
        for (i, a) in self.records.iter().enumerate() {
            let twin =
                |b: &&Record| b.task_id == a.task_id && b.state_version_before == a.state_version_before;
            assert_eq!(
                self.records.iter().skip(i).filter(twin).count(),
                1,
                "one record per task and version"
            );
        }
    }

    /// The part of `check` that looks at logs alone.
    pub(crate) fn check_logs(&self) {
        for (id, log) in &self.tasks {
            let mut task = None;
            let mut version = 0;
            let mut arrivals = 0;
            for (i, event) in log.events.iter().enumerate() {
                assert_eq!(event.revision, i as u64 + 1, "revisions are gapless");
                assert!(
                    event.state_version == version || event.state_version == version + 1,
                    "versions rise by one"
                );
                version = event.state_version;
                if let What::Delivered(d) = &event.what {
                    arrivals += 1;
                    assert_eq!(d.message.arrival(), arrivals, "arrival is total and gapless");
                }
                if let What::Moved { from, to, .. } = &event.what {
                    assert!(from.step(*to).is_some(), "{from} to {to} is not on the list");
                    assert_eq!(task.as_ref().map(|t: &Task| t.state), Some(*from));
                }
                task = evolve(task, id, event);
            }
            assert_eq!(task.as_ref(), Some(&log.task), "fold(log) = state");
        }
    }
}

fn alias(event: &Event, message_id: &str) -> Option<u64> {
    match &event.what {
        What::Delivered(d) if d.message.message_id() == message_id => d.message.repeat().map(|r| r.of),
        _ => None,
    }
}

impl TaskLog {
    fn note(&mut self, event: &Event) {
        match &event.what {
            What::Delivered(d) => {
                if let Some(submission) = d.message.submission() {
                    self.stored.push(Stored {
                        submission: submission.clone(),
                        outcome: d.outcome,
                        applied: false,
                        duplicates: 0,
                        judged_by: None,
                    });
                }
                let repeated = d.message.repeat().map(|r| r.of);
                for s in self.stored.iter_mut().filter(|s| Some(s.submission.arrival) == repeated) {
                    s.duplicates += 1;
                }
            }
            What::Applied { arrival, .. } => {
                self.stored
                    .iter_mut()
                    .filter(|s| s.submission.arrival == *arrival)
                    .for_each(|s| s.applied = true);
            }
            What::Committed { effect, digest, scheme, common, arrival } => {
                self.committed.push(CommittedEffect {
                    effect: effect.clone(),
                    digest: *digest,
                    scheme: *scheme,
                    common: *common,
                    arrival: *arrival,
                })
            }
            What::Decided(d) => {
                for s in &mut self.stored {
                    if d.candidates.contains(&s.submission.arrival) || d.held.contains(&s.submission.arrival)
                    {
                        s.judged_by = Some(d.approval_id.clone());
                    }
                }
            }
            _ => {}
        }
        self.events.push(event.clone());
    }
}

pub(crate) fn owner() -> Principal {
    Principal::owner("ana")
}
