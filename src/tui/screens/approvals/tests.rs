//! Key scripts on the ledger, with records made up here.

mod filtered;

use insta::assert_snapshot;
use serde_json::json;

use super::super::stage::{DEPTHS, SIZES, Stage, ledger, serve, status};
use super::*;
use crate::domain::ledger::{Problem, ProblemKind, Record};
use crate::tui::testing::Script;

fn digest(of: u64) -> String {
    format!("sha256:{of:064x}")
}

/// A record made from one that was read once: there are thousands of them.
fn approval(sequence: u64) -> Approval {
    static READ: std::sync::LazyLock<Record> = std::sync::LazyLock::new(read);
    let mut record = Box::new(READ.clone());
    (record.sequence, record.approval_id) = (sequence, format!("A-{sequence}"));
    record.supersedes = (sequence == 2).then(|| "A-1".to_owned());
    record.task_id = TaskId(format!("T-{}", sequence / 2 * 2));
    record.previous_record_digest = digest(sequence - 1).parse().unwrap();
    record.record_digest = digest(sequence).parse().unwrap();
    Approval { record, bytes: Vec::new() }
}

fn read() -> Record {
    let side = json!({
        "intent": {"task_id": "T-2", "class": "outcome", "idempotency_key": "R-7:T-2:1"},
        "message_id": "M-\u{202e}3", "arrival": 3, "sender": "researcher-a\u{1b}[2J", "type": "task_result",
        "payload_digest": digest(7), "digest_scheme": "jcs-sha256/1", "verification": "verified",
        "evidence_refs": ["https://example.org/filing"], "trusted": false
    });
    serde_json::from_value(json!({
        "schema_version": "1", "store_id": "S-1", "sequence": 0, "approval_id": "",
        "approval_version": 1, "supersedes": null, "task_id": "", "trace_id": "R-7",
        "decision": "ready", "from_state": "needs_review", "to_state": "ready", "state_version_before": 4,
        "state_version_after": 5, "candidates": [side], "held": [], "candidate_set_digest": digest(8),
        "set_seen": "digest", "upheld": [3], "evidence_opened": [], "resume": {"idempotency_key": "R-7:T-2:1"},
        "reason": "The filing says so\u{200b}.", "endorsements": [],
        "principal": {"subject": "ann", "issuer": "local", "method": "file", "roles": ["reviewer"]},
        "policy": {"id": "default", "version": 1, "quorum": 1}, "decided_at": "2026-11-30T12:04:00.000Z",
        "previous_record_digest": digest(0), "record_digest": digest(0)
    }))
    .unwrap()
}

fn answer(script: &mut Script, head: u64, report: &Report) {
    serve(script, |ask| {
        Some(match ask {
            Ask::Status => Reply::Status(Box::new(status(head))),
            Ask::Approvals(request) => Reply::Approvals(ledger(head, approval, &request)),
            Ask::Show(_) => Reply::Show(Box::new(Stage::conflicted().shown())),
            Ask::Verify => Reply::Verify(report.clone()),
            other => panic!("{other:?}"),
        })
    });
}

fn good() -> Report {
    Report { ok: true, records: 3, head: digest(3).parse().ok(), problem: None, log: None }
}

#[test]
fn sizes_and_depths() {
    for (name, width, height) in SIZES {
        let mut script = Script::new(Approvals::new(None), width, height);
        answer(&mut script, 3, &good());
        script.keys("jV");
        answer(&mut script, 3, &good());
        assert_snapshot!(format!("list_{name}"), script.screen());
        script.keys("<enter>");
        answer(&mut script, 3, &good());
        assert_snapshot!(format!("record_{name}"), script.screen());
        assert!(!script.screen().contains(['\u{202e}', '\u{200b}', '\u{1b}']));
    }
    for (name, theme, depth) in DEPTHS {
        let mut script = Script::themed(Approvals::new(None), 80, 24, theme, depth);
        answer(&mut script, 3, &good());
        assert_snapshot!(name, script.styles());
    }
}

#[test]
fn the_newest_comes_first_and_the_first_record_is_one_key_away() {
    let mut script = Script::new(Approvals::new(None), 80, 24);
    answer(&mut script, 100_000, &good());
    assert!(script.screen().contains("▌100000  T-100000"), "{}", script.screen());
    script.keys("G");
    answer(&mut script, 100_000, &good());
    assert!(
        script.screen().lines().any(|line| line.starts_with("▌") && line.contains(" 1  T-0 ")),
        "{}",
        script.screen()
    );
    for _ in 0..500 {
        script.keys("k");
        answer(&mut script, 100_000, &good());
    }
    assert!(
        script.screen().lines().any(|line| line.starts_with("▌") && line.contains("501  T-500 ")),
        "{}",
        script.screen()
    );
}

#[test]
fn supersession_is_shown_both_ways_and_the_digest_is_copied_whole() {
    let mut script = Script::new(Approvals::new(Some(TaskId("T-2".into()))), 120, 60);
    answer(&mut script, 5, &good());
    assert!(
        script.screen().contains("Approvals of T-2 · oldest first") && script.screen().contains("ready ↺")
    );
    script.keys("<enter>");
    answer(&mut script, 5, &good());
    assert!(script.screen().contains("corrects        A-1"), "{}", script.screen());
    script.keys("Y");
    assert_eq!(script.effects(), [Effect::Copy(digest(2))]);
}

#[test]
fn what_cannot_be_superseded_says_why_and_opens_nothing() {
    for keys in ["s", "<enter>s"] {
        let mut script = Script::new(Approvals::new(None), 120, 40);
        answer(&mut script, 3, &good());
        for key in keys.split_inclusive('>') {
            script.keys(key);
            answer(&mut script, 3, &good());
        }
        let screen = script.screen();
        assert!(screen.contains("A-3 cannot be superseded: the latest of T is no record"), "{screen}");
        assert!(!screen.contains("Supersede T"), "{screen}");
    }
}

#[test]
fn the_first_problem_is_named() {
    let problem =
        Problem { sequence: 2, kind: ProblemKind::Altered, message: "its content has another digest".into() };
    let report =
        Report { ok: false, records: 1, head: digest(1).parse().ok(), problem: Some(problem), log: None };
    let mut script = Script::new(Approvals::new(None), 120, 24);
    answer(&mut script, 3, &report);
    script.keys("V");
    answer(&mut script, 3, &report);
    let said = "✗ not verified: record 2 altered: its content has another digest";
    assert!(script.screen().contains(said), "{}", script.screen());
}

#[test]
fn what_is_to_be_pasted_in_a_shell_names_this_store() {
    let mut script = Script::new(Approvals::new(None), 120, 24);
    answer(&mut script, 3, &good());
    script.keys("x");
    let screen = script.screen();
    assert!(screen.contains("tribunal --store '/a b/it.db' export > ledger.jsonl"), "{screen}");
    script.keys("y");
    let commands = "tribunal --store '/a b/it.db' export > ledger.jsonl\ntribunal --store '/a b/it.db' verify ledger.jsonl";
    assert_eq!(script.effects(), [Effect::Copy(commands.into())]);
}

#[test]
fn what_is_no_answer_is_told_and_nothing_is_read_for_ever() {
    let mut script = Script::new(Approvals::new(None), 80, 24);
    serve(&mut script, |ask| {
        Some(match ask {
            Ask::Status => Reply::Status(Box::new(status(3))),
            _ => Reply::Drop,
        })
    });
    assert!(script.screen().contains("the coordinator answered something else"), "{}", script.screen());
    for layer in [true, false] {
        let mut script = if layer {
            Script::new(super::super::case::Case::new("T".into()), 80, 24)
        } else {
            Script::new(Opened::new(1), 80, 24)
        };
        serve(&mut script, |_| Some(Reply::Drop));
        assert!(script.screen().contains("the coordinator answered something else"), "{}", script.screen());
        assert!(!script.screen().contains("reading"), "{}", script.screen());
    }
}
