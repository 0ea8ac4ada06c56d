//! Messages that came before their task are admitted by themselves once it is there, in the order they came.
//!
//! A commit admits a bounded number. Where more wait, a note in the store says where to go on, and whoever writes next
//! goes on before anything else: nothing that came later is admitted in between, by no process and after no crash.

use super::connect::{damaged, failed};
use super::quarantine::{self, Waiting};
use super::schema;
use super::write::Batch;
use crate::domain::command::{Admit, Command, Request, Verdict, handle};
use crate::domain::envelope::parse;
use crate::domain::ids::{TaskId, Timestamp};
use crate::store::StoreError;
use rusqlite::{Connection, params};
use serde::{Deserialize, Serialize};

/// Entries that one commit admits.
const ENTRIES: usize = 256;

/// Bytes of entries after which a commit admits no further.
const BYTES: usize = 16 << 20;

/// Where the note stands.
const NOTE: &str = "readmitting";

/// A task whose entries are being admitted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Readmitting {
    pub task: TaskId,
    /// The number of the last entry that was tried.
    pub after: i64,
    /// When the task began.
    pub now: Timestamp,
}

impl Readmitting {
    /// What is noted.
    pub(super) fn read(conn: &Connection) -> Result<Option<Self>, StoreError> {
        let note = schema::meta_text(conn, NOTE)?;
        let read = |text: String| serde_json::from_str(&text).map_err(|e| damaged("note", NOTE, e));
        note.map(read).transpose()
    }
}

/// What a commit admitted so far.
#[derive(Debug, Default)]
pub(super) struct Readmitted {
    entries: usize,
    bytes: usize,
}

impl Batch<'_> {
    /// Admits what waits for a task, up to what a commit may; where there is more, notes where to go on.
    pub(super) fn readmit(&mut self, from: Readmitting) -> Result<(), StoreError> {
        let Readmitting { task, mut after, now } = from;
        while let Some(waiting) = quarantine::next_waiting(self.conn, &task, after)? {
            if self.readmitted.entries >= ENTRIES || self.readmitted.bytes >= BYTES {
                return self.note(Some(Readmitting { task, after, now }));
            }
            self.readmitted.entries += 1;
            self.readmitted.bytes += waiting.bytes.len();
            after = waiting.number;
            self.readmit_one(&task, waiting, now)?;
            fail::fail_point!("store-readmitted");
        }
        self.note(None)
    }

    /// Whether what waits is admitted, so that something else may be written.
    pub(super) fn has_readmitted(&self) -> bool {
        self.counters.readmitting.is_none()
    }

    /// Notes where to go on, or that all is done.
    pub(super) fn note(&mut self, note: Option<Readmitting>) -> Result<(), StoreError> {
        if note == self.counters.readmitting {
            return Ok(());
        }
        match &note {
            None => self.conn.execute("DELETE FROM meta WHERE key = ?1", [NOTE]),
            Some(note) => {
                let text = serde_json::to_string(note)
                    .map_err(|e| StoreError::Failed(format!("a note cannot be written: {e}")))?;
                self.conn
                    .execute("INSERT OR REPLACE INTO meta(key, value) VALUES (?1, ?2)", params![NOTE, text])
            }
        }
        .map_err(failed)?;
        self.counters.readmitting = note;
        Ok(())
    }

    fn readmit_one(&mut self, id: &TaskId, waiting: Waiting, now: Timestamp) -> Result<(), StoreError> {
        // By whom it came cannot be read any more: a person must look at it.
        let Some(principal) = waiting.principal else { return Ok(()) };
        let envelope = match parse(waiting.bytes, &self.rules.limits, self.rules.default_scheme) {
            Ok(envelope) => envelope,
            Err(fault) => return self.still_aside(waiting.number, &fault),
        };
        let admit = Admit { message: Ok(envelope), source: waiting.source, readmits: None };
        let request = Request { command: Command::Admit(Box::new(admit)), principal, now };
        let (item, context) = self.load(&request, Some(id))?;
        match handle(&context, &request, self.rules) {
            Ok(Verdict::Recorded(recorded)) => {
                self.record(&request, item, &context, *recorded)?;
                self.settle(waiting.number, "tribunal", now, None)
            }
            Ok(Verdict::Quarantine(fault)) => {
                self.put_back(Some(id.clone()), context.task);
                self.still_aside(waiting.number, &fault)
            }
            Ok(Verdict::Unchanged(_)) | Err(_) => {
                self.put_back(Some(id.clone()), context.task);
                Ok(())
            }
        }
    }
}
