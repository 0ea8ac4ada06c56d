//! Lists whose rows have ascending numbers and are read after a number only: how each page becomes such a reading.

use crate::tui::widgets::held::Keyed;

use super::pages::{PAGE, Wanted};

/// The numbers one reading is about: more than `after`, up to `to`; at most `limit` rows come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) after: u64,
    pub(super) to: u64,
    pub(super) limit: usize,
}

/// What a reading gave, in the order it is shown.
#[derive(Debug, PartialEq)]
pub(super) enum Read<T> {
    /// Rows, and whether there are more in the direction that was read.
    Rows(Vec<T>, bool),
    /// None among these numbers: read further on.
    Further(Span),
}

impl Span {
    /// Up to `limit` numbers that end at `to`. Numbers are unique, so no row among them is left out.
    fn down_from(to: u64, limit: usize) -> Span {
        Span { after: to.saturating_sub(limit as u64), to, limit }
    }

    fn up_from(after: u64, limit: usize) -> Span {
        Span { after, to: u64::MAX, limit }
    }

    /// The reading for a page of a list shown from the lowest number on; its end is found by reading on.
    pub(super) fn ascending(wanted: &Wanted<u64>) -> Span {
        match wanted {
            Wanted::Start | Wanted::End => Span::up_from(0, PAGE),
            Wanted::After(number) => Span::up_from(*number, PAGE),
            Wanted::Before(number) => Span::down_from(number.saturating_sub(1), PAGE),
            Wanted::Again(number, limit) => Span::up_from(number.unwrap_or(0), *limit),
        }
    }

    /// Takes the rows that came; where none of them is among these numbers, it is read further.
    pub(super) fn read<T: Keyed<Cursor = u64>>(self, mut rows: Vec<T>) -> Read<T> {
        let full = rows.len() >= self.limit;
        rows.retain(|row| row.cursor() <= self.to);
        let down = self.to != u64::MAX;
        let more = if down { self.after > 0 } else { full };
        if down && rows.is_empty() && more {
            return Read::Further(Span::down_from(self.after, 1000));
        }
        Read::Rows(rows, more)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, Debug, PartialEq)]
    struct N(u64);
    impl Keyed for N {
        type Id = u64;
        type Cursor = u64;
        fn id(&self) -> u64 {
            self.0
        }
        fn cursor(&self) -> u64 {
            self.0
        }
    }

    #[test]
    fn a_row_past_the_span_is_of_another_page_and_a_gap_is_read_over() {
        let span = Span::ascending(&Wanted::Before(5000));
        assert_eq!(span, Span { after: 4799, to: 4999, limit: 200 });
        assert_eq!(span.read(vec![N(5000)]), Read::Further(Span { after: 3799, to: 4799, limit: 1000 }));
        assert_eq!(span.read(vec![N(4990), N(5000)]), Read::Rows(vec![N(4990)], true));
    }
}
