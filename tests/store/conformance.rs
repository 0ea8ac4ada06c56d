//! The promises of `trait Store`, generic over how a store is opened.

use crate::common::invariants::check_invariants;
use crate::common::{
    self, NOON, admit, admitted, asks, begin, block_on, conflict, decide, envelope, result, run,
};
use serde_json::json;
use std::time::Duration;
use tribunal::domain::actor::Principal;
use tribunal::domain::command::{Command, DecisionOutcome, EffectOutcome, Reply, Request};
use tribunal::domain::digest::{Digest, Scheme};
use tribunal::domain::envelope::{EffectName, QuarantineReason};
use tribunal::domain::event::{Outcome, What};
use tribunal::domain::ids::TaskId;
use tribunal::domain::ledger::{Chain, Pin};
use tribunal::domain::query::Query;
use tribunal::domain::refusal::Refusal;
use tribunal::domain::task::TaskState;
use tribunal::store::{Answer, Cursor, EntryState, Order, PageRequest, Scope, Store, StoreError};

/// Opens stores for the suite; PostgreSQL gets one of its own.
pub trait Factory {
    type Store: Store;
    fn open(&self) -> Self::Store;
    /// Checks fold(log) = tables; nobody writes meanwhile.
    fn check(&self);
}

impl Factory for common::Place {
    type Store = tribunal::store::sqlite::SqliteStore;

    fn open(&self) -> Self::Store {
        common::Place::open(self)
    }

    fn check(&self) {
        check_invariants(&self.path());
    }
}

pub fn first_page(scope: Scope) -> PageRequest {
    PageRequest {
        scope,
        query: Query::default(),
        order: Order::default(),
        after: None,
        backwards: false,
        limit: 50,
        now: NOON,
        me: "wolf".into(),
    }
}

async fn one(store: &impl Store, request: Request) -> Answer {
    store.submit(vec![request]).await.unwrap().remove(0)
}

pub async fn admits_decides_and_reads_back<F: Factory>(factory: &F) {
    let store = factory.open();
    let version = conflict(&store, "T-1").await;
    let page = store.page(&first_page(Scope::Waiting)).await.unwrap();
    assert_eq!(page.rows.len(), 1);
    assert_eq!(page.rows[0].task.as_ref().unwrap().state, TaskState::NeedsReview);
    let answer = one(&store, decide("T-1", TaskState::Ready, version, "d-1")).await;
    let Ok(Reply::Decided { outcome: DecisionOutcome::Decided, record }) = answer else {
        panic!("{answer:?}")
    };
    assert_eq!((record.sequence, record.state_version_after), (1, version + 1));
    let again = one(&store, decide("T-1", TaskState::Ready, version, "d-1")).await;
    assert!(
        matches!(again, Ok(Reply::Decided { outcome: DecisionOutcome::Replayed, record: r }) if r == record)
    );
    let task = store.task(&TaskId::from("T-1")).await.unwrap().unwrap();
    assert_eq!((task.state, task.state_version), (TaskState::Ready, version + 1));
    let events = store.events(&task.task_id, 0, 100).await.unwrap();
    assert_eq!(events.len() as u64, task.revision);
    assert_eq!(
        store.events(&task.task_id, task.revision - 1, 100).await.unwrap(),
        events[events.len() - 1..]
    );
    assert!(store.page(&first_page(Scope::Waiting)).await.unwrap().rows.is_empty());
    assert_eq!(store.page(&first_page(Scope::Decided)).await.unwrap().rows.len(), 1);
    let before = store.status().await.unwrap();
    drop(store);
    factory.check();
    let store = factory.open();
    let after = store.status().await.unwrap();
    assert_eq!(before, after);
    assert_eq!((after.mismatch, after.read_only, after.write_failure), (None, None, None));
    assert_eq!(store.task(&TaskId::from("T-1")).await.unwrap(), Some(task));
    assert_eq!(store.task(&TaskId::from("T-2")).await.unwrap(), None);
}

pub async fn submissions_keep_what_became_of_them<F: Factory>(factory: &F) {
    let store = factory.open();
    let id = TaskId::from("T-1");
    let version = conflict(&store, "T-1").await;
    let raw = result("T-1", "b", json!(2));
    let repeated = one(&store, admit(raw.clone())).await;
    let repeated = admitted(&repeated);
    assert_eq!(
        (repeated.outcome.as_str(), repeated.arrival, repeated.duplicate_of),
        ("duplicate", Some(4), Some(3))
    );
    let other_id = one(&store, admit(result("T-1", "b-again", json!(2)))).await;
    assert_eq!(admitted(&other_id).duplicate_of, Some(3));
    one(&store, decide("T-1", TaskState::Ready, version, "d")).await.unwrap();
    let all = store.submissions(&id, 0, 10).await.unwrap();
    let seen: Vec<_> = all.iter().map(|s| (s.submission.arrival, s.outcome, s.duplicates)).collect();
    assert_eq!(seen, [(1, Outcome::Accepted, 0), (2, Outcome::Accepted, 0), (3, Outcome::Conflict, 2)]);
    assert_eq!(all[0].judged_by, None);
    assert_eq!(all[2].judged_by.as_deref(), Some("ap-T-1-d"));
    assert_eq!(store.submissions(&id, 1, 1).await.unwrap(), all[1..2]);
    assert_eq!(store.submissions_of(&id, &[3, 99, 1, 3]).await.unwrap(), [all[0].clone(), all[2].clone()]);
    assert_eq!(store.arrivals_of(&id, "b").await.unwrap(), [3]);
    assert_eq!(store.arrivals_of(&id, "b-again").await.unwrap(), [3]);
    assert!(store.arrivals_of(&id, "c").await.unwrap().is_empty());
    assert_eq!(store.envelope(&id, 3).await.unwrap().as_deref(), Some(raw.as_slice()));
    assert_eq!(store.envelope(&id, 4).await.unwrap(), None);
    // A repeat of the alias under a third content is a conflict of message ids, seen through the alias.
    let reused =
        one(&store, admit(envelope(json!({"message_id": "b-again", "idempotency_key": "k-9"})))).await;
    assert_eq!(admitted(&reused).outcome, "conflict");
    factory.check();
}

/// However many deliveries a task has: each is found by its arrival, its intent and every id it came under.
pub async fn deliveries_of_a_busy_task_are_found<F: Factory>(factory: &F) {
    const MANY: u64 = 200;
    let id = TaskId::from("T-1");
    let progress = |n: u64, message_id: String| {
        envelope(json!({"type": "task_progress", "message_id": message_id,
            "idempotency_key": format!("k-{n}"), "payload": {"step": n}}))
    };
    begin(&factory.open(), "T-1").await;
    // Commits of one, and of a crowd.
    for (from, to, by) in [(1, 70, 1), (71, 130, 60), (131, MANY, 70)] {
        let store = factory.open();
        for first in (from..=to).step_by(by) {
            let sent = (first..first + by as u64).map(|n| admit(progress(n, format!("p-{n}")))).collect();
            store.submit(sent).await.unwrap();
        }
    }
    let store = factory.open();
    let mut arrivals = Vec::new();
    loop {
        let page = store.submissions(&id, arrivals.len() as u64, 7).await.unwrap();
        if page.is_empty() {
            break;
        }
        arrivals.extend(page.into_iter().map(|s| s.submission.arrival));
    }
    assert_eq!(arrivals, (1..=MANY + 1).collect::<Vec<_>>());
    for n in [1, 58, 59, 60, 61, 62, 130, MANY] {
        let (arrival, alias) = (n + 1, format!("again-{n}"));
        for message_id in [format!("p-{n}"), alias.clone(), alias.clone()] {
            let answer = one(&store, admit(progress(n, message_id))).await;
            let found = admitted(&answer);
            assert_eq!((found.outcome.as_str(), found.duplicate_of), ("duplicate", Some(arrival)), "{n}");
        }
        assert_eq!(store.arrivals_of(&id, &alias).await.unwrap(), [arrival]);
        let stored = store.submissions_of(&id, &[arrival]).await.unwrap();
        assert_eq!((stored[0].submission.message_id.clone(), stored[0].duplicates), (format!("p-{n}"), 3));
        let raw = progress(n, format!("p-{n}"));
        assert_eq!(store.envelope(&id, arrival).await.unwrap().as_deref(), Some(raw.as_slice()));
    }
    factory.check();
}

pub async fn held_outcomes_apply_when_claimed<F: Factory>(factory: &F) {
    let store = factory.open();
    one(&store, admit(asks("T-1"))).await.unwrap();
    let held = one(&store, admit(result("T-1", "early", json!(1)))).await;
    assert_eq!(admitted(&held).outcome, "held");
    one(&store, common::moves("T-1", TaskState::Ready, 1)).await.unwrap();
    let claim = Command::Claim { task_id: TaskId::from("T-1"), worker: "w".into(), ttl_ms: 1000 };
    let Ok(Reply::Leased { state: TaskState::Succeeded, lease_version: 1, .. }) =
        one(&store, run(claim)).await
    else {
        panic!("the held outcome ends the task")
    };
    let stored = store.submissions_of(&TaskId::from("T-1"), &[2]).await.unwrap();
    assert!(stored[0].applied && stored[0].outcome == Outcome::Held);
    factory.check();
}

pub async fn effects_happen_once<F: Factory>(factory: &F) {
    let store = factory.open();
    begin(&store, "T-1").await;
    let effect = |key: &str, target: &str| EffectName { key: key.into(), target: target.into() };
    let commit = |e: EffectName, digest: Digest| {
        let task_id = TaskId::from("T-1");
        run(Command::Commit { task_id, effect: e, digest, scheme: Scheme::RawSha256V1, lease_version: None })
    };
    let reserve =
        Command::Reserve { task_id: TaskId::from("T-1"), effect: effect("e", "x"), lease_version: None };
    one(&store, run(reserve)).await.unwrap();
    let digest = Digest::of_bytes(b"receipt");
    let outcome = |answer: Answer| match answer {
        Ok(Reply::Effect { outcome, .. }) => outcome,
        other => panic!("{other:?}"),
    };
    assert_eq!(outcome(one(&store, commit(effect("e", "x"), digest)).await), EffectOutcome::Committed);
    assert_eq!(outcome(one(&store, commit(effect("e", "x"), digest)).await), EffectOutcome::AlreadyCommitted);
    // The same target under another key is found by target.
    assert_eq!(outcome(one(&store, commit(effect("f", "x"), digest)).await), EffectOutcome::Conflict);
    assert_eq!(store.task(&TaskId::from("T-1")).await.unwrap().unwrap().state, TaskState::NeedsReview);
    factory.check();
}

pub async fn a_batch_sees_itself<F: Factory>(factory: &F) {
    let store = factory.open();
    let batch = vec![
        admit(result("T-1", "early", json!(0))),
        admit(asks("T-1")),
        common::moves("T-1", TaskState::Ready, 1),
        common::moves("T-1", TaskState::Running, 2),
        admit(result("T-1", "a", json!(0))),
        admit(result("T-1", "b", json!(2))),
        decide("T-1", TaskState::Canceled, 5, "d"),
        decide("T-1", TaskState::Ready, 5, "e"),
        admit(result("T-1", "c", json!(2))),
    ];
    let answers = store.submit(batch).await.unwrap();
    let outcome = |n: usize| admitted(&answers[n]).outcome.as_str();
    assert_eq!(
        (outcome(0), outcome(1), outcome(4), outcome(5)),
        ("quarantined", "accepted", "duplicate", "conflict")
    );
    assert!(
        matches!(&answers[6], Ok(Reply::Decided { outcome: DecisionOutcome::Decided, .. })),
        "{answers:?}"
    );
    assert!(matches!(&answers[7], Err(Refusal::AlreadyDecided { .. })), "{answers:?}");
    assert_eq!(outcome(8), "duplicate");
    factory.check();
}

pub async fn two_reviewers_same_version<F: Factory>(factory: &F) {
    let store = factory.open();
    for n in 0..50 {
        let task = format!("T-{n}");
        let version = conflict(&store, &task).await;
        let (a, b) =
            (decide(&task, TaskState::Ready, version, "a"), decide(&task, TaskState::Canceled, version, "b"));
        let (a, b) = tokio::join!(store.submit(vec![a]), store.submit(vec![b]));
        let answers = [a.unwrap().remove(0), b.unwrap().remove(0)];
        let won = answers.iter().filter(|a| a.is_ok()).count();
        let told = answers.iter().filter(|a| matches!(a, Err(Refusal::AlreadyDecided { .. }))).count();
        assert_eq!((won, told), (1, 1), "{answers:?}");
    }
    let records = store.records(None, 0, 1000).await.unwrap();
    assert_eq!(records.len(), 50);
    let mut chain = Chain::new([]);
    records.iter().for_each(|r| chain.push(&r.bytes));
    assert!(chain.finish().ok);
    assert_eq!(store.records(Some(&TaskId::from("T-7")), 0, 10).await.unwrap().len(), 1);
    factory.check();
}

/// Faults 8: eight writers tell two stories at once; the task freezes once.
pub async fn digest_conflict_freeze<F: Factory>(factory: &F) {
    let store = factory.open();
    begin(&store, "T-1").await;
    let tell = |n: u64| store.submit(vec![admit(result("T-1", &format!("m-{n}"), json!(n % 2)))]);
    let all = futures_util::future::join_all((0..8).map(tell)).await;
    let mut outcomes: Vec<String> =
        all.into_iter().map(|a| admitted(&a.unwrap()[0]).outcome.clone()).collect();
    outcomes.sort();
    assert_eq!(
        outcomes.join(" "),
        "accepted conflict duplicate duplicate duplicate duplicate duplicate duplicate"
    );
    let events = store.events(&TaskId::from("T-1"), 0, 100).await.unwrap();
    let froze = |e: &&tribunal::domain::event::Event| {
        matches!(&e.what, What::Moved { to: TaskState::NeedsReview, .. })
    };
    assert_eq!(events.iter().filter(froze).count(), 1);
    factory.check();
}

/// Faults 7.
pub async fn ten_thousand_duplicates<F: Factory>(factory: &F) {
    let store = factory.open();
    begin(&store, "T-1").await;
    one(&store, admit(result("T-1", "a", json!(1)))).await.unwrap();
    for round in 0..10 {
        let id = |n: usize| if n.is_multiple_of(2) { "a".to_owned() } else { format!("r-{round}-{n}") };
        let batch = (0..1000).map(|n| admit(result("T-1", &id(n), json!(1)))).collect();
        let answers = store.submit(batch).await.unwrap();
        assert!(answers.iter().all(|a| admitted(a).outcome == "duplicate"));
    }
    let id = TaskId::from("T-1");
    let stored = store.submissions(&id, 0, 100).await.unwrap();
    assert_eq!(stored.iter().map(|s| s.duplicates).collect::<Vec<_>>(), [0, 10_000]);
    let task = store.task(&id).await.unwrap().unwrap();
    assert_eq!((task.duplicates, task.duplicate_ids.len(), task.state_version), (10_000, 16, 4));
    assert_eq!(store.arrivals_of(&id, "r-9-999").await.unwrap(), [2]);
    factory.check();
}

pub async fn quarantine_counts_settles_and_readmits<F: Factory>(factory: &F) {
    let store = factory.open();
    let early = result("T-1", "early", json!(1));
    let wrong_trace = envelope(json!({"message_id": "w", "trace_id": "other", "idempotency_key": "w"}));
    let bad = b"{\"task_id\": \"T-9\", ".to_vec();
    let batch = [early.clone(), wrong_trace, bad.clone(), early.clone(), bad].map(admit).to_vec();
    let answers = store.submit(batch).await.unwrap();
    let names: Vec<_> = answers.iter().map(|a| admitted(a).quarantine.clone().unwrap()).collect();
    assert_eq!(names, ["Q-1", "Q-2", "Q-3", "Q-1", "Q-3"]);
    let entries = store.quarantine(0, 10, false).await.unwrap();
    let seen: Vec<_> = entries.iter().map(|e| (e.reason, e.count)).collect();
    use QuarantineReason::{Malformed, MissingTask, TraceMismatch};
    assert_eq!(seen, [(MissingTask, 2), (MissingTask, 1), (Malformed, 2)]);
    let waiting = store.page(&first_page(Scope::Waiting)).await.unwrap();
    assert!(waiting.rows.iter().all(|r| r.entry.is_some()) && waiting.rows.len() == 3);

    // The request arrives: what waited for it is admitted, in the order it came; what is still no good says why now.
    one(&store, admit(asks("T-1"))).await.unwrap();
    let id = TaskId::from("T-1");
    assert_eq!(store.submissions(&id, 0, 10).await.unwrap().len(), 2);
    assert_eq!(store.envelope(&id, 2).await.unwrap().as_deref(), Some(early.as_slice()));
    let (first, bytes) = store.entry("Q-1").await.unwrap().unwrap();
    assert_eq!(first.state, EntryState::Readmitted { by: "tribunal".into(), at: NOON });
    assert_eq!(&*bytes, early.as_slice());
    let (second, _) = store.entry("Q-2").await.unwrap().unwrap();
    assert_eq!((second.reason, second.state), (TraceMismatch, EntryState::Open));

    let settle = |raw: Vec<u8>, entry: &str| {
        let mut request = admit(raw);
        let Command::Admit(admit) = &mut request.command else { unreachable!() };
        admit.readmits = Some(entry.into());
        request.principal = Principal { subject: "ops".into(), ..Principal::local_worker() };
        request
    };
    // Repaired, but not well: the entry stays, and nothing new is put aside.
    let still = one(&store, settle(b"{}".to_vec(), "Q-2")).await;
    assert_eq!(
        (admitted(&still).outcome.as_str(), admitted(&still).quarantine.as_deref()),
        ("quarantined", Some("Q-2"))
    );
    let good = one(&store, settle(envelope(json!({"message_id": "w", "idempotency_key": "w"})), "Q-2")).await;
    assert_eq!(admitted(&good).outcome, "held");
    let again = one(&store, settle(early, "Q-2")).await;
    assert_eq!(again, Err(Refusal::EntryNotFound { id: "Q-2".into() }));
    assert_eq!(store.drop_entry("Q-3", "ops", "noise", NOON).await.unwrap(), Ok(()));
    let twice = store.drop_entry("Q-3", "ops", "noise", NOON).await.unwrap();
    assert_eq!(twice, Err(Refusal::EntryNotFound { id: "Q-3".into() }));
    assert!(store.drop_entry("../x", "ops", "noise", NOON).await.unwrap().is_err());
    assert!(store.quarantine(0, 10, false).await.unwrap().is_empty());
    let all = store.quarantine(1, 10, true).await.unwrap();
    let states: Vec<_> = all.into_iter().map(|e| e.state).collect();
    let (by, at) = ("ops".to_owned(), NOON);
    let dropped = EntryState::Dropped { by: by.clone(), at, reason: "noise".into() };
    assert_eq!(states, [EntryState::Readmitted { by, at }, dropped]);
    assert!(store.page(&first_page(Scope::Waiting)).await.unwrap().rows.is_empty());
    factory.check();
}

pub async fn the_feed_has_every_change_once_in_order<F: Factory>(factory: &F) {
    let store = factory.open();
    let start = store.feed_end().await.unwrap();
    let writers = (0..4).map(|w| {
        let store = &store;
        async move {
            for n in 0..10 {
                begin(store, &format!("T-{w}-{n}")).await;
                store.submit(vec![admit(format!("junk {w} {n}").into_bytes())]).await.unwrap();
            }
        }
    });
    let reader = async {
        let (mut cursor, mut seen) = (start, Vec::new());
        while seen.len() < 40 * 5 {
            let changed = store.changed();
            let page = store.since(cursor, 7).await.unwrap();
            match page.last() {
                Some(last) => cursor = last.cursor,
                None => changed.await,
            }
            seen.extend(page);
        }
        seen
    };
    let (_, seen) = tokio::join!(futures_util::future::join_all(writers), reader);
    assert!(seen.windows(2).all(|w| w[0].cursor.position + 1 == w[1].cursor.position));
    assert_eq!(seen.iter().filter(|c| c.entry.is_some()).count(), 40);
    assert_eq!(store.feed_end().await.unwrap(), seen.last().unwrap().cursor);
    for task in ["T-0-0", "T-3-9"] {
        let of = |c: &&tribunal::store::Change| c.task_id.as_ref().is_some_and(|id| id.as_str() == task);
        let events: Vec<_> = seen.iter().filter(of).filter_map(|c| c.event.clone()).collect();
        assert_eq!(events, store.events(&TaskId::from(task), 0, 100).await.unwrap());
    }
    // A cursor of another epoch starts anew.
    let anew = store.since(Cursor { epoch: start.epoch + 1, position: 100 }, 1).await.unwrap();
    assert_eq!(anew[0].cursor, Cursor { epoch: start.epoch, position: 1 });
    factory.check();
}

pub async fn changed_wakes_on_a_commit<F: Factory>(factory: &F) {
    let store = factory.open();
    let changed = store.changed();
    one(&store, admit(asks("T-1"))).await.unwrap();
    // The commit lies between the call and the first poll, and still counts.
    tokio::time::timeout(Duration::from_secs(2), changed).await.expect("woken");
}

pub async fn heads_extend_each_other<F: Factory>(factory: &F) {
    let store = factory.open();
    let mut pins = Vec::new();
    for n in 0..5 {
        let task = format!("T-{n}");
        let version = conflict(&store, &task).await;
        one(&store, decide(&task, TaskState::Canceled, version, "d")).await.unwrap();
        let head = store.status().await.unwrap().head;
        assert_eq!(head.events, store.feed_end().await.unwrap().position);
        pins.push(Pin { sequence: head.ledger.sequence, record_digest: head.ledger.record_digest.unwrap() });
    }
    let mut chain = Chain::new(pins);
    for record in store.records(None, 0, 100).await.unwrap() {
        chain.push(&record.bytes);
        assert_eq!(store.record(&format!("ap-T-{}-d", record.sequence - 1)).await.unwrap(), Some(record));
    }
    assert!(chain.finish().ok);
    assert_eq!(store.record("nope").await.unwrap(), None);
    factory.check();
}

/// Faults 2 and 3.
pub async fn decision_retry_and_key_reuse<F: Factory>(factory: &F) {
    let store = factory.open();
    let version = conflict(&store, "T-1").await;
    let first = one(&store, decide("T-1", TaskState::Ready, version, "key")).await.unwrap();
    drop(store);
    let store = factory.open();
    let retried = one(&store, decide("T-1", TaskState::Ready, version, "key")).await.unwrap();
    let (Reply::Decided { record: a, .. }, Reply::Decided { outcome, record: b }) = (first, retried) else {
        panic!()
    };
    assert_eq!((a, outcome), (b, DecisionOutcome::Replayed));
    let other = one(&store, decide("T-1", TaskState::Canceled, version, "key")).await;
    assert_eq!(other, Err(Refusal::IdempotencyKeyReused { key: "T-1-key".into() }));
    assert_eq!(store.records(None, 0, 10).await.unwrap().len(), 1);
    factory.check();
}

pub async fn what_is_closed_says_so<F: Factory>(factory: &F) {
    let store = factory.open();
    assert_eq!(store.submit(Vec::new()).await.unwrap(), Vec::<Answer>::new());
    let mut request = first_page(Scope::Everything);
    for cursor in ["", "s", "s.x", "s.1", "t.1.2", "s.1.2.3", "zzz", "s.99999999999999999999.1"] {
        request.after = Some(cursor.into());
        assert_eq!(store.page(&request).await, Err(StoreError::BadCursor), "{cursor}");
    }
    request.after = Some("s".repeat(1 << 20));
    assert_eq!(store.page(&request).await, Err(StoreError::BadCursor));
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
    admits_decides_and_reads_back,
    submissions_keep_what_became_of_them,
    deliveries_of_a_busy_task_are_found,
    held_outcomes_apply_when_claimed,
    effects_happen_once,
    a_batch_sees_itself,
    two_reviewers_same_version,
    digest_conflict_freeze,
    ten_thousand_duplicates,
    quarantine_counts_settles_and_readmits,
    the_feed_has_every_change_once_in_order,
    changed_wakes_on_a_commit,
    heads_extend_each_other,
    decision_retry_and_key_reuse,
    what_is_closed_says_so,
}
