//! Invariant I5, fold(log) = tables, and I2, I3, I6 beside it, read with plain SQL from the file itself.

use rusqlite::{Connection, OpenFlags};
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use tribunal::domain::attention::{self, Reason, Stuck, Thresholds};
use tribunal::domain::event::{Event, What};
use tribunal::domain::ids::TaskId;
use tribunal::domain::ledger::{Chain, Record};
use tribunal::domain::task::{Task, TaskState, evolve};

/// What a store holds, for a test to look at.
#[derive(Debug, Default)]
pub struct Found {
    pub tasks: BTreeMap<String, Task>,
    pub events: u64,
    pub records: Vec<Record>,
}

#[derive(Default, Debug, PartialEq)]
struct Message {
    applied: bool,
    duplicates: i64,
    judged_by: Option<i64>,
}

/// What the log says of a task's events: the rows that find them, and what became of its submissions.
#[derive(Default, Debug)]
struct Thread {
    /// Revisions, with the event of each.
    places: BTreeSet<(i64, i64, i64)>,
    /// Arrivals of submissions, with the event of each.
    arrivals: BTreeSet<(i64, i64, i64)>,
    /// Events that can be found by a hash of what they say.
    hashed: BTreeSet<(i64, i64)>,
    messages: BTreeMap<(i64, u64), Message>,
    /// Under which message ids a submission was delivered.
    named: BTreeSet<(i64, u64, String)>,
}

/// Checks every table of the store at `path` against its log. Panics with what differs.
pub fn check_invariants(path: &Path) -> Found {
    try_invariants(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// The same, saying what differs.
pub fn try_invariants(path: &Path) -> Result<Found, String> {
    let text = |e: rusqlite::Error| e.to_string();
    let conn = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY).map_err(text)?;
    let ok: String = conn.query_row("PRAGMA integrity_check", [], |r| r.get(0)).map_err(text)?;
    if ok != "ok" {
        return Err(ok);
    }
    let mut found = Found::default();
    let mut ids = BTreeMap::new();
    let mut stmt = conn.prepare("SELECT id, task_id FROM task").map_err(text)?;
    for row in stmt.query_map([], |r| Ok((r.get::<_, i64>(0)?, r.get::<_, String>(1)?))).map_err(text)? {
        let (id, task_id) = row.map_err(text)?;
        ids.insert(id, TaskId(task_id));
    }
    let mut folded: BTreeMap<i64, Task> = BTreeMap::new();
    let mut thread = Thread::default();
    let mut effects: BTreeSet<(i64, String, String)> = BTreeSet::new();
    let mut open_entries = BTreeSet::new();
    let behind: i64 =
        conn.query_row("SELECT value FROM meta WHERE key = 'behind_from'", [], |r| r.get(0)).map_err(text)?;
    if behind != 0 {
        return Err(format!("the tables are behind the log from event {behind} on"));
    }
    let mut stmt = conn
        .prepare("SELECT seq, item, revision, body, task_id, length(envelope) FROM event ORDER BY seq")
        .map_err(text)?;
    let mut rows = stmt.query([]).map_err(text)?;
    while let Some(row) = rows.next().map_err(text)? {
        let (seq, item): (i64, i64) = (row.get(0).map_err(text)?, row.get(1).map_err(text)?);
        let (revision, body): (i64, Vec<u8>) = (row.get(2).map_err(text)?, row.get(3).map_err(text)?);
        found.events += 1;
        if seq as u64 != found.events {
            return Err(format!("event {seq} stands at place {}", found.events));
        }
        if item < 0 {
            if revision == 1 {
                open_entries.insert(-item)
            } else {
                open_entries.remove(&-item)
            };
            continue;
        }
        let event: Event = serde_json::from_slice(&body).map_err(|e| format!("event {seq}: {e}"))?;
        let stores = matches!(&event.what, What::Delivered(d) if d.message.submission().is_some());
        let (named, size): (Option<String>, Option<i64>) =
            (row.get(4).map_err(text)?, row.get(5).map_err(text)?);
        if stores != size.is_some_and(|n| n > 0) {
            return Err(format!("event {seq} has an envelope of {size:?} bytes"));
        }
        if named != (revision == 1).then(|| ids.get(&item).map(|id| id.0.clone())).flatten() {
            return Err(format!("event {seq} names the task {named:?}"));
        }
        let id = ids.get(&item).ok_or(format!("event {seq} is of no task"))?;
        let before = folded.remove(&item);
        if event.revision as i64 != revision
            || before.as_ref().map_or(0, |t| t.revision) + 1 != event.revision
        {
            return Err(format!("event {seq} has revision {revision} out of order"));
        }
        let version = before.as_ref().map_or(0, |t| t.state_version);
        if !(version..=version + 1).contains(&event.state_version) {
            return Err(format!("event {seq} takes the version from {version} to {}", event.state_version));
        }
        project(item, seq, &event, &mut thread, &mut effects);
        let task = evolve(before, id, &event).ok_or(format!("event {seq} cannot be folded"))?;
        folded.insert(item, task);
    }
    compare_tasks(&conn, &folded)?;
    compare_thread(&conn, &thread)?;
    compare_dockets(&conn, &folded, &open_entries)?;
    compare(
        &effects,
        rows_of(&conn, "SELECT task, key, target FROM effect", |r| Ok((r.get(0)?, r.get(1)?, r.get(2)?)))?,
        "effects",
    )?;
    compare(
        &open_entries,
        rows_of(&conn, "SELECT number FROM quarantine WHERE settled = 0", |r| r.get(0))?,
        "open quarantine entries",
    )?;
    found.records = ledger(&conn, &folded)?;
    found.tasks = folded.into_values().map(|t| (t.task_id.0.clone(), t)).collect();
    Ok(found)
}

fn project(
    item: i64,
    seq: i64,
    event: &Event,
    thread: &mut Thread,
    effects: &mut BTreeSet<(i64, String, String)>,
) {
    thread.places.insert((item, event.revision as i64, seq));
    match &event.what {
        What::Delivered(d) => {
            let (of, id) = (d.message.stored_as(), d.message.message_id().to_owned());
            let new = thread.named.insert((item, of, id));
            if let Some(said) = d.message.submission() {
                thread.arrivals.insert((item, said.arrival as i64, seq));
                thread.messages.insert((item, said.arrival), Message::default());
                thread.hashed.insert((item, seq));
            } else {
                thread.messages.get_mut(&(item, of)).unwrap().duplicates += 1;
                if new {
                    thread.hashed.insert((item, seq));
                }
            }
        }
        What::Applied { arrival, .. } => thread.messages.get_mut(&(item, *arrival)).unwrap().applied = true,
        What::Committed { effect, .. } => {
            effects.insert((item, effect.key.clone(), effect.target.clone()));
        }
        What::Decided(d) => {
            for arrival in d.candidates.iter().chain(&d.held) {
                thread.messages.get_mut(&(item, *arrival)).unwrap().judged_by = Some(d.sequence as i64);
            }
        }
        _ => {}
    }
}

fn rows_of<T: Ord>(
    conn: &Connection,
    sql: &str,
    read: impl Fn(&rusqlite::Row<'_>) -> rusqlite::Result<T>,
) -> Result<BTreeSet<T>, String> {
    let mut stmt = conn.prepare(sql).map_err(|e| e.to_string())?;
    let rows = stmt.query_map([], |r| read(r)).map_err(|e| e.to_string())?;
    rows.collect::<Result<_, _>>().map_err(|e| e.to_string())
}

fn compare<T: PartialEq + std::fmt::Debug>(log: &T, table: T, what: &str) -> Result<(), String> {
    if *log == table { Ok(()) } else { Err(format!("{what}: the log says {log:?}, the table {table:?}")) }
}

fn compare_tasks(conn: &Connection, folded: &BTreeMap<i64, Task>) -> Result<(), String> {
    let mut stmt = conn
        .prepare(
            "SELECT s.id, s.revision, s.body, t.state, t.entered_at, t.candidates, t.decided, t.trace_id, \
             (SELECT count(*) FROM label l WHERE l.task = t.id), w.text \
             FROM snapshot s JOIN task t ON t.id = s.id JOIN words w ON w.item = s.id",
        )
        .map_err(|e| e.to_string())?;
    let mut rows = stmt.query([]).map_err(|e| e.to_string())?;
    let mut seen = 0;
    while let Some(row) = rows.next().map_err(|e| e.to_string())? {
        let body: Vec<u8> = row.get(2).unwrap();
        let stored: Task = serde_json::from_slice(&body).map_err(|e| e.to_string())?;
        let item: i64 = row.get(0).unwrap();
        let task = folded.get(&item).ok_or(format!("task {item} has no events"))?;
        compare(task, stored, "snapshot")?;
        let state = TaskState::ALL.iter().position(|s| *s == task.state).unwrap() as i64;
        let sides = task.review.as_ref().map_or(0, |r| r.candidates().len())
            + usize::from(task.interruption.is_some());
        let expected = json!([
            task.revision,
            state,
            task.entered_at.0,
            sides,
            i64::from(task.decided.is_some()),
            task.trace_id,
            task.labels.len()
        ]);
        let int = |n: usize| row.get::<_, i64>(n).unwrap();
        let trace: String = row.get(7).unwrap();
        compare(
            &expected,
            json!([int(1), int(3), int(4), int(5), int(6), trace, int(8)]),
            "columns of a task",
        )?;
        let words: String = row.get(9).unwrap();
        if !words.contains(&task.task_id.0.to_lowercase()) {
            return Err(format!("task {item} cannot be found by its id"));
        }
        seen += 1;
    }
    compare(&folded.len(), seen, "how many tasks")
}

fn compare_thread(conn: &Connection, thread: &Thread) -> Result<(), String> {
    let three = |column: &str| {
        let sql = format!("SELECT item, {column}, seq FROM thread WHERE {column} IS NOT NULL");
        rows_of(conn, &sql, |r| Ok((r.get(0)?, r.get(1)?, r.get(2)?)))
    };
    compare(&thread.places, three("revision")?, "places of events")?;
    compare(&thread.arrivals, three("arrival")?, "places of submissions")?;
    let hashed =
        "SELECT item, seq FROM thread WHERE name IS NOT NULL AND (arrival IS NULL) = (intent IS NULL)";
    let hashed = rows_of(conn, hashed, |r| Ok((r.get(0)?, r.get(1)?)))?;
    compare(&thread.hashed, hashed, "events found by a hash")?;
    let sql = "SELECT t.item, t.arrival, coalesce(m.applied, 0), coalesce(m.duplicates, 0), m.judged_by \
               FROM thread t LEFT JOIN mark m ON m.task = t.item AND m.arrival = t.arrival \
               WHERE t.arrival IS NOT NULL";
    let mut stmt = conn.prepare(sql).map_err(|e| e.to_string())?;
    let mut rows = stmt.query([]).map_err(|e| e.to_string())?;
    let mut stored = BTreeMap::new();
    while let Some(r) = rows.next().map_err(|e| e.to_string())? {
        let message = Message {
            applied: r.get(2).unwrap(),
            duplicates: r.get(3).unwrap(),
            judged_by: r.get(4).unwrap(),
        };
        stored.insert((r.get::<_, i64>(0).unwrap(), r.get::<_, i64>(1).unwrap() as u64), message);
    }
    compare(&thread.messages, stored, "messages")?;
    let stray = "SELECT count(*) FROM mark m WHERE NOT EXISTS \
                 (SELECT 1 FROM thread t WHERE t.item = m.task AND t.arrival = m.arrival)";
    let stray: i64 = conn.query_row(stray, [], |r| r.get(0)).map_err(|e| e.to_string())?;
    compare(&0, stray, "marks on nothing")
}

fn compare_dockets(
    conn: &Connection,
    folded: &BTreeMap<i64, Task>,
    open: &BTreeSet<i64>,
) -> Result<(), String> {
    let mut expected = BTreeSet::new();
    for (item, task) in folded {
        for a in attention::of(task, &Thresholds::default()) {
            let reason = Reason::ALL.iter().position(|r| *r == a.reason).unwrap() as i64;
            let stuck = a.stuck.map_or(-1, |s| Stuck::ALL.iter().position(|x| *x == s).unwrap() as i64);
            expected.insert((*item, Some(a.since.0), a.until.map_or(i64::MAX, |t| t.0), reason, stuck));
        }
    }
    expected.extend(open.iter().map(|n| (-n, None, i64::MAX, 4, 6)));
    let astray = "SELECT count(*) FROM docket d LEFT JOIN task t ON t.id = d.item WHERE d.urgency <> coalesce(t.urgency, -1) \
                  OR coalesce(d.deadline, 9223372036854775807) <> coalesce(t.deadline, 9223372036854775807) \
                  OR d.decided <> coalesce(t.decided, 0)";
    let astray: i64 = conn.query_row(astray, [], |r| r.get(0)).map_err(|e| e.to_string())?;
    compare(&0, astray, "docket rows that are ordered otherwise than their task")?;
    let stored =
        rows_of(conn, "SELECT item, iif(item > 0, since, NULL), until, reason, stuck FROM docket", |r| {
            Ok((r.get(0)?, r.get(1)?, r.get(2)?, r.get(3)?, r.get(4)?))
        })?;
    compare(&expected, stored, "docket")
}

fn ledger(conn: &Connection, folded: &BTreeMap<i64, Task>) -> Result<Vec<Record>, String> {
    let mut stmt =
        conn.prepare("SELECT record FROM approval ORDER BY sequence").map_err(|e| e.to_string())?;
    let rows = stmt.query_map([], |r| r.get::<_, Vec<u8>>(0)).map_err(|e| e.to_string())?;
    let (mut chain, mut records) = (Chain::new([]), Vec::new());
    for row in rows {
        let bytes = row.map_err(|e| e.to_string())?;
        chain.push(&bytes);
        records.push(serde_json::from_slice(&bytes).map_err(|e| e.to_string())?);
    }
    let report = chain.finish();
    if let Some(problem) = report.problem {
        return Err(problem.message);
    }
    let keys: i64 =
        conn.query_row("SELECT count(*) FROM decision_key", [], |r| r.get(0)).map_err(|e| e.to_string())?;
    compare(&records.len(), keys as usize, "decision keys")?;
    let mut once = BTreeSet::new();
    for record in &records {
        let record: &Record = record;
        if !once.insert((record.task_id.clone(), record.state_version_before)) {
            return Err(format!("two records decide {:?} at one version", record.task_id));
        }
    }
    for task in folded.values() {
        let last = records.iter().rev().find(|r| r.task_id == task.task_id).map(|r| &r.approval_id);
        compare(&last, task.decided.as_ref().map(|d| &d.approval_id), "last record of a task")?;
    }
    Ok(records)
}
