//! What somebody changed in the file with another tool: the check names it, and no decision rests on it.

use crate::common::{NOON, Place, admit, admitted, block_on, conflict, decide, envelope, moves, result, run};
use serde_json::json;
use tribunal::domain::command::Command;
use tribunal::domain::digest::Digest;
use tribunal::domain::envelope::EffectName;
use tribunal::domain::ids::TaskId;
use tribunal::domain::refusal::Refusal;
use tribunal::domain::task::TaskState;
use tribunal::store::{CheckPage, Store, StoreError};

/// A store with a conflict that waits (`T-1`), one that was decided (`T-2`), an effect, a repeat, an entry and a
/// dropped one.
fn populated(place: &Place) {
    block_on(async {
        let store = place.open();
        for task in ["T-1", "T-2"] {
            conflict(&store, task).await;
            let again = store.submit(vec![admit(result(task, "a", json!(1)))]).await.unwrap();
            assert_eq!(admitted(&again[0]).outcome, "duplicate");
        }
        let labelled = envelope(json!({"type": "task_request", "task_id": "T-3", "message_id": "ask",
            "idempotency_key": "ask", "payload": {"goal": "pay"}, "labels": {"team": "core"}}));
        let effect = EffectName { key: "e".into(), target: "x".into() };
        let commit = Command::Commit {
            task_id: TaskId::from("T-3"),
            effect,
            digest: Digest::of_bytes(b"receipt"),
            scheme: Default::default(),
            lease_version: None,
        };
        let steps = vec![
            admit(labelled),
            moves("T-3", TaskState::Ready, 1),
            moves("T-3", TaskState::Running, 2),
            run(commit),
            admit(b"junk".to_vec()),
            admit(b"more junk".to_vec()),
        ];
        for answer in store.submit(steps).await.unwrap() {
            answer.unwrap();
        }
        let version = store.task(&TaskId::from("T-2")).await.unwrap().unwrap().state_version;
        store.drop_entry("Q-2", "otto", "a broken producer", NOON).await.unwrap().unwrap();
        store.submit(vec![decide("T-2", TaskState::Ready, version, "k")]).await.unwrap().remove(0).unwrap();
    });
}

pub async fn check(store: &impl Store) -> (CheckPage, u64) {
    let through = store.status().await.unwrap().head.events;
    let (mut all, mut after) = (CheckPage::default(), Some(0));
    while let Some(from) = after {
        let page = store.check(from, through, 2).await.unwrap();
        all.tasks += page.tasks;
        all.events += page.events;
        all.findings.extend(page.findings);
        after = page.next;
    }
    (all, through)
}

#[test]
fn a_store_as_it_was_written_has_no_findings() {
    let place = Place::new();
    populated(&place);
    block_on(async {
        let (found, through) = check(&place.open()).await;
        assert_eq!((found.findings, found.tasks, found.events), (Vec::new(), 3, through));
    });
}

/// Each edit of a table, by itself, and what is said of it. Text functions make text of a blob, and the tables are
/// strict: hence the casts. Every edit picks only rows that it changes.
const EDITS: [(&str, &str); 42] = [
    (
        "UPDATE event SET body = CAST(replace(body, 'planner', 'plotter') AS BLOB) WHERE instr(body, 'planner') AND item = 1",
        "not what was recorded",
    ),
    (
        "UPDATE event SET envelope = CAST(replace(envelope, '\"value\":2', '\"value\":7') AS BLOB) \
         WHERE instr(envelope, '\"value\":2') AND item = 1",
        "message #3 cannot be read",
    ),
    ("UPDATE event SET envelope = NULL WHERE envelope IS NOT NULL AND item = 1", "is gone"),
    ("UPDATE event SET item = 2 WHERE seq = 2", "does not stand"),
    ("UPDATE event SET task_id = 'T-9' WHERE seq = 1", "names the task"),
    ("DELETE FROM event WHERE seq = 3", "does not stand"),
    (
        "DELETE FROM thread WHERE item = 1 AND revision = (SELECT revision FROM snapshot WHERE id = 1)",
        "snapshot",
    ),
    ("UPDATE thread SET arrival = NULL WHERE item = 1 AND arrival = 2", "cannot be found by what it is"),
    ("UPDATE thread SET intent = intent + 1 WHERE item = 1 AND arrival = 1", "cannot be found by what it is"),
    ("UPDATE thread SET name = NULL WHERE item = 1 AND arrival = 3", "cannot be found by what it is"),
    (
        "UPDATE snapshot SET body = CAST(replace(body, 'do T-1', 'do T-9') AS BLOB) WHERE instr(body, 'do T-1')",
        "snapshot",
    ),
    ("UPDATE task SET state = 1 WHERE id = 1 AND state <> 1", "lists and filters"),
    ("UPDATE words SET text = 'other' WHERE item = 1", "lists and filters"),
    ("DELETE FROM label", "labels"),
    ("UPDATE mark SET duplicates = 9 WHERE task = 1 AND duplicates = 1", "what became of its messages"),
    ("DELETE FROM effect", "effects"),
    ("UPDATE effect SET key = 'zz'", "effects"),
    ("UPDATE effect SET target = 'zz'", "effects"),
    ("UPDATE effect SET body = CAST(replace(body, 'sha256:', 'sha256:0') AS BLOB)", "effects"),
    ("DELETE FROM docket WHERE item = 1", "docket"),
    ("UPDATE docket SET urgency = -9 WHERE item = 1", "docket"),
    ("UPDATE docket SET decided = 1 WHERE item = 1", "docket"),
    ("DELETE FROM approval", "approval records"),
    ("DELETE FROM decision_key", "decision keys"),
    ("UPDATE decision_key SET subject = 'mallory'", "decision keys"),
    ("UPDATE decision_key SET issuer = 'elsewhere'", "decision keys"),
    ("UPDATE approval SET approval_id = 'ap-9'", "cannot be found by what it says"),
    ("UPDATE approval SET version = 9 WHERE version = 1", "cannot be found by what it says"),
    ("UPDATE approval SET state_version = 99", "cannot be found by what it says"),
    ("UPDATE quarantine SET settled = 1 WHERE settled = 2", "entries"),
    ("UPDATE quarantine SET settled_by = 'mallory' WHERE settled = 2", "entries"),
    ("UPDATE quarantine SET settled_why = 'other' WHERE settled = 2", "entries"),
    ("UPDATE quarantine SET bytes = X'00'", "Q-1"),
    ("INSERT INTO mark(task, arrival) VALUES (1, 77)", "what became of its messages"),
    ("INSERT INTO mark(task, arrival) VALUES (99, 1)", "marks"),
    ("UPDATE snapshot SET revision = revision + 1 WHERE id = 1", "snapshot"),
    ("DELETE FROM docket WHERE item < 0", "open entries that no docket lists"),
    ("UPDATE event SET item = item - 1 WHERE item < 0", "events of entries"),
    ("INSERT INTO thread(item, revision, seq) VALUES (99, 1, 4)", "threads"),
    ("INSERT INTO words(item, text) VALUES (99, 'x')", "words"),
    ("INSERT INTO label(task, key, value) VALUES (99, 'a', 'b')", "labels"),
    ("INSERT INTO effect(task, key, target, body) VALUES (99, 'a', 'b', X'00')", "effects"),
];

fn edit(place: &Place, sql: &str) {
    let conn = rusqlite::Connection::open(place.path()).unwrap();
    assert!(conn.execute(sql, []).unwrap() > 0, "{sql} changed nothing");
}

#[test]
fn every_edit_is_found() {
    for (sql, said) in EDITS {
        let place = Place::new();
        populated(&place);
        edit(&place, sql);
        block_on(async {
            let (found, through) = check(&place.open()).await;
            let told: Vec<String> =
                found.findings.iter().map(|f| format!("{}: {}", f.at, f.message)).collect();
            assert!(told.iter().any(|t| t.contains(said)), "{sql}: {told:?}");
            assert!(!sql.starts_with("DELETE FROM event") || found.events < through, "{sql}");
        });
    }
}

/// What was changed under a reviewer's eyes is not decided on.
#[test]
fn no_decision_rests_on_what_was_edited() {
    for (sql, _) in [0, 1, 7, 8, 9, 10, 11, 14].map(|n| EDITS[n]) {
        let place = Place::new();
        populated(&place);
        let version =
            block_on(async { place.open().task(&TaskId::from("T-1")).await.unwrap().unwrap().state_version });
        edit(&place, sql);
        block_on(async {
            let store = place.open();
            let answer = store.submit(vec![decide("T-1", TaskState::Ready, version, "k")]).await;
            assert!(matches!(answer, Err(StoreError::Damaged(_))), "{sql}: {answer:?}");
            assert_eq!(store.records(None, 1, 10).await.unwrap(), []);
        });
    }
}

/// A key that was made to point at another's record answers with no record at all.
#[test]
fn no_retry_is_answered_with_the_record_of_another_decision() {
    let place = Place::new();
    block_on(async {
        let store = place.open();
        let first = conflict(&store, "T-1").await;
        let second = conflict(&store, "T-2").await;
        let decides = |task: &str, version| decide(task, TaskState::Ready, version, &format!("k-{task}"));
        for (task, version) in [("T-1", first), ("T-2", second)] {
            store.submit(vec![decides(task, version)]).await.unwrap().remove(0).unwrap();
        }
        edit(&place, "UPDATE decision_key SET sequence = 3 - sequence");
        let answer = store.submit(vec![decides("T-1", first)]).await.unwrap().remove(0);
        assert!(matches!(answer, Err(Refusal::Damaged { .. })), "{answer:?}");
    });
}
