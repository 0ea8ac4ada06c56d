//! What rows say, and how little of a huge payload is formatted for them.

use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::*;
use crate::domain::diff::Limits;

fn diff(a: &str, b: &str) -> Diff {
    let bytes = |text: &str| Arc::from(text.as_bytes());
    Diff::new(bytes(a), bytes(b), &AtomicBool::new(false), Limits::default()).unwrap()
}

fn lines(rows: &Rows, diff: &Diff) -> Vec<String> {
    let theme = Theme::embedded("mono").unwrap();
    let blocks = rows.view(diff, Names { a: "A", b: "B" }, &theme);
    blocks.iter().flat_map(|block| &block[0]).map(|line| line.to_string().trim_end().to_owned()).collect()
}

fn rows(width: u16, height: u16, sides: Sides) -> Rows {
    let mut rows = Rows::new();
    rows.resize(width, height, sides);
    rows
}

#[test]
fn missing_null_and_the_empty_ones_never_look_alike() {
    let diff = diff(
        r#"{"a":null,"b":"","c":[],"d":{},"f":"1","g":0}"#,
        r#"{"a":"","b":null,"c":{},"d":[],"e":null,"f":1}"#,
    );
    let told = lines(&rows(60, 60, Sides::Under), &diff);
    let expected = [
        "▌~ /a  changed",
        "  A  null",
        "  B  \"\" (empty string)",
        " ~ /b  changed",
        "  A  \"\" (empty string)",
        "  B  null",
        " ~ /c  changed",
        "  A  [] (empty array)",
        "  B  {} (empty object)",
        " ~ /d  changed",
        "  A  {} (empty object)",
        "  B  [] (empty array)",
        " ~ /f  changed",
        "  A  \"1\" (string)",
        "  B  1 (number)",
        " - /g  removed",
        "  A  0",
        "  B  (missing)",
        " + /e  added",
        "  A  (missing)",
        "  B  null",
    ];
    for line in expected {
        assert!(told.iter().any(|own| own == line), "{line:?} in {told:#?}");
    }
    assert_eq!(told.len(), expected.len());
}

#[test]
fn what_changed_inside_a_string_stands_between_marks_and_is_shown_from_where_it_changes() {
    let same = "word ".repeat(400);
    let diff = diff(&format!("[\"{same}old and grey end\"]"), &format!("[\"{same}new and green end\"]"));
    let mut rows = rows(70, 20, Sides::One(Side::B));
    rows.toggle_wrap();
    let told = lines(&rows, &diff).join("\n");
    assert!(told.contains("{+new+} and {+green+} end"), "{told}");
    assert!(told.contains('…'), "{told}");
}

#[test]
fn a_cut_value_is_marked_and_scrolls_under_its_place() {
    let diff = diff("[\"abcdefghijklmnopqrstuvwxyz0123456789\"]", "[7]");
    let mut rows = rows(20, 20, Sides::One(Side::A));
    rows.toggle_wrap();
    assert_eq!(lines(&rows, &diff), ["▌~ /0  changed", "  A  \"abcdefghijklm…"]);
    rows.sideways(true);
    assert_eq!(lines(&rows, &diff), ["▌~ /0  changed", "  A  …jklmnopqrstuv…"]);
}

#[test]
fn the_selected_row_is_in_view_whole_however_tall_rows_are() {
    let mut a = String::from("[");
    let mut b = String::from("[");
    for n in 0..60 {
        write!(a, "\"{}\",", "left ".repeat(n)).unwrap();
        write!(b, "\"{}\",", "right ".repeat(n)).unwrap();
    }
    let diff = diff(&format!("{a}0]"), &format!("{b}0]"));
    for sides in [Sides::Under, Sides::Beside, Sides::One(Side::A)] {
        for height in [15, 16, 31] {
            let mut rows = rows(44, height, sides);
            for _ in 0..70 {
                rows.go(&diff, Move::By(1));
                let told = lines(&rows, &diff);
                let at = told.iter().position(|line| line.starts_with('▌')).unwrap();
                let next =
                    told.iter().skip(at + 1).position(|l| [" ~", " …"].iter().any(|p| l.starts_with(p)));
                let end = next.map_or(told.len(), |next| at + 1 + next);
                assert!(end <= usize::from(height), "{sides:?} {height} {at}..{end}");
            }
        }
    }
}

#[test]
fn of_fifty_megabytes_only_what_is_in_view_is_formatted() {
    let huge = |end: &str| format!("[\"{}{end}\",0]", "long ".repeat(5_000_000));
    let one = diff(&huge("left"), &huge("right"));
    let list = |mark: &str| {
        let mut text = String::from("[");
        for n in 0..200_000 {
            write!(text, "{{\"n\":{n},\"{mark}\":\"{mark}{n}\"}},").unwrap();
        }
        text + "0]"
    };
    let many = diff(&list("a"), &list("b"));
    for diff in [&one, &many] {
        for sides in [Sides::Beside, Sides::Under] {
            let mut rows = rows(58, 30, sides);
            for movement in [Move::First, Move::Last, Move::HalfPages(-3)] {
                rows.go(diff, movement);
                let theme = Theme::embedded("mono").unwrap();
                let blocks = rows.view(diff, Names { a: "A", b: "B" }, &theme);
                let lines: Vec<_> = blocks.iter().flatten().flatten().collect();
                assert!(!blocks.is_empty() && blocks.len() <= 30, "{}", blocks.len());
                assert!(lines.len() <= 120, "{}", lines.len());
                assert!(lines.iter().all(|line| line.width() <= 58));
            }
        }
    }
    let told = lines(&rows(58, 30, Sides::Under), &one).join("\n");
    assert!(told.contains("[-left-]") && told.contains("{+right+}"), "{told}");
}

#[test]
fn where_elements_shifted_each_side_has_its_own_place() {
    let a = r#"[{"id":1,"v":"same"},{"id":2,"v":"old","w":[1,2,3]},{"id":3,"v":"same"}]"#;
    let b = r#"[{"id":1,"v":"same"},{"id":9},{"id":2,"v":"new","w":[1,2,3]},{"id":3,"v":"same"}]"#;
    let diff = diff(a, b);
    let under = lines(&rows(60, 40, Sides::Under), &diff).join("\n");
    assert!(under.contains("~ /1 · id 2 · v, in B /2/v  changed"), "{under}");
    let beside =
        rows(60, 40, Sides::Beside).view(&diff, Names { a: "A", b: "B" }, &Theme::embedded("mono").unwrap());
    let side = |at: usize| -> Vec<String> {
        beside.iter().flat_map(|block| &block[at]).map(ToString::to_string).collect()
    };
    assert!(side(0).iter().any(|line| line.contains("~ /1 · id 2 · v  changed")));
    assert!(side(1).iter().any(|line| line.contains("~ /2 · id 2 · v  changed")));
    assert!(side(1).iter().any(|line| line.contains("1 equal element 3–3")), "{:?}", side(1));
}

#[test]
fn the_place_names_the_element_and_keeps_its_end_where_there_is_little_room() {
    let of = |revenue: u32| {
        format!(
            r#"{{"filings":{{"facts":[{{"company":"Acme","year":2023}},{{"company":"Acme","year":2024,"revenue":{revenue}}},{{"company":"Beta","year":2024}}]}}}}"#
        )
    };
    let one = diff(&of(1), &of(2));
    let at = |width, sides| lines(&rows(width, 20, sides), &one);
    let told = at(80, Sides::Under);
    assert!(told.contains(&" ~ /filings/facts/1 · Acme, 2024 · revenue  changed".to_owned()), "{told:#?}");
    assert!(told.contains(&" … 2 equal members under /filings/facts/1 · Acme, 2024".to_owned()), "{told:#?}");
    assert!(at(40, Sides::One(Side::A)).contains(&" ~ …ts/1 · Acme, 2024 · revenue  changed".to_owned()));
    // Where elements shift, each side's pointer is told.
    let shifted = diff(&of(1), &of(2).replace("[{", "[{\"company\":\"Zeta\",\"year\":1},{"));
    let told = lines(&rows(90, 20, Sides::Under), &shifted);
    let expected = " ~ /filings/facts/1 · Acme, 2024 · revenue, in B /filings/facts/2/revenue  changed";
    assert!(told.contains(&expected.to_owned()), "{told:#?}");
}
