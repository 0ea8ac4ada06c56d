//! Aligns two arrays by the hashes of their elements, in time and stack bounded for any input.
//!
//! Common ends are cut off; then what occurs exactly once on both sides is matched (the longest run of it that
//! keeps its order, as in patience diff): single elements first, then, in what lies between, short and longer
//! sequences. Small gaps go to imara-diff; on large ones it takes quadratic time (two minutes for 300 000 random
//! bits) and recurses as deep as a hostile input wants, so large gaps without an anchor are tried for a
//! few edits and else paired by position.

use imara_diff::{Algorithm, Diff, Token};

use super::few::{Edit, few};
use super::{DiffError, hash};

/// Gaps of at most this many elements are aligned by imara-diff.
const SMALL: usize = 1 << 11;
/// How many elements in a row have to be unique together to be an anchor, level by level.
const WIDTHS: [usize; 3] = [1, 6, 32];

/// What comes next: `equal` elements of both sides, then a run of A that stands against a run of B.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Ops {
    pub(super) equal: usize,
    pub(super) removed: usize,
    pub(super) added: usize,
}

/// Aligns two lists of hashes. The ops cover both lists wholly and in order.
pub(super) fn align(a: &[u64], b: &[u64], cancelled: impl Fn() -> bool) -> Result<Vec<Ops>, DiffError> {
    let mut script = Script { ops: Vec::new(), cancelled };
    script.gap(a, b, &WIDTHS)?;
    Ok(script.ops)
}

fn slice<T>(list: &[T], from: usize, to: usize) -> &[T] {
    list.get(from..to).unwrap_or_default()
}

/// Small numbers for hashes, the same on both sides, and how many there are. By sorting: no hash table to flood.
fn intern(a: &[u64], b: &[u64]) -> (Vec<Token>, Vec<Token>, u32) {
    let mut sorted: Vec<(u64, u32)> = a.iter().chain(b).copied().zip(0u32..).collect();
    sorted.sort_unstable();
    let mut tokens = vec![Token(0); sorted.len()];
    let (mut kinds, mut last) = (0u32, None);
    for (hash, at) in sorted {
        kinds += u32::from(last != Some(hash));
        last = Some(hash);
        if let Some(token) = tokens.get_mut(at as usize) {
            *token = Token(kinds - 1);
        }
    }
    let right = tokens.split_off(a.len());
    (tokens, right, kinds)
}

/// Whether any token is on both sides.
fn anything_shared(a: &[Token], b: &[Token], kinds: u32) -> bool {
    let mut seen = vec![false; kinds as usize];
    for token in a {
        if let Some(seen) = seen.get_mut(token.0 as usize) {
            *seen = true;
        }
    }
    b.iter().any(|token| seen.get(token.0 as usize) == Some(&true))
}

/// Positions in A and B of tokens that occur once on each side, the longest list ascending on both.
fn anchors(a: &[Token], b: &[Token], kinds: u32) -> Vec<(usize, usize)> {
    const MANY: u32 = u32::MAX;
    const NONE: u32 = u32::MAX - 1;
    let place = |list: &[Token]| {
        let mut places = vec![NONE; kinds as usize];
        for (at, token) in (0u32..).zip(list) {
            if let Some(place) = places.get_mut(token.0 as usize) {
                *place = if *place == NONE { at } else { MANY };
            }
        }
        places
    };
    let (places_a, places_b) = (place(a), place(b));
    let once = |places: &[u32], token: Token| places.get(token.0 as usize).copied().filter(|&at| at < NONE);
    let pairs: Vec<(u32, u32)> =
        a.iter().filter_map(|&token| Some((once(&places_a, token)?, once(&places_b, token)?))).collect();
    // Longest ascending run by piles: each pile keeps the pair with the smallest B so far, each pair its
    // predecessor.
    let mut piles: Vec<u32> = Vec::new();
    let mut before: Vec<u32> = Vec::with_capacity(pairs.len());
    let right = |index: u32| pairs.get(index as usize).map_or(0, |pair| pair.1);
    for (index, pair) in (0u32..).zip(&pairs) {
        let pile = piles.partition_point(|&top| right(top) < pair.1);
        before.push(pile.checked_sub(1).and_then(|pile| piles.get(pile)).copied().unwrap_or(NONE));
        match piles.get_mut(pile) {
            Some(top) => *top = index,
            None => piles.push(index),
        }
    }
    let mut run = Vec::with_capacity(piles.len());
    let mut at = piles.last().copied();
    while let Some(pair) = at.and_then(|at| pairs.get(at as usize)) {
        run.push((pair.0 as usize, pair.1 as usize));
        at = at.and_then(|at| before.get(at as usize)).copied();
    }
    run.reverse();
    run
}

struct Script<C> {
    ops: Vec<Ops>,
    cancelled: C,
}

impl<C: Fn() -> bool> Script<C> {
    fn check(&self) -> Result<(), DiffError> {
        if (self.cancelled)() { Err(DiffError::Cancelled) } else { Ok(()) }
    }

    fn equal(&mut self, count: usize) {
        match self.ops.last_mut() {
            _ if count == 0 => {}
            Some(last) if last.removed + last.added == 0 => last.equal += count,
            _ => self.ops.push(Ops { equal: count, ..Ops::default() }),
        }
    }

    fn replaced(&mut self, removed: usize, added: usize) {
        match self.ops.last_mut() {
            Some(last) => (last.removed, last.added) = (last.removed + removed, last.added + added),
            None => self.ops.push(Ops { removed, added, ..Ops::default() }),
        }
    }

    /// Aligns what lies between two anchors. Recursion ends with the widths.
    fn gap(&mut self, a: &[u64], b: &[u64], widths: &[usize]) -> Result<(), DiffError> {
        let start = a.iter().zip(b).take_while(|(a, b)| a == b).count();
        let (a, b) = (a.get(start..).unwrap_or_default(), b.get(start..).unwrap_or_default());
        let end = a.iter().rev().zip(b.iter().rev()).take_while(|(a, b)| a == b).count();
        let (a, b) = (slice(a, 0, a.len() - end), slice(b, 0, b.len() - end));
        self.equal(start);
        if a.is_empty() || b.is_empty() {
            self.replaced(a.len(), b.len());
        } else if a.len().max(b.len()) <= SMALL {
            self.small(a, b)?;
        } else if let Some((&width, wider)) = widths.split_first() {
            self.between_anchors(a, b, width, wider)?;
        } else {
            self.rest(a, b)?;
        }
        self.equal(end);
        Ok(())
    }

    fn between_anchors(
        &mut self,
        a: &[u64],
        b: &[u64],
        width: usize,
        wider: &[usize],
    ) -> Result<(), DiffError> {
        self.check()?;
        let found = {
            let (tokens_a, tokens_b, kinds) = intern(&sequences(a, width), &sequences(b, width));
            if !anything_shared(&tokens_a, &tokens_b, kinds) {
                return self.rest(a, b);
            }
            anchors(&tokens_a, &tokens_b, kinds)
        };
        let mut at = (0, 0);
        for (next_a, next_b) in found {
            // Anchors that follow one another, the common case, have no gap between them.
            if (next_a, next_b) != at {
                self.gap(slice(a, at.0, next_a), slice(b, at.1, next_b), wider)?;
            }
            self.equal(1);
            at = (next_a + 1, next_b + 1);
        }
        self.gap(slice(a, at.0, a.len()), slice(b, at.1, b.len()), wider)
    }

    /// A large gap in which nothing is unique: a few edits, or by position.
    fn rest(&mut self, a: &[u64], b: &[u64]) -> Result<(), DiffError> {
        self.check()?;
        let Some(edits) = few(a, b) else {
            self.replaced(a.len(), b.len());
            return Ok(());
        };
        for edit in edits {
            match edit {
                Edit::Equal(count) => self.equal(count),
                Edit::Remove => self.replaced(1, 0),
                Edit::Add => self.replaced(0, 1),
            }
        }
        Ok(())
    }

    fn small(&mut self, a: &[u64], b: &[u64]) -> Result<(), DiffError> {
        self.check()?;
        let (tokens_a, tokens_b, kinds) = intern(a, b);
        let mut diff = Diff::default();
        diff.compute_with(Algorithm::Histogram, &tokens_a, &tokens_b, kinds);
        let mut at = 0;
        for hunk in diff.hunks() {
            self.equal((hunk.before.start - at) as usize);
            self.replaced(hunk.before.len(), hunk.after.len());
            at = hunk.before.end;
        }
        self.equal(a.len().saturating_sub(at as usize));
        Ok(())
    }
}

/// The hash of each `width` elements in a row.
fn sequences(list: &[u64], width: usize) -> Vec<u64> {
    list.windows(width).map(|row| row.iter().fold(0, |sum, &element| hash::mix(sum, element))).collect()
}
