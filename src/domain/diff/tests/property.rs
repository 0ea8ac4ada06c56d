//! Properties of every diff, against the reference model.

use proptest::prelude::*;

use super::model::{parse, patch, plain};
use super::{Counts, diff};
use crate::domain::diff::few::{Edit, few};
use crate::domain::diff::{Kind, Lines, Side, inline, text};

/// Number literals and the value each stands for.
const NUMBERS: [(&str, u8); 14] = [
    ("1", 1),
    ("1.0", 1),
    ("1e0", 1),
    ("10e-1", 1),
    ("100", 2),
    ("1e2", 2),
    ("0", 3),
    ("-0", 3),
    ("0.00", 3),
    ("9007199254740993", 4),
    ("9007199254740992", 5),
    ("0.1", 6),
    ("1e400", 7),
    ("-1", 8),
];

fn same(a: &str, b: &str) -> bool {
    let value = |literal| NUMBERS.iter().find(|(known, _)| *known == literal).unwrap().1;
    value(a) == value(b)
}

fn scalar() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => proptest::sample::select(NUMBERS.to_vec()).prop_map(|(literal, _)| literal.to_owned()),
        1 => proptest::sample::select(vec!["null", "true", "false", "[]", "{}", "{ }", "\"\""]).prop_map(str::to_owned),
        2 => "[a-c/~é\"\\\\]{0,3}".prop_map(|text| serde_json::to_string(&text).unwrap()),
    ]
}

fn members(inner: BoxedStrategy<String>) -> BoxedStrategy<String> {
    let name = proptest::sample::select(vec!["", "a", "A", "a/b", "m~n", "~1", "é", "0", "-", " "]);
    (proptest::collection::btree_map(name, inner, 0..6), any::<bool>(), any::<bool>())
        .prop_map(|(all, reverse, spaced)| {
            let colon = if spaced { " : " } else { ":" };
            let mut all: Vec<_> = all.iter().map(|(name, value)| format!("{name:?}{colon}{value}")).collect();
            if reverse {
                all.reverse();
            }
            format!("{{{}}}", all.join(if spaced { ",\n  " } else { "," }))
        })
        .boxed()
}

fn elements(inner: BoxedStrategy<String>) -> BoxedStrategy<String> {
    proptest::collection::vec(inner, 0..8).prop_map(|all| format!("[{}]", all.join(","))).boxed()
}

fn objects() -> impl Strategy<Value = String> {
    scalar().prop_recursive(4, 40, 6, |inner| members(inner.boxed()))
}

fn json() -> impl Strategy<Value = String> {
    scalar().prop_recursive(4, 60, 8, |inner| {
        prop_oneof![members(inner.clone().boxed()), elements(inner.boxed())]
    })
}

/// A text and a near relative of it: elements inserted, removed, replaced in its top array.
fn relatives() -> impl Strategy<Value = (String, String)> {
    let edit = (0u8..3, any::<proptest::sample::Index>(), json());
    (proptest::collection::vec(json(), 1..12), proptest::collection::vec(edit, 0..4)).prop_map(
        |(a, edits)| {
            let mut b = a.clone();
            for (kind, at, value) in edits {
                let at = at.index(b.len() + 1);
                match kind {
                    0 => b.insert(at, value),
                    1 if at < b.len() => drop(b.remove(at)),
                    _ if at < b.len() => b[at] = value,
                    _ => {}
                }
            }
            (format!("[{}]", a.join(",")), format!("[{}]", b.join(",")))
        },
    )
}

fn swapped(counts: Counts) -> Counts {
    Counts { added: counts.removed, removed: counts.added, ..counts }
}

/// Every element of both arrays is either in a row or in a fold, once.
fn covers(a: &str, b: &str) -> Result<(), TestCaseError> {
    let diff = diff(a, b);
    prop_assert_eq!(patch(a, &diff), parse(b));
    for row in diff.rows().iter().filter(|row| row.kind == Kind::Equal) {
        prop_assert!(row.fold > 0);
    }
    for &at in diff.differences() {
        let row = &diff.rows()[at as usize];
        prop_assert_eq!(diff.pointer(row).matches('/').count(), usize::from(row.depth));
        prop_assert_eq!(row.a.is_none(), row.kind == Kind::Added);
        prop_assert_eq!(row.b.is_none(), row.kind == Kind::Removed);
        if row.kind == Kind::Changed {
            prop_assert_ne!(diff.value(row, Side::A), diff.value(row, Side::B));
        }
    }
    Ok(())
}

proptest! {
    #[test]
    fn the_rows_applied_to_a_give_b((a, b) in (json(), json())) {
        covers(&a, &b)?;
    }

    #[test]
    fn the_rows_of_near_relatives_applied_to_a_give_b((a, b) in relatives()) {
        covers(&a, &b)?;
        covers(&b, &a)?;
    }

    #[test]
    fn a_text_does_not_differ_from_itself(a in json()) {
        let diff = diff(&a, &a);
        prop_assert!(diff.differences().is_empty());
        prop_assert_eq!(diff.rows().len(), 1);
        prop_assert!(diff.same_bytes() && diff.same_value());
    }

    #[test]
    fn a_text_does_not_differ_from_itself_written_otherwise(a in json()) {
        let spaced = a.replace(',', ", ").replace(':', ": ");
        // White space inside strings would be another value.
        prop_assume!(parse(&a) == parse(&spaced));
        let diff = diff(&a, &spaced);
        prop_assert!(diff.differences().is_empty());
        prop_assert_eq!(diff.spellings().whitespace, a != spaced);
    }

    #[test]
    fn objects_agree_with_the_plain_differ((a, b) in (objects(), objects())) {
        let diff = diff(&a, &b);
        let row = |at: &u32| { let row = &diff.rows()[*at as usize]; (diff.pointer(row), row.kind) };
        let mut found: Vec<_> = diff.differences().iter().map(row).collect();
        found.sort_by(|a, b| a.0.cmp(&b.0));
        prop_assert_eq!(found, plain(&parse(&a), &parse(&b), &same));
        prop_assert_eq!(swapped(diff.counts()), super::diff(&b, &a).counts());
    }

    #[test]
    fn arrays_never_have_more_rows_than_by_position((a, b) in (proptest::collection::vec(scalar(), 1..12), proptest::collection::vec(scalar(), 1..12))) {
        let (a, b) = (format!("[{}]", a.join(",")), format!("[{}]", b.join(",")));
        let diff = diff(&a, &b);
        prop_assert_eq!(swapped(diff.counts()).spelling, diff.counts().spelling);
        if parse(&a) == parse(&b) {
            prop_assert!(diff.differences().is_empty());
        } else {
            prop_assert!(!diff.differences().is_empty());
        }
    }

    #[test]
    fn a_few_edits_are_the_fewest((a, b) in (proptest::collection::vec(0u64..3, 0..20), proptest::collection::vec(0u64..3, 0..20))) {
        let script = few(&a, &b).unwrap();
        let (mut left, mut right, mut edits) = (a.iter(), b.iter(), 0);
        for edit in script {
            match edit {
                Edit::Equal(count) => (0..count).for_each(|_| assert_eq!(left.next().unwrap(), right.next().unwrap())),
                Edit::Remove => edits += usize::from(left.next().is_some()),
                Edit::Add => edits += usize::from(right.next().is_some()),
            }
        }
        prop_assert!(left.next().is_none() && right.next().is_none());
        // The textbook table of longest common subsequences.
        let mut table = vec![vec![0usize; b.len() + 1]; a.len() + 1];
        for i in 0..a.len() {
            for j in 0..b.len() {
                table[i + 1][j + 1] = if a[i] == b[j] { table[i][j] + 1 } else { table[i][j + 1].max(table[i + 1][j]) };
            }
        }
        prop_assert_eq!(edits, a.len() + b.len() - 2 * table[a.len()][b.len()]);
    }

    #[test]
    fn unescaping_agrees_with_serde(content in any::<String>()) {
        let literal = serde_json::to_string(&content).unwrap();
        prop_assert_eq!(&*text::unescape(literal.as_bytes()), content.as_bytes());
        let ascii: String = content.encode_utf16().map(|unit| format!("\\u{unit:04x}")).collect();
        let literal = format!("\"{ascii}\"");
        prop_assert_eq!(&*text::unescape(literal.as_bytes()), content.as_bytes());
    }

    #[test]
    fn any_bytes_are_refused_or_compared(a in proptest::collection::vec(any::<u8>(), 0..40), b in "[\\[\\]{}:,\"\\\\u0-9eE.+\\-tfn a]{0,30}") {
        let ours = super::attempt(&a, b.as_bytes()).is_ok();
        // Where we accept, serde_json accepts too.
        let theirs = |text: &[u8]| serde_json::from_slice::<&serde_json::value::RawValue>(text).is_ok();
        prop_assert!(!ours || theirs(&a) && theirs(b.as_bytes()));
        let alone = super::attempt(b.as_bytes(), b.as_bytes()).is_ok();
        prop_assert!(!alone || theirs(b.as_bytes()));
    }

    #[test]
    fn pieces_of_strings_cover_both((a, b) in ("[a-c é😀.]{0,20}", "[a-c é😀.]{0,20}")) {
        let (mut left, mut right) = (String::new(), String::new());
        for (tag, l, r) in inline(&a, &b) {
            prop_assert_eq!(a[l.clone()] == b[r.clone()], tag == crate::domain::diff::Tag::Equal);
            left.push_str(&a[l]);
            right.push_str(&b[r]);
        }
        prop_assert_eq!((left, right), (a, b));
    }
}

proptest! {
    #[test]
    fn an_element_is_on_the_way_to_its_row((a, b) in relatives()) {
        let diff = diff(&a, &b);
        for row in diff.rows() {
            for side in [Side::A, Side::B] {
                let Some(element) = diff.element(row, side) else { continue };
                let own = if side == Side::A { diff.pointer_a(row) } else { diff.pointer_b(row) };
                let whole = match &element.inside {
                    None => element.pointer.clone(),
                    Some(inside) => format!("{}/{inside}", element.pointer),
                };
                prop_assert_eq!(whole, own.unwrap_or_else(|| diff.pointer(row)));
                prop_assert!(!element.name.is_empty() && element.pointer.ends_with(|c: char| c.is_ascii_digit()));
            }
        }
    }

    #[test]
    fn a_line_is_marked_where_a_difference_is_on_it((a, b) in relatives()) {
        let diff = diff(&a, &b);
        for (side, text) in [(Side::A, &a), (Side::B, &b)] {
            let lines = Lines::pretty(std::sync::Arc::from(text.as_bytes())).unwrap();
            for line in 0..lines.len() {
                let span = lines.span(line).unwrap();
                let on_it = |at: &&u32| {
                    let own = diff.rows()[**at as usize].span(side);
                    own.is_some_and(|own| own.start < span.end && own.end > span.start)
                };
                let expected: Vec<_> = diff.differences().iter().filter(on_it).collect();
                let found = diff.difference_in(side, span);
                prop_assert_eq!(found.is_some(), !expected.is_empty());
                prop_assert!(found.is_none_or(|row| expected.iter().any(|at| diff.rows()[**at as usize] == *row)));
            }
        }
    }
}
