//! What is said of the store: what failed, and what cannot be done at all.

use super::*;
use crate::domain::ledger::Head;

fn told(mismatch: Option<&str>, read_only: Option<&str>, write_failure: Option<&str>) -> Model {
    let now = Now { run: Duration::ZERO, wall: Timestamp::UNIX_EPOCH };
    let mut model = Model::new("store", "ann", now);
    model.hear(Link::Live);
    model.learn(&Status {
        name: "store.db".into(),
        store_id: "S-1".into(),
        principal: Principal::owner("ann"),
        link: coordinator::Link::Live,
        head: Head { store_id: "S-1".into(), sequence: 0, record_digest: None },
        events: 0,
        mismatch: mismatch.map(str::to_owned),
        read_only: read_only.map(str::to_owned),
        write_failure: write_failure.map(str::to_owned),
    });
    model
}

#[test]
fn a_store_open_for_viewing_says_why_and_what_to_do_and_that_nothing_failed() {
    let model = told(None, Some("/srv/store.db: Permission denied (os error 13)"), None);
    let said = "open for viewing, nothing can be written (/srv/store.db: Permission denied (os error 13)); \
                start it as a user who may";
    assert_eq!(model.warning().as_deref(), Some(format!("read only: {said}").as_str()));
    assert_eq!(model.closed(), Some(said));
}

#[test]
fn a_write_that_failed_is_told_and_closes_nothing() {
    // Whatever the words: they are told, never read.
    for why in ["the disk is full", "the store is read-only: for a moment"] {
        let model = told(None, None, Some(why));
        assert_eq!(model.warning(), Some(format!("the last write failed: {why}")));
        assert!(model.fresh());
    }
}

#[test]
fn another_head_than_the_remembered_one_is_told_before_all() {
    let model = told(Some("log shorter than before"), Some("why"), Some("the disk is full"));
    let said = "read only: log shorter than before; `tribunal store accept-head --reason …` accepts it";
    assert_eq!(model.warning().as_deref(), Some(said));
}
