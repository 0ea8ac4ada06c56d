//! Every check of contract section 6, in its order and with its own code; corrections; what records keep.

use super::{Decision, Input, Part, Resume};
use crate::domain::actor::{Grant, Pattern, Principal, Role, Scope};
use crate::domain::admission::tests::text_input;
use crate::domain::command::{Command, Reply};
use crate::domain::event::{Closing, What};
use crate::domain::ledger::SetSeen;
use crate::domain::refusal::Refusal;
use crate::domain::task::TaskState as S;
use crate::domain::testing::{T0, World, message, request, result};
use serde_json::json;

fn with_role(role: Role) -> Principal {
    Principal { grants: vec![Grant { role, scope: Scope::default() }], ..Principal::owner("bo") }
}

fn code(result: Result<crate::domain::ledger::Record, Refusal>) -> &'static str {
    result.err().map_or("decided", |r| r.code())
}

#[test]
fn ready_and_canceled_leave_one_record_each() {
    for to in [S::Ready, S::Canceled] {
        let mut w = World::conflicted();
        let before = w.task().state_version;
        let digest = w.set().digest().unwrap();
        let record = w.decide(w.decision(to)).unwrap();
        assert_eq!((record.from_state, record.to_state, record.decision), (S::NeedsReview, to, to));
        assert_eq!((record.state_version_before, record.state_version_after), (before, before + 1));
        assert_eq!((record.sequence, record.approval_version), (1, 1));
        assert_eq!(record.candidates.iter().map(|c| c.arrival).collect::<Vec<_>>(), [2, 3]);
        assert_eq!((record.candidate_set_digest, record.set_seen), (digest, SetSeen::Digest));
        assert_eq!(
            record.resume.idempotency_key, record.approval_id,
            "resume defaults to the new approval id"
        );
        assert_eq!(record.previous_record_digest.hex(), "0".repeat(64));
        assert_eq!((record.principal.subject.as_str(), record.store_id.as_str()), ("ana", "S"));
        assert_eq!(record.record_digest, record.computed_digest().unwrap());
        assert_eq!((w.task().state, w.task().state_version), (to, before + 1));
        assert!(w.task().review.is_none());
        w.check();
    }
}

#[test]
fn without_the_set_digest_the_record_says_that_only_the_version_bound_it() {
    let mut w = World::conflicted();
    let mut d = w.decision(S::Ready);
    d.candidate_set_digest = None;
    assert_eq!(w.decide(d).unwrap().set_seen, SetSeen::Version);
}

/// Each decision below breaks every check from its own on; the first one that fails is the one that is told.
#[test]
fn checks_come_in_the_stated_order() {
    let mut w = World::conflicted();
    let mut d = w.decision(S::Ready);
    d.expected_version = 1;
    d.upheld = vec![99];
    d.reason = "  ".into();
    d.input = Some(text_input("x"));
    let nobody = Principal { subject: String::new(), ..with_role(Role::Viewer) };
    let mut lost = d.clone();
    lost.task_id = "U".into();
    assert_eq!(code(w.decide_as(lost.clone(), nobody)), "unauthenticated");
    assert_eq!(code(w.decide_as(lost, with_role(Role::Viewer))), "task_not_found");
    assert_eq!(code(w.decide_as(d.clone(), with_role(Role::Viewer))), "forbidden");
    assert_eq!(code(w.decide_as(d.clone(), with_role(Role::Reviewer))), "stale_version");
    d.expected_version = w.task().state_version;
    let author = Principal { senders: vec![Pattern("agent-b".into())], ..with_role(Role::Reviewer) };
    assert_eq!(code(w.decide_as(d.clone(), author)), "self_interest");
    assert_eq!(code(w.decide(d.clone())), "not_upholdable");
    d.upheld = vec![2];
    assert_eq!(code(w.decide(d.clone())), "reason_too_short");
    d.reason = " … ".into();
    assert_eq!(code(w.decide(d.clone())), "reason_too_short", "as a printed command leaves it open");
    d.reason = "because".into();
    assert_eq!(code(w.decide(d.clone())), "input_invalid");
    d.input = None;
    assert_eq!(code(w.decide(d)), "decided");
    w.check();
}

#[test]
fn a_changed_set_is_refused_even_at_the_right_version() {
    let mut w = World::conflicted();
    let mut d = w.decision(S::Ready);
    d.candidate_set_digest = Some(crate::domain::digest::Digest::of_bytes(b"else"));
    assert_eq!(code(w.decide(d)), "candidate_set_changed");
}

/// faults.md 13, `decision-while-freezing`: what came after the screen was drawn is never judged unseen.
#[test]
fn decision_while_freezing() {
    let mut w = World::conflicted();
    let d = w.decision(S::Ready);
    w.admit(&message("task_result", "M-3", "k", json!({"revenue": 3}), json!({"sender": "agent-c"})));
    let refusal = w.decide(d.clone()).unwrap_err();
    assert_eq!(
        refusal,
        Refusal::StaleVersion { expected: d.expected_version, current: d.expected_version + 1 }
    );
    assert!(w.records.is_empty());
    w.check();
}

/// faults.md 2 and 3.
#[test]
fn the_same_key_returns_the_same_record_and_never_another_decision() {
    let mut w = World::conflicted();
    let d = w.decision(S::Ready);
    let first = w.decide(d.clone()).unwrap();
    let mut again = d.clone();
    again.approval_id = "A-other".into();
    assert_eq!(w.decide(again).unwrap(), first);
    assert_eq!(w.records.len(), 1);
    let mut other = d;
    other.decision = S::Canceled;
    assert_eq!(code(w.decide(other)), "idempotency_key_reused");
    w.check();
}

/// faults.md 1, on the level of the rules.
#[test]
fn the_loser_is_told_who_won() {
    let mut w = World::conflicted();
    let (a, mut b) = (w.decision(S::Ready), w.decision(S::Canceled));
    b.idempotency_key = "b".into();
    let winner = w.decide(a).unwrap();
    match w.decide_as(b, with_role(Role::Reviewer)).unwrap_err() {
        Refusal::AlreadyDecided { approval_id, by, decision, .. } => {
            assert_eq!((approval_id, by.as_str(), decision), (winner.approval_id, "ana", S::Ready));
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(w.records.len(), 1);
}

/// faults.md 17, `resume-after-finish`.
#[test]
fn resume_after_finish() {
    let mut w = World::running();
    assert_eq!(code(w.decide(w.decision(S::Ready))), "not_waiting");
    w.admit(&result("M-1", "k", 1));
    assert_eq!(code(w.decide(w.decision(S::Canceled))), "not_waiting");
}

/// faults.md 53, `self-approval`.
#[test]
fn self_approval() {
    let mut w = World::conflicted();
    let author = Principal { senders: vec![Pattern("agent-*".into())], ..with_role(Role::Reviewer) };
    let refusal = w.decide_as(w.decision(S::Canceled), author.clone()).unwrap_err();
    assert_eq!(refusal, Refusal::SelfInterest { subject: "bo".into(), arrival: 2 });
    w.rules.policy.self_interest = true;
    assert!(w.decide_as(w.decision(S::Canceled), author).unwrap().self_interest, "allowed, and marked");
}

#[test]
fn a_role_counts_only_in_its_scope() {
    let mut w = World::conflicted();
    let scoped = |trace: &str| Principal {
        grants: vec![Grant {
            role: Role::Reviewer,
            scope: Scope { traces: vec![Pattern(trace.into())], ..Scope::default() },
        }],
        ..Principal::owner("bo")
    };
    assert_eq!(code(w.decide_as(w.decision(S::Ready), scoped("Q-*"))), "forbidden");
    assert_eq!(code(w.decide_as(w.decision(S::Ready), scoped("R*"))), "decided");
}

#[test]
fn who_may_decide_what() {
    for (role, judge, answer, cancel) in [
        (Role::Viewer, false, false, false),
        (Role::Responder, false, true, false),
        (Role::Reviewer, true, true, true),
        (Role::Operator, false, true, true),
        (Role::Worker, false, false, false),
        (Role::Admin, false, false, false),
    ] {
        let verdict = |ok: bool| if ok { "decided" } else { "forbidden" };
        let mut w = World::conflicted();
        assert_eq!(
            code(w.decide_as(w.decision(S::Ready), with_role(role))),
            verdict(judge),
            "{role:?} judges"
        );
        let mut w = World::waiting(json!({"prompt": "?"}));
        let mut d = w.decision(S::Ready);
        d.input = Some(text_input("north"));
        assert_eq!(code(w.decide_as(d, with_role(role))), verdict(answer), "{role:?} answers");
        let mut w = World::waiting(json!({"prompt": "?"}));
        assert_eq!(
            code(w.decide_as(w.decision(S::Canceled), with_role(role))),
            verdict(cancel),
            "{role:?} cancels"
        );
    }
}

#[test]
fn what_can_be_upheld() {
    let reference = message(
        "task_result",
        "M-3",
        "k",
        json!(null),
        json!({
            "sender": "agent-c", "payload_ref": "vault:1", "payload_digest": format!("sha256:{}", "a".repeat(64)),
        }),
    );
    let reference = String::from_utf8(reference).unwrap().replace("\"payload\":null,", "").into_bytes();
    let mut w = World::conflicted();
    assert_eq!(w.admit(&reference).outcome, "conflict");
    w.admit(&message("task_failure", "M-4", "k9", json!({}), json!({"sender": "agent-c"})));
    let try_upholding = |upheld: &[u64]| {
        let mut w = w.clone();
        let mut d = w.decision(S::Ready);
        d.upheld = upheld.to_vec();
        code(w.decide(d))
    };
    assert_eq!(try_upholding(&[1]), "not_upholdable", "the request is no candidate");
    assert_eq!(try_upholding(&[4]), "not_upholdable", "its content was never seen here");
    assert_eq!(try_upholding(&[2, 3]), "not_upholdable", "at most one of an intent");
    assert_eq!(try_upholding(&[2, 5]), "decided", "one side and one held outcome");
    let mut masked = w.clone();
    let mut d = masked.decision(S::Ready);
    (d.upheld, d.masked) = (vec![2], vec![2]);
    assert_eq!(code(masked.decide(d)), "not_upholdable");
    let mut canceled = w.clone();
    let mut d = canceled.decision(S::Canceled);
    d.upheld = vec![2];
    assert_eq!(code(canceled.decide(d)), "not_upholdable");
}

#[test]
fn a_side_that_is_gone_is_never_judged_unseen() {
    let mut w = World::conflicted();
    let d = w.decision(S::Ready);
    w.tasks.get_mut(&"T".into()).unwrap().stored.retain(|s| s.submission.arrival != 3);
    assert_eq!(code(w.decide(d)), "store_damaged");
    assert!(w.records.is_empty());
}

#[test]
fn a_reason_of_nothing_to_see_is_blank() {
    let mut w = World::conflicted();
    let mut d = w.decision(S::Ready);
    d.reason = " \u{200b}\u{2060}\u{202e} ".into();
    assert_eq!(code(w.decide(d)), "reason_too_short");
}

#[test]
fn an_upheld_held_outcome_applies_when_the_task_runs_again() {
    let mut w = World::conflicted();
    w.admit(&message(
        "task_failure",
        "M-4",
        "k9",
        json!({"category": "delivery"}),
        json!({"lease_version": 1}),
    ));
    let mut d = w.decision(S::Ready);
    d.upheld = vec![4];
    let record = w.decide(d).unwrap();
    assert_eq!(record.held.iter().map(|h| h.arrival).collect::<Vec<_>>(), [4]);
    w.claim("agent-b").unwrap();
    assert_eq!(w.task().state, S::Failed);
    w.check();
}

#[test]
fn the_reason_needs_characters_and_no_secrets() {
    let mut w = World::conflicted();
    w.rules.policy.minimum_reason = 10;
    let mut d = w.decision(S::Ready);
    d.reason = "short     ".into();
    assert_eq!(w.decide(d.clone()).unwrap_err(), Refusal::ReasonTooShort { minimum: 10 });
    d.reason = "the key is AKIAIOSFODNN7EXAMPLE, use it".into();
    assert_eq!(code(w.decide(d)), "input_invalid");
}

#[test]
fn an_answer_is_kept_and_the_task_goes_on() {
    let mut w = World::waiting(json!({"prompt": "Which region?"}));
    let mut d = w.decision(S::Ready);
    d.input = Some(text_input("north"));
    d.resume = Some(Resume { idempotency_key: "attempt-2".into(), note: Some("from the top".into()) });
    let record = w.decide(d).unwrap();
    assert_eq!(record.interruption.as_ref().unwrap().prompt, "Which region?");
    assert_eq!(record.input_digest, crate::domain::digest::jcs_of(&text_input("north")).ok());
    let decided = w.task().decided.as_ref().unwrap();
    assert_eq!(decided.input, Some(text_input("north")));
    assert_eq!(decided.resume.idempotency_key, "attempt-2");
    assert!(w.log().events.iter().any(|e| matches!(&e.what, What::Closed { how: Closing::Answered, .. })));
    w.check();
}

/// A late or repeated answer never satisfies a newer question.
#[test]
fn an_answer_names_the_question_it_answers() {
    let mut w = World::waiting(json!({"prompt": "Which region?"}));
    let mut old = w.decision(S::Ready);
    old.input = Some(text_input("north"));
    w.admit(&message("human_request", "M-9", "q9", json!({"prompt": "Delete everything?"}), json!({})));
    assert_eq!(code(w.decide(old.clone())), "stale_version");
    old.expected_version = w.task().state_version;
    old.candidate_set_digest = None;
    assert_eq!(code(w.decide(old.clone())), "candidate_set_changed");
    old.interruption = None;
    assert_eq!(code(w.decide(old)), "input_invalid");
    assert!(w.records.is_empty());
}

#[test]
fn answers_are_checked_against_the_schema_that_was_asked_with() {
    let schema = json!({"type": "object", "properties": {"region": {"enum": ["north", "south"]}}, "required": ["region"]});
    let w = World::waiting(json!({"prompt": "Which region?", "schema": schema}));
    let pinned = w.task().interruption.as_ref().unwrap().schema_digest;
    assert!(pinned.is_some());
    let answer = |value: serde_json::Value| Input {
        parts: vec![Part::Data(value)],
        schema_digest: pinned,
        approved: None,
    };
    let tried = |input: Input| {
        let mut d = w.decision(S::Ready);
        d.input = Some(input);
        code(w.clone().decide(d))
    };
    assert_eq!(tried(answer(json!({"region": "east"}))), "input_invalid");
    assert_eq!(tried(text_input("north")), "input_invalid");
    assert_eq!(tried(Input { schema_digest: None, ..answer(json!({"region": "north"})) }), "input_invalid");
    assert_eq!(
        tried(answer(json!({"region": "north", "note": "Authorization: Bearer 8f3kQ2xZ91LmPq7TtY4w"}))),
        "input_invalid"
    );
    assert_eq!(tried(answer(json!({"region": "north"}))), "decided");
}

#[test]
fn approvals_say_yes_or_no_and_credentials_are_never_taken() {
    let mut w = World::waiting(json!({"prompt": "Refund 40 EUR?", "need": "human_approval"}));
    let say = |w: &World, approved| {
        let mut d = w.decision(S::Ready);
        d.input = Some(Input { approved, ..Input::default() });
        d
    };
    assert_eq!(code(w.clone().decide(say(&w, None))), "input_invalid");
    assert_eq!(w.decide(say(&w, Some(false))).unwrap().to_state, S::Ready, "the agent hears no, and goes on");
    let w = World::waiting(
        json!({"prompt": "drive.read", "need": "machine_credentials", "link": "https://example.org"}),
    );
    let mut d = w.decision(S::Ready);
    d.input = Some(text_input("hunter2"));
    assert_eq!(code(w.clone().decide(d)), "input_invalid");
    assert_eq!(code(w.clone().decide(w.decision(S::Ready))), "decided");
}

#[test]
fn only_those_named_may_answer() {
    let question = json!({"prompt": "?", "satisfiers": {"principals": ["cfo"], "roles": ["reviewer"]}});
    for (by, expected) in [
        (with_role(Role::Responder), "forbidden"),
        (with_role(Role::Reviewer), "decided"),
        (Principal { subject: "cfo".into(), ..with_role(Role::Responder) }, "decided"),
    ] {
        let mut w = World::waiting(question.clone());
        let mut d = w.decision(S::Ready);
        d.input = Some(text_input("x"));
        assert_eq!(code(w.decide_as(d, by)), expected);
    }
}

/// faults.md 14, `decision-vs-timeout`: the coordinator's clock decides, once.
#[test]
fn decision_vs_timeout() {
    let question = json!({"prompt": "?", "expires_at": "2026-11-30T12:30:00Z"});
    for (ms, expected) in [(1_799_999, "decided"), (1_800_000, "not_waiting"), (1_800_001, "not_waiting")] {
        let mut w = World::waiting(question.clone());
        let mut d = w.decision(S::Ready);
        d.input = Some(text_input("x"));
        w.now = T0.plus(ms);
        assert_eq!(code(w.decide(d)), expected, "{ms}");
        w.check();
    }
    let mut w = World::waiting(question);
    w.now = T0.plus(9_000_000);
    assert_eq!(
        code(w.decide(w.decision(S::Canceled))),
        "decided",
        "an expired question can still be canceled"
    );
}

#[test]
fn a_correction_supersedes_while_nobody_took_the_task() {
    let mut w = World::conflicted();
    let mut d = w.decision(S::Ready);
    d.upheld = vec![2];
    let first = w.decide(d).unwrap();
    let correct = |w: &World, upheld: u64| {
        let mut d = w.decision(S::Ready);
        d.upheld = vec![upheld];
        d.supersedes = Some(first.approval_id.clone());
        d.reason = "the filing was amended".into();
        d
    };
    let second = w.decide(correct(&w, 3)).unwrap();
    assert_eq!((second.approval_version, second.sequence), (2, 2));
    assert_eq!(second.supersedes.as_deref(), Some(first.approval_id.as_str()));
    assert_eq!(second.candidate_set_digest, first.candidate_set_digest, "the same set is judged again");
    assert_eq!((second.from_state, second.to_state), (S::Ready, S::Ready));
    assert_eq!(code(w.decide(correct(&w, 2))), "already_decided", "only the latest can be corrected");
    w.claim("agent-b").unwrap();
    let mut late = correct(&w, 2);
    late.supersedes = Some(second.approval_id);
    assert_eq!(code(w.decide(late)), "already_decided", "claimed: too late");
    w.check();
}

#[test]
fn a_correction_may_cancel() {
    let mut w = World::conflicted();
    let first = w.decide(w.decision(S::Ready)).unwrap();
    let mut d = w.decision(S::Canceled);
    d.supersedes = Some(first.approval_id);
    assert_eq!(w.decide(d).unwrap().to_state, S::Canceled);
    w.check();
}

#[test]
fn supersedes_does_not_reach_into_a_new_conflict() {
    let mut w = World::conflicted();
    let first = w.decide(w.decision(S::Ready)).unwrap();
    w.admit(&message("task_result", "M-7", "k", json!({"revenue": 7}), json!({"sender": "agent-c"})));
    assert_eq!(w.task().state, S::NeedsReview);
    let mut d: Decision = w.decision(S::Ready);
    d.supersedes = Some(first.approval_id);
    assert_eq!(code(w.decide(d)), "not_waiting");
}

/// faults.md 12, `lease-expires-during-decision`: an expiry moves nothing, so a decision is never lost to it.
#[test]
fn lease_expires_during_decision() {
    let mut w = World::conflicted();
    let d = w.decision(S::Ready);
    w.now = T0.plus(3_600_000);
    assert_eq!(code(w.decide(d)), "decided");
    let mut w = World::running();
    let stale = Command::Renew { task_id: "T".into(), lease_version: 9, ttl_ms: 1000 };
    assert_eq!(w.submit(stale, Principal::local_worker()).unwrap_err().code(), "stale_lease");
}

/// faults.md 16, `approval-single-use`: an approval is spent by the claim.
#[test]
fn approval_single_use() {
    let mut w = World::conflicted();
    w.decide(w.decision(S::Ready)).unwrap();
    let claims: Vec<_> = (0..8).map(|i| w.claim(&format!("w{i}"))).collect();
    assert_eq!(claims.iter().filter(|c| matches!(c, Ok(Reply::Leased { .. }))).count(), 1);
    assert!(claims.iter().skip(1).all(|c| c.as_ref().unwrap_err().code() == "already_claimed"));
}

#[test]
fn approval_binds_to_exactly_one_candidate_set() {
    let mut seen = std::collections::BTreeSet::new();
    let mut w = World::conflicted();
    for i in 3..9 {
        assert!(seen.insert(w.set().digest().unwrap()), "every candidate changes what is signed");
        w.admit(&message(
            "task_result",
            &format!("M-{i}"),
            "k",
            json!({"revenue": i}),
            json!({"sender": "c"}),
        ));
    }
    w.admit(&message("task_result", "M-x", "held", json!(1), json!({})));
    assert!(seen.insert(w.set().digest().unwrap()), "a held outcome too");
    w.admit(&request());
    assert!(!seen.insert(w.set().digest().unwrap()), "a repeat does not");
}
