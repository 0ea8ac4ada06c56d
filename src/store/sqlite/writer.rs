//! The one thread that writes: takes what is queued, commits it together, notes the head, and only then answers.

use super::checkpoint::Checkpoints;
use super::connect::{self, failed};
use super::log;
use super::quarantine;
use super::shared::Shared;
use super::write::{Batch, Counters, Tasks};
use crate::domain::command::{Request, Rules};
use crate::domain::ids::Timestamp;
use crate::domain::refusal::Refusal;
use crate::store::remembered::{HeadFile, Memory, Remembered, Shelf};
use crate::store::{Acceptance, Answer, StoreError, StoreHead};
use rusqlite::{Connection, params};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};

/// The most requests that share a commit.
pub(super) const GROUP: usize = 2048;

/// Tasks kept in memory between commits.
const KEPT: usize = 8192;

/// Something to write, and where the answer goes.
pub(super) enum Job {
    Submit { requests: Vec<Request>, reply: oneshot::Sender<Result<Vec<Answer>, StoreError>> },
    Drop { number: i64, by: String, reason: String, now: Timestamp, reply: Reply<Result<(), Refusal>> },
    Accept { acceptance: Acceptance, reply: Reply<()> },
}

type Reply<T> = oneshot::Sender<Result<T, StoreError>>;

/// The writer's side of an open store.
pub(super) struct Writer {
    pub shared: Arc<Shared>,
    pub rules: Rules,
    pub busy: Duration,
    pub memory: HeadFile,
    pub shelf: Shelf,
    pub checkpoints: Checkpoints,
    /// None after a failure, until it is opened again.
    pub conn: Option<Connection>,
    pub counters: Counters,
    pub tasks: Tasks,
    /// What the engine said last about commits of others.
    pub data_version: Option<i64>,
}

/// A job under way.
struct Open {
    requests: std::vec::IntoIter<Request>,
    answers: Vec<Answer>,
    failure: Option<StoreError>,
    reply: oneshot::Sender<Result<Vec<Answer>, StoreError>>,
}

impl Writer {
    /// Works until nobody can ask any more.
    pub(super) fn run(mut self, mut jobs: mpsc::Receiver<Job>) {
        while let Some(first) = jobs.blocking_recv() {
            let mut queue = vec![first];
            let mut size = queue.iter().map(Job::size).sum::<usize>();
            while size < GROUP {
                let Ok(job) = jobs.try_recv() else { break };
                size += job.size();
                queue.push(job);
            }
            self.serve(queue);
            if let Some(conn) = &self.conn {
                self.checkpoints.after_commit(conn, &self.shared, self.busy);
            }
        }
    }

    fn serve(&mut self, queue: Vec<Job>) {
        let mut open = Vec::new();
        for job in queue {
            match job {
                Job::Submit { requests, reply } => {
                    let answers = Vec::with_capacity(requests.len());
                    open.push(Open { requests: requests.into_iter(), answers, failure: None, reply });
                }
                Job::Drop { number, by, reason, now, reply } => {
                    self.submit(std::mem::take(&mut open));
                    // Who asked may be gone; what was done is done.
                    _ = reply.send(self.drop_entry(number, &by, &reason, now));
                }
                Job::Accept { acceptance, reply } => {
                    self.submit(std::mem::take(&mut open));
                    _ = reply.send(self.accept(&acceptance));
                }
            }
        }
        self.submit(open);
    }

    /// Runs all requests in order, in as few commits as the requests allow, and answers each job.
    fn submit(&mut self, mut open: Vec<Open>) {
        let mut group: Vec<(usize, Request)> = Vec::new();
        for at in 0..open.len() {
            while let Some(request) = open.get_mut(at).and_then(|o| o.requests.next()) {
                let alone = request.command.wants_own_commit();
                if alone || group.len() >= GROUP {
                    self.commit_group(&mut group, &mut open);
                }
                group.push((at, request));
                if alone {
                    self.commit_group(&mut group, &mut open);
                }
            }
        }
        self.commit_group(&mut group, &mut open);
        for job in open {
            _ = job.reply.send(job.failure.map_or(Ok(job.answers), Err));
        }
    }

    fn commit_group(&mut self, group: &mut Vec<(usize, Request)>, open: &mut [Open]) {
        let mut group = std::mem::take(group);
        // What follows a failure of the same caller is not tried: it may rest on what failed.
        group.retain(|(at, _)| open.get(*at).is_some_and(|o| o.failure.is_none()));
        if group.is_empty() {
            return;
        }
        let all: Vec<&Request> = group.iter().map(|(_, request)| request).collect();
        let together =
            self.transaction(|batch| all.iter().map(|r| batch.run(r)).collect::<Result<Vec<_>, _>>());
        let done: Vec<Result<Answer, StoreError>> = match together {
            // Something about one of them does not fit what is stored: it must not fail the others.
            Err(StoreError::Damaged(_)) if all.len() > 1 => all.iter().map(|r| self.alone(r)).collect(),
            Err(e) => all.iter().map(|_| Err(e.clone())).collect(),
            Ok(Ok(answers)) => answers.into_iter().map(Ok).collect(),
            Ok(Err(refusal)) => all.iter().map(|_| Ok(Err(refusal.clone()))).collect(),
        };
        for ((at, _), done) in group.iter().zip(done) {
            let Some(job) = open.get_mut(*at) else { continue };
            match done {
                Ok(answer) => job.answers.push(answer),
                Err(e) => job.failure = job.failure.take().or(Some(e)),
            }
        }
    }

    fn alone(&mut self, request: &Request) -> Result<Answer, StoreError> {
        match self.transaction(|batch| batch.run(request))? {
            Ok(answer) => Ok(answer),
            Err(refusal) => Ok(Err(refusal)),
        }
    }

    /// One commit: all that `work` writes, or nothing. The inner error says that the store takes no writes now.
    fn transaction<T>(
        &mut self,
        work: impl FnOnce(&mut Batch<'_>) -> Result<T, StoreError>,
    ) -> Result<Result<T, Refusal>, StoreError> {
        let done = self.try_transaction(work);
        match &done {
            Ok(_) => {}
            Err(e) => {
                self.tasks.clear();
                self.data_version = None;
                let kept = matches!(e, StoreError::Busy | StoreError::Full | StoreError::Damaged(_));
                if !kept || !self.conn.as_ref().is_some_and(Connection::is_autocommit) {
                    self.conn = None;
                }
                self.shared.set_write_failure(Some(e.to_string()));
            }
        }
        done
    }

    fn try_transaction<T>(
        &mut self,
        work: impl FnOnce(&mut Batch<'_>) -> Result<T, StoreError>,
    ) -> Result<Result<T, Refusal>, StoreError> {
        if let Some(why) = self.shared.misplaced().or_else(|| self.checkpoints.log_misplaced()) {
            self.shared.lost.store(true, Ordering::Release);
            return Err(StoreError::Failed(why));
        }
        self.shared.lost.store(false, Ordering::Release);
        if self.conn.is_none() {
            self.conn = Some(self.checkpoints.connect(&self.shared, self.busy)?);
            self.data_version = None;
        }
        let Some(conn) = self.conn.take() else { return Err(StoreError::Closed) };
        let before = self.counters.clone();
        let changes = conn.total_changes();
        let begun = conn.prepare_cached("BEGIN IMMEDIATE").and_then(|mut s| s.execute([])).map_err(failed);
        let done = begun.and_then(|_| self.in_transaction(&conn, work));
        let done = match done {
            Ok(Ok(done)) => commit(&conn).map(|()| Ok(done)),
            Ok(Err(refusal)) => roll_back(&conn).map(|()| Err(refusal)),
            Err(e) => {
                // The first error is the one to tell; a connection that cannot roll back is given up by the caller.
                _ = roll_back(&conn);
                Err(e)
            }
        };
        if done.is_err() {
            self.counters = before;
        }
        let wrote = conn.total_changes() > changes;
        self.conn = Some(conn);
        let done = done?;
        if done.is_ok() && wrote {
            fail::fail_point!("store-after-commit-before-reply");
            self.checkpoints.note_log();
            self.remember();
            self.shared.committed();
        }
        Ok(done)
    }

    fn in_transaction<T>(
        &mut self,
        conn: &Connection,
        work: impl FnOnce(&mut Batch<'_>) -> Result<T, StoreError>,
    ) -> Result<Result<T, Refusal>, StoreError> {
        self.catch_up(conn)?;
        if let Some(why) = self.shared.mismatch() {
            return Ok(Err(Refusal::HeadMismatch { why }));
        }
        if self.tasks.len() > KEPT {
            self.tasks.clear();
        }
        let mut batch = Batch::new(conn, &self.rules, &mut self.counters, &mut self.tasks);
        let done = work(&mut batch)?;
        batch.finish()?;
        fail::fail_point!("store-before-commit");
        Ok(Ok(done))
    }

    /// Forgets what is known where another process committed, and checks that the log goes on from what is remembered.
    fn catch_up(&mut self, conn: &Connection) -> Result<(), StoreError> {
        let version: i64 = conn
            .prepare_cached("PRAGMA data_version")
            .and_then(|mut s| s.query_row([], |r| r.get(0)))
            .map_err(failed)?;
        if self.data_version == Some(version) {
            return Ok(());
        }
        let before = self.counters.events;
        self.tasks.clear();
        self.counters = Counters::read(conn, &self.shared.store_id)?;
        if self.shared.mismatch().is_none() {
            self.shared.set_mismatch(mismatch(conn, &self.memory)?);
        }
        if self.shared.mismatch().is_none() && self.counters.events < before {
            let now = self.counters.events;
            self.shared
                .set_mismatch(Some(format!("log shorter than before: it had {before} events and has {now}")));
        }
        self.data_version = Some(version);
        Ok(())
    }

    fn head(&self) -> StoreHead {
        StoreHead {
            events: self.counters.events,
            last_event: self.counters.last_event,
            ledger: self.counters.ledger.clone(),
        }
    }

    /// Notes the head outside the store, before anybody hears of the commit.
    fn remember(&mut self) {
        let now = Remembered { epoch: self.counters.epoch, head: self.head() };
        let noted = self.memory.advance(&now);
        // What was committed is committed; but a loss could go unnoticed from here on, and a person must know.
        let failure = noted.err().map(|e| format!("stored, but the head could not be remembered: {e}"));
        self.shared.set_write_failure(failure);
    }

    fn drop_entry(
        &mut self,
        number: i64,
        by: &str,
        reason: &str,
        now: Timestamp,
    ) -> Result<Result<(), Refusal>, StoreError> {
        let done = self.transaction(|batch| {
            if !quarantine::is_open(batch.conn, number)? {
                return Ok(Err(Refusal::EntryNotFound { id: quarantine::name(number.unsigned_abs()) }));
            }
            batch.settle(number, by, now, Some(reason)).map(Ok)
        })?;
        Ok(done.and_then(|dropped| dropped))
    }

    /// A person accepts the head as it is: a new epoch begins, and it is what is remembered from now on.
    fn accept(&mut self, acceptance: &Acceptance) -> Result<(), StoreError> {
        let Some(why) = self.shared.mismatch() else { return Ok(()) };
        self.shared.set_mismatch(None);
        let accepted = self.accept_now(acceptance, &why);
        if accepted.is_err() {
            self.shared.set_mismatch(Some(why));
        }
        accepted
    }

    fn accept_now(&mut self, acceptance: &Acceptance, why: &str) -> Result<(), StoreError> {
        if let Some(lost) = self.shared.misplaced() {
            return Err(StoreError::Failed(lost));
        }
        let known = match self.memory.read() {
            Ok(Memory::Of(known)) => known.epoch,
            _ => 0,
        };
        if self.conn.is_none() {
            self.conn = Some(self.checkpoints.connect(&self.shared, self.busy)?);
        }
        let Some(conn) = &self.conn else { return Err(StoreError::Closed) };
        conn.execute_batch("BEGIN IMMEDIATE").map_err(failed)?;
        let stored = store_acceptance(conn, &self.shared.store_id, acceptance, why, known);
        let counters = match stored {
            Ok(counters) => commit(conn).map(|()| counters)?,
            Err(e) => {
                _ = roll_back(conn);
                return Err(e);
            }
        };
        self.counters = counters;
        self.tasks.clear();
        self.data_version = None;
        let now = Remembered { epoch: self.counters.epoch, head: self.head() };
        self.memory
            .accept(&now)
            .and_then(|()| self.shelf.put_store_at(&self.shared.path, &self.shared.store_id))
            .map_err(|e| StoreError::Failed(format!("the head cannot be remembered: {e}")))?;
        self.shared.committed();
        Ok(())
    }
}

fn store_acceptance(
    conn: &Connection,
    store_id: &str,
    acceptance: &Acceptance,
    why: &str,
    known: u64,
) -> Result<Counters, StoreError> {
    let mut counters = Counters::read(conn, store_id)?;
    counters.epoch = counters.epoch.max(known) + 1;
    let epoch = counters.epoch;
    conn.execute("UPDATE meta SET value = ?1 WHERE key = 'epoch'", [log::int(epoch)]).map_err(failed)?;
    conn.execute(
        "INSERT INTO head_acceptance(epoch, at, by, reason, mismatch, events, sequence) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
        params![
            log::int(epoch),
            acceptance.at.0,
            acceptance.by,
            acceptance.reason,
            why,
            log::int(counters.events),
            log::int(counters.ledger.sequence)
        ],
    )
    .map_err(failed)?;
    Ok(counters)
}

/// How the store differs from what is remembered of it.
pub(super) fn mismatch(conn: &Connection, memory: &HeadFile) -> Result<Option<String>, StoreError> {
    match memory.read() {
        Ok(Memory::Nothing) => Ok(None),
        Ok(Memory::Of(known)) => log::contradiction(conn, &known),
        Ok(Memory::Unreadable) => Ok(Some("the remembered head cannot be read".into())),
        Err(e) => Ok(Some(format!("the remembered head cannot be read: {e}"))),
    }
}

fn commit(conn: &Connection) -> Result<(), StoreError> {
    let done = conn.prepare_cached("COMMIT").and_then(|mut s| s.execute([])).map_err(failed);
    if done.is_err() {
        _ = roll_back(conn);
    }
    done.map(|_| ())
}

fn roll_back(conn: &Connection) -> Result<(), StoreError> {
    if conn.is_autocommit() {
        return Ok(());
    }
    conn.execute_batch("ROLLBACK").map_err(failed)
}

impl Job {
    fn size(&self) -> usize {
        match self {
            Job::Submit { requests, .. } => requests.len().max(1),
            Job::Drop { .. } | Job::Accept { .. } => 1,
        }
    }
}

/// The writer needs a connection; see [`connect`].
impl std::fmt::Debug for Writer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Writer").field("path", &self.shared.path).finish_non_exhaustive()
    }
}

/// Opens the connection that writes.
pub(super) fn open(shared: &Shared, busy: Duration) -> Result<Connection, StoreError> {
    connect::for_writing(&shared.path, busy)
}
