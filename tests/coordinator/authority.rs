//! Who may do what: contract section 12, by every role, in scope and out of it.

use crate::common;
use crate::world::*;
use serde_json::json;
use tribunal::coordinator::{Coordinator, Error, ListRequest, Order, Scope as Listed};
use tribunal::domain::actor::{Grant, Pattern, Principal, Role, Scope};
use tribunal::domain::command::Command;
use tribunal::domain::decision::{Decision, Input, Part};
use tribunal::domain::digest::{Digest, Scheme};
use tribunal::domain::envelope::EffectName;
use tribunal::domain::query::Query;
use tribunal::domain::refusal::RefusalClass;
use tribunal::domain::task::TaskState;

fn trace(pattern: &str) -> Scope {
    Scope { traces: vec![Pattern(pattern.into())], ..Scope::default() }
}

/// What somebody might try on a task of trace R-1.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Try {
    Show,
    Payload,
    Submit,
    Claim,
    Transition,
    Cancel,
    Release,
    Reserve,
    Commit,
    Void,
    Gate,
    Judge,
    CancelByRecord,
    Answer,
    Drop,
}

/// Section 12, written out by hand: which roles may.
const TABLE: [(Try, &[Role]); 15] = {
    use Role::{Admin, Operator, Responder, Reviewer, Viewer, Worker};
    [
        (Try::Show, &[Viewer, Responder, Reviewer, Operator, Worker, Admin]),
        (Try::Payload, &[Viewer, Responder, Reviewer, Operator, Admin]),
        (Try::Submit, &[Worker, Admin]),
        (Try::Claim, &[Worker, Admin]),
        (Try::Transition, &[Worker, Operator, Admin]),
        (Try::Cancel, &[Operator, Admin]),
        (Try::Release, &[Operator, Admin]),
        (Try::Reserve, &[Worker, Admin]),
        (Try::Commit, &[Worker, Admin]),
        (Try::Void, &[Operator, Admin]),
        (Try::Gate, &[Operator, Admin]),
        (Try::Judge, &[Reviewer]),
        (Try::CancelByRecord, &[Reviewer, Operator]),
        (Try::Answer, &[Responder, Reviewer, Operator]),
        (Try::Drop, &[Operator, Admin]),
    ]
};

/// Makes what is tried possible, and gives the quarantine entry for `Drop`.
async fn prepare(h: &dyn House, task: &str, what: Try) -> String {
    match what {
        Try::Claim => ready(h, task).await,
        Try::Release | Try::Commit => {
            ready(h, task).await;
            worker(h).run(claim(task, "w")).await.unwrap();
        }
        Try::Void => {
            running(h, task).await;
            let effect = EffectName { key: task.into(), target: task.into() };
            worker(h).run(Command::Reserve { task_id: id(task), effect, lease_version: None }).await.unwrap();
            go(h, task, TaskState::Failed).await;
        }
        Try::Judge | Try::CancelByRecord => drop(conflict(h, task).await),
        Try::Answer => {
            running(h, task).await;
            ask(h, task, "q", json!({"prompt": "which?"})).await;
        }
        Try::Drop => {
            running(h, task).await;
            let bad =
                common::envelope(json!({"task_id": task, "payload_digest": Digest::of_bytes(b"not this")}));
            return say(h, bad).await.quarantine.unwrap();
        }
        _ => running(h, task).await,
    }
    String::new()
}

async fn attempt(
    c: &dyn Coordinator,
    h: &dyn House,
    task: &str,
    what: Try,
    entry: &str,
) -> Result<(), Error> {
    let task_id = id(task);
    let version = version(h, task).await;
    let effect = EffectName { key: task.into(), target: task.into() };
    let (digest, scheme) = (Digest::of_bytes(b"x"), Scheme::JcsSha256V1);
    match what {
        Try::Show => c.show(&task_id).await.map(drop),
        Try::Payload => c.payload(&task_id, 1).await.map(drop),
        Try::Submit => {
            let raw = common::envelope(json!({"task_id": task, "type": "task_progress"}));
            let answer = c.admit(vec![incoming(raw)]).await?.pop().unwrap();
            match answer.outcome.as_str() {
                "accepted" => Ok(()),
                "refused" => Err(tribunal::domain::refusal::Refusal::Forbidden { why: String::new() }.into()),
                other => panic!("{other}"),
            }
        }
        Try::Claim => c.run(claim(task, "w")).await.map(drop),
        Try::Transition => c.run(to(task, TaskState::Succeeded, version)).await.map(drop),
        Try::Cancel => c.run(to(task, TaskState::Canceled, version)).await.map(drop),
        Try::Release => {
            c.run(Command::Release { task_id, lease_version: 1, reason: "gone".into() }).await.map(drop)
        }
        Try::Reserve => c.run(Command::Reserve { task_id, effect, lease_version: None }).await.map(drop),
        Try::Commit => {
            let lease_version = Some(1);
            c.run(Command::Commit { task_id, effect, digest, scheme, lease_version }).await.map(drop)
        }
        Try::Void => {
            let (expected_version, reason) = (version, "asked at the target".into());
            c.run(Command::Void { task_id, effect, expected_version, reason }).await.map(drop)
        }
        Try::Gate => c.run(Command::Gate { task_id, reason: "no".into() }).await.map(drop),
        Try::Judge => c.decide(decision(task, version)).await.map(drop),
        Try::CancelByRecord => {
            let cancel = Decision { decision: TaskState::Canceled, ..decision(task, version) };
            c.decide(cancel).await.map(drop)
        }
        Try::Answer => {
            let interruption = operator(h).show(&task_id).await?.task.interruption.map(|i| i.id);
            let input = Some(Input { parts: vec![Part::Text("that".into())], ..Input::default() });
            c.decide(Decision { interruption, input, ..decision(task, version) }).await.map(drop)
        }
        Try::Drop => c.drop_entry(entry, "of no use").await,
    }
}

pub async fn every_operation_by_every_role(h: &dyn House) {
    for (what, may) in TABLE {
        for role in Role::ALL {
            for (at, scope) in [("in", trace("R-*")), ("everywhere", Scope::default())] {
                let task = format!("{what:?}-{}-{at}", role.as_str());
                let entry = prepare(h, &task, what).await;
                let senders = vec![Pattern("agent-*".into())];
                let principal = Principal { senders, ..scoped("somebody", role, scope) };
                // Judging what one sent oneself is another matter.
                let judges = matches!(what, Try::Judge | Try::CancelByRecord);
                let senders = if judges { Vec::new() } else { principal.senders.clone() };
                let c = h.seen_by(Principal { senders, ..principal });
                let before = version(h, &task).await;
                let answer = attempt(c.as_ref(), h, &task, what, &entry).await;
                if may.contains(&role) {
                    answer.unwrap_or_else(|e| panic!("{task}: {e}"));
                } else {
                    assert_eq!(code(answer), "forbidden", "{task}");
                    assert_eq!(version(h, &task).await, before, "{task}: nothing was written");
                }
            }
        }
    }
}

/// Fault 54: a task of another scope is not found, whatever is tried on it.
pub async fn out_of_scope_is_not_found(h: &dyn House) {
    for (what, _) in TABLE {
        for role in Role::ALL {
            let task = format!("{what:?}-{}", role.as_str());
            let entry = prepare(h, &task, what).await;
            let before = operator(h).show(&id(&task)).await.unwrap();
            let c = h.seen_by(scoped("somebody", role, trace("Q-*")));
            match attempt(c.as_ref(), h, &task, what, &entry).await {
                Err(Error::Refused(refusal)) => {
                    let known = [RefusalClass::NotFound, RefusalClass::NotPermitted];
                    assert!(known.contains(&refusal.class()), "{task}: {refusal}");
                    if !matches!(what, Try::Submit | Try::Drop) {
                        assert_eq!(refusal.code(), "task_not_found", "{task}");
                    }
                }
                other => panic!("{task}: {other:?}"),
            }
            assert_eq!(operator(h).show(&id(&task)).await.unwrap(), before, "{task}: nothing was written");
        }
    }
}

pub async fn nobody_is_not_authenticated(h: &dyn House) {
    conflict(h, "T-1").await;
    let nobody = h.seen_by(Principal { subject: String::new(), ..holds("", Role::Admin) });
    assert_eq!(code(nobody.show(&id("T-1")).await), "unauthenticated");
    assert_eq!(code(nobody.status().await), "unauthenticated");
    assert_eq!(code(nobody.admit(Vec::new()).await), "unauthenticated");
    assert_eq!(code(nobody.verify(Vec::new()).await), "unauthenticated");
    let stranger = h.seen_by(Principal { grants: Vec::new(), ..holds("stranger", Role::Viewer) });
    assert_eq!(code(stranger.show(&id("T-1")).await), "forbidden");
    assert_eq!(code(stranger.admit(Vec::new()).await), "forbidden");
    assert_eq!(code(stranger.approvals(whole_ledger()).await), "forbidden");
    assert_eq!(code(stranger.tallies().await), "forbidden");
    assert_eq!(code(stranger.accept_head("why not").await), "forbidden");
}

pub async fn a_worker_reads_what_it_sent_or_received(h: &dyn House) {
    conflict(h, "T-1").await;
    let a = h.seen_by(holds("agent-a", Role::Worker));
    assert!(a.payload(&id("T-1"), 2).await.unwrap().verified);
    assert_eq!(code(a.payload(&id("T-1"), 3).await), "forbidden");
    assert_eq!(code(a.envelope(&id("T-1"), 3).await), "forbidden");
    let coordinator = h.seen_by(holds("coordinator", Role::Worker));
    assert!(coordinator.payload(&id("T-1"), 3).await.unwrap().verified, "it is the recipient");
    let held = json!({"task_id": "T-1", "sender": "agent-b", "recipient": "boss", "message_id": "q",
        "idempotency_key": "q", "type": "human_request", "payload": {"prompt": "what now?"}});
    assert_eq!(say(h, common::envelope(held)).await.outcome, "held");
    let shown = a.show(&id("T-1")).await.unwrap();
    assert!(shown.held_messages.iter().all(|m| m.submission.held_body.is_none()), "nor a copy of it");
    let told = serde_json::to_string(&a.timeline(&id("T-1"), 0, 100).await.unwrap()).unwrap();
    assert!(!told.contains("what now?"));
    let all = serde_json::to_string(&reviewer(h).timeline(&id("T-1"), 0, 100).await.unwrap()).unwrap();
    assert!(all.contains("what now?"));
}

pub async fn a_worker_never_decides(h: &dyn House) {
    let version = conflict(h, "T-1").await;
    let mut both = holds("agent-x", Role::Reviewer);
    both.grants.push(Grant { role: Role::Worker, scope: Scope::default() });
    assert_eq!(code(h.seen_by(both).decide(decision("T-1", version)).await), "forbidden");
}

pub async fn scoped_lists_count_what_they_list(h: &dyn House) {
    for n in 0..5 {
        conflict(h, &format!("R-{n}")).await;
    }
    for n in 0..3 {
        let task = format!("Q-{n}");
        let request = json!({"type": "task_request", "task_id": task, "trace_id": "Q-1", "message_id": "ask",
            "idempotency_key": "ask", "payload": {"goal": "other"}});
        say(h, common::envelope(request)).await;
        go(h, &task, TaskState::Ready).await;
        go(h, &task, TaskState::Running).await;
        for (message, value) in [("a", 1), ("b", 2)] {
            let result =
                json!({"task_id": task, "trace_id": "Q-1", "message_id": message, "payload": {"v": value}});
            say(h, common::envelope(result)).await;
        }
    }
    let unreadable = say(h, b"not JSON".to_vec()).await;
    assert_eq!(unreadable.outcome, "quarantined");
    let list = |c: std::sync::Arc<dyn Coordinator>, limit| async move {
        let (mut tasks, mut after) = (Vec::new(), None);
        loop {
            let (scope, query, order) = (Listed::Waiting, Query::default(), Order::default());
            let page =
                c.list(ListRequest { scope, query, order, after, backwards: false, limit }).await.unwrap();
            assert!(page.rows.len() <= limit);
            after = page.rows.last().map(|r| r.cursor.clone());
            tasks.extend(page.rows.into_iter().filter_map(|r| r.task_id));
            if !page.more {
                return tasks;
            }
        }
    };
    for (pattern, expected) in [("R-*", 5), ("Q-*", 3), ("X-*", 0)] {
        let c = || h.seen_by(scoped("vera", Role::Viewer, trace(pattern)));
        for limit in [1, 2, 100] {
            let tasks = list(c(), limit).await;
            assert_eq!(tasks.len(), expected, "{pattern} by {limit}");
            assert!(tasks.iter().all(|t| Pattern(pattern.into()).fits(t)));
        }
        let tallies = c().tallies().await.unwrap();
        assert_eq!((tallies.all.count, tallies.needs_review.count), (expected as u64, expected as u64));
        assert_eq!(tallies.quarantine.count, 0, "what names no task is for those who see everything");
        assert_eq!(c().quarantine(0, 10, true).await.unwrap().len(), 0);
    }
    assert_eq!(operator(h).tallies().await.unwrap().needs_review.count, 8);
}

/// Fault 53: whoever sent a side does not judge it, through whichever name it was sent.
pub async fn self_approval(h: &dyn House) {
    let version = conflict(h, "T-1").await;
    for sender in ["agent-a", "agent-*", "*"] {
        let author = Principal { senders: vec![Pattern(sender.into())], ..holds("ann", Role::Reviewer) };
        let c = h.seen_by(author);
        assert!(!c.show(&id("T-1")).await.unwrap().own.is_empty());
        assert_eq!(code(c.decide(decision("T-1", version)).await), "self_interest", "{sender}");
    }
    record(reviewer(h).decide(decision("T-1", version)).await);
}

/// What a person may do is known before a form opens, and is what the rules say when it is sent: a question that names
/// who may answer it, while it is open, while its task is in review, and when its answer is corrected.
pub async fn who_may_is_known_before(h: &dyn House) {
    let cfo = || h.seen_by(holds("cfo", Role::Reviewer));
    let may = async |who: std::sync::Arc<dyn Coordinator>, what: &str| {
        who.show(&id("T-1")).await.unwrap().may[what]
    };
    running(h, "T-1").await;
    let question = json!({"prompt": "pay?", "satisfiers": {"principals": ["cfo"]}});
    let asked = ask(h, "T-1", "ask-1", question).await;
    assert!(may(cfo(), "answer").await && !may(reviewer(h), "answer").await);
    let settles = |version, supersedes: Option<String>| Decision {
        interruption: Some(asked.clone()),
        supersedes,
        input: Some(Input { parts: vec![Part::Text("yes".into())], ..Input::default() }),
        ..decision("T-1", version)
    };
    let now = version(h, "T-1").await;
    assert_eq!(code(reviewer(h).decide(settles(now, None)).await), "forbidden");
    let first = record(cfo().decide(settles(now, None)).await);
    assert!(may(cfo(), "supersede_ready").await && !may(reviewer(h), "supersede_ready").await);
    // Whoever may cancel a waiting task may also end it in place of an answer (contract section 12).
    assert!(may(reviewer(h), "supersede_cancel").await && may(reviewer(h), "supersede").await);
    let viewer = || h.seen_by(holds("vera", Role::Viewer));
    assert!(!may(viewer(), "supersede").await && !may(viewer(), "supersede_cancel").await);
    let now = version(h, "T-1").await;
    let correction = || settles(now, Some(first.approval_id.clone()));
    assert_eq!(code(reviewer(h).decide(correction()).await), "forbidden");
    record(cfo().decide(correction()).await);

    let two = json!({"task_id": "T-1", "message_id": "again", "idempotency_key": "ask-1", "sender": "agent-b",
        "type": "human_request", "payload": {"prompt": "pay twice?"}});
    assert_eq!(say(h, common::envelope(two)).await.outcome, "conflict");
    let shown = reviewer(h).show(&id("T-1")).await.unwrap();
    assert_eq!(
        (shown.task.state, shown.may["decide"]),
        (TaskState::NeedsReview, shown.task.interruption.is_none())
    );
}
