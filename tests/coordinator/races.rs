//! Two people at one version, a thousand times (fault 1): each pair has one winner and one loser who hears whose
//! record stands.

use crate::common::{self, NOON, Place, admit, admitted, asks, result};
use crate::world::{decision, holds, id};
use serde_json::json;
use std::collections::BTreeSet;
use std::sync::Arc;
use tribunal::coordinator::local::Local;
use tribunal::coordinator::{Coordinator, Error};
use tribunal::domain::actor::Role;
use tribunal::domain::command::{Reply, Rules};
use tribunal::domain::decision::Decision;
use tribunal::domain::refusal::Refusal;
use tribunal::domain::task::TaskState;
use tribunal::store::Store;

const PAIRS: usize = 1000;

/// A reviewer with a store handle of their own on the one file, as another process would have.
fn reviewer(place: &Place, name: &str) -> Arc<dyn Coordinator> {
    let local =
        Local::seen_by(Arc::new(place.open()), Arc::new(Rules::default()), holds(name, Role::Reviewer));
    Arc::new(local.with_clock(Arc::new(|| NOON)))
}

/// Tasks in conflict; gives their version.
async fn conflicts(place: &Place) -> u64 {
    let store = place.open();
    let mut version = 0;
    for n in 0..PAIRS {
        let task = format!("T-{n}");
        // Results that come early are held, and a second one for the same intent is a conflict at once.
        let batch = vec![
            admit(asks(&task)),
            admit(result(&task, "a", json!(1))),
            admit(result(&task, "b", json!(2))),
        ];
        let answers = store.submit(batch).await.unwrap();
        assert_eq!(admitted(&answers[2]).outcome, "conflict");
        version = admitted(&answers[2]).state_version.unwrap();
    }
    version
}

#[test]
fn two_reviewers_same_version() {
    let place = Place::new();
    common::block_on(async {
        let version = conflicts(&place).await;
        let (rita, ruth) = (reviewer(&place, "rita"), reviewer(&place, "ruth"));
        let mut won = [0, 0];
        for n in 0..PAIRS {
            let task = format!("T-{n}");
            let go_on = Decision { upheld: vec![2], ..decision(&task, version) };
            let cancel = Decision { decision: TaskState::Canceled, ..decision(&task, version) };
            let asks = |who: &Arc<dyn Coordinator>, what: Decision| {
                let who = Arc::clone(who);
                tokio::spawn(async move { who.decide(what).await })
            };
            // Whoever is started first has a little of a lead: they take turns.
            let (a, b) = if n % 2 == 0 {
                let a = asks(&rita, go_on);
                (a, asks(&ruth, cancel))
            } else {
                let b = asks(&ruth, cancel);
                (asks(&rita, go_on), b)
            };
            let (a, b) = (a.await, b.await);
            let (winner, loser, by) = match (a.unwrap(), b.unwrap()) {
                (Ok(Reply::Decided { record, .. }), Err(loser)) => (record, loser, 0),
                (Err(loser), Ok(Reply::Decided { record, .. })) => (record, loser, 1),
                both => panic!("{task}: not one winner and one loser: {both:?}"),
            };
            won[by] += 1;
            match loser {
                Error::Refused(Refusal::AlreadyDecided { approval_id, by: whose, .. }) => {
                    assert_eq!((approval_id, whose.as_str()), (winner.approval_id, ["rita", "ruth"][by]));
                }
                other => panic!("{task}: {other:?}"),
            }
            assert_eq!(rita.show(&id(&task)).await.unwrap().task.state, winner.to_state);
        }
        assert!(won.iter().all(|n| *n > 0), "a race, not a queue: {won:?}");
        assert!(rita.verify(Vec::new()).await.unwrap().ok);
    });
    let found = common::invariants::check_invariants(&place.path());
    let decided: BTreeSet<&str> = found.records.iter().map(|r| r.task_id.0.as_str()).collect();
    assert_eq!((found.records.len(), decided.len()), (PAIRS, PAIRS));
}
