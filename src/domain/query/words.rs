//! The words of the filter language, and the nearest one to a word that is none of them.

/// A name as rows carry it, and what people also write for it.
pub(super) type Word = (&'static str, &'static [&'static str]);

/// Contract section 5.
pub(super) const STATES: &[Word] = &[
    ("pending", &[]),
    ("ready", &[]),
    ("running", &[]),
    ("retry_wait", &["retry"]),
    ("waiting_human", &["waiting"]),
    ("needs_review", &["review"]),
    ("succeeded", &[]),
    ("failed", &[]),
    ("denied", &[]),
    ("canceled", &["cancelled"]),
];

/// Contract section 7.
pub(super) const REASONS: &[Word] = &[
    ("needs_review", &["review"]),
    ("waiting_human", &["waiting"]),
    ("INPUT_REQUIRED", &["input"]),
    ("AUTH_REQUIRED", &["auth"]),
    ("stuck", &[]),
    ("quarantined", &["quarantine"]),
];

/// Contract section 10.
pub(super) const FAILURES: &[Word] = &[
    ("protocol", &[]),
    ("authentication", &[]),
    ("authorization", &[]),
    ("rejected", &[]),
    ("failed", &[]),
    ("delivery", &[]),
    ("unacceptable", &[]),
];

/// Every key with an example of its use and what it filters by.
pub(super) const KEYS: &[(&str, &str, &str)] = &[
    ("state", "state:needs_review,failed", "runtime state"),
    ("reason", "reason:stuck", "why it waits for a person"),
    ("trace", "trace:run-*", "trace id"),
    ("task", "task:deploy-*", "task id"),
    ("agent", "agent:planner", "agent that sent or runs it"),
    ("label", "label:team=core", "label and its value"),
    ("age", "age>2h", "how long it has waited"),
    ("since", "since:2026-01-31", "waiting since then or later"),
    ("until", "until:2d", "waiting since then or earlier"),
    ("candidates", "candidates>2", "number of candidates or questions"),
    ("failure", "failure:delivery", "kind of failure"),
    ("mine", "mine", "assigned to me"),
];

pub(super) fn names(words: &'static [Word]) -> impl Iterator<Item = &'static str> {
    words.iter().map(|&(name, _)| name)
}

/// The name a word stands for, without regard to case.
pub(super) fn find(words: &'static [Word], written: &str) -> Option<&'static str> {
    words
        .iter()
        .find(|(name, others)| {
            name.eq_ignore_ascii_case(written)
                || others.iter().any(|other| other.eq_ignore_ascii_case(written))
        })
        .map(|&(name, _)| name)
}

/// The name nearest to what was written, if it is near at all: a common beginning or few changed letters.
pub(super) fn nearest(names: impl Iterator<Item = &'static str>, written: &str) -> Option<&'static str> {
    let written: Vec<char> = written.chars().take(32).flat_map(char::to_lowercase).collect();
    if written.is_empty() {
        return None;
    }
    names
        .map(|name| {
            let name_chars: Vec<char> = name.chars().flat_map(char::to_lowercase).collect();
            let far = if name_chars.starts_with(&written) { 1 } else { distance(&name_chars, &written) };
            (far, name)
        })
        .filter(|&(far, name)| far <= 1 + name.len() / 4)
        .min_by_key(|&(far, _)| far)
        .map(|(_, name)| name)
}

/// Letters to insert, drop or replace (Levenshtein).
fn distance(a: &[char], b: &[char]) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut diagonal = i;
        let mut left = i + 1;
        for (y, cell) in b.iter().zip(row.iter_mut().skip(1)) {
            let above = *cell;
            left = (diagonal + usize::from(x != y)).min(above + 1).min(left + 1);
            diagonal = above;
            *cell = left;
        }
        if let Some(first) = row.first_mut() {
            *first = i + 1;
        }
    }
    row.last().copied().unwrap_or(a.len())
}
