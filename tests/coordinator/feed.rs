//! The change stream: nothing lost, nothing twice, within a process and across processes.

use crate::common;
use crate::world::*;
use std::io::Write;
use std::process::{Command, Stdio};
use std::sync::Arc;
use tribunal::coordinator::{Change, Coordinator, Cursor};
use tribunal::domain::actor::{Pattern, Role, Scope};
use tribunal::domain::task::TaskState;

/// Follows until a task is canceled.
async fn until_over(c: Arc<dyn Coordinator>, task: &str) -> Vec<Change> {
    let mut cursor = Cursor::default();
    let mut all: Vec<Change> = Vec::new();
    loop {
        let found = c.follow(cursor).await.unwrap();
        assert!(!found.is_empty());
        all.extend(found);
        cursor = all.last().unwrap().cursor;
        let over = c.show(&id(task)).await.is_ok_and(|s| s.task.state == TaskState::Canceled);
        if over && c.feed_end().await.unwrap() == cursor {
            return all;
        }
    }
}

fn in_order(changes: &[Change]) {
    assert!(changes.windows(2).all(|w| w[0].cursor.position < w[1].cursor.position), "in order, none twice");
    let mut seen = std::collections::HashMap::new();
    for change in changes.iter().filter(|c| c.task_id.is_some()) {
        let next = seen.entry(change.task_id.clone().unwrap()).or_insert(1);
        assert_eq!(change.event.as_ref().unwrap().revision, *next, "none lost");
        *next += 1;
    }
}

pub async fn changes_come_in_order_once(h: &dyn House) {
    let follower = tokio::spawn(until_over(reviewer(h), "last"));
    for task in ["a", "b", "last"] {
        conflict(h, task).await;
        let v = version(h, task).await;
        record(reviewer(h).decide(decision(task, v)).await);
    }
    let v = version(h, "last").await;
    operator(h).run(to("last", TaskState::Canceled, v)).await.unwrap();
    let changes = follower.await.unwrap();
    in_order(&changes);
    assert_eq!(
        changes.last().unwrap().event.as_ref().unwrap().revision,
        reviewer(h).show(&id("last")).await.unwrap().task.revision
    );
}

pub async fn followers_do_not_disturb_each_other(h: &dyn House) {
    let followers: Vec<_> = (0..4).map(|_| tokio::spawn(until_over(reviewer(h), "T-9"))).collect();
    for n in 0..10 {
        ready(h, &format!("T-{n}")).await;
    }
    operator(h).run(to("T-9", TaskState::Canceled, 2)).await.unwrap();
    let mut all = Vec::new();
    for follower in followers {
        all.push(follower.await.unwrap());
    }
    in_order(&all[0]);
    assert!(all.iter().all(|changes| *changes == all[0]));
}

pub async fn a_scoped_follower_sees_its_tasks(h: &dyn House) {
    let scope = Scope { traces: vec![Pattern("Q-*".into())], ..Scope::default() };
    let vera = h.seen_by(scoped("vera", Role::Viewer, scope));
    for n in 0..3 {
        conflict(h, &format!("R-{n}")).await;
    }
    let request = serde_json::json!({"type": "task_request", "task_id": "Q", "trace_id": "Q-1",
        "message_id": "ask", "idempotency_key": "ask", "payload": {"goal": "other"}});
    say(h, common::envelope(request)).await;
    let changes = vera.follow(Cursor::default()).await.unwrap();
    assert!(changes.iter().all(|c| c.task_id == Some(id("Q"))), "{changes:?}");
    assert_eq!(changes.len(), 2, "created and delivered");
}

pub async fn of_another_process(h: &LocalHouse) {
    ready(h, "last").await;
    let follower = tokio::spawn(until_over(reviewer(h), "last"));
    let binary = |args: &[&str], input: Vec<u8>| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tribunal"));
        command.args(args).arg("--store").arg(h.place.path()).stdin(Stdio::piped()).stdout(Stdio::null());
        for name in ["TRIBUNAL_CONFIG_DIR", "TRIBUNAL_DATA_DIR", "TRIBUNAL_STATE_DIR"] {
            command.env(name, h.place.dir.path().join("state"));
        }
        let mut child = command.spawn().unwrap();
        child.stdin.take().unwrap().write_all(&input).unwrap();
        assert!(child.wait().unwrap().success(), "{args:?}");
    };
    for n in 0..3 {
        let line = [&common::asks(&format!("T-{n}"))[..], b"\n"].concat();
        binary(&["ingest"], line);
        conflict(h, &format!("mine-{n}")).await;
    }
    binary(
        &["transition", "last", "--to", "canceled", "--expect-version", "2", "--reason", "enough"],
        Vec::new(),
    );
    let changes = follower.await.unwrap();
    in_order(&changes);
    let heard = |task: &str| changes.iter().any(|c| c.task_id == Some(id(task)));
    assert!((0..3).all(|n| heard(&format!("T-{n}")) && heard(&format!("mine-{n}"))));
}
