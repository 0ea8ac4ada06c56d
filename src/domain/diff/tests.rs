//! Tests of the diff: tables by hand; properties, hostile input and lines beside it.

mod element;
mod hostile;
mod lines;
mod model;
mod property;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::{Counts, Diff, DiffError, Kind, Limits, Shape, Side, Spellings, Tag, inline};

fn diff(a: &str, b: &str) -> Diff {
    attempt(a.as_bytes(), b.as_bytes()).unwrap()
}

fn attempt(a: &[u8], b: &[u8]) -> Result<Diff, DiffError> {
    Diff::new(Arc::from(a), Arc::from(b), &AtomicBool::new(false), Limits::default())
}

/// All rows as text: kind, pointer in A and B, values.
fn shown(a: &str, b: &str) -> Vec<String> {
    let diff = diff(a, b);
    let show = |row: &super::Row| {
        let text = |side| diff.text(row, side, 40).map_or("missing".to_owned(), |text| text.text);
        let (left, right) = (diff.pointer_a(row), diff.pointer_b(row));
        match row.kind {
            Kind::Equal => format!("= {} under {}", row.fold, diff.pointer(row)),
            kind => {
                let word = kind.word();
                let place = |pointer: Option<String>| pointer.unwrap_or("missing".to_owned());
                let (left, right) = (place(left), place(right));
                format!("{word} {left} {right}: {} -> {}", text(Side::A), text(Side::B))
            }
        }
    };
    diff.rows().iter().map(show).collect()
}

#[test]
fn rows_of_the_case_mock_up() {
    let a = r#"{"facts":[{"revenue":1204000,"source":"10-K p. 31","year":2025}],"title":"x"}"#;
    let b = r#"{"facts":[{"revenue":1240000,"year":2025}],"title":"x"}"#;
    let expected = [
        "= 1 under ",
        "= 1 under /facts/0",
        "changed /facts/0/revenue /facts/0/revenue: 1204000 -> 1240000",
        "removed /facts/0/source missing: \"10-K p. 31\" -> missing",
    ];
    assert_eq!(shown(a, b), expected);
    assert_eq!(diff(a, b).differences(), [2, 3]);
}

#[test]
fn scalars_by_their_literals() {
    // (a, b, kind): RFC 8259 literals; None where there is no difference.
    let table = [
        ("1", "1", None),
        ("1", "1.0", Some(Kind::Spelling)),
        ("1", "1e0", Some(Kind::Spelling)),
        ("1", "1E+0", Some(Kind::Spelling)),
        ("10", "1e1", Some(Kind::Spelling)),
        ("10", "0.1e2", Some(Kind::Spelling)),
        ("120.50", "1205e-1", Some(Kind::Spelling)),
        ("0", "-0", Some(Kind::Spelling)),
        ("0", "0e99999999999999999999999", Some(Kind::Spelling)),
        ("1", "-1", Some(Kind::Changed)),
        ("1", "10", Some(Kind::Changed)),
        ("100", "1", Some(Kind::Changed)),
        ("0.1", "0.01", Some(Kind::Changed)),
        ("1.5", "15", Some(Kind::Changed)),
        ("9007199254740993", "9007199254740992", Some(Kind::Changed)),
        ("0.1", "0.1000000000000000055511151231257827", Some(Kind::Changed)),
        ("1e400", "1e401", Some(Kind::Changed)),
        ("1e99999999999999999999999", "1e99999999999999999999998", Some(Kind::Changed)),
        ("123456789012345678901234567890", "12345678901234567890123456789e1", Some(Kind::Spelling)),
        ("null", "false", Some(Kind::Changed)),
        ("1", "\"1\"", Some(Kind::Changed)),
        ("null", "\"null\"", Some(Kind::Changed)),
        (r#""a""#, r#""\u0061""#, Some(Kind::Spelling)),
        (r#""/""#, r#""\/""#, Some(Kind::Spelling)),
        (r#""😀""#, r#""\uD83D\ude00""#, Some(Kind::Spelling)),
        // Composed and decomposed é are different strings (RFC 8785 normalizes nothing).
        ("\"\u{e9}\"", "\"e\u{301}\"", Some(Kind::Changed)),
        ("\"\"", "null", Some(Kind::Changed)),
        ("[]", "{}", Some(Kind::Changed)),
        ("[]", "[ ]", None),
        ("[]", "[1]", Some(Kind::Changed)),
    ];
    for (a, b, kind) in table {
        for (a, b) in [(a, b), (b, a)] {
            let diff = diff(a, b);
            let found = diff.differences().first().map(|&at| diff.rows()[at as usize].kind);
            assert_eq!(found, kind, "{a} against {b}");
            assert_eq!(diff.same_value(), kind != Some(Kind::Changed), "{a} against {b}");
        }
    }
}

#[test]
fn missing_null_and_empty_never_look_alike() {
    let a = r#"{"m":1,"n":null,"s":"","a":[],"o":{},"t":[ ],"b":true,"f":"x","g":[1],"h":{"x":1}}"#;
    let diff = diff(a, r#"{"n":0,"s":0,"a":0,"o":0,"t":0,"b":0,"f":0,"g":0,"h":0}"#);
    let shapes: Vec<_> = diff.rows().iter().map(|row| diff.shape(row, Side::A)).collect();
    use Shape::*;
    let expected =
        [Number, Null, EmptyString, EmptyArray, EmptyObject, EmptyArray, Boolean, String, Array, Object];
    assert_eq!(shapes, expected);
    assert_eq!(diff.shape(&diff.rows()[0], Side::B), Missing);
    let words: std::collections::BTreeSet<_> = expected.iter().chain(&[Missing]).map(|s| s.word()).collect();
    assert_eq!(words.len(), 10);
}

#[test]
fn members_by_name_in_the_order_of_a_with_added_ones_where_they_belong() {
    let expected = [
        "= 2 under ",
        "added missing /z: missing -> 0",
        "removed /b missing: 2 -> missing",
        "added missing /x: missing -> 8",
        "added missing /y: missing -> 9",
    ];
    assert_eq!(shown(r#"{"a":1,"b":2,"c":3}"#, r#"{"z":0,"a":1,"c":3,"x":8,"y":9}"#), expected);
}

#[test]
fn a_shifted_array_keeps_its_elements() {
    let expected = [
        "added missing /0: missing -> {\"id\":0}",
        "= 2 under ",
        "= 1 under /2",
        "changed /2/v /3/v: 1 -> 2",
        "= 1 under ",
    ];
    let a = r#"[{"id":1},{"id":2},{"id":3,"v":1},{"id":4}]"#;
    let b = r#"[{"id":0},{"id":1},{"id":2},{"id":3,"v":2},{"id":4}]"#;
    assert_eq!(shown(a, b), expected);
    let diff = diff(a, b);
    assert_eq!(diff.fold_start(&diff.rows()[1]), Some((0, 1)));
    assert_eq!(diff.fold_start(&diff.rows()[4]), Some((3, 4)));
    assert_eq!(diff.value(&diff.rows()[1], Side::A), Some(br#"{"id":1},{"id":2}"#.as_slice()));
}

#[test]
fn a_changed_element_meets_its_former_self_beside_an_inserted_one() {
    let expected = [
        "added missing /0: missing -> {\"id\":0,\"v\":5,\"w\":7}",
        "= 2 under /0",
        "changed /0/v /1/v: 1 -> 2",
        "removed /1 missing: {\"id\":9} -> missing",
        "= 1 under /2",
        "changed /2/v /2/v: 3 -> 4",
    ];
    let a = r#"[{"id":1,"v":1,"w":6},{"id":9},{"id":2,"v":3}]"#;
    let b = r#"[{"id":0,"v":5,"w":7},{"id":1,"v":2,"w":6},{"id":2,"v":4}]"#;
    assert_eq!(shown(a, b), expected);
}

#[test]
fn pointers_follow_rfc_6901() {
    // The names of RFC 6901 section 5, and their pointers.
    let a = r#"{"foo":["bar","baz"],"":0,"a/b":1,"c%d":2,"e^f":3,"g|h":4,"i\\j":5,"k\"l":6," ":7,"m~n":8,"~1":9,"é\u0000":1}"#;
    let b = r#"{"foo":["bar","BAZ"],"":9,"a/b":9,"c%d":9,"e^f":9,"g|h":9,"i\\j":9,"k\"l":9," ":9,"m~n":9,"~1":8,"é\u0000":2}"#;
    let diff = diff(a, b);
    let pointers: Vec<_> =
        diff.differences().iter().map(|&at| diff.pointer(&diff.rows()[at as usize])).collect();
    let expected =
        ["/foo/1", "/", "/a~1b", "/c%d", "/e^f", "/g|h", "/i\\j", "/k\"l", "/ ", "/m~0n", "/~01", "/é\0"];
    assert_eq!(pointers, expected);
}

#[test]
fn says_why_equal_texts_differ() {
    let none = Spellings::default();
    let table = [
        (r#"{"a":1,"b":[1,2]}"#, r#"{"a":1,"b":[1,2]}"#, none),
        (r#"{"a":1,"b":[1,2]}"#, r#"{"b":[1,2],"a":1}"#, Spellings { order: true, ..none }),
        (r#"{"a":1,"b":[1,2]}"#, r#"{"a":1,"b":[1, 2]}"#, Spellings { whitespace: true, ..none }),
        (r#"{"a":1,"b":[ 1,2]}"#, r#"{"a":1,"b":[1, 2]}"#, Spellings { whitespace: true, ..none }),
        ("1", "1\n", Spellings { whitespace: true, ..none }),
        ("[]", "[ ]", Spellings { whitespace: true, ..none }),
        (r#"{"a":1}"#, r#"{"\u0061":1}"#, Spellings { names: true, ..none }),
        (r#"{"a":1}"#, r#"{"a":1.0}"#, Spellings { numbers: true, ..none }),
        (r#"["a"]"#, r#"["\u0061"]"#, Spellings { strings: true, ..none }),
    ];
    for (a, b, expected) in table {
        let diff = diff(a, b);
        assert_eq!(diff.spellings(), expected, "{a} against {b}");
        assert!(diff.same_value());
        assert_eq!(diff.same_bytes(), a == b);
    }
}

#[test]
fn equal_texts_are_one_fold() {
    assert_eq!(shown(r#"{"a":1,"b":[2]}"#, r#" {"b":[2], "a":1}"#), ["= 2 under "]);
    assert_eq!(shown("7", "7"), ["= 1 under "]);
    assert_eq!(shown("[ ]", "[]"), ["= 1 under "]);
}

#[test]
fn equal_elements_spelt_differently_stay_in_their_run() {
    assert_eq!(shown("[[1],[2],[3],4]", "[[1],[ 2],[3],5]"), ["= 3 under ", "changed /3 /3: 4 -> 5"]);
}

#[test]
fn counts_by_kind() {
    let diff = diff(r#"{"a":1,"b":2,"c":3}"#, r#"{"a":1.0,"b":3,"d":4,"e":5}"#);
    assert_eq!(diff.counts(), Counts { changed: 1, added: 2, removed: 1, spelling: 1 });
}

#[test]
fn rows_for_the_command_line_keep_literals() {
    let diff = diff("{\"n\":1.0,\"v\":{\"k\" : [1,\n 2.50]}}", r#"{"n":1,"w":null}"#);
    let lines: Vec<_> = (0..diff.rows().len())
        .filter_map(|at| diff.json_row(at))
        .map(|row| serde_json::to_string(&row).unwrap())
        .collect();
    let expected = [
        r#"{"pointer":"/n","kind":"spelling","a":1.0,"b":1}"#,
        r#"{"pointer":"/w","kind":"added","b":null}"#,
        r#"{"pointer":"/v","kind":"removed","a":{"k":[1,2.50]}}"#,
    ];
    assert_eq!(lines, expected);
    assert!(diff.json_row(99).is_none());
}

#[test]
fn excerpts_say_when_they_are_cut() {
    let diff = diff("{\"v\": {\"a b\" : [1,\n 2],\"c\":\"x\\u0041y\"}}", r#"{"v":"äöü"}"#);
    let row = diff.rows()[0];
    let text = |side, limit| diff.text(&row, side, limit).map(|text| (text.text, text.more)).unwrap();
    let whole = r#"{"a b":[1,2],"c":"x\u0041y"}"#;
    assert_eq!(text(Side::A, 28), (whole.to_owned(), false));
    assert_eq!(text(Side::A, 27), (whole[..27].to_owned(), true));
    // An escape is kept whole or left out.
    assert_eq!(text(Side::A, 20), (whole[..19].to_owned(), true));
    assert_eq!(text(Side::A, 0), (String::new(), true));
    assert_eq!(text(Side::B, 3), ("\"äö".to_owned(), true));
    assert_eq!(diff.string(&row, Side::B).as_deref(), Some("äöü"));
    assert_eq!(diff.string(&row, Side::A), None);
}

#[test]
fn words_changed_inside_a_string() {
    let (a, b) = ("the quick brown fox", "the slow brown fox jumps");
    let pieces: Vec<_> = inline(a, b).into_iter().map(|(tag, l, r)| (tag, &a[l], &b[r])).collect();
    let expected = [
        (Tag::Equal, "the ", "the "),
        (Tag::Changed, "quick", "slow"),
        (Tag::Equal, " brown fox", " brown fox"),
        (Tag::Added, "", " jumps"),
    ];
    assert_eq!(pieces, expected);
    assert_eq!(inline("", ""), []);
    assert_eq!(inline("same", "same"), [(Tag::Equal, 0..4, 0..4)]);
    assert_eq!(inline("gone", ""), [(Tag::Removed, 0..4, 0..0)]);
}

#[test]
fn huge_strings_by_their_ends_on_character_boundaries() {
    let a = format!("{}é{}", "a ".repeat(200_000), "z ".repeat(100_000));
    let b = format!("{}è{}", "a ".repeat(200_000), "z ".repeat(100_000));
    let pieces = inline(&a, &b);
    assert_eq!(pieces.len(), 3);
    assert_eq!((&a[pieces[1].1.clone()], &b[pieces[1].2.clone()]), ("é", "è"));
    assert_eq!(pieces[2].1.end, a.len());
}
