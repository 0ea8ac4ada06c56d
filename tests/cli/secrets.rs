//! What must not leak does not: canaries in everything that is sent, told, configured and typed (fault 56).

use crate::common;
use crate::house::{Home, Said, lines, sides};
use serde_json::json;

/// A canary for each place, so that a leak names its place.
fn canary(place: &str) -> String {
    format!("canary-{place}-4711")
}

/// Places that a rule masks.
const MASKED: [&str; 4] = ["payload", "goal", "prompt", "answer"];
/// Places that are shown to the owner, but go into no log, error or export.
const SHOWN: [&str; 4] = ["label", "evidence", "unknown", "quarantined"];
/// What the program is told and must not repeat.
const TOLD: [&str; 2] = ["token", "dsn"];

fn rules() -> &'static str {
    "[[redact]]\nkey = \"*secret*\"\nbelow = \"admin\"\n[[redact]]\npointer = \"/goal\"\nbelow = \"admin\"\n\
     [[redact]]\npointer = \"/prompt\"\nbelow = \"admin\"\n"
}

fn messages() -> Vec<Vec<u8>> {
    let request = common::envelope(
        json!({"type": "task_request", "message_id": "ask", "idempotency_key": "ask",
        "labels": {"team": canary("label")}, "unknown": canary("unknown"), "payload": {"goal": canary("goal")}}),
    );
    let mut all = vec![request];
    for (id, sender) in [("M-a", "a"), ("M-b", "b")] {
        all.push(common::envelope(json!({"message_id": id, "sender": sender,
            "payload": {"my_secret": format!("{}-{id}", canary("payload")), "n": 1},
            "evidence_refs": [{"uri": format!("https://host/{}", canary("evidence"))}]})));
    }
    let zeros = format!("sha256:{}", "0".repeat(64));
    all.push(common::envelope(
        json!({"message_id": "bad", "payload_digest": zeros, "payload": {"note": canary("quarantined")}}),
    ));
    all.push(canary("quarantined").into_bytes());
    all
}

/// Everything that is run, with the most that can be logged.
fn run(home: &Home, args: &[&str]) -> Said {
    let mut command = home.command(args);
    command.env("TRIBUNAL_LOG", "trace").env("TRIBUNAL_TOKEN", canary("token"));
    Said::of(command.output().unwrap())
}

#[track_caller]
fn free_of(places: &[&[&str]], what: &str, text: &str) {
    for place in places.iter().flat_map(|p| p.iter()) {
        assert!(!text.contains(&canary(place)), "the {place} is in {what}: {text}");
    }
}

#[test]
fn secret_redaction() {
    let home = Home::new();
    home.configure(rules());
    std::fs::write(home.path("in.jsonl"), lines(&messages())).unwrap();
    let mut said =
        vec![run(&home, &["ingest", "in.jsonl"]).code(6), run(&home, &["ingest", "in.jsonl", "--json"])];
    let question = json!({"prompt": canary("prompt"), "schema": {"type": "object", "required": ["n"],
        "additionalProperties": false, "properties": {"n": {"type": "integer"}}}});
    let asked = home.question("T-2", question).to_string();
    let version = home.version("T-1").to_string();
    let zeros = format!("sha256:{}", "0".repeat(64));
    let dsn = format!("postgres://user:{}@host/db", canary("dsn"));
    // A value of the wrong kind is refused without being repeated.
    let field = format!("n={}", canary("answer"));
    std::fs::write(home.path("answer.json"), json!({"n": canary("answer")}).to_string()).unwrap();
    let answer = ["answer", "T-2", "--expect-version", &asked, "--reason", "it is known"];
    let decide = ["decide", "T-1", "--ready", "--reason", "read both sides", "--expect-version"];
    let calls: Vec<Vec<&str>> = vec![
        vec!["list", "--all"],
        vec!["show", "T-1"],
        vec!["show", "T-2"],
        vec!["show", "T-1", "--timeline"],
        vec!["show", "T-1", "--payload", "2"],
        vec!["diff", "T-1"],
        vec!["quarantine", "list"],
        vec!["quarantine", "readmit", "Q-1"],
        vec!["list", "--store", &dsn],
        vec!["config", "print", "--store", &dsn],
        [&answer[..], &["--set", &field]].concat(),
        [&answer[..], &["--file", "answer.json"]].concat(),
        [&decide[..], &["1"]].concat(),
        [&decide[..], &[&version, "--candidate-set", &zeros]].concat(),
        [&decide[..], &[&version, "--uphold", "2"]].concat(),
        [&decide[..], &[&version]].concat(),
        vec!["show", "T-1"],
        [&answer[..], &["--set", "n=3"]].concat(),
        vec!["approvals"],
        vec!["verify"],
    ];
    let mut failed = 0;
    for call in calls {
        for json in [&[][..], &["--json"]] {
            let one = run(&home, &[&call[..], json].concat());
            failed += usize::from(one.code != 0);
            free_of(&[&MASKED, &TOLD], &format!("{call:?}"), &one.out);
            said.push(one);
        }
    }
    assert!(failed > 12, "there were errors to look into: {failed}");
    let exported = run(&home, &["export"]).code(0);
    assert_eq!(exported.out.lines().count(), 2, "{exported:?}");
    free_of(&[&MASKED, &TOLD, &["label", "unknown", "quarantined"]], "the export", &exported.out);
    said.push(exported);
    for one in &said {
        free_of(&[&MASKED, &SHOWN, &TOLD], "an error", &one.err);
    }
    let log = home.logs();
    assert!(log.lines().count() > 10, "there is a log: {log:?}");
    free_of(&[&MASKED, &SHOWN, &TOLD], "the log", &log);
}

/// Without rules the owner sees what is sent; log, errors and exports still hold none of it.
#[test]
fn secret_redaction_without_rules() {
    let home = Home::new();
    std::fs::write(home.path("in.jsonl"), lines(&messages())).unwrap();
    run(&home, &["ingest", "in.jsonl"]).code(6);
    let shown = run(&home, &["show", "T-1", "--payload", "2"]).code(0).out;
    assert!(shown.contains(&canary("payload")), "asked for by name, it is shown: {shown}");
    let version = home.version("T-1").to_string();
    let decide = ["decide", "T-1", "--ready", "--expect-version", &version, "--reason", "read both sides"];
    run(&home, &decide).code(0);
    let again = run(&home, &decide).code(4);
    let exported = run(&home, &["export"]).code(0).out;
    let log = home.logs();
    for (what, text) in [("an error", &again.err), ("the export", &exported), ("the log", &log)] {
        free_of(&[&["payload", "goal", "label", "unknown", "quarantined"], &TOLD], what, text);
    }
    // A reason is written to be read by everybody: one that holds a credential is refused, and not repeated.
    let version = home.conflict("T-9").to_string();
    let secret = format!("password: {}", canary("reason"));
    let refused =
        run(&home, &["decide", "T-9", "--ready", "--expect-version", &version, "--reason", &secret]).code(6);
    free_of(&[&["reason"]], "an error", &refused.err);
    assert_eq!(sides("T-9").len(), 2);
    free_of(&[&["reason"]], "the log", &home.logs());
}
