//! The line index against serde_json's pretty printer, and windows on huge lines.

use std::sync::Arc;

use proptest::prelude::*;

use crate::domain::diff::{DiffError, Lines, Side};

fn pretty(text: &str) -> Lines {
    Lines::pretty(Arc::from(text.as_bytes())).unwrap()
}

fn all(lines: &Lines) -> String {
    let line = |at| lines.slice(at, 0, usize::MAX).unwrap().text;
    (0..lines.len()).map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn lines_keep_literals_and_show_where_they_nest() {
    let lines = pretty("{\"n\":1.0,\"e\":[ ],\"o\":{\n},\"a\":[\"\\u0061\",{\"x\" :null}]}");
    let expected = "{\n  \"n\": 1.0,\n  \"e\": [],\n  \"o\": {},\n  \"a\": [\n    \"\\u0061\",\n    {\n      \"x\": null\n    }\n  ]\n}";
    assert_eq!(all(&lines), expected);
    assert_eq!((lines.level(0), lines.level(7), lines.level(10)), (0, 3, 0));
    assert!(lines.slice(11, 0, 9).is_none());
}

#[test]
fn a_window_says_what_lies_beside_it() {
    let lines = pretty(r#"{"käse":"wurst"}"#);
    let slice = |from, width| {
        let slice = lines.slice(1, from, width).unwrap();
        (slice.text, slice.before, slice.more)
    };
    assert_eq!(lines.width(1), 17);
    assert_eq!(slice(0, 17), ("  \"käse\": \"wurst\"".to_owned(), false, false));
    assert_eq!(slice(3, 5), ("käse\"".to_owned(), true, true));
    assert_eq!(slice(12, 99), ("urst\"".to_owned(), true, false));
    assert_eq!(slice(99, 9), (String::new(), true, false));
    assert_eq!(slice(0, 0), (String::new(), false, true));
}

#[test]
fn a_line_of_twenty_megabytes_is_shown_in_pieces() {
    let unit = "aé漢😀";
    let (count, before) = (2_000_000, 130);
    let text = format!("[{}\"{}\",true]", "0,".repeat(before), unit.repeat(count));
    assert!(text.len() > 20_000_000);
    let lines = pretty(&text);
    assert_eq!(lines.len(), before + 4);
    let line = before + 1;
    assert_eq!(lines.width(line), 2 + 2 + 4 * count + 1);
    let middle = lines.slice(line, 3 + 4 * (count / 2), 6).unwrap();
    assert_eq!((middle.text.as_str(), middle.before, middle.more), ("aé漢😀aé", true, true));
    let end = lines.slice(line, 3 + 4 * count - 2, 80).unwrap();
    assert_eq!((end.text.as_str(), end.more), ("漢😀\",", false));
    assert_eq!(lines.slice(line + 1, 0, 80).unwrap().text, "  true");
    assert_eq!(lines.line_at(u32::try_from(text.len()).unwrap() - 3), line + 1);
    assert_eq!(lines.line_at(u32::try_from(text.len()).unwrap() / 2), line);
    assert_eq!(lines.line_at(5), 3);
}

#[test]
fn raw_lines_are_the_text_itself() {
    let lines = Lines::raw(Arc::from("{\"a\":\t1,\n\n\"b\":2}\n".as_bytes())).unwrap();
    assert_eq!(all(&lines), "{\"a\":\t1,\n\n\"b\":2}");
    assert_eq!(lines.len(), 3);
    assert_eq!(lines.line_at(10), 2);
    // Not JSON, and still shown.
    assert_eq!(all(&Lines::raw(Arc::from("not json".as_bytes())).unwrap()), "not json");
    assert!(Lines::raw(Arc::from(b"".as_slice())).unwrap().is_empty());
    let error = Lines::raw(Arc::from(b"a\xff".as_slice())).unwrap_err();
    assert_eq!(error, DiffError::Invalid { side: Side::A, offset: 1 });
    assert!(Lines::pretty(Arc::from("[1,".as_bytes())).is_err());
}

fn value() -> impl Strategy<Value = serde_json::Value> {
    use serde_json::Value;
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<i64>().prop_map(Value::from),
        "[ -~é]{0,8}".prop_map(Value::from)
    ];
    leaf.prop_recursive(5, 200, 10, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..10).prop_map(Value::from),
            proptest::collection::btree_map("[a-z]{0,4}", inner, 0..10)
                .prop_map(|all| Value::Object(all.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn lines_agree_with_serde_json(value in value()) {
        let lines = pretty(&serde_json::to_string(&value).unwrap());
        prop_assert_eq!(all(&lines), serde_json::to_string_pretty(&value).unwrap());
    }

    #[test]
    fn each_line_is_found_from_any_of_its_bytes(count in 1usize..300) {
        let text = format!("[{}]", vec!["77"; count].join(","));
        let lines = pretty(&text);
        for at in 0..count {
            let offset = u32::try_from(1 + 3 * at).unwrap();
            prop_assert_eq!(lines.line_at(offset), at + 1);
            prop_assert_eq!(lines.line_at(offset + 1), at + 1);
        }
    }
}
