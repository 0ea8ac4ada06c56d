//! What an envelope must be: every member, every bound, and what is said about one that is not.

use super::{Body, Fault, Limits, MessageType, Payload, QuarantineReason as Q, parse};
use crate::domain::digest::Scheme;
use crate::domain::testing::message;
use proptest::prelude::*;
use serde_json::{Value, json};
use std::sync::Arc;

fn read(raw: &[u8]) -> Result<super::Envelope, Box<Fault>> {
    parse(Arc::from(raw), &Limits::default(), Scheme::default())
}

fn fault(raw: &[u8]) -> (Q, String) {
    let fault = read(raw).expect_err("a fault");
    (fault.reason, fault.detail)
}

fn with(change: Value) -> Vec<u8> {
    message("task_result", "M-1", "k", json!({"revenue": 1}), change)
}

fn without(name: &str) -> Vec<u8> {
    let mut value: Value = serde_json::from_slice(&with(json!({}))).unwrap();
    value.as_object_mut().unwrap().remove(name);
    serde_json::to_vec(&value).unwrap()
}

#[test]
fn a_good_one_is_read_whole_and_its_bytes_are_kept() {
    let raw = with(
        json!({"lease_version": 3, "attempt": 2, "labels": {"team": "x"}, "effect": {"key": "e", "target": "t"}, "unknown": {"kept": true}}),
    );
    let e = read(&raw).unwrap();
    assert_eq!((e.message_id.as_str(), e.trace_id.as_str(), e.task_id.as_str()), ("M-1", "R", "T"));
    assert_eq!((e.kind, e.lease_version, e.attempt), (MessageType::TaskResult, Some(3), Some(2)));
    assert_eq!(e.payload_bytes(), Some(&br#"{"revenue":1}"#[..]));
    assert_eq!(&*e.raw, &raw[..], "unknown members stay in the original");
    assert_eq!(e.labels["team"], "x");
    assert_eq!(e.common, Some(e.digest));
}

#[test]
fn every_required_member() {
    let required = [
        "message_id",
        "trace_id",
        "task_id",
        "sender",
        "recipient",
        "type",
        "schema_version",
        "created_at",
        "idempotency_key",
        "payload_digest",
        "evidence_refs",
        "payload",
    ];
    for name in required {
        let (reason, detail) = fault(&without(name));
        assert_eq!(reason, Q::MissingMember, "{name}");
        assert!(detail.contains(name), "{detail}");
    }
}

#[test]
fn members_of_the_wrong_shape() {
    for (change, says) in [
        (json!({"message_id": 7}), "message_id"),
        (json!({"message_id": ""}), "message_id"),
        (json!({"sender": "a\u{0}b"}), "NUL"),
        (json!({"created_at": "yesterday"}), "created_at"),
        (json!({"created_at": "2026-11-30T12:00:00"}), "created_at"),
        (json!({"type": "task_guess"}), "type"),
        (json!({"payload_digest": "sha256:ABC"}), "payload_digest"),
        (json!({"evidence_refs": "file:x"}), "evidence_refs"),
        (json!({"evidence_refs": [7]}), "evidence_refs"),
        (json!({"evidence_refs": [{"title": "no uri"}]}), "evidence_refs"),
        (json!({"evidence_refs": [{"uri": "x", "size": 9007199254740993_u64}]}), "size"),
        (json!({"lease_version": -1}), "lease_version"),
        (json!({"lease_version": 1.5}), "lease_version"),
        (json!({"lease_version": 9223372036854775808_u64}), "lease_version"),
        (json!({"effect": {"key": "k"}}), "effect"),
        (json!({"labels": {"a": 1}}), "labels"),
        (json!({"payload_ref": "vault:1"}), "exclude"),
    ] {
        let (reason, detail) = fault(&with(change.clone()));
        assert_eq!(reason, Q::Malformed, "{change}");
        assert!(detail.contains(says), "{change}: {detail}");
    }
}

#[test]
fn other_versions_and_schemes() {
    assert_eq!(fault(&with(json!({"schema_version": "2"}))).0, Q::UnsupportedSchema);
    let unknown = json!({"digest_scheme": "md5/1", "payload_digest": format!("sha256:{}", "0".repeat(64))});
    assert_eq!(fault(&with(unknown)).0, Q::UnknownDigestScheme);
}

#[test]
fn limits_are_named() {
    let big = |n: usize| "x".repeat(n);
    let many: Vec<String> = (0..1001).map(|i| format!("file:{i}")).collect();
    for (change, says) in [
        (json!({"task_id": big(257)}), "task_id has 257 bytes, the limit is 256"),
        (json!({"idempotency_key": big(300)}), "idempotency_key has 300"),
        (json!({"evidence_refs": many}), "evidence_refs has 1001 entries, the limit is 1000"),
        (json!({"labels": {"a": big(257)}}), "labels"),
        (json!({"effect": {"key": big(257), "target": "t"}}), "effect.key"),
    ] {
        let (reason, detail) = fault(&with(change));
        assert_eq!(reason, Q::LimitExceeded);
        assert!(detail.contains(says), "{detail}");
    }
    assert!(read(&with(json!({"task_id": big(256)}))).is_ok());
    let (reason, detail) = fault(&vec![b' '; (16 << 20) + 1]);
    assert_eq!(reason, Q::LimitExceeded);
    assert!(detail.contains("16777217 bytes, the limit is 16777216"), "{detail}");
}

/// faults.md 37: nested too deep, also where nobody looks, and far deeper than any stack.
#[test]
fn deep_nesting() {
    let text = String::from_utf8(with(json!({"unknown": "HERE"}))).unwrap();
    let nested = |n: usize| text.replace("\"HERE\"", &format!("{}{}", "[".repeat(n), "]".repeat(n)));
    assert!(read(nested(99).as_bytes()).is_ok(), "the object itself is one level");
    assert_eq!(fault(nested(100).as_bytes()).0, Q::LimitExceeded);
    assert_eq!(fault(nested(1_000_000).as_bytes()).0, Q::LimitExceeded);
}

/// faults.md 38: two readers could disagree about a repeated name, so nobody reads it.
#[test]
fn duplicate_keys() {
    let text = String::from_utf8(with(json!({}))).unwrap();
    let twice = text.replacen('{', "{\"task_id\":\"U\",", 1);
    let (reason, detail) = fault(twice.as_bytes());
    assert_eq!(reason, Q::Malformed);
    assert!(detail.contains("duplicate-key"), "{detail}");
    let escaped = text.replacen('{', "{\"\\u0074ask_id\":\"U\",", 1);
    assert_eq!(fault(escaped.as_bytes()).0, Q::Malformed, "an escaped name is the same name");
    let inside = text.replace(r#"{"revenue":1}"#, r#"{"revenue":1,"revenue":2}"#);
    assert_eq!(fault(inside.as_bytes()).0, Q::Malformed);
}

/// faults.md 39: numbers that canonical JSON cannot hold are refused under it, and kept as bytes under the raw scheme.
#[test]
fn integer_precision() {
    for literal in ["9007199254740993", "18446744073709551616", "1e400", "1e-400", "0.1000000000000000055"] {
        let text =
            String::from_utf8(with(json!({"payload_digest": format!("sha256:{}", "0".repeat(64))}))).unwrap();
        let raw = text.replace(r#"{"revenue":1}"#, literal);
        let (reason, detail) = fault(raw.as_bytes());
        assert_eq!(reason, Q::Undigestable, "{literal}");
        assert!(detail.contains("at byte"), "{detail}");
        let digest = crate::domain::digest::Digest::of_bytes(literal.as_bytes()).to_string();
        let under_raw = raw.replace(&format!("sha256:{}", "0".repeat(64)), &digest).replacen(
            '{',
            "{\"digest_scheme\":\"raw-sha256/1\",",
            1,
        );
        let e = read(under_raw.as_bytes()).unwrap();
        assert_eq!(e.common, None, "and compares with nothing under another scheme");
    }
}

/// faults.md 40: cut anywhere, or with bytes that are no JSON: said where, and nothing panics.
#[test]
fn malformed_json() {
    let good = with(json!({"labels": {"é": "ü"}}));
    for end in 0..good.len() {
        assert_eq!(fault(&good[..end]).0, Q::Malformed, "cut at {end}");
    }
    let text = String::from_utf8(good).unwrap();
    let bom = format!("\u{feff}{text}").into_bytes();
    let trailing = format!("{text}x").into_bytes();
    let lone = text.replace("agent-a", "\\ud800").into_bytes();
    let mut invalid = text.clone().into_bytes();
    invalid[10] = 0xff;
    for raw in [bom, trailing, lone, invalid, b"[]".to_vec(), b"null".to_vec(), b"".to_vec(), b"\0".to_vec()]
    {
        assert_eq!(fault(&raw).0, Q::Malformed);
    }
}

#[test]
fn digests_are_recomputed_under_the_declared_scheme() {
    let (reason, detail) = fault(&with(json!({"payload_digest": format!("sha256:{}", "0".repeat(64))})));
    assert_eq!(reason, Q::DigestMismatch);
    assert!(detail.contains("sha256:0000") && detail.contains("jcs-sha256/1"), "{detail}");
    for scheme in Scheme::ALL {
        let e = read(&with(json!({"digest_scheme": scheme}))).unwrap();
        assert_eq!(e.scheme, scheme);
        assert!(e.common.is_some());
    }
    let raw = with(json!({"digest_scheme": "python-sorted-json/1"}));
    let unnamed = String::from_utf8(raw).unwrap().replace("\"digest_scheme\":\"python-sorted-json/1\",", "");
    assert_eq!(fault(unnamed.as_bytes()).0, Q::DigestMismatch);
    let python = parse(Arc::from(unnamed.as_bytes()), &Limits::default(), Scheme::PythonSortedJsonV1);
    assert_eq!(python.unwrap().scheme, Scheme::PythonSortedJsonV1, "a source may have a scheme of its own");
}

#[test]
fn a_reference_stands_for_content_that_is_not_here() {
    let text =
        String::from_utf8(with(json!({"payload_digest": format!("sha256:{}", "a".repeat(64))}))).unwrap();
    let raw =
        text.replace(r#""payload":{"revenue":1}"#, r#""payload_ref":{"uri":"vault:1","protected":true}"#);
    let e = read(raw.as_bytes()).unwrap();
    assert!(matches!(&e.payload, Payload::Ref(r) if r.uri() == "vault:1"));
    assert_eq!((e.payload_bytes(), e.common), (None, None));
    let question = raw.replace("task_result", "human_request");
    assert_eq!(fault(question.as_bytes()).0, Q::Malformed, "a question must be readable");
}

#[test]
fn what_is_read_of_payloads() {
    let body =
        |kind: &str, payload: Value| read(&message(kind, "M", "k", payload, json!({}))).map(|e| e.body);
    assert_eq!(fault(&message("task_request", "M", "k", json!({}), json!({}))).0, Q::MissingMember);
    assert_eq!(
        fault(&message("task_request", "M", "k", json!({"goal": "g", "priority": 1e30}), json!({}))).0,
        Q::Malformed
    );
    assert_eq!(fault(&message("receipt", "M", "k", json!({}), json!({}))).0, Q::MissingMember);
    assert_eq!(
        fault(&message("human_request", "M", "k", json!({"need": "business_input"}), json!({}))).0,
        Q::Malformed
    );
    assert_eq!(
        fault(&message("task_failure", "M", "k", json!({"category": "bad luck"}), json!({}))).0,
        Q::Malformed
    );
    match body("task_request", json!({"goal": "x".repeat(5000), "priority": -3})).unwrap() {
        Body::Request(r) => {
            assert_eq!(r.priority, -3);
            assert!(r.goal.unwrap().len() <= 1024, "the state's own copy is cut; the message is whole");
        }
        other => panic!("{other:?}"),
    }
    let failure = body(
        "task_failure",
        json!({"retryable": true, "retry_at": "2026-12-01T00:00:00Z", "category": "delivery"}),
    );
    assert!(matches!(failure, Ok(Body::Failure { retryable: true, retry_at: Some(_), .. })));
    assert!(matches!(body("task_denied", json!("just words")), Ok(Body::Denied(None))));
}

#[test]
fn a_bad_message_still_tells_its_names() {
    let fault = read(&with(json!({"schema_version": "9", "message_id": "M-9"}))).unwrap_err();
    assert_eq!(fault.named.message_id.as_deref(), Some("M-9"));
    assert_eq!(fault.named.task_id.as_deref(), Some("T"));
}

proptest! {
    #[test]
    fn no_bytes_panic(raw in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = read(&raw);
    }

    #[test]
    fn no_change_of_one_byte_panics_or_passes_unseen(at in 0..400_usize, byte in any::<u8>()) {
        let mut raw = with(json!({}));
        let at = at % raw.len();
        raw[at] = byte;
        if let Ok(e) = read(&raw) {
            prop_assert_eq!(&*e.raw, &raw[..]);
        }
    }
}
