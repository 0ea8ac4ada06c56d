//! What an agent wrote can neither drive a terminal nor lie on one (faults 43, 44), and bad input is put aside
//! (faults 37 to 40).

use crate::common;
use crate::house::{Home, Said, lines};
use serde_json::{Value, json};
use tribunal::domain::digest::{Scheme, digest};
use tribunal::domain::text::is_hidden;

/// Every C0 and C1 character but NUL, which no id may hold, and sequences that drive terminals.
fn driving() -> String {
    let c0 = ('\u{1}'..='\u{1f}').chain(['\u{7f}']);
    let sequences = "\u{1b}[31m\u{1b}[2J\u{1b}]52;c;QUFB\u{7}\u{1b}]8;;http://evil\u{1b}\\\u{1b}Pq\u{1b}\\\u{9b}2J\u{90}q\u{9c}";
    c0.chain('\u{80}'..='\u{9f}').chain(sequences.chars()).collect()
}

/// Characters that reorder text, that nobody sees, and tags, which carry hidden text.
const LYING: &str = "\u{202a}\u{202b}\u{202c}\u{202d}\u{202e}\u{2066}\u{2067}\u{2068}\u{2069}\u{200e}\u{200f}\u{61c}\u{200b}\u{200c}\u{2060}\u{2062}\u{feff}\u{ad}\u{180e}\u{e0001}\u{e0041}\u{e007f}";

#[track_caller]
fn harmless(what: &str, text: &str) {
    let bad = text.chars().find(|c| (c.is_control() && *c != '\n') || is_hidden(*c));
    assert_eq!(bad, None, "{what}: {text:?}");
}

/// Messages with `hostile` in every member that holds text.
fn hostile_envelopes(hostile: &str) -> Vec<Vec<u8>> {
    let id = |name: &str| format!("{name}{hostile}");
    let base = json!({"task_id": id("T"), "trace_id": id("R"), "recipient": id("to"),
        "labels": {id("label"): id("value")}, hostile: hostile});
    let with = |more: Value| {
        let mut all = base.clone();
        all.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        common::envelope(all)
    };
    let evidence = json!([id("file:"), {"uri": id("https://"), "title": id("title"), "media_type": id("m")}]);
    let whole = format!("{hostile}\0");
    vec![
        with(
            json!({"type": "task_request", "sender": id("s"), "message_id": id("m1"), "idempotency_key": id("k"),
            "payload": {"goal": whole}}),
        ),
        with(json!({"sender": id("a"), "message_id": id("m2"), "idempotency_key": id("k"),
            "payload": {id("member"): whole, "n": 1}, "evidence_refs": evidence})),
        with(json!({"sender": id("b"), "message_id": id("m3"), "idempotency_key": id("k"),
            "payload": {id("member"): id("other"), "n": 2}, "evidence_refs": evidence})),
        with(
            json!({"sender": id("b"), "message_id": id("m4"), "idempotency_key": id("q"), "type": "human_request",
            "payload": {"prompt": whole, "action": hostile, "scope": hostile, "link": hostile,
                "schema": {"type": "object", "title": hostile, "properties": {hostile: {"type": "string"}}}}}),
        ),
        with(json!({"message_id": id("m5"), "payload_digest": hostile})),
    ]
}

/// What every verb says of such messages, for people and for programs, and in refusals; none of it may drive or lie.
fn on_every_surface(home: &Home, hostile: &str) -> Vec<(String, Said)> {
    let task = format!("T{hostile}");
    let all = hostile_envelopes(hostile);
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
        vec!["show", hostile],
        vec!["list", hostile],
        vec!["decide", &task, "--ready", "--expect-version", "1", "--reason", hostile],
        vec!["decide", &task, "--ready", "--expect-version", &version, "--reason", hostile, "--uphold", "3"],
        vec!["approvals"],
        vec!["claim", &task, "--worker", hostile],
        vec!["show", &task],
        vec!["verify", hostile],
        vec!["digest", hostile],
        vec!["config", "print", "--store", hostile],
        vec!["list", "--store", hostile],
        vec!["transition", &task, "--to", hostile, "--expect-version", "1", "--reason", "x"],
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
    let member = &shown["payload"][format!("member{hostile}")];
    assert_eq!(member, &format!("{hostile}\0"), "for programs nothing is lost");
    said
}

/// Fault 43, on the command line into a pipe; `pty` has the terminal.
#[test]
fn ansi_injection() {
    let home = Home::new();
    let hostile = format!("x{}y", driving());
    on_every_surface(&home, &hostile);
    let shown = home.run(&["show", &format!("T{hostile}")]).code(0).out;
    assert!(shown.contains("␛[31m␛[2J␛]52;c;QUFB␇"), "what was sent is shown, defused: {shown}");
    // The log is read on terminals too.
    for args in [
        &["ingest", "in.jsonl"][..],
        &["show", &hostile],
        &["list", &hostile],
        &["list", "--store", &hostile],
    ] {
        std::fs::write(home.path("in.jsonl"), lines(&hostile_envelopes(&hostile))).unwrap();
        home.command(args).env("TRIBUNAL_LOG", "trace").output().unwrap();
    }
    let log = home.logs();
    assert!(log.contains("a verb failed"), "there is a log: {log:?}");
    harmless("the log", &log);
}

/// Fault 44: what reorders or hides is written out, and a name that imitates another says so.
#[test]
fn bidi_zero_width() {
    let home = Home::new();
    let said = on_every_surface(&home, &format!("x{LYING}y"));
    let shown = &said.iter().find(|(what, _)| what.contains("--payload\", \"3\"]")).unwrap().1.out;
    for char in LYING.chars() {
        assert!(
            shown.contains(&format!("{:04X}", u32::from(char))),
            "{:x} is told: {shown}",
            u32::from(char)
        );
    }
    // Tags spell words that nobody sees; every one of them is written out.
    let tags: String = ('\u{e0020}'..='\u{e007e}').collect();
    home.running("T-tags");
    let result = json!({"task_id": "T-tags", "payload": {"note": format!("yes{tags}")}});
    home.ingest(&[common::envelope(result)]);
    let shown = home.run(&["show", "T-tags", "--payload", "2"]).code(0).out;
    for char in tags.chars() {
        assert!(shown.contains(&format!("{:04X}", u32::from(char))), "{:x}: {shown}", u32::from(char));
    }
    harmless("tags", &shown);
    // Cyrillic а in the name of one side.
    home.running("T-names");
    let side = |id: &str, sender: &str, n: u64| {
        common::envelope(
            json!({"task_id": "T-names", "message_id": id, "sender": sender, "payload": {"n": n}}),
        )
    };
    home.ingest(&[side("a", "paypal", 1), side("b", "p\u{430}ypal", 2)]);
    let warning = "mixed scripts! \"p\u{430}ypal\" mixes Latin and Cyrillic letters: \u{430} is U+0430";
    for args in [&["show", "T-names"][..], &["show", "T-names", "--timeline"]] {
        let shown = home.run(args).code(0).out;
        assert!(shown.contains(&format!("from p\u{430}ypal ({warning})")), "{shown}");
        assert_eq!(shown.matches("mixed scripts!").count(), 1, "{shown}");
    }
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

/// Fault 38: a name that stands twice, wherever, also written with escapes.
#[test]
fn duplicate_keys() {
    let home = Home::new();
    let good = String::from_utf8(common::asks("T-1")).unwrap();
    let twice = [
        good.replacen('{', "{\"task_id\":\"T-2\",", 1),
        good.replacen('{', "{\"\\u0074ask_id\":\"T-2\",", 1),
        good.replacen('{', "{\"unknown\":[{\"a\":1,\"a\":1}],", 1),
        good.replacen("\"payload\":{", "\"payload\":{\"goal\":\"another\",", 1),
    ];
    let found = reasons(&home, &twice.map(String::into_bytes));
    assert_eq!(found.len(), 4);
    for (reason, detail) in &found {
        assert_eq!(reason, "malformed");
        assert!(detail.contains("duplicate-key"), "{detail}");
    }
    assert_eq!(home.run(&["show", "T-1"]).code, 3, "nothing came of any");
}

/// Fault 39: a number that is not kept exactly is not digested, except as the bytes it came in; integer members are
/// refused out of range.
#[test]
fn integer_precision() {
    let home = Home::new();
    let with = |number: &str, scheme: &str| {
        let all = json!({"message_id": format!("{number} {scheme}"), "digest_scheme": scheme, "payload": {"n": 12345}});
        let raw = String::from_utf8(common::envelope(all)).unwrap();
        let payload = format!("{{\"n\":{number}}}");
        let old = digest(Scheme::parse(scheme).unwrap(), br#"{"n":12345}"#).unwrap();
        let new = digest(Scheme::parse(scheme).unwrap(), payload.as_bytes());
        let new = new.map_or_else(|_| old.to_string(), |d| d.to_string());
        raw.replace("{\"n\":12345}", &payload).replace(&old.to_string(), &new).into_bytes()
    };
    let lossy =
        [("9007199254740993", "precision"), ("18446744073709551617", "precision"), ("1e400", "overflow")];
    let found = reasons(&home, &lossy.map(|(number, _)| with(number, "jcs-sha256/1")));
    for ((number, problem), (reason, detail)) in lossy.iter().zip(&found) {
        assert_eq!(reason, "undigestable", "{number}");
        assert!(detail.contains(problem), "{number}: {detail}");
    }
    // 2^64 is a power of two, -0 is 0: JCS holds both.
    home.running("T-1");
    for number in ["9007199254740993", "1e400", "-0", "0.1000000000000000055"] {
        let told = home.feed(&["ingest", "--json"], &lines(&[with(number, "raw-sha256/1")])).one();
        assert!(["accepted", "conflict"].contains(&told["outcome"].as_str().unwrap()), "{number}: {told}");
        let arrival = told["arrival"].as_u64().unwrap().to_string();
        let shown = home.run(&["show", "T-1", "--payload", &arrival]).code(0).out;
        assert!(shown.contains("digest verified") && shown.contains(number), "kept as it came: {shown}");
    }
    let lease = String::from_utf8(common::envelope(json!({"lease_version": 7}))).unwrap();
    for number in ["18446744073709551616", "9223372036854775808", "-1", "1.5", "1e2"] {
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
    let entries = home.run(&["quarantine", "list", "--json"]).code(0).lines();
    for entry in &entries {
        let (reason, detail) = (&entry["reason"], entry["detail"].as_str().unwrap());
        assert!(*reason == "malformed" && detail.contains("byte "), "with the place: {entry}");
    }
    assert_eq!(home.run(&["show", "T-1"]).code, 3, "no task came of it");
    assert_eq!(home.ingest(&[good])[0]["outcome"], "accepted");
}
