//! A head that is not the remembered one: how it differs, and a person who accepts it.

use super::connect::failed;
use super::log;
use super::transaction::{commit, roll_back};
use super::write::Counters;
use super::writer::Writer;
use crate::store::remembered::{HeadFile, Memory};
use crate::store::{Acceptance, StoreError};
use rusqlite::{Connection, params};
use std::io;

impl Writer {
    /// A person accepts the head as it is: a new epoch begins, and it is what is remembered from now on.
    pub(super) fn accept(&mut self, acceptance: &Acceptance) -> Result<(), StoreError> {
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
        // Remembered first: whoever sees the commit must find it accepted. Where that fails, the epoch that is remembered
        // has no store, and nothing is accepted.
        let stored =
            store_acceptance(conn, &self.shared.store_id, acceptance, why, known).and_then(|counters| {
                self.memory.accept(&counters.remembered()).map_err(unremembered)?;
                Ok(counters)
            });
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
        self.shelf.put_store_at(&self.shared.path, &self.shared.store_id).map_err(unremembered)?;
        self.shared.committed();
        Ok(())
    }
}

fn unremembered(e: io::Error) -> StoreError {
    StoreError::Failed(format!("the head cannot be remembered: {e}"))
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
    differs(conn, memory.read())
}

/// The same, of a memory that was read already.
pub(super) fn differs(conn: &Connection, memory: io::Result<Memory>) -> Result<Option<String>, StoreError> {
    match memory {
        Ok(Memory::Nothing) => Ok(None),
        Ok(Memory::Of(known)) => log::contradiction(conn, &known),
        Ok(Memory::Unreadable) => Ok(Some("the remembered head cannot be read".into())),
        Err(e) => Ok(Some(format!("the remembered head cannot be read: {e}"))),
    }
}
