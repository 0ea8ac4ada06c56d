//! Walks two trees side by side and writes the rows.
//!
//! Hashes only decide what is paired. Whatever is folded as equal has been compared: by its bytes, or, where
//! the bytes differ, member by member down to the scalars. Recursion is bounded by the depth limit.

use std::collections::BTreeSet;

use super::element::{self, Namings};
use super::scan::Span;
use super::tree::{Child, Tree};
use super::{
    Cancel, DiffError, Kind, Limit, Limits, Phase, Row, Side, Spellings, align, hash, heed, kin, number, text,
};

/// One step of a pointer on one side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Root,
    Key(Span),
    /// Which element, and the byte where it starts.
    Index {
        at: u32,
        start: u32,
    },
    Missing,
}

/// A step on both sides, and the step before it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Path {
    pub(super) parent: u32,
    pub(super) a: Step,
    pub(super) b: Step,
}

impl Path {
    pub(super) fn step(&self, side: Side) -> Step {
        if side == Side::A { self.a } else { self.b }
    }
}

/// What the walk found.
pub(super) struct Found {
    pub(super) rows: Vec<Row>,
    pub(super) paths: Vec<Path>,
    pub(super) namings: Namings,
    pub(super) spellings: Spellings,
}

struct Walk<'w, 't> {
    a: &'w Tree<'t>,
    b: &'w Tree<'t>,
    found: Found,
    limits: Limits,
    cancel: &'w dyn Cancel,
    ticks: u32,
    /// Members that may still be looked at to name elements.
    budget: usize,
}

/// A run of equal elements that is not yet a row.
#[derive(Clone, Copy)]
struct Run {
    count: u32,
    from: (u32, u32),
    a: Span,
    b: Span,
}

fn index(at: u32, child: Child) -> Step {
    Step::Index { at, start: child.value.start }
}

/// Where the walk stands: the path of a container and the depth of what is in it.
#[derive(Clone, Copy)]
struct At {
    path: u32,
    depth: u8,
}

/// Compares two texts.
pub(super) fn compare(a: &[u8], b: &[u8], cancel: &dyn Cancel, limits: Limits) -> Result<Found, DiffError> {
    let most = limits.bytes.min(u32::MAX as usize - 1);
    if a.len() > most || b.len() > most {
        return Err(DiffError::TooLarge { limit: Limit::Bytes });
    }
    for (side, text) in [(Side::A, a), (Side::B, b)] {
        let utf8 = std::str::from_utf8(text);
        utf8.map_err(|error| DiffError::Invalid { side, offset: error.valid_up_to() })?;
    }
    let left = Tree::parse(a, Side::A, limits, cancel)?;
    let right = Tree::parse(b, Side::B, limits, cancel)?;
    let root = Path { parent: 0, a: Step::Root, b: Step::Root };
    let found = Found {
        rows: Vec::new(),
        paths: vec![root],
        namings: Namings::new(),
        spellings: Spellings::default(),
    };
    let mut walk = Walk { a: &left, b: &right, found, limits, cancel, ticks: 0, budget: element::BUDGET };
    let (a, b) = (left.root(), right.root());
    let differs = left.bytes(a.value) != right.bytes(b.value) && walk.pair(At { path: 0, depth: 0 }, a, b)?;
    if !differs {
        walk.found.rows.clear();
        walk.found.paths.truncate(1);
        let count = u32::try_from(left.count(a).max(1)).unwrap_or(u32::MAX);
        let run = Run { count, from: (0, 0), a: a.value, b: b.value };
        walk.fold(At { path: 0, depth: 0 }, run, false)?;
    }
    walk.note_outer_space(a, b);
    Ok(walk.found)
}

impl Walk<'_, '_> {
    fn tick(&mut self, phase: Phase) -> Result<(), DiffError> {
        self.ticks = self.ticks.wrapping_add(1);
        if self.ticks.is_multiple_of(1024) { heed(self.cancel, phase) } else { Ok(()) }
    }

    fn row(&mut self, row: Row) -> Result<(), DiffError> {
        if self.found.rows.len() >= self.limits.rows {
            return Err(DiffError::TooLarge { limit: Limit::Rows });
        }
        self.found.rows.push(row);
        Ok(())
    }

    fn path(&mut self, parent: u32, a: Step, b: Step) -> u32 {
        let at = u32::try_from(self.found.paths.len()).unwrap_or(u32::MAX);
        self.found.paths.push(Path { parent, a, b });
        at
    }

    /// A value that only one side has.
    fn single(
        &mut self,
        at: At,
        a: Option<(Step, Child)>,
        b: Option<(Step, Child)>,
    ) -> Result<(), DiffError> {
        self.tick(Phase::Walk)?;
        let step = |side: Option<(Step, Child)>| side.map_or(Step::Missing, |(step, _)| step);
        let path = self.path(at.path, step(a), step(b));
        let kind = if a.is_some() { Kind::Removed } else { Kind::Added };
        let span = |side: Option<(Step, Child)>| side.map(|(_, child)| child.value);
        self.row(Row { kind, depth: at.depth, a: span(a), b: span(b), fold: 0, path })
    }

    /// A fold. `indexed`: it is a run of elements, whose first indices are kept.
    fn fold(&mut self, at: At, run: Run, indexed: bool) -> Result<(), DiffError> {
        let (a, b) = match indexed {
            true => (
                Step::Index { at: run.from.0, start: run.a.start },
                Step::Index { at: run.from.1, start: run.b.start },
            ),
            false => (Step::Missing, Step::Missing),
        };
        let path = self.path(at.path, a, b);
        let (a, b) = (Some(run.a), Some(run.b));
        self.row(Row { kind: Kind::Equal, depth: at.depth, a, b, fold: run.count, path })
    }

    /// Compares a member or element of both sides; leaves no trace and says false where they are equal.
    fn both(&mut self, at: At, steps: (Step, Step), a: Child, b: Child) -> Result<bool, DiffError> {
        self.tick(Phase::Walk)?;
        if self.a.bytes(a.value) == self.b.bytes(b.value) {
            return Ok(false);
        }
        let (rows, paths) = (self.found.rows.len(), self.found.paths.len());
        let path = self.path(at.path, steps.0, steps.1);
        let differs = self.pair(At { path, depth: at.depth }, a, b)?;
        if !differs {
            self.found.rows.truncate(rows);
            self.found.paths.truncate(paths);
        }
        Ok(differs)
    }

    /// Compares two values whose bytes differ and whose path is `at`.
    fn pair(&mut self, at: At, a: Child, b: Child) -> Result<bool, DiffError> {
        let (first_a, first_b) = (self.a.first(a), self.b.first(b));
        let full = self.a.count(a) > 0 && self.b.count(b) > 0;
        if full && first_a == first_b {
            let most = self.limits.items;
            if self.a.count(a) > most || self.b.count(b) > most {
                return Err(DiffError::TooLarge { limit: Limit::Items });
            }
            let inside = At { path: at.path, depth: at.depth.saturating_add(1) };
            if self.a.count(a) == self.b.count(b) {
                self.found.spellings.whitespace |= space_within(self.a, a) != space_within(self.b, b);
            }
            return if first_a == b'{' { self.object(inside, a, b) } else { self.array(inside, a, b) };
        }
        let (text_a, text_b) = (self.a.bytes(a.value), self.b.bytes(b.value));
        let number = |first: u8| first == b'-' || first.is_ascii_digit();
        let same = if first_a == b'"' && first_b == b'"' {
            let same = text::same_content(text_a, text_b);
            self.found.spellings.strings |= same;
            same
        } else if number(first_a) && number(first_b) {
            let same = number::same_value(text_a, text_b);
            self.found.spellings.numbers |= same;
            same
        } else {
            let empty = self.a.count(a) == 0 && self.b.count(b) == 0;
            if empty && first_a == first_b && matches!(first_a, b'[' | b'{') {
                self.found.spellings.whitespace = true;
                return Ok(false);
            }
            false
        };
        let kind = if same { Kind::Spelling } else { Kind::Changed };
        let (a, b) = (Some(a.value), Some(b.value));
        self.row(Row { kind, depth: at.depth, a, b, fold: 0, path: at.path })?;
        Ok(true)
    }

    /// Members by name. The equal ones are one fold, in front of the differences.
    fn object(&mut self, at: At, a: Child, b: Child) -> Result<bool, DiffError> {
        let rights: Vec<Child> = self.b.children(b).collect();
        let matches = self.matches(a, &rights)?;
        self.found.spellings.order |= !matches.iter().flatten().is_sorted();
        let mut taken = vec![false; rights.len()];
        for &index in matches.iter().flatten() {
            if let Some(taken) = taken.get_mut(index as usize) {
                *taken = true;
            }
        }
        let fold_row = self.found.rows.len();
        let mut run = Run { count: 0, from: (0, 0), a: a.value, b: b.value };
        self.fold(at, run, false)?;
        self.added_from(at, &rights, &taken, 0)?;
        for (left, found) in self.a.children(a).zip(&matches) {
            let step = left.key.map_or(Step::Missing, Step::Key);
            let right = found.and_then(|index| Some((index as usize, *rights.get(index as usize)?)));
            let Some((index, right)) = right else {
                self.single(at, Some((step, left)), None)?;
                continue;
            };
            self.found.spellings.names |= self.raw_name(Side::A, left) != self.raw_name(Side::B, right);
            let steps = (step, right.key.map_or(Step::Missing, Step::Key));
            if !self.both(at, steps, left, right)? {
                run.count += 1;
            }
            self.added_from(at, &rights, &taken, index + 1)?;
        }
        let differs = self.found.rows.len() > fold_row + 1;
        match self.found.rows.get_mut(fold_row) {
            Some(row) if run.count > 0 => row.fold = run.count,
            _ => drop(self.found.rows.drain(fold_row..=fold_row)),
        }
        Ok(differs)
    }

    /// The members only B has that stand, in B, from `from` on up to the next one that A has too.
    fn added_from(&mut self, at: At, rights: &[Child], taken: &[bool], from: usize) -> Result<(), DiffError> {
        // Cut first: skipping in a zip walks, once for every member.
        let (rights, taken) = (rights.get(from..).unwrap_or_default(), taken.get(from..).unwrap_or_default());
        for (right, _) in rights.iter().zip(taken).take_while(|(_, taken)| !**taken) {
            self.single(at, None, Some((right.key.map_or(Step::Missing, Step::Key), *right)))?;
        }
        Ok(())
    }

    fn raw_name(&self, side: Side, child: Child) -> &[u8] {
        let tree = if side == Side::A { self.a } else { self.b };
        child.key.map_or(&[], |key| tree.bytes(key))
    }

    /// For each member of A, the index of B's member with the same name.
    fn matches(&mut self, a: Child, rights: &[Child]) -> Result<Vec<Option<u32>>, DiffError> {
        let (in_a, in_b) = (self.a, self.b);
        // By hash, so that names are read only where hashes are equal; names made to collide are told apart.
        let mut sorted: Vec<(u64, u32)> = Vec::new();
        let name_at =
            |index: u32| rights.get(index as usize).map(|&right| in_b.name(right)).unwrap_or_default();
        let mut out = Vec::with_capacity(in_a.count(a));
        for (place, left) in in_a.children(a).enumerate() {
            self.tick(Phase::Gather)?;
            let same_place = rights.get(place);
            if same_place.is_some_and(|&right| self.raw_name(Side::A, left) == self.raw_name(Side::B, right))
            {
                out.push(u32::try_from(place).ok());
                continue;
            }
            if sorted.is_empty() {
                sorted.extend(rights.iter().map(|&right| hash::name(&in_b.name(right))).zip(0u32..));
                let order = |a: &(u64, u32), b: &(u64, u32)| {
                    a.0.cmp(&b.0).then_with(|| name_at(a.1).cmp(&name_at(b.1)))
                };
                sorted.sort_unstable_by(order);
            }
            let name = in_a.name(left);
            let hash = hash::name(&name);
            let found = sorted
                .binary_search_by(|(other, at)| other.cmp(&hash).then_with(|| name_at(*at).cmp(&name)))
                .ok();
            out.push(found.and_then(|index| sorted.get(index)).map(|&(_, index)| index));
        }
        Ok(out)
    }

    /// Elements, aligned by their hashes; runs without a match are paired, so that what changed is descended into.
    fn array(&mut self, at: At, a: Child, b: Child) -> Result<bool, DiffError> {
        let (left, right) = (self.hashes(self.a, a)?, self.hashes(self.b, b)?);
        let ops = align::align(&left, &right, || self.cancel.is_cancelled(Phase::Align))?;
        drop((left, right));
        let before = self.found.rows.len();
        let (mut lefts, mut rights) = ((0u32..).zip(self.a.children(a)), (0u32..).zip(self.b.children(b)));
        let mut run: Option<Run> = None;
        for op in ops {
            for _ in 0..op.equal {
                let (Some(left), Some(right)) = (lefts.next(), rights.next()) else { break };
                run = self.element(at, run, left, right)?;
            }
            let left: Vec<_> = lefts.by_ref().take(op.removed).collect();
            let right: Vec<_> = rights.by_ref().take(op.added).collect();
            run = self.replaced(at, run, &left, &right)?;
        }
        let differs = self.found.rows.len() > before;
        if differs {
            self.flush(at, run)?;
            self.name_elements(at, before, a);
        }
        Ok(differs)
    }

    fn hashes(&mut self, tree: &Tree<'_>, array: Child) -> Result<Vec<u64>, DiffError> {
        let mut hashes = Vec::with_capacity(tree.count(array));
        for child in tree.children(array) {
            self.tick(Phase::Gather)?;
            hashes.push(tree.hash(child));
        }
        Ok(hashes)
    }

    /// Finds out how the elements of an array are called; its rows are those from `from` on.
    fn name_elements(&mut self, at: At, from: usize, array: Child) {
        let mut changing = BTreeSet::new();
        for row in self.found.rows.iter().skip(from).take(256).filter(|row| row.kind != Kind::Equal) {
            // The step below the element says which of its members differs.
            let (mut path, mut below) = (row.path, None);
            while let Some(up) = self.found.paths.get(path as usize).filter(|up| up.parent != at.path) {
                below = Some(up);
                path = up.parent;
            }
            let name = below.and_then(|step| match (step.a, step.b) {
                (Step::Key(key), _) => Some(text::unescape(self.a.bytes(key))),
                (_, Step::Key(key)) => Some(text::unescape(self.b.bytes(key))),
                _ => None,
            });
            changing.extend(name);
        }
        let names = element::choose(self.a, array, &changing, &mut self.budget);
        if !names.is_empty() {
            self.found.namings.insert(at.path, names);
        }
    }

    /// Compares a run of A with the run of B that stands in its place.
    fn replaced(
        &mut self,
        at: At,
        mut run: Option<Run>,
        lefts: &[(u32, Child)],
        rights: &[(u32, Child)],
    ) -> Result<Option<Run>, DiffError> {
        let pairs: Box<dyn Iterator<Item = kin::Pair>> = if kin::worthwhile(lefts.len(), rights.len()) {
            let kin = |tree: &Tree<'_>, run: &[(u32, Child)]| {
                run.iter().map(|(_, child)| tree.kin(*child)).collect()
            };
            let (left, right): (Vec<_>, Vec<_>) = (kin(self.a, lefts), kin(self.b, rights));
            Box::new(kin::by_likeness(&left, &right).into_iter())
        } else {
            Box::new(kin::in_order(lefts.len(), rights.len()))
        };
        let (mut lefts, mut rights) = (lefts.iter().copied(), rights.iter().copied());
        for (in_a, in_b) in pairs {
            let left = if in_a { lefts.next() } else { None };
            let right = if in_b { rights.next() } else { None };
            if let (Some(left), Some(right)) = (left, right) {
                run = self.element(at, run, left, right)?;
                continue;
            }
            self.flush(at, run.take())?;
            let step = |(at, child)| (index(at, child), child);
            self.single(at, left.map(step), right.map(step))?;
        }
        Ok(run)
    }

    /// Compares one pair of elements; the run of equal ones grows or, in front of a difference, is written.
    fn element(
        &mut self,
        at: At,
        run: Option<Run>,
        (index_a, a): (u32, Child),
        (index_b, b): (u32, Child),
    ) -> Result<Option<Run>, DiffError> {
        let (rows, paths) = (self.found.rows.len(), self.found.paths.len());
        let same = self.a.bytes(a.value) == self.b.bytes(b.value);
        if !same {
            self.flush(at, run)?;
            if self.both(at, (index(index_a, a), index(index_b, b)), a, b)? {
                return Ok(None);
            }
            self.found.rows.truncate(rows);
            self.found.paths.truncate(paths);
        }
        self.tick(Phase::Walk)?;
        let new = Run { count: 0, from: (index_a, index_b), a: a.value, b: b.value };
        let mut run = run.unwrap_or(new);
        run.count += 1;
        run.a.end = a.value.end;
        run.b.end = b.value.end;
        Ok(Some(run))
    }

    fn flush(&mut self, at: At, run: Option<Run>) -> Result<(), DiffError> {
        run.map_or(Ok(()), |run| self.fold(at, run, true))
    }

    /// Notes white space around the root, and white space that stands elsewhere though there is as much of it:
    /// where nothing else explains different bytes, that is the reason.
    fn note_outer_space(&mut self, a: Child, b: Child) {
        let (text_a, text_b) = (self.a.text(), self.b.text());
        let outer =
            |text: &[u8], root: Child| (root.value.start, text.len().saturating_sub(root.value.end as usize));
        let unexplained = self.found.spellings == Spellings::default()
            && self.found.rows.iter().all(|row| row.kind == Kind::Equal)
            && text_a != text_b;
        self.found.spellings.whitespace |= unexplained || outer(text_a, a) != outer(text_b, b);
    }
}

/// Bytes of white space directly within a container.
fn space_within(tree: &Tree<'_>, parent: Child) -> usize {
    let count = tree.count(parent);
    let marks = if tree.first(parent) == b'{' { 2 * count + 1 } else { count + 1 };
    tree.children(parent).fold(parent.value.len().saturating_sub(marks), |space, child| {
        space.saturating_sub(child.value.len() + child.key.map_or(0, Span::len))
    })
}
