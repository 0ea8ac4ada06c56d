//! The shortest edit script of two lists where it is short: Myers' algorithm, given up after a few edits.
//!
//! It serves long lists without anything unique in them (periodic data), in time `EDITS` × length at most.

/// The most insertions and removals that are looked for.
const EDITS: i64 = 64;
/// A diagonal that leads nowhere.
const OUT: i64 = i64::MIN / 4;

/// One step of a script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Edit {
    /// So many equal elements.
    Equal(usize),
    /// The next element of A goes.
    Remove,
    /// The next element of B comes.
    Add,
}

/// How far each diagonal reaches after some number of edits; diagonals run from -edits to +edits.
struct Reach {
    edits: i64,
    far: Vec<i64>,
}

impl Reach {
    fn get(&self, diagonal: i64) -> i64 {
        usize::try_from(diagonal + self.edits).ok().and_then(|at| self.far.get(at)).copied().unwrap_or(OUT)
    }

    /// Where the next edit starts on a diagonal, and whether it is a removal.
    fn next(&self, diagonal: i64) -> (i64, bool) {
        let (removed, added) = (self.get(diagonal - 1) + 1, self.get(diagonal + 1));
        if removed > added { (removed, true) } else { (added, false) }
    }
}

/// The script from `a` to `b`, or `None` where it takes more than a few edits.
pub(super) fn few(a: &[u64], b: &[u64]) -> Option<Vec<Edit>> {
    let (end_a, end_b) = (i64::try_from(a.len()).ok()?, i64::try_from(b.len()).ok()?);
    let goal = end_a - end_b;
    let mut trace: Vec<Reach> = Vec::new();
    if goal.abs() > EDITS {
        return None;
    }
    for edits in 0..=EDITS {
        let mut far = Vec::new();
        for diagonal in -edits..=edits {
            let start = trace.last().map_or(0, |last| last.next(diagonal).0);
            let parity = (diagonal + edits) % 2 == 0;
            far.push(if parity { snake(a, b, start, diagonal) } else { OUT });
        }
        let reach = Reach { edits, far };
        let done = reach.get(goal) == end_a;
        trace.push(reach);
        if done {
            return Some(script(&trace, end_a, goal));
        }
    }
    None
}

/// Follows equal elements from a position of A on a diagonal.
fn snake(a: &[u64], b: &[u64], start: i64, diagonal: i64) -> i64 {
    let rest = |list: &[u64], at: i64| usize::try_from(at).ok().filter(|&at| at <= list.len());
    let (Some(from_a), Some(from_b)) = (rest(a, start), rest(b, start - diagonal)) else { return OUT };
    let same = a.iter().skip(from_a).zip(b.iter().skip(from_b)).take_while(|(a, b)| a == b).count();
    i64::try_from(same).map_or(OUT, |same| start + same)
}

/// Walks the trace back from the end.
fn script(trace: &[Reach], end: i64, goal: i64) -> Vec<Edit> {
    let (mut at, mut diagonal, mut out) = (end, goal, Vec::new());
    let equal = |count: i64| Edit::Equal(usize::try_from(count).unwrap_or(0));
    for before in trace.iter().rev().skip(1) {
        let (start, removed) = before.next(diagonal);
        out.push(equal(at - start));
        out.push(if removed { Edit::Remove } else { Edit::Add });
        (at, diagonal) = if removed { (start - 1, diagonal - 1) } else { (start, diagonal + 1) };
    }
    out.push(equal(at));
    out.reverse();
    out
}
