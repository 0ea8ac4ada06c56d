//! Tests of the masks.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use proptest::prelude::*;

use super::{Mask, Rule, RuleError, Target, diff_hidden, glob};
use crate::domain::diff::{Diff, Limits};

fn mask(rules: &str) -> Mask {
    let rules: Vec<Rule> = serde_json::from_str(rules).unwrap();
    rules.iter().collect()
}

fn applied(rules: &str, payload: &str) -> String {
    String::from_utf8(mask(rules).apply(payload.as_bytes())).unwrap()
}

#[test]
fn masks_values_and_leaves_every_other_byte() {
    let card = r#"[{"pointer":"/card/number","below":"reviewer"}]"#;
    let any = r#"[{"pointer":"/cards/*/number","below":"reviewer"}]"#;
    let key = r#"[{"key":"*token*","below":"operator"}]"#;
    let table = [
        (
            card,
            r#"{ "card" : {"number":"4111",  "x":1.0} }"#,
            r#"{ "card" : {"number":"[redacted]",  "x":1.0} }"#,
        ),
        // Only there, not wherever the name occurs.
        (card, r#"{"number":1,"a":{"card":{"number":2}}}"#, r#"{"number":1,"a":{"card":{"number":2}}}"#),
        (
            card,
            r#"{"card":{"number":{"deep":[1,{"number":2}]}},"z":0}"#,
            r#"{"card":{"number":"[redacted]"},"z":0}"#,
        ),
        (card, r#"{"c\u0061rd":{"number":[]}}"#, r#"{"c\u0061rd":{"number":"[redacted]"}}"#),
        (
            any,
            r#"{"cards":[{"number":1},{"n":2},{"number":3}]}"#,
            r#"{"cards":[{"number":"[redacted]"},{"n":2},{"number":"[redacted]"}]}"#,
        ),
        (any, r#"{"cards":{"x":{"number":1}}}"#, r#"{"cards":{"x":{"number":"[redacted]"}}}"#),
        (r#"[{"pointer":"/1","below":"r"}]"#, "[1,[2,3],4]", r#"[1,"[redacted]",4]"#),
        (r#"[{"pointer":"/1","below":"r"}]"#, r#"{"1":0,"01":1}"#, r#"{"1":"[redacted]","01":1}"#),
        (r#"[{"pointer":"/01","below":"r"}]"#, "[1,2]", "[1,2]"),
        (
            r#"[{"pointer":"/a~1b/m~0n","below":"r"}]"#,
            r#"{"a/b":{"m~n":1}}"#,
            r#"{"a/b":{"m~n":"[redacted]"}}"#,
        ),
        (r#"[{"pointer":"/","below":"r"}]"#, r#"{"":1,"a":2}"#, r#"{"":"[redacted]","a":2}"#),
        (r#"[{"pointer":"","below":"r"}]"#, r#" {"a":1} "#, r#" "[redacted]" "#),
        (
            key,
            r#"{"accessToken":1,"a":[{"TOKEN":{"b":2},"tok":3}]}"#,
            r#"{"accessToken":"[redacted]","a":[{"TOKEN":"[redacted]","tok":3}]}"#,
        ),
        (
            r#"[{"key":"password","below":"r"}]"#,
            r#"{"password":1,"passwords":2}"#,
            r#"{"password":"[redacted]","passwords":2}"#,
        ),
        (r#"[{"key":"*","below":"r"}]"#, r#"[1,{"a":1}]"#, r#"[1,{"a":"[redacted]"}]"#),
        ("[]", r#"{"a": 1}"#, r#"{"a": 1}"#),
    ];
    for (rules, payload, expected) in table {
        assert_eq!(applied(rules, payload), expected, "{rules} on {payload}");
    }
}

#[test]
fn what_cannot_be_read_is_masked_whole() {
    let mask = mask(r#"[{"key":"password","below":"r"}]"#);
    let deep = format!("{}{}", "[".repeat(101), "]".repeat(101));
    for payload in
        [b"{\"password\":1".as_slice(), b"{\"a\":\"\xff\"}", b"", b"{\"password\":1}{}", deep.as_bytes()]
    {
        assert_eq!(mask.apply(payload), b"\"[redacted]\"");
    }
}

#[test]
fn hides_what_lies_at_or_below_a_masked_place() {
    let mask = mask(r#"[{"pointer":"/card/*/number","below":"r"},{"key":"secret*","below":"r"}]"#);
    let hidden =
        ["/card/0/number", "/card/x/number/deep", "/secret", "/a/0/SecretKey", "/a/secrets/0", "card", "/~"];
    let open = ["", "/", "/card", "/card/0", "/card/number", "/card/0/number2", "/a/nosecret"];
    assert!(hidden.iter().all(|pointer| mask.hides(pointer)));
    assert!(!open.iter().any(|pointer| mask.hides(pointer)));
    assert!(!Mask::default().hides("/secret") && Mask::default().is_empty() && !mask.is_empty());
}

#[test]
fn touches_what_holds_a_masked_value_too() {
    let mask = mask(r#"[{"pointer":"/card/*/number","below":"r"},{"key":"secret","below":"r"}]"#);
    let table: [(&str, &[u8], bool); 8] = [
        ("/card/0", br#"{"number":1}"#, true),
        ("/card", br#"[{"number":1}]"#, true),
        ("/card", br#"[{"numbers":1}]"#, false),
        ("/cards", br#"[{"number":1}]"#, false),
        ("/x/y", br#"[[{"secret":1}]]"#, true),
        ("/x/y", b"[[1]]", false),
        ("/card/1/number/x", b"1", true),
        ("/x", b"not json", true),
    ];
    for (pointer, value, expected) in table {
        assert_eq!(mask.touches(pointer, value), expected, "{pointer}");
    }
}

#[test]
fn a_difference_in_a_masked_place_is_known() {
    let rules = r#"[{"pointer":"/list/*/pin","below":"r"},{"key":"password","below":"r"}]"#;
    let table = [
        (r#"{"list":[{"pin":1,"a":1}]}"#, r#"{"list":[{"pin":1,"a":2}]}"#, false),
        (r#"{"list":[{"pin":1,"a":1}]}"#, r#"{"list":[{"pin":2,"a":1}]}"#, true),
        (r#"{"list":[{"pin":1}]}"#, r#"{"list":[{"pin":1.0}]}"#, true),
        (r#"{"list":[]}"#, r#"{"list":[{"pin":1}]}"#, true),
        (r#"{"list":[]}"#, r#"{"list":[{"pinned":1}]}"#, false),
        (r#"{"list":[{"b":1}]}"#, r#"{"list":[{"b":1},{"pin":1}]}"#, true),
        (r#"{"a":1}"#, r#"{"a":{"b":[{"Password":null}]}}"#, true),
        (r#"{"password":{"b":1}}"#, r#"{"password":{"b":2}}"#, true),
        (r#"{"password":1,"c":1}"#, r#"{"password":1,"c":2}"#, false),
    ];
    for (a, b, expected) in table {
        let arc = |text: &str| Arc::from(text.as_bytes());
        let diff = Diff::new(arc(a), arc(b), &AtomicBool::new(false), Limits::default()).unwrap();
        assert_eq!(diff_hidden(&diff, &mask(rules)), expected, "{a} against {b}");
        assert!(!diff_hidden(&diff, &Mask::default()));
    }
}

#[test]
fn rules_are_checked_when_read() {
    let read = |text| serde_json::from_str::<Rule>(text).map_err(|error| error.to_string());
    let rule = read(r#"{"pointer":"/card/number","below":"reviewer"}"#).unwrap();
    assert_eq!(rule, Rule::new(Target::Pointer("/card/number".to_owned()), "reviewer").unwrap());
    assert_eq!(serde_json::to_string(&rule).unwrap(), r#"{"pointer":"/card/number","below":"reviewer"}"#);
    for (text, error) in [
        (r#"{"below":"r"}"#, RuleError::Target),
        (r#"{"pointer":"","key":"a","below":"r"}"#, RuleError::Target),
        (r#"{"pointer":"card","below":"r"}"#, RuleError::Pointer),
        (r#"{"pointer":"/a~2","below":"r"}"#, RuleError::Pointer),
        (r#"{"pointer":"/a~","below":"r"}"#, RuleError::Pointer),
        (r#"{"key":"","below":"r"}"#, RuleError::Key),
    ] {
        assert_eq!(read(text).unwrap_err(), error.to_string(), "{text}");
    }
    assert!(read(r#"{"pointer":"/a"}"#).is_err());
    assert!(read(r#"{"pointer":"/a","below":"r","pattern":"x"}"#).is_err());
}

#[test]
fn patterns() {
    let table = [
        ("*", "", true),
        ("*", "abc", true),
        ("a*c", "abbc", true),
        ("a*c", "abcb", false),
        ("*b*", "abc", true),
        ("**b", "ab", true),
        ("a*b*c", "aXbYbZc", true),
        ("abc", "abcd", false),
        ("abc*", "abc", true),
        ("", "", true),
    ];
    for (pattern, text, expected) in table {
        assert_eq!(glob(pattern.as_bytes(), text.as_bytes()), expected, "{pattern} {text}");
    }
    // The classic trap for patterns that backtrack into every star.
    assert!(!glob(
        "a*".repeat(40).as_bytes().iter().chain(b"b").copied().collect::<Vec<_>>().as_slice(),
        "a".repeat(5_000).as_bytes()
    ));
}

fn hide(value: &mut serde_json::Value, name: &str) {
    match value {
        serde_json::Value::Array(all) => all.iter_mut().for_each(|value| hide(value, name)),
        serde_json::Value::Object(all) => all.iter_mut().for_each(|(key, value)| {
            if key == name { *value = "[redacted]".into() } else { hide(value, name) }
        }),
        _ => {}
    }
}

proptest! {
    #[test]
    fn a_name_is_masked_wherever_it_stands(text in json()) {
        let masked = mask(r#"[{"key":"k","below":"r"}]"#).apply(text.as_bytes());
        let mut expected: serde_json::Value = serde_json::from_str(&text).unwrap();
        hide(&mut expected, "k");
        prop_assert_eq!(serde_json::from_slice::<serde_json::Value>(&masked).unwrap(), expected);
    }

    #[test]
    fn a_pointer_masks_what_serde_json_finds_there(text in json(), pointer in "(/[kab01]){1,4}") {
        let rule = Rule::new(Target::Pointer(pointer.clone()), "r").unwrap();
        let mask: Mask = [&rule].into_iter().collect();
        let mut expected: serde_json::Value = serde_json::from_str(&text).unwrap();
        let found = expected.pointer_mut(&pointer).map(|value| *value = "[redacted]".into()).is_some();
        let masked = mask.apply(text.as_bytes());
        prop_assert_eq!(serde_json::from_slice::<serde_json::Value>(&masked).unwrap(), expected);
        prop_assert_eq!(mask.touches("", text.as_bytes()), found);
        prop_assert!(mask.hides(&pointer));
        if !found {
            prop_assert_eq!(masked, text.as_bytes());
        }
    }
}

fn json() -> impl Strategy<Value = String> {
    use serde_json::Value;
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<i8>().prop_map(Value::from),
        "[k\"\\\\]{0,2}".prop_map(Value::from)
    ];
    let value = leaf.prop_recursive(5, 60, 4, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::btree_map("[kab01]", inner, 0..5)
                .prop_map(|all| Value::Object(all.into_iter().collect())),
        ]
    });
    value.prop_map(|value| value.to_string())
}
