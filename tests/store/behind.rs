//! Tables that are behind the log and cannot be brought up, or not yet: what is read, what is refused, what is said.

use crate::common::invariants::check_invariants;
use crate::common::{NOON, Place, admit, admitted, asks, begin, block_on, conflict, decide, moves, result};
use crate::conformance::first_page;
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use rusqlite::Connection;
use serde_json::json;
use std::time::Duration;
use tribunal::domain::ids::TaskId;
use tribunal::domain::refusal::Refusal;
use tribunal::domain::task::TaskState;
use tribunal::store::sqlite::SqliteStore;
use tribunal::store::{Cursor, Scope, Store, StoreError};

fn file(place: &Place) -> Connection {
    Connection::open(place.path()).unwrap()
}

fn behind(conn: &Connection) -> i64 {
    conn.query_row("SELECT value FROM meta WHERE key = 'behind_from'", [], |r| r.get(0)).unwrap()
}

/// Says that tables may be behind from an event on; that they are not is found when they are brought up.
fn say_behind(conn: &Connection, from: u64) {
    conn.execute("UPDATE meta SET value = ?1 WHERE key = 'behind_from'", [from as i64]).unwrap();
}

async fn has(store: &SqliteStore, task: &str) -> bool {
    store.task(&TaskId::from(task)).await.unwrap().is_some()
}

/// The last event, not yet in any table, is damaged: all before it is read, nothing is written, and it is said why.
#[test]
fn a_damaged_tail_can_be_read_up_to_it() {
    for body in ["{", r#"{"no":"event"}"#] {
        let place = Place::new();
        let events = block_on(async {
            let store = place.open();
            conflict(&store, "T-1").await;
            store.status().await.unwrap().head.events
        });
        let conn = file(&place);
        conn.execute(
            "INSERT INTO event(seq, item, revision, body) VALUES (?1, 1, 99, CAST(?2 AS BLOB))",
            rusqlite::params![events as i64 + 1, body],
        )
        .unwrap();
        say_behind(&conn, events + 1);
        block_on(async {
            let store = place.open();
            let said = store.status().await.unwrap().write_failure.expect("said from the start");
            assert!(said.contains("damaged") && said.contains(&format!("event {}", events + 1)), "{said}");
            assert!(has(&store, "T-1").await);
            assert_eq!(store.page(&first_page(Scope::Waiting)).await.unwrap().rows.len(), 1);
            assert_eq!(store.feed_end().await.unwrap().position, events);
            let feed = store.since(Cursor { epoch: 1, position: 0 }, 1000).await.unwrap();
            assert_eq!(feed.len() as u64, events);
            let many = (0..20).map(|n| admit(asks(&format!("N-{n}")))).collect();
            assert!(matches!(store.submit(many).await, Err(StoreError::Damaged(_))));
            assert!(!has(&store, "N-0").await);
            let through = store.status().await.unwrap().head.events;
            let mut page = store.check(0, through, 100).await.unwrap();
            page = store.check(page.next.unwrap(), through, 100).await.unwrap();
            let told = format!("{:?}", page.findings);
            assert!(told.contains(&format!("behind it from event {}", events + 1)), "{told}");
        });
    }
}

/// A store that is not the remembered one is brought up where it is behind; that does not make it the remembered one.
#[test]
fn bringing_up_accepts_no_head() {
    let (place, elsewhere) = (Place::new(), Place::new());
    std::fs::create_dir_all(elsewhere.path().parent().unwrap()).unwrap();
    block_on(async {
        begin(&place.open(), "T-1").await;
        std::fs::copy(place.path(), elsewhere.path()).unwrap();
        place.open().submit(vec![admit(asks("T-2"))]).await.unwrap();
        let other = elsewhere.open();
        for task in ["T-3", "T-4", "T-5"] {
            begin(&other, task).await;
        }
    });
    std::fs::copy(elsewhere.path(), place.path()).unwrap();
    let why = |store: &SqliteStore| block_on(store.status()).unwrap().mismatch;
    let store = place.open();
    let first = why(&store).expect("another log");
    assert!(first.contains("not the one remembered"), "{first}");
    let conn = file(&place);
    say_behind(&conn, 1);
    assert!(block_on(has(&store, "T-4")));
    assert_eq!(behind(&conn), 0, "brought up all the same");
    let answer = block_on(store.submit(vec![admit(asks("T-9"))])).unwrap().remove(0);
    assert_eq!(answer, Err(Refusal::HeadMismatch { why: first.clone() }));
    drop((store, conn));
    assert_eq!(why(&place.open()), Some(first), "and still not accepted");
}

/// However many wait to write, a read waits until all that was answered before it can be read.
#[test]
fn a_full_queue_does_not_hide_what_was_answered() {
    let place = Place::new();
    block_on(async {
        let store = place.open();
        begin(&store, "T-1").await;
        let conn = file(&place);
        say_behind(&conn, 1);
        conn.execute_batch("BEGIN IMMEDIATE").unwrap();
        // More than the writer takes at once, and than have room after that.
        let mut all: FuturesUnordered<_> =
            (0..4000).map(|_| store.submit(vec![admit(b"junk".to_vec())])).collect();
        let early = tokio::time::timeout(Duration::from_millis(300), async {
            tokio::select! {
                biased;
                _ = all.next() => "an answer",
                _ = has(&store, "T-1") => "a read",
            }
        });
        assert_eq!(early.await.ok(), None, "nobody can have written, so nothing may be read yet");
        conn.execute_batch("COMMIT").unwrap();
        let (seen, _) = tokio::join!(has(&store, "T-1"), async { while all.next().await.is_some() {} });
        assert!(seen);
        assert_eq!(behind(&conn), 0);
    });
    check_invariants(&place.path());
}

/// A crowd whose messages were all put aside leaves nothing behind: who follows hears of it at once.
#[test]
fn a_crowd_put_aside_wakes_who_follows() {
    let place = Place::new();
    block_on(async {
        let store = place.open();
        for round in 0..5 {
            let changed = store.changed();
            let junk = (0..20).map(|n| admit(format!("junk {round} {n}").into_bytes())).collect();
            store.submit(junk).await.unwrap();
            let woken = tokio::time::timeout(Duration::ZERO, changed).await;
            assert!(woken.is_ok(), "{round}");
        }
    });
}

/// One that cannot be answered fails its caller, with all that this caller asked after it, and nobody else.
#[test]
fn a_damaged_task_fails_only_who_asks_about_it() {
    let place = Place::new();
    block_on(async {
        let store = place.open();
        begin(&store, "T-1").await;
        drop(store);
        let conn = file(&place);
        conn.execute("UPDATE snapshot SET body = X'7B' WHERE id = 1", []).unwrap();
        let store = place.open();
        conn.execute_batch("BEGIN IMMEDIATE").unwrap();
        let (one, other) = (
            vec![admit(asks("T-2")), admit(result("T-1", "a", json!(1))), admit(asks("T-3"))],
            vec![admit(asks("T-4"))],
        );
        let first = store.submit(vec![admit(asks("T-0"))]);
        let both = async { tokio::join!(first, store.submit(one), store.submit(other)) };
        tokio::pin!(both);
        assert!(tokio::time::timeout(Duration::from_millis(50), &mut both).await.is_err());
        conn.execute_batch("COMMIT").unwrap();
        let (first, one, other) = both.await;
        assert_eq!(admitted(&first.unwrap()[0]).outcome, "accepted");
        assert!(matches!(one, Err(StoreError::Damaged(_))), "{one:?}");
        assert_eq!(admitted(&other.unwrap()[0]).outcome, "accepted");
        assert!(!has(&store, "T-3").await, "it may have rested on what failed");
        assert!(has(&store, "T-4").await);
    });
}

/// Tables are never behind by more than what a reader may be made to wait for, whatever a crowd says.
#[test]
fn tables_are_behind_by_a_bounded_number_of_events() {
    let place = Place::new();
    block_on(async {
        let store = place.open();
        begin(&store, "T-1").await;
        store.submit(vec![admit(result("T-1", "a", json!(1)))]).await.unwrap();
        let round = |n: usize| {
            let mut all: Vec<_> = (0..300).map(|_| admit(result("T-1", "a", json!(1)))).collect();
            all.push(admit(asks(&format!("N-{n}"))));
            all
        };
        let rounds: Vec<_> = (0..40).map(round).collect();
        let conn = file(&place);
        let mut most = 0;
        for requests in rounds {
            store.submit(requests).await.unwrap();
            let sql = "SELECT iif(value = 0, 0, (SELECT max(seq) FROM event) - value + 1) FROM meta WHERE key = 'behind_from'";
            let now: i64 = conn.query_row(sql, [], |r| r.get(0)).unwrap();
            most = most.max(now);
        }
        assert!((1..=4096).contains(&most), "{most}");
    });
    check_invariants(&place.path());
}

/// More tasks than are kept in memory, some of them only in the log when they are forgotten.
#[test]
fn more_tasks_than_are_kept() {
    let place = Place::new();
    block_on(async {
        let store = place.open();
        let all: Vec<String> = (0..9000).map(|n| format!("T-{n}")).collect();
        for some in all.chunks(700) {
            for answer in store.submit(some.iter().map(|t| admit(asks(t))).collect()).await.unwrap() {
                assert_eq!(admitted(&answer).outcome, "accepted");
            }
        }
        for some in all.chunks(1500) {
            for answer in store.submit(some.iter().map(|t| admit(asks(t))).collect()).await.unwrap() {
                assert_eq!(admitted(&answer).outcome, "duplicate");
            }
        }
    });
    let found = check_invariants(&place.path());
    assert!(found.tasks.len() == 9000 && found.tasks.values().all(|t| t.duplicates == 1));
}

/// A decision on a task that a crowd left behind: it is brought up, decided and changed in one commit, and goes on.
#[test]
fn a_task_is_brought_up_and_changed_in_one_commit() {
    let place = Place::new();
    block_on(async {
        let store = place.open();
        let mut crowd: Vec<_> = (0..10).map(|n| admit(asks(&format!("N-{n}")))).collect();
        crowd.extend([
            admit(asks("T-1")),
            moves("T-1", TaskState::Ready, 1),
            moves("T-1", TaskState::Running, 2),
        ]);
        crowd.extend([admit(result("T-1", "a", json!(1))), admit(result("T-1", "b", json!(2)))]);
        let answers = store.submit(crowd).await.unwrap();
        let version = admitted(answers.last().unwrap()).state_version.unwrap();
        let mut next = vec![decide("T-1", TaskState::Ready, version, "k")];
        next.extend((0..10).map(|n| admit(result(&format!("N-{n}"), "a", json!(1)))));
        next.extend([moves("T-1", TaskState::Running, version + 1), admit(result("T-1", "c", json!(3)))]);
        for answer in store.submit(next).await.unwrap() {
            answer.unwrap();
        }
        store.close();
    });
    assert_eq!(check_invariants(&place.path()).records.len(), 1);
}

/// The same file under other thresholds: the docket is made anew, also where tables are behind, and is then what the log
/// says under them.
#[test]
fn the_docket_is_made_anew_under_other_thresholds() {
    for is_behind in [false, true] {
        let place = Place::new();
        let later = block_on(async {
            let store = place.open();
            conflict(&store, "T-1").await;
            store.submit(vec![admit(asks("T-2"))]).await.unwrap();
            store.submit(vec![admit(b"junk".to_vec())]).await.unwrap();
            let last = store.status().await.unwrap().head.events;
            begin(&store, "T-3").await;
            store.submit(vec![admit(asks("T-4"))]).await.unwrap();
            last
        });
        if is_behind {
            // T-3 and T-4 as they are when only the log has them.
            let conn = file(&place);
            for sql in [
                "DELETE FROM thread WHERE seq > ?1",
                "DELETE FROM docket WHERE item IN (SELECT item FROM event WHERE seq > ?1)",
                "DELETE FROM words WHERE item IN (SELECT item FROM event WHERE seq > ?1)",
                "DELETE FROM snapshot WHERE id IN (SELECT item FROM event WHERE seq > ?1)",
                "DELETE FROM task WHERE id IN (SELECT item FROM event WHERE seq > ?1)",
            ] {
                assert!(conn.execute(sql, [later as i64]).unwrap() > 0, "{sql}");
            }
            say_behind(&conn, later + 1);
        }
        let mut options = place.options();
        options.rules.thresholds.pending_ms = 60_000;
        block_on(async {
            let store = SqliteStore::open(&place.path(), options).unwrap();
            let listed = async |minutes: i64| {
                let mut request = first_page(Scope::Waiting);
                request.now = NOON.plus(minutes * 60_000);
                let rows = store.page(&request).await.unwrap().rows;
                rows.iter().filter_map(|r| r.task.as_ref()).map(|t| t.task_id.0.clone()).collect::<Vec<_>>()
            };
            assert_eq!(listed(0).await, ["T-1"]);
            assert_eq!(listed(1).await, ["T-1", "T-2", "T-4"]);
            let (found, _) = crate::check::check(&store).await;
            assert_eq!(found.findings, []);
        });
        // And back again.
        drop(place.open());
        check_invariants(&place.path());
    }
}

/// A tab is counted up to ten thousand; from the next on it says that there are more.
#[test]
fn tallies_past_what_is_counted() {
    let place = Place::new();
    block_on(async {
        let store = place.open();
        let conn = file(&place);
        let fill = |from: i64, to: i64| {
            conn.execute_batch(&format!(
                "WITH RECURSIVE n(i) AS (SELECT {from} UNION ALL SELECT i + 1 FROM n WHERE i < {to})
                 INSERT INTO docket(item, since, until, reason, stuck, urgency, decided)
                 SELECT i, 1, 9223372036854775807, 0, -1, -1, 1 FROM n;
                 WITH RECURSIVE n(i) AS (SELECT {from} UNION ALL SELECT i + 1 FROM n WHERE i < {to})
                 INSERT INTO task(id, task_id, trace_id, state, entered_at, urgency, deadline, candidates, decided)
                 SELECT i, 'T-' || i, 'R', 0, 1, -1, 9223372036854775807, 0, 1 FROM n;"
            ))
            .unwrap();
        };
        let counted = async || {
            let t = store.tallies(NOON).await.unwrap();
            [t.needs_review, t.all, t.decided].map(|t| (t.count, t.capped))
        };
        fill(1, 10_000);
        assert_eq!(counted().await, [(10_000, false); 3]);
        conn.execute("UPDATE docket SET reason = 1 WHERE item <= 4000", []).unwrap();
        assert_eq!(counted().await, [(6000, false), (10_000, false), (10_000, false)]);
        fill(10_001, 10_001);
        assert_eq!(counted().await, [(6001, false), (10_000, true), (10_000, true)]);
        conn.execute("UPDATE docket SET reason = 0", []).unwrap();
        assert_eq!(counted().await, [(10_000, true); 3]);
        let t = store.tallies(NOON).await.unwrap();
        assert_eq!((t.stuck.count, t.quarantine.count), (0, 0));
    });
}
