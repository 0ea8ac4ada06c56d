//! What elements are called: the rule by example, at its edges, and against those who want to fool the reader.

use super::super::{Element, Kind, Side};
use super::diff;

/// Each difference as `pointer | name | inside`, by side A where it has one.
fn named(a: &str, b: &str) -> Vec<String> {
    let diff = diff(a, b);
    let differences = diff.differences().iter().filter_map(|at| diff.row(*at as usize));
    differences
        .map(|row| match diff.element(row, Side::A) {
            Some(Element { pointer, name, inside }) => {
                format!("{pointer} | {name} | {}", inside.unwrap_or_default())
            }
            None => diff.pointer(row),
        })
        .collect()
}

#[test]
fn what_tells_siblings_apart_names_them_ids_first() {
    let table: &[(&str, &str, &[&str])] = &[
        // Neither the company nor the year is enough.
        (
            r#"{"facts":[{"company":"Acme","year":2023,"revenue":1},{"company":"Acme","year":2024,"revenue":2},{"company":"Beta","year":2024,"revenue":3}]}"#,
            r#"{"facts":[{"company":"Acme","year":2023,"revenue":1},{"company":"Acme","year":2024,"revenue":9},{"company":"Beta","year":2024,"revenue":3}]}"#,
            &["/facts/1 | Acme, 2024 | revenue"],
        ),
        // An id is, wherever it stands.
        (
            r#"[{"name":"x","n":1,"case_id":"c-1"},{"name":"x","n":2,"case_id":"c-2"}]"#,
            r#"[{"name":"x","n":1,"case_id":"c-1"},{"name":"x","n":3,"case_id":"c-2"}]"#,
            &["/1 | c-2 | n"],
        ),
        // A number says what it is of.
        (
            r#"[{"id":7,"n":1},{"id":8,"n":2}]"#,
            r#"[{"id":7,"n":1},{"id":8,"n":{"deep":[1]}}]"#,
            &["/1 | id 8 | n"],
        ),
        // Nothing is known of these names, but one tells the elements apart and does not change.
        (
            r#"[{"answer":"a","question":"Who?"},{"answer":"b","question":"Why?"}]"#,
            r#"[{"answer":"a","question":"Who?"},{"answer":"c","question":"Why?"}]"#,
            &["/1 | Why? | answer"],
        ),
        // One alone is called by what is recognised.
        (
            r#"[{"company":"Acme","year":2024,"n":1}]"#,
            r#"[{"company":"Acme","year":2024,"n":2}]"#,
            &["/0 | Acme, 2024 | n"],
        ),
        // The innermost that has a name; what has none is its number.
        (
            r#"[{"id":"a","rows":[[1,{"x":[1]}],[2]]},{"id":"b","rows":[]}]"#,
            r#"[{"id":"a","rows":[[1,{"x":[2]}],[2]]},{"id":"b","rows":[]}]"#,
            &["/0 | a | rows/0/1/x/0"],
        ),
        (r#"{"n":[1,2]}"#, r#"{"n":[1,3]}"#, &["/n/1"]),
        (r#"[{"ok":true},{"ok":true}]"#, r#"[{"ok":true},{"ok":false}]"#, &["/1/ok"]),
    ];
    for (a, b, expected) in table {
        assert_eq!(named(a, b), *expected, "{a} against {b}");
    }
}

#[test]
fn only_what_both_sides_agree_on_names_what_both_have() {
    let a = r#"[{"id":"a","name":"first","n":1},{"id":"a","name":"second","n":2},{"id":"c","name":"third","n":3}]"#;
    let b = r#"[{"id":"a","name":"first","n":1},{"id":"a","name":"2nd","n":9},{"id":"c","name":"third","n":3},{"id":"d","name":"new"}]"#;
    assert_eq!(named(a, b), ["/1 | a | name", "/1 | a | n", "/3 | d, new | "]);
    // Escaped or not, it is the same id.
    let (a, b) = (r#"[{"id":"caf\u00e9","n":1}]"#, r#"[{"id":"café","n":2}]"#);
    assert!(named(a, b).contains(&"/0 | café | n".to_owned()), "{:?}", named(a, b));
}

#[test]
fn each_side_has_its_own_pointer_where_elements_shift() {
    let diff = diff(r#"[{"id":"a","n":1}]"#, r#"[{"id":"z","m":[]},{"id":"a","n":2}]"#);
    let row = diff.differences().iter().filter_map(|at| diff.row(*at as usize)).find(|row| row.a.is_some());
    let at = |side| diff.element(row.unwrap(), side).map(|e| (e.pointer, e.name)).unwrap();
    assert_eq!((at(Side::A), at(Side::B)), (("/0".into(), "a".into()), ("/1".into(), "a".into())));
}

#[test]
fn a_fold_is_in_the_element_it_stands_in() {
    let diff = diff(r#"[{"id":"a","n":1,"m":2}]"#, r#"[{"id":"a","n":2,"m":2}]"#);
    let fold = diff.element(&diff.rows()[0], Side::A).unwrap();
    assert_eq!((fold.pointer.as_str(), fold.name.as_str(), fold.within()), ("/0", "a", None));
}

#[test]
fn a_member_with_an_empty_name_is_not_the_element() {
    let diff = diff(r#"[{"id":"a","":1}]"#, r#"[{"id":"a","":2}]"#);
    let row = diff.rows().iter().find(|row| row.kind == Kind::Changed).unwrap();
    let element = diff.element(row, Side::A).unwrap();
    assert_eq!((element.pointer.as_str(), element.inside.as_deref()), ("/0", Some("")));
    assert_eq!(element.within(), Some("\"\""));
}

#[test]
fn no_value_passes_for_the_text_around_it_and_all_are_short() {
    let long = "n".repeat(60);
    let hostile = [
        (r#"x · /total  added"#, r#""x · /total  added""#),
        (r#"a, b"#, r#""a, b""#),
        ("a\u{202e}b", "\"a\u{202e}b\""),
        (r#"say \"hi\""#, r#""say \"hi\"""#),
        (" ", "\" \""),
        (long.as_str(), "nnnnnnnnnnnnnnnnnnnnnnnn…"),
    ];
    for (id, shown) in hostile {
        let of = |n: u8| format!("[{{\"id\":\"{id}\",\"n\":{n}}}]");
        assert_eq!(named(&of(1), &of(2)), [format!("/0 | {shown} | n")]);
    }
}

#[test]
fn the_sample_reaches_over_the_whole_array_and_no_further_than_its_budget() {
    // The first 32 differ in the year alone: only the sample behind them shows that the company matters.
    let of = |last: u32| {
        let row = |n: u32| {
            let n_value = if n == 299 { last } else { n };
            format!("{{\"company\":\"c{}\",\"year\":{},\"n\":{n_value}}}", n / 100, 1900 + n % 100)
        };
        format!("[{}]", (0..300).map(row).collect::<Vec<_>>().join(","))
    };
    assert_eq!(named(&of(1), &of(2)), ["/299 | c2, 1999 | n"]);
}

#[test]
fn what_stands_behind_a_huge_member_names_nothing_and_costs_nothing() {
    let of = |n: u8| format!("[{{\"n\":{n},\"text\":\"{}\",\"id\":\"late\"}}]", "t".repeat(100_000));
    assert_eq!(named(&of(1), &of(2)), ["/0/n"]);
}
