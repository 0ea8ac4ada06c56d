//! What could be written at the cursor.

use std::ops::Range;

use super::words::{self, Word};

/// One way to go on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Completion {
    /// The bytes of the input it replaces.
    pub replace: Range<usize>,
    /// What to put there.
    pub text: String,
    /// What it means.
    pub about: &'static str,
}

const DURATIONS: &[&str] = &["15m", "1h", "4h", "1d", "3d", "1w"];

pub(super) fn completions(input: &str, cursor: usize) -> Vec<Completion> {
    let cursor = input.floor_char_boundary(cursor.min(input.len()));
    let before = input.get(..cursor).unwrap_or_default();
    if before.matches('"').count() % 2 == 1 {
        return Vec::new();
    }
    let word = before.rsplit(char::is_whitespace).next().unwrap_or_default();
    let start = before.len() - word.len();
    let (start, word) = match word.strip_prefix('-') {
        Some(rest) => (start + 1, rest),
        None => (start, word),
    };
    let Some(sign) = word.find([':', '<', '>', '=']) else { return keys(start..cursor, word) };
    let (key, value) = word.split_at(sign);
    let value_at = start + sign + 1;
    let value = value.get(1..).unwrap_or_default();
    let part_at = value.rfind(',').map_or(0, |at| at + 1);
    let part = value.get(part_at..).unwrap_or_default();
    let at = value_at + part_at..cursor;
    match key.to_ascii_lowercase().as_str() {
        "state" => values(at, part, words::STATES, "state"),
        "reason" => values(at, part, words::REASONS, "reason"),
        "failure" => values(at, part, words::FAILURES, "failure"),
        "age" | "since" | "until" => durations(at, part),
        _ => Vec::new(),
    }
}

fn keys(at: Range<usize>, word: &str) -> Vec<Completion> {
    let begins = |name: &str| name.starts_with(&word.to_ascii_lowercase());
    let completion = |&(name, _, about): &(&'static str, &str, &'static str)| {
        let sign = match name {
            "mine" => "",
            "age" | "candidates" => ">",
            _ => ":",
        };
        Completion { replace: at.clone(), text: format!("{name}{sign}"), about }
    };
    words::KEYS.iter().filter(|(name, ..)| begins(name)).map(completion).collect()
}

fn values(at: Range<usize>, part: &str, words: &'static [Word], about: &'static str) -> Vec<Completion> {
    let part = part.to_ascii_lowercase();
    words::names(words)
        .filter(|name| name.to_ascii_lowercase().starts_with(&part))
        .map(|name| Completion { replace: at.clone(), text: name.to_owned(), about })
        .collect()
}

fn durations(at: Range<usize>, part: &str) -> Vec<Completion> {
    let fitting = DURATIONS.iter().filter(|text| text.starts_with(part));
    fitting
        .map(|&text| Completion { replace: at.clone(), text: text.to_owned(), about: "duration" })
        .collect()
}
