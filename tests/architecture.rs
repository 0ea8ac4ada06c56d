//! Guards the house: who may import whom, what is named only where, and how large a file may get (docs/ARCHITECTURE.md).
#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a test fails by panicking, also in its tools, and warns on its own output"
)]

use std::fs;
use std::path::{Path, PathBuf};

/// What each room may import, by the longest prefix that fits. A name ending in `!` means only that module itself
/// (its `mod` file), not what is below it.
const MAY_IMPORT: &[(&str, &[&str])] = &[
    ("domain", &["domain"]),
    ("store", &["store", "domain"]),
    ("coordinator", &["coordinator", "store", "domain"]),
    ("evidence", &["domain"]),
    ("logging", &[]),
    ("config", &["config", "tui::theme", "tui::keymap", "server", "store", "a2a", "domain"]),
    ("tui", &["tui", "coordinator", "domain"]),
    ("cli", &["cli", "config", "logging", "tui", "coordinator", "store", "evidence", "domain"]),
    ("main", &["cli"]),
    ("lib", &[]),
];

/// Inside the terminal: what each part may import of `tui`.
const INSIDE_TUI: &[(&str, &[&str])] = &[
    ("tui::action", &[]),
    ("tui::draft", &[]),
    ("tui::event", &["model", "draft"]),
    ("tui::effect", &["draft", "model"]),
    ("tui::model", &[]),
    ("tui::theme", &[]),
    ("tui::terminal", &[]),
    ("tui::keymap", &["action", "event"]),
    ("tui::input", &["event", "terminal"]),
    ("tui::widgets", &["widgets", "theme", "model", "action", "event"]),
    (
        "tui::screens",
        &["screens", "widgets", "theme", "action", "draft", "effect", "event", "model", "keymap"],
    ),
];

/// Words that may stand only in files under these paths.
const NAMED_ONLY_IN: &[(&str, &[&str])] = &[
    ("crossterm::", &["src/tui/terminal", "src/tui/input", "src/tui/keymap"]),
    ("rusqlite", &["src/store"]),
    ("axum", &["src/server"]),
    ("reqwest", &["src/remote", "src/a2a", "src/server/auth", "src/cli/login", "src/evidence"]),
    ("anyhow", &["src/cli", "src/main.rs"]),
    ("jsonschema", &["src/domain/form"]),
];

/// Lines a file may have; tests apart.
const LIMIT: usize = 500;
const MAIN_LIMIT: usize = 30;

fn sources() -> Vec<(PathBuf, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = Vec::new();
    let mut folders = vec![root.join("src")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("a folder of the source") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "rs") {
                let text = fs::read_to_string(&path).expect("a source file");
                files.push((path.strip_prefix(root).expect("below the root").to_owned(), text));
            }
        }
    }
    files.sort();
    assert!(files.len() > 20, "the source was found");
    files
}

fn is_test(path: &Path) -> bool {
    let name = path.to_string_lossy();
    ["/tests.rs", "/tests/", "/testing", "screens/stage.rs", "interleavings.rs"]
        .iter()
        .any(|t| name.contains(t))
}

/// The module a file is: `src/tui/screens/docket.rs` is `tui::screens::docket`.
fn module(path: &Path) -> String {
    let name = path.to_string_lossy();
    let name = name.trim_start_matches("src/").trim_end_matches(".rs").trim_end_matches("/mod");
    name.replace('/', "::")
}

/// The code of a file without its own test module and without comments.
fn code(text: &str) -> String {
    let text = text.split("\n#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    text.lines().filter(|l| !l.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n")
}

/// Every path below `crate::` that the file names, groups taken apart, `super` resolved.
fn imports(module: &str, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let code = code(text);
    for (at, _) in code.match_indices("crate::") {
        let rest = &code[at + "crate::".len()..];
        if code[..at].ends_with("in ") {
            continue; // `pub(in crate::…)` gives, it does not take.
        }
        found.extend(expand(rest));
    }
    let parts: Vec<&str> = module.split("::").collect();
    for statement in code.split(';') {
        let Some(at) = statement.find("use super::") else { continue };
        let path = statement[at + "use ".len()..].trim();
        let ups = path.matches("super::").count();
        let base = parts[..parts.len().saturating_sub(ups)].join("::");
        for tail in expand(path.trim_start_matches("super::")) {
            found.push(if base.is_empty() { tail } else { format!("{base}::{tail}") });
        }
    }
    found
}

/// `a::{b::c, d}` as `a::b::c` and `a::d`.
fn expand(path: &str) -> Vec<String> {
    let end =
        path.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == ':' || c == '{')).unwrap_or(path.len());
    let Some(open) = path[..end].find('{') else {
        return vec![path[..end].trim_end_matches("::").to_owned()];
    };
    let (head, mut depth, mut item, mut items) = (&path[..open], 0, String::new(), Vec::new());
    for c in path[open..].chars() {
        match c {
            '{' if depth == 0 => depth = 1,
            '{' => {
                depth += 1;
                item.push(c);
            }
            '}' if depth == 1 => break,
            '}' => {
                depth -= 1;
                item.push(c);
            }
            ',' if depth == 1 => items.push(std::mem::take(&mut item)),
            c if c.is_whitespace() => {}
            c => item.push(c),
        }
    }
    items.push(item);
    items
        .iter()
        .filter(|i| !i.is_empty())
        .flat_map(|i| expand(i))
        .map(|tail| format!("{head}{}", tail.trim_end_matches("::self")))
        .collect()
}

fn allowed(target: &str, list: &[&str]) -> bool {
    list.iter().any(|room| target == *room || target.starts_with(&format!("{room}::")))
}

#[test]
fn imports_go_one_way() {
    let mut wrong = Vec::new();
    for (path, text) in sources().iter().filter(|(p, _)| !is_test(p)) {
        let module = module(path);
        let room = module.split("::").next().unwrap_or_default();
        let Some((_, may)) = MAY_IMPORT.iter().find(|(name, _)| *name == room) else {
            wrong.push(format!("{}: room {room} is not in the table", path.display()));
            continue;
        };
        for target in imports(&module, text) {
            let lower = target.chars().next().is_some_and(char::is_lowercase);
            if lower && !allowed(&target, may) && room != "lib" {
                wrong.push(format!("{}: {room} may not import {target}", path.display()));
            }
            let inside = INSIDE_TUI
                .iter()
                .find(|(name, _)| module == *name || module.starts_with(&format!("{name}::")));
            if let (Some((own, may)), Some(part)) = (inside, target.strip_prefix("tui::")) {
                let itself = allowed(&target, &[own]);
                if !itself && !allowed(part, may) {
                    wrong.push(format!("{}: {own} may not import tui::{part}", path.display()));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn some_words_stand_only_in_their_rooms() {
    let mut wrong = Vec::new();
    for (path, text) in sources().iter().filter(|(p, _)| !is_test(p)) {
        let name = path.to_string_lossy();
        for (word, rooms) in NAMED_ONLY_IN {
            if code(text).contains(word) && !rooms.iter().any(|r| name.starts_with(r)) {
                wrong.push(format!("{name}: {word} is named only in {rooms:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn files_stay_small_and_say_what_they_are_for() {
    let mut wrong = Vec::new();
    for (path, text) in sources() {
        let lines = text.lines().count();
        let limit = if path.ends_with("src/main.rs") { MAIN_LIMIT } else { LIMIT };
        if !is_test(&path) && lines > limit {
            wrong.push(format!("{}: {lines} lines, the limit is {limit}", path.display()));
        }
        if !is_test(&path) && lines > 300 {
            println!("warning: {} has {lines} lines", path.display());
        }
        if !text.starts_with("//! ") {
            wrong.push(format!("{}: its first line does not say what it is for", path.display()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_guard_itself_sees() {
    assert_eq!(expand("a::{b::c, d::{e, self}, f}"), ["a::b::c", "a::d::e", "a::d", "a::f"]);
    let found = imports(
        "tui::app",
        "use super::event::{Event, Key};\nuse crate::store::Store;\nfn x() { crate::domain::ids::f() }",
    );
    assert_eq!(found, ["store::Store", "domain::ids::f", "tui::event::Event", "tui::event::Key"]);
    assert!(imports("a", "pub(in crate::domain) fn x() {}").is_empty());
}
