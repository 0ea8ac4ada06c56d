//! Messages that came before their task, more than one commit admits: all are, in order, before anything that came later.

use crate::common::invariants::check_invariants;
use crate::common::{Place, admit, admitted, asks, block_on, envelope, moves};
use rusqlite::Connection;
use serde_json::json;
use tribunal::domain::ids::TaskId;
use tribunal::domain::task::TaskState;
use tribunal::store::{Scope, Store, StoreError};

const EARLY: usize = 600;

/// One of many different messages to a task.
pub fn progress(task: &str, n: usize) -> Vec<u8> {
    envelope(json!({"type": "task_progress", "task_id": task, "message_id": format!("p-{n}"),
        "idempotency_key": format!("p-{n}"), "payload": {"n": n}}))
}

/// Whether the task was asked for first, and then these came, in this order.
pub async fn came_in_order(store: &impl Store, task: &str, expected: impl Iterator<Item = usize>) {
    let mut found = Vec::new();
    loop {
        let page = store.submissions(&TaskId::from(task), found.len() as u64, 1000).await.unwrap();
        if page.is_empty() {
            break;
        }
        found.extend(page.into_iter().map(|s| s.submission.message_id));
    }
    let expected = std::iter::once(format!("{task}-ask")).chain(expected.map(|n| format!("p-{n}")));
    assert!(found.iter().eq(expected.collect::<Vec<_>>().iter()), "{found:?}");
}

#[test]
fn more_than_one_commit_admits() {
    let place = Place::new();
    block_on(async {
        let store = place.open();
        let early: Vec<_> = (0..EARLY).map(|n| admit(progress("T-1", n))).collect();
        for answer in store.submit(early).await.unwrap() {
            assert_eq!(admitted(&answer).outcome, "quarantined");
        }
        let rest = |task: &str| vec![admit(asks(task)), moves(task, TaskState::Ready, 1)];
        let mut group = rest("T-0");
        group.extend(rest("T-1"));
        group.push(admit(progress("T-1", EARLY)));
        group.extend(rest("T-2"));
        for answer in store.submit(group).await.unwrap() {
            answer.unwrap();
        }
        came_in_order(&store, "T-1", 0..=EARLY).await;
        let task = store.task(&TaskId::from("T-1")).await.unwrap().unwrap();
        assert_eq!((task.state, task.arrivals), (TaskState::Ready, 2 + EARLY as u64));
        assert_eq!(store.quarantine(0, 10, false).await.unwrap(), []);
        // The move came after them in the log, too.
        let events = store.events(&TaskId::from("T-1"), 0, 1000).await.unwrap();
        let kinds: Vec<String> = events.iter().map(|e| serde_json::to_string(e).unwrap()).collect();
        let moved = kinds.iter().position(|k| k.contains("\"ready\"")).unwrap();
        assert!(moved > EARLY, "{moved}");
    });
    check_invariants(&place.path());
}

/// Alone, nobody writes after it: all are admitted before it is answered.
#[test]
fn all_are_admitted_before_the_request_is_answered() {
    let place = Place::new();
    block_on(async {
        let store = place.open();
        store.submit((0..EARLY).map(|n| admit(progress("T-1", n))).collect()).await.unwrap();
        store.submit(vec![admit(asks("T-1"))]).await.unwrap().remove(0).unwrap();
        let conn = Connection::open(place.path()).unwrap();
        let open = "SELECT (SELECT count(*) FROM quarantine WHERE settled = 0) + \
                    (SELECT count(*) FROM meta WHERE key = 'readmitting')";
        assert_eq!(conn.query_row(open, [], |r| r.get::<_, i64>(0)).unwrap(), 0);
    });
    check_invariants(&place.path());
}

/// One that cannot be read any more stays for a person, and keeps neither the others nor the task waiting.
#[test]
fn a_damaged_entry_stays() {
    let place = Place::new();
    block_on(async {
        let store = place.open();
        store.submit((0..3).map(|n| admit(progress("T-1", n))).collect()).await.unwrap();
        let conn = Connection::open(place.path()).unwrap();
        conn.execute("UPDATE quarantine SET principal = '?' WHERE number = 2", []).unwrap();
        store.submit(vec![admit(asks("T-1"))]).await.unwrap().remove(0).unwrap();
        came_in_order(&store, "T-1", [0, 2].into_iter()).await;
        assert!(matches!(store.quarantine(0, 10, false).await, Err(StoreError::Damaged(_))));
        assert!(matches!(
            store.page(&crate::conformance::first_page(Scope::Waiting)).await,
            Err(StoreError::Damaged(_))
        ));
    });
}

/// A task that is damaged while what waited for it is admitted keeps nobody else from writing.
#[test]
fn a_task_damaged_meanwhile_holds_nobody_up() {
    let place = Place::new();
    block_on(async {
        let store = place.open();
        store.submit(vec![admit(asks("T-1"))]).await.unwrap().remove(0).unwrap();
        store.close();
        drop(store);
        let conn = Connection::open(place.path()).unwrap();
        let note = json!({"task": "T-1", "after": 0, "now": "2026-11-30T12:00:00Z"}).to_string();
        conn.execute("INSERT INTO meta(key, value) VALUES ('readmitting', ?1)", [note]).unwrap();
        conn.execute("UPDATE snapshot SET body = X'7B'", []).unwrap();
        conn.execute(
            "INSERT INTO quarantine(number, reason, detail, task_id, source, principal, received_at, last_received_at, \
             count, settled, digest, bytes) VALUES (1, 9, '', 'T-1', '', ?1, 0, 0, 1, 0, X'00', ?2)",
            rusqlite::params![
                serde_json::to_string(&tribunal::domain::actor::Principal::local_worker()).unwrap(),
                progress("T-1", 1)
            ],
        )
        .unwrap();
        let store = place.open();
        let answer = store.submit(vec![admit(asks("T-2"))]).await.unwrap().remove(0);
        assert_eq!(admitted(&answer).outcome, "accepted");
        let noted = "SELECT count(*) FROM meta WHERE key = 'readmitting'";
        assert_eq!(conn.query_row(noted, [], |r| r.get::<_, i64>(0)).unwrap(), 0);
        assert!(matches!(store.task(&TaskId::from("T-1")).await, Err(StoreError::Damaged(_))));
    });
}
