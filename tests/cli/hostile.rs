//! What an agent wrote can neither drive a terminal nor lie on one (faults 43, 44), and bad input is put aside
//! (faults 37 to 40).

use crate::common;
use crate::house::{Home, lines};
use serde_json::{Value, json};
use tribunal::domain::text::is_hidden;

/// Sequences that drive terminals, characters that hide or reorder; no NUL, which no id may hold.
const HOSTILE: &str = "x\u{1b}[31m\u{1b}]52;c;QUFB\u{7}\u{1b}]8;;http://evil\u{1b}\\\u{9b}2J\u{90}q\u{9c}\r\n\t\u{8}\u{7f}\u{202e}\u{2066}\u{200b}\u{feff}\u{e0041}\u{ad}y";

#[track_caller]
fn harmless(what: &str, text: &str) {
    let bad = text.chars().find(|c| (c.is_control() && *c != '\n') || is_hidden(*c));
    assert_eq!(bad, None, "{what}: {text:?}");
}

fn hostile_envelopes() -> Vec<Vec<u8>> {
    let id = |name: &str| format!("{name}{HOSTILE}");
    let base = json!({"task_id": id("T"), "trace_id": id("R"), "recipient": id("to"),
        "labels": {id("label"): id("value")}, HOSTILE: HOSTILE});
    let with = |more: Value| {
        let mut all = base.clone();
        all.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        common::envelope(all)
    };
    let evidence = json!([id("file:"), {"uri": id("https://"), "title": id("title"), "media_type": id("m")}]);
    vec![
        with(
            json!({"type": "task_request", "sender": id("s"), "message_id": id("m1"), "idempotency_key": id("k"),
            "payload": {"goal": format!("{HOSTILE}\0")}}),
        ),
        with(json!({"sender": id("a"), "message_id": id("m2"), "idempotency_key": id("k"),
            "payload": {id("member"): format!("{HOSTILE}\0"), "n": 1}, "evidence_refs": evidence})),
        with(json!({"sender": id("b"), "message_id": id("m3"), "idempotency_key": id("k"),
            "payload": {id("member"): id("other"), "n": 2}, "evidence_refs": evidence})),
        with(
            json!({"sender": id("b"), "message_id": id("m4"), "idempotency_key": id("q"), "type": "human_request",
            "payload": {"prompt": format!("{HOSTILE}\0"), "action": HOSTILE, "scope": HOSTILE, "link": HOSTILE,
                "schema": {"type": "object", "title": HOSTILE, "properties": {HOSTILE: {"type": "string"}}}}}),
        ),
        with(json!({"message_id": id("m5"), "payload_digest": HOSTILE})),
    ]
}

/// Faults 43 and 44, on every reading verb, for people and for programs, and in refusals.
#[test]
fn ansi_injection_and_bidi() {
    let home = Home::new();
    let task = format!("T{HOSTILE}");
    let all = hostile_envelopes();
    let mut said = vec![("ingest".to_owned(), home.feed(&["ingest"], &lines(&all[..1])))];
    home.transition(&task, "ready");
    home.transition(&task, "running");
    said.push(("ingest --json".into(), home.feed(&["ingest", "--json"], &lines(&all))));
    let version = home.version(&task).to_string();
    let calls: Vec<Vec<&str>> = vec![
        vec!["list"],
        vec!["list", "--all"],
        vec!["show", &task],
        vec!["show", &task, "--timeline"],
        vec!["show", &task, "--payload", "3"],
        vec!["show", &task, "--payload", "99"],
        vec!["diff", &task, "3", "4"],
        vec!["quarantine", "list"],
        vec!["quarantine", "show", "Q-1"],
        vec!["show", HOSTILE],
        vec!["list", HOSTILE],
        vec!["decide", &task, "--ready", "--expect-version", "1", "--reason", HOSTILE],
        vec!["decide", &task, "--ready", "--expect-version", &version, "--reason", HOSTILE, "--uphold", "3"],
        vec!["approvals"],
        vec!["claim", &task, "--worker", HOSTILE],
        vec!["show", &task],
        vec!["verify", HOSTILE],
        vec!["digest", HOSTILE],
        vec!["config", "print", "--store", HOSTILE],
        vec!["list", "--store", HOSTILE],
        vec!["transition", &task, "--to", HOSTILE, "--expect-version", "1", "--reason", "x"],
    ];
    for call in &calls {
        for json in [false, true] {
            let mut args = call.clone();
            if json {
                args.push("--json");
            }
            said.push((format!("{args:?}"), home.run(&args)));
        }
    }
    for (what, said) in &said {
        harmless(what, &said.out);
        harmless(what, &said.err);
    }
    let good: Vec<&String> = said.iter().filter(|(_, s)| s.code == 0).map(|(what, _)| what).collect();
    assert!(good.len() > 20, "most of these print something: {good:?}");
    let shown = home.run(&["show", &task, "--payload", "3", "--json"]).code(0).one();
    let member = &shown["payload"][format!("member{HOSTILE}")];
    assert_eq!(member, &format!("{HOSTILE}\0"), "for programs nothing is lost");
}

/// Every byte of output for a terminal, not only for a pipe, is our own; logs too.
#[test]
fn logs_hold_neither_payloads_nor_secrets() {
    let home = Home::new();
    let canary = "canary-4711";
    let mut ingest = home.command(&["ingest", "in.jsonl"]);
    let result = common::envelope(json!({"type": "task_request", "payload": {"goal": canary}}));
    let bad = common::envelope(json!({"payload_digest": canary, "payload": canary}));
    std::fs::write(home.path("in.jsonl"), lines(&[result, bad])).unwrap();
    ingest.env("TRIBUNAL_LOG", "trace").output().unwrap();
    let mut decide = home.command(&["decide", "T-1", "--ready", "--expect-version", "1", "--reason", canary]);
    decide.env("TRIBUNAL_LOG", "trace").output().unwrap();
    let logs: String = std::fs::read_dir(home.path("state"))
        .unwrap()
        .filter_map(|e| e.ok().map(|e| e.path()))
        .filter(|p| p.extension().is_some_and(|x| x == "log"))
        .map(|p| std::fs::read_to_string(p).unwrap())
        .collect();
    assert!(logs.contains("a verb failed"), "there is a log: {logs:?}");
    assert!(!logs.contains(canary));
    harmless("log", &logs);
}

fn reasons(home: &Home, envelopes: &[Vec<u8>]) -> Vec<(String, String)> {
    home.feed(&["ingest", "--json"], &lines(envelopes)).code(6);
    let entries = home.run(&["quarantine", "list", "--json"]).code(0).lines();
    let text = |v: &Value| v.as_str().unwrap().to_owned();
    entries.iter().map(|e| (text(&e["reason"]), text(&e["detail"]))).collect()
}

#[test]
fn deep_nesting() {
    let home = Home::new();
    let deep = "[".repeat(1_000_000) + &"]".repeat(1_000_000);
    let good = String::from_utf8(common::asks("T-1")).unwrap();
    let unknown = good.replacen('{', &format!("{{\"unknown\":{deep},"), 1);
    let found = reasons(&home, &[unknown.into_bytes()]);
    assert_eq!(found[0].0, "limit_exceeded");
    assert!(found[0].1.contains("100"), "{found:?}");
}

#[test]
fn duplicate_keys_and_integer_precision() {
    let home = Home::new();
    let good = String::from_utf8(common::asks("T-1")).unwrap();
    let twice = good.replacen('{', "{\"task_id\":\"T-2\",", 1);
    let precise = |number: &str| {
        let raw = String::from_utf8(common::envelope(json!({"payload": {"n": 12345}}))).unwrap();
        raw.replace("12345", number).into_bytes()
    };
    let found = reasons(&home, &[twice.into_bytes(), precise("9007199254740993"), precise("1e400")]);
    assert_eq!(found[0].0, "malformed");
    assert!(found[0].1.contains("duplicate-key"), "{found:?}");
    assert_eq!((found[1].0.as_str(), found[2].0.as_str()), ("undigestable", "undigestable"));
    assert!(found[1].1.contains("precision") && found[2].1.contains("overflow"), "{found:?}");
    let lease = String::from_utf8(common::envelope(json!({"lease_version": 7}))).unwrap();
    for number in ["18446744073709551616", "-1", "1.5", "1e2"] {
        let text = lease.replace("\"lease_version\":7", &format!("\"lease_version\":{number}"));
        let last = reasons(&home, &[text.into_bytes()]).pop().unwrap();
        assert_eq!(last.0, "malformed", "{number}");
        assert!(last.1.contains("lease_version"), "{last:?}");
    }
}

/// Fault 40: an envelope cut at every byte, and bytes that are no JSON, are all put aside; nothing else changes.
#[test]
fn malformed_json() {
    let home = Home::new();
    let good = common::asks("T-1");
    let mut bad: Vec<Vec<u8>> = vec![[b"\xef\xbb\xbf", &good[..]].concat()];
    bad.extend((1..good.len()).map(|at| good[..at].to_vec()));
    bad.push([&good[..], b"\0"].concat());
    bad.push([&good[..], b" x"].concat());
    let text = String::from_utf8(good.clone()).unwrap();
    bad.push(text.replace("do T-1", "\\ud800").into_bytes());
    bad.push(
        text.replace("do T-1", "\u{fffd}").into_bytes().iter().copied().filter(|b| *b != 0xbf).collect(),
    );
    let said = home.feed(&["ingest", "--json"], &lines(&bad)).code(6).lines();
    assert_eq!(said.len(), bad.len());
    assert!(said.iter().all(|l| l["outcome"] == "quarantined"));
    assert_eq!(home.run(&["show", "T-1"]).code, 3, "no task came of it");
    assert_eq!(home.ingest(&[good])[0]["outcome"], "accepted");
}
