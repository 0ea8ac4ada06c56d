//! What the tables say of a task's events beside its snapshot: where they are, and what became of its submissions.

use super::connect::{damaged, failed};
use super::log::{self, int};
use crate::domain::event::{CommittedEffect, Decided, Delivery, Event, What};
use crate::store::StoreError;
use crate::store::rows;
use rusqlite::{Connection, ToSql, params};

/// What a row of the table is found by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A revision: every event.
    Revision = 0,
    /// An arrival: every distinct submission.
    Arrival = 1,
    /// A hash of an intent or a message id.
    Hash = 2,
}

impl ToSql for Kind {
    fn to_sql(&self) -> rusqlite::Result<rusqlite::types::ToSqlOutput<'_>> {
        Ok((*self as i64).into())
    }
}

/// Notes one event of a task; each is noted once.
pub(super) fn add(conn: &Connection, item: i64, seq: u64, event: &Event) -> Result<(), StoreError> {
    if let What::Delivered(delivery) = &event.what
        && let Some(s) = &delivery.submission
    {
        let by_intent = rows::intent_hash(s.class, &s.idempotency_key);
        let by_id = rows::message_hash(&delivery.message_id);
        return conn
            .prepare_cached(
                "INSERT OR IGNORE INTO thread(item, kind, key, seq) \
                 VALUES (?1, 0, ?2, ?6), (?1, 1, ?3, ?6), (?1, 2, ?4, ?6), (?1, 2, ?5, ?6)",
            )
            .and_then(|mut s| {
                let (revision, arrival) = (int(event.revision), int(delivery.arrival));
                s.execute(params![item, revision, arrival, by_intent, by_id, int(seq)])
            })
            .map(|_| ())
            .map_err(failed);
    }
    insert(conn, item, Kind::Revision, int(event.revision), seq)?;
    match &event.what {
        What::Delivered(delivery) => repeated(conn, item, seq, delivery),
        What::Applied { arrival, .. } => mark(conn, item, *arrival, "applied", "1", 1),
        What::Committed { effect, digest, scheme, common, arrival } => {
            let done = CommittedEffect {
                effect: effect.clone(),
                digest: *digest,
                scheme: *scheme,
                common: *common,
                arrival: *arrival,
            };
            let body = serde_json::to_vec(&done).unwrap_or_default();
            conn.prepare_cached("INSERT INTO effect(task, key, target, body) VALUES (?1, ?2, ?3, ?4)")
                .and_then(|mut s| s.execute(params![item, effect.key, effect.target, body]))
                .map_err(failed)?;
            fail::fail_point!("store-wrote-effect");
            Ok(())
        }
        What::Decided(decided) => judged(conn, item, decided),
        _ => Ok(()),
    }
}

fn insert(conn: &Connection, item: i64, kind: Kind, key: i64, seq: u64) -> Result<(), StoreError> {
    conn.prepare_cached("INSERT INTO thread(item, kind, key, seq) VALUES (?1, ?2, ?3, ?4)")
        .and_then(|mut s| s.execute(params![item, kind, key, int(seq)]))
        .map(|_| ())
        .map_err(failed)
}

/// Counts a repeat; one under a message id that is new to its submission can be found by it from now on.
fn repeated(conn: &Connection, item: i64, seq: u64, delivery: &Delivery) -> Result<(), StoreError> {
    let Some(first) = delivery.duplicate_of else { return Ok(()) };
    mark(conn, item, first, "duplicates", "duplicates + 1", 1)?;
    fail::fail_point!("store-counted-duplicate");
    if log::arrivals_of(conn, item, &delivery.message_id)?.contains(&first) {
        return Ok(());
    }
    insert(conn, item, Kind::Hash, rows::message_hash(&delivery.message_id), seq)
}

fn judged(conn: &Connection, item: i64, decided: &Decided) -> Result<(), StoreError> {
    for arrival in decided.candidates.iter().chain(&decided.held) {
        mark(conn, item, *arrival, "judged_by", "excluded.judged_by", int(decided.sequence))?;
    }
    Ok(())
}

/// Writes `first` into a column of a submission's marks, or `then` where the submission has marks.
fn mark(
    conn: &Connection,
    item: i64,
    arrival: u64,
    column: &str,
    then: &str,
    first: i64,
) -> Result<(), StoreError> {
    // A mark on nothing would be a rule gone wrong, or a log that lost something.
    let is_there = conn
        .prepare_cached("SELECT 1 FROM thread WHERE item = ?1 AND kind = ?2 AND key = ?3")
        .and_then(|mut s| s.exists(params![item, Kind::Arrival, int(arrival)]))
        .map_err(failed)?;
    if !is_there {
        return Err(damaged("message", arrival, "is not stored"));
    }
    let sql = format!(
        "INSERT INTO mark(task, arrival, {column}) VALUES (?1, ?2, ?3) \
         ON CONFLICT (task, arrival) DO UPDATE SET {column} = {then}"
    );
    conn.prepare_cached(&sql)
        .and_then(|mut s| s.execute(params![item, int(arrival), first]))
        .map(|_| ())
        .map_err(failed)
}
