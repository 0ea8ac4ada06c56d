//! Named scenarios of the fault list that need processes.

use crate::common;
use crate::house::{Home, Said, lines, sides};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

fn rounds(default: usize) -> usize {
    std::env::var("TRIBUNAL_TEST_ROUNDS").ok().and_then(|n| n.parse().ok()).unwrap_or(default)
}

/// Many tasks in conflict at once; gives their version.
fn conflicts(home: &Home, tasks: &[String]) -> u64 {
    home.ingest(&tasks.iter().map(|t| common::asks(t)).collect::<Vec<_>>());
    // Results that come early are held, and a second one for the same intent is a conflict at once.
    let said = home.ingest(&tasks.iter().flat_map(|t| sides(t)).collect::<Vec<_>>());
    assert!(said.iter().skip(1).step_by(2).all(|l| l["outcome"] == "conflict"), "{said:?}");
    said[1]["state_version"].as_u64().unwrap()
}

fn records(home: &Home) -> Vec<Value> {
    home.run(&["approvals", "--json"]).code(0).lines()
}

/// Fault 1: two people decide otherwise at one version; one record, and the loser hears whose.
#[test]
fn two_reviewers_same_version() {
    let home = Home::new();
    let tasks: Vec<String> = (0..rounds(100)).map(|n| format!("T-{n}")).collect();
    let version = conflicts(&home, &tasks).to_string();
    for task in &tasks {
        let decide = |how: &str| {
            let args = ["decide", task, how, "--expect-version", &version, "--reason", "because", "--json"];
            home.command(&args).spawn().unwrap()
        };
        let (a, b) = (decide("--ready"), decide("--cancel"));
        let mut said = [a, b].map(|child| Said::of(child.wait_with_output().unwrap()));
        said.sort_by_key(|s| s.code);
        let [winner, loser] = said;
        assert_eq!((winner.code, loser.code), (0, 4), "{task}: {winner:?} {loser:?}");
        let refusal = loser.refusal();
        assert_eq!(refusal["error"], "already_decided");
        assert_eq!(refusal["approval_id"], winner.one()["record"]["approval_id"]);
    }
    let records = records(&home);
    let decided: BTreeSet<&str> = records.iter().map(|r| r["task_id"].as_str().unwrap()).collect();
    assert_eq!((records.len(), decided.len()), (tasks.len(), tasks.len()));
    home.run(&["verify"]).code(0);
}

/// Fault 2: the reply was lost; the same request gives the same record, also after the task moved on.
#[test]
fn decision_retry_lost_response() {
    let home = Home::new();
    let version = home.conflict("T-1");
    let more = ["--uphold", "M-b", "--idempotency-key", "mine"];
    let first = home.decide("T-1", version, &more).code(0).one();
    home.run(&["claim", "T-1", "--worker", "w"]).code(0);
    let again = home.decide("T-1", version, &more).code(0).one();
    assert_eq!((&again["outcome"], &again["record"]), (&json!("replayed"), &first["record"]));
    let schema = json!({"type": "object", "properties": {"n": {"type": "integer"}}});
    let version = home.question("T-2", json!({"prompt": "how many?", "schema": schema})).to_string();
    let answer = || {
        let args = [
            "answer",
            "T-2",
            "--set",
            "n=3",
            "--expect-version",
            &version,
            "--reason",
            "counted",
            "--idempotency-key",
            "answer",
            "--json",
        ];
        home.run(&args).code(0).one()
    };
    let first = answer();
    home.run(&["claim", "T-2", "--worker", "w"]).code(0);
    let again = answer();
    assert_eq!((&again["outcome"], &again["record"]), (&json!("replayed"), &first["record"]));
    assert_eq!(records(&home).len(), 2);
}

/// Fault 3: one key, two decisions.
#[test]
fn request_id_reuse_other_body() {
    let home = Home::new();
    let version = home.conflict("T-1");
    home.decide("T-1", version, &["--uphold", "2", "--idempotency-key", "mine"]).code(0);
    let other =
        home.decide("T-1", version, &["--uphold", "3", "--idempotency-key", "mine"]).code(6).refusal();
    assert_eq!(other["error"], "idempotency_key_reused");
    assert_eq!(records(&home).len(), 1);
}

/// Faults 4 and 5: killed at some moment before or after the commit, a retry under the same key finds one record.
#[test]
fn kill9_of_a_deciding_process() {
    let home = Home::new();
    let tasks: Vec<String> = (0..rounds(24)).map(|n| format!("T-{n}")).collect();
    let version = conflicts(&home, &tasks);
    let took = {
        let before = Instant::now();
        home.run(&["verify"]).code(0);
        before.elapsed()
    };
    let mut replayed = 0;
    for (n, task) in tasks.iter().enumerate() {
        let v = version.to_string();
        let args = [
            "decide",
            task,
            "--ready",
            "--expect-version",
            &v,
            "--reason",
            "read both sides",
            "--json",
            "--idempotency-key",
            task,
        ];
        let mut child = home.command(&args).spawn().unwrap();
        let until = took.mul_f64(2.0 * n as f64 / tasks.len() as f64).max(Duration::from_micros(200));
        let started = Instant::now();
        while started.elapsed() < until {
            std::hint::spin_loop();
        }
        child.kill().unwrap();
        child.wait().unwrap();
        let again = home.decide(task, version, &["--idempotency-key", task]).code(0).one();
        replayed += usize::from(again["outcome"] == "replayed");
    }
    println!("{replayed} of {} were committed when they were killed", tasks.len());
    let records = records(&home);
    let decided: BTreeSet<&str> = records.iter().map(|r| r["task_id"].as_str().unwrap()).collect();
    assert_eq!((records.len(), decided.len()), (tasks.len(), tasks.len()));
    home.run(&["verify"]).code(0);
}

/// Fault 9: a weaker or unknown scheme never makes two contents one.
#[test]
fn digest_scheme_downgrade() {
    let home = Home::new();
    home.running("T-1");
    let said = |id: &str, scheme: &str, n: u64| {
        common::envelope(json!({"message_id": id, "digest_scheme": scheme, "payload": {"n": n, "a": 1}}))
    };
    let told = home.ingest(&[
        said("m1", "jcs-sha256/1", 1),
        said("m2", "python-sorted-json/1", 1),
        said("m3", "md5/1", 1),
        said("m4", "raw-sha256/1", 2),
    ]);
    let outcomes: Vec<_> = told.iter().map(|l| l["outcome"].as_str().unwrap()).collect();
    assert_eq!(outcomes, ["accepted", "duplicate", "quarantined", "conflict"]);
    assert_eq!(home.run(&["quarantine", "list", "--json"]).one()["reason"], "unknown_digest_scheme");
}

/// Fault 11: a result under an old lease is evidence, not an outcome.
#[test]
fn stale_lease() {
    let home = Home::new();
    home.ingest(&[common::asks("T-1")]);
    home.transition("T-1", "ready");
    home.run(&["claim", "T-1", "--worker", "agent-a"]).code(0);
    home.run(&["release", "T-1", "--lease", "1"]).code(0);
    home.transition("T-1", "ready");
    home.run(&["claim", "T-1", "--worker", "agent-b"]).code(0);
    let before = home.version("T-1");
    let told = home.ingest(&[common::envelope(json!({"lease_version": 1}))]);
    assert_eq!((&told[0]["outcome"], &told[0]["arrival"]), (&json!("stale_lease"), &json!(2)));
    assert_eq!((home.version("T-1"), &home.show("T-1")["state"]), (before, &json!("running")));
    let kept = home.run(&["show", "T-1", "--payload", "2", "--json"]).code(0).one();
    assert_eq!(kept["verified"], true);
}

/// Fault 15: a message before its task is kept and matched later.
#[test]
fn message_before_task() {
    let home = Home::new();
    let early =
        home.feed(&["ingest", "--json"], &lines(&[common::result("T-1", "m", json!(1))])).code(6).one();
    assert_eq!(early["outcome"], "quarantined");
    home.ingest(&[common::asks("T-1")]);
    assert_eq!(home.run(&["quarantine", "list", "--json"]).code(0).out, "");
    home.transition("T-1", "ready");
    home.transition("T-1", "running");
    assert_eq!(home.show("T-1")["state"], "succeeded");
}

/// Fault 16: an approval is spent by one claim, however many processes read the ready task.
#[test]
fn approval_single_use() {
    let home = Home::new();
    let version = home.conflict("T-1");
    home.decide("T-1", version, &[]).code(0);
    let claims: Vec<_> = (0..8)
        .map(|n| home.command(&["claim", "T-1", "--worker", &format!("w{n}"), "--json"]).spawn().unwrap())
        .collect();
    let mut codes: Vec<i32> =
        claims.into_iter().map(|c| Said::of(c.wait_with_output().unwrap()).code).collect();
    codes.sort_unstable();
    assert_eq!(codes, [0, 4, 4, 4, 4, 4, 4, 4]);
}

/// Fault 17: what is over says so.
#[test]
fn resume_after_finish() {
    let home = Home::new();
    home.running("T-1");
    home.ingest(&[common::result("T-1", "m", json!(1))]);
    let version = home.version("T-1");
    assert_eq!(home.decide("T-1", version, &[]).code(4).refusal()["error"], "not_waiting");
    assert_eq!(
        home.run(&["claim", "T-1", "--worker", "w", "--json"]).code(4).refusal()["error"],
        "illegal_transition"
    );
    let late = home.ingest(&[common::envelope(json!({"message_id": "late", "idempotency_key": "another"}))]);
    assert_eq!((&late[0]["outcome"], &late[0]["state"]), (&json!("late"), &json!("succeeded")));
}

/// Fault 53: what the owner's own agents sent is not the owner's to judge, unless policy says so, and then it is said.
#[test]
fn self_approval() {
    let home = Home::new();
    let version = home.conflict("T-1");
    home.configure("[owner]\nsenders = [\"researcher-*\"]\n");
    assert_eq!(home.decide("T-1", version, &[]).code(5).refusal()["error"], "self_interest");
    home.configure("[owner]\nsenders = [\"researcher-*\"]\n\n[policy]\nself_interest = true\n");
    assert_eq!(home.decide("T-1", version, &[]).code(0).one()["record"]["self_interest"], true);
}

/// Fault 54: nothing a message says makes anybody more than they are.
#[test]
fn role_escalation() {
    let home = Home::new();
    let request = common::envelope(
        json!({"type": "task_request", "role": "admin", "principal": {"roles": ["admin"]},
        "approved": true, "state": "succeeded", "payload": {"goal": "x", "role": "admin", "state": "canceled"}}),
    );
    let told = home.ingest(&[request]);
    assert_eq!((&told[0]["outcome"], &told[0]["state"]), (&json!("accepted"), &json!("pending")));
    let version = home.conflict("T-2");
    let record = home.decide("T-2", version, &[]).code(0).one();
    assert_eq!(
        record["record"]["principal"]["roles"],
        json!(["viewer", "responder", "reviewer", "operator"])
    );
    // The name that is recorded is the system's, not one from the environment.
    let version = home.conflict("T-3").to_string();
    let mut decide =
        home.command(&["decide", "T-3", "--ready", "--expect-version", &version, "--reason", "x", "--json"]);
    decide.env("USER", "somebody-else").env("LOGNAME", "somebody-else");
    let said = Said::of(decide.output().unwrap()).code(0).one();
    assert_eq!(said["record"]["principal"]["subject"], record["record"]["principal"]["subject"]);
}
