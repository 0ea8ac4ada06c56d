//! Every row of contract section 4, and the properties that must hold whatever arrives.

use crate::domain::command::{Command, Reply};
use crate::domain::envelope::{EffectName, QuarantineReason};
use crate::domain::event::{Closing, Message, What};
use crate::domain::task::TaskState as S;
use crate::domain::testing::{T0, World, message, owner, request, result};
use serde_json::json;

fn effect_receipt(id: &str, key: &str, effect: &str, target: &str, value: i64) -> Vec<u8> {
    let change = json!({"effect": {"key": effect, "target": target}});
    message("receipt", id, key, json!({"receipt": value}), change)
}

#[test]
fn a_request_creates_a_pending_task() {
    let mut w = World::new();
    let a = w.admit(&request());
    assert_eq!(
        (a.outcome.as_str(), a.arrival, a.state, a.state_version),
        ("accepted", Some(1), Some(S::Pending), Some(1))
    );
    assert_eq!(w.task().request.goal.as_deref(), Some("collect evidence"));
    w.check();
}

#[test]
fn row_1_quarantines_what_is_invalid_and_changes_nothing() {
    let mut w = World::running();
    let before = w.task().clone();
    let r = |w: &mut World, raw: &[u8]| w.admit(raw).reason.unwrap_or_default();
    assert!(r(&mut w, b"{").starts_with("malformed"));
    let other_trace = message("task_result", "M", "k", json!(1), json!({"trace_id": "other"}));
    assert!(r(&mut w, &other_trace).starts_with("trace_mismatch"));
    let other_task = message("task_result", "M", "k", json!(1), json!({"task_id": "U"}));
    assert!(r(&mut w, &other_task).starts_with("missing_task"));
    let wrong = message(
        "task_result",
        "M",
        "k",
        json!(1),
        json!({"payload_digest": format!("sha256:{}", "0".repeat(64))}),
    );
    assert!(r(&mut w, &wrong).starts_with("digest_mismatch"));
    assert_eq!(w.task(), &before);
    w.check();
}

#[test]
fn row_1_a_sender_must_be_one_the_principal_speaks_for() {
    let mut w = World::running();
    let mut by = crate::domain::actor::Principal::local_worker();
    by.senders = vec![crate::domain::actor::Pattern("agent-x*".into())];
    let command = w.incoming(&result("M-1", "k", 1));
    match w.submit(command, by).unwrap() {
        Reply::Admitted(a) => assert!(a.reason.unwrap().starts_with("sender_mismatch")),
        other => panic!("{other:?}"),
    }
    assert_eq!(w.task().state, S::Running);
}

/// faults.md 15, `message-before-task`.
#[test]
fn message_before_task_is_readmitted_in_received_order() {
    let mut w = World::new();
    assert_eq!(w.admit(&result("M-1", "k", 1)).outcome, "quarantined");
    assert_eq!(w.admit(&message("task_progress", "M-2", "p", json!(1), json!({}))).outcome, "quarantined");
    assert_eq!(w.admit(&request()).outcome, "accepted");
    let ids: Vec<&str> = w.log().stored.iter().map(|s| s.submission.message_id.as_str()).collect();
    assert_eq!(ids, ["M-0", "M-1", "M-2"]);
    assert!(w.quarantine.is_empty());
    assert_eq!(w.task().held, [2], "the result waits for the task to run");
    w.check();
}

#[test]
fn row_3_a_repeat_is_counted_and_changes_no_version() {
    let mut w = World::running();
    w.admit(&result("M-1", "k", 1));
    let version = w.task().state_version;
    let again = w.admit(&message(
        "task_result",
        "M-9",
        "k",
        json!({"revenue": 1}),
        json!({"evidence_refs": ["file:x"]}),
    ));
    assert_eq!((again.outcome.as_str(), again.duplicate_of, again.arrival), ("duplicate", Some(2), Some(3)));
    assert_eq!((w.task().state_version, w.task().duplicates), (version, 1));
    assert_eq!(w.task().duplicate_ids, ["M-9"]);
    let What::Delivered(d) = &w.log().events.last().unwrap().what else { panic!() };
    let Message::Repeat(repeat) = &d.message else { panic!("a repeat is not stored again") };
    assert_eq!(repeat.differs.as_ref().unwrap().evidence_refs.as_ref().unwrap().len(), 1);
    w.check();
}

/// faults.md 7, on the level of the rules; the store's test counts to ten thousand.
#[test]
fn a_thousand_duplicates_are_a_counter() {
    let mut w = World::running();
    w.admit(&result("M-1", "k", 1));
    for i in 0..1000 {
        w.admit(&result(&format!("M-{i}"), "k", 1));
    }
    assert_eq!((w.task().duplicates, w.task().duplicate_ids.len(), w.log().stored.len()), (1000, 16, 2));
    assert_eq!(w.log().stored[1].duplicates, 1000);
}

#[test]
fn row_4_a_reused_message_id_is_a_conflict_whatever_its_intent() {
    let mut w = World::running();
    w.admit(&result("M-1", "k", 1));
    let a = w.admit(&result("M-1", "other", 2));
    assert_eq!((a.outcome.as_str(), a.state), ("conflict", Some(S::NeedsReview)));
    assert_eq!(w.task().review.as_ref().unwrap().candidates(), [2, 3]);
    w.check();
}

#[test]
fn row_4_between_progress_messages_is_only_a_flag() {
    let mut w = World::running();
    w.admit(&message("task_progress", "M-1", "p", json!({"done": 1}), json!({})));
    let a = w.admit(&message("task_progress", "M-1", "p", json!({"done": 2}), json!({})));
    assert_eq!((a.outcome.as_str(), a.state), ("accepted", Some(S::Running)));
    let What::Delivered(d) = &w.log().events.last().unwrap().what else { panic!() };
    assert!(d.id_reused);
}

#[test]
fn row_4_knows_ids_that_only_repeats_came_under() {
    let mut w = World::running();
    w.admit(&result("M-1", "k", 1));
    w.admit(&result("M-2", "k", 1));
    assert_eq!(w.admit(&result("M-2", "other", 3)).outcome, "conflict");
}

#[test]
fn row_4_another_sender_may_use_the_same_id() {
    let mut w = World::running();
    w.admit(&message("task_progress", "M-1", "p", json!(1), json!({})));
    let a = w.admit(&message(
        "task_result",
        "M-1",
        "k",
        json!(1),
        json!({"sender": "agent-b", "lease_version": 1}),
    ));
    assert_eq!((a.outcome.as_str(), a.state), ("accepted", Some(S::Succeeded)));
    let delivered = w.log().events.iter().rev().find_map(|e| match &e.what {
        What::Delivered(d) => Some(d.id_reused),
        _ => None,
    });
    assert_eq!(delivered, Some(true));
}

/// faults.md 8, `digest-conflict-freeze`.
#[test]
fn row_5_two_contents_of_one_intent_freeze_the_task_with_both_sides_whole() {
    for settle in [S::Running, S::Succeeded] {
        let mut w = World::running();
        w.admit(&result("M-1", "k", 1));
        assert_eq!(w.task().state, S::Succeeded);
        let version = w.task().state_version;
        let a = w.admit(&result("M-2", "k", 2));
        assert_eq!((a.outcome.as_str(), a.state), ("conflict", Some(S::NeedsReview)), "{settle}");
        assert_eq!(a.state_version, Some(version + 1), "one change, one version");
        let set = w.set();
        assert_eq!(set.candidates.iter().map(|c| c.arrival).collect::<Vec<_>>(), [2, 3]);
        assert!(set.candidates.iter().all(|c| !c.trusted));
        assert_eq!(w.log().stored[2].submission.state_version_at, version);
        w.check();
    }
}

#[test]
fn row_5_a_failure_contradicts_a_result_of_the_same_intent() {
    let mut w = World::running();
    w.admit(&result("M-1", "k", 1));
    let a = w.admit(&message("task_failure", "M-2", "k", json!({"revenue": 1}), json!({})));
    assert_eq!(a.outcome, "conflict", "type and digest must match");
}

#[test]
fn row_5_another_effect_is_another_identity() {
    let mut w = World::running();
    w.admit(&result("M-1", "k", 1));
    let change = json!({"effect": {"key": "e", "target": "t"}});
    assert_eq!(
        w.admit(&message("task_result", "M-2", "k", json!({"revenue": 1}), change)).outcome,
        "conflict"
    );
}

#[test]
fn row_5_closes_an_open_question() {
    let mut w = World::waiting(json!({"prompt": "Which region?"}));
    let a = w.admit(&message("human_request", "M-2", "q", json!({"prompt": "Which country?"}), json!({})));
    assert_eq!((a.outcome.as_str(), a.state), ("conflict", Some(S::NeedsReview)));
    assert!(w.task().interruption.is_none());
    assert!(w.log().events.iter().any(|e| matches!(&e.what, What::Closed { how: Closing::Interrupted, .. })));
    w.check();
}

#[test]
fn row_6_a_further_candidate_raises_the_version() {
    let mut w = World::conflicted();
    let version = w.task().state_version;
    let a = w.admit(&message("task_result", "M-3", "k", json!({"revenue": 3}), json!({"sender": "agent-c"})));
    assert_eq!(
        (a.outcome.as_str(), a.state, a.state_version),
        ("conflict", Some(S::NeedsReview), Some(version + 1))
    );
    assert_eq!(w.task().review.as_ref().unwrap().candidates(), [2, 3, 4]);
    assert_eq!(w.task().review.as_ref().unwrap().sets.len(), 1);
    w.check();
}

#[test]
fn row_6_a_repeat_of_a_candidate_is_only_a_duplicate() {
    let mut w = World::conflicted();
    let version = w.task().state_version;
    let a = w.admit(&message("task_result", "M-2", "k", json!({"revenue": 2}), json!({"sender": "agent-b"})));
    assert_eq!((a.outcome.as_str(), a.state_version), ("duplicate", Some(version)));
}

/// faults.md 9: a scheme change is compared by content, never by name or by silence.
#[test]
fn digest_scheme_downgrade() {
    let mut w = World::running();
    w.admit(&result("M-1", "k", 1));
    let same = message(
        "task_result",
        "M-2",
        "k",
        json!({"revenue": 1}),
        json!({"digest_scheme": "python-sorted-json/1"}),
    );
    assert_eq!(w.admit(&same).outcome, "duplicate");
    let What::Delivered(d) = &w.log().events.last().unwrap().what else { panic!() };
    let change = d.message.repeat().and_then(|r| r.scheme_change).unwrap();
    assert_eq!((change.from.as_str(), change.to.as_str()), ("jcs-sha256/1", "python-sorted-json/1"));
    let other =
        message("task_result", "M-3", "k", json!({"revenue": 2}), json!({"digest_scheme": "raw-sha256/1"}));
    assert_eq!(w.admit(&other).outcome, "conflict");
    let unknown = message(
        "task_result",
        "M-4",
        "k",
        json!({"revenue": 2}),
        json!({"digest_scheme": "md5/1", "payload_digest": format!("sha256:{}", "0".repeat(64))}),
    );
    assert!(w.admit(&unknown).reason.unwrap().starts_with("unknown_digest_scheme"));
    w.check();
}

#[test]
fn a_number_that_jcs_cannot_hold_compares_as_different_across_schemes() {
    let mut w = World::running();
    let big = |id: &str, scheme: &str| {
        let raw = br#"{"n":9007199254740993}"#;
        let digest =
            crate::domain::digest::digest(crate::domain::digest::Scheme::parse(scheme).unwrap(), raw)
                .unwrap();
        let text = String::from_utf8(message(
            "task_result",
            id,
            "k",
            json!("PAYLOAD"),
            json!({"digest_scheme": scheme, "payload_digest": digest}),
        ))
        .unwrap();
        text.replace("\"PAYLOAD\"", std::str::from_utf8(raw).unwrap()).into_bytes()
    };
    assert_eq!(w.admit(&big("M-1", "raw-sha256/1")).outcome, "accepted");
    assert_eq!(w.admit(&big("M-2", "raw-sha256/1")).outcome, "duplicate");
    assert_eq!(
        w.admit(&big("M-3", "python-sorted-json/1")).outcome,
        "conflict",
        "impossible to compare = different"
    );
}

/// faults.md 11, `stale-lease`.
#[test]
fn row_7_an_outcome_under_another_lease_is_evidence_only() {
    let mut w = World::running();
    let version = w.task().state_version;
    for change in [json!({"lease_version": 7}), json!({"sender": "agent-b"})] {
        let key = change.to_string();
        let a = w.admit(&message("task_result", &key, &key, json!(1), change));
        assert_eq!(
            (a.outcome.as_str(), a.state, a.state_version),
            ("stale_lease", Some(S::Running), Some(version))
        );
    }
    let a = w.admit(&message(
        "task_result",
        "M-3",
        "k",
        json!(1),
        json!({"sender": "agent-b", "lease_version": 1}),
    ));
    assert_eq!(a.outcome, "accepted", "the lease counts, not the name");
    w.check();
}

#[test]
fn row_7_an_expired_but_current_lease_is_accepted_and_a_released_one_is_not() {
    let mut w = World::running();
    w.now = T0.plus(3_600_000);
    let late = message("task_result", "M-1", "k", json!(1), json!({"lease_version": 1}));
    assert_eq!(w.clone().admit(&late).outcome, "accepted");
    let release = Command::Release { task_id: "T".into(), lease_version: 1, reason: "worker is gone".into() };
    w.submit(release, owner()).unwrap();
    assert_eq!(w.admit(&late).outcome, "stale_lease");
}

#[test]
fn row_8_receipts_that_contradict_a_committed_effect() {
    for (effect, target, value) in [("e", "t", 2), ("e", "t2", 1), ("e2", "t", 1)] {
        let mut w = World::running();
        assert_eq!(w.admit(&effect_receipt("M-1", "r1", "e", "t", 1)).outcome, "accepted");
        let a = w.admit(&effect_receipt("M-2", "r2", effect, target, value));
        assert_eq!(
            (a.outcome.as_str(), a.state),
            ("conflict", Some(S::NeedsReview)),
            "{effect} {target} {value}"
        );
        let set = &w.task().review.as_ref().unwrap().sets[0];
        assert_eq!(set.candidates, [2, 3]);
        assert_eq!(set.effect.as_ref().unwrap().effect, EffectName { key: "e".into(), target: "t".into() });
        w.check();
    }
}

#[test]
fn row_8_on_a_finished_task_is_a_late_conflict() {
    let mut w = World::running();
    w.admit(&effect_receipt("M-1", "r1", "e", "t", 1));
    w.admit(&result("M-2", "k", 1));
    let a = w.admit(&effect_receipt("M-3", "r2", "e", "t", 2));
    assert_eq!((a.outcome.as_str(), a.state), ("late_conflict", Some(S::NeedsReview)));
}

#[test]
fn row_9_an_uncommitted_effect_after_the_end_is_a_late_conflict() {
    let mut w = World::running();
    w.admit(&result("M-1", "k", 1));
    let late = message("task_result", "M-2", "k2", json!(2), json!({"effect": {"key": "e", "target": "t"}}));
    let a = w.admit(&late);
    assert_eq!((a.outcome.as_str(), a.state), ("late_conflict", Some(S::NeedsReview)));
    assert_eq!(
        w.task().review.as_ref().unwrap().candidates(),
        [2, 3],
        "what the task stood on is judged with it"
    );
    w.check();
}

#[test]
fn row_9_an_equal_committed_effect_is_only_late() {
    let mut w = World::running();
    w.admit(&effect_receipt("M-1", "r1", "e", "t", 1));
    w.admit(&result("M-2", "k", 1));
    let late = message("task_result", "M-3", "k2", json!(2), json!({"effect": {"key": "e", "target": "t"}}));
    assert_eq!(w.admit(&late).outcome, "late");
    assert_eq!(w.log().committed.len(), 1, "an equal effect is not repeated");
}

#[test]
fn row_10_a_receipt_commits_its_effect_once_in_any_state() {
    for state in [S::Pending, S::Succeeded, S::NeedsReview] {
        let mut w = match state {
            S::NeedsReview => World::conflicted(),
            S::Succeeded => World::running(),
            _ => World::new(),
        };
        match state {
            S::Pending => drop(w.admit(&request())),
            S::Succeeded => drop(w.admit(&result("M-1", "k", 1))),
            _ => {}
        }
        let version = w.task().state_version;
        let a = w.admit(&effect_receipt("M-7", "r", "e", "t", 1));
        assert_eq!((a.outcome.as_str(), a.state, a.state_version), ("accepted", Some(state), Some(version)));
        assert_eq!(w.log().committed.len(), 1);
        w.check();
    }
}

/// faults.md 10: a result after the end is stored, and the state stays.
#[test]
fn row_11_terminal_states_never_regress() {
    for end in [S::Succeeded, S::Failed, S::Denied, S::Canceled] {
        let mut w = World::running();
        if end == S::Canceled {
            w.go(S::Canceled).unwrap()
        } else {
            w.go(end).unwrap()
        };
        let version = w.task().state_version;
        let a = w.admit(&result("M-1", "k", 1));
        assert_eq!((a.outcome.as_str(), a.state, a.state_version), ("late", Some(end), Some(version)));
        assert_eq!(w.admit(&message("task_progress", "M-2", "p", json!(1), json!({}))).outcome, "late");
        assert_eq!(w.log().stored.len(), 3, "nothing that arrived is lost");
        w.check();
    }
}

#[test]
fn row_12_held_outcomes_apply_when_the_task_runs() {
    let mut w = World::new();
    w.admit(&request());
    let version = w.task().state_version;
    let a = w.admit(&result("M-1", "k", 1));
    assert_eq!(
        (a.outcome.as_str(), a.state_version),
        ("held", Some(version)),
        "pending: nothing is judged yet"
    );
    w.go(S::Ready).unwrap();
    w.claim("agent-b").unwrap();
    assert_eq!(w.task().state, S::Succeeded);
    assert_eq!(w.task().outcome, Some(2));
    assert!(w.log().stored[1].applied);
    w.check();
}

#[test]
fn row_12_a_held_outcome_under_an_old_lease_does_not_apply() {
    let mut w = World::waiting(json!({"prompt": "?"}));
    let a = w.admit(&message("task_result", "M-2", "k", json!(1), json!({"lease_version": 1})));
    assert_eq!(a.outcome, "held");
    let mut d = w.decision(S::Ready);
    d.input = Some(text_input("north"));
    w.decide(d).unwrap();
    w.claim("agent-b").unwrap();
    assert_eq!(w.task().state, S::Running, "judged and not upheld: never applied");
    w.check();
}

#[test]
fn row_12_held_while_a_person_judges_raises_the_version() {
    let mut w = World::conflicted();
    let version = w.task().state_version;
    let a = w.admit(&message("task_failure", "M-7", "k7", json!({}), json!({})));
    assert_eq!((a.outcome.as_str(), a.state_version), ("held", Some(version + 1)));
    assert_eq!(w.set().held.len(), 1);
    w.check();
}

#[test]
fn row_2_a_late_result_is_accepted_when_sent_again_to_a_running_task() {
    let mut w = World::running();
    let stale = message("task_result", "M-1", "k", json!(1), json!({"lease_version": 9}));
    assert_eq!(w.admit(&stale).outcome, "stale_lease");
    assert_eq!(w.admit(&stale).outcome, "duplicate", "still under the wrong lease");
    let again = message("task_result", "M-2", "k", json!(1), json!({"lease_version": 1}));
    assert_eq!(w.admit(&again).outcome, "accepted");
    assert_eq!(w.task().state, S::Succeeded);
    w.check();
}

#[test]
fn row_2_what_a_record_upholds_is_accepted_from_the_resuming_worker() {
    let mut w = World::conflicted();
    let mut d = w.decision(S::Ready);
    d.upheld = vec![3];
    w.decide(d).unwrap();
    w.claim("agent-b").unwrap();
    let rejected = result("M-1", "k", 1);
    assert_eq!(w.admit(&rejected).outcome, "duplicate", "the judgement stands, no new freeze");
    let upheld = message("task_result", "M-5", "k", json!({"revenue": 2}), json!({"sender": "agent-b"}));
    let a = w.admit(&upheld);
    assert_eq!((a.outcome.as_str(), a.state), ("accepted", Some(S::Succeeded)));
    assert_eq!(w.admit(&upheld).outcome, "duplicate");
    w.check();
}

#[test]
fn row_2_a_held_outcome_sent_again_under_the_lease_is_settled_with_it() {
    let mut w = World::new();
    w.admit(&request());
    w.admit(&message("task_result", "M-1", "k", json!(1), json!({"lease_version": 9})));
    assert_eq!(w.task().held, Vec::<u64>::new(), "a lease that was never given is stale at once");
    let mut w = World::running();
    w.admit(&message("task_failure", "M-1", "k", json!({"retryable": true}), json!({"lease_version": 1})));
    let held = message("task_result", "M-2", "k2", json!(1), json!({"lease_version": 1}));
    assert_eq!(w.admit(&held).outcome, "held");
    w.go(S::Ready).unwrap();
    w.claim("agent-a").unwrap();
    assert_eq!(
        (w.task().state, w.task().held.clone()),
        (S::Running, vec![3]),
        "the old lease does not apply"
    );
    let again = message("task_result", "M-3", "k2", json!(1), json!({"lease_version": 2}));
    assert_eq!(w.admit(&again).outcome, "accepted");
    assert_eq!((w.task().state, w.task().held.is_empty(), w.task().outcome), (S::Succeeded, true, Some(4)));
    w.check();
}

#[test]
fn a_third_content_after_a_judgement_freezes_again_and_names_the_record() {
    let mut w = World::conflicted();
    let d = w.decision(S::Ready);
    let record = w.decide(d).unwrap();
    w.claim("agent-c").unwrap();
    let a = w.admit(&message("task_result", "M-7", "k", json!({"revenue": 3}), json!({"sender": "agent-c"})));
    assert_eq!((a.outcome.as_str(), a.state), ("conflict", Some(S::NeedsReview)));
    let set = &w.task().review.as_ref().unwrap().sets[0];
    assert_eq!(set.judged_before.as_deref(), Some(record.approval_id.as_str()));
    assert_eq!(set.candidates, [2, 3, 4]);
    w.check();
}

#[test]
fn further_requests() {
    let mut w = World::running();
    let version = w.task().state_version;
    let same = message("task_request", "M-5", "req-2", json!({"goal": "collect evidence"}), json!({}));
    let a = w.admit(&same);
    assert_eq!((a.outcome.as_str(), a.state_version), ("accepted", Some(version)), "a further attempt");
    let other = message("task_request", "M-6", "req-3", json!({"goal": "something else"}), json!({}));
    let a = w.admit(&other);
    assert_eq!((a.outcome.as_str(), a.state), ("conflict", Some(S::NeedsReview)));
    assert_eq!(w.task().review.as_ref().unwrap().candidates(), [1, 3]);
    w.check();
}

#[test]
fn questions_replace_only_from_the_same_asker() {
    let mut w = World::waiting(json!({"prompt": "Which region?"}));
    let version = w.task().state_version;
    let other =
        message("human_request", "M-8", "q8", json!({"prompt": "mine"}), json!({"sender": "agent-z"}));
    let a = w.admit(&other);
    assert_eq!((a.outcome.as_str(), a.state_version), ("held", Some(version + 1)));
    let newer = message("human_request", "M-9", "q9", json!({"prompt": "Which country?"}), json!({}));
    let a = w.admit(&newer);
    assert_eq!(
        (a.outcome.as_str(), a.state, a.state_version),
        ("accepted", Some(S::WaitingHuman), Some(version + 2))
    );
    let open = w.task().interruption.as_ref().unwrap();
    assert_eq!((open.version, open.question.prompt.as_str()), (2, "Which country?"));
    w.check();
}

#[test]
fn failures_retry_or_end() {
    let mut w = World::running();
    let retry = json!({"retryable": true, "retry_at": "2026-11-30T13:00:00Z", "category": "delivery"});
    w.admit(&message("task_failure", "M-1", "k", retry, json!({})));
    assert_eq!(w.task().state, S::RetryWait);
    assert_eq!(w.task().retry_at, crate::domain::ids::Timestamp::parse("2026-11-30T13:00:00Z"));
    assert_eq!(w.task().failure.as_ref().unwrap().kind.as_str(), "delivery");
    let mut w = World::running();
    w.admit(&message("task_failure", "M-1", "k", json!({}), json!({})));
    assert_eq!(w.task().state, S::Failed);
    let mut w = World::running();
    w.admit(&message("task_denied", "M-1", "k", json!({"reason": "policy"}), json!({})));
    assert_eq!(w.task().state, S::Denied);
}

#[test]
fn a_task_holds_only_so_many_open_messages() {
    let mut w = World::conflicted();
    w.rules.limits.open_per_task = 3;
    assert_eq!(w.admit(&result("M-3", "k", 3)).outcome, "conflict");
    let before = w.task().clone();
    let past = w.admit(&result("M-4", "k", 4));
    assert!(past.reason.unwrap().starts_with("limit_exceeded"));
    assert_eq!(w.task(), &before);
    assert_eq!(w.quarantine[0].1, QuarantineReason::LimitExceeded);
}

pub(crate) fn text_input(text: &str) -> crate::domain::decision::Input {
    crate::domain::decision::Input {
        parts: vec![crate::domain::decision::Part::Text(text.into())],
        ..Default::default()
    }
}
