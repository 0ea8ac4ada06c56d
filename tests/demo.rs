//! The demonstration: the story is told through the real admission path, and this is what it leaves behind.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking, also in its tools")]

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

fn tribunal(home: &Path, args: &[&str]) -> Vec<Value> {
    let output = Command::new(env!("CARGO_BIN_EXE_tribunal"))
        .args(args)
        .env("TMPDIR", home)
        .env("TRIBUNAL_CONFIG_DIR", home.join("config"))
        .env("TRIBUNAL_DATA_DIR", home.join("data"))
        .env("TRIBUNAL_STATE_DIR", home.join("state"))
        .env_remove("TRIBUNAL_STORE")
        .output()
        .unwrap();
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
fn the_story_leaves_these_tasks_waiting_and_a_ledger_that_verifies() {
    let home = tempfile::tempdir().unwrap();
    let made = tribunal(home.path(), &["demo", "--no-tui", "--json"]).remove(0);
    let (store, state) = (made["store"].as_str().unwrap(), made["state"].as_str().unwrap());
    // The store remembers its head beside itself.
    let rest = |args: &[&str]| {
        let mut all = vec!["--store", store, "--json"];
        all.extend(args);
        let output = Command::new(env!("CARGO_BIN_EXE_tribunal"))
            .args(&all)
            .env("TRIBUNAL_CONFIG_DIR", home.path().join("config"))
            .env("TRIBUNAL_STATE_DIR", state)
            .output()
            .unwrap();
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        let text = String::from_utf8(output.stdout).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect::<Vec<Value>>()
    };
    let mut waits: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for row in rest(&["list"]) {
        let why = row["stuck"].as_str().or(row["reason"].as_str()).unwrap().to_owned();
        let name = row["quarantine"].as_str().or(row["task_id"].as_str()).unwrap().to_owned();
        waits.entry(why).or_default().push(name);
    }
    for names in waits.values_mut() {
        names.sort();
    }
    let waits: Vec<(&str, String)> =
        waits.iter().map(|(why, names)| (why.as_str(), names.join(" "))).collect();
    assert_eq!(
        waits,
        [
            ("effect_unknown", "PAY-121".to_owned()),
            ("interruption_expired", "T-35".to_owned()),
            ("lease_expired", "T-07".to_owned()),
            ("needs_review", "PAY-118 T-20 T-21 T-40 T-66".to_owned()),
            ("pending_too_long", "T-22".to_owned()),
            ("quarantined", "Q-1 Q-2 Q-3 Q-4".to_owned()),
            ("retry_overdue", "T-14".to_owned()),
            ("waiting_human", "REF-9 T-31 T-32 T-33".to_owned()),
        ]
    );
    let quarantine = rest(&["quarantine", "list"]);
    let reasons: Vec<&str> = quarantine.iter().map(|entry| entry["reason"].as_str().unwrap()).collect();
    assert_eq!(reasons, ["digest_mismatch", "missing_task", "missing_member", "malformed"]);
    assert_eq!(quarantine[1]["count"], 2);
    let records = rest(&["approvals"]);
    let told: Vec<_> =
        records.iter().map(|r| (r["task_id"].as_str().unwrap(), r["decision"].as_str().unwrap())).collect();
    assert_eq!(told, [("T-02", "ready"), ("T-02", "ready"), ("T-03", "canceled")]);
    assert_eq!(records[1]["supersedes"], records[0]["approval_id"]);
    assert_eq!(rest(&["list", "state:succeeded", "--limit", "1000"]).len(), 182);
    let verified = rest(&["verify"]).remove(0);
    assert_eq!((&verified["ok"], &verified["records"]), (&Value::Bool(true), &Value::from(3)));
}
