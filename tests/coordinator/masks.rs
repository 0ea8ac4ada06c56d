//! Redaction: masked for roles below a threshold, on every surface.

use crate::common;
use crate::world::*;
use serde_json::json;
use tribunal::coordinator::{ListRequest, Order, Scope};
use tribunal::domain::actor::Role;
use tribunal::domain::decision::Decision;
use tribunal::domain::query::Query;
use tribunal::domain::redact::{Rule, Target};

const SECRET: &str = "canary-4711";

fn rules() -> Vec<Rule> {
    let pointer = |p: &str| Rule::new(Target::Pointer(p.into()), "reviewer").unwrap();
    vec![pointer("/goal"), pointer("/prompt"), Rule::new(Target::Key("*secret*".into()), "reviewer").unwrap()]
}

/// A conflict in which a masked value differs, with a canary in goal, payloads and a held question.
async fn place(h: &dyn House) -> u64 {
    let request = json!({"type": "task_request", "message_id": "ask", "idempotency_key": "ask",
        "payload": {"goal": format!("find {SECRET}")}});
    say(h, common::envelope(request)).await;
    go(h, "T-1", tribunal::domain::task::TaskState::Ready).await;
    go(h, "T-1", tribunal::domain::task::TaskState::Running).await;
    for (message, value) in [("a", format!("{SECRET}-a")), ("b", format!("{SECRET}-b"))] {
        let result =
            json!({"message_id": message, "sender": message, "payload": {"open": 1, "my_secret": value}});
        say(h, common::envelope(result)).await;
    }
    let held = json!({"message_id": "q", "idempotency_key": "q", "type": "human_request",
        "payload": {"prompt": format!("may I see {SECRET}?")}});
    assert_eq!(say(h, common::envelope(held)).await.outcome, "held");
    let bad = json!({"message_id": "bad", "payload_digest": format!("sha256:{}", "0".repeat(64)),
        "payload": {"the_secret": SECRET}});
    assert_eq!(say(h, common::envelope(bad)).await.outcome, "quarantined");
    version(h, "T-1").await
}

fn everything() -> ListRequest {
    let (scope, query, order) = (Scope::Everything, Query::default(), Order::default());
    ListRequest { scope, query, order, after: None, backwards: false, limit: 100 }
}

pub async fn payloads_and_their_copies(h: &dyn House) {
    place(h).await;
    for (role, sees) in
        [(Role::Viewer, false), (Role::Operator, false), (Role::Reviewer, true), (Role::Admin, true)]
    {
        let c = h.masked(holds("somebody", role), rules());
        let task = id("T-1");
        let entry = c.quarantine(0, 1, false).await.unwrap().remove(0).id;
        let view = c.payload(&task, 2).await.unwrap();
        assert!(view.verified, "the digest is that of what is stored, masked or not");
        assert_eq!(view.masked, !sees);
        let surfaces = [
            String::from_utf8(view.bytes.unwrap().to_vec()).unwrap(),
            serde_json::to_string(&c.show(&task).await.unwrap()).unwrap(),
            serde_json::to_string(&c.timeline(&task, 0, 100).await.unwrap()).unwrap(),
            serde_json::to_string(&c.submissions(&task, 0, 100).await.unwrap()).unwrap(),
            serde_json::to_string(&c.list(everything()).await.unwrap()).unwrap(),
            String::from_utf8(c.entry(&entry).await.unwrap().bytes.to_vec()).unwrap(),
            serde_json::to_string(&c.follow(tribunal::coordinator::Cursor::default()).await.unwrap())
                .unwrap(),
        ];
        for (at, surface) in surfaces.iter().enumerate() {
            if sees && at != 3 {
                assert!(surface.contains(SECRET), "surface {at} for {role:?}");
            } else if !sees {
                assert!(!surface.contains(SECRET), "surface {at} for {role:?}: {surface}");
            }
        }
        if sees {
            c.envelope(&task, 2).await.unwrap();
        } else {
            assert_eq!(code(c.envelope(&task, 2).await), "forbidden");
        }
    }
}

/// Section 6: a side of which something that differs is masked cannot be upheld by whoever does not see it.
pub async fn what_is_masked_cannot_be_upheld(h: &dyn House) {
    let version = place(h).await;
    let above = vec![Rule::new(Target::Key("my_secret".into()), "admin").unwrap()];
    let c = h.masked(holds("rita", Role::Reviewer), above);
    let uphold = |arrival| Decision { upheld: vec![arrival], ..decision("T-1", version) };
    assert_eq!(code(c.decide(uphold(2)).await), "not_upholdable");
    assert_eq!(code(c.decide(uphold(3)).await), "not_upholdable");
    let equal = vec![Rule::new(Target::Key("open".into()), "admin").unwrap()];
    let c = h.masked(holds("rita", Role::Reviewer), equal);
    record(c.decide(uphold(2)).await);
}

pub async fn filters_do_not_tell(h: &dyn House) {
    place(h).await;
    let search = |role, text: &'static str| {
        let c = h.masked(holds("somebody", role), rules());
        let query = Query::parse(text).unwrap();
        async move { c.list(ListRequest { query, ..everything() }).await.unwrap().rows.len() }
    };
    assert_eq!(search(Role::Reviewer, "canary").await, 1);
    assert_eq!(search(Role::Viewer, "canary").await, 0);
    assert_eq!(search(Role::Reviewer, "task:T-1 -canary").await, 0);
    assert_eq!(search(Role::Viewer, "task:T-1 -canary").await, 1);
}
