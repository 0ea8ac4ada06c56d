//! The ledger in the hands of somebody who can write the file: an exported one, and the store's own (fault 57).

use crate::house::Home;
use rusqlite::{Connection, params};
use serde_json::{Value, json};
use tribunal::domain::digest::{Digest, jcs_bytes_of};
use tribunal::domain::ledger::Record;

/// A store with five decisions, and its records as exported.
struct Ledger {
    home: Home,
    records: Vec<Vec<u8>>,
    head: String,
}

fn record(bytes: &[u8]) -> Record {
    serde_json::from_slice(bytes).unwrap()
}

/// The head after a record, as `--head` takes it.
fn pin(bytes: &[u8]) -> String {
    let r = record(bytes);
    format!("{}:{}", r.sequence, r.record_digest)
}

fn edited(bytes: &[u8], change: impl FnOnce(&mut Value)) -> Vec<u8> {
    let mut value: Value = serde_json::from_slice(bytes).unwrap();
    change(&mut value);
    jcs_bytes_of(&value).unwrap()
}

/// Links records again from `at` on, with digests that fit: what somebody with the file and time can do.
fn link_again(records: &mut [Vec<u8>], at: usize) {
    for i in at..records.len() {
        let mut r = record(&records[i]);
        r.previous_record_digest = match i {
            0 => Digest::from_bytes([0; 32]),
            _ => record(&records[i - 1]).record_digest,
        };
        r.record_digest = r.computed_digest().unwrap();
        records[i] = jcs_bytes_of(&r).unwrap();
    }
}

impl Ledger {
    fn new() -> Ledger {
        let home = Home::new();
        for n in 1..=5 {
            let task = format!("T-{n}");
            let version = home.conflict(&task);
            home.decide(&task, version, &["--uphold", "2"]).code(0);
        }
        let exported = home.run(&["export"]).code(0);
        let records: Vec<Vec<u8>> = exported.out.lines().map(|l| l.as_bytes().to_vec()).collect();
        assert_eq!(records.len(), 5);
        let head = pin(&records[4]);
        assert!(exported.err.contains(&head));
        Ledger { home, records, head }
    }

    /// What `verify` finds in a file of these records: sequence and kind of the first problem.
    fn file(&self, records: &[Vec<u8>], more: &[&str]) -> Option<(u64, String)> {
        std::fs::write(self.home.path("ledger.jsonl"), records.join(&b'\n')).unwrap();
        self.found(&[&["verify", "ledger.jsonl", "--json"], more].concat())
    }

    fn found(&self, args: &[&str]) -> Option<(u64, String)> {
        let said = self.home.run(args);
        let problem = &said.one()["problem"];
        assert_eq!(said.code, if problem.is_null() { 0 } else { 8 }, "{said:?}");
        let kind = problem["kind"].as_str()?.to_owned();
        Some((problem["sequence"].as_u64().unwrap(), kind))
    }

    /// Puts these records, each at its place, where the store has its own.
    fn put(&self, records: &[(i64, Vec<u8>)]) {
        let conn = Connection::open(self.home.path("data/store.db")).unwrap();
        conn.execute("DELETE FROM approval", []).unwrap();
        for (place, bytes) in records {
            let digest = record(bytes).record_digest.to_string();
            let hex = digest.trim_start_matches("sha256:");
            let raw: Vec<u8> =
                (0..32).map(|at| u8::from_str_radix(&hex[2 * at..2 * at + 2], 16).unwrap()).collect();
            conn.execute(
                "INSERT INTO approval(sequence, approval_id, task, version, state_version, record_digest, record) \
                 VALUES (?1, ?2, 1, ?1, ?1, ?3, ?4)",
                params![place, format!("ap-{place}"), raw, bytes],
            )
            .unwrap();
        }
    }

    /// What the store itself says of them, and whether it still takes decisions.
    fn store(&self, records: &[Vec<u8>]) -> (Option<(u64, String)>, bool) {
        self.put(&(1..).zip(records.iter().cloned()).collect::<Vec<_>>());
        self.stands()
    }

    fn stands(&self) -> (Option<(u64, String)>, bool) {
        let found = self.found(&["verify", "--ledger", "--json"]);
        let writes = self.home.run(&[
            "transition",
            "T-5",
            "--to",
            "canceled",
            "--expect-version",
            "99",
            "--reason",
            "x",
            "--json",
        ]);
        let refusal = writes.code(4).refusal();
        (found, refusal["error"] != "head_mismatch")
    }
}

fn is(sequence: u64, kind: &str) -> Option<(u64, String)> {
    Some((sequence, kind.to_owned()))
}

/// A record that nobody made, linked with digests that fit, at the end: the chain holds, and the log knows nothing of it.
#[test]
fn a_forged_record_at_the_end_is_not_in_the_log() {
    let l = Ledger::new();
    let whole = l.home.run(&["verify", "--json"]).code(0).one();
    assert_eq!(whole["log"]["problems"], json!([]));
    let events = whole["log"]["events"].as_u64().unwrap();
    assert!(events > 20 && whole["log"]["tasks"] == 5, "{whole}");
    let mut records = l.records.clone();
    records.push(edited(&l.records[4], |r| {
        r["sequence"] = json!(6);
        r["approval_id"] = json!("ap-6");
        r["task_id"] = json!("T-1");
        r["state_version_before"] = json!(50);
        r["state_version_after"] = json!(51);
    }));
    link_again(&mut records, 5);
    let conn = Connection::open(l.home.path("data/store.db")).unwrap();
    let digest = record(&records[5]).record_digest;
    conn.execute(
        "INSERT INTO approval(sequence, approval_id, task, version, state_version, record_digest, record) \
         VALUES (6, 'ap-6', 1, 6, 50, ?1, ?2)",
        params![digest.as_bytes(), records[5]],
    )
    .unwrap();
    drop(conn);
    assert_eq!(l.found(&["verify", "--ledger", "--json"]), None);
    let found = l.home.run(&["verify", "--json"]).code(8).one();
    assert_eq!((&found["ok"], &found["problem"]), (&json!(false), &Value::Null));
    assert_eq!(found["log"]["problems"][0]["at"], "task \"T-1\"");
    let told = l.home.run(&["verify"]).code(8).out;
    assert!(told.contains("its approval records are not those that its log speaks of"), "{told}");
}

#[test]
fn chain_edit() {
    let l = Ledger::new();
    assert_eq!((l.file(&l.records, &["--head", &l.head]), l.stands()), (None, (None, true)));
    for (member, value) in [
        ("reason", json!("read neither")),
        ("upheld", json!([3])),
        ("decided_at", json!("2026-01-01T00:00:00.000Z")),
        ("decision", json!("canceled")),
        ("unknown", json!(1)),
    ] {
        let mut records = l.records.clone();
        records[2] = edited(&records[2], |v| v[member] = value.clone());
        assert_eq!(l.file(&records, &[]), is(3, "altered"), "{member}");
        assert_eq!(l.store(&records).0, is(3, "altered"), "{member}");
    }
    let mut records = l.records.clone();
    records[2] = edited(&records[2], |v| v["candidates"][0]["sender"] = json!("somebody-else"));
    let mut linked = records.clone();
    link_again(&mut linked, 2);
    assert_eq!(l.file(&linked, &[]), is(3, "altered"), "what was judged has its own digest");
}

#[test]
fn chain_delete() {
    let l = Ledger::new();
    let mut records = l.records.clone();
    records.remove(1);
    assert_eq!(l.file(&records, &[]), is(2, "removed"));
    let places = [1, 3, 4, 5];
    l.put(&places.into_iter().zip(records).collect::<Vec<_>>());
    assert_eq!(l.stands().0, is(2, "removed"));
}

#[test]
fn chain_reorder() {
    let l = Ledger::new();
    let mut records = l.records.clone();
    records.swap(1, 2);
    assert_eq!(l.file(&records, &[]), is(2, "reordered"));
    assert_eq!(l.store(&records).0, is(2, "reordered"));
}

#[test]
fn chain_insert() {
    let l = Ledger::new();
    let mut forged = record(&l.records[2]);
    forged.reason = "forged".into();
    forged.record_digest = forged.computed_digest().unwrap();
    let mut records = l.records.clone();
    records.insert(3, jcs_bytes_of(&forged).unwrap());
    assert_eq!(l.file(&records, &[]), is(4, "reordered"));
    assert_eq!(l.store(&records).0, is(4, "reordered"));
}

/// The one that needs a head that was seen: exported and pinned, or remembered outside the store.
#[test]
fn tail_truncate() {
    let l = Ledger::new();
    let cut = l.records[..4].to_vec();
    assert_eq!(l.file(&cut, &[]), None, "a cut tail alone cannot be seen");
    assert_eq!(l.file(&cut, &["--head", &l.head]), is(5, "tail_cut"));
    assert_eq!(
        l.store(&cut),
        (is(5, "tail_cut"), false),
        "the remembered head is missed, and nothing is written"
    );
}

#[test]
fn suffix_rewrite_resigned() {
    let l = Ledger::new();
    let mut records = l.records.clone();
    records[2] = edited(&records[2], |v| v["reason"] = json!("rewritten"));
    link_again(&mut records, 2);
    assert_eq!(l.file(&records, &[]), None, "without a head that was seen, a rewritten end is a ledger");
    assert_eq!(l.file(&records, &["--head", &l.head]), is(5, "rewritten"));
    assert_eq!(
        l.file(&records, &["--head", &pin(&l.records[1])]),
        None,
        "what stands before it is as it was"
    );
    let (found, writes) = l.store(&records);
    assert!(found.is_some() && !writes, "the remembered head is another: {found:?}");
    let pinned = l.home.run(&["verify", "--head", &pin(&l.records[3]), "--json"]).code(8).one();
    assert_eq!(
        (&pinned["problem"]["sequence"], &pinned["problem"]["kind"]),
        (&json!(4), &json!("rewritten"))
    );
}

/// No record was ever signed by this program, so a signature in one is a forgery.
#[test]
fn signature_swap() {
    let l = Ledger::new();
    let mut records = l.records.clone();
    records[2] = edited(&records[2], |v| v["signature"] = json!("forged"));
    assert_eq!(l.file(&records, &[]), is(3, "altered"));
    assert_eq!(l.store(&records).0, is(3, "altered"));
}

/// A good record of another store, in the place of this store's.
#[test]
fn statement_replay() {
    let (l, other) = (Ledger::new(), Ledger::new());
    let mut records = l.records.clone();
    records[4] = other.records[4].clone();
    assert_eq!(l.file(&records, &[]), is(5, "other_store"));
    assert_eq!(l.store(&records).0, is(5, "other_store"));
    assert_eq!(l.store(&other.records).0, is(1, "other_store"), "a whole ledger of another store, too");
}

/// An export that begins in the middle says which record it follows, and is verified from there.
#[test]
fn an_export_that_begins_in_the_middle_is_verified_alone() {
    let l = Ledger::new();
    let part = l.home.run(&["export", "--after", "2"]).code(0);
    let lines: Vec<Vec<u8>> = part.out.lines().map(|l| l.as_bytes().to_vec()).collect();
    let first: Value = serde_json::from_slice(&lines[0]).unwrap();
    let second = record(&l.records[1]);
    assert_eq!(
        first,
        json!({"store_id": second.store_id, "after": 2, "record_digest": second.record_digest})
    );
    assert_eq!(lines[1..], l.records[2..]);
    assert!(part.err.contains(&l.head));
    assert_eq!(l.file(&lines, &[]), None);
    let report = l.home.run(&["verify", "ledger.jsonl", "--json"]).code(0).one();
    assert_eq!((&report["records"], &report["after"]["sequence"]), (&json!(3), &json!(2)));
    assert_eq!(report["head"], json!(record(&l.records[4]).record_digest));
    let told = l.home.run(&["verify", "ledger.jsonl"]).code(0).out;
    assert!(told.contains(&format!("head {}", l.head)) && told.contains("record 2:sha256:"), "{told}");
    assert!(told.contains("not verified here"), "{told}");
    for good in [pin(&l.records[1]), pin(&l.records[3]), l.head.clone()] {
        assert_eq!(l.file(&lines, &["--head", &good]), None);
    }
    let other = format!("2:sha256:{}", "0".repeat(64));
    assert_eq!(l.file(&lines, &["--head", &other]), is(2, "rewritten"));
    assert_eq!(
        l.file(&lines, &["--head", &pin(&l.records[0])]),
        is(1, "removed"),
        "it is not there to compare"
    );
    // The first record is taken away, or the line is of another place.
    let cut = [&lines[..1], &lines[2..]].concat();
    assert_eq!(l.file(&cut, &[]), is(3, "removed"));
    let mut moved = lines.clone();
    moved[0] = edited(&moved[0], |v| v["after"] = json!(1));
    assert_eq!(l.file(&moved, &[]), is(2, "removed"));
    let mut other = lines.clone();
    other[0] = edited(&other[0], |v| v["record_digest"] = json!(format!("sha256:{}", "0".repeat(64))));
    assert_eq!(l.file(&other, &[]), is(3, "reordered"));
    let twice = [&lines[..2], &lines[..1], &lines[2..]].concat();
    assert_eq!(l.file(&twice, &[]), is(4, "altered"), "such a line stands first or nowhere");
    let nothing = l.home.run(&["export", "--after", "5"]).code(0).out;
    std::fs::write(l.home.path("ledger.jsonl"), nothing).unwrap();
    assert_eq!(l.found(&["verify", "ledger.jsonl", "--json", "--head", &l.head]), None);
    assert_eq!(
        l.home.run(&["export", "--after", "6", "--json"]).code(6).refusal()["error"],
        "no_such_record"
    );
}
