//! The ledger page by page: both ways, filtered, and how much one call reads.

use crate::world::*;
use serde_json::json;
use tribunal::coordinator::{Coordinator, LedgerPage, LedgerPlace, LedgerRequest};
use tribunal::domain::actor::{Pattern, Role, Scope};
use tribunal::domain::decision::{Decision, Input, Part};
use tribunal::domain::query::Query;
use tribunal::domain::redact::{Rule, Target};

const FIRST: LedgerPlace = LedgerPlace::After(0);
const LAST: LedgerPlace = LedgerPlace::Before(u64::MAX);

fn numbers(page: &LedgerPage) -> Vec<u64> {
    page.rows.iter().map(|approval| approval.record.sequence).collect()
}

/// Every page from a place on.
async fn pages(c: &dyn Coordinator, mut request: LedgerRequest) -> Vec<Vec<u64>> {
    let mut all = Vec::new();
    loop {
        let page = c.approvals(request.clone()).await.unwrap();
        all.push(numbers(&page));
        match page.next {
            Some(next) => request.from = next,
            None => return all,
        }
    }
}

pub async fn pages_go_both_ways(h: &dyn House) {
    let c = reviewer(h);
    assert_eq!(pages(c.as_ref(), LedgerRequest::all(None, LAST, 5)).await, [vec![0; 0]]);
    for n in 1..=5 {
        let task = format!("T-{}", 1 + n % 2);
        let read = if n <= 2 { conflict(h, &task).await } else { version(h, &task).await };
        let old = c.show(&id(&task)).await.unwrap().task.decided.map(|d| d.approval_id);
        record(c.decide(Decision { supersedes: old, ..decision(&task, read) }).await);
    }
    // T-2 has records 1, 3 and 5.
    for (task, from, limit, expected) in [
        (None, FIRST, 2, vec![vec![1, 2], vec![3, 4], vec![5]]),
        (None, LAST, 2, vec![vec![5, 4], vec![3, 2], vec![1]]),
        (None, LedgerPlace::Before(3), 2, vec![vec![2, 1]]),
        (None, LedgerPlace::After(3), 9, vec![vec![4, 5]]),
        (Some(id("T-2")), FIRST, 9, vec![vec![1, 3, 5]]),
        (Some(id("T-2")), LAST, 9, vec![vec![5, 3, 1]]),
        (Some(id("T-1")), LedgerPlace::Before(4), 9, vec![vec![2]]),
    ] {
        let request = LedgerRequest::all(task.clone(), from, limit);
        assert_eq!(pages(c.as_ref(), request).await, expected, "{task:?} {from:?} {limit}");
    }
}

/// A filter is asked of what is shown: it finds no word behind a mask and no record out of scope.
pub async fn filters_of_records_do_not_tell(h: &dyn House) {
    running(h, "T-1").await;
    ask(h, "T-1", "q", json!({"prompt": "publish canary-4711?"})).await;
    let open = reviewer(h).show(&id("T-1")).await.unwrap().task;
    let words = Input { parts: vec![Part::Text("yes".into())], ..Input::default() };
    let answer = Decision {
        interruption: open.interruption.map(|i| i.id),
        input: Some(words),
        ..decision("T-1", open.state_version)
    };
    record(reviewer(h).decide(answer).await);
    let rules = || vec![Rule::new(Target::Pointer("/prompt".into()), "reviewer").unwrap()];
    let elsewhere = Scope { traces: vec![Pattern("Q-*".into())], ..Scope::default() };
    for (who, filter, found) in [
        (holds("rita", Role::Reviewer), "canary", 1),
        (holds("vera", Role::Viewer), "canary", 0),
        (holds("vera", Role::Viewer), "-canary", 1),
        (holds("vera", Role::Viewer), "redacted", 1),
        (scoped("vera", Role::Viewer, elsewhere.clone()), "agent:rita", 0),
        (scoped("vera", Role::Viewer, elsewhere), "-mine", 0),
    ] {
        let c = h.masked(who.clone(), rules());
        for from in [FIRST, LAST] {
            let query = Query::parse(filter).unwrap();
            let page = c.approvals(LedgerRequest { task: None, query, from, limit: 9 }).await.unwrap();
            assert_eq!(page.rows.len(), found, "{filter} for {who:?}");
        }
    }
}

/// However long the ledger is, one call looks at a bounded part of it, and says where it ended.
pub async fn one_call_reads_a_bounded_part(h: &LocalHouse) {
    const MANY: u64 = 5000;
    let read = conflict(h, "T-1").await;
    record(reviewer(h).decide(decision("T-1", read)).await);
    // Copies of the first record, the last of which says something else.
    let conn = rusqlite::Connection::open(h.place.path()).unwrap();
    conn.execute(
        "WITH RECURSIVE n(n) AS (SELECT 2 UNION ALL SELECT n + 1 FROM n WHERE n < ?1) \
         INSERT INTO approval SELECT n, 'A-' || n, task, n, n + 1000, record_digest, \
         CAST(json_set(CAST(record AS TEXT), '$.sequence', n, '$.approval_id', 'A-' || n, '$.reason', \
         CASE n WHEN ?1 THEN 'the needle' ELSE 'hay' END) AS BLOB) FROM approval, n WHERE sequence = 1",
        [MANY.cast_signed()],
    )
    .unwrap();
    let c = reviewer(h);
    let query = |text: &str| Query::parse(text).unwrap();
    let mut request = LedgerRequest { task: None, query: query("needle"), from: FIRST, limit: 10 };
    let mut calls = 0;
    let found = loop {
        let page = c.approvals(request.clone()).await.unwrap();
        calls += 1;
        match page.next {
            Some(next @ LedgerPlace::After(number)) if page.rows.is_empty() => {
                assert_eq!(number, calls * 2048, "one call looks at 2,048 records");
                request.from = next;
            }
            _ => break page,
        }
    };
    assert_eq!((numbers(&found), calls), (vec![MANY], 3));
    let back = LedgerRequest { from: LAST, query: query("-hay -needle"), ..request.clone() };
    let page = c.approvals(back.clone()).await.unwrap();
    assert_eq!((numbers(&page), page.next), (vec![], Some(LedgerPlace::Before(MANY - 2048 + 1))));
    assert_eq!(pages(c.as_ref(), back).await, [vec![], vec![], vec![1]]);
    // Of what fits at once only a page is given, and nothing twice.
    let hay =
        pages(c.as_ref(), LedgerRequest { from: LAST, query: query("hay"), limit: 900, ..request }).await;
    let all: Vec<u64> = hay.concat();
    assert_eq!(all, (2..MANY).rev().collect::<Vec<u64>>());
    assert!(hay.iter().all(|page| page.len() <= 900), "{:?}", hay.iter().map(Vec::len).collect::<Vec<_>>());
}
