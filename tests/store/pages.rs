//! Lists: every scope, order and direction, and filters in SQL that pick what the rules pick in memory.

use crate::common::{self, NOON, admit, admit_at, asks, begin, block_on, conflict, decide, envelope, run};
use crate::conformance::{Factory, first_page};
use serde_json::{Value, json};
use tribunal::domain::command::Command;
use tribunal::domain::ids::{TaskId, Timestamp};
use tribunal::domain::query::Query;
use tribunal::domain::task::TaskState;
use tribunal::store::{DocketRow, Listed, Of, Order, OrderKey, Scope, Store, StoreError};

const ORDERS: [OrderKey; 6] = [
    OrderKey::Since,
    OrderKey::Priority,
    OrderKey::Deadline,
    OrderKey::Task,
    OrderKey::Trace,
    OrderKey::Reason,
];

const HOUR: i64 = 3_600_000;

/// Late enough for quiet tasks to be stuck.
const EVENING: Timestamp = Timestamp(NOON.0 + 6 * HOUR);

fn scopes() -> Vec<Scope> {
    use tribunal::domain::attention::Reason;
    let reasons = Reason::ALL.into_iter().map(Scope::Reason);
    [Scope::Waiting, Scope::Decided, Scope::Everything].into_iter().chain(reasons).collect()
}

/// Tasks of every kind, and entries.
async fn populate(store: &impl Store) {
    for n in 0..30_i64 {
        let task = format!("T-{:02}", (n * 7) % 30);
        let mut payload = json!({"goal": format!("Größe [{n}] *ΣΑΣ* {}", if n % 2 == 0 { "Deploy" } else { "test\u{0}x" })});
        if n % 3 == 0 {
            payload["priority"] = json!([5, -3, 1_i64 << 53, -(1_i64 << 53)][(n / 3) as usize % 4]);
        }
        if n % 4 == 0 {
            payload["deadline"] = json!(NOON.plus(n * HOUR));
        }
        let asked =
            envelope(json!({"type": "task_request", "task_id": task, "message_id": format!("{task}-ask"),
            "idempotency_key": "ask", "trace_id": format!("R-{}", n % 5), "payload": payload,
            "labels": {"team": if n % 2 == 0 { "core*" } else { "ops" }, "n": n.to_string()}}));
        store.submit(vec![admit_at(asked, NOON.plus(n / 2 * 60_000))]).await.unwrap();
    }
    let says = |n: i64, more: Value| {
        let task = format!("T-{:02}", (n * 7) % 30);
        let mut all = json!({"task_id": task, "trace_id": format!("R-{}", n % 5), "message_id": format!("{n}-{more}")[..20]});
        all.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        admit(envelope(all))
    };
    for n in 0..30_i64 {
        let task = format!("T-{:02}", (n * 7) % 30);
        if n % 6 == 5 {
            continue;
        }
        let mut steps = vec![common::moves(&task, TaskState::Ready, 1)];
        let id = TaskId::from(task.as_str());
        match n % 6 {
            0 => steps.push(common::moves(&task, TaskState::Running, 2)),
            1 => {
                steps.push(run(Command::Claim { task_id: id, worker: format!("agent-{n}"), ttl_ms: 60_000 }))
            }
            2 => {
                let question = json!({"prompt": "Wohin?", "satisfiers": {"principals": if n == 2 { vec!["wolf"] } else { vec!["\u{e9}\"x"] }},
                    "expires_at": NOON.plus(n * HOUR / 4)});
                steps.push(common::moves(&task, TaskState::Running, 2));
                steps.push(says(n, json!({"type": "human_request", "payload": question})));
            }
            3 => {
                steps.push(common::moves(&task, TaskState::Running, 2));
                steps.push(says(n, json!({"message_id": "a", "payload": 1})));
                steps.push(says(n, json!({"message_id": "b", "payload": 2})));
            }
            4 => {
                steps.push(common::moves(&task, TaskState::Running, 2));
                let failure =
                    json!({"category": if n == 4 { "delivery" } else { "rejected" }, "retryable": n > 10});
                steps.push(says(n, json!({"type": "task_failure", "payload": failure})));
            }
            _ => {}
        }
        for answer in store.submit(steps).await.unwrap() {
            answer.unwrap();
        }
    }
    let version = conflict(store, "T-90").await;
    store.submit(vec![decide("T-90", TaskState::Ready, version, "d")]).await.unwrap()[0].as_ref().unwrap();
    let version = conflict(store, "T-91").await;
    store.submit(vec![decide("T-91", TaskState::Canceled, version, "d")]).await.unwrap()[0].as_ref().unwrap();
    for junk in ["{", "nope", r#"{"task_id": "T-404", "message_id": "m", "sender": "agent-1"}"#] {
        store.submit(vec![admit(junk.as_bytes().to_vec())]).await.unwrap();
    }
}

fn name(row: &DocketRow) -> String {
    match (&row.task, &row.entry) {
        (Some(task), None) => task.task_id.0.clone(),
        (None, Some(entry)) => entry.id.clone(),
        other => panic!("a row stands for one thing: {other:?}"),
    }
}

fn key(row: &DocketRow, order: OrderKey) -> (i128, String) {
    let task = row.task.as_ref();
    let number = |n: i64| (i128::from(n), String::new());
    match order {
        OrderKey::Since => number(row.attention.map_or_else(|| task.unwrap().entered_at.0, |a| a.since.0)),
        OrderKey::Priority => (-i128::from(task.map_or(0, |t| t.request.priority)), String::new()),
        OrderKey::Deadline => number(task.and_then(|t| t.request.deadline).map_or(i64::MAX, |d| d.0)),
        OrderKey::Task => {
            let entry = row.entry.as_ref().and_then(|e| e.named.task_id.clone());
            (0, task.map(|t| t.task_id.0.clone()).or(entry).unwrap_or_default())
        }
        OrderKey::Trace => (0, task.map(|t| t.trace_id.clone()).unwrap_or_default()),
        OrderKey::Reason => number(row.attention.map_or(9, |a| a.reason as i64)),
    }
}

pub async fn pages_walk_every_list_both_ways<F: Factory>(factory: &F) {
    let store = factory.open();
    populate(&store).await;
    for scope in scopes() {
        for key_of in ORDERS {
            let mut request = first_page(scope);
            (request.now, request.limit, request.order.key) = (EVENING, 1000, key_of);
            let whole = store.page(&request).await.unwrap();
            assert!(!whole.more);
            let names: Vec<String> = whole.rows.iter().map(name).collect();
            let mut unique = names.clone();
            unique.sort();
            unique.dedup();
            assert_eq!(unique.len(), names.len(), "{scope:?} {key_of:?}: {names:?}");
            let keys: Vec<_> = whole.rows.iter().map(|r| key(r, key_of)).collect();
            assert!(keys.is_sorted(), "{scope:?} {key_of:?}: {keys:?}");
            for descending in [false, true] {
                let mut expected = names.clone();
                if descending {
                    expected.reverse();
                }
                request.order = Order { key: key_of, descending };
                walk(&store, request.clone(), &expected).await;
            }
        }
    }
}

async fn walk(store: &impl Store, mut request: tribunal::store::PageRequest, expected: &[String]) {
    request.limit = 4;
    let (mut forward, mut cursors) = (Vec::new(), Vec::new());
    loop {
        let page = store.page(&request).await.unwrap();
        forward.extend(page.rows.iter().map(name));
        cursors.extend(page.rows.iter().map(|r| r.cursor.clone()));
        assert_eq!(page.more, forward.len() < expected.len());
        match cursors.last() {
            Some(last) if page.more => request.after = Some(last.clone()),
            _ => break,
        }
    }
    assert_eq!(forward, expected, "{:?} {:?}", request.scope, request.order);
    request.backwards = true;
    for (at, cursor) in cursors.iter().enumerate() {
        request.after = Some(cursor.clone());
        let page = store.page(&request).await.unwrap();
        let before: Vec<String> = page.rows.iter().map(name).collect();
        assert_eq!(before, expected[at.saturating_sub(4)..at], "before {at}");
        assert_eq!(page.more, at > 4);
    }
    request.after = None;
    let end: Vec<String> = store.page(&request).await.unwrap().rows.iter().map(name).collect();
    assert_eq!(end, expected[expected.len().saturating_sub(4)..]);
    let other = if request.order.key == OrderKey::Task { OrderKey::Since } else { OrderKey::Task };
    if let Some(cursor) = cursors.first() {
        (request.order.key, request.after) = (other, Some(cursor.clone()));
        assert_eq!(store.page(&request).await, Err(StoreError::BadCursor));
    }
}

const TERMS: &[&str] = &[
    "deploy",
    "DEPLOY",
    "größe",
    "GRÖSSE",
    "σας",
    "\"[1\"",
    "wohin",
    "t-0",
    "r-1",
    "\"*\"",
    "x",
    "q",
    "agent-1",
    "state:needs_review",
    "state:ready,pending",
    "state:running,waiting_human,failed",
    "reason:stuck",
    "reason:quarantined",
    "reason:needs_review,waiting_human",
    "reason:INPUT_REQUIRED",
    "trace:R-1",
    "trace:R-*",
    "trace:\"R-*\"",
    "trace:*1,*2",
    "trace:*",
    "task:T-0*",
    "task:*0*",
    "task:T-404",
    "task:*",
    "task:\"\"*",
    "task:T-?0",
    "task:[T]*",
    "agent:agent-1",
    "agent:agent*",
    "agent:*",
    "label:team",
    "label:team=core*",
    "label:team=\"core*\"",
    "label:team=ops,dev",
    "label:n=1*",
    "label:gone",
    "age>2h",
    "age<5h",
    "age>=6h",
    "age<=6h",
    "since:2026-11-30T12:00:00Z",
    "until:2026-11-30T13:00:00Z",
    "since:2h",
    "until:5h",
    "candidates>1",
    "candidates=0",
    "candidates>=1",
    "candidates<2",
    "candidates<=1",
    "failure:delivery",
    "failure:rejected,failed",
    "mine",
];

/// The rows SQL picks are the rows the rules pick, for every term, negated or not, alone or with others.
pub async fn filters_pick_what_the_rules_pick<F: Factory>(factory: &F) {
    let store = factory.open();
    populate(&store).await;
    let mut queries: Vec<String> = TERMS.iter().flat_map(|t| [(*t).to_owned(), format!("-{t}")]).collect();
    let mut state = 7_usize;
    let mut any = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        queries[(state >> 33) % (2 * TERMS.len())].clone()
    };
    let pairs: Vec<String> = (0..150)
        .map(|n| if n % 3 == 0 { [any(), any(), any()].join(" ") } else { [any(), any()].join(" ") })
        .collect();
    queries.extend(pairs);
    let list = |prefix: &str, n: usize| format!("{prefix}{}", vec!["*a,b"; n].join(","));
    queries.extend([list("trace:", 600), list("label:team=", 600)]);
    let mut picked = 0;
    for scope in [Scope::Waiting, Scope::Everything, Scope::Decided] {
        let mut request = first_page(scope);
        (request.now, request.limit) = (EVENING, 1000);
        let all = store.page(&request).await.unwrap().rows;
        for text in &queries {
            request.query = Query::parse(text).unwrap_or_else(|e| panic!("{text}: {e:?}"));
            let fits = |row: &&DocketRow| {
                let of = row.task.as_ref().map(Of::Task).or(row.entry.as_ref().map(Of::Entry)).unwrap();
                let listed = Listed { of, attention: row.attention.as_ref(), me: "wolf" };
                request.query.matches(&listed, EVENING.0)
            };
            let expected: Vec<String> = all.iter().filter(fits).map(name).collect();
            picked += expected.len();
            for key in [OrderKey::Since, OrderKey::Reason] {
                request.order.key = key;
                let mut found: Vec<String> =
                    store.page(&request).await.unwrap().rows.iter().map(name).collect();
                let mut expected = expected.clone();
                if key != OrderKey::Since {
                    found.sort();
                    expected.sort();
                }
                assert_eq!(found, expected, "{scope:?} {key:?} {text}");
            }
            request.order.key = OrderKey::Since;
        }
    }
    assert!(picked > 1000, "the terms pick something");
}

/// A count equals the length of the list it names, at any moment.
pub async fn tallies_count_what_pages_list<F: Factory>(factory: &F) {
    use tribunal::domain::attention::Reason;
    let store = factory.open();
    populate(&store).await;
    for now in [NOON, NOON.plus(30 * 60_000), NOON.plus(2 * HOUR), EVENING] {
        let tallies = store.tallies(now).await.unwrap();
        let count = async |scope| {
            let mut request = first_page(scope);
            (request.now, request.limit) = (now, 1000);
            store.page(&request).await.unwrap().rows.len() as u64
        };
        for (tally, scope) in [
            (tallies.all, Scope::Waiting),
            (tallies.needs_review, Scope::Reason(Reason::NeedsReview)),
            (tallies.waiting, Scope::Reason(Reason::WaitingHuman)),
            (tallies.input, Scope::Reason(Reason::InputRequired)),
            (tallies.auth, Scope::Reason(Reason::AuthRequired)),
            (tallies.stuck, Scope::Reason(Reason::Stuck)),
            (tallies.decided, Scope::Decided),
        ] {
            assert_eq!((tally.count, tally.capped), (count(scope).await, false), "{scope:?} at {now}");
        }
        assert_eq!(tallies.quarantine.count, store.quarantine(0, 100, false).await.unwrap().len() as u64);
    }
}

/// Nobody writes, time passes, and the task is stuck.
/// What waits is listed though the clock says that it came about in a moment to come; what would be stuck by then is not.
pub async fn a_clock_set_back_hides_nothing<F: Factory>(factory: &F) {
    let store = factory.open();
    conflict(&store, "T-1").await;
    store.submit(vec![admit(asks("T-2")), admit(b"junk".to_vec())]).await.unwrap();
    for now in [NOON, NOON.plus(-1), NOON.plus(-24 * HOUR)] {
        for key in ORDERS {
            let mut request = first_page(Scope::Waiting);
            (request.now, request.order.key) = (now, key);
            let rows = store.page(&request).await.unwrap().rows;
            let mut listed: Vec<_> =
                rows.iter().map(|r| r.task.as_ref().map(|t| t.task_id.0.as_str())).collect();
            listed.sort_unstable();
            assert_eq!(listed, [None, Some("T-1")], "{key:?} at {now}");
        }
        let tallies = store.tallies(now).await.unwrap();
        let counts = [tallies.all, tallies.needs_review, tallies.stuck, tallies.quarantine].map(|t| t.count);
        assert_eq!(counts, [2, 1, 1, 1], "at {now}");
    }
}

pub async fn a_quiet_task_becomes_stuck<F: Factory>(factory: &F) {
    let store = factory.open();
    store.submit(vec![admit(asks("T-1"))]).await.unwrap();
    begin(&store, "T-2").await;
    let listed = async |ms: i64| {
        let mut request = first_page(Scope::Waiting);
        request.now = NOON.plus(ms);
        store.page(&request).await.unwrap().rows.iter().map(name).collect::<Vec<_>>()
    };
    assert!(listed(HOUR - 1).await.is_empty());
    assert_eq!(listed(HOUR).await, ["T-1"]);
}

macro_rules! conformance {
    ($($name:ident),* $(,)?) => {
        mod sqlite {
            $(#[test]
            fn $name() {
                super::block_on(super::$name(&super::common::Place::new()));
            })*
        }
    };
}

conformance! {
    pages_walk_every_list_both_ways,
    filters_pick_what_the_rules_pick,
    tallies_count_what_pages_list,
    a_clock_set_back_hides_nothing,
    a_quiet_task_becomes_stuck,
}
