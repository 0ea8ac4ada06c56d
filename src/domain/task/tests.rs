//! The allow-list, in full; what the runtime may do; and properties of any history.

use crate::domain::actor::{Grant, Principal, Role, Scope};
use crate::domain::admission::tests::text_input;
use crate::domain::attention::{self, Reason, Stuck, Thresholds};
use crate::domain::command::{Command, EffectOutcome, Reply, Transition};
use crate::domain::digest::{Digest, Scheme};
use crate::domain::envelope::EffectName;
use crate::domain::refusal::Refusal;
use crate::domain::task::{By, TaskState as S};
use crate::domain::testing::{T0, World, message, owner, request, result};
use proptest::prelude::*;
use serde_json::json;

/// Contract section 5, written out: everything not here is refused.
const LEGAL: &[(S, S)] = &[
    (S::Pending, S::Ready),
    (S::Ready, S::Running),
    (S::Running, S::Succeeded),
    (S::Running, S::RetryWait),
    (S::Running, S::Failed),
    (S::Running, S::Denied),
    (S::Running, S::WaitingHuman),
    (S::RetryWait, S::Ready),
    (S::Pending, S::Canceled),
    (S::Ready, S::Canceled),
    (S::Running, S::Canceled),
    (S::RetryWait, S::Canceled),
];
const BY_RECORD: &[(S, S)] = &[
    (S::NeedsReview, S::Ready),
    (S::NeedsReview, S::Canceled),
    (S::WaitingHuman, S::Ready),
    (S::WaitingHuman, S::Canceled),
    (S::Ready, S::Ready),
];

/// A world in which task `T` is in `state`.
fn world_in(state: S) -> World {
    let mut w = World::running();
    match state {
        S::Pending => {
            w = World::new();
            w.admit(&request());
        }
        S::Ready => w = World::ready(),
        S::Running => {}
        S::NeedsReview => w = World::conflicted(),
        S::WaitingHuman => w = World::waiting(json!({"prompt": "?"})),
        other => drop(w.go(other).unwrap()),
    }
    assert_eq!(w.task().state, state);
    w
}

#[test]
fn every_pair_of_states() {
    for from in S::ALL {
        for to in S::ALL {
            let step = from.step(to);
            let expected = if to == S::NeedsReview {
                Some(By::Conflict)
            } else if BY_RECORD.contains(&(from, to)) {
                Some(By::Record)
            } else if LEGAL.contains(&(from, to)) {
                Some(if to == S::Canceled { By::Authority } else { By::Runtime })
            } else {
                None
            };
            assert_eq!(step, expected, "{from} to {to}");
            let mut w = world_in(from);
            let before = w.task().clone();
            match w.go(to) {
                Ok(_) => {
                    assert!(LEGAL.contains(&(from, to)), "{from} to {to} went through");
                    assert_eq!(w.task().state_version, before.state_version + 1);
                }
                Err(refusal) => {
                    assert_eq!(refusal.code(), "illegal_transition", "{from} to {to}");
                    assert!(!LEGAL.contains(&(from, to)));
                    // Where nothing leads to that state, it says what does lead somewhere.
                    let said = refusal.to_string();
                    let named = |(_, on): &&(S, S)| said.contains(on.as_str());
                    let ways = LEGAL.iter().filter(|(start, _)| *start == from);
                    assert!(
                        expected.is_some() || ways.clone().filter(named).count() == ways.count(),
                        "{said}"
                    );
                    assert_eq!(w.task(), &before, "a refusal writes nothing");
                }
            }
            w.check();
        }
    }
}

#[test]
fn every_write_carries_the_version_it_was_read_at() {
    let mut w = World::ready();
    let move_at = |expected_version| {
        Command::Transition(Transition {
            task_id: "T".into(),
            to: S::Running,
            expected_version,
            reason: "go".into(),
            retry_at: None,
        })
    };
    let refusal = w.submit(move_at(1), Principal::local_worker()).unwrap_err();
    assert_eq!(refusal, Refusal::StaleVersion { expected: 1, current: 2 });
    w.submit(move_at(2), Principal::local_worker()).unwrap();
}

#[test]
fn a_person_can_answer_whatever_made_the_task_wait() {
    let mut w = World::running();
    w.go(S::WaitingHuman).unwrap();
    let mut d = w.decision(S::Ready);
    d.input = Some(text_input("go on"));
    w.decide(d).unwrap();
    assert_eq!(w.task().state, S::Ready);
}

#[test]
fn leases() {
    let mut w = World::ready();
    let Reply::Leased { lease_version, expires_at, .. } = w.claim("agent-a").unwrap() else { panic!() };
    assert_eq!((lease_version, expires_at), (1, T0.plus(300_000)));
    let renew = |lease_version| Command::Renew { task_id: "T".into(), lease_version, ttl_ms: 600_000 };
    assert_eq!(w.submit(renew(2), Principal::local_worker()).unwrap_err().code(), "stale_lease");
    w.now = T0.plus(400_000);
    w.submit(renew(1), Principal::local_worker()).unwrap();
    assert_eq!(w.task().lease.as_ref().unwrap().expires_at, T0.plus(1_000_000));
    let release =
        |lease_version| Command::Release { task_id: "T".into(), lease_version, reason: "gone".into() };
    assert_eq!(w.submit(release(1), Principal::local_worker()).unwrap_err().code(), "forbidden");
    w.submit(release(1), owner()).unwrap();
    assert_eq!((w.task().state, w.task().lease.is_none()), (S::RetryWait, true));
    assert_eq!(w.submit(renew(1), Principal::local_worker()).unwrap_err().code(), "stale_lease");
    w.go(S::Ready).unwrap();
    let Reply::Leased { lease_version, .. } = w.claim("agent-b").unwrap() else { panic!() };
    assert_eq!(lease_version, 2);
    w.check();
}

#[test]
fn a_plain_transition_to_running_sets_no_lease() {
    let mut w = World::ready();
    w.go(S::Running).unwrap();
    assert!(w.task().lease.is_none());
    assert_eq!(w.admit(&result("M-1", "k", 1)).state, Some(S::Succeeded));
}

fn effect(key: &str, target: &str) -> EffectName {
    EffectName { key: key.into(), target: target.into() }
}

fn reserve(
    w: &mut World,
    key: &str,
    target: &str,
    lease: Option<u64>,
) -> Result<EffectOutcome, &'static str> {
    let command = Command::Reserve { task_id: "T".into(), effect: effect(key, target), lease_version: lease };
    outcome(w.submit(command, Principal::local_worker()))
}

fn commit(w: &mut World, key: &str, target: &str, content: &str) -> Result<EffectOutcome, &'static str> {
    let command = Command::Commit {
        task_id: "T".into(),
        effect: effect(key, target),
        digest: Digest::of_bytes(content.as_bytes()),
        scheme: Scheme::default(),
        lease_version: None,
    };
    outcome(w.submit(command, Principal::local_worker()))
}

fn outcome(reply: Result<Reply, Refusal>) -> Result<EffectOutcome, &'static str> {
    match reply {
        Ok(Reply::Effect { outcome, .. }) => Ok(outcome),
        Ok(other) => panic!("{other:?}"),
        Err(refusal) => Err(refusal.code()),
    }
}

#[test]
fn effects_happen_once() {
    use EffectOutcome as E;
    let mut w = World::running();
    assert_eq!(reserve(&mut w, "e", "t", Some(1)), Ok(E::Reserved));
    assert_eq!(reserve(&mut w, "e", "t", Some(1)), Ok(E::Reserved), "asking again changes nothing");
    assert_eq!(
        reserve(&mut w, "e", "t", None),
        Err("stale_lease"),
        "the lease must be named while one is held"
    );
    assert_eq!(reserve(&mut w, "e2", "t", Some(1)), Err("effect_conflict"), "one target, two keys");
    assert_eq!(commit(&mut w, "e", "t", "paid"), Ok(E::Committed));
    assert_eq!(commit(&mut w, "e", "t", "paid"), Ok(E::AlreadyCommitted));
    assert_eq!(reserve(&mut w, "e", "t", Some(1)), Ok(E::AlreadyCommitted));
    assert!(w.task().reservations.is_empty());
    let version = w.task().state_version;
    assert_eq!(commit(&mut w, "e", "t", "paid twice"), Ok(E::Conflict));
    assert_eq!((w.task().state, w.task().state_version), (S::NeedsReview, version + 1));
    assert_eq!(commit(&mut w, "e", "t", "paid thrice"), Ok(E::Conflict));
    assert_eq!(w.task().state_version, version + 2, "what is judged changed");
    w.check();
}

#[test]
fn a_reservation_that_outlives_its_lease_is_of_unknown_fate() {
    let mut w = World::running();
    reserve(&mut w, "e", "t", Some(1)).unwrap();
    let rows = attention::of(w.task(), &Thresholds::default());
    let expiry = T0.plus(300_000);
    assert_eq!(
        rows.iter().map(|r| (r.stuck, r.since)).collect::<Vec<_>>(),
        [(Some(Stuck::EffectUnknown), expiry)]
    );
    w.go(S::Failed).unwrap();
    let rows = attention::of(w.task(), &Thresholds::default());
    assert_eq!(
        rows.iter().map(|r| (r.stuck, r.since)).collect::<Vec<_>>(),
        [(Some(Stuck::EffectUnknown), T0)]
    );
    assert_eq!(commit(&mut w, "e", "t", "it did happen"), Ok(EffectOutcome::Committed));
    assert!(attention::of(w.task(), &Thresholds::default()).is_empty());
}

#[test]
fn nobody_repeats_an_effect_of_unknown_fate_blindly() {
    let mut w = World::running();
    reserve(&mut w, "e", "t", Some(1)).unwrap();
    let release = Command::Release { task_id: "T".into(), lease_version: 1, reason: "gone".into() };
    w.submit(release, owner()).unwrap();
    w.go(S::Ready).unwrap();
    w.claim("agent-b").unwrap();
    assert_eq!(reserve(&mut w, "e", "t", Some(2)), Err("effect_conflict"));
    w.check();
}

fn void(w: &mut World, key: &str, by: Principal) -> Result<EffectOutcome, &'static str> {
    let expected_version = w.task().state_version;
    let (effect, reason) = (effect(key, "t"), "the bank knows of no payment".to_owned());
    outcome(w.submit(Command::Void { task_id: "T".into(), effect, expected_version, reason }, by))
}

/// Section 9: a person finds out. Only then may it be announced again.
#[test]
fn an_effect_that_did_not_happen_may_be_announced_again() {
    let mut w = World::running();
    reserve(&mut w, "e", "t", Some(1)).unwrap();
    assert_eq!(void(&mut w, "e", owner()), Err("effect_conflict"), "its worker may still do it");
    w.now = T0.plus(900_000);
    assert_eq!(
        void(&mut w, "e", owner()),
        Err("effect_conflict"),
        "also after the lease's time, while it is held"
    );
    w.submit(Command::Release { task_id: "T".into(), lease_version: 1, reason: "gone".into() }, owner())
        .unwrap();
    let stuck = |w: &World| {
        attention::of(w.task(), &Thresholds::default()).iter().any(|r| r.stuck == Some(Stuck::EffectUnknown))
    };
    assert!(stuck(&w));
    assert_eq!(void(&mut w, "e", Principal::local_worker()), Err("forbidden"), "no worker says so of itself");
    assert_eq!(void(&mut w, "other", owner()), Err("effect_conflict"), "nothing is announced under it");
    let blank = Command::Void {
        task_id: "T".into(),
        effect: effect("e", "t"),
        expected_version: w.task().state_version,
        reason: "…".into(),
    };
    assert_eq!(outcome(w.submit(blank, owner())), Err("reason_too_short"));
    let stale = Command::Void {
        task_id: "T".into(),
        effect: effect("e", "t"),
        expected_version: w.task().state_version - 1,
        reason: "asked".into(),
    };
    assert_eq!(outcome(w.submit(stale, owner())), Err("stale_version"));
    assert_eq!(void(&mut w, "e", owner()), Ok(EffectOutcome::Voided));
    assert!(!stuck(&w) && w.task().reservations.is_empty());
    assert_eq!(void(&mut w, "e", owner()), Err("effect_conflict"), "once");
    w.go(S::Ready).unwrap();
    w.claim("agent-b").unwrap();
    assert_eq!(reserve(&mut w, "e", "t", Some(2)), Ok(EffectOutcome::Reserved));
    assert_eq!(commit(&mut w, "e", "t", "paid"), Ok(EffectOutcome::Committed));
    w.check();
}

/// What was found out may be wrong: a later report is kept, and a second, different one is a contradiction.
#[test]
fn a_report_of_what_was_said_not_to_have_happened_is_not_lost() {
    let mut w = World::running();
    reserve(&mut w, "e", "t", Some(1)).unwrap();
    w.go(S::Failed).unwrap();
    assert_eq!(void(&mut w, "e", owner()), Ok(EffectOutcome::Voided), "a task that ended is settled, too");
    assert_eq!(commit(&mut w, "e", "t", "paid"), Ok(EffectOutcome::Committed));
    assert_eq!(commit(&mut w, "e", "t", "paid otherwise"), Ok(EffectOutcome::Conflict));
    assert_eq!(w.task().state, S::NeedsReview);
    w.check();
}

#[test]
fn what_waits_and_since_when() {
    let at = |w: &World| {
        attention::of(w.task(), &Thresholds::default())
            .iter()
            .map(|a| (a.reason, a.stuck, a.since.since(T0), a.until.map(|u| u.since(T0))))
            .collect::<Vec<_>>()
    };
    let hour = 3_600_000;
    let mut pending = World::new();
    pending.admit(&request());
    assert_eq!(at(&pending), [(Reason::Stuck, Some(Stuck::PendingTooLong), hour, None)]);
    assert_eq!(at(&World::ready()), [(Reason::Stuck, Some(Stuck::ReadyTooLong), hour, None)]);
    assert_eq!(at(&World::running()), [(Reason::Stuck, Some(Stuck::LeaseExpired), 300_000, None)]);
    assert_eq!(at(&World::conflicted()), [(Reason::NeedsReview, None, 0, None)]);
    assert_eq!(at(&World::waiting(json!({"prompt": "?"}))), [(Reason::WaitingHuman, None, 0, None)]);
    let expiring = World::waiting(json!({"prompt": "?", "expires_at": "2026-11-30T12:00:10Z"}));
    let stuck = (Reason::Stuck, Some(Stuck::InterruptionExpired), 10_000, None);
    assert_eq!(at(&expiring), [(Reason::WaitingHuman, None, 0, Some(10_000)), stuck]);
    let mut retry = World::running();
    retry.admit(&message(
        "task_failure",
        "M",
        "k",
        json!({"retryable": true, "retry_at": "2026-11-30T13:00:00Z"}),
        json!({}),
    ));
    assert_eq!(at(&retry), [(Reason::Stuck, Some(Stuck::RetryOverdue), hour, None)]);
    let mut done = World::running();
    done.admit(&result("M", "k", 1));
    assert_eq!(at(&done), []);
}

#[test]
fn the_gate_records_what_must_not_be_used() {
    let mut w = World::running();
    w.admit(&result("M-1", "k", 1));
    let version = w.task().state_version;
    let gate = Command::Gate { task_id: "T".into(), reason: "licence scan failed".into() };
    assert_eq!(w.submit(gate.clone(), Principal::local_worker()).unwrap_err().code(), "forbidden");
    w.submit(gate, owner()).unwrap();
    assert_eq!(w.task().failure.as_ref().unwrap().kind.as_str(), "unacceptable");
    assert_eq!((w.task().state, w.task().state_version), (S::Succeeded, version));
    w.check();
}

#[test]
fn runtime_commands_need_their_roles() {
    let role =
        |role| Principal { grants: vec![Grant { role, scope: Scope::default() }], ..Principal::owner("bo") };
    let go = |to| {
        Command::Transition(Transition {
            task_id: "T".into(),
            to,
            expected_version: 2,
            reason: "x".into(),
            retry_at: None,
        })
    };
    for by in [Role::Viewer, Role::Responder, Role::Reviewer] {
        for command in [
            go(S::Running),
            go(S::Canceled),
            Command::Claim { task_id: "T".into(), worker: "w".into(), ttl_ms: 1 },
        ] {
            assert_eq!(World::ready().submit(command, role(by)).unwrap_err().code(), "forbidden", "{by:?}");
        }
    }
    assert_eq!(World::ready().submit(go(S::Canceled), role(Role::Worker)).unwrap_err().code(), "forbidden");
    assert!(World::ready().submit(go(S::Canceled), role(Role::Operator)).is_ok());
}

/// One thing that can happen to task `T`; generated histories are made of these.
#[derive(Clone, Debug)]
enum Step {
    Message(Vec<u8>),
    Go(S),
    Claim,
    Decide(S),
}

fn step() -> impl Strategy<Value = Step> {
    let message = (0..7_usize, 0..3_u8, 0..3_u8, 0..3_u8, prop::option::of(0..3_u64)).prop_map(
        |(kind, id, key, value, lease)| {
            let kinds = [
                "task_request",
                "task_progress",
                "task_result",
                "task_failure",
                "task_denied",
                "human_request",
                "receipt",
            ];
            let payload =
                json!({"goal": format!("g{value}"), "prompt": format!("p{value}"), "retryable": value == 1});
            let mut change = json!({"sender": format!("agent-{}", ["a", "b", "c"][id as usize])});
            if let Some(lease) = lease {
                change["lease_version"] = json!(lease);
            }
            if kinds[kind] == "receipt" || value == 2 {
                change["effect"] = json!({"key": format!("e{key}"), "target": format!("t{value}")});
            }
            Step::Message(message(
                kinds[kind],
                &format!("M-{id}-{kind}"),
                &format!("k{key}"),
                payload,
                change,
            ))
        },
    );
    prop_oneof![
        8 => message,
        1 => prop::sample::select(&S::ALL[..]).prop_map(Step::Go),
        2 => Just(Step::Claim),
        2 => prop_oneof![Just(S::Ready), Just(S::Canceled)].prop_map(Step::Decide),
    ]
}

fn take(w: &mut World, step: &Step) {
    match step {
        Step::Message(raw) => drop(w.admit(raw)),
        Step::Go(to) if !w.tasks.is_empty() => drop(w.go(*to)),
        Step::Claim if !w.tasks.is_empty() => drop(w.claim("agent-a")),
        Step::Decide(to) if !w.tasks.is_empty() => {
            let mut d = w.decision(*to);
            d.input = w.task().interruption.as_ref().filter(|_| *to == S::Ready).map(|_| text_input("yes"));
            drop(w.decide(d));
        }
        _ => {}
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    /// Whatever happens: the log folds to the state, versions and arrivals are gapless, terminal states never
    /// regress, the chain verifies, and every message is either an event or in quarantine.
    #[test]
    fn any_history_keeps_the_invariants(steps in prop::collection::vec(step(), 1..40)) {
        let mut w = World::new();
        let mut messages = 0;
        for step in &steps {
            let before = w.tasks.values().next().map(|l| l.task.clone());
            take(&mut w, step);
            messages += u64::from(matches!(step, Step::Message(_)));
            let Some(log) = w.tasks.values().next() else { continue };
            if let Some(before) = before {
                prop_assert!(log.task.state_version >= before.state_version);
                let regressed = before.state.is_terminal() && log.task.state != before.state;
                prop_assert!(!regressed || log.task.state == S::NeedsReview, "{} to {}", before.state, log.task.state);
            }
            let review = log.task.state == S::NeedsReview;
            prop_assert_eq!(review, log.task.review.is_some(), "a review is open exactly in needs_review");
            prop_assert_eq!(log.task.state == S::WaitingHuman, log.task.interruption.is_some());
        }
        w.check();
        let recorded: u64 = w.tasks.values().map(|l| l.task.arrivals).sum();
        prop_assert_eq!(recorded + w.quarantine.len() as u64 + w.bad.len() as u64, messages, "no message is lost");
    }

    /// Delivering any prefix of the messages again, or any message twice, ends in the same state.
    #[test]
    fn repeats_change_nothing(steps in prop::collection::vec(step(), 1..25), prefix in 0..25_usize, twice in prop::collection::vec(any::<bool>(), 25)) {
        let mut once = World::new();
        let mut more = World::new();
        once.admit(&request());
        more.admit(&request());
        for (step, again) in steps.iter().zip(&twice) {
            take(&mut once, step);
            take(&mut more, step);
            // A message sent twice in a row: the second is a duplicate, or repeats what put the first aside.
            if let (Step::Message(raw), true) = (step, again) {
                let state = (more.task().state, more.task().state_version);
                more.admit(raw);
                prop_assert_eq!((more.task().state, more.task().state_version), state);
            }
        }
        prop_assert_eq!(once.task().state, more.task().state);
        prop_assert_eq!(once.task().state_version, more.task().state_version);
        prop_assert_eq!(once.set().candidates.len(), more.set().candidates.len());
        if once.task().state.is_terminal() {
            let (state, version) = (once.task().state, once.task().state_version);
            for step in steps.iter().take(prefix) {
                if let Step::Message(raw) = step {
                    once.admit(raw);
                }
            }
            // What was delivered before is never new; only what had been put aside could still surprise.
            if once.quarantine.is_empty() {
                prop_assert_eq!((once.task().state, once.task().state_version), (state, version));
            }
        }
    }
}

/// faults.md 10: every order of six messages ends in one state, or in an explicit `needs_review`.
#[test]
fn late_and_reordered_results() {
    let six: [Vec<u8>; 6] = [
        request(),
        message("task_progress", "M-1", "p", json!({"done": 1}), json!({})),
        result("M-2", "k", 1),
        result("M-3", "k", 1),
        message("receipt", "M-4", "r", json!({"paid": 40}), json!({"effect": {"key": "e", "target": "t"}})),
        message("receipt", "M-5", "r", json!({"paid": 40}), json!({"effect": {"key": "e", "target": "t"}})),
    ];
    let contradicted = {
        let mut six = six.clone();
        six[3] = result("M-3", "k", 2);
        six
    };
    for (messages, expected) in [(six, S::Succeeded), (contradicted, S::NeedsReview)] {
        let mut orders = 0;
        permutations(&mut [0, 1, 2, 3, 4, 5], 0, &mut |order| {
            let mut w = World::new();
            for &i in order {
                w.admit(&messages[i]);
                if !w.tasks.is_empty() && w.task().state == S::Pending {
                    drop(w.go(S::Ready));
                    drop(w.claim("agent-a"));
                }
            }
            assert_eq!(w.task().state, expected, "{order:?}");
            assert_eq!(w.task().arrivals, 6);
            assert!(w.quarantine.is_empty());
            assert_eq!(w.log().committed.len(), 1);
            w.check();
            orders += 1;
        });
        assert_eq!(orders, 720);
    }
}

fn permutations(items: &mut [usize; 6], from: usize, each: &mut impl FnMut(&[usize; 6])) {
    if from == items.len() {
        return each(items);
    }
    for i in from..items.len() {
        items.swap(from, i);
        permutations(items, from + 1, each);
        items.swap(from, i);
    }
}
