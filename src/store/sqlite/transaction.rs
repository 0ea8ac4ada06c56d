//! One commit of the writer: what it must check first, what it makes of a failure, and the head it remembers after.

use super::accept;
use super::connect::failed;
use super::held::Tasks;
use super::schema;
use super::write::{Batch, Counters};
use super::writer::{KEPT, Writer};
use crate::domain::command::Rules;
use crate::domain::refusal::Refusal;
use crate::store::StoreError;
use crate::store::remembered::Memory;
use rusqlite::Connection;
use std::sync::atomic::Ordering;

/// When the tables of tasks are brought up to what a commit adds to the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tables {
    /// In the commit.
    UpToTheLog,
    /// In a later one.
    Later,
    /// They are all that the commit is about: it takes place where the store takes no other writes.
    Alone,
}

impl Writer {
    /// One commit: all that `work` writes, or nothing; before it, in commits of their own, what is left of messages that
    /// waited for their task. The inner error says that the store takes no writes now.
    pub(super) fn transaction<T>(
        &mut self,
        tables: Tables,
        work: impl FnOnce(&mut Batch<'_>) -> Result<T, StoreError>,
    ) -> Result<Result<T, Refusal>, StoreError> {
        let mut work = Some(work);
        loop {
            let known = self.unadmittable.is_some();
            match self.try_transaction(tables, &mut work) {
                Ok(Ok(None)) => {}
                Ok(Ok(Some(done))) => return Ok(Ok(done)),
                Ok(Err(refusal)) => return Ok(Err(refusal)),
                Err(e) => {
                    self.forget(&e);
                    // Only what waited failed: it is left to a person, and the work goes on.
                    if known || self.unadmittable.is_none() {
                        return Err(e);
                    }
                }
            }
        }
    }

    /// Nothing that is held in memory may outlive a failure.
    fn forget(&mut self, e: &StoreError) {
        self.tasks.clear();
        self.data_version = None;
        let kept = matches!(e, StoreError::Busy | StoreError::Full | StoreError::Damaged(_));
        if !kept || !self.conn.as_ref().is_some_and(Connection::is_autocommit) {
            self.conn = None;
        }
        self.shared.set_write_failure(Some(e.to_string()));
    }

    fn try_transaction<T>(
        &mut self,
        tables: Tables,
        work: &mut Option<impl FnOnce(&mut Batch<'_>) -> Result<T, StoreError>>,
    ) -> Result<Result<Option<T>, Refusal>, StoreError> {
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
        let done = begun.and_then(|_| self.in_transaction(&conn, tables, work));
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
            // Who follows reads tables: there is nothing for them to see before.
            if self.counters.behind_from == 0 {
                self.shared.committed();
            }
        }
        Ok(done)
    }

    fn in_transaction<T>(
        &mut self,
        conn: &Connection,
        tables: Tables,
        work: &mut Option<impl FnOnce(&mut Batch<'_>) -> Result<T, StoreError>>,
    ) -> Result<Result<Option<T>, Refusal>, StoreError> {
        self.catch_up(conn)?;
        let admits = tables != Tables::Alone;
        if let Some(why) = self.shared.mismatch().filter(|_| admits) {
            return Ok(Err(Refusal::HeadMismatch { why }));
        }
        let mut batch = Batch::new(conn, &self.rules, &mut self.counters, &mut self.tasks);
        batch.replay()?;
        if batch.tasks.len() > KEPT {
            batch.bring_up()?;
            batch.tasks.clear();
            batch.replay()?;
        }
        let done = match batch.counters.readmitting.clone().filter(|_| admits) {
            Some(next) if self.unadmittable.take().as_ref() == Some(&next.task) => {
                batch.note(None)?;
                None
            }
            Some(next) => {
                let task = next.task.clone();
                let done = batch.readmit(next);
                if matches!(done, Err(StoreError::Damaged(_))) {
                    self.unadmittable = Some(task);
                }
                done.map(|()| None)?
            }
            None => work.take().map(|work| work(&mut batch)).transpose()?,
        };
        batch.finish(tables == Tables::Later)?;
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
        let (before, epoch) = (self.counters.events, self.counters.epoch);
        self.tasks.clear();
        self.counters = Counters::read(conn, &self.shared.store_id)?;
        // Another process in which a person accepted the head remembered it before it committed that.
        let accepted = self.counters.epoch > epoch
            && matches!(self.memory.read(), Ok(Memory::Of(known)) if known.epoch == self.counters.epoch);
        if self.shared.mismatch().is_none() || accepted {
            self.shared.set_mismatch(accept::mismatch(conn, &self.memory)?);
        }
        if self.shared.mismatch().is_none() && self.counters.events < before && !accepted {
            let now = self.counters.events;
            self.shared
                .set_mismatch(Some(format!("log shorter than before: it had {before} events and has {now}")));
        }
        self.data_version = Some(version);
        Ok(())
    }

    /// Notes the head outside the store, before anybody hears of the commit.
    fn remember(&mut self) {
        let now = self.counters.remembered();
        // A head that nobody accepted is not what is remembered, whoever wrote it.
        let noted = match self.shared.mismatch() {
            Some(_) => Ok(()),
            None => self.memory.advance(&now),
        };
        // What was committed is committed; but a loss could go unnoticed from here on, and a person must know.
        let failure = noted.err().map(|e| format!("stored, but the head could not be remembered: {e}"));
        self.shared.set_write_failure(failure);
    }
}

pub(super) fn commit(conn: &Connection) -> Result<(), StoreError> {
    let done = conn.prepare_cached("COMMIT").and_then(|mut s| s.execute([])).map_err(failed);
    if done.is_err() {
        _ = roll_back(conn);
    }
    done.map(|_| ())
}

pub(super) fn roll_back(conn: &Connection) -> Result<(), StoreError> {
    if conn.is_autocommit() {
        return Ok(());
    }
    conn.execute_batch("ROLLBACK").map_err(failed)
}

/// Brings up the tables that a process which ended in the middle left behind the log, and makes the docket anew where it
/// was made under other thresholds. Gives why that cannot be done: there is no room, somebody else writes, something is
/// damaged. What is there can be read all the same.
pub(super) fn prepare(conn: &Connection, rules: &Rules) -> Option<StoreError> {
    let behind = || if schema::behind_from(conn)? > 0 { bring_up_now(conn, rules) } else { Ok(()) };
    let done = behind().and_then(|()| schema::fit_docket(conn, &rules.thresholds));
    // The error that led here says more than one about rolling back could.
    _ = roll_back(conn);
    done.err()
}

fn bring_up_now(conn: &Connection, rules: &Rules) -> Result<(), StoreError> {
    conn.execute_batch("BEGIN IMMEDIATE").map_err(failed)?;
    let mut counters = Counters::read(conn, "")?;
    let mut tasks = Tasks::default();
    let mut batch = Batch::new(conn, rules, &mut counters, &mut tasks);
    batch.replay()?;
    batch.finish(false)?;
    commit(conn)
}
