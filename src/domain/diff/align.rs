//! Aligns two arrays by the hashes of their elements, in time and stack bounded for any input.
//!
//! First common ends are cut off, then elements that occur exactly once on both sides are matched (the longest
//! run of them that keeps its order, as in patience diff). What lies between those anchors goes to imara-diff.
//! The anchors matter: the histogram algorithm alone recurses as deep as a hostile input wants.

use imara_diff::{Algorithm, Diff, Token};

use super::DiffError;

/// Gaps up to this many elements are aligned by histogram, whose recursion then stays below a thousand calls.
const HISTOGRAM: usize = 1 << 16;
/// Gaps up to this many elements are aligned by Myers with its heuristics; larger ones are paired by position.
const MYERS: usize = 1 << 20;

/// What comes next: `equal` elements of both sides, then a run of A that stands against a run of B.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Ops {
    pub(super) equal: usize,
    pub(super) removed: usize,
    pub(super) added: usize,
}

/// A stretch of both sides, as positions.
#[derive(Clone, Copy)]
struct Gap {
    a: (usize, usize),
    b: (usize, usize),
}

/// Aligns two lists of hashes. The ops cover both lists wholly and in order.
pub(super) fn align(a: &[u64], b: &[u64], cancelled: impl Fn() -> bool) -> Result<Vec<Ops>, DiffError> {
    let mut out = Script { ops: Vec::new() };
    let start = a.iter().zip(b).take_while(|(a, b)| a == b).count();
    let rest = a.len().min(b.len()) - start;
    let end = a.iter().rev().zip(b.iter().rev()).take(rest).take_while(|(a, b)| a == b).count();
    let (middle_a, middle_b) = (slice(a, start, a.len() - end), slice(b, start, b.len() - end));
    out.equal(start);
    let (tokens_a, tokens_b, kinds) = intern(middle_a, middle_b);
    let mut at = (0, 0);
    for (next_a, next_b) in anchors(&tokens_a, &tokens_b, kinds) {
        // Anchors that follow one another, the common case, have no gap between them.
        if (next_a, next_b) != at {
            if cancelled() {
                return Err(DiffError::Cancelled);
            }
            out.gap(&tokens_a, &tokens_b, Gap { a: (at.0, next_a), b: (at.1, next_b) });
        }
        out.equal(1);
        at = (next_a + 1, next_b + 1);
    }
    out.gap(&tokens_a, &tokens_b, Gap { a: (at.0, tokens_a.len()), b: (at.1, tokens_b.len()) });
    out.equal(end);
    Ok(out.ops)
}

fn slice<T>(list: &[T], from: usize, to: usize) -> &[T] {
    list.get(from..to).unwrap_or_default()
}

/// Small numbers for hashes, the same on both sides, and how many there are. By sorting: no hash table to flood.
fn intern(a: &[u64], b: &[u64]) -> (Vec<Token>, Vec<Token>, u32) {
    let mut kinds: Vec<u64> = a.iter().chain(b).copied().collect();
    kinds.sort_unstable();
    kinds.dedup();
    let token = |hash: &u64| Token(kinds.binary_search(hash).ok().and_then(|at| u32::try_from(at).ok()).unwrap_or(0));
    (a.iter().map(token).collect(), b.iter().map(token).collect(), u32::try_from(kinds.len()).unwrap_or(u32::MAX))
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

struct Script {
    ops: Vec<Ops>,
}

impl Script {
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

    fn gap(&mut self, a: &[Token], b: &[Token], gap: Gap) {
        let (a, b) = (slice(a, gap.a.0, gap.a.1), slice(b, gap.b.0, gap.b.1));
        let most = a.len().max(b.len());
        if a.is_empty() || b.is_empty() || most > MYERS {
            return self.replaced(a.len(), b.len());
        }
        let algorithm = if most <= HISTOGRAM { Algorithm::Histogram } else { Algorithm::Myers };
        let (a, b, kinds) = renumber(a, b);
        let mut diff = Diff::default();
        diff.compute_with(algorithm, &a, &b, kinds);
        let mut at = 0;
        for hunk in diff.hunks() {
            self.equal((hunk.before.start - at) as usize);
            self.replaced(hunk.before.len(), hunk.after.len());
            at = hunk.before.end;
        }
        self.equal(a.len().saturating_sub(at as usize));
    }
}

/// Tokens counted from 0 within one gap: the histogram makes tables as long as the largest token.
fn renumber(a: &[Token], b: &[Token]) -> (Vec<Token>, Vec<Token>, u32) {
    let widen = |list: &[Token]| list.iter().map(|token| u64::from(token.0)).collect::<Vec<_>>();
    intern(&widen(a), &widen(b))
}
