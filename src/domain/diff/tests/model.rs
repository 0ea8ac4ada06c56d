//! A small JSON of its own: a plain recursive parser, a patcher and a plain recursive differ, as references.

use std::collections::BTreeMap;

use crate::domain::diff::{Diff, Kind, Side};

/// A value; numbers keep their literal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Json {
    Word(String),
    Number(String),
    Text(String),
    Array(Vec<Json>),
    Object(BTreeMap<String, Json>),
}

pub(super) fn parse(text: &str) -> Json {
    let (value, rest) = value(text.trim_start());
    assert_eq!(rest.trim(), "");
    value
}

fn value(text: &str) -> (Json, &str) {
    let ends = |c: char| c.is_whitespace() || matches!(c, ',' | ']' | '}');
    match text.as_bytes()[0] {
        b'"' => {
            let (text, rest) = string(text);
            (Json::Text(text), rest)
        }
        b'[' => {
            let (mut rest, mut all) = (text[1..].trim_start(), vec![]);
            while !rest.starts_with(']') {
                let (one, after) = value(rest);
                all.push(one);
                rest = after.trim_start().trim_start_matches(',').trim_start();
            }
            (Json::Array(all), &rest[1..])
        }
        b'{' => {
            let (mut rest, mut all) = (text[1..].trim_start(), BTreeMap::new());
            while !rest.starts_with('}') {
                let (name, after) = string(rest);
                let (one, after) = value(after.trim_start()[1..].trim_start());
                assert!(all.insert(name, one).is_none());
                rest = after.trim_start().trim_start_matches(',').trim_start();
            }
            (Json::Object(all), &rest[1..])
        }
        first => {
            let end = text.find(ends).unwrap_or(text.len());
            let literal = text[..end].to_owned();
            (
                if first.is_ascii_lowercase() { Json::Word(literal) } else { Json::Number(literal) },
                &text[end..],
            )
        }
    }
}

fn string(text: &str) -> (String, &str) {
    // serde_json is the reference for escapes.
    let mut stream = serde_json::Deserializer::from_str(text).into_iter::<String>();
    let found = stream.next().unwrap().unwrap();
    (found, &text[stream.byte_offset()..])
}

fn steps(pointer: &str) -> Vec<String> {
    pointer.split('/').skip(1).map(|step| step.replace("~1", "/").replace("~0", "~")).collect()
}

fn parent<'j>(root: &'j mut Json, steps: &[String]) -> &'j mut Json {
    steps.iter().take(steps.len() - 1).fold(root, |at, step| match at {
        Json::Array(all) => &mut all[step.parse::<usize>().unwrap()],
        Json::Object(all) => all.get_mut(step).unwrap(),
        _ => panic!("no container at {step}"),
    })
}

/// Applies the rows to A: changes by A's pointers, then removals from the end, then additions by B's pointers.
pub(super) fn patch(a: &str, diff: &Diff) -> Json {
    let mut root = parse(a);
    let rows = || diff.rows().iter();
    let value = |row, side| parse(std::str::from_utf8(diff.value(row, side).unwrap()).unwrap());
    for row in rows().filter(|row| matches!(row.kind, Kind::Changed | Kind::Spelling)) {
        let steps = steps(&diff.pointer_a(row).unwrap());
        let (old, new) = (value(row, Side::A), value(row, Side::B));
        let Some(last) = steps.last() else { return new };
        let place = match parent(&mut root, &steps) {
            Json::Array(all) => &mut all[last.parse::<usize>().unwrap()],
            Json::Object(all) => all.get_mut(last).unwrap(),
            _ => panic!("no container"),
        };
        assert_eq!(std::mem::replace(place, new), old);
    }
    for row in rows().rev().filter(|row| row.kind == Kind::Removed) {
        let steps = steps(&diff.pointer_a(row).unwrap());
        let last = steps.last().unwrap();
        let old = match parent(&mut root, &steps) {
            Json::Array(all) => all.remove(last.parse().unwrap()),
            Json::Object(all) => all.remove(last).unwrap(),
            _ => panic!("no container"),
        };
        assert_eq!(old, value(row, Side::A));
    }
    for row in rows().filter(|row| row.kind == Kind::Added) {
        let steps = steps(&diff.pointer_b(row).unwrap());
        let last = steps.last().unwrap();
        match parent(&mut root, &steps) {
            Json::Array(all) => all.insert(last.parse().unwrap(), value(row, Side::B)),
            Json::Object(all) => assert!(all.insert(last.clone(), value(row, Side::B)).is_none()),
            _ => panic!("no container"),
        }
    }
    root
}

/// The differences of two values by the definition, arrays by position: pointer and kind, sorted.
/// `same` decides whether two number literals have one value.
pub(super) fn plain(a: &Json, b: &Json, same: &impl Fn(&str, &str) -> bool) -> Vec<(String, Kind)> {
    let mut out = Vec::new();
    descend(String::new(), a, b, same, &mut out);
    out.sort_by(|a, b| a.0.cmp(&b.0));
    out
}

fn descend(
    at: String,
    a: &Json,
    b: &Json,
    same: &impl Fn(&str, &str) -> bool,
    out: &mut Vec<(String, Kind)>,
) {
    let step = |name: &str| format!("{at}/{}", name.replace('~', "~0").replace('/', "~1"));
    match (a, b) {
        (a, b) if a == b => {}
        (Json::Number(a), Json::Number(b)) if same(a, b) => out.push((at, Kind::Spelling)),
        (Json::Object(a), Json::Object(b)) if !a.is_empty() && !b.is_empty() => {
            for (name, value) in a {
                match b.get(name) {
                    Some(other) => descend(step(name), value, other, same, out),
                    None => out.push((step(name), Kind::Removed)),
                }
            }
            out.extend(b.keys().filter(|name| !a.contains_key(*name)).map(|name| (step(name), Kind::Added)));
        }
        (Json::Array(a), Json::Array(b)) if a.len() == b.len() && !a.is_empty() => {
            for (index, (a, b)) in a.iter().zip(b).enumerate() {
                descend(step(&index.to_string()), a, b, same, out);
            }
        }
        _ => out.push((at, Kind::Changed)),
    }
}
