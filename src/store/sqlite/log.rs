//! Reads tasks, submissions, events, records and heads; the same for the writer inside its transaction and for readers.

use super::connect::{damaged, failed};
use super::schema;
use crate::domain::command::{Replay, Stored};
use crate::domain::digest::Digest;
use crate::domain::envelope::Class;
use crate::domain::event::{CommittedEffect, Event, Message, Outcome};
use crate::domain::ids::TaskId;
use crate::domain::ledger::{Head, Record};
use crate::domain::task::Task;
use crate::store::remembered::Remembered;
use crate::store::rows::{intent_hash, message_hash};
use crate::store::{Sequenced, StoreError, StoreHead};
use rusqlite::{Connection, OptionalExtension, Params, Row, params};
use serde::Deserialize;
use std::sync::Arc;

/// The most rows any read gives at once.
pub(super) const PAGE: usize = 1000;

/// Numbers as SQLite keeps them. Ours never come near the top bit.
pub(super) fn int(n: u64) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}

/// A bounded number of rows, as SQLite takes it.
pub(super) fn bound(limit: usize) -> i64 {
    i64::try_from(limit.min(PAGE)).unwrap_or(i64::MAX)
}

/// Every row that a statement gives, as `read` takes it.
pub(super) fn all<T, C: FromIterator<T>>(
    conn: &Connection,
    sql: &str,
    values: impl Params,
    read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
) -> Result<C, StoreError> {
    conn.prepare_cached(sql).and_then(|mut s| s.query_map(values, read)?.collect()).map_err(failed)
}

/// A task and its number here.
pub(super) fn task(conn: &Connection, id: &TaskId) -> Result<Option<(i64, Task)>, StoreError> {
    let mut find = conn
        .prepare_cached("SELECT s.id, s.body FROM task t JOIN snapshot s ON s.id = t.id WHERE t.task_id = ?1")
        .map_err(failed)?;
    let mut rows = find.query([id.as_str()]).map_err(failed)?;
    rows.next().map_err(failed)?.map(|row| snapshot(row)).transpose()
}

fn snapshot(row: &Row<'_>) -> Result<(i64, Task), StoreError> {
    let id: i64 = row.get(0).map_err(failed)?;
    let body = row.get_ref(1).and_then(|b| Ok(b.as_blob()?)).map_err(failed)?;
    let task = serde_json::from_slice(body).map_err(|e| damaged("task", id, e))?;
    Ok((id, task))
}

/// The task with a number.
pub(super) fn task_numbered(conn: &Connection, item: i64) -> Result<Option<Task>, StoreError> {
    let mut find = conn.prepare_cached("SELECT id, body FROM snapshot WHERE id = ?1").map_err(failed)?;
    let mut rows = find.query([item]).map_err(failed)?;
    Ok(rows.next().map_err(failed)?.map(|row| snapshot(row)).transpose()?.map(|(_, task)| task))
}

/// A task's number.
pub(super) fn number_of(conn: &Connection, id: &TaskId) -> Result<Option<i64>, StoreError> {
    conn.prepare_cached("SELECT id FROM task WHERE task_id = ?1")
        .and_then(|mut s| s.query_row([id.as_str()], |r| r.get(0)).optional())
        .map_err(failed)
}

/// A task's id by its number.
pub(super) fn name_of(conn: &Connection, item: i64) -> Result<Option<TaskId>, StoreError> {
    conn.prepare_cached("SELECT task_id FROM task WHERE id = ?1")
        .and_then(|mut s| s.query_row([item], |r| r.get(0)).optional())
        .map(|id: Option<String>| id.map(TaskId))
        .map_err(failed)
}

/// Events of a task that are looked through for what is asked of them; what comes after these is found by an index. The
/// statements and the schema say this number, too.
pub(super) const NEAR: u64 = 64;

/// Every hash that finds one of the near deliveries of a task.
pub(super) fn hashes(conn: &Connection, item: i64) -> Result<Vec<i64>, StoreError> {
    let sql = "SELECT intent, name FROM thread WHERE item = ?1 AND revision <= 64 AND name IS NOT NULL";
    let found: Vec<[Option<i64>; 2]> = all(conn, sql, [item], |r| Ok([r.get(0)?, r.get(1)?]))?;
    Ok(found.into_iter().flatten().flatten().collect())
}

/// An event of a task at its place in the log.
#[derive(Debug)]
pub(super) struct Place {
    pub seq: u64,
    pub item: i64,
    pub task_id: Option<String>,
    pub event: Event,
}

/// The events of tasks from a place in the log on.
pub(super) fn places_from(conn: &Connection, first: u64) -> Result<Vec<Place>, StoreError> {
    let mut find = conn
        .prepare_cached(
            "SELECT seq, item, task_id, body FROM event WHERE seq >= ?1 AND item > 0 ORDER BY seq",
        )
        .map_err(failed)?;
    let mut rows = find.query([int(first)]).map_err(failed)?;
    let mut found = Vec::new();
    while let Some(row) = rows.next().map_err(failed)? {
        let seq: i64 = row.get(0).map_err(failed)?;
        let body = row.get_ref(3).and_then(|b| Ok(b.as_blob()?)).map_err(failed)?;
        found.push(Place {
            seq: seq.unsigned_abs(),
            item: row.get(1).map_err(failed)?,
            task_id: row.get(2).map_err(failed)?,
            event: serde_json::from_slice(body).map_err(|e| damaged("event", seq, e))?,
        });
    }
    Ok(found)
}

/// What is selected from the thread of a task ?1 and the submission there that arrived as ?2: near first, then far. A
/// join goes from the thread on, whatever the engine thinks.
macro_rules! at_arrival {
    ($select:expr, $joins:expr) => {
        concat!(
            "SELECT ",
            $select,
            " FROM thread t ",
            $joins,
            " WHERE t.item = ?1 AND t.revision <= 64 AND t.arrival = ?2 UNION ALL SELECT ",
            $select,
            " FROM thread t INDEXED BY thread_by_arrival ",
            $joins,
            " WHERE t.item = ?1 AND t.revision > 64 AND t.arrival = ?2"
        )
    };
}

/// Everything of a submission, in this order; `e.body` is the event that says what it said.
macro_rules! submission {
    () => {
        "t.arrival, coalesce(m.applied, 0), coalesce(m.duplicates, 0), a.approval_id, e.body"
    };
}

/// Where everything of a submission is.
macro_rules! its_joins {
    () => {
        "CROSS JOIN event e ON e.seq = t.seq LEFT JOIN mark m ON m.task = t.item AND m.arrival = t.arrival \
         LEFT JOIN approval a ON a.sequence = m.judged_by"
    };
}

/// Whether a task's table says of a submission that it arrived.
pub(super) fn has_arrival(conn: &Connection, task: i64, arrival: u64) -> Result<bool, StoreError> {
    conn.prepare_cached(at_arrival!("1", ""))
        .and_then(|mut s| s.exists(params![task, int(arrival)]))
        .map_err(failed)
}

fn stored(row: &Row<'_>) -> Result<Stored, StoreError> {
    let arrival: i64 = row.get(0).map_err(failed)?;
    let body = row.get_ref(4).and_then(|b| Ok(b.as_blob()?)).map_err(failed)?;
    let Heard { outcome, message: Message::New(submission) } = heard(body)? else {
        return Err(damaged("message", arrival, "its event holds no submission"));
    };
    let duplicates: i64 = row.get(2).map_err(failed)?;
    Ok(Stored {
        submission,
        outcome,
        applied: row.get(1).map_err(failed)?,
        duplicates: duplicates.unsigned_abs(),
        judged_by: row.get(3).map_err(failed)?,
    })
}

/// What is read of a delivery's event. Not the conflict it joined: that may name a thousand others, and a thousand such
/// deliveries are read for the next.
#[derive(Deserialize)]
pub(super) struct Heard {
    pub outcome: Outcome,
    pub message: Message,
}

fn heard(body: &[u8]) -> Result<Heard, StoreError> {
    serde_json::from_slice(body).map_err(|e| damaged("event", "of a delivery", e))
}

/// The submissions of a task with these arrivals, ascending.
pub(super) fn submissions_of(
    conn: &Connection,
    task: i64,
    arrivals: &[u64],
) -> Result<Vec<Stored>, StoreError> {
    let mut wanted = arrivals.to_vec();
    wanted.sort_unstable();
    wanted.dedup();
    let mut find = conn.prepare_cached(at_arrival!(submission!(), its_joins!())).map_err(failed)?;
    let mut found = Vec::with_capacity(wanted.len());
    for arrival in wanted {
        let mut rows = find.query(params![task, int(arrival)]).map_err(failed)?;
        if let Some(row) = rows.next().map_err(failed)? {
            found.push(stored(row)?);
        }
    }
    Ok(found)
}

/// A page of a task's submissions, by arrival.
pub(super) fn submissions(
    conn: &Connection,
    task: i64,
    after: u64,
    limit: usize,
) -> Result<Vec<Stored>, StoreError> {
    let mut found = Vec::new();
    for sql in PAGE_OF_SUBMISSIONS {
        let wanted = limit.min(PAGE).saturating_sub(found.len());
        let mut find = conn.prepare_cached(sql).map_err(failed)?;
        let mut rows = find.query(params![task, int(after), bound(wanted)]).map_err(failed)?;
        while let Some(row) = rows.next().map_err(failed)? {
            found.push(stored(row)?);
        }
    }
    Ok(found)
}

/// The statements behind [`submissions`], near and far: arrivals grow with revisions.
pub(super) const PAGE_OF_SUBMISSIONS: [&str; 2] = [
    concat!(
        "SELECT ",
        submission!(),
        " FROM thread t ",
        its_joins!(),
        " WHERE t.item = ?1 AND t.revision <= 64 AND t.arrival > ?2 ORDER BY t.revision LIMIT ?3"
    ),
    concat!(
        "SELECT ",
        submission!(),
        " FROM thread t INDEXED BY thread_by_arrival ",
        its_joins!(),
        " WHERE t.item = ?1 AND t.revision > 64 AND t.arrival > ?2 ORDER BY t.arrival LIMIT ?3"
    ),
];

/// The statement behind [`probe`].
pub(super) const PROBE: &str = "SELECT e.body FROM thread t CROSS JOIN event e ON e.seq = t.seq \
     WHERE t.item = ?1 AND t.revision <= 64 AND ?2 IN (t.intent, t.name) \
     UNION ALL SELECT e.body FROM thread t INDEXED BY thread_by_intent CROSS JOIN event e ON e.seq = t.seq \
     WHERE t.item = ?1 AND t.revision > 64 AND t.intent = ?2 \
     UNION ALL SELECT e.body FROM thread t INDEXED BY thread_by_name CROSS JOIN event e ON e.seq = t.seq \
     WHERE t.item = ?1 AND t.revision > 64 AND t.name = ?2 AND t.intent IS NOT ?2";

/// The deliveries that a hash finds: distinct submissions, and repeats under another message id.
pub(super) fn probe(conn: &Connection, task: i64, hash: i64) -> Result<Vec<Heard>, StoreError> {
    let mut find = conn.prepare_cached(PROBE).map_err(failed)?;
    let mut rows = find.query(params![task, hash]).map_err(failed)?;
    let mut found = Vec::new();
    while let Some(row) = rows.next().map_err(failed)? {
        let body = row.get_ref(0).and_then(|b| Ok(b.as_blob()?)).map_err(failed)?;
        found.push(heard(body)?);
    }
    Ok(found)
}

/// Every submission of an intent, ascending.
pub(super) fn of_intent(
    conn: &Connection,
    task: i64,
    class: Class,
    key: &str,
) -> Result<Vec<Stored>, StoreError> {
    let mut marks = conn
        .prepare_cached(
            "SELECT m.applied, m.duplicates, a.approval_id FROM mark m \
             LEFT JOIN approval a ON a.sequence = m.judged_by WHERE m.task = ?1 AND m.arrival = ?2",
        )
        .map_err(failed)?;
    let mut found = Vec::new();
    for Heard { outcome, message } in probe(conn, task, intent_hash(class, key))? {
        let Message::New(submission) = message else { continue };
        if submission.class != class || submission.idempotency_key != key {
            continue;
        }
        let marked = marks
            .query_row(params![task, int(submission.arrival)], |r| {
                Ok((r.get(0)?, r.get::<_, i64>(1)?.unsigned_abs(), r.get(2)?))
            })
            .optional()
            .map_err(failed)?;
        let (applied, duplicates, judged_by) = marked.unwrap_or_default();
        found.push(Stored { submission, outcome, applied, duplicates, judged_by });
    }
    found.sort_by_key(|stored| stored.submission.arrival);
    Ok(found)
}

/// The arrivals of submissions that came under a message id, as the first delivery or as a repeat.
pub(super) fn arrivals_of(conn: &Connection, task: i64, message_id: &str) -> Result<Vec<u64>, StoreError> {
    let found = probe(conn, task, message_hash(message_id))?;
    let named = found.iter().map(|d| &d.message).filter(|m| m.message_id() == message_id);
    let mut arrivals: Vec<u64> = named.map(Message::stored_as).collect();
    arrivals.sort_unstable();
    arrivals.dedup();
    Ok(arrivals)
}

/// Effects done under a key or on a target.
pub(super) fn committed(
    conn: &Connection,
    task: i64,
    key: &str,
    target: &str,
) -> Result<Vec<CommittedEffect>, StoreError> {
    let mut find = conn
        .prepare_cached(
            "SELECT body FROM effect WHERE task = ?1 AND key = ?2 UNION ALL \
             SELECT body FROM effect WHERE task = ?1 AND target = ?3 AND key <> ?2",
        )
        .map_err(failed)?;
    let mut rows = find.query(params![task, key, target]).map_err(failed)?;
    let mut found = Vec::new();
    while let Some(row) = rows.next().map_err(failed)? {
        let body = row.get_ref(0).and_then(|b| Ok(b.as_blob()?)).map_err(failed)?;
        found.push(serde_json::from_slice(body).map_err(|e| damaged("effect", key, e))?);
    }
    Ok(found)
}

/// The earlier decision of a principal under a key.
pub(super) fn replay(
    conn: &Connection,
    issuer: &str,
    subject: &str,
    key: &str,
) -> Result<Option<Replay>, StoreError> {
    let row: Option<(Vec<u8>, Vec<u8>)> = conn
        .prepare_cached(
            "SELECT k.body_digest, a.record FROM decision_key k JOIN approval a ON a.sequence = k.sequence \
             WHERE k.issuer = ?1 AND k.subject = ?2 AND k.key = ?3",
        )
        .and_then(|mut s| s.query_row([issuer, subject, key], |r| Ok((r.get(0)?, r.get(1)?))).optional())
        .map_err(failed)?;
    let Some((body_digest, record)) = row else { return Ok(None) };
    let record: Record = serde_json::from_slice(&record).map_err(|e| damaged("record of key", key, e))?;
    Ok(Some(Replay { body_digest: digest(&body_digest)?, record: Box::new(record) }))
}

pub(super) fn digest(bytes: &[u8]) -> Result<Digest, StoreError> {
    let bytes: [u8; 32] =
        bytes.try_into().map_err(|_| StoreError::Damaged("a stored digest is not 32 bytes".into()))?;
    Ok(Digest::from_bytes(bytes))
}

/// Where the ledger stands.
pub(super) fn ledger_head(conn: &Connection, store_id: &str) -> Result<Head, StoreError> {
    let last: Option<(i64, Vec<u8>)> = conn
        .prepare_cached("SELECT sequence, record_digest FROM approval ORDER BY sequence DESC LIMIT 1")
        .and_then(|mut s| s.query_row([], |r| Ok((r.get(0)?, r.get(1)?))).optional())
        .map_err(failed)?;
    let (sequence, record_digest) = match last {
        Some((sequence, bytes)) => (sequence.unsigned_abs(), Some(digest(&bytes)?)),
        None => (0, None),
    };
    Ok(Head { store_id: store_id.to_owned(), sequence, record_digest })
}

/// The number of the last event.
pub(super) fn last_seq(conn: &Connection) -> Result<u64, StoreError> {
    let last: Option<i64> = conn
        .prepare_cached("SELECT max(seq) FROM event")
        .and_then(|mut s| s.query_row([], |r| r.get(0)))
        .map_err(failed)?;
    Ok(last.unwrap_or(0).unsigned_abs())
}

/// What only this event at this place has.
pub(super) fn event_digest(seq: u64, item: i64, body: &[u8]) -> Digest {
    Digest::of_parts(&[&seq.to_be_bytes(), &item.to_be_bytes(), body])
}

fn digest_at(conn: &Connection, seq: u64) -> Result<Option<Digest>, StoreError> {
    conn.prepare_cached("SELECT item, body FROM event WHERE seq = ?1")
        .and_then(|mut s| {
            s.query_row([int(seq)], |r| Ok(event_digest(seq, r.get(0)?, r.get_ref(1)?.as_blob()?))).optional()
        })
        .map_err(failed)
}

/// Where the store stands.
pub(super) fn head(conn: &Connection, store_id: &str) -> Result<StoreHead, StoreError> {
    let events = last_seq(conn)?;
    Ok(StoreHead { events, last_event: digest_at(conn, events)?, ledger: ledger_head(conn, store_id)? })
}

/// What contradicts the remembered head, in a sentence; a store that went on from it does not.
pub(super) fn contradiction(conn: &Connection, known: &Remembered) -> Result<Option<String>, StoreError> {
    let Remembered { epoch, head } = known;
    let (events, ledger) = (last_seq(conn)?, &head.ledger);
    if events < head.events {
        return Ok(Some(format!("log shorter than remembered head {}: it has {events} events", head.events)));
    }
    if head.last_event.is_some() && digest_at(conn, head.events)? != head.last_event {
        return Ok(Some(format!("event {} is not the one remembered at this place", head.events)));
    }
    let last = ledger_head(conn, &ledger.store_id)?.sequence;
    if last < ledger.sequence {
        return Ok(Some(format!("ledger shorter than remembered record {}: it has {last}", ledger.sequence)));
    }
    let at: Option<Vec<u8>> = conn
        .prepare_cached("SELECT record_digest FROM approval WHERE sequence = ?1")
        .and_then(|mut s| s.query_row([int(ledger.sequence)], |r| r.get(0)).optional())
        .map_err(failed)?;
    if at.map(|bytes| digest(&bytes)).transpose()? != ledger.record_digest {
        return Ok(Some(format!("record {} is not the one remembered at this place", ledger.sequence)));
    }
    let now = schema::epoch(conn)?;
    Ok((now < *epoch).then(|| format!("the store is of epoch {now}, epoch {epoch} is remembered")))
}

/// A page of a task's events, by revision.
pub(super) fn events(
    conn: &Connection,
    task: i64,
    after: u64,
    limit: usize,
) -> Result<Vec<Event>, StoreError> {
    let mut find = conn
        .prepare_cached(
            "SELECT e.seq, e.body FROM thread t CROSS JOIN event e ON e.seq = t.seq \
             WHERE t.item = ?1 AND t.revision > ?2 ORDER BY t.revision LIMIT ?3",
        )
        .map_err(failed)?;
    let mut rows = find.query(params![task, int(after), bound(limit)]).map_err(failed)?;
    let mut found = Vec::new();
    while let Some(row) = rows.next().map_err(failed)? {
        let seq: i64 = row.get(0).map_err(failed)?;
        let body = row.get_ref(1).and_then(|b| Ok(b.as_blob()?)).map_err(failed)?;
        found.push(serde_json::from_slice(body).map_err(|e| damaged("event", seq, e))?);
    }
    Ok(found)
}

/// The exact bytes of a submission's envelope.
pub(super) fn envelope(conn: &Connection, task: i64, arrival: u64) -> Result<Option<Arc<[u8]>>, StoreError> {
    conn.prepare_cached(at_arrival!("e.envelope", "CROSS JOIN event e ON e.seq = t.seq"))
        .and_then(|mut s| {
            s.query_row(params![task, int(arrival)], |r| Ok(Arc::from(r.get_ref(0)?.as_blob()?))).optional()
        })
        .map_err(failed)
}

fn sequenced(row: &Row<'_>) -> rusqlite::Result<Sequenced> {
    let sequence: i64 = row.get(0)?;
    Ok(Sequenced { sequence: sequence.unsigned_abs(), bytes: row.get(1)? })
}

/// A page of records, by sequence.
pub(super) fn records(
    conn: &Connection,
    task: Option<i64>,
    after: u64,
    limit: usize,
) -> Result<Vec<Sequenced>, StoreError> {
    const ALL: &str = "SELECT sequence, record FROM approval WHERE sequence > ?1 ORDER BY sequence LIMIT ?2";
    const OF_TASK: &str =
        "SELECT sequence, record FROM approval WHERE sequence > ?1 AND task = ?3 ORDER BY version LIMIT ?2";
    match task {
        None => all(conn, ALL, params![int(after), bound(limit)], sequenced),
        Some(task) => all(conn, OF_TASK, params![int(after), bound(limit), task], sequenced),
    }
}

/// One record.
pub(super) fn record(conn: &Connection, approval_id: &str) -> Result<Option<Sequenced>, StoreError> {
    conn.prepare_cached("SELECT sequence, record FROM approval WHERE approval_id = ?1")
        .and_then(|mut s| s.query_row([approval_id], sequenced).optional())
        .map_err(failed)
}
