//! What is offered is what is accepted: for every role, in every standing of a task, every kind of decision.

use super::possible;
use crate::domain::actor::{Grant, Pattern, Principal, Role, Scope};
use crate::domain::admission::tests::text_input;
use crate::domain::task::TaskState as S;
use crate::domain::testing::{T0, World};
use serde_json::{Value, json};

fn answered(question: Value) -> World {
    let mut w = World::waiting(question);
    let mut d = w.decision(S::Ready);
    d.input = Some(text_input("north"));
    let named = Principal { subject: "cfo".into(), ..Principal::owner("cfo") };
    w.decide_as(d, named).unwrap();
    w
}

fn judged() -> World {
    let mut w = World::conflicted();
    w.decide(w.decision(S::Ready)).unwrap();
    w
}

fn later(mut w: World) -> World {
    w.now = T0.plus(9_000_000);
    w
}

/// What it is called, and how a task gets there.
type Standing = (&'static str, fn() -> World);

/// Every standing in which a decision is possible, and some in which none is.
fn standings() -> Vec<Standing> {
    const EXPIRES: &str = "2026-11-30T12:30:00Z";
    vec![
        ("in review", World::conflicted),
        ("asked", || World::waiting(json!({"prompt": "?"}))),
        ("asked somebody", || World::waiting(json!({"prompt": "?", "satisfiers": {"principals": ["cfo"]}}))),
        ("asked too long ago", || later(World::waiting(json!({"prompt": "?", "expires_at": EXPIRES})))),
        ("judged", judged),
        ("answered", || answered(json!({"prompt": "?"}))),
        ("answered by somebody", || answered(json!({"prompt": "?", "satisfiers": {"principals": ["cfo"]}}))),
        ("answered, then expired", || later(answered(json!({"prompt": "?", "expires_at": EXPIRES})))),
        ("claimed since", || {
            let mut w = judged();
            w.claim("agent-b").unwrap();
            w
        }),
        ("ended by a record", || {
            let mut w = World::conflicted();
            w.decide(w.decision(S::Canceled)).unwrap();
            w
        }),
        ("never decided", World::ready),
        ("running", World::running),
    ]
}

fn people() -> Vec<Principal> {
    let with = |subject: &str, role| Principal {
        grants: vec![Grant { role, scope: Scope::default() }],
        ..Principal::owner(subject)
    };
    let mut all: Vec<Principal> = Role::ALL.into_iter().map(|role| with("bo", role)).collect();
    all.push(with("cfo", Role::Responder));
    all.push(Principal { senders: vec![Pattern("agent-b".into())], ..with("author", Role::Reviewer) });
    all
}

#[test]
fn what_is_offered_is_what_is_accepted() {
    let (mut accepted, mut refused) = (0, 0);
    for (name, stand) in standings() {
        for who in people() {
            for (to, corrects) in
                [(S::Ready, false), (S::Canceled, false), (S::Ready, true), (S::Canceled, true)]
            {
                let mut w = stand();
                let can = possible(w.task(), &w.set(), &who, &w.rules.policy, w.now);
                let offered = match (to, corrects) {
                    (S::Ready, false) => can.ready,
                    (_, false) => can.canceled,
                    (S::Ready, true) => can.supersede_ready,
                    (_, true) => can.supersede_canceled,
                };
                let mut d = w.decision(to);
                d.input = d.interruption.as_ref().filter(|_| to == S::Ready).map(|_| text_input("south"));
                let last = w.task().decided.as_ref().map(|last| last.approval_id.clone());
                d.supersedes = corrects.then(|| last.unwrap_or_else(|| "none".into()));
                d.idempotency_key = "asked anew".into();
                let answer = w.decide_as(d, who.clone());
                let about = format!("{name}, {} {:?}, {to}, corrects: {corrects}", who.subject, who.roles());
                assert_eq!(offered, answer.is_ok(), "{about}: {answer:?}");
                *(if offered { &mut accepted } else { &mut refused }) += 1;
            }
        }
    }
    assert!(accepted > 30 && refused > 100, "{accepted} accepted, {refused} refused");
}

/// A reviewer or operator may end what others answered or judged, and is told so.
#[test]
fn who_may_only_cancel_may_correct_to_canceled() {
    let operator = &people()[3];
    assert_eq!(operator.roles(), [Role::Operator]);
    for w in [judged(), answered(json!({"prompt": "?", "satisfiers": {"principals": ["cfo"]}}))] {
        let can = possible(w.task(), &w.set(), operator, &w.rules.policy, w.now);
        assert!(can.supersede_canceled && !can.supersede_ready, "{can:?}");
    }
}
