//! One transaction's work: loads what each request needs, asks the rules, and writes what they say.

use super::connect::{damaged, failed};
use super::log::{self, int};
use super::{quarantine, schema};
use crate::domain::attention::{self, Attention};
use crate::domain::command::{
    Admit, Admitted, Command, Context, Recorded, Reply, Request, Rules, Stored, Verdict, handle,
};
use crate::domain::digest::Digest;
use crate::domain::envelope::{EffectName, Fault};
use crate::domain::event::{CommittedEffect, Decided, Delivery, Event, Outcome, What};
use crate::domain::ids::{TaskId, Timestamp};
use crate::domain::ledger::{Head, Record};
use crate::domain::refusal::Refusal;
use crate::domain::task::{Task, TaskState};
use crate::store::rows::{self, Columns, OUTCOMES, code};
use crate::store::{Answer, StoreError};
use rusqlite::{Connection, params};
use serde::Serialize;
use std::collections::HashMap;

/// What the writer knows of the store without asking: the last number of everything.
#[derive(Clone, Debug, Default)]
pub(super) struct Counters {
    pub epoch: u64,
    pub events: u64,
    pub last_event: Option<Digest>,
    pub tasks: i64,
    pub entries: u64,
    pub ledger: Head,
}

impl Counters {
    /// Reads them.
    pub(super) fn read(conn: &Connection, store_id: &str) -> Result<Self, StoreError> {
        let last = |sql| -> Result<i64, StoreError> {
            let last: Option<i64> =
                conn.prepare_cached(sql).and_then(|mut s| s.query_row([], |r| r.get(0))).map_err(failed)?;
            Ok(last.unwrap_or(0))
        };
        let head = log::head(conn, store_id)?;
        Ok(Counters {
            epoch: schema::epoch(conn)?,
            events: head.events,
            last_event: head.last_event,
            tasks: last("SELECT max(id) FROM task")?,
            entries: last("SELECT max(number) FROM quarantine")?.unsigned_abs(),
            ledger: head.ledger,
        })
    }
}

/// A task the writer holds in memory.
#[derive(Debug)]
pub(super) struct Held {
    /// Its number; 0 for a task that is not there.
    item: i64,
    /// The task, but while a rule looks at it.
    task: Option<Task>,
    /// The revision of the stored snapshot; `None` before the first.
    stored: Option<u64>,
    /// How the stored projections stand, once the task was changed in this transaction.
    before: Option<Box<Before>>,
}

#[derive(Debug)]
struct Before {
    columns: Option<Columns>,
    attention: Vec<Attention>,
    question: Option<String>,
}

/// Tasks by id, as the writer last saw or left them.
pub(super) type Tasks = HashMap<TaskId, Held>;

/// One transaction at work.
pub(super) struct Batch<'a> {
    pub conn: &'a Connection,
    pub rules: &'a Rules,
    pub counters: &'a mut Counters,
    pub tasks: &'a mut Tasks,
    changed: Vec<TaskId>,
    last: Option<(u64, i64, Vec<u8>)>,
    buffer: Vec<u8>,
}

impl<'a> Batch<'a> {
    pub(super) fn new(
        conn: &'a Connection,
        rules: &'a Rules,
        counters: &'a mut Counters,
        tasks: &'a mut Tasks,
    ) -> Self {
        Batch { conn, rules, counters, tasks, changed: Vec::new(), last: None, buffer: Vec::new() }
    }

    /// Answers one request, writing all that follows from it but its task's own row.
    pub(super) fn run(&mut self, request: &Request) -> Result<Answer, StoreError> {
        let readmits = match &request.command {
            Command::Admit(admit) => admit.readmits.as_deref(),
            _ => None,
        };
        let Some(id) = readmits else { return self.answer(request, None) };
        let open = match quarantine::number(id) {
            Some(number) if quarantine::is_open(self.conn, number)? => number,
            _ => return Ok(Err(Refusal::EntryNotFound { id: id.to_owned() })),
        };
        self.answer(request, Some(open))
    }

    fn answer(&mut self, request: &Request, readmits: Option<i64>) -> Result<Answer, StoreError> {
        let id = request.command.task_id();
        let (item, context) = self.load(request, id.as_ref())?;
        match handle(&context, request, self.rules) {
            Err(refusal) => {
                self.put_back(id, context.task);
                Ok(Err(refusal))
            }
            Ok(Verdict::Unchanged(reply)) => {
                self.put_back(id, context.task);
                Ok(Ok(reply))
            }
            Ok(Verdict::Quarantine(fault)) => {
                let admitted = self.aside(request, &fault, readmits, context.task.as_ref())?;
                self.put_back(id, context.task);
                Ok(Ok(Reply::Admitted(admitted)))
            }
            Ok(Verdict::Recorded(recorded)) => {
                let began = context.task.is_none().then(|| recorded.task.task_id.clone());
                let reply = self.record(request, item, &context, *recorded)?;
                if let Some(number) = readmits {
                    self.settle(number, &request.principal.subject, request.now, None)?;
                }
                if let Some(id) = began {
                    self.readmit_waiting(&id, request.now)?;
                }
                Ok(Ok(reply))
            }
        }
    }

    /// What a rule needs to know. The task itself is lent: [`Batch::put_back`] or [`Batch::record`] takes it home.
    fn load(&mut self, request: &Request, id: Option<&TaskId>) -> Result<(i64, Context), StoreError> {
        let Some(id) = id else { return Ok((0, Context::default())) };
        if !self.tasks.contains_key(id) {
            let found = log::task(self.conn, id)?;
            let (item, task) = found.map_or((0, None), |(item, task)| (item, Some(task)));
            let stored = task.as_ref().map(|t| t.revision);
            self.tasks.insert(id.clone(), Held { item, task, stored, before: None });
        }
        let (item, task) = self.tasks.get_mut(id).map_or((0, None), |h| (h.item, h.task.take()));
        let mut context = Context { task, ..Context::default() };
        if let Some(task) = context.task.take() {
            self.load_more(request, item, &task, &mut context)?;
            context.task = Some(task);
        }
        Ok((item, context))
    }

    fn load_more(
        &self,
        request: &Request,
        item: i64,
        task: &Task,
        context: &mut Context,
    ) -> Result<(), StoreError> {
        let effect = match &request.command {
            Command::Admit(admit) => {
                if let Ok(envelope) = &admit.message {
                    self.load_submissions(item, envelope, context)?;
                }
                admit.message.as_ref().ok().and_then(|e| e.effect.as_ref())
            }
            Command::Decide(decision) => {
                let p = &request.principal;
                context.replay = log::replay(self.conn, &p.issuer, &p.subject, &decision.idempotency_key)?;
                context.head = self.counters.ledger.clone();
                let open = task.review.as_ref().map(|r| r.candidates()).unwrap_or_default();
                let judged = task.judged.as_ref();
                let before = judged.and_then(|j| j.review.as_ref()).map(|r| r.candidates());
                let held = judged.map(|j| j.held.clone());
                let all = [open, before.unwrap_or_default(), held.unwrap_or_default(), task.held.clone()];
                context.of_task = log::submissions_of(self.conn, item, &all.concat())?;
                None
            }
            Command::Claim { .. } => {
                context.of_task = log::submissions_of(self.conn, item, &task.held)?;
                None
            }
            Command::Transition(t) if t.to == TaskState::Running => {
                context.of_task = log::submissions_of(self.conn, item, &task.held)?;
                None
            }
            Command::Reserve { effect, .. } | Command::Commit { effect, .. } => Some(effect),
            _ => None,
        };
        if let Some(EffectName { key, target }) = effect {
            context.committed = log::committed(self.conn, item, key, target)?;
        }
        Ok(())
    }

    fn load_submissions(
        &self,
        item: i64,
        envelope: &crate::domain::envelope::Envelope,
        context: &mut Context,
    ) -> Result<(), StoreError> {
        let (class, key) = (envelope.kind.class(), &envelope.idempotency_key);
        let same = log::probe(self.conn, item, rows::intent_hash(class, key))?;
        let arrivals: Vec<u64> = same
            .iter()
            .filter_map(|d| d.submission.as_ref())
            .filter(|s| s.class == class && s.idempotency_key == *key)
            .map(|s| s.arrival)
            .collect();
        if !arrivals.is_empty() {
            context.same_intent = log::submissions_of(self.conn, item, &arrivals)?;
        }
        let named = log::arrivals_of(self.conn, item, &envelope.message_id)?;
        if !named.is_empty() {
            context.same_message_id = log::submissions_of(self.conn, item, &named)?;
        }
        Ok(())
    }

    fn put_back(&mut self, id: Option<TaskId>, task: Option<Task>) {
        if let Some(held) = id.and_then(|id| self.tasks.get_mut(&id)) {
            held.task = task;
        }
    }

    fn aside(
        &mut self,
        request: &Request,
        fault: &Fault,
        readmits: Option<i64>,
        task: Option<&Task>,
    ) -> Result<Admitted, StoreError> {
        let number = match (readmits, &request.command) {
            // Tried again and still no good: it stays the entry it was, and nothing new arrived.
            (Some(number), _) => number.unsigned_abs(),
            (None, Command::Admit(admit)) => {
                let raw = match &admit.message {
                    Ok(envelope) => &envelope.raw,
                    Err(bad) => &bad.raw,
                };
                self.put_aside(request, fault, raw, &admit.source)?
            }
            (None, _) => return Err(StoreError::Failed("a rule put aside what is no message".into())),
        };
        Ok(Admitted {
            message_id: fault.named.message_id.clone(),
            task_id: fault.named.task_id.clone(),
            outcome: "quarantined".into(),
            arrival: None,
            duplicate_of: None,
            state: task.map(|t| t.state),
            state_version: task.map(|t| t.state_version),
            reason: Some(format!("{}: {}", fault.reason.as_str(), fault.detail)),
            quarantine: Some(quarantine::name(number)),
        })
    }

    /// Messages that came before their task are admitted now, in the order they came.
    fn readmit_waiting(&mut self, id: &TaskId, now: Timestamp) -> Result<(), StoreError> {
        let mut after = 0;
        while let Some(waiting) = quarantine::next_waiting(self.conn, id, after)? {
            after = waiting.number;
            let parsed = crate::domain::envelope::parse(
                waiting.bytes,
                &self.rules.limits,
                crate::domain::digest::Scheme::default(),
            );
            let message = match parsed {
                Ok(envelope) => envelope,
                Err(fault) => {
                    self.still_aside(waiting.number, &fault)?;
                    continue;
                }
            };
            let admit = Admit { message: Ok(message), source: waiting.source, readmits: None };
            let request =
                Request { command: Command::Admit(Box::new(admit)), principal: waiting.principal, now };
            let (item, context) = self.load(&request, Some(id))?;
            match handle(&context, &request, self.rules) {
                Ok(Verdict::Recorded(recorded)) => {
                    self.record(&request, item, &context, *recorded)?;
                    self.settle(waiting.number, "tribunal", now, None)?;
                }
                Ok(Verdict::Quarantine(fault)) => {
                    self.put_back(Some(id.clone()), context.task);
                    self.still_aside(waiting.number, &fault)?;
                }
                Ok(Verdict::Unchanged(_)) | Err(_) => self.put_back(Some(id.clone()), context.task),
            }
        }
        Ok(())
    }

    /// Appends the events of a verdict with their side tables, and keeps the task for [`Batch::finish`].
    fn record(
        &mut self,
        request: &Request,
        item: i64,
        context: &Context,
        recorded: Recorded,
    ) -> Result<Reply, StoreError> {
        let Recorded { task, events, record, reply } = recorded;
        let item = if item == 0 {
            self.counters.tasks += 1;
            self.counters.tasks
        } else {
            item
        };
        for event in &events {
            let seq = self.append(item, event.revision, event)?;
            fail::fail_point!("store-wrote-event");
            self.side_tables(request, item, seq, event, &context.same_message_id)?;
        }
        if let Some((record, body_digest)) = record {
            self.approve(request, item, &record, &body_digest)?;
        }
        let id = task.task_id.clone();
        let held =
            self.tasks.entry(id.clone()).or_insert(Held { item, task: None, stored: None, before: None });
        held.item = item;
        if held.before.is_none() {
            held.before = Some(Box::new(Before::of(context.task.as_ref(), self.rules)));
            self.changed.push(id);
        }
        held.task = Some(task);
        Ok(reply)
    }

    /// Appends to the log.
    pub(super) fn append<T: Serialize>(
        &mut self,
        item: i64,
        revision: u64,
        body: &T,
    ) -> Result<u64, StoreError> {
        self.counters.events += 1;
        let seq = self.counters.events;
        self.buffer.clear();
        serde_json::to_writer(&mut self.buffer, body)
            .map_err(|e| StoreError::Failed(format!("an event cannot be written: {e}")))?;
        self.conn
            .prepare_cached("INSERT INTO event(seq, item, revision, body) VALUES (?1, ?2, ?3, ?4)")
            .and_then(|mut s| s.execute(params![int(seq), item, int(revision), self.buffer]))
            .map_err(failed)?;
        let (at, of, bytes) = self.last.get_or_insert_with(Default::default);
        (*at, *of) = (seq, item);
        std::mem::swap(bytes, &mut self.buffer);
        Ok(seq)
    }

    fn side_tables(
        &self,
        request: &Request,
        item: i64,
        seq: u64,
        event: &Event,
        same_message_id: &[Stored],
    ) -> Result<(), StoreError> {
        match &event.what {
            What::Delivered(delivery) => self.delivered(request, item, seq, delivery, same_message_id),
            What::Applied { arrival, .. } => {
                self.mark("UPDATE message SET applied = 1 WHERE task = ?1 AND arrival = ?2", item, *arrival)
            }
            What::Committed { effect, digest, scheme, common, arrival } => {
                let done = CommittedEffect {
                    effect: effect.clone(),
                    digest: *digest,
                    scheme: *scheme,
                    common: *common,
                    arrival: *arrival,
                };
                let body = serde_json::to_vec(&done).unwrap_or_default();
                self.conn
                    .prepare_cached("INSERT INTO effect(task, key, target, body) VALUES (?1, ?2, ?3, ?4)")
                    .and_then(|mut s| s.execute(params![item, effect.key, effect.target, body]))
                    .map_err(failed)?;
                fail::fail_point!("store-wrote-effect");
                Ok(())
            }
            What::Decided(decided) => self.judged(item, decided),
            _ => Ok(()),
        }
    }

    fn delivered(
        &self,
        request: &Request,
        item: i64,
        seq: u64,
        delivery: &Delivery,
        same_message_id: &[Stored],
    ) -> Result<(), StoreError> {
        let by_id = rows::message_hash(&delivery.message_id);
        if let Some(submission) = &delivery.submission {
            let envelope: &[u8] = match &request.command {
                Command::Admit(admit) => admit.message.as_ref().map_or(&[], |e| &e.raw),
                _ => &[],
            };
            let outcome = code::<Outcome>(&OUTCOMES, &delivery.outcome);
            self.conn
                .prepare_cached(
                    "INSERT INTO message(seq, task, arrival, outcome, envelope) VALUES (?1, ?2, ?3, ?4, ?5)",
                )
                .and_then(|mut s| {
                    s.execute(params![int(seq), item, int(delivery.arrival), outcome, envelope])
                })
                .map_err(failed)?;
            fail::fail_point!("store-wrote-message");
            let by_intent = rows::intent_hash(submission.class, &submission.idempotency_key);
            self.conn
                .prepare_cached(
                    "INSERT OR IGNORE INTO probe(task, hash, seq) VALUES (?1, ?2, ?4), (?1, ?3, ?4)",
                )
                .and_then(|mut s| s.execute(params![item, by_intent, by_id, int(seq)]))
                .map_err(failed)?;
            return Ok(());
        }
        let Some(first) = delivery.duplicate_of else { return Ok(()) };
        self.mark(
            "UPDATE message SET duplicates = duplicates + 1 WHERE task = ?1 AND arrival = ?2",
            item,
            first,
        )?;
        fail::fail_point!("store-counted-duplicate");
        if same_message_id.iter().any(|s| s.submission.arrival == first) {
            return Ok(());
        }
        self.conn
            .prepare_cached("INSERT INTO probe(task, hash, seq) VALUES (?1, ?2, ?3)")
            .and_then(|mut s| s.execute(params![item, by_id, int(seq)]))
            .map(|_| ())
            .map_err(failed)
    }

    fn mark(&self, sql: &str, item: i64, arrival: u64) -> Result<(), StoreError> {
        let changed = self
            .conn
            .prepare_cached(sql)
            .and_then(|mut s| s.execute(params![item, int(arrival)]))
            .map_err(failed)?;
        if changed == 1 { Ok(()) } else { Err(damaged("message", arrival, "is not stored")) }
    }

    fn judged(&self, item: i64, decided: &Decided) -> Result<(), StoreError> {
        let mut mark = self
            .conn
            .prepare_cached("UPDATE message SET judged_by = ?3 WHERE task = ?1 AND arrival = ?2")
            .map_err(failed)?;
        for arrival in decided.candidates.iter().chain(&decided.held) {
            mark.execute(params![item, int(*arrival), int(decided.sequence)]).map_err(failed)?;
        }
        Ok(())
    }

    fn approve(
        &mut self,
        request: &Request,
        item: i64,
        record: &Record,
        body_digest: &Digest,
    ) -> Result<(), StoreError> {
        let Command::Decide(decision) = &request.command else {
            return Err(StoreError::Failed("a record without a decision".into()));
        };
        let bytes = crate::domain::digest::jcs_bytes_of(record)
            .map_err(|e| StoreError::Failed(format!("a record cannot be written: {e}")))?;
        self.conn
            .prepare_cached(
                "INSERT INTO approval(sequence, approval_id, task, version, state_version, record_digest, record) \
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
            )
            .and_then(|mut s| {
                s.execute(params![
                    int(record.sequence),
                    record.approval_id,
                    item,
                    int(record.approval_version),
                    int(record.state_version_before),
                    record.record_digest.as_bytes(),
                    bytes
                ])
            })
            .map_err(failed)?;
        fail::fail_point!("store-wrote-approval");
        let p = &request.principal;
        self.conn
            .prepare_cached(
                "INSERT INTO decision_key(issuer, subject, key, body_digest, sequence) VALUES (?1, ?2, ?3, ?4, ?5)",
            )
            .and_then(|mut s| {
                let (key, digest) = (&decision.idempotency_key, body_digest.as_bytes());
                s.execute(params![p.issuer, p.subject, key, digest, int(record.sequence)])
            })
            .map_err(failed)?;
        self.counters.ledger.sequence = record.sequence;
        self.counters.ledger.record_digest = Some(record.record_digest);
        Ok(())
    }

    /// Writes the rows of every task that changed, each guarded by the revision it was read at.
    pub(super) fn finish(mut self) -> Result<(), StoreError> {
        for id in std::mem::take(&mut self.changed) {
            self.project(&id)?;
        }
        if let Some((seq, item, body)) = &self.last {
            self.counters.last_event = Some(log::event_digest(*seq, *item, body));
        }
        Ok(())
    }

    fn project(&mut self, id: &TaskId) -> Result<(), StoreError> {
        let Some(held) = self.tasks.get_mut(id) else { return Ok(()) };
        let (Some(task), Some(before)) = (held.task.as_ref(), held.before.take()) else { return Ok(()) };
        let (conn, item) = (self.conn, held.item);
        self.buffer.clear();
        serde_json::to_writer(&mut self.buffer, task)
            .map_err(|e| StoreError::Failed(format!("a task cannot be written: {e}")))?;
        let stored = held.stored.map(int);
        let changed = match stored {
            None => conn
                .prepare_cached("INSERT INTO snapshot(id, revision, body) VALUES (?1, ?2, ?3)")
                .and_then(|mut s| s.execute(params![item, int(task.revision), self.buffer])),
            Some(stored) => conn
                .prepare_cached(
                    "UPDATE snapshot SET revision = ?2, body = ?3 WHERE id = ?1 AND revision = ?4",
                )
                .and_then(|mut s| s.execute(params![item, int(task.revision), self.buffer, stored])),
        }
        .map_err(failed)?;
        if changed != 1 {
            return Err(damaged("task", &task.task_id.0, "is not at the revision it was read at"));
        }
        fail::fail_point!("store-wrote-snapshot");
        before.project(conn, item, task, self.rules)?;
        fail::fail_point!("store-wrote-projections");
        held.stored = Some(task.revision);
        Ok(())
    }
}

impl Before {
    fn of(task: Option<&Task>, rules: &Rules) -> Self {
        Before {
            columns: task.map(Columns::of),
            attention: task.map(|t| attention::of(t, &rules.thresholds)).unwrap_or_default(),
            question: task.and_then(|t| t.interruption.as_ref()).map(|i| i.id.clone()),
        }
    }

    /// Brings the projections of a task up to it, writing only what differs.
    fn project(&self, conn: &Connection, item: i64, task: &Task, rules: &Rules) -> Result<(), StoreError> {
        let columns = Columns::of(task);
        if self.columns.as_ref() != Some(&columns) {
            put_columns(conn, item, task, &columns, self.columns.is_none())?;
        }
        let question = task.interruption.as_ref().map(|i| i.id.as_str());
        if self.columns.is_none() || question != self.question.as_deref() {
            conn.prepare_cached("INSERT OR REPLACE INTO words(item, text) VALUES (?1, ?2)")
                .and_then(|mut s| s.execute(params![item, rows::words_of_task(task)]))
                .map_err(failed)?;
        }
        if self.columns.is_none() {
            for (key, value) in &task.labels {
                conn.prepare_cached("INSERT INTO label(task, key, value) VALUES (?1, ?2, ?3)")
                    .and_then(|mut s| s.execute(params![item, key, value]))
                    .map_err(failed)?;
            }
        }
        let attention = attention::of(task, &rules.thresholds);
        if attention != self.attention {
            if self.columns.is_some() {
                conn.prepare_cached("DELETE FROM docket WHERE item = ?1")
                    .and_then(|mut s| s.execute([item]))
                    .map_err(failed)?;
            }
            schema::put_attention(conn, item, &attention)?;
        }
        Ok(())
    }
}

fn put_columns(conn: &Connection, item: i64, task: &Task, c: &Columns, new: bool) -> Result<(), StoreError> {
    let sql = if new {
        "INSERT INTO task(id, state, entered_at, urgency, deadline, candidates, decided, failure, agent, \
         assigned, task_id, trace_id) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)"
    } else {
        "UPDATE task SET state = ?2, entered_at = ?3, urgency = ?4, deadline = ?5, candidates = ?6, \
         decided = ?7, failure = ?8, agent = ?9, assigned = ?10 WHERE id = ?1 AND ?11 = task_id AND ?12 = trace_id"
    };
    let changed = conn
        .prepare_cached(sql)
        .and_then(|mut s| {
            s.execute(params![
                item,
                c.state,
                c.entered_at,
                c.urgency,
                c.deadline,
                c.candidates,
                c.decided,
                c.failure,
                c.agent,
                c.assigned,
                task.task_id.as_str(),
                task.trace_id
            ])
        })
        .map_err(failed)?;
    if changed == 1 { Ok(()) } else { Err(damaged("task", &task.task_id.0, "has another row")) }
}
