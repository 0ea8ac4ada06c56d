//! The runtime's side: contract sections 5, 9 and 10.

use crate::common::{self, NOON};
use crate::world::*;
use serde_json::json;
use tribunal::coordinator::{ListRequest, Order, Scope};
use tribunal::domain::command::{Command, EffectOutcome, Reply};
use tribunal::domain::digest::{Digest, Scheme};
use tribunal::domain::envelope::EffectName;
use tribunal::domain::query::Query;
use tribunal::domain::task::TaskState;

/// Brings a new task to a state.
async fn bring(h: &dyn House, task: &str, state: TaskState) {
    use TaskState as S;
    match state {
        S::Pending => drop(say(h, common::asks(task)).await),
        S::Ready => ready(h, task).await,
        S::NeedsReview => drop(conflict(h, task).await),
        S::Canceled => {
            ready(h, task).await;
            operator(h).run(to(task, S::Canceled, 2)).await.unwrap();
        }
        S::Running | S::RetryWait | S::WaitingHuman | S::Succeeded | S::Failed | S::Denied => {
            running(h, task).await;
            if state != S::Running {
                go(h, task, state).await;
            }
        }
    }
}

/// Section 5, the whole matrix: what is listed works, everything else is refused and writes nothing.
pub async fn every_transition(h: &dyn House) {
    use TaskState as S;
    let by_runtime = [
        (S::Pending, S::Ready),
        (S::Ready, S::Running),
        (S::Running, S::Succeeded),
        (S::Running, S::RetryWait),
        (S::Running, S::Failed),
        (S::Running, S::Denied),
        (S::Running, S::WaitingHuman),
        (S::RetryWait, S::Ready),
    ];
    let cancelable = [S::Pending, S::Ready, S::Running, S::RetryWait];
    for from in S::ALL {
        for next in S::ALL {
            let task = format!("{from}-{next}");
            bring(h, &task, from).await;
            let before = operator(h).show(&id(&task)).await.unwrap().task;
            assert_eq!(before.state, from);
            let command = || to(&task, next, before.state_version);
            if next == S::Canceled {
                assert_eq!(code(worker(h).run(command()).await), "forbidden", "{from} → {next} by a worker");
            }
            let who = if next == S::Canceled { operator(h) } else { worker(h) };
            let stale = to(&task, next, before.state_version + 1);
            assert_eq!(code(who.run(stale).await), "stale_version");
            let answer = who.run(command()).await;
            let legal =
                by_runtime.contains(&(from, next)) || (next == S::Canceled && cancelable.contains(&from));
            if legal {
                let task = operator(h).show(&id(&task)).await.unwrap().task;
                assert_eq!(
                    (task.state, task.state_version),
                    (next, before.state_version + 1),
                    "{from} → {next}"
                );
            } else {
                assert_eq!(code(answer), "illegal_transition", "{from} → {next}");
                assert_eq!(operator(h).show(&id(&task)).await.unwrap().task, before);
            }
        }
    }
}

/// Fault 16 within one process: many workers read one ready task.
pub async fn one_claim_wins(h: &dyn House) {
    ready(h, "T-1").await;
    let claims: Vec<_> = (0..8)
        .map(|n| {
            let worker = worker(h);
            tokio::spawn(async move { worker.run(claim("T-1", &format!("w{n}"))).await })
        })
        .collect();
    let (mut won, mut lost) = (0, 0);
    for claim in claims {
        match claim.await.unwrap() {
            Ok(Reply::Leased { lease_version, .. }) => {
                assert_eq!(lease_version, 1);
                won += 1;
            }
            other => {
                assert_eq!(code(other), "already_claimed");
                lost += 1;
            }
        }
    }
    assert_eq!((won, lost), (1, 7));
}

pub async fn leases(h: &dyn House) {
    ready(h, "T-1").await;
    let w = worker(h);
    w.run(claim("T-1", "w")).await.unwrap();
    let renew = |lease_version| Command::Renew { task_id: id("T-1"), lease_version, ttl_ms: 120_000 };
    assert_eq!(code(w.run(renew(2)).await), "stale_lease");
    match w.run(renew(1)).await.unwrap() {
        Reply::Leased { expires_at, .. } => assert_eq!(expires_at, NOON.plus(120_000)),
        other => panic!("{other:?}"),
    }
    let release =
        |lease_version| Command::Release { task_id: id("T-1"), lease_version, reason: "gone".into() };
    assert_eq!(code(w.run(release(1)).await), "forbidden");
    assert_eq!(code(operator(h).run(release(9)).await), "stale_lease");
    operator(h).run(release(1)).await.unwrap();
    assert_eq!(state(h, "T-1").await, TaskState::RetryWait);
    go(h, "T-1", TaskState::Ready).await;
    w.run(claim("T-1", "w2")).await.unwrap();
    let late = common::envelope(json!({"task_id": "T-1", "sender": "w", "lease_version": 1}));
    assert_eq!(say(h, late).await.outcome, "stale_lease");
    assert_eq!(state(h, "T-1").await, TaskState::Running);
    let none = common::envelope(
        json!({"task_id": "T-1", "sender": "w", "message_id": "m2", "idempotency_key": "k2"}),
    );
    assert_eq!(say(h, none).await.outcome, "stale_lease", "no lease while another holds the task");
    let good = common::envelope(json!({"task_id": "T-1", "sender": "w2", "message_id": "m3",
        "idempotency_key": "k3", "lease_version": 2}));
    let admitted = say(h, good).await;
    assert_eq!((admitted.outcome.as_str(), admitted.state), ("accepted", Some(TaskState::Succeeded)));
}

pub async fn an_expired_lease_makes_it_stuck_and_one_recovery_wins(h: &dyn House) {
    ready(h, "T-1").await;
    worker(h).run(claim("T-1", "w")).await.unwrap();
    let version = version(h, "T-1").await;
    let stuck = || async {
        let query = Query::parse("reason:stuck").unwrap();
        let (scope, order) = (Scope::Waiting, Order::default());
        let request = ListRequest { scope, query, order, after: None, backwards: false, limit: 10 };
        operator(h).list(request).await.unwrap().rows.len()
    };
    assert_eq!(stuck().await, 0);
    h.set_clock(NOON.plus(60_000));
    assert_eq!((stuck().await, operator(h).tallies().await.unwrap().stuck.count), (1, 1));
    let (a, b) = (worker(h), worker(h));
    let (a, b) = tokio::join!(
        a.run(to("T-1", TaskState::RetryWait, version)),
        b.run(to("T-1", TaskState::RetryWait, version))
    );
    assert_eq!(u8::from(a.is_ok()) + u8::from(b.is_ok()), 1);
}

pub async fn effects_happen_once(h: &dyn House) {
    ready(h, "T-1").await;
    let w = worker(h);
    w.run(claim("T-1", "w")).await.unwrap();
    let effect = |key: &str, target: &str| EffectName { key: key.into(), target: target.into() };
    let reserve = |key, target, lease_version| Command::Reserve {
        task_id: id("T-1"),
        effect: effect(key, target),
        lease_version,
    };
    let commit = |key, target, digest| Command::Commit {
        task_id: id("T-1"),
        effect: effect(key, target),
        digest,
        scheme: Scheme::JcsSha256V1,
        lease_version: Some(1),
    };
    let outcome = |reply: Result<Reply, _>| match reply {
        Ok(Reply::Effect { outcome, .. }) => outcome,
        other => panic!("{other:?}"),
    };
    let (paid, other) = (Digest::of_bytes(b"paid"), Digest::of_bytes(b"paid twice"));
    assert_eq!(code(w.run(reserve("pay", "bank", None)).await), "stale_lease");
    assert_eq!(code(w.run(reserve("pay", "bank", Some(2))).await), "stale_lease");
    assert_eq!(outcome(w.run(reserve("pay", "bank", Some(1))).await), EffectOutcome::Reserved);
    assert_eq!(outcome(w.run(reserve("pay", "bank", Some(1))).await), EffectOutcome::Reserved);
    assert_eq!(code(w.run(reserve("pay", "other bank", Some(1))).await), "effect_conflict");
    assert_eq!(outcome(w.run(commit("pay", "bank", paid)).await), EffectOutcome::Committed);
    assert_eq!(outcome(w.run(commit("pay", "bank", paid)).await), EffectOutcome::AlreadyCommitted);
    assert_eq!(outcome(w.run(reserve("mail", "ann", Some(1))).await), EffectOutcome::Reserved);
    assert_eq!(outcome(w.run(commit("pay", "bank", other)).await), EffectOutcome::Conflict);
    let shown = operator(h).show(&id("T-1")).await.unwrap();
    assert_eq!(shown.task.state, TaskState::NeedsReview);
    assert_eq!(shown.task.review.unwrap().sets[0].effect.as_ref().unwrap().digest, paid);
    let unknown = shown.task.reservations.iter().find(|r| r.effect.key == "mail").unwrap();
    assert!(unknown.unknown_since.is_some(), "nobody knows whether the mail was sent");
}

pub async fn a_gate_records_what_fails(h: &dyn House) {
    running(h, "T-1").await;
    let gate = || Command::Gate { task_id: id("T-1"), reason: "a licence is missing".into() };
    assert_eq!(code(worker(h).run(gate()).await), "forbidden");
    operator(h).run(gate()).await.unwrap();
    let failure = operator(h).show(&id("T-1")).await.unwrap().task.failure.unwrap();
    assert_eq!(
        (failure.kind.as_str(), failure.message.as_deref()),
        ("unacceptable", Some("a licence is missing"))
    );
}
