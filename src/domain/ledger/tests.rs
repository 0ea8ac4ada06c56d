//! The chain is verified from bytes, and the first record that is not what it was is named (faults.md 57).

use super::{Chain, Pin, ProblemKind, Record, Report};
use crate::domain::decision::Decision;
use crate::domain::digest::jcs_bytes_of;
use crate::domain::task::TaskState as S;
use crate::domain::testing::{World, message};
use serde_json::{Value, json};

/// A ledger of five records about five conflicts.
fn ledger() -> Vec<Vec<u8>> {
    ledger_of("S", |_| "checked against the filing")
}

/// The same of another store, or decided for other reasons: what it holds chains, as everything that was written does.
fn ledger_of(store: &str, reason: fn(u64) -> &'static str) -> Vec<Vec<u8>> {
    let mut w = World::conflicted();
    w.store_id = store.into();
    for i in 1..=5 {
        let decision = Decision { reason: reason(i).into(), ..w.decision(S::Ready) };
        assert_eq!(w.decide(decision).unwrap().sequence, i);
        let next =
            message("task_result", &format!("N-{i}"), "k", json!({"next": i}), json!({"sender": "agent-n"}));
        w.admit(&next);
    }
    w.records.iter().map(|r| jcs_bytes_of(r).unwrap()).collect()
}

fn verify(records: &[Vec<u8>], pins: &[Pin]) -> Report {
    let mut chain = Chain::new(pins.iter().copied());
    records.iter().for_each(|r| chain.push(r));
    chain.finish()
}

fn problem(records: &[Vec<u8>], pins: &[Pin]) -> (u64, ProblemKind) {
    let problem = verify(records, pins).problem.expect("a problem");
    (problem.sequence, problem.kind)
}

fn record(bytes: &[u8]) -> Record {
    serde_json::from_slice(bytes).unwrap()
}

fn edit(bytes: &[u8], change: impl FnOnce(&mut Value)) -> Vec<u8> {
    let mut value: Value = serde_json::from_slice(bytes).unwrap();
    change(&mut value);
    jcs_bytes_of(&value).unwrap()
}

#[test]
fn a_good_ledger_verifies() {
    let records = ledger();
    let head = record(&records[4]).record_digest;
    let report = verify(&records, &[Pin { sequence: 5, record_digest: head }]);
    assert_eq!(report, Report { ok: true, records: 5, head: Some(head), problem: None, log: None });
    assert_eq!(verify(&[], &[]), Report { ok: true, records: 0, head: None, problem: None, log: None });
}

#[test]
fn chain_edit() {
    let members = [
        "reason",
        "decided_at",
        "store_id",
        "task_id",
        "decision",
        "previous_record_digest",
        "candidate_set_digest",
    ];
    for name in members {
        let mut records = ledger();
        records[2] = edit(&records[2], |v| v[name] = json!("2026-01-01T00:00:00.000Z"));
        assert_eq!(problem(&records, &[]), (3, ProblemKind::Altered), "{name}");
    }
    let mut records = ledger();
    records[2] = edit(&records[2], |v| v["unknown"] = json!(1));
    assert_eq!(problem(&records, &[]), (3, ProblemKind::Altered), "an added member");
    let mut records = ledger();
    records[2] = b"not json".to_vec();
    assert_eq!(problem(&records, &[]), (3, ProblemKind::Altered));
}

#[test]
fn chain_edit_of_what_was_judged_shows_even_when_the_record_is_signed_again() {
    let mut records = ledger();
    let mut last = record(&edit(&records[4], |v| v["candidates"][0]["sender"] = json!("somebody-else")));
    last.record_digest = last.computed_digest().unwrap();
    records[4] = jcs_bytes_of(&last).unwrap();
    assert_eq!(problem(&records, &[]), (5, ProblemKind::Altered));
}

#[test]
fn chain_delete() {
    let mut records = ledger();
    records.remove(1);
    assert_eq!(problem(&records, &[]), (2, ProblemKind::Removed));
}

#[test]
fn chain_reorder() {
    let mut records = ledger();
    records.swap(1, 2);
    assert_eq!(problem(&records, &[]), (2, ProblemKind::Reordered));
    let mut records = ledger();
    let again = records[0].clone();
    records.insert(1, again);
    assert_eq!(problem(&records, &[]), (2, ProblemKind::Reordered));
}

#[test]
fn chain_insert() {
    let mut records = ledger();
    let mut forged = record(&records[2]);
    forged.reason = "forged".into();
    forged.record_digest = forged.computed_digest().unwrap();
    records.insert(3, jcs_bytes_of(&forged).unwrap());
    assert_eq!(problem(&records, &[]), (4, ProblemKind::Reordered));
}

#[test]
fn tail_truncate() {
    let mut records = ledger();
    let pin = Pin { sequence: 5, record_digest: record(&records[4]).record_digest };
    records.truncate(3);
    assert!(verify(&records, &[]).ok, "a cut tail alone cannot be seen");
    assert_eq!(problem(&records, &[pin]), (4, ProblemKind::TailCut));
}

#[test]
fn suffix_rewrite_resigned() {
    let pin = Pin { sequence: 4, record_digest: record(&ledger()[3]).record_digest };
    let records = ledger_of("S", |at| if at == 3 { "rewritten" } else { "checked against the filing" });
    assert_eq!(records[..2], ledger()[..2]);
    assert!(verify(&records, &[]).ok, "without a head that was seen, a rewritten suffix is a ledger");
    assert_eq!(problem(&records, &[pin]), (4, ProblemKind::Rewritten));
}

#[test]
fn statement_replay() {
    let mut records = ledger();
    let other = ledger_of("another store", |_| "checked against the filing");
    assert!(verify(&other, &[]).ok);
    records[4] = other[4].clone();
    assert_eq!(problem(&records, &[]), (5, ProblemKind::OtherStore));
}

#[test]
fn signature_swap() {
    let mut records = ledger();
    records[2] = edit(&records[2], |v| v["signature"] = json!("forged"));
    assert_eq!(problem(&records, &[]), (3, ProblemKind::Altered), "no signature was ever made");
}

#[test]
fn a_record_is_canonical_and_of_its_store() {
    let mut records = ledger();
    let pretty: Value = serde_json::from_slice(&records[1]).unwrap();
    records[1] = serde_json::to_vec_pretty(&pretty).unwrap();
    assert_eq!(problem(&records, &[]), (2, ProblemKind::Altered));
    let mut chain = Chain::new([]).of_store("another".into());
    chain.push(&ledger()[0]);
    assert_eq!(chain.finish().problem.unwrap().kind, ProblemKind::OtherStore);
}

#[test]
fn every_single_bit_matters() {
    let records = ledger();
    let (last, rest) = records.split_last().unwrap();
    let mut chain = Chain::default();
    rest.iter().for_each(|r| chain.push(r));
    for at in 0..last.len() {
        let mut flipped = last.clone();
        flipped[at] ^= 1;
        let mut chain = chain.clone();
        chain.push(&flipped);
        assert!(!chain.finish().ok, "byte {at}");
    }
}

#[test]
fn the_set_digest_is_over_exactly_the_documented_members() {
    let mut w = World::conflicted();
    let record = w.decide(w.decision(S::Ready)).unwrap();
    let value = serde_json::to_value(&record).unwrap();
    let set = json!({"candidates": value["candidates"], "held": value["held"], "interruption": null});
    assert_eq!(crate::domain::digest::jcs_of(&set).unwrap(), record.candidate_set_digest);
    let candidate = value["candidates"][0].as_object().unwrap();
    let names: Vec<&str> = candidate.keys().map(String::as_str).collect();
    let documented = [
        "arrival",
        "digest_scheme",
        "evidence_refs",
        "intent",
        "message_id",
        "payload_digest",
        "sender",
        "trusted",
        "type",
        "verification",
    ];
    assert_eq!(names, documented);
}
