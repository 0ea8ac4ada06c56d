//! Every verb: its JSON and its exit code (product.md).

use crate::common;
use crate::house::{Home, Said, lines, sides};
use serde_json::{Value, json};

fn keys(value: &Value) -> Vec<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}

/// The whole path by `--json` verbs alone.
#[test]
fn from_a_conflict_to_a_verified_record() {
    let home = Home::new();
    let version = home.conflict("T-20");
    let listed = home.run(&["list", "--json"]).code(0).one();
    assert_eq!(
        (&listed["task_id"], &listed["reason"], &listed["candidates"]),
        (&json!("T-20"), &json!("needs_review"), &json!(2))
    );
    for member in ["trace_id", "state", "state_version", "since", "interruption", "cursor"] {
        assert!(listed.get(member).is_some(), "{member}: {listed}");
    }
    let shown = home.show("T-20");
    assert_eq!((&shown["state"], &shown["state_version"]), (&json!("needs_review"), &json!(version)));
    let arrivals: Vec<_> = shown["candidates"].as_array().unwrap().iter().map(|c| &c["arrival"]).collect();
    assert_eq!(arrivals, [&json!(2), &json!(3)]);
    let rows = home.run(&["diff", "T-20", "--json"]).code(0).lines();
    assert_eq!(rows, [json!({"pointer": "/revenue", "kind": "changed", "a": 1_204_000, "b": 1_240_000})]);
    let set = shown["candidate_set_digest"].as_str().unwrap();
    let stale = home.decide("T-20", version - 1, &["--uphold", "M-b"]).code(4).refusal();
    assert_eq!((&stale["error"], &stale["current"]), (&json!("stale_version"), &json!(version)));
    let other = format!("sha256:{}", "0".repeat(64));
    let changed = home.decide("T-20", version, &["--candidate-set", &other]).code(4).refusal();
    assert_eq!(changed["error"], "candidate_set_changed");
    let decided = home.decide("T-20", version, &["--uphold", "M-b", "--candidate-set", set]).code(0).one();
    assert_eq!(decided["outcome"], "decided");
    let record = &decided["record"];
    assert_eq!((&record["upheld"], &record["set_seen"]), (&json!([3]), &json!("digest")));
    let loser = home.decide("T-20", version, &["--uphold", "2"]).code(4).refusal();
    assert_eq!(loser["error"], "already_decided");
    assert_eq!(
        (&loser["approval_id"], &loser["by"]),
        (&record["approval_id"], &record["principal"]["subject"])
    );
    let mut report = home.run(&["verify", "--json"]).code(0).one();
    let log = report.as_object_mut().unwrap().remove("log").unwrap();
    assert_eq!((&log["tasks"], &log["problems"]), (&json!(1), &json!([])));
    assert_eq!(home.run(&["verify", "--ledger", "--json"]).code(0).one(), report);
    assert_eq!(report, json!({"ok": true, "records": 1, "head": record["record_digest"], "problem": null}));
    assert_eq!(&home.run(&["approvals", "T-20", "--json"]).code(0).one(), record);
    let filtered = |filter: &str| home.run(&["approvals", "--filter", filter, "--json"]).code(0);
    assert_eq!(&filtered("state:ready task:T-* mine").one(), record);
    assert_eq!(filtered("-mine").out, "");
    assert!(home.run(&["approvals", "--filter", "state:canceled"]).code(0).err.contains("no record fits"));
    let wrong = home.run(&["approvals", "--filter", "reason:stuck"]).code(2);
    assert!(wrong.err.contains("reason: means nothing here"), "{}", wrong.err);
    assert_eq!(home.run(&["list", "--json"]).code(0).out, "", "nothing waits any more");
    assert_eq!(home.show("T-20")["decided"]["upheld"], json!([3]));
}

#[test]
fn the_runtimes_side() {
    let home = Home::new();
    home.ingest(&[common::asks("T-1")]);
    assert!(!home.run(&["show", "T-1"]).code(0).out.contains("moved"));
    let moved = home
        .run(&["transition", "T-1", "--to", "ready", "--expect-version", "1", "--reason", "go", "--json"])
        .code(0)
        .one();
    assert_eq!(moved, json!({"state": "ready", "state_version": 2}));
    let shown = home.run(&["show", "T-1"]).code(0).out;
    assert!(shown.contains("\nmoved     pending → ready by local-worker: go\n"), "{shown}");
    let leased = home.run(&["claim", "T-1", "--worker", "w", "--ttl", "5m", "--json"]).code(0).one();
    assert_eq!(keys(&leased), ["expires_at", "lease_version", "state", "state_version"]);
    let again = home.run(&["claim", "T-1", "--worker", "x", "--json"]).code(4).refusal();
    assert_eq!((&again["error"], &again["worker"]), (&json!("already_claimed"), &json!("w")));
    home.run(&["renew", "T-1", "--lease", "1", "--ttl", "1h"]).code(0);
    assert_eq!(
        home.run(&["renew", "T-1", "--lease", "9", "--json"]).code(4).refusal()["error"],
        "stale_lease"
    );
    let effect = |verb, more: &[&str]| {
        let mut args = vec![verb, "T-1", "--key", "pay", "--target", "bank", "--lease", "1", "--json"];
        args.extend(more);
        home.run(&args)
    };
    let digest = |n: char| format!("sha256:{}", String::from(n).repeat(64));
    assert_eq!(effect("reserve-effect", &[]).code(0).one()["outcome"], "reserved");
    assert_eq!(effect("commit-effect", &["--digest", &digest('1')]).code(0).one()["outcome"], "committed");
    assert_eq!(
        effect("commit-effect", &["--digest", &digest('1')]).code(0).one()["outcome"],
        "already_committed"
    );
    home.run(&["gate", "T-1", "--fail", "--reason", "no licence"]).code(0);
    assert_eq!(home.show("T-1")["failure"]["kind"], "unacceptable");
    home.run(&["release", "T-1", "--lease", "1"]).code(0);
    assert_eq!(home.show("T-1")["state"], "retry_wait");
    let cancel = ["transition", "T-1", "--to", "canceled", "--expect-version", "4", "--reason", "enough"];
    home.run(&cancel).code(0);
    let illegal =
        home.run(&["transition", "T-1", "--to", "ready", "--expect-version", "5", "--reason", "x", "--json"]);
    assert_eq!(illegal.code(4).refusal()["error"], "illegal_transition");
    let executors: Vec<Value> = home
        .run(&["show", "T-1", "--timeline", "--json"])
        .code(0)
        .lines()
        .into_iter()
        .filter(|e| e["event"] == "moved")
        .map(|e| e["executor"].clone())
        .collect();
    assert_eq!(executors[0], "local-worker");
    assert_eq!(executors[1], "w");
    assert_ne!(executors[2], "local-worker", "a release is the owner's");
    assert_eq!(executors[2], executors[3], "and so is canceling");
}

/// What may be said of an effect of unknown fate is listed with its version, and taken as it is listed.
#[test]
fn an_effect_that_did_not_happen() {
    let home = Home::new();
    home.ingest(&[common::asks("T-1")]);
    home.run(&["transition", "T-1", "--to", "ready", "--expect-version", "1", "--reason", "go"]).code(0);
    home.run(&["claim", "T-1", "--worker", "w"]).code(0);
    let name = ["T-1", "--key", "pay 1", "--target", "bank"];
    home.run(&[["reserve-effect"].as_slice(), &name, &["--lease", "1"]].concat()).code(0);
    let void = |version: &str| {
        let more = ["--expect-version", version, "--reason", "the bank knows of none", "--json"];
        home.run(&[["void-effect"].as_slice(), &name, &more].concat())
    };
    assert_eq!(void("3").code(4).refusal()["error"], "effect_conflict", "the worker may still act");
    assert_eq!(home.show("T-1")["may"]["void_effect"], false);
    assert!(home.run(&["show", "T-1"]).code(0).out.contains("pay 1 on bank, announced\n"));
    home.run(&["release", "T-1", "--lease", "1"]).code(0);
    assert_eq!(home.run(&["list", "--json"]).code(0).one()["stuck"], "effect_unknown");
    let shown = home.run(&["show", "T-1"]).code(0).out;
    let command = "tribunal void-effect T-1 --key 'pay 1' --target bank --expect-version 4 --reason …";
    assert!(shown.contains(command) && shown.contains("tribunal commit-effect T-1 --key 'pay 1'"), "{shown}");
    assert_eq!(void("3").code(4).refusal()["error"], "stale_version");
    let answer = void("4").code(0).one();
    assert_eq!(answer, json!({"outcome": "voided", "state": "retry_wait", "state_version": 4}));
    assert!(!home.run(&["list", "--json"]).code(0).out.contains("effect_unknown"));
    let told = home.run(&["show", "T-1", "--timeline"]).code(0).out;
    assert!(told.contains("not done") && told.contains("the bank knows of none"), "{told}");
    assert_eq!(void("4").code(4).refusal()["error"], "effect_conflict", "once");
    home.run(&["verify"]).code(0);
}

/// Who ends a task by hand is told what it leaves open; the result stays as it is.
#[test]
fn a_task_ended_by_hand_says_what_it_leaves_open() {
    let home = Home::new();
    home.ingest(&[common::asks("T-1")]);
    home.transition("T-1", "ready");
    home.run(&["claim", "T-1", "--worker", "w"]).code(0);
    let name = ["T-1", "--key", "pay 1", "--target", "bank\u{202e}"];
    home.run(&[["reserve-effect"].as_slice(), &name, &["--lease", "1"]].concat()).code(0);
    home.transition("T-1", "retry_wait");
    // A report under the lease that ended waits, and is not for the next one.
    let late = common::envelope(
        json!({"task_id": "T-1", "message_id": "M-late", "sender": "w", "lease_version": 1}),
    );
    assert_eq!(home.ingest(&[late])[0]["outcome"], "held");
    home.transition("T-1", "ready");
    home.run(&["claim", "T-1", "--worker", "w"]).code(0);
    let version = home.version("T-1").to_string();
    let end = [
        "transition",
        "T-1",
        "--to",
        "succeeded",
        "--expect-version",
        &version,
        "--reason",
        "done",
        "--json",
    ];
    let said = home.run(&end).code(0);
    assert_eq!(said.one()["state"], "succeeded");
    for words in [
        "warning: effect pay 1 on bank",
        "was announced, and nobody reported whether it happened",
        "`tribunal void-effect T-1 --key 'pay 1' --target ",
        "warning: #2 task_result from w, message M-late, is held and is not applied",
    ] {
        assert!(said.err.contains(words), "{words}: {}", said.err);
    }
    assert_eq!((said.err.lines().count(), said.err.contains('\u{202e}')), (2, false), "{}", said.err);
    home.running("T-2");
    let version = home.version("T-2").to_string();
    let end = ["transition", "T-2", "--to", "succeeded", "--expect-version", &version, "--reason", "done"];
    assert_eq!(home.run(&end).code(0).err, "");
}

#[test]
fn questions_are_answered_by_field_file_or_word() {
    let home = Home::new();
    let schema = json!({"type": "object", "required": ["region", "count"], "additionalProperties": false,
        "properties": {"region": {"type": "string", "enum": ["emea", "apac"]}, "count": {"type": "integer"},
            "urgent": {"type": "boolean"}}});
    let answer = |task: &str, version: u64, more: &[&str]| {
        let version = version.to_string();
        let mut args = vec!["answer", task, "--expect-version", &version, "--reason", "known", "--json"];
        args.extend(more);
        home.run(&args)
    };
    let v = home.question("T-1", json!({"prompt": "which region?", "schema": schema}));
    let listed = home.run(&["list", "--json"]).code(0).one();
    assert_eq!((&listed["reason"], &listed["interruption"]["id"]), (&json!("waiting_human"), &json!("i2")));
    for bad in [
        &["--set", "region=mars", "count=3"][..],
        &["--set", "region=emea", "count=many"],
        &["--set", "region=emea"],
        &["--set", "region=emea", "count=3", "colour=red"],
        &["--approve"],
        &[],
    ] {
        assert_eq!(answer("T-1", v, bad).code(6).refusal()["error"], "input_invalid", "{bad:?}");
    }
    let good = answer("T-1", v, &["--set", "region=emea", "count=3", "--set", "urgent=yes"]).code(0).one();
    assert_eq!(good["outcome"], "decided");
    assert_eq!(
        home.show("T-1")["decided"]["input"]["parts"],
        json!([{"data": {"count": 3, "region": "emea", "urgent": true}}])
    );
    let v = home.question("T-2", json!({"prompt": "which region?", "schema": schema}));
    let said = home.feed(
        &["answer", "T-2", "--file", "-", "--expect-version", &v.to_string(), "--reason", "known"],
        br#"{"region": "apac", "count": 1, "count": 2}"#,
    );
    assert_eq!(said.code, 6, "a repeated member does not vanish: {said:?}");
    std::fs::write(home.path("answer.json"), r#"{"region": "apac", "count": 1}"#).unwrap();
    answer("T-2", v, &["--file", "answer.json"]).code(0);
    let v = home.question("T-3", json!({"prompt": "why?"}));
    std::fs::write(home.path("words.txt"), "Because the filing says so.\n").unwrap();
    answer("T-3", v, &["--file", "words.txt"]).code(0);
    assert_eq!(
        home.show("T-3")["decided"]["input"]["parts"],
        json!([{"text": "Because the filing says so."}])
    );
    let v = home.question("T-4", json!({"prompt": "publish?", "need": "human_approval"}));
    answer("T-4", v, &["--deny"]).code(0);
    assert_eq!(home.show("T-4")["decided"]["input"]["approved"], json!(false));
    let v = home.question("T-5", json!({"prompt": "the key?"}));
    std::fs::write(home.path("key.txt"), "-----BEGIN OPENSSH PRIVATE KEY-----\nabc\n").unwrap();
    let refused = answer("T-5", v, &["--file", "key.txt"]).code(6);
    assert!(!refused.err.contains("abc"), "and it is not repeated: {refused:?}");
    let cancel = home.decide("T-5", v, &["--cancel"]).code(0).one();
    assert_eq!(cancel["record"]["interruption"]["id"], "i2", "the open question is filled in");
}

#[test]
fn quarantine() {
    let home = Home::new();
    home.running("T-1");
    let bad = common::envelope(json!({"payload_digest": format!("sha256:{}", "0".repeat(64))}));
    let said = home.feed(&["ingest", "--json"], &lines(&[bad.clone(), bad])).code(6);
    assert_eq!(said.lines()[0]["outcome"], "quarantined");
    assert_eq!((&said.lines()[0]["arrival"], &said.lines()[0]["line"]), (&Value::Null, &json!(1)));
    let entry = home.run(&["quarantine", "list", "--json"]).code(0).one();
    assert_eq!(
        (&entry["reason"], &entry["count"], &entry["state"]["state"]),
        (&json!("digest_mismatch"), &json!(2), &json!("open"))
    );
    let id = entry["id"].as_str().unwrap();
    let shown = home.run(&["quarantine", "show", id, "--json"]).code(0).one();
    assert_eq!(shown["exact"], true);
    assert!(shown["bytes"].as_str().unwrap().contains("payload_digest"));
    assert_eq!(home.run(&["quarantine", "readmit", id]).code, 6);
    std::fs::write(home.path("repaired.json"), common::envelope(json!({}))).unwrap();
    let good = home.run(&["quarantine", "readmit", id, "--file", "repaired.json", "--json"]).code(0).one();
    assert_eq!(good["outcome"], "accepted");
    home.feed(&["ingest"], b"nonsense\n").code(6);
    let other = home.run(&["quarantine", "list", "--json"]).code(0).one();
    let id = other["id"].as_str().unwrap();
    home.run(&["quarantine", "drop", id, "--reason", "noise"]).code(0);
    assert_eq!(home.run(&["quarantine", "list", "--json"]).code(0).out, "");
    assert_eq!(home.run(&["quarantine", "list", "--all", "--json"]).code(0).lines().len(), 2);
    assert_eq!(
        home.run(&["quarantine", "show", "Q-77", "--json"]).code(3).refusal()["error"],
        "entry_not_found"
    );
}

#[test]
fn the_ledger_is_exported_verified_and_altered() {
    let home = Home::new();
    for task in ["T-1", "T-2", "T-3"] {
        let version = home.conflict(task);
        home.decide(task, version, &["--uphold", "2"]).code(0);
    }
    let exported = home.run(&["export"]).code(0);
    let head = exported.err.split_whitespace().nth(1).unwrap().trim_end_matches(':').to_owned();
    let verify = |name: &str, bytes: &str, more: &[&str]| -> Said {
        std::fs::write(home.path(name), bytes).unwrap();
        let mut args = vec!["verify", name, "--json"];
        args.extend(more);
        home.run(&args)
    };
    let good = verify("good", &exported.out, &["--head", &head]).code(0).one();
    assert_eq!((&good["ok"], &good["records"]), (&json!(true), &json!(3)));
    home.run(&["verify", "--head", &head]).code(0);
    let record: Vec<&str> = exported.out.lines().collect();
    for (name, bytes, sequence, kind) in [
        ("altered", exported.out.replacen("read both sides", "read both SIDES", 1), 1, "altered"),
        ("removed", format!("{}\n{}\n", record[0], record[2]), 2, "removed"),
        ("reordered", format!("{}\n{}\n{}\n", record[0], record[0], record[2]), 2, "reordered"),
        ("nonsense", format!("{}\nnonsense\n", record[0]), 2, "altered"),
    ] {
        let found = verify(name, &bytes, &[]).code(8).one();
        assert_eq!(
            (&found["problem"]["sequence"], &found["problem"]["kind"]),
            (&json!(sequence), &json!(kind))
        );
    }
    let cut = format!("{}\n{}\n", record[0], record[1]);
    verify("cut", &cut, &[]).code(0);
    assert_eq!(verify("cut", &cut, &["--head", &head]).code(8).one()["problem"]["kind"], "tail_cut");
    assert_eq!(home.run(&["verify", "absent.jsonl"]).code, 6);
    assert_eq!(home.run(&["verify", "--head", "3"]).code, 2);
}

/// A store that is older than the remembered head is read-only until a person accepts it.
#[test]
fn backup_restored_older() {
    let home = Home::new();
    let version = home.conflict("T-1");
    let store = home.path("data/store.db");
    let wal = common::beside(&store, "-wal");
    let copy = |from: &std::path::Path, to: &std::path::Path| {
        if from.exists() {
            std::fs::copy(from, to).unwrap();
        }
    };
    copy(&store, &home.path("old.db"));
    copy(&wal, &home.path("old.wal"));
    home.decide("T-1", version, &[]).code(0);
    for suffix in ["-wal", "-shm"] {
        _ = std::fs::remove_file(common::beside(&store, suffix));
    }
    copy(&home.path("old.db"), &store);
    copy(&home.path("old.wal"), &wal);
    home.run(&["list"]).code(0);
    assert_eq!(home.decide("T-1", version, &[]).code(4).refusal()["error"], "head_mismatch");
    let found = home.run(&["verify", "--json"]).code(8).one();
    assert_eq!(found["problem"]["kind"], "tail_cut", "the missing record is missed: {found}");
    assert_eq!(
        home.run(&["store", "accept-head", "--reason", " ", "--json"]).code(6).refusal()["error"],
        "reason_too_short"
    );
    home.run(&["store", "accept-head", "--reason", "the disk was restored"]).code(0);
    home.decide("T-1", version, &[]).code(0);
    home.run(&["verify"]).code(0);
}

#[test]
fn digests() {
    let home = Home::new();
    // Computed with CPython's hashlib over the canonical text {"a":1,"b":2}.
    let expected = "sha256:43258cff783fe7036d8a43033f830adfc60ec037382473548ac742b888292777";
    assert_eq!(home.feed(&["digest"], br#"{ "b": 2, "a": 1.0 }"#).code(0).out.trim(), expected);
    let json = home.feed(&["digest", "-", "--json"], br#"{"b":2,"a":1}"#).code(0).one();
    assert_eq!(json, json!({"digest": expected, "digest_scheme": "jcs-sha256/1", "size": 13}));
    for (bad, problem, offset) in [
        (&br#"{"a":1,"a":2}"#[..], "duplicate-key", 7),
        (b"9007199254740993", "precision", 0),
        (b"[1,", "syntax", 3),
    ] {
        let refused = home.feed(&["digest", "--json"], bad).code(6).refusal();
        assert_eq!((&refused["problem"], &refused["offset"]), (&json!(problem), &json!(offset)));
    }
    home.feed(&["digest", "--scheme", "raw-sha256/1"], b"{\"a\":1,\"a\":2}").code(0);
    home.feed(&["digest", "--scheme", "md5/1"], b"1").code(2);
    let whole = home.feed(&["digest"], br#"{"payload":{"a":1},"payload_digest":"sha256:0"}"#).code(0);
    assert!(whole.err.contains("looks like an envelope"), "{whole:?}");
    assert_eq!(home.feed(&["digest"], br#"{"payload":{"a":1}}"#).code(0).err, "");
}

#[test]
fn lists_page_and_filter() {
    let home = Home::new();
    let tasks: Vec<String> = (0..7).map(|n| format!("T-{n}")).collect();
    home.ingest(&tasks.iter().map(|t| common::asks(t)).collect::<Vec<_>>());
    for task in &tasks {
        home.transition(task, "ready");
        home.transition(task, "running");
    }
    home.ingest(&tasks.iter().flat_map(|t| sides(t)).collect::<Vec<_>>());
    let mut seen = Vec::new();
    let mut after: Option<String> = None;
    loop {
        let mut args = vec!["list", "--limit", "3", "--json"];
        if let Some(cursor) = &after {
            args.extend(["--after", cursor]);
        }
        let rows = home.run(&args).code(0).lines();
        let Some(last) = rows.last() else { break };
        after = last["cursor"].as_str().map(str::to_owned);
        assert!(rows.len() <= 3);
        seen.extend(rows.iter().map(|r| r["task_id"].as_str().unwrap().to_owned()));
    }
    seen.sort();
    assert_eq!(seen, tasks);
    home.decide("T-3", 5, &[]).code(0);
    let ids = |args: &[&str]| {
        let mut all = vec!["list", "--json"];
        all.extend(args);
        home.run(&all).code(0).lines().len()
    };
    assert_eq!(ids(&[]), 6);
    assert_eq!(ids(&["--all"]), 7);
    let decided = home.run(&["list", "--decided", "--json"]).code(0).one();
    assert_eq!((&decided["task_id"], &decided["state"]), (&json!("T-3"), &json!("ready")));
    assert_eq!(ids(&["--decided", "task:T-1"]), 0);
    home.run(&["list", "--decided", "--all"]).code(2);
    assert_eq!(
        (ids(&["task:t-1"]), ids(&["t-1"])),
        (0, 1),
        "free text in any case, names as they are written"
    );
    assert_eq!(ids(&["state:ready"]), 1, "a state widens the list to tasks that do not wait");
    assert_eq!(ids(&["task:T-1,T-2", "candidates>1"]), 2);
    assert_eq!(ids(&["--", "-task:T-1"]), 5);
    assert!(home.run(&["list", "stuck"]).code(0).err.contains("did you mean reason:stuck?"));
    assert!(home.run(&["list", "succeeded"]).code(0).err.contains("did you mean state:succeeded?"));
    assert_eq!(home.run(&["list", "stuck", "--json"]).code(0).err, "");
    assert_eq!(home.run(&["list", "T-1"]).code(0).err, "");
    let help = home.run(&["list", "--help"]).code(0).out;
    for word in ["reason:", "INPUT_REQUIRED", "quarantined", "state:", "retry_wait", "candidates"] {
        assert!(help.contains(word), "{word}: {help}");
    }
    assert_eq!(home.run(&["list", "colour:red", "--json"]).code(2).refusal()["error"], "usage");
    assert_eq!(home.run(&["list", "--after", "nonsense", "--json"]).code(6).refusal()["error"], "bad_cursor");
}

#[test]
fn wrong_calls() {
    let home = Home::new();
    assert_eq!(home.run(&["list", "--json"]).code(7).refusal()["error"], "unreachable");
    let nothing = home.run(&["list"]).code(7).err;
    assert!(nothing.contains("tribunal demo") && nothing.contains("--store"), "{nothing}");
    assert!(!home.path("data/store.db").exists(), "reading makes no store");
    home.conflict("T-1");
    assert_eq!(home.run(&["show", "T-9", "--json"]).code(3).refusal()["error"], "task_not_found");
    assert_eq!(
        home.run(&["show", "T-1", "--payload", "M-9", "--json"]).code(3).refusal()["error"],
        "message_not_found"
    );
    for usage in [
        &["decide", "T-1", "--ready"][..],
        &["decide", "T-1", "--ready", "--cancel", "--expect-version", "1", "--reason", "x"],
        &["decide", "T-1", "--expect-version", "1", "--reason", "x"],
        &["transition", "T-1", "--to", "nowhere", "--expect-version", "1", "--reason", "x"],
        &["claim", "T-1", "--worker", "w", "--ttl", "soon"],
        &["nonsense"],
        &["list", "--store", "postgres://u:p4ss@h/db"],
        &["list", "--store", "https://example.org"],
        &["diff", "T-1", "2"],
    ] {
        let mut args = usage.to_vec();
        args.push("--json");
        let said = home.run(&args).code(2);
        assert_eq!(said.refusal()["error"], "usage", "{usage:?}");
        assert!(!said.err.contains("p4ss"));
    }
    home.run(&["--help"]).code(0);
    home.run(&["--version"]).code(0);
    std::fs::write(home.path("other.db"), "not a database at all").unwrap();
    let other = home.run(&["list", "--store", "sqlite:other.db", "--json"]).code(7);
    assert_eq!(other.refusal()["error"], "store_incompatible");
}

#[test]
fn payloads_are_verified_again() {
    let home = Home::new();
    home.conflict("T-1");
    let shown = home.run(&["show", "T-1", "--payload", "M-a", "--json"]).code(0).one();
    assert_eq!((&shown["verified"], &shown["arrival"]), (&json!(true), &json!(2)));
    assert_eq!(shown["payload"]["revenue"], 1_204_000);
    let verified = |home: &Home| home.show("T-1")["candidates"][0]["verification"].clone();
    assert_eq!(verified(&home), "verified");
    assert!(home.run(&["show", "T-1"]).code(0).out.contains("verified now"));
    // A byte of one side rots on the disk: what was found on arrival is not what is told.
    let store = home.path("data/store.db");
    let mut bytes = std::fs::read(&store).unwrap();
    let stands = b"\"revenue\":1204000";
    let places: Vec<usize> =
        (0..bytes.len() - stands.len()).filter(|at| bytes[*at..].starts_with(stands)).collect();
    assert!(!places.is_empty());
    places.iter().for_each(|at| bytes[at + 16] = b'7');
    std::fs::write(&store, bytes).unwrap();
    assert_eq!(verified(&home), "mismatch");
    let told = home.run(&["show", "T-1"]).code(0).out;
    assert!(told.contains("NOT verified: ") && told.contains("verified now"), "one of two: {told}");
    assert!(home.run(&["show", "T-1", "--payload", "2"]).code(0).out.contains("NOT verified"));
    // And nothing is decided on it, whichever side is upheld.
    let version = home.version("T-1");
    for upheld in [&["--uphold", "2"][..], &["--uphold", "3"], &[]] {
        let refusal = home.decide("T-1", version, upheld).code(8).refusal();
        assert_eq!(refusal["error"], "store_damaged", "{upheld:?}");
    }
    assert_eq!(home.run(&["approvals", "--json"]).code(0).out, "");
}

#[test]
fn configuration() {
    let home = Home::new();
    let defaults = home.run(&["config", "defaults", "--json"]).code(0).one();
    assert_eq!(defaults["limits"]["envelope_bytes"], 16 << 20);
    home.run(&["config", "check"]).code(0);
    let paths = home.run(&["config", "paths", "--json"]).code(0).one();
    assert_eq!(paths["store"], json!(home.path("data/store.db")));
    home.configure("[policy]\nminimum_reason = 20\n\n[limits]\ndepht = 3\n");
    let wrong = home.run(&["config", "check"]).code(2);
    assert!(wrong.err.contains("config.toml:5") && wrong.err.contains("depht"), "{wrong:?}");
    home.run(&["list"]).code(2);
    home.configure("[policy]\nminimum_reason = 20\n");
    assert_eq!(home.run(&["config", "print", "--json"]).code(0).one()["policy"]["minimum_reason"], 20);
    let version = home.conflict("T-1");
    assert_eq!(home.decide("T-1", version, &[]).code(6).refusal()["error"], "reason_too_short");
    // Flag above environment above file above the default.
    home.configure("store = \"sqlite:file.db\"\n");
    let print = |flag: &[&str], env: Option<&str>| {
        let mut args = vec!["config", "print", "--json"];
        args.extend(flag);
        let mut command = home.command(&args);
        if let Some(env) = env {
            command.env("TRIBUNAL_STORE", env);
        }
        Said::of(command.output().unwrap()).code(0).one()["store"].clone()
    };
    assert_eq!(print(&[], None), "sqlite:file.db");
    assert_eq!(print(&[], Some("env.db")), "env.db");
    assert_eq!(print(&["--store", "flag.db"], Some("env.db")), "flag.db");
    home.run(&["ingest"]).code(0);
    assert!(home.path("file.db").exists());
}

/// Without variables of our own the platform's directories are used; on Linux those are the XDG ones.
#[test]
#[cfg(target_os = "linux")]
fn xdg_directories() {
    let home = Home::new();
    let mut command = home.command(&["ingest"]);
    for name in ["TRIBUNAL_CONFIG_DIR", "TRIBUNAL_DATA_DIR", "TRIBUNAL_STATE_DIR"] {
        command.env_remove(name);
    }
    command.env("HOME", home.path("h")).env("XDG_DATA_HOME", home.path("d"));
    Said::of(command.output().unwrap()).code(0);
    assert!(home.path("d/tribunal/store.db").exists());
    assert!(home.path("h/.local/state/tribunal").exists());
    use std::os::unix::fs::PermissionsExt;
    let mode = std::fs::metadata(home.path("d/tribunal/store.db")).unwrap().permissions().mode();
    assert_eq!(mode & 0o077, 0, "a store is for its owner alone");
}

#[test]
fn the_demonstration_leaves_a_clean_place() {
    let home = Home::new();
    let scratch = home.path("tmp");
    std::fs::create_dir(&scratch).unwrap();
    let mut command = home.command(&["demo", "--no-tui", "--json"]);
    command.env("TMPDIR", &scratch);
    let made = Said::of(command.output().unwrap()).code(0).one();
    let (store, state) = (made["store"].as_str().unwrap(), made["state"].as_str().unwrap());
    assert!(store.starts_with(scratch.to_str().unwrap()), "{store}");
    let mut list = home.command(&["list", "--json", "--store", store]);
    list.env("TRIBUNAL_STATE_DIR", state);
    let rows = Said::of(list.output().unwrap()).code(0).lines();
    assert!(rows.iter().any(|r| r["reason"] == "needs_review"), "{rows:?}");
    // The stories put four messages aside on purpose; any other envelope in quarantine is a mistake in a story.
    let mut aside = home.command(&["quarantine", "list", "--json", "--store", store]);
    aside.env("TRIBUNAL_STATE_DIR", state);
    let entries = Said::of(aside.output().unwrap()).code(0).lines();
    let mut reasons: Vec<&str> = entries.iter().map(|e| e["reason"].as_str().unwrap()).collect();
    reasons.sort_unstable();
    assert_eq!(reasons, ["digest_mismatch", "malformed", "missing_member", "missing_task"]);
    assert!(!home.path("data").exists());
    assert!(!home.path("state/heads").exists(), "its head is remembered beside it");
}

#[test]
fn a_message_id_serves_where_it_is_unique() {
    let home = Home::new();
    home.running("T-1");
    let side = |sender: &str, n: u64| {
        common::envelope(json!({"message_id": "M", "sender": sender, "payload": {"n": n}}))
    };
    let version = home.ingest(&[side("a", 1), side("b", 2)])[1]["state_version"].as_u64().unwrap();
    let ambiguous = home.decide("T-1", version, &["--uphold", "M"]).code(6).refusal();
    assert_eq!(
        (&ambiguous["error"], &ambiguous["arrivals"]),
        (&json!("ambiguous_message_id"), &json!([2, 3]))
    );
    home.decide("T-1", version, &["--uphold", "#3"]).code(0);
}
