//! Pairs the elements of one unmatched run by likeness, so that an element that changed meets its former self
//! even where others were inserted or removed beside it.

/// Runs with more combinations than this are paired in order.
const COMBINATIONS: usize = 1 << 12;

/// What an element is made of: its type, and the sorted hashes of its members or elements.
pub(super) struct Kin {
    pub(super) first: u8,
    pub(super) parts: Vec<u64>,
}

impl Kin {
    /// Any pair is better than none, the same type better than another, and every common part counts double.
    fn likeness(&self, other: &Self) -> u32 {
        let mut shared = 0;
        let mut rest = other.parts.iter().peekable();
        for part in &self.parts {
            while rest.next_if(|other| *other < part).is_some() {}
            shared += u32::from(rest.next_if_eq(&part).is_some());
        }
        1 + u32::from(self.first == other.first) + 2 * shared
    }
}

/// Whether a run of so many elements on each side is worth the look: small, and not one against one.
pub(super) fn worthwhile(a: usize, b: usize) -> bool {
    a > 0 && b > 0 && a + b > 2 && a.saturating_mul(b) <= COMBINATIONS
}

/// One step through a run: an element of A, of B, or one of each.
pub(super) type Pair = (bool, bool);

/// Pairs in order, what is left over behind them.
pub(super) fn in_order(a: usize, b: usize) -> impl Iterator<Item = Pair> {
    (0..a.max(b)).map(move |at| (at < a, at < b))
}

/// Pairs so that the likeness of all pairs together is greatest, in the order of both sides.
pub(super) fn by_likeness(a: &[Kin], b: &[Kin]) -> Vec<Pair> {
    let wide = b.len() + 1;
    // best[i * wide + j]: the greatest likeness of what lies behind element i of A and j of B.
    let mut best = vec![0u32; (a.len() + 1) * wide];
    let get = |best: &[u32], i: usize, j: usize| best.get(i * wide + j).copied().unwrap_or(0);
    for (i, left) in a.iter().enumerate().rev() {
        for (j, right) in b.iter().enumerate().rev() {
            let paired = get(&best, i + 1, j + 1) + left.likeness(right);
            let most = paired.max(get(&best, i + 1, j)).max(get(&best, i, j + 1));
            if let Some(cell) = best.get_mut(i * wide + j) {
                *cell = most;
            }
        }
    }
    let (mut i, mut j, mut out) = (0, 0, Vec::new());
    while let (Some(left), Some(right)) = (a.get(i), b.get(j)) {
        let here = get(&best, i, j);
        let pair = if here == get(&best, i + 1, j + 1) + left.likeness(right) {
            (true, true)
        } else {
            let removed = here == get(&best, i + 1, j);
            (removed, !removed)
        };
        i += usize::from(pair.0);
        j += usize::from(pair.1);
        out.push(pair);
    }
    out.extend(std::iter::repeat_n((true, false), a.len() - i));
    out.extend(std::iter::repeat_n((false, true), b.len() - j));
    out
}
