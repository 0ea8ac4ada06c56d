//! What the tables say of a task's events beside its snapshot: where they are, and what became of its submissions.

use super::connect::{damaged, failed};
use super::log::{self, int};
use crate::domain::event::{CommittedEffect, Decided, Event, Message, Repeat, What};
use crate::store::StoreError;
use crate::store::rows;
use rusqlite::{Connection, params};

/// What an event's row can be found by, beside its revision.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Found {
    pub arrival: Option<i64>,
    pub intent: Option<i64>,
    pub name: Option<i64>,
}

impl Found {
    /// What finds a message; `known` says whether its submission can be found by its message id already.
    pub(super) fn of(message: &Message, known: bool) -> Self {
        let name = rows::message_hash(message.message_id());
        match message {
            Message::New(s) => Found {
                arrival: Some(int(s.arrival)),
                intent: Some(rows::intent_hash(s.class, &s.idempotency_key)),
                name: Some(name),
            },
            Message::Repeat(_) => Found { name: (!known).then_some(name), ..Found::default() },
        }
    }
}

/// Notes one event of a task; each is noted once.
pub(super) fn add(conn: &Connection, item: i64, seq: u64, event: &Event) -> Result<(), StoreError> {
    let found = match &event.what {
        What::Delivered(delivery) => {
            let message = &delivery.message;
            let known = match message {
                Message::New(_) => false,
                Message::Repeat(repeat) => repeated(conn, item, repeat)?,
            };
            Found::of(message, known)
        }
        _ => Found::default(),
    };
    conn.prepare_cached(
        "INSERT INTO thread(item, revision, seq, arrival, intent, name) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
    )
    .and_then(|mut s| {
        s.execute(params![item, int(event.revision), int(seq), found.arrival, found.intent, found.name])
    })
    .map_err(failed)?;
    match &event.what {
        What::Applied { arrival, .. } => mark(conn, item, *arrival, "applied", "1", 1),
        what @ What::Committed { effect, .. } => {
            let done = CommittedEffect::of(what);
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

/// Counts a repeat of a submission; gives whether that can be found by this message id already.
fn repeated(conn: &Connection, item: i64, repeat: &Repeat) -> Result<bool, StoreError> {
    mark(conn, item, repeat.of, "duplicates", "duplicates + 1", 1)?;
    fail::fail_point!("store-counted-duplicate");
    Ok(log::arrivals_of(conn, item, &repeat.message_id)?.contains(&repeat.of))
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
    let is_there = log::has_arrival(conn, item, arrival)?;
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
