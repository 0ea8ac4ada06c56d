//! The schema and its versions: each step one transaction that also writes the version, so a crash leaves old or new.

use super::connect::{APPLICATION_ID, failed};
use crate::domain::attention::{self, Thresholds};
use crate::domain::ids::Timestamp;
use crate::domain::task::Task;
use crate::store::StoreError;
use crate::store::rows::{self, Columns, NEVER, NOT_STUCK, code};
use rusqlite::{Connection, OptionalExtension, params};
use std::path::Path;
use std::time::{Duration, Instant};

/// Every step from an empty file on; the version is how many were taken.
const STEPS: [&str; 1] = [include_str!("../migrations/sqlite/0001_begin.sql")];

/// Bytes of a page of a new file. A commit writes whole pages, each with two calls, and a message with its event takes
/// about half of such a one: with the engine's own 4,096, a quarter of what is written is left empty.
const PAGE_BYTES: i64 = 8192;

/// Whether the file holds nothing yet.
pub(super) fn is_blank(conn: &Connection) -> Result<bool, StoreError> {
    let tables: i64 =
        conn.query_row("SELECT count(*) FROM sqlite_schema", [], |r| r.get(0)).map_err(failed)?;
    Ok(tables == 0 && number(conn, "application_id")? == 0)
}

/// Bytes of a page of this file.
pub(super) fn page_bytes(conn: &Connection) -> Result<i64, StoreError> {
    number(conn, "page_size")
}

fn number(conn: &Connection, pragma: &str) -> Result<i64, StoreError> {
    conn.pragma_query_value(None, pragma, |r| r.get(0)).map_err(failed)
}

/// Refuses a file that is not ours, or that a newer program wrote.
pub(super) fn check(conn: &Connection, path: &Path) -> Result<(), StoreError> {
    let ours = number(conn, "application_id")? == i64::from(APPLICATION_ID);
    if !ours {
        return Err(StoreError::Incompatible(format!("{} is not a tribunal store", path.display())));
    }
    let (found, known) = (number(conn, "user_version")?, STEPS.len());
    if usize::try_from(found).is_ok_and(|v| v <= known) {
        return Ok(());
    }
    Err(StoreError::Incompatible(format!(
        "{} was written by a newer tribunal (schema {found}, this one knows {known}): update this program",
        path.display()
    )))
}

/// Refuses a file that would have to be migrated first.
pub(super) fn check_migrated(conn: &Connection, path: &Path) -> Result<(), StoreError> {
    if usize::try_from(number(conn, "user_version")?) == Ok(STEPS.len()) {
        return Ok(());
    }
    let why = "was written by an older tribunal, and cannot be updated while it is read-only";
    Err(StoreError::Incompatible(format!("{} {why}", path.display())))
}

/// Takes every step that is still to be taken. Several processes may try at once: one does it, the others see it done.
pub(super) fn migrate(conn: &Connection, busy: Duration) -> Result<(), StoreError> {
    // Only a file that is still empty takes it.
    conn.pragma_update(None, "page_size", PAGE_BYTES).map_err(failed)?;
    use_a_log(conn, busy)?;
    // Most files are as they should be: seen without the lock, which somebody may hold for a while.
    while usize::try_from(number(conn, "user_version")?) != Ok(STEPS.len()) {
        conn.execute_batch("BEGIN IMMEDIATE").map_err(failed)?;
        match step(conn) {
            Ok(more) => {
                conn.execute_batch("COMMIT").map_err(failed).and(if more { Ok(()) } else { return Ok(()) })?
            }
            Err(e) => {
                // The error that led here says more than one about rolling back could.
                _ = conn.execute_batch("ROLLBACK");
                return Err(e);
            }
        }
        fail::fail_point!("store-migrated");
    }
    Ok(())
}

fn use_a_log(conn: &Connection, busy: Duration) -> Result<(), StoreError> {
    let began = Instant::now();
    loop {
        let mode: Result<String, _> =
            conn.pragma_update_and_check(None, "journal_mode", "wal", |r| r.get(0)).map_err(failed);
        match mode {
            Ok(mode) if mode == "wal" => return Ok(()),
            Ok(mode) => {
                let why = format!("no write-ahead log can be used there (mode {mode})");
                return Err(StoreError::Unreachable(why));
            }
            // Somebody else makes the same file at this moment. The engine does not wait for them here; where a
            // transaction begins it does.
            Err(StoreError::Busy) if began.elapsed() < busy => {
                conn.execute_batch("BEGIN IMMEDIATE; ROLLBACK").map_err(failed)?;
            }
            Err(e) => return Err(e),
        }
    }
}

fn step(conn: &Connection) -> Result<bool, StoreError> {
    let version = number(conn, "user_version")?;
    let Some(sql) = usize::try_from(version).ok().and_then(|v| STEPS.get(v)) else { return Ok(false) };
    conn.execute_batch(sql).map_err(failed)?;
    fail::fail_point!("store-migrating");
    if version == 0 {
        conn.pragma_update(None, "application_id", APPLICATION_ID).map_err(failed)?;
        let id = uuid::Uuid::now_v7().to_string();
        conn.execute(
            "INSERT INTO meta(key, value) VALUES ('store_id', ?1), ('epoch', 1), ('behind_from', 0)",
            [id],
        )
        .map_err(failed)?;
    }
    conn.pragma_update(None, "user_version", version + 1).map_err(failed)?;
    fail::fail_point!("store-before-migration-commit");
    Ok(true)
}

/// A text from the store's own table.
pub(super) fn meta_text(conn: &Connection, key: &str) -> Result<Option<String>, StoreError> {
    conn.prepare_cached("SELECT value FROM meta WHERE key = ?1")
        .and_then(|mut s| s.query_row([key], |r| r.get(0)).optional())
        .map_err(failed)
}

/// A number there, which every store has.
fn meta_number(conn: &Connection, key: &str) -> Result<u64, StoreError> {
    let number: i64 = conn
        .prepare_cached("SELECT value FROM meta WHERE key = ?1")
        .and_then(|mut s| s.query_row([key], |r| r.get(0)))
        .map_err(failed)?;
    Ok(number.unsigned_abs())
}

/// The feed's epoch.
pub(super) fn epoch(conn: &Connection) -> Result<u64, StoreError> {
    meta_number(conn, "epoch")
}

/// The first event whose task's tables may be behind the log; 0 where none is.
pub(super) fn behind_from(conn: &Connection) -> Result<u64, StoreError> {
    meta_number(conn, "behind_from")
}

/// Notes it.
pub(super) fn set_behind_from(conn: &Connection, first: u64) -> Result<(), StoreError> {
    conn.prepare_cached("UPDATE meta SET value = ?1 WHERE key = 'behind_from'")
        .and_then(|mut s| s.execute([super::log::int(first)]))
        .map(|_| ())
        .map_err(failed)
}

/// Makes the docket anew where it was made under other thresholds.
pub(super) fn fit_docket(conn: &Connection, thresholds: &Thresholds) -> Result<(), StoreError> {
    let wanted = serde_json::to_string(thresholds).unwrap_or_default();
    if meta_text(conn, "thresholds")?.as_deref() == Some(&wanted) {
        return Ok(());
    }
    conn.execute_batch("BEGIN IMMEDIATE").map_err(failed)?;
    let done =
        rebuild_docket(conn, thresholds, &wanted).and_then(|()| conn.execute_batch("COMMIT").map_err(failed));
    if done.is_err() {
        _ = conn.execute_batch("ROLLBACK");
    }
    done
}

fn rebuild_docket(conn: &Connection, thresholds: &Thresholds, wanted: &str) -> Result<(), StoreError> {
    conn.execute("DELETE FROM docket WHERE item > 0", []).map_err(failed)?;
    let mut all = conn.prepare("SELECT id, body FROM snapshot").map_err(failed)?;
    let mut found = all.query([]).map_err(failed)?;
    while let Some(row) = found.next().map_err(failed)? {
        let item: i64 = row.get(0).map_err(failed)?;
        let body = row.get_ref(1).and_then(|b| Ok(b.as_blob()?)).map_err(failed)?;
        let task: Task =
            serde_json::from_slice(body).map_err(|e| super::connect::damaged("task", item, e))?;
        put_attention(conn, item, &attention::of(&task, thresholds), Some(&Columns::of(&task)))?;
    }
    conn.execute("INSERT OR REPLACE INTO meta(key, value) VALUES ('thresholds', ?1)", [wanted])
        .map_err(failed)?;
    Ok(())
}

/// Writes an item's docket rows, with what its task is ordered by; those before are gone already. An entry has no task.
pub(super) fn put_attention(
    conn: &Connection,
    item: i64,
    rows: &[attention::Attention],
    task: Option<&Columns>,
) -> Result<(), StoreError> {
    let urgency = task.map_or(rows::urgency(0), |c| c.urgency);
    let deadline = task.map(|c| c.deadline).filter(|t| *t != NEVER);
    let decided = task.is_some_and(|c| c.decided);
    for row in rows {
        let until = row.until.map_or(NEVER, |Timestamp(t)| t);
        let stuck = row.stuck.map_or(NOT_STUCK, |s| code(&attention::Stuck::ALL, &s));
        let reason = rows::reason_code(Some(row.reason));
        conn.prepare_cached(
            "INSERT INTO docket(item, since, until, reason, stuck, urgency, deadline, decided) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
        )
        .and_then(|mut s| {
            s.execute(params![item, row.since.0, until, reason, stuck, urgency, deadline, decided])
        })
        .map_err(failed)?;
    }
    Ok(())
}
