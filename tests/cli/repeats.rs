//! One message many times, and many contents at once (faults 7 and 8).

use crate::common::{self, invariants};
use crate::house::{Home, Said, lines};
use rusqlite::Connection;
use serde_json::{Value, json};
use std::io::Write;

/// Fault 7: ten thousand deliveries of one message are one submission with a count; the log stays short.
#[test]
fn ten_thousand_duplicates() {
    const TIMES: u64 = 10_000;
    let home = Home::new();
    home.running("T-1");
    let result = common::envelope(json!({}));
    let first = home.ingest(std::slice::from_ref(&result)).remove(0);
    assert_eq!(first["outcome"], "accepted");
    let before = home.version("T-1");
    let again: Vec<u8> = lines(std::slice::from_ref(&result)).repeat(usize::try_from(TIMES).unwrap());
    std::fs::write(home.path("again.jsonl"), again).unwrap();
    let mut ingest = home.command(&["ingest", "again.jsonl", "--json"]);
    let said = Said::of(ingest.env("TRIBUNAL_LOG", "trace").output().unwrap()).code(0).lines();
    assert_eq!(said.len() as u64, TIMES);
    assert!(said.iter().all(|l| l["outcome"] == "duplicate" && l["state_version"] == before));
    let shown = home.show("T-1");
    let counts = ["duplicates", "submissions", "arrivals", "state_version"].map(|name| &shown[name]);
    assert_eq!(counts, [&json!(TIMES), &json!(2), &json!(TIMES + 2), &json!(before)]);
    let told = home.run(&["show", "T-1"]).code(0).out;
    assert!(told.contains("10002, 2 distinct, 10000 repeats"), "{told}");
    assert!(told.contains("\nmoved     running → succeeded by "), "however much came since: {told}");
    let one = home.run(&["list", "task:T-1", "--all", "--json"]).code(0).one();
    assert_eq!(one["messages"], TIMES + 2);
    let conn = Connection::open(home.path("data/store.db")).unwrap();
    let rows: (i64, i64) = conn
        .query_row(
            "SELECT (SELECT count(*) FROM thread WHERE arrival IS NOT NULL), (SELECT sum(duplicates) FROM mark)",
            [],
            |r| Ok((r.get(0)?, r.get(1)?)),
        )
        .unwrap();
    assert_eq!(rows, (2, 10_000), "one row for the request, one for the result");
    // The state holds a count and at most 16 ids, however many came.
    let snapshot: i64 = conn.query_row("SELECT max(length(body)) FROM snapshot", [], |r| r.get(0)).unwrap();
    assert!(snapshot < 8192, "{snapshot} bytes");
    drop(conn);
    invariants::check_invariants(&home.path("data/store.db"));
    let logged = home.logs().lines().count();
    assert!(logged < 100, "{logged} lines");
}

/// Fault 8: eight processes deliver eight contents under one intent at once. One freeze, nothing lost, and nothing
/// moves the task but a record.
#[test]
fn digest_conflict_freeze() {
    const WRITERS: usize = 8;
    let home = Home::new();
    for round in 0..4 {
        let task = format!("T-{round}");
        home.running(&task);
        let mut writers: Vec<_> = (0..WRITERS).map(|_| home.spawn(&["ingest", "--json"])).collect();
        let contents: Vec<Vec<u8>> = (0..WRITERS)
            .map(|n| {
                common::envelope(json!({"task_id": task, "message_id": format!("m{n}"),
                    "sender": format!("agent-{n}"), "payload": {"answer": n, "round": round}}))
            })
            .collect();
        // All of them stand ready before the first one is told anything.
        for (writer, content) in writers.iter_mut().zip(&contents) {
            let mut stdin = writer.stdin.take().unwrap();
            stdin.write_all(&lines(std::slice::from_ref(content))).unwrap();
        }
        let said: Vec<Value> =
            writers.into_iter().map(|w| Said::of(w.wait_with_output().unwrap()).code(0).one()).collect();
        let count = |outcome: &str| said.iter().filter(|s| s["outcome"] == outcome).count();
        assert_eq!((count("accepted"), count("conflict")), (1, WRITERS - 1), "{said:?}");
        let shown = home.show(&task);
        assert_eq!(
            (&shown["state"], shown["candidates"].as_array().unwrap().len()),
            (&json!("needs_review"), WRITERS)
        );
        let events = home.run(&["show", &task, "--timeline", "--json"]).code(0).lines();
        let frozen = events.iter().filter(|e| e["event"] == "moved" && e["to"] == "needs_review").count();
        assert_eq!(frozen, 1, "one freeze");
        for (n, one) in said.iter().enumerate() {
            let arrival = one["arrival"].as_u64().unwrap().to_string();
            let kept = home.run(&["show", &task, "--payload", &arrival, "--json"]).code(0).one();
            assert_eq!(
                (&kept["verified"], &kept["payload"]["answer"]),
                (&json!(true), &json!(n)),
                "both sides whole"
            );
        }
        let version = home.version(&task);
        for to in ["ready", "running", "succeeded", "canceled"] {
            let v = version.to_string();
            home.run(&["transition", &task, "--to", to, "--expect-version", &v, "--reason", "x"]).code(4);
        }
        home.run(&["claim", &task, "--worker", "w"]).code(4);
        let repeat = home.ingest(&contents[..1]).remove(0);
        assert_eq!((&repeat["outcome"], &repeat["state_version"]), (&json!("duplicate"), &json!(version)));
        home.decide(&task, version, &["--uphold", "m3"]).code(0);
        assert_eq!(home.show(&task)["state"], "ready");
    }
    home.run(&["verify"]).code(0);
    invariants::check_invariants(&home.path("data/store.db"));
}
