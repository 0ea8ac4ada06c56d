//! Checks that the tables follow from the log, and the log from the messages it keeps (contract section 1).

use super::connect::{damaged, failed};
use super::log::{self, int};
use super::thread::Found;
use super::{quarantine, schema};
use crate::domain::attention::{self, Attention, Thresholds};
use crate::domain::digest::Digest;
use crate::domain::envelope::{Limits, parse};
use crate::domain::event::{CommittedEffect, Delivery, Event, Message, Submission, What};
use crate::domain::ids::TaskId;
use crate::domain::ledger::{LogProblem, Record};
use crate::domain::task::{Task, evolve};
use crate::store::rows::{self, Columns};
use crate::store::{CheckPage, StoreError};
use rusqlite::{Connection, OptionalExtension, Row, params};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// What became of a submission: applied, repeats, the number of the record that judged it.
type Marks = BTreeMap<u64, (bool, u64, Option<u64>)>;

/// What the log says of one task.
#[derive(Default)]
struct Told {
    events: u64,
    task: Option<Task>,
    marks: Marks,
    /// By key.
    effects: BTreeMap<String, CommittedEffect>,
    /// Submissions and the message ids they came under.
    named: BTreeSet<(u64, String)>,
    /// Records it says were made: number and digest.
    records: BTreeMap<u64, Digest>,
}

/// A page of checks: tasks after a number, and after the last of them what belongs to no task.
pub(super) fn page(
    conn: &Connection,
    thresholds: &Thresholds,
    after: u64,
    through: u64,
    limit: usize,
) -> Result<CheckPage, StoreError> {
    let mut page = CheckPage::default();
    let sql = "SELECT id, task_id FROM task WHERE id > ?1 ORDER BY id LIMIT ?2";
    let values = params![int(after), log::bound(limit)];
    let found: Vec<(i64, TaskId)> = log::all(conn, sql, values, |r| Ok((r.get(0)?, TaskId(r.get(1)?))))?;
    for (item, id) in &found {
        page.events += task(conn, *item, id, Some(thresholds), through, &mut page.findings)?;
        page.tasks += 1;
    }
    page.next = found.last().map(|(item, _)| item.unsigned_abs());
    if page.next.is_none() {
        rest(conn, through, &mut page)?;
    }
    Ok(page)
}

/// What a decision rests on: the log, the snapshot and the messages of its task. The first difference is the error.
pub(super) fn before_a_decision(conn: &Connection, item: i64, id: &TaskId) -> Result<(), StoreError> {
    let mut findings = Vec::new();
    task(conn, item, id, None, u64::MAX, &mut findings)?;
    match findings.into_iter().next() {
        None => Ok(()),
        Some(finding) => Err(StoreError::Damaged(format!("{}: {}", finding.at, finding.message))),
    }
}

/// Checks one task; gives how many of its events are not later than `through`.
fn task(
    conn: &Connection,
    item: i64,
    id: &TaskId,
    thresholds: Option<&Thresholds>,
    through: u64,
    findings: &mut Vec<LogProblem>,
) -> Result<u64, StoreError> {
    let mut say = |message: String| findings.push(LogProblem { at: format!("task {:?}", id.0), message });
    let mut told = Told::default();
    let mut counted = 0;
    let mut find = conn
        .prepare_cached(
            "SELECT t.revision, t.seq, e.item, e.revision, e.task_id, e.body, e.envelope, t.arrival, t.intent, t.name \
             FROM thread t LEFT JOIN event e ON e.seq = t.seq WHERE t.item = ?1 ORDER BY t.revision",
        )
        .map_err(failed)?;
    let mut rows = find.query([item]).map_err(failed)?;
    while let Some(row) = rows.next().map_err(failed)? {
        let place: (i64, i64, Option<i64>, Option<i64>) =
            (|| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)))().map_err(failed)?;
        let (revision, seq) = (place.0.unsigned_abs(), place.1.unsigned_abs());
        counted += u64::from(seq <= through);
        let expected = told.events + 1;
        if place != (int(expected), place.1, Some(item), Some(int(expected))) {
            say(format!("event {seq} does not stand at revision {expected} (it says {revision})"));
            return Ok(counted);
        }
        told.events = expected;
        let name: Option<String> = row.get(4).map_err(failed)?;
        if name.as_deref() != (expected == 1).then_some(id.as_str()) {
            say(format!("event {seq} names the task {name:?}"));
        }
        let body = row.get_ref(5).and_then(|b| Ok(b.as_blob()?)).map_err(failed)?;
        let Ok(event) = serde_json::from_slice::<Event>(body) else {
            say(format!("event {seq} cannot be read"));
            return Ok(counted);
        };
        let envelope = row.get_ref(6).and_then(|b| Ok(b.as_blob_or_null()?)).map_err(failed)?;
        if told.finds(&event) != found_by(row)? {
            say(format!("event {seq} cannot be found by what it is"));
        }
        if let Some(why) = told.take(id, &event, envelope) {
            say(format!("event {seq}: {why}"));
            return Ok(counted);
        }
    }
    drop(rows);
    match &told.task {
        None => say("it has no events".into()),
        Some(task) => {
            compare_task(conn, item, task, &mut say)?;
            compare_marks(conn, item, &told, &mut say)?;
            if let Some(thresholds) = thresholds {
                compare_docket(conn, item, task, &attention::of(task, thresholds), &mut say)?;
            }
            compare_records(conn, item, &told, &mut say)?;
        }
    }
    Ok(counted)
}

fn found_by(row: &Row<'_>) -> Result<Found, StoreError> {
    (|| Ok(Found { arrival: row.get(7)?, intent: row.get(8)?, name: row.get(9)? }))().map_err(failed)
}

impl Told {
    /// What the next event is to be found by.
    fn finds(&mut self, event: &Event) -> Found {
        let What::Delivered(d) = &event.what else { return Found::default() };
        let is_new = self.named.insert((d.message.stored_as(), d.message.message_id().to_owned()));
        Found::of(&d.message, !is_new)
    }

    /// Folds an event; says why it cannot follow, or does not fit the message it keeps.
    fn take(&mut self, id: &TaskId, event: &Event, envelope: Option<&[u8]>) -> Option<String> {
        match &event.what {
            What::Delivered(d) => {
                if let Some(why) = self.delivered(id, d, envelope) {
                    return Some(why);
                }
            }
            _ if envelope.is_some() => return Some("it keeps a message that it does not speak of".into()),
            What::Applied { arrival, .. } => self.marks.entry(*arrival).or_default().0 = true,
            what @ What::Committed { effect, .. } => {
                self.effects.extend(CommittedEffect::of(what).map(|done| (effect.key.clone(), done)));
            }
            What::Decided(d) => {
                for arrival in d.candidates.iter().chain(&d.held) {
                    self.marks.entry(*arrival).or_default().2 = Some(d.sequence);
                }
                self.records.insert(d.sequence, d.record_digest);
            }
            _ => {}
        }
        let task = evolve(self.task.take(), id, event).filter(|t| t.revision == event.revision);
        let follows = task.is_some();
        self.task = task;
        (!follows).then(|| "it does not go on from the one before".to_owned())
    }

    fn delivered(&mut self, id: &TaskId, d: &Delivery, envelope: Option<&[u8]>) -> Option<String> {
        match (&d.message, envelope) {
            (Message::Repeat(repeat), None) => {
                self.marks.entry(repeat.of).or_default().1 += 1;
                None
            }
            (Message::New(said), Some(raw)) => differs_from(said, id, raw),
            (Message::New(_), None) => Some("the message it stores is gone".into()),
            (Message::Repeat(_), Some(_)) => Some("it keeps a message that it does not speak of".into()),
        }
    }
}

/// How a submission differs from the message it was read from, its digest computed again from the stored bytes.
fn differs_from(said: &Submission, id: &TaskId, raw: &[u8]) -> Option<String> {
    // It was admitted under the limits of its time; what it says does not depend on them.
    let limits = Limits {
        envelope_bytes: usize::MAX,
        id_bytes: usize::MAX,
        evidence_refs: usize::MAX,
        text_bytes: usize::MAX,
        labels: usize::MAX,
        schema_bytes: usize::MAX,
        ..Limits::default()
    };
    match parse(Arc::from(raw), &limits, said.digest_scheme) {
        Err(fault) => Some(format!("message #{} cannot be read: {}", said.arrival, fault.detail)),
        Ok(e) if e.task_id == *id && said.is_of(&e) => None,
        Ok(_) => Some(format!("message #{} is not what was recorded of it", said.arrival)),
    }
}

fn compare_task(
    conn: &Connection,
    item: i64,
    task: &Task,
    say: &mut impl FnMut(String),
) -> Result<(), StoreError> {
    let is_it = |r: &Row<'_>| {
        let same =
            serde_json::from_slice::<Task>(r.get_ref(1)?.as_blob()?).is_ok_and(|stored| stored == *task);
        Ok(same && r.get::<_, i64>(0)? == int(task.revision))
    };
    let stored = conn
        .prepare_cached("SELECT revision, body FROM snapshot WHERE id = ?1")
        .and_then(|mut s| s.query_row([item], is_it).optional())
        .map_err(failed);
    match stored {
        Ok(Some(true)) => {}
        Ok(None) => say("it has no snapshot".into()),
        Ok(Some(false)) | Err(StoreError::Damaged(_)) => say("its snapshot is not what its log says".into()),
        Err(e) => return Err(e),
    }
    let stored = conn
        .prepare_cached(
            "SELECT state, entered_at, urgency, deadline, candidates, decided, failure, agent, assigned, trace_id, \
             (SELECT text FROM words WHERE item = id) FROM task WHERE id = ?1",
        )
        .and_then(|mut s| {
            s.query_row([item], |r| {
                let columns = Columns {
                    state: r.get(0)?,
                    entered_at: r.get(1)?,
                    urgency: r.get(2)?,
                    deadline: r.get(3)?,
                    candidates: r.get(4)?,
                    decided: r.get(5)?,
                    failure: r.get(6)?,
                    agent: r.get(7)?,
                    assigned: r.get(8)?,
                };
                Ok((columns, r.get(9)?, r.get(10)?))
            })
        })
        .map_err(failed)?;
    if stored != (Columns::of(task), task.trace_id.clone(), Some(rows::words_of_task(task))) {
        say("lists and filters see it otherwise than its log says".into());
    }
    let sql = "SELECT key, value FROM label WHERE task = ?1";
    let labels: BTreeMap<String, String> = log::all(conn, sql, [item], |r| Ok((r.get(0)?, r.get(1)?)))?;
    if labels != task.labels {
        say("its labels are not those of its request".into());
    }
    Ok(())
}

fn compare_marks(
    conn: &Connection,
    item: i64,
    told: &Told,
    say: &mut impl FnMut(String),
) -> Result<(), StoreError> {
    let sql = "SELECT arrival, applied, duplicates, judged_by FROM mark WHERE task = ?1";
    let marks: Marks = log::all(conn, sql, [item], |r| {
        let (arrival, duplicates): (i64, i64) = (r.get(0)?, r.get(2)?);
        let judged: Option<i64> = r.get(3)?;
        Ok((arrival.unsigned_abs(), (r.get(1)?, duplicates.unsigned_abs(), judged.map(i64::unsigned_abs))))
    })?;
    if marks != told.marks {
        say("what became of its messages is not what its log says".into());
    }
    let sql = "SELECT key, target, body FROM effect WHERE task = ?1";
    let stored: Vec<(String, String, Vec<u8>)> =
        log::all(conn, sql, [item], |r| Ok((r.get(0)?, r.get(1)?, r.get(2)?)))?;
    let read = stored.iter().filter_map(|(key, target, body)| {
        let done: CommittedEffect = serde_json::from_slice(body).ok()?;
        (done.effect.target == *target).then(|| (key.clone(), done))
    });
    if stored.len() != told.effects.len() || read.collect::<BTreeMap<_, _>>() != told.effects {
        say("its effects are not those that its log says were done".into());
    }
    Ok(())
}

fn compare_docket(
    conn: &Connection,
    item: i64,
    task: &Task,
    expected: &[Attention],
    say: &mut impl FnMut(String),
) -> Result<(), StoreError> {
    type Listed = (Option<Attention>, (i64, i64, bool));
    let sql = "SELECT reason, stuck, since, until, urgency, coalesce(deadline, 9223372036854775807), decided \
               FROM docket WHERE item = ?1 ORDER BY since";
    let stored: Vec<Listed> = log::all(conn, sql, [item], |r| {
        let attention = rows::attention(r.get(0)?, r.get(1)?, r.get(2)?, r.get(3)?);
        Ok((attention, (r.get(4)?, r.get(5)?, r.get(6)?)))
    })?;
    if stored.iter().any(|(attention, _)| attention.is_none()) {
        return Err(damaged("docket row of item", item, "unknown reason"));
    }
    let c = Columns::of(task);
    let ordered_by = (c.urgency, c.deadline, c.decided);
    let mut expected: Vec<Listed> = expected.iter().map(|a| (Some(*a), ordered_by)).collect();
    expected.sort_by_key(|(attention, _)| attention.map(|a| a.since));
    if stored != expected {
        say("the docket lists it otherwise than its log says".into());
    }
    Ok(())
}

fn compare_records(
    conn: &Connection,
    item: i64,
    told: &Told,
    say: &mut impl FnMut(String),
) -> Result<(), StoreError> {
    let sql = "SELECT sequence, record_digest, approval_id, version, state_version, record FROM approval \
               WHERE task = ?1";
    /// Its number, its digest, what it is found by, and its bytes.
    type Kept = (i64, Vec<u8>, (String, i64, i64), Vec<u8>);
    let found: Vec<Kept> = log::all(conn, sql, [item], |r| {
        Ok((r.get(0)?, r.get(1)?, (r.get(2)?, r.get(3)?, r.get(4)?), r.get(5)?))
    })?;
    let mut stored = BTreeMap::new();
    for (sequence, digest, found_by, record) in found {
        stored.insert(sequence.unsigned_abs(), log::digest(&digest)?);
        let is_it = |r: &Record| {
            found_by == (r.approval_id.clone(), int(r.approval_version), int(r.state_version_before))
        };
        if !serde_json::from_slice(&record).is_ok_and(|r| is_it(&r)) {
            say(format!("record {sequence} cannot be found by what it says"));
        }
    }
    if stored != told.records {
        say("its approval records are not those that its log speaks of".into());
    }
    Ok(())
}

/// What tables are behind by. They were brought up before this was read: where they still are behind what was written
/// before, that failed.
fn behind(conn: &Connection, through: u64, page: &mut CheckPage) -> Result<(), StoreError> {
    let first = schema::behind_from(conn)?;
    if first == 0 || first > through {
        return Ok(());
    }
    let unnoted: i64 = conn
        .prepare_cached(
            "SELECT count(*) FROM event e WHERE e.seq >= ?1 AND e.seq <= ?2 AND e.item > 0 AND NOT EXISTS \
             (SELECT 1 FROM thread t WHERE t.item = e.item AND t.revision = e.revision)",
        )
        .and_then(|mut s| s.query_row([int(first), int(through)], |r| r.get(0)))
        .map_err(failed)?;
    page.events += unnoted.unsigned_abs();
    let message = format!("what is read is behind it from event {first} on: status says why");
    page.findings.push(LogProblem { at: "the log".into(), message });
    Ok(())
}

/// What belongs to no single task: quarantine entries, and that nothing was left over.
fn rest(conn: &Connection, through: u64, page: &mut CheckPage) -> Result<(), StoreError> {
    let count = |sql: &str| -> Result<i64, StoreError> {
        conn.prepare_cached(sql).and_then(|mut s| s.query_row([], |r| r.get(0))).map_err(failed)
    };
    let of_entries: i64 = conn
        .prepare_cached("SELECT count(*) FROM event WHERE item < 0 AND seq <= ?1")
        .and_then(|mut s| s.query_row([int(through)], |r| r.get(0)))
        .map_err(failed)?;
    page.events += of_entries.unsigned_abs();
    behind(conn, through, page)?;
    let mut say = |at: String, message: String| page.findings.push(LogProblem { at, message });
    for (at, sql) in [
        ("snapshots", "SELECT count(*) FROM snapshot WHERE id NOT IN (SELECT id FROM task)"),
        ("the docket", "SELECT count(*) FROM docket WHERE item > 0 AND item NOT IN (SELECT id FROM task)"),
        (
            "the docket of entries",
            "SELECT count(*) FROM docket WHERE item < 0 \
             AND -item NOT IN (SELECT number FROM quarantine WHERE settled = 0)",
        ),
        (
            "open entries that no docket lists",
            "SELECT count(*) FROM quarantine WHERE settled = 0 AND -number NOT IN (SELECT item FROM docket)",
        ),
        (
            "events of entries",
            "SELECT count(*) FROM (SELECT item, count(*) AS told FROM event WHERE item < 0 GROUP BY item) \
             FULL JOIN quarantine q ON q.number = -item WHERE told IS NOT 1 + (q.settled <> 0)",
        ),
        ("threads", "SELECT count(*) FROM thread WHERE item NOT IN (SELECT id FROM task)"),
        (
            "words",
            "SELECT count(*) FROM words WHERE item NOT IN (SELECT id FROM task) \
             AND -item NOT IN (SELECT number FROM quarantine)",
        ),
        ("labels", "SELECT count(*) FROM label WHERE task NOT IN (SELECT id FROM task)"),
        ("effects", "SELECT count(*) FROM effect WHERE task NOT IN (SELECT id FROM task)"),
        ("approval records", "SELECT count(*) FROM approval WHERE task NOT IN (SELECT id FROM task)"),
        ("marks", "SELECT count(*) FROM mark WHERE task NOT IN (SELECT id FROM task)"),
        (
            "decision keys",
            "SELECT count(*) FROM approval a FULL JOIN decision_key k USING (sequence) \
             WHERE k.subject IS NOT json_extract(CAST(a.record AS TEXT), '$.principal.subject') \
             OR k.issuer IS NOT json_extract(CAST(a.record AS TEXT), '$.principal.issuer')",
        ),
        (
            "entries",
            "SELECT count(*) FROM (SELECT item, revision, CAST(body AS TEXT) AS told FROM event WHERE item < 0) \
             LEFT JOIN quarantine q ON q.number = -item WHERE CASE revision \
             WHEN 1 THEN told ->> '$.bytes_digest' IS NOT 'sha256:' || lower(hex(q.digest)) \
             ELSE (told ->> '$.by', told ->> '$.reason') IS NOT (q.settled_by, q.settled_why) \
             OR (told ->> '$.quarantine' = 'dropped') IS NOT (q.settled = 2) END",
        ),
    ] {
        let strays = count(sql)?;
        if strays != 0 {
            say(at.to_owned(), format!("{strays} that fit nothing in the log"));
        }
    }
    let mut after = 0;
    loop {
        let entries = quarantine::page(conn, after, log::PAGE, true)?;
        let Some(last) = entries.last() else { return Ok(()) };
        after = last.number;
        for entry in &entries {
            let bytes = quarantine::bytes(conn, int(entry.number))?.unwrap_or_default();
            if Digest::of_bytes(&bytes) != entry.bytes_digest {
                say(format!("quarantine entry {}", entry.id), "its bytes are not those that arrived".into());
            }
        }
    }
}
