//! The index of `docs/faults.md` holds: every scenario is there, and each of its tests exists under the scenario's name.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking, also in its tools"
)]

use std::collections::BTreeSet;
use std::path::Path;

/// The scenarios that an embedded store can meet, by their numbers.
const NUMBERS: [std::ops::RangeInclusive<u32>; 6] = [1..=17, 26..=40, 43..=45, 53..=54, 56..=58, 59..=59];

/// A row of the index: number, name in snake case, tests.
struct Row {
    number: u32,
    name: String,
    tests: Vec<(String, String)>,
}

fn rows(text: &str) -> Vec<Row> {
    let lines = text.lines().filter(|l| l.starts_with("| ") && !l.starts_with("| no."));
    lines
        .map(|line| {
            let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
            let [number, name, _, tests] = cells[..] else { panic!("four columns: {line}") };
            let test = |t: &str| {
                let (file, test) = t.trim().trim_matches('`').split_once("::").unwrap();
                (file.to_owned(), test.to_owned())
            };
            Row {
                number: number.parse().unwrap(),
                name: name.replace('-', "_"),
                tests: tests.split(',').map(test).collect(),
            }
        })
        .collect()
}

/// Whether a source defines a test of this name: by its attribute, or by its name in a suite.
fn defines(source: &str, suites: &str, test: &str) -> bool {
    let is = |line: &str| {
        let line = line.trim_start();
        let line = line.strip_prefix("pub async ").unwrap_or(line);
        line.strip_prefix("fn ").and_then(|l| l.strip_prefix(test)).is_some_and(|l| l.starts_with('('))
    };
    let lines: Vec<&str> = source.lines().collect();
    let Some(at) = lines.iter().position(|l| is(l)) else { return false };
    let attributes = lines[..at].iter().rev().take_while(|l| l.trim_start().starts_with("#["));
    let attributes: Vec<&&str> = attributes.collect();
    let ignored = attributes.iter().any(|l| l.contains("ignore"));
    let in_a_suite = suites.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == test);
    !ignored && (attributes.iter().any(|l| l.trim() == "#[test]") || in_a_suite)
}

#[test]
fn every_scenario_has_a_test_of_its_name() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let read = |file: &str| std::fs::read_to_string(root.join(file)).unwrap_or_default();
    let suites = read("tests/coordinator.rs");
    let rows = rows(&read("docs/faults.md"));
    let mut wrong = Vec::new();
    for row in &rows {
        if !row.tests.iter().any(|(_, test)| *test == row.name) {
            wrong.push(format!("{}: no test is called {}", row.number, row.name));
        }
        for (file, test) in &row.tests {
            if !defines(&read(file), if file.starts_with("tests/coordinator/") { &suites } else { "" }, test)
            {
                wrong.push(format!("{}: {file} has no test {test}", row.number));
            }
        }
    }
    let told: BTreeSet<u32> = rows.iter().map(|r| r.number).collect();
    let wanted: BTreeSet<u32> = NUMBERS.into_iter().flatten().collect();
    assert_eq!(told, wanted, "the numbers of the table");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_index_sees_what_is_missing() {
    let source = "#[test]\nfn there() {}\n\n#[test]\n#[ignore = \"x\"]\nfn ignored() {}\n\nfn no_test() {}\n\
                  pub async fn suite(h: &H) {}\n#[cfg(feature = \"failpoints\")]\n#[test]\nfn behind() {}\n";
    let found = ["there", "ignored", "no_test", "suite", "behind", "ther"];
    let found: Vec<bool> = found.iter().map(|t| defines(source, "local { suite, }", t)).collect();
    assert_eq!(found, [true, false, false, true, true, false]);
    let rows = rows("| no. | a |\n|---|---|\n| 7 | a-b | c | `t.rs::a_b`, `u.rs::d` |\n");
    assert_eq!((rows[0].number, rows[0].name.as_str(), rows[0].tests.len()), (7, "a_b", 2));
}
