//! The promises of `trait Store`, generic over how a store is opened.

use crate::common::invariants::check_invariants;
use crate::common::{self, NOON, admit, admitted, asks, begin, block_on, conflict, decide, result};
use serde_json::json;
use tribunal::domain::command::{DecisionOutcome, Reply};
use tribunal::domain::ids::TaskId;
use tribunal::domain::query::Query;
use tribunal::domain::task::TaskState;
use tribunal::store::{Order, PageRequest, Scope, Store};

/// Opens stores for the suite; PostgreSQL gets one of its own.
pub trait Factory {
    type Store: Store;
    fn open(&self) -> Self::Store;
    /// Checks fold(log) = tables after everything is closed.
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

pub async fn admits_decides_and_reads_back<F: Factory>(factory: &F) {
    let store = factory.open();
    let version = conflict(&store, "T-1").await;
    let page = store.page(&first_page(Scope::Waiting)).await.unwrap();
    assert_eq!(page.rows.len(), 1);
    assert_eq!(page.rows[0].task.as_ref().unwrap().state, TaskState::NeedsReview);
    let answers = store.submit(vec![decide("T-1", TaskState::Ready, version, "d-1")]).await.unwrap();
    let Ok(Reply::Decided { outcome: DecisionOutcome::Decided, record }) = &answers[0] else {
        panic!("{answers:?}")
    };
    assert_eq!((record.sequence, record.state_version_after), (1, version + 1));
    let again = store.submit(vec![decide("T-1", TaskState::Ready, version, "d-1")]).await.unwrap();
    assert!(
        matches!(&again[0], Ok(Reply::Decided { outcome: DecisionOutcome::Replayed, record: r }) if r == record)
    );
    let task = store.task(&TaskId::from("T-1")).await.unwrap().unwrap();
    assert_eq!((task.state, task.state_version), (TaskState::Ready, version + 1));
    let events = store.events(&task.task_id, 0, 100).await.unwrap();
    assert_eq!(events.len() as u64, task.revision);
    let records = store.records(None, 0, 10).await.unwrap();
    assert_eq!(records.len(), 1);
    assert!(store.page(&first_page(Scope::Waiting)).await.unwrap().rows.is_empty());
    let decided = store.page(&first_page(Scope::Decided)).await.unwrap();
    assert_eq!(decided.rows.len(), 1);
    drop(store);
    factory.check();
    let store = factory.open();
    assert_eq!(store.task(&TaskId::from("T-1")).await.unwrap(), Some(task));
    let repeated = store.submit(vec![admit(result("T-1", "b", json!(2)))]).await.unwrap();
    assert_eq!(admitted(&repeated[0]).outcome, "duplicate");
    begin(&store, "T-2").await;
    _ = asks("T-3");
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
}
