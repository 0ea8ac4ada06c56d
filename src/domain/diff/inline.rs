//! What changed inside a long string: words, by imara-diff, or common ends where the strings are huge.

use std::ops::Range;

use imara_diff::{Algorithm, Diff, InternedInput, TokenSource};

/// Strings longer than this together are compared by their common ends only.
const WORDS: usize = 256 * 1024;

/// What a piece is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tag {
    /// In both strings.
    Equal,
    /// Only in the first.
    Removed,
    /// Only in the second.
    Added,
    /// Something else in each.
    Changed,
}

/// A piece of both strings, as byte ranges on character boundaries.
pub type Piece = (Tag, Range<usize>, Range<usize>);

/// Splits two strings into pieces that cover both, in order.
pub fn inline(a: &str, b: &str) -> Vec<Piece> {
    let mut out = Vec::new();
    if a.len() + b.len() > WORDS {
        ends(&mut out, a, b);
        return out;
    }
    let input = InternedInput::new(Words(a), Words(b));
    let mut diff = Diff::compute(Algorithm::Myers, &input);
    diff.postprocess_no_heuristic(&input);
    let lengths = |tokens: &[imara_diff::Token], range: Range<u32>| -> usize {
        let tokens = tokens.get(range.start as usize..range.end as usize).unwrap_or_default();
        tokens.iter().map(|&token| input.interner[token].len()).sum()
    };
    let (mut token, mut at) = (0, (0, 0));
    for hunk in diff.hunks() {
        let equal = lengths(&input.before, token..hunk.before.start);
        push(&mut out, &mut at, equal, equal, true);
        token = hunk.before.end;
        let (removed, added) = (lengths(&input.before, hunk.before), lengths(&input.after, hunk.after));
        push(&mut out, &mut at, removed, added, false);
    }
    let rest = a.len() - at.0;
    push(&mut out, &mut at, rest, rest, true);
    out
}

fn push(out: &mut Vec<Piece>, at: &mut (usize, usize), a: usize, b: usize, equal: bool) {
    let tag = match (equal, a, b) {
        (_, 0, 0) => return,
        (true, ..) => Tag::Equal,
        (false, 0, _) => Tag::Added,
        (false, _, 0) => Tag::Removed,
        (false, ..) => Tag::Changed,
    };
    out.push((tag, at.0..at.0 + a, at.1..at.1 + b));
    *at = (at.0 + a, at.1 + b);
}

/// The common start, what differs, the common end.
fn ends(out: &mut Vec<Piece>, a: &str, b: &str) {
    let same = a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count();
    let start = a.floor_char_boundary(same);
    let rest = a.len().min(b.len()) - start;
    let same = a.bytes().rev().zip(b.bytes().rev()).take(rest).take_while(|(a, b)| a == b).count();
    let end = a.len() - a.ceil_char_boundary(a.len() - same);
    let mut at = (0, 0);
    push(out, &mut at, start, start, true);
    push(out, &mut at, a.len() - start - end, b.len() - start - end, false);
    push(out, &mut at, end, end, true);
}

/// Words, runs of white space, and every other character for itself.
struct Words<'t>(&'t str);

impl<'t> TokenSource for Words<'t> {
    type Token = &'t str;
    type Tokenizer = Tokens<'t>;

    fn tokenize(&self) -> Tokens<'t> {
        Tokens(self.0)
    }

    fn estimate_tokens(&self) -> u32 {
        u32::try_from(self.0.len() / 4).unwrap_or(u32::MAX)
    }
}

struct Tokens<'t>(&'t str);

impl<'t> Iterator for Tokens<'t> {
    type Item = &'t str;

    fn next(&mut self) -> Option<&'t str> {
        let class =
            |ch: char| if ch.is_alphanumeric() || ch == '_' { 0 } else { 1 + u8::from(ch.is_whitespace()) };
        let first = self.0.chars().next()?;
        let end = match class(first) {
            1 => first.len_utf8(),
            kind => self.0.find(|ch| class(ch) != kind).unwrap_or(self.0.len()),
        };
        let (token, rest) = self.0.split_at_checked(end)?;
        self.0 = rest;
        Some(token)
    }
}
