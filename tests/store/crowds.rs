//! Many at once: their messages are in the log when they are answered, and tables follow; nobody may see a difference.

use crate::common::invariants::check_invariants;
use crate::common::{Place, admit, admitted, asks, block_on, decide, moves, result};
use serde_json::json;
use tribunal::domain::command::Request;
use tribunal::domain::ids::TaskId;
use tribunal::domain::task::TaskState;
use tribunal::store::sqlite::SqliteStore;
use tribunal::store::{Cursor, Store};

const TASKS: usize = 20;

fn name(round: usize, n: usize) -> String {
    format!("T-{round}-{n:02}")
}

/// Two messages of each of many tasks, in one commit, and a move of every other: it brings its own tables up, those of
/// the rest are left behind.
fn crowd(round: usize) -> Vec<Request> {
    let of = |n: usize| {
        let task = name(round, n);
        let mut all = vec![admit(asks(&task)), admit(result(&task, "a", json!(1)))];
        if n.is_multiple_of(2) {
            all.insert(1, moves(&task, TaskState::Ready, 1));
        }
        all
    };
    (0..TASKS).flat_map(of).collect()
}

async fn submit_crowd(store: &SqliteStore, round: usize) {
    for answer in store.submit(crowd(round)).await.unwrap() {
        answer.unwrap();
    }
}

/// How far the tables of the file are behind its log, by the file itself.
fn behind(place: &Place) -> i64 {
    let conn = rusqlite::Connection::open(place.path()).unwrap();
    conn.query_row("SELECT value FROM meta WHERE key = 'behind_from'", [], |r| r.get(0)).unwrap()
}

async fn sees(store: &SqliteStore, round: usize) {
    for n in 0..TASKS {
        let id = TaskId::from(name(round, n).as_str());
        let task = store.task(&id).await.unwrap().unwrap();
        assert_eq!((task.revision, task.submissions), (task.revision, 2), "{id:?}");
        assert_eq!(store.submissions(&id, 0, 10).await.unwrap().len(), 2);
        let events = store.events(&id, 0, 100).await.unwrap();
        assert_eq!(events.last().map(|e| e.revision), Some(task.revision));
        assert_eq!(store.arrivals_of(&id, "a").await.unwrap(), [2]);
        assert!(store.envelope(&id, 2).await.unwrap().is_some());
    }
}

/// The tables are behind after a crowd, or the other tests here would show nothing; whoever reads does not see it.
#[test]
fn who_reads_sees_all_that_was_answered() {
    let place = Place::new();
    block_on(async {
        let store = place.open();
        submit_crowd(&store, 0).await;
        sees(&store, 0).await;
        assert_eq!(behind(&place), 0);
        let all = store.since(Cursor { epoch: 1, position: 0 }, 1000).await.unwrap();
        assert_eq!(all.len() as u64, store.status().await.unwrap().head.events);
    });
    check_invariants(&place.path());
}

/// A feed never gives an event whose task cannot be read yet, and its end never lies past what can be read.
#[test]
fn the_feed_ends_where_the_tables_do() {
    let place = Place::new();
    block_on(async {
        let store = place.open();
        for round in 0..5 {
            submit_crowd(&store, round).await;
            let end = store.feed_end().await.unwrap();
            assert_eq!(end.position, store.status().await.unwrap().head.events);
            submit_crowd(&store, 100 + round).await;
            let after = store.since(end, 1000).await.unwrap();
            assert!(after.iter().all(|c| c.task_id.as_ref().is_some_and(|id| id.0.starts_with("T-10"))));
            assert!(after.iter().any(|c| c.task_id == Some(TaskId(name(100 + round, TASKS - 1)))));
        }
    });
    check_invariants(&place.path());
}

/// Repeats and contradictions are found among messages that are only in the log so far.
#[test]
fn what_a_crowd_said_is_known_at_once() {
    let place = Place::new();
    block_on(async {
        let store = place.open();
        submit_crowd(&store, 0).await;
        let mut again = crowd(0);
        again.retain(|r| !matches!(r.command, tribunal::domain::command::Command::Transition(_)));
        for answer in store.submit(again).await.unwrap() {
            assert_eq!(admitted(&answer).outcome, "duplicate");
        }
        let others = (0..TASKS).map(|n| admit(result(&name(0, n), "b", json!(2)))).collect();
        for answer in store.submit(others).await.unwrap() {
            assert_eq!(admitted(&answer).outcome, "conflict");
        }
        let task = store.task(&TaskId(name(0, 3))).await.unwrap().unwrap();
        assert_eq!((task.state, task.duplicates), (TaskState::NeedsReview, 2));
        let request = decide(&name(0, 3), TaskState::Ready, task.state_version, "k");
        store.submit(vec![request]).await.unwrap().remove(0).unwrap();
    });
    check_invariants(&place.path());
}

/// Two that write one file, each finding the other's crowd in the log and its tables behind.
#[test]
fn another_writer_goes_on_from_the_log() {
    let place = Place::new();
    block_on(async {
        let (one, two) = (place.open(), place.open());
        for round in 0..6 {
            let (writes, other) = if round % 2 == 0 { (&one, &two) } else { (&two, &one) };
            submit_crowd(writes, round).await;
            let repeat = admit(result(&name(round, 1), "a", json!(1)));
            let answer = other.submit(vec![repeat]).await.unwrap().remove(0);
            assert_eq!(admitted(&answer).outcome, "duplicate");
            sees(other, round).await;
        }
        submit_crowd(&one, 10).await;
        submit_crowd(&two, 11).await;
        sees(&one, 11).await;
        sees(&two, 10).await;
    });
    check_invariants(&place.path());
}

/// A store that is closed leaves nothing behind.
#[test]
fn closing_brings_the_tables_up() {
    let place = Place::new();
    block_on(async {
        let store = place.open();
        submit_crowd(&store, 0).await;
        store.close();
    });
    assert_eq!(behind(&place), 0);
    check_invariants(&place.path());
}

/// A process that died behind its log: whoever opens the file next brings it up, the same as if nothing had happened.
#[test]
fn a_file_that_is_behind_is_brought_up() {
    let (place, earlier) = (Place::new(), Place::new());
    std::fs::create_dir_all(earlier.path().parent().unwrap()).unwrap();
    block_on(async {
        let store = place.open();
        submit_crowd(&store, 0).await;
        store.close();
        drop(store);
        std::fs::copy(place.path(), earlier.path()).unwrap();
        let store = place.open();
        submit_crowd(&store, 1).await;
        let mut more: Vec<_> = (0..TASKS).map(|n| admit(result(&name(0, n), "b", json!(2)))).collect();
        more.extend((0..TASKS).map(|n| admit(result(&name(0, n), "c", json!(1)))));
        for answer in store.submit(more).await.unwrap() {
            answer.unwrap();
        }
    });
    // The log of the later file under the tables of the earlier one.
    let conn = rusqlite::Connection::open(earlier.path()).unwrap();
    conn.execute("ATTACH ?1 AS later", [place.path().to_str().unwrap()]).unwrap();
    conn.execute_batch(
        "BEGIN; UPDATE meta SET value = (SELECT max(seq) + 1 FROM event) WHERE key = 'behind_from';
         INSERT INTO event SELECT * FROM later.event WHERE seq > (SELECT max(seq) FROM main.event); COMMIT",
    )
    .unwrap();
    drop(conn);
    block_on(async {
        let store = earlier.open();
        assert_eq!(behind(&earlier), 0);
        sees(&store, 1).await;
        let task = store.task(&TaskId(name(0, 0))).await.unwrap().unwrap();
        assert_eq!((task.state, task.submissions, task.duplicates), (TaskState::NeedsReview, 3, 1));
    });
    let (brought_up, all_along) = (check_invariants(&earlier.path()), check_invariants(&place.path()));
    assert_eq!(brought_up.tasks, all_along.tasks);
}
