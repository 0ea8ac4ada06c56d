//! Messages put aside: entries, their repeats and their settling, each with its place in feed and docket.

use super::connect::{damaged, failed};
use super::log::{bound, digest, int};
use super::schema::put_attention;
use super::write::Batch;
use crate::domain::actor::Principal;
use crate::domain::attention::{Attention, Reason, Stuck};
use crate::domain::command::Request;
use crate::domain::digest::Digest;
use crate::domain::envelope::{Fault, Named, QuarantineReason};
use crate::domain::ids::{TaskId, Timestamp};
use crate::store::rows::{code, decode, words_of_entry};
use crate::store::{Entry, EntryState, StoreError};
use rusqlite::{Connection, OptionalExtension, Row, params};
use serde::Serialize;
use std::sync::Arc;

/// Reasons, by code.
const REASONS: [QuarantineReason; 10] = [
    QuarantineReason::Malformed,
    QuarantineReason::MissingMember,
    QuarantineReason::UnsupportedSchema,
    QuarantineReason::LimitExceeded,
    QuarantineReason::DigestMismatch,
    QuarantineReason::UnknownDigestScheme,
    QuarantineReason::Undigestable,
    QuarantineReason::SenderMismatch,
    QuarantineReason::TraceMismatch,
    QuarantineReason::MissingTask,
];

/// What the log says of an entry.
#[derive(Serialize)]
#[serde(tag = "quarantine", rename_all = "snake_case")]
enum Change<'a> {
    Opened { at: Timestamp, reason: QuarantineReason, bytes_digest: Digest },
    Readmitted { at: Timestamp, by: &'a str },
    Dropped { at: Timestamp, by: &'a str, reason: &'a str },
}

/// An entry's name.
pub(super) fn name(number: u64) -> String {
    format!("Q-{number}")
}

/// The number in an entry's name.
pub(super) fn number(id: &str) -> Option<i64> {
    let digits = id.strip_prefix("Q-").filter(|d| d.bytes().all(|b| b.is_ascii_digit()))?;
    digits.parse().ok().filter(|n| *n > 0)
}

const COLUMNS: &str = "SELECT number, reason, detail, message_id, task_id, sender, source, principal, \
    received_at, last_received_at, count, settled, settled_by, settled_at, settled_why, digest, length(bytes) \
    FROM quarantine ";

fn entry_of(row: &Row<'_>) -> Result<Entry, StoreError> {
    let number: i64 = row.get(0).map_err(failed)?;
    let text = |column: usize| row.get::<_, Option<String>>(column).map_err(failed);
    let count = |column: usize| row.get::<_, i64>(column).map(i64::unsigned_abs).map_err(failed);
    let time = |column: usize| row.get(column).map(Timestamp).map_err(failed);
    let reason = decode(&REASONS, row.get(1).map_err(failed)?)
        .ok_or_else(|| damaged("quarantine entry", number, "unknown reason"))?;
    let by = text(12)?.unwrap_or_default();
    let state = match row.get::<_, i64>(11).map_err(failed)? {
        0 => EntryState::Open,
        1 => EntryState::Readmitted { by, at: time(13)? },
        _ => EntryState::Dropped { by, at: time(13)?, reason: text(14)?.unwrap_or_default() },
    };
    let principal: Principal = serde_json::from_str(&text(7)?.unwrap_or_default())
        .map_err(|e| damaged("quarantine entry", number, e))?;
    let digest_bytes: Vec<u8> = row.get(15).map_err(failed)?;
    Ok(Entry {
        id: name(number.unsigned_abs()),
        number: number.unsigned_abs(),
        reason,
        detail: text(2)?.unwrap_or_default(),
        named: Named { message_id: text(3)?, task_id: text(4)?, sender: text(5)? },
        source: text(6)?.unwrap_or_default(),
        submitted_by: principal.subject,
        received_at: time(8)?,
        last_received_at: time(9)?,
        count: count(10)?,
        size: count(16)?,
        bytes_digest: digest(&digest_bytes)?,
        state,
    })
}

/// A page of entries, oldest first.
pub(super) fn page(
    conn: &Connection,
    after: u64,
    limit: usize,
    settled_too: bool,
) -> Result<Vec<Entry>, StoreError> {
    let open = if settled_too { "" } else { "AND settled = 0" };
    let sql = format!("{COLUMNS} WHERE number > ?1 {open} ORDER BY number LIMIT ?2");
    let mut find = conn.prepare_cached(&sql).map_err(failed)?;
    let mut rows = find.query(params![int(after), bound(limit)]).map_err(failed)?;
    let mut found = Vec::new();
    while let Some(row) = rows.next().map_err(failed)? {
        found.push(entry_of(row)?);
    }
    Ok(found)
}

/// One entry.
pub(super) fn entry(conn: &Connection, number: i64) -> Result<Option<Entry>, StoreError> {
    let mut find = conn.prepare_cached(&format!("{COLUMNS} WHERE number = ?1")).map_err(failed)?;
    let mut rows = find.query([number]).map_err(failed)?;
    rows.next().map_err(failed)?.map(|row| entry_of(row)).transpose()
}

/// An entry's bytes.
pub(super) fn bytes(conn: &Connection, number: i64) -> Result<Option<Arc<[u8]>>, StoreError> {
    conn.prepare_cached("SELECT bytes FROM quarantine WHERE number = ?1")
        .and_then(|mut s| s.query_row([number], |r| Ok(Arc::from(r.get_ref(0)?.as_blob()?))).optional())
        .map_err(failed)
}

/// Whether an entry is there and open.
pub(super) fn is_open(conn: &Connection, number: i64) -> Result<bool, StoreError> {
    conn.prepare_cached("SELECT 1 FROM quarantine WHERE number = ?1 AND settled = 0")
        .and_then(|mut s| s.exists([number]))
        .map_err(failed)
}

/// An open entry that waits for its task.
pub(super) struct Waiting {
    pub number: i64,
    /// By whom it was delivered; `None` where that cannot be read.
    pub principal: Option<Principal>,
    pub source: String,
    pub bytes: Arc<[u8]>,
}

/// The next entry after `after` that waits for a task, in the order of reception.
pub(super) fn next_waiting(
    conn: &Connection,
    task: &TaskId,
    after: i64,
) -> Result<Option<Waiting>, StoreError> {
    let row: Option<(i64, String, String, Arc<[u8]>)> = conn
        .prepare_cached(
            "SELECT number, principal, source, bytes FROM quarantine \
             WHERE task_id = ?1 AND number > ?2 AND settled = 0 AND reason = ?3 ORDER BY number LIMIT 1",
        )
        .and_then(|mut s| {
            let reason = code(&REASONS, &QuarantineReason::MissingTask);
            s.query_row(params![task.as_str(), after, reason], |r| {
                Ok((r.get(0)?, r.get(1)?, r.get(2)?, Arc::from(r.get_ref(3)?.as_blob()?)))
            })
            .optional()
        })
        .map_err(failed)?;
    let Some((number, principal, source, bytes)) = row else { return Ok(None) };
    let principal = serde_json::from_str(&principal).ok();
    Ok(Some(Waiting { number, principal, source, bytes }))
}

impl Batch<'_> {
    /// Puts bytes aside; the same bytes again count on the open entry. Gives the entry's number.
    pub(super) fn put_aside(
        &mut self,
        request: &Request,
        fault: &Fault,
        raw: &[u8],
        source: &str,
    ) -> Result<u64, StoreError> {
        let bytes_digest = Digest::of_bytes(raw);
        let again: Option<i64> = self
            .conn
            .prepare_cached(
                "UPDATE quarantine SET count = count + 1, last_received_at = ?2 \
                 WHERE digest = ?1 AND settled = 0 RETURNING number",
            )
            .and_then(|mut s| {
                s.query_row(params![bytes_digest.as_bytes(), request.now.0], |r| r.get(0)).optional()
            })
            .map_err(failed)?;
        if let Some(number) = again {
            return Ok(number.unsigned_abs());
        }
        self.counters.entries += 1;
        let number = self.counters.entries;
        let principal = serde_json::to_string(&request.principal).unwrap_or_default();
        let n = &fault.named;
        self.conn
            .prepare_cached(
                "INSERT INTO quarantine(number, reason, detail, message_id, task_id, sender, source, principal, \
                 received_at, last_received_at, count, settled, digest, bytes) \
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?9, 1, 0, ?10, ?11)",
            )
            .and_then(|mut s| {
                s.execute(params![
                    int(number),
                    code(&REASONS, &fault.reason),
                    fault.detail,
                    n.message_id,
                    n.task_id,
                    n.sender,
                    source,
                    principal,
                    request.now.0,
                    bytes_digest.as_bytes(),
                    raw
                ])
            })
            .map_err(failed)?;
        fail::fail_point!("store-wrote-quarantine");
        let change = Change::Opened { at: request.now, reason: fault.reason, bytes_digest };
        self.append(-int(number), 1, None, &change, None)?;
        self.describe_entry(int(number))?;
        let attention = Attention {
            reason: Reason::Stuck,
            stuck: Some(Stuck::Quarantined),
            since: request.now,
            until: None,
        };
        put_attention(self.conn, -int(number), &[attention], None)?;
        Ok(number)
    }

    fn describe_entry(&self, number: i64) -> Result<(), StoreError> {
        let Some(entry) = entry(self.conn, number)? else { return Ok(()) };
        self.conn
            .prepare_cached("INSERT OR REPLACE INTO words(item, text) VALUES (?1, ?2)")
            .and_then(|mut s| s.execute(params![-number, words_of_entry(&entry)]))
            .map(|_| ())
            .map_err(failed)
    }

    /// An entry that was tried again by itself and is still no good says why now.
    pub(super) fn still_aside(&mut self, number: i64, fault: &Fault) -> Result<(), StoreError> {
        self.conn
            .prepare_cached("UPDATE quarantine SET reason = ?2, detail = ?3 WHERE number = ?1")
            .and_then(|mut s| s.execute(params![number, code(&REASONS, &fault.reason), fault.detail]))
            .map_err(failed)?;
        self.describe_entry(number)
    }

    /// Settles an open entry: admitted after all, or dropped where there is a reason to.
    pub(super) fn settle(
        &mut self,
        number: i64,
        by: &str,
        at: Timestamp,
        dropped: Option<&str>,
    ) -> Result<(), StoreError> {
        let state = if dropped.is_some() { 2 } else { 1 };
        let changed = self
            .conn
            .prepare_cached(
                "UPDATE quarantine SET settled = ?2, settled_by = ?3, settled_at = ?4, settled_why = ?5 \
                 WHERE number = ?1 AND settled = 0",
            )
            .and_then(|mut s| s.execute(params![number, state, by, at.0, dropped]))
            .map_err(failed)?;
        if changed != 1 {
            return Err(damaged("quarantine entry", number, "was settled by another writer"));
        }
        let change = match dropped {
            Some(reason) => Change::Dropped { at, by, reason },
            None => Change::Readmitted { at, by },
        };
        self.append(-number, 2, None, &change, None)?;
        self.conn
            .prepare_cached("DELETE FROM docket WHERE item = ?1")
            .and_then(|mut s| s.execute([-number]))
            .map(|_| ())
            .map_err(failed)
    }
}
