//! One transaction's work: loads what each request needs, asks the rules, and writes what they say.

use super::connect::{damaged, failed};
use super::log::{self, int};
use super::project::Before;
use super::{quarantine, schema};
use crate::domain::command::{
    Admit, Admitted, Command, Context, Recorded, Reply, Request, Rules, Stored, Verdict, handle,
};
use crate::domain::digest::Digest;
use crate::domain::envelope::Fault;
use crate::domain::event::{CommittedEffect, Decided, Delivery, Event, Outcome, What};
use crate::domain::ids::{TaskId, Timestamp};
use crate::domain::ledger::{Head, Record};
use crate::domain::refusal::Refusal;
use crate::domain::task::Task;
use crate::store::rows::{self, OUTCOMES, code};
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
    pub item: i64,
    /// The task, but while a rule looks at it.
    pub task: Option<Task>,
    /// The revision of the stored snapshot; `None` before the first.
    pub stored: Option<u64>,
    /// How the stored projections stand, once the task was changed in this transaction.
    pub before: Option<Box<Before>>,
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
    pub buffer: Vec<u8>,
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
}
