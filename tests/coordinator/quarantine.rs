//! What was put aside: listed, read, admitted again, dropped.

use crate::common;
use crate::world::*;
use serde_json::json;
use tribunal::coordinator::EntryState;
use tribunal::domain::actor::{Pattern, Principal, Role};

pub async fn repaired_and_readmitted(h: &dyn House) {
    running(h, "T-1").await;
    let bad = json!({"payload_digest": format!("sha256:{}", "0".repeat(64))});
    let entry = say(h, common::envelope(bad)).await.quarantine.unwrap();
    assert_eq!(code(worker(h).readmit(&entry, None).await), "forbidden");
    let again = operator(h).readmit(&entry, None).await.unwrap();
    assert_eq!((again.outcome.as_str(), again.arrival), ("quarantined", None), "it is still as wrong");
    let open = operator(h).quarantine(0, 10, false).await.unwrap();
    assert_eq!(open.len(), 1);
    // Another message, which is there already, mends nothing.
    let asked = operator(h).readmit(&entry, Some(common::asks("T-1"))).await;
    assert_eq!(code(asked), "invalid");
    assert_eq!(operator(h).quarantine(0, 10, false).await.unwrap(), open);
    let good = operator(h).readmit(&entry, Some(common::envelope(json!({})))).await.unwrap();
    assert_eq!((good.outcome.as_str(), good.arrival), ("accepted", Some(2)));
    assert_eq!(operator(h).quarantine(0, 10, false).await.unwrap().len(), 0);
    let settled = operator(h).entry(&entry).await.unwrap();
    assert!(matches!(settled.entry.state, EntryState::Readmitted { by, .. } if by == "otto"));
    assert_eq!(code(operator(h).readmit(&entry, None).await), "entry_not_found");
    let events = operator(h).timeline(&id("T-1"), 0, 100).await.unwrap();
    let told = serde_json::to_string(&events).unwrap();
    assert!(told.contains(r#""submitted_by":"otto""#), "who carried it in is said: {told}");
}

pub async fn dropped_stays_readable(h: &dyn House) {
    let entry = say(h, b"{\"not\": \"finished\"".to_vec()).await.quarantine.unwrap();
    for nothing in ["  ", "…"] {
        assert_eq!(code(operator(h).drop_entry(&entry, nothing).await), "reason_too_short");
    }
    operator(h).drop_entry(&entry, "a broken producer").await.unwrap();
    assert_eq!(code(operator(h).drop_entry(&entry, "again").await), "entry_not_found");
    let kept = operator(h).entry(&entry).await.unwrap();
    assert_eq!(kept.bytes.as_ref(), b"{\"not\": \"finished\"");
    assert!(matches!(kept.entry.state, EntryState::Dropped { reason, .. } if reason == "a broken producer"));
    assert_eq!(operator(h).quarantine(0, 10, true).await.unwrap().len(), 1);
}

/// Whoever re-admits carries a message in; they do not become able to speak for whom they like.
pub async fn a_sender_cannot_be_forged_by_repair(h: &dyn House) {
    running(h, "T-1").await;
    let only_a = Principal { senders: vec![Pattern("agent-a".into())], ..holds("a", Role::Worker) };
    let forged = common::envelope(json!({"sender": "agent-b"}));
    let answer = h.seen_by(only_a).admit(vec![incoming(forged)]).await.unwrap().remove(0);
    assert_eq!(answer.outcome, "quarantined");
    let entry = answer.quarantine.unwrap();
    let again = operator(h).readmit(&entry, None).await.unwrap();
    assert_eq!(again.outcome, "quarantined", "its sender was not believed then and is not now");
    let star = json!({"sender": "*", "payload_digest": format!("sha256:{}", "0".repeat(64))});
    let entry = say(h, common::envelope(star)).await.quarantine.unwrap();
    let repaired = common::envelope(json!({"sender": "agent-b"}));
    assert_eq!(operator(h).readmit(&entry, Some(repaired)).await.unwrap().outcome, "quarantined");
    let own = common::envelope(json!({"sender": "otto"}));
    assert_eq!(operator(h).readmit(&entry, Some(own)).await.unwrap().outcome, "accepted");
}

pub async fn unknown_entries(h: &dyn House) {
    for unknown in ["Q-99", "", "nonsense", "Q-18446744073709551616"] {
        assert_eq!(code(operator(h).entry(unknown).await), "entry_not_found", "{unknown}");
        assert_eq!(code(operator(h).drop_entry(unknown, "why").await), "entry_not_found", "{unknown}");
    }
}

/// Fault 15: what comes before its task is kept, and admitted by itself when the task is asked for.
pub async fn message_before_task(h: &dyn House) {
    let early = say(h, common::result("T-1", "m-1", json!(1))).await;
    assert_eq!((early.outcome.as_str(), early.arrival), ("quarantined", None));
    ready(h, "T-1").await;
    assert_eq!(operator(h).quarantine(0, 10, false).await.unwrap().len(), 0);
    let shown = operator(h).show(&id("T-1")).await.unwrap();
    assert_eq!(shown.held_messages.len(), 1);
    go(h, "T-1", tribunal::domain::task::TaskState::Running).await;
    assert_eq!(
        state(h, "T-1").await,
        tribunal::domain::task::TaskState::Succeeded,
        "it was held, and now applies"
    );
}

/// Where messages that name no scheme are digested under another than the contract's first: at the door, and again when
/// the task comes that they waited for.
pub async fn under_the_configured_scheme(h: &dyn House) {
    // Python's text of it has a space that canonical JSON has not, so that the digests differ.
    let digest = tribunal::domain::digest::digest(
        tribunal::domain::digest::Scheme::PythonSortedJsonV1,
        br#"{"value":1}"#,
    );
    let said = json!({"task_id": "T-1", "payload": {"value": 1}, "payload_digest": digest.unwrap()});
    let early = say(h, common::envelope(said)).await;
    assert!(early.reason.unwrap().starts_with("missing_task"));
    let request = br#"{"goal":"pay"}"#;
    let digest =
        tribunal::domain::digest::digest(tribunal::domain::digest::Scheme::PythonSortedJsonV1, request);
    let asked = json!({"type": "task_request", "task_id": "T-1", "message_id": "ask", "idempotency_key": "ask",
        "payload": {"goal": "pay"}, "payload_digest": digest.unwrap()});
    assert_eq!(say(h, common::envelope(asked)).await.outcome, "accepted");
    assert_eq!(operator(h).quarantine(0, 10, false).await.unwrap(), []);
    assert_eq!(operator(h).show(&id("T-1")).await.unwrap().held_messages.len(), 1);
}
