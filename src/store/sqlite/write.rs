//! One transaction's work: loads what each request needs, asks the rules, and writes what they say.

use super::connect::failed;
use super::held::Tasks;
use super::log::{self, int};
use super::project::Before;
use super::readmit::{Readmitted, Readmitting};
use super::{quarantine, schema};
use crate::domain::command::{Admitted, Command, Context, Recorded, Reply, Request, Rules, Verdict, handle};
use crate::domain::digest::Digest;
use crate::domain::envelope::Fault;
use crate::domain::event::What;
use crate::domain::ids::TaskId;
use crate::domain::ledger::{Head, Record};
use crate::domain::refusal::Refusal;
use crate::domain::task::Task;
use crate::store::remembered::Remembered;
use crate::store::{Answer, StoreError, StoreHead};
use rusqlite::{Connection, params};
use serde::Serialize;

/// Events that the tables of tasks may be behind by: what a reader waits for, or whoever opens the file after a crash.
const BEHIND: u64 = 4096;

/// What the writer knows of the store without asking: the last number of everything.
#[derive(Clone, Debug, Default)]
pub(super) struct Counters {
    pub epoch: u64,
    pub events: u64,
    pub last_event: Option<Digest>,
    pub tasks: i64,
    pub entries: u64,
    pub ledger: Head,
    /// The first event whose task's tables may be behind; 0 where none is.
    pub behind_from: u64,
    /// The task whose entries are being admitted, before anything else is written.
    pub readmitting: Option<Readmitting>,
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
            behind_from: schema::behind_from(conn)?,
            readmitting: Readmitting::read(conn)?,
        })
    }
}

impl Counters {
    /// What is to be remembered outside of the store.
    pub(super) fn remembered(&self) -> Remembered {
        let (events, last_event, ledger) = (self.events, self.last_event, self.ledger.clone());
        Remembered { epoch: self.epoch, head: StoreHead { events, last_event, ledger } }
    }
}

/// One transaction at work.
pub(super) struct Batch<'a> {
    pub conn: &'a Connection,
    pub rules: &'a Rules,
    pub counters: &'a mut Counters,
    pub tasks: &'a mut Tasks,
    /// How many events there were before it.
    pub began: u64,
    last: Option<(u64, i64, Vec<u8>)>,
    pub buffer: Vec<u8>,
    /// What it admitted of what was put aside.
    pub readmitted: Readmitted,
}

impl<'a> Batch<'a> {
    pub(super) fn new(
        conn: &'a Connection,
        rules: &'a Rules,
        counters: &'a mut Counters,
        tasks: &'a mut Tasks,
    ) -> Self {
        let began = counters.events;
        let (buffer, readmitted) = (Vec::new(), Readmitted::default());
        Batch { conn, rules, counters, tasks, began, last: None, buffer, readmitted }
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
                    self.readmit(Readmitting { task: id, after: 0, now: request.now })?;
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

    /// Appends the events of a verdict, and keeps them and the task for [`Batch::finish`].
    pub(super) fn record(
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
        let envelope = match &request.command {
            Command::Admit(admit) => admit.message.as_ref().ok().map(|e| &*e.raw),
            _ => None,
        };
        let mut numbered = Vec::with_capacity(events.len());
        for event in events {
            let begins = matches!(event.what, What::Created { .. }).then_some(&task.task_id);
            let stores = matches!(&event.what, What::Delivered(d) if d.message.submission().is_some());
            let envelope = envelope.filter(|_| stores);
            let seq = self.append(item, event.revision, begins, &event, envelope)?;
            fail::fail_point!("store-wrote-event");
            numbered.push((seq, event));
        }
        if let Some((record, body_digest)) = record {
            self.approve(request, item, &record, &body_digest)?;
        }
        let rules = self.rules;
        let before = || Before::of(context.task.as_ref(), rules);
        self.tasks.keep(item, task, numbered, before);
        Ok(reply)
    }

    /// Appends to the log.
    pub(super) fn append<T: Serialize>(
        &mut self,
        item: i64,
        revision: u64,
        begins: Option<&TaskId>,
        body: &T,
        envelope: Option<&[u8]>,
    ) -> Result<u64, StoreError> {
        self.counters.events += 1;
        let seq = self.counters.events;
        self.buffer.clear();
        serde_json::to_writer(&mut self.buffer, body)
            .map_err(|e| StoreError::Failed(format!("an event cannot be written: {e}")))?;
        self.conn
            .prepare_cached(
                "INSERT INTO event(seq, item, revision, task_id, body, envelope) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            )
            .and_then(|mut s| {
                let task_id = begins.map(TaskId::as_str);
                s.execute(params![int(seq), item, int(revision), task_id, self.buffer, envelope])
            })
            .map_err(failed)?;
        let (at, of, bytes) = self.last.get_or_insert_with(Default::default);
        (*at, *of) = (seq, item);
        std::mem::swap(bytes, &mut self.buffer);
        Ok(seq)
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

    /// Ends the work of a transaction. Where `later` and the log is not too far ahead, the tables of tasks are left
    /// behind it, and that is noted; else all of them are brought up to it.
    pub(super) fn finish(mut self, later: bool) -> Result<(), StoreError> {
        let up_to = if self.counters.behind_from > 0 { self.counters.behind_from - 1 } else { self.began };
        let later = later && self.counters.events.saturating_sub(up_to) <= BEHIND;
        if later && self.tasks.pending() > 0 {
            self.leave_behind()?;
        } else {
            self.bring_up()?;
        }
        if let Some((seq, item, body)) = &self.last {
            self.counters.last_event = Some(log::event_digest(*seq, *item, body));
        }
        Ok(())
    }
}
