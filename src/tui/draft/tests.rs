//! A draft comes back as it was written, or not at all.

use serde_json::json;

use super::*;

fn draft() -> Draft {
    let written = Written {
        reason: "the filing\nsays so".into(),
        resume: "report:step-3".into(),
        choice: Some("ready".into()),
        upheld: vec![5],
        fields: BTreeMap::from([("région".to_owned(), json!("eu")), ("count".to_owned(), json!(1.5))]),
        ..Written::default()
    };
    let basis = Basis { version: 6, question: Some("Q-1 v1".into()), ..Basis::default() };
    Draft { task: "T-1".into(), kind: Kind::Decision, at: Timestamp(1_796_040_271_000), basis, written }
}

#[test]
fn it_comes_back_as_it_was_written() {
    let bytes = draft().to_bytes("S-1").unwrap();
    assert_eq!(Draft::from_bytes(&bytes, "S-1", &"T-1".into(), Kind::Decision), Ok(draft()));
    let value: Value = serde_json::from_slice(&bytes).unwrap();
    assert_eq!(
        (&value["format"], &value["store"], &value["task"]),
        (&json!(1), &json!("S-1"), &json!("T-1"))
    );
}

#[test]
fn what_is_not_it_is_refused_in_our_own_words() {
    let read = |bytes: &[u8]| Draft::from_bytes(bytes, "S-1", &"T-1".into(), Kind::Decision).unwrap_err();
    let bytes = draft().to_bytes("S-1").unwrap();
    for cut in 0..bytes.len() {
        assert_eq!(read(&bytes[..cut]), "it is damaged");
    }
    assert_eq!(read(&b"[".repeat(100_000)), "it is damaged");
    assert_eq!(read(&vec![b' '; LIMIT + 1]), "it is longer than 1048576 bytes");
    let newer = br#"{"format":2,"something":"else"}"#;
    assert_eq!(read(newer), "its format is 2, and this program reads 1");
    let other = |store: &str, task: &str, kind| Draft::from_bytes(&bytes, store, &task.into(), kind);
    for (store, task, kind) in
        [("S-2", "T-1", Kind::Decision), ("S-1", "T-2", Kind::Decision), ("S-1", "T-1", Kind::Answer)]
    {
        assert_eq!(other(store, task, kind), Err("it is about something else".to_owned()));
    }
    let mut long = draft();
    long.written.reason = "x".repeat(LIMIT);
    assert_eq!(long.to_bytes("S-1"), Err("it is longer than 1048576 bytes".to_owned()));
}

#[test]
fn what_looks_like_a_credential_is_left_out_and_nothing_else() {
    let mut written = draft().written;
    assert_eq!(written.clone().without_secrets(), (written.clone(), None));
    written.reason = "password: hunter2hunter2".into();
    written.fields.insert("password".into(), json!("hunter2hunter2"));
    let (left, found) = written.without_secrets();
    assert_eq!(found, Some(("reason".to_owned(), SecretKind::Assigned)));
    assert_eq!(left, Written { reason: String::new(), ..draft().written });
}

#[test]
fn it_is_stale_when_anything_it_was_made_against_is_not_as_it_was() {
    let basis = draft().basis;
    assert_eq!(basis.stale(&basis), None);
    let told = |now: Basis| basis.stale(&now).unwrap();
    assert_eq!(
        told(Basis { version: 8, ..basis.clone() }),
        "the task is at v8: read again before you use it"
    );
    assert!(told(Basis { question: Some("Q-2 v1".into()), ..basis.clone() }).contains("another question"));
    assert!(told(Basis { set: Some(Digest::of_bytes(b"x")), ..basis.clone() }).contains("to be judged"));
    assert!(told(Basis { supersedes: Some("A-1".into()), ..basis.clone() }).contains("to be judged"));
}
