//! Decisions: contract section 6, and what a person at a question may rely on (section 8).

use crate::common::{self, NOON};
use crate::world::*;
use serde_json::json;
use tribunal::coordinator::Error;
use tribunal::domain::actor::{Pattern, Principal, Role};
use tribunal::domain::command::{DecisionOutcome, Reply};
use tribunal::domain::decision::{Decision, Input, Part};
use tribunal::domain::digest::Digest;
use tribunal::domain::refusal::Refusal;
use tribunal::domain::task::TaskState;

/// Everything is wrong at once; each step puts one thing right, and the next check in the contract's order speaks.
pub async fn checks_come_in_the_contracts_order(h: &dyn House) {
    let elsewhere = conflict(h, "T-0").await;
    let key = |d: Decision| Decision { idempotency_key: "used".into(), ..d };
    record(reviewer(h).decide(key(decision("T-0", elsewhere))).await);
    let version = conflict(h, "T-1").await;
    let wrong = Decision {
        candidate_set_digest: Some(Digest::of_bytes(b"another")),
        upheld: vec![9],
        reason: "  ".into(),
        input: Some(Input::default()),
        ..decision("T-none", version + 7)
    };
    let author = Principal { senders: vec![Pattern("agent-a".into())], ..holds("rita", Role::Reviewer) };
    let author = h.seen_by(author);
    let nobody = h.seen_by(Principal { subject: String::new(), ..holds("", Role::Reviewer) });
    assert_eq!(code(nobody.decide(wrong.clone()).await), "unauthenticated");
    assert_eq!(code(author.decide(wrong.clone()).await), "task_not_found");
    let d = Decision { task_id: id("T-1"), ..wrong };
    assert_eq!(code(author.decide(key(d.clone())).await), "idempotency_key_reused");
    let viewer = h.seen_by(holds("vera", Role::Viewer));
    assert_eq!(code(viewer.decide(d.clone()).await), "forbidden");
    ready(h, "T-ready").await;
    let idle = Decision { task_id: id("T-ready"), ..d.clone() };
    assert_eq!(code(author.decide(idle).await), "not_waiting");
    let done = Decision { task_id: id("T-0"), ..d.clone() };
    assert_eq!(code(author.decide(done).await), "already_decided");
    assert_eq!(code(author.decide(d.clone()).await), "stale_version");
    let d = Decision { expected_version: version, ..d };
    assert_eq!(code(author.decide(d.clone()).await), "candidate_set_changed");
    let shown = reviewer(h).show(&id("T-1")).await.unwrap();
    let d = Decision { candidate_set_digest: shown.candidate_set_digest, ..d };
    assert_eq!(code(author.decide(d.clone()).await), "self_interest");
    let rita = reviewer(h);
    assert_eq!(code(rita.decide(d.clone()).await), "not_upholdable");
    let both = Decision { upheld: vec![2, 3], ..d.clone() };
    assert_eq!(code(rita.decide(both).await), "not_upholdable");
    let d = Decision { upheld: vec![3], ..d };
    assert_eq!(code(rita.decide(d.clone()).await), "reason_too_short");
    let d = Decision { reason: "read both".into(), ..d };
    assert_eq!(code(rita.decide(d.clone()).await), "input_invalid");
    assert_eq!(rita.show(&id("T-1")).await.unwrap(), shown, "nothing was written by all of this");
    let record = record(rita.decide(Decision { input: None, ..d }).await);
    assert_eq!((record.upheld.as_slice(), record.sequence), ([3].as_slice(), 2));
    assert_eq!(state(h, "T-1").await, TaskState::Ready);
}

pub async fn replay_comes_before_everything_that_changed(h: &dyn House) {
    let version = conflict(h, "T-1").await;
    let d = Decision { idempotency_key: "once".into(), upheld: vec![2], ..decision("T-1", version) };
    let rita = reviewer(h);
    let first = record(rita.decide(d.clone()).await);
    worker(h).run(claim("T-1", "w")).await.unwrap();
    match rita.decide(d.clone()).await.unwrap() {
        Reply::Decided { outcome, record } => {
            assert_eq!((outcome, record), (DecisionOutcome::Replayed, first))
        }
        other => panic!("{other:?}"),
    }
    let other = Decision { upheld: vec![3], ..d.clone() };
    assert_eq!(code(rita.decide(other).await), "idempotency_key_reused");
    // The key is the principal's own: the same words under it by somebody else are another request.
    let ruth = h.seen_by(holds("ruth", Role::Reviewer));
    assert_eq!(code(ruth.decide(d).await), "already_decided");
    assert_eq!(rita.approvals(whole_ledger()).await.unwrap().rows.len(), 1);
}

pub async fn already_decided_names_the_winner(h: &dyn House) {
    let version = conflict(h, "T-1").await;
    let winner = record(reviewer(h).decide(decision("T-1", version)).await);
    let ruth = h.seen_by(holds("ruth", Role::Reviewer));
    match ruth.decide(decision("T-1", version)).await {
        Err(Error::Refused(Refusal::AlreadyDecided { approval_id, by, sequence, current, .. })) => {
            assert_eq!((approval_id, by.as_str(), sequence), (winner.approval_id, "rita", 1));
            assert_eq!(current, version + 1);
        }
        other => panic!("{other:?}"),
    }
}

/// Fault 13: a further side arrives between what was shown and what is sent; what was not seen is not approved.
pub async fn decision_while_freezing(h: &dyn House) {
    let version = conflict(h, "T-1").await;
    let seen = reviewer(h).show(&id("T-1")).await.unwrap().candidate_set_digest;
    let late = say(
        h,
        common::envelope(json!({"task_id": "T-1", "message_id": "c", "sender": "agent-c",
        "payload": {"value": 3}})),
    )
    .await;
    assert_eq!((late.outcome.as_str(), late.state_version), ("conflict", Some(version + 1)));
    assert_eq!(code(reviewer(h).decide(decision("T-1", version)).await), "stale_version");
    let guess = Decision { candidate_set_digest: seen, ..decision("T-1", version + 1) };
    assert_eq!(code(reviewer(h).decide(guess).await), "candidate_set_changed");
    // A repeat of a side that is there changes nothing, so it refuses nothing.
    let again = say(
        h,
        common::envelope(json!({"task_id": "T-1", "message_id": "c", "sender": "agent-c",
        "payload": {"value": 3}})),
    )
    .await;
    assert_eq!((again.outcome.as_str(), again.state_version), ("duplicate", Some(version + 1)));
    record(reviewer(h).decide(decision("T-1", version + 1)).await);
}

pub async fn supersedes_while_ready_and_unclaimed_only(h: &dyn House) {
    let version = conflict(h, "T-1").await;
    let first = record(reviewer(h).decide(Decision { upheld: vec![2], ..decision("T-1", version) }).await);
    let correct =
        |v| Decision { upheld: vec![3], supersedes: Some(first.approval_id.clone()), ..decision("T-1", v) };
    let second = record(reviewer(h).decide(correct(version + 1)).await);
    assert_eq!((second.approval_version, second.supersedes.as_ref()), (2, Some(&first.approval_id)));
    assert_eq!(second.candidates, first.candidates, "it judges the same sides again");
    assert_eq!(code(reviewer(h).decide(correct(version + 2)).await), "already_decided");
    worker(h).run(claim("T-1", "w")).await.unwrap();
    let third = Decision { supersedes: Some(second.approval_id), ..decision("T-1", version + 3) };
    assert_eq!(code(reviewer(h).decide(third).await), "already_decided");
}

pub async fn canceling_needs_no_side(h: &dyn House) {
    let version = conflict(h, "T-1").await;
    let cancel = Decision { decision: TaskState::Canceled, ..decision("T-1", version) };
    let upheld = Decision { upheld: vec![2], ..cancel.clone() };
    assert_eq!(code(reviewer(h).decide(upheld).await), "not_upholdable");
    assert_eq!(record(operator(h).decide(cancel).await).to_state, TaskState::Canceled);
    let version = conflict(h, "T-2").await;
    let judge = decision("T-2", version);
    assert_eq!(code(operator(h).decide(judge).await), "forbidden", "an operator cancels, a reviewer judges");
}

/// Fault 14: the question expires at the instant in which somebody answers it.
pub async fn decision_vs_timeout(h: &dyn House) {
    running(h, "T-1").await;
    let expires = NOON.plus(60_000);
    let asked = ask(h, "T-1", "q", json!({"prompt": "which?", "expires_at": expires})).await;
    let version = version(h, "T-1").await;
    let words = Input { parts: vec![Part::Text("that".into())], ..Input::default() };
    let answer =
        Decision { interruption: Some(asked.clone()), input: Some(words), ..decision("T-1", version) };
    h.set_clock(expires);
    assert_eq!(code(reviewer(h).decide(answer.clone()).await), "not_waiting", "silence is never an answer");
    let row = &reviewer(h).show(&id("T-1")).await.unwrap();
    assert_eq!(row.stuck.map(|s| s.as_str()), Some("interruption_expired"));
    h.set_clock(expires.plus(-1));
    record(reviewer(h).decide(answer).await);
    h.set_clock(expires);
    assert_eq!(state(h, "T-1").await, TaskState::Ready);
    assert_eq!(reviewer(h).approvals(whole_ledger()).await.unwrap().rows.len(), 1);
}

/// Fault 12: the worker's lease ends, and the task is taken from it, while somebody reads the task.
pub async fn lease_expires_during_decision(h: &dyn House) {
    ready(h, "T-1").await;
    worker(h).run(claim("T-1", "w")).await.unwrap();
    let read = version(h, "T-1").await;
    h.set_clock(NOON.plus(3_600_000));
    assert_eq!(operator(h).show(&id("T-1")).await.unwrap().stuck.map(|s| s.as_str()), Some("lease_expired"));
    worker(h).run(to("T-1", TaskState::RetryWait, read)).await.unwrap();
    assert_eq!(code(operator(h).run(to("T-1", TaskState::Canceled, read)).await), "stale_version");
    assert_eq!(state(h, "T-1").await, TaskState::RetryWait);
}

/// Fault 35: the coordinator's clock jumps back an hour; order and versions go by sequence, never by time.
pub async fn clock_skew(h: &dyn House) {
    running(h, "T-1").await;
    h.set_clock(NOON.plus(-3_600_000));
    let a = say(h, common::result("T-1", "a", json!(1))).await;
    h.set_clock(NOON.plus(86_400_000));
    let b = say(h, common::result("T-1", "b", json!(2))).await;
    h.set_clock(NOON.plus(-86_400_000));
    assert_eq!((a.arrival, b.arrival), (Some(2), Some(3)));
    let version = version(h, "T-1").await;
    let record = record(reviewer(h).decide(Decision { upheld: vec![2], ..decision("T-1", version) }).await);
    assert_eq!(record.decided_at, h.now());
    let events = reviewer(h).timeline(&id("T-1"), 0, 100).await.unwrap();
    assert!(events.iter().zip(1..).all(|(e, n)| e.revision == n));
    assert!(events.windows(2).all(|w| w[0].state_version <= w[1].state_version));
    assert!(reviewer(h).verify(Vec::new()).await.unwrap().ok);
    // A claimed time a day ahead or behind orders nothing, and a question expires by the coordinator's clock alone.
    let side = |message: &str, created_at: &str| {
        common::envelope(json!({"task_id": "T-2", "message_id": message, "created_at": created_at,
            "payload": {"by": message}}))
    };
    running(h, "T-2").await;
    let ahead = say(h, side("ahead", "2026-12-01T12:00:00Z")).await;
    let behind = say(h, side("behind", "2026-11-29T12:00:00Z")).await;
    assert_eq!((ahead.arrival, behind.arrival), (Some(2), Some(3)));
    assert_eq!((ahead.outcome.as_str(), behind.outcome.as_str()), ("accepted", "conflict"));
    let sides = reviewer(h).show(&id("T-2")).await.unwrap().candidates;
    assert!(sides.windows(2).all(|w| w[0].submission.arrival < w[1].submission.arrival), "by arrival");
    running(h, "T-3").await;
    h.set_clock(NOON);
    let asked = json!({"task_id": "T-3", "message_id": "q", "idempotency_key": "q", "type": "human_request",
        "created_at": "2026-11-29T12:00:00Z", "payload": {"prompt": "which?", "expires_at": NOON.plus(60_000)}});
    say(h, common::envelope(asked)).await;
    for (now, expired) in [(59_999, false), (60_000, true), (-3_600_000, false)] {
        h.set_clock(NOON.plus(now));
        assert_eq!(reviewer(h).show(&id("T-3")).await.unwrap().stuck.is_some(), expired, "{now}");
    }
}

/// Fault 10, on a real store; every order of six is in the domain's test of this name. Here: what was held, what comes
/// again and what comes after the end.
pub async fn late_and_reordered_results(h: &dyn House) {
    let result = |task: &str, message: &str, value: u64| common::result(task, message, json!(value));
    assert_eq!(say(h, result("T-1", "early", 1)).await.outcome, "quarantined");
    running(h, "T-1").await;
    assert_eq!(state(h, "T-1").await, TaskState::Succeeded, "the early one counted when its task came");
    let again = say(h, result("T-1", "again", 1)).await;
    assert_eq!(again.outcome, "duplicate");
    assert_eq!(say(h, result("T-1", "other", 2)).await.outcome, "conflict");
    assert_eq!(state(h, "T-1").await, TaskState::NeedsReview);
    running(h, "T-2").await;
    let read = version(h, "T-2").await;
    operator(h).run(to("T-2", TaskState::Canceled, read)).await.unwrap();
    let late = say(h, result("T-2", "late", 1)).await;
    assert_eq!((late.outcome.as_str(), late.arrival), ("late", Some(2)));
    assert_eq!((state(h, "T-2").await, version(h, "T-2").await), (TaskState::Canceled, read + 1));
    assert!(reviewer(h).payload(&id("T-2"), 2).await.unwrap().verified, "recorded, not applied");
}

pub async fn a_late_answer_never_satisfies_a_newer_question(h: &dyn House) {
    running(h, "T-1").await;
    let first = ask(h, "T-1", "q1", json!({"prompt": "which region?"})).await;
    let read = version(h, "T-1").await;
    let second = ask(h, "T-1", "q2", json!({"prompt": "delete everything?"})).await;
    assert_ne!(first, second);
    let words = Input { parts: vec![Part::Text("yes".into())], ..Input::default() };
    let late = Decision { interruption: Some(first), input: Some(words), ..decision("T-1", read) };
    assert_eq!(code(reviewer(h).decide(late.clone()).await), "stale_version");
    let now = version(h, "T-1").await;
    let late = Decision { expected_version: now, ..late };
    assert_eq!(code(reviewer(h).decide(late.clone()).await), "candidate_set_changed");
    let unnamed = Decision { interruption: None, ..late.clone() };
    assert_eq!(code(reviewer(h).decide(unnamed).await), "input_invalid");
    record(reviewer(h).decide(Decision { interruption: Some(second), ..late }).await);
}

pub async fn approval_is_answered_yes_or_no(h: &dyn House) {
    for (task, approved) in [("T-1", true), ("T-2", false)] {
        running(h, task).await;
        let asked = ask(h, task, "q", json!({"prompt": "publish?", "need": "human_approval"})).await;
        let version = version(h, task).await;
        let bare = Decision { interruption: Some(asked), ..decision(task, version) };
        assert_eq!(code(reviewer(h).decide(bare.clone()).await), "input_invalid");
        let input = Input { approved: Some(approved), ..Input::default() };
        record(reviewer(h).decide(Decision { input: Some(input.clone()), ..bare }).await);
        let task = reviewer(h).show(&id(task)).await.unwrap().task;
        assert_eq!(task.state, TaskState::Ready, "the agent hears the answer, either way");
        assert_eq!(task.decided.unwrap().input, Some(input));
    }
}

pub async fn what_is_shown_is_what_is_signed(h: &dyn House) {
    let version = conflict(h, "T-1").await;
    let shown = reviewer(h).show(&id("T-1")).await.unwrap();
    assert!(shown.candidates.iter().all(|c| !c.trusted));
    let record = record(reviewer(h).decide(decision("T-1", version)).await);
    assert_eq!(record.candidates, shown.candidate_set.candidates);
    assert_eq!(Some(record.candidate_set_digest), shown.candidate_set_digest);
    assert_eq!(record.principal.subject, "rita");
    let read = reviewer(h).approval(&record.approval_id).await.unwrap().unwrap();
    assert_eq!((&read.record, read.record.record_digest), (&record, record.record_digest));
}

pub async fn records_form_a_chain(h: &dyn House) {
    let mut previous = Digest::from_bytes([0; 32]);
    for n in 1..=3 {
        let task = format!("T-{n}");
        let version = conflict(h, &task).await;
        let record = record(reviewer(h).decide(decision(&task, version)).await);
        assert_eq!((record.sequence, record.previous_record_digest), (n, previous));
        previous = record.record_digest;
    }
    let report = reviewer(h).verify(Vec::new()).await.unwrap();
    assert_eq!((report.ok, report.records, report.head), (true, 3, Some(previous)));
    let pin = |sequence| tribunal::domain::ledger::Pin { sequence, record_digest: previous };
    assert!(reviewer(h).verify(vec![pin(3)]).await.unwrap().ok);
    let found = |report: tribunal::domain::ledger::Report| {
        let problem = report.problem.unwrap();
        (problem.sequence, serde_json::to_value(problem.kind).unwrap())
    };
    assert_eq!(found(reviewer(h).verify(vec![pin(2)]).await.unwrap()), (2, json!("rewritten")));
    assert_eq!(found(reviewer(h).verify(vec![pin(4)]).await.unwrap()), (4, json!("tail_cut")));
}
