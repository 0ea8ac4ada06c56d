//! Tests of what only SQLite has: query plans, and settings that data depends on.

use super::clock::Clock;
use super::filter::Sql;
use super::page::{self, sources, statement};
use super::{Options, SqliteStore, connect, log, quarantine};
use crate::domain::attention::Reason;
use crate::domain::ids::Timestamp;
use crate::domain::query::Query;
use crate::store::{Order, OrderKey, PageRequest, Scope};
use rusqlite::{Connection, params_from_iter};
use std::time::Duration;

fn store() -> (tempfile::TempDir, SqliteStore, Connection) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("store.db");
    let store = SqliteStore::open(&path, Options::new(dir.path().join("state"))).unwrap();
    let conn = connect::for_reading(&path).unwrap();
    (dir, store, conn)
}

/// A clock that nothing stored is ahead of.
const NOW: Clock = Clock { now: 0, latest: 0 };

fn plan(conn: &Connection, sql: &Sql) -> Vec<String> {
    let mut stmt = conn.prepare(&format!("EXPLAIN QUERY PLAN {}", sql.text)).unwrap();
    let rows = stmt.query_map(params_from_iter(sql.values.clone()), |r| r.get(3)).unwrap();
    rows.map(Result::unwrap).collect()
}

fn request(scope: Scope, key: OrderKey, after: Option<&str>) -> PageRequest {
    PageRequest {
        scope,
        query: Query::default(),
        order: Order { key, descending: false },
        after: after.map(str::to_owned),
        backwards: false,
        limit: 50,
        now: Timestamp(0),
        me: String::new(),
    }
}

/// The plan of each source's page in an order, from the first row or after a cursor.
fn plans(
    conn: &Connection,
    scope: Scope,
    key: OrderKey,
    cursor: Option<&str>,
    down: bool,
) -> Vec<Vec<String>> {
    let letter = crate::store::rows::order_letter(key);
    let cursor = cursor.map(|c| format!("{letter}.{c}"));
    let mut request = request(scope, key, cursor.as_deref());
    request.order.descending = down;
    sources(scope, key).into_iter().map(|s| plan(conn, &statement(s, &request, NOW).unwrap())).collect()
}

#[test]
fn the_default_page_costs_one_index_range() {
    let (_dir, _store, conn) = store();
    for down in [false, true] {
        let first = plans(&conn, Scope::Waiting, OrderKey::Since, None, down);
        assert_eq!(first, [["SEARCH d USING COVERING INDEX docket_by_since (since<?)"]]);
        let reason = plans(&conn, Scope::Reason(Reason::Stuck), OrderKey::Since, None, down);
        assert_eq!(reason, [["SEARCH d USING COVERING INDEX docket_by_reason (reason=? AND since<?)"]]);
        let next = plans(&conn, Scope::Waiting, OrderKey::Since, Some("1.1"), down);
        let bound = if down { "((since,item)<(?,?))" } else { "((since,item)>(?,?) AND since<?)" };
        assert_eq!(next, [[format!("SEARCH d USING COVERING INDEX docket_by_since {bound}")]]);
    }
}

#[test]
fn no_indexed_order_sorts() {
    let (_dir, _store, conn) = store();
    for (scope, key, cursor) in [
        (Scope::Waiting, OrderKey::Since, "1.1"),
        (Scope::Waiting, OrderKey::Reason, "4.1.1"),
        (Scope::Reason(Reason::NeedsReview), OrderKey::Since, "1.1"),
        (Scope::Decided, OrderKey::Since, "1.1"),
        (Scope::Everything, OrderKey::Since, "1.1"),
        (Scope::Everything, OrderKey::Task, "x54.1"),
        (Scope::Everything, OrderKey::Trace, "x54.1"),
        (Scope::Decided, OrderKey::Priority, "-1.7"),
        (Scope::Decided, OrderKey::Deadline, "5.7"),
    ] {
        for down in [false, true] {
            for cursor in [None, Some(cursor)] {
                let all = plans(&conn, scope, key, cursor, down).concat();
                assert!(
                    all.iter().all(|s| !s.contains("TEMP B-TREE")),
                    "{scope:?} {key:?} {cursor:?}: {all:#?}"
                );
                assert!(
                    all.iter().all(|s| !s.starts_with("SCAN") || s.contains("INDEX")),
                    "{scope:?} {key:?}: {all:#?}"
                );
            }
        }
    }
}

/// What waits is ordered by reading one index and keeping the first rows; what is decided, and everything, by walking
/// an index from the cursor on.
#[test]
fn priorities_and_deadlines_read_one_index() {
    let (_dir, _store, conn) = store();
    for key in [OrderKey::Priority, OrderKey::Deadline] {
        let cursor = if key == OrderKey::Priority { "-1.7" } else { "9223372036854775807.7" };
        let waiting = plans(&conn, Scope::Waiting, key, Some(cursor), false).concat();
        assert_eq!(
            waiting,
            ["SEARCH d USING COVERING INDEX docket_by_since (since<?)", "USE TEMP B-TREE FOR ORDER BY"]
        );
        let name = if key == OrderKey::Priority { "urgency" } else { "deadline" };
        for down in [false, true] {
            let sign = if down { "<" } else { ">" };
            let by_value = format!("INDEX task_by_{name} (");
            let everything = plans(&conn, Scope::Everything, key, Some(cursor), down);
            let without = format!("SEARCH t USING INTEGER PRIMARY KEY (rowid{sign}?)");
            for (n, plan) in everything.iter().enumerate() {
                assert!(!plan.iter().any(|step| step.contains("TEMP B-TREE")), "{plan:#?}");
                let fits = if n == 1 { plan[0] == without } else { plan[0].contains(&by_value) };
                assert!(fits && plan[1].starts_with("SEARCH d USING PRIMARY KEY (item=?"), "{plan:#?}");
            }
            let decided = plans(&conn, Scope::Decided, key, Some(cursor), down).concat();
            let range = format!("INDEX task_decided_by_{name} (");
            assert!(decided[0].contains(&range), "{decided:#?}");
        }
    }
    let since = plans(&conn, Scope::Decided, OrderKey::Since, Some("1.1"), false);
    assert!(since[0][0].contains("docket_decided ((since,item)>(?,?)"), "{since:#?}");
    assert!(since[1][0].contains("task_decided ("), "{since:#?}");
}

#[test]
fn one_trace_is_found_by_its_index() {
    let (_dir, _store, conn) = store();
    let mut request = request(Scope::Waiting, OrderKey::Since, None);
    request.query = Query::parse("trace:R-1").unwrap();
    let plan = plan(&conn, &statement(sources(Scope::Waiting, OrderKey::Since)[0], &request, NOW).unwrap());
    assert!(plan[0].contains("task_by_trace (trace_id=?)"), "{plan:#?}");
}

#[test]
fn submissions_in_arrival_order_cost_one_index_range() {
    let (_dir, _store, conn) = store();
    let ranges = ["PRIMARY KEY (item=? AND revision<?)", "INDEX thread_by_arrival (item=? AND arrival>?)"];
    for (sql, range) in log::PAGE_OF_SUBMISSIONS.into_iter().zip(ranges) {
        let sql = Sql { text: sql.to_owned(), values: vec![1.into(), 0.into(), 50.into()] };
        let plan = plan(&conn, &sql);
        assert!(plan.iter().all(|s| s.starts_with("SEARCH")), "{plan:#?}");
        assert!(plan[0].contains(range), "{plan:#?}");
    }
}

#[test]
fn a_delivery_is_found_among_the_near_events_or_by_an_index() {
    let (_dir, _store, conn) = store();
    let sql = Sql { text: log::PROBE.to_owned(), values: vec![1.into(), 7.into()] };
    let plan = plan(&conn, &sql);
    for range in [
        "PRIMARY KEY (item=? AND revision<?)",
        "INDEX thread_by_intent (item=? AND intent=? ",
        "INDEX thread_by_name (item=? AND name=? ",
    ] {
        assert!(plan.iter().any(|s| s.contains(range)), "{plan:#?}");
    }
    assert!(plan.iter().all(|s| !s.starts_with("SCAN")), "{plan:#?}");
}

#[test]
fn counts_read_only_the_index() {
    let (_dir, _store, conn) = store();
    let sql = Sql { text: page::by_reason(), values: vec![0.into(), 0.into(), 0.into(), 0.into()] };
    let plan = plan(&conn, &sql);
    assert!(
        plan.iter().any(|s| s.contains("COVERING INDEX docket_by_reason (reason=? AND since<?)")),
        "{plan:#?}"
    );
}

#[test]
fn commits_wait_for_the_disk() {
    let (dir, _store, _conn) = store();
    let conn = connect::for_writing(&dir.path().join("store.db"), Duration::ZERO).unwrap();
    let value = |name: &str| conn.pragma_query_value(None, name, |r| r.get::<_, i64>(0)).unwrap();
    assert_eq!((value("synchronous"), value("wal_autocheckpoint")), (2, 0));
    let mode: String = conn.pragma_query_value(None, "journal_mode", |r| r.get(0)).unwrap();
    assert_eq!(mode, "wal");
}

#[test]
fn binding_values_does_not_plan_anew() {
    let (dir, _store, _conn) = store();
    let conn = connect::for_writing(&dir.path().join("store.db"), Duration::ZERO).unwrap();
    let mut stmt = conn.prepare(log::PROBE).unwrap();
    for n in 0..5_i64 {
        assert!(!stmt.exists([n, n << 40]).unwrap());
    }
    assert_eq!(stmt.get_status(rusqlite::StatementStatus::RePrepare), 0);
}

#[test]
fn names_of_entries() {
    assert_eq!(quarantine::number(&quarantine::name(7)), Some(7));
    for bad in ["", "Q-", "Q-0", "Q--1", "Q-+1", "q-1", "Q-1 ", "Q-99999999999999999999"] {
        assert_eq!(quarantine::number(bad), None, "{bad}");
    }
}
