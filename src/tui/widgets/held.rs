//! A few pages of a list that may be far longer: what is held lies around what is read.
//!
//! Stores page by keyset and know no row numbers, so rows are numbered from where reading began: from 0 at the start
//! of the list, from far up at its end. Only differences between numbers mean something.

use std::collections::VecDeque;

use super::list::Rows;

/// What a list holds: known by its id, and a place to read on from.
pub trait Keyed {
    /// What it is known by, wherever it stands.
    type Id: Clone + PartialEq;
    /// Where reading goes on before or after it.
    type Cursor: Clone + PartialEq;
    /// Its id.
    fn id(&self) -> Self::Id;
    /// Its place.
    fn cursor(&self) -> Self::Cursor;
}

/// The most rows that are held.
pub const MOST: usize = 800;
/// The number of the first row read from the end: more rows than any list has can stand before it.
const FAR: usize = usize::MAX / 2;

/// The rows that are held, without a gap.
#[derive(Clone, Debug)]
pub struct Held<T> {
    rows: VecDeque<T>,
    base: usize,
    start: bool,
    end: bool,
}

impl<T> Default for Held<T> {
    fn default() -> Self {
        Held { rows: VecDeque::new(), base: 0, start: false, end: false }
    }
}

impl<T: Keyed> Held<T> {
    /// The row with this number.
    pub fn get(&self, row: usize) -> Option<&T> {
        self.rows.get(row.checked_sub(self.base)?)
    }

    /// The rows that are held.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.rows.iter()
    }

    /// The first row that is held.
    pub fn front(&self) -> Option<&T> {
        self.rows.front()
    }

    /// The last row that is held.
    pub fn back(&self) -> Option<&T> {
        self.rows.back()
    }

    /// How many rows are held.
    pub fn count(&self) -> usize {
        self.rows.len()
    }

    /// Whether nothing stands before the first row.
    pub fn at_start(&self) -> bool {
        self.start
    }

    /// Whether nothing stands after the last row.
    pub fn at_end(&self) -> bool {
        self.end
    }

    /// Takes note that there is something before the first row.
    pub fn reopen(&mut self) {
        self.start = false;
    }

    /// Holds the first page and nothing else.
    pub fn from_start(&mut self, rows: Vec<T>, more: bool) {
        *self = Held { rows: rows.into(), base: 0, start: true, end: !more };
    }

    /// Holds the last page and nothing else.
    pub fn from_end(&mut self, rows: Vec<T>, more: bool) {
        *self = Held { rows: rows.into(), base: if more { FAR } else { 0 }, start: !more, end: true };
    }

    /// Holds what was read again from row `first` on, and nothing else.
    pub fn again(&mut self, first: usize, rows: Vec<T>, more: bool) {
        *self = Held { rows: rows.into(), base: first, start: first == 0, end: !more };
    }

    /// Adds the page after the last row; lets go of the first rows when there are too many.
    pub fn append(&mut self, rows: Vec<T>, more: bool) {
        self.forget(&rows);
        self.rows.extend(rows);
        self.end = !more;
        let surplus = self.rows.len().saturating_sub(MOST);
        if surplus > 0 {
            self.rows.drain(..surplus);
            self.base = self.base.saturating_add(surplus);
            self.start = false;
        }
    }

    /// Adds the page before the first row; lets go of the last rows when there are too many.
    pub fn prepend(&mut self, rows: Vec<T>, more: bool) {
        self.forget(&rows);
        let count = rows.len();
        for row in rows.into_iter().rev() {
            self.rows.push_front(row);
        }
        self.start = !more;
        self.base = match self.base.checked_sub(count) {
            _ if !more => 0,
            Some(base) if base > 0 => base,
            _ => FAR,
        };
        if self.rows.len() > MOST {
            self.rows.truncate(MOST);
            self.end = false;
        }
    }

    /// Lets go of what is in `rows` too: it moved while it was read.
    fn forget(&mut self, rows: &[T]) {
        let ids: Vec<T::Id> = rows.iter().map(Keyed::id).collect();
        self.rows.retain(|own| !ids.contains(&own.id()));
    }
}

impl<T: Keyed> Rows for Held<T> {
    type Id = T::Id;

    fn first(&self) -> usize {
        self.base
    }

    fn len(&self) -> usize {
        self.base.saturating_add(self.rows.len())
    }

    fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    fn more(&self) -> bool {
        !self.end
    }

    fn id(&self, row: usize) -> Option<T::Id> {
        self.get(row).map(Keyed::id)
    }

    fn row(&self, id: &T::Id) -> Option<usize> {
        self.rows.iter().position(|own| own.id() == *id).map(|at| self.base + at)
    }
}
