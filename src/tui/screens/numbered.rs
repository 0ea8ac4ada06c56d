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

    /// The reading for a page of a list shown from the highest number `head` on.
    pub(super) fn descending(wanted: &Wanted<u64>, head: u64) -> Span {
        match wanted {
            Wanted::Start => Span::down_from(head, PAGE),
            Wanted::End => Span::up_from(0, PAGE),
            Wanted::After(number) => Span::down_from(number.saturating_sub(1), PAGE),
            Wanted::Before(number) => Span::up_from(*number, PAGE),
            Wanted::Again(number, limit) => {
                Span::down_from(number.map_or(head, |number| number.saturating_sub(1)), *limit)
            }
        }
    }

    /// Takes the rows that came. `reversed`: whether the list is shown from the highest number on.
    pub(super) fn read<T: Keyed<Cursor = u64>>(self, rows: Vec<T>, reversed: bool) -> Read<T> {
        self.read_those(rows, reversed, |_| true)
    }

    /// The same of a list that holds only some of the rows: where none of these is among it, it is read further.
    pub(super) fn read_those<T: Keyed<Cursor = u64>>(
        self,
        mut rows: Vec<T>,
        reversed: bool,
        fits: impl Fn(&T) -> bool,
    ) -> Read<T> {
        let full = rows.len() >= self.limit;
        let last = rows.last().map_or(u64::MAX, Keyed::cursor);
        rows.retain(|row| row.cursor() <= self.to && fits(row));
        let down = self.to != u64::MAX;
        let more = if down { self.after > 0 } else { full };
        if down && rows.is_empty() && more {
            return Read::Further(Span::down_from(self.after, 1000));
        }
        if rows.is_empty() && more {
            return Read::Further(Span::up_from(last, 1000));
        }
        if reversed {
            rows.reverse();
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
    fn from_the_highest_number_on() {
        let span = Span::descending(&Wanted::Start, 500);
        assert_eq!(span, Span { after: 300, to: 500, limit: 200 });
        assert_eq!(span.read(vec![N(499), N(500)], true), Read::Rows(vec![N(500), N(499)], true));
        assert_eq!(Span::descending(&Wanted::After(301), 500), Span { after: 100, to: 300, limit: 200 });
        let last = Span::descending(&Wanted::After(101), 500);
        assert_eq!(last.read(vec![N(1)], true), Read::Rows(vec![N(1)], false));
        let newer = Span::descending(&Wanted::Before(500), 500);
        assert_eq!(newer.read(vec![N(501)], true), Read::Rows(vec![N(501)], false));
    }

    #[test]
    fn a_row_past_the_span_is_of_another_page_and_a_gap_is_read_over() {
        let span = Span::ascending(&Wanted::Before(5000));
        assert_eq!(span, Span { after: 4799, to: 4999, limit: 200 });
        assert_eq!(
            span.read(vec![N(5000)], false),
            Read::Further(Span { after: 3799, to: 4799, limit: 1000 })
        );
        assert_eq!(span.read(vec![N(4990), N(5000)], false), Read::Rows(vec![N(4990)], true));
    }

    #[test]
    fn of_a_list_of_some_rows_it_is_read_further_until_one_fits_or_the_end_is_there() {
        let fits = |row: &N| row.0 == 3;
        let down = Span { after: 300, to: 500, limit: 200 };
        assert_eq!(
            down.read_those((301..=500).map(N).collect(), true, fits),
            Read::Further(Span { after: 0, to: 300, limit: 1000 })
        );
        let up = Span { after: 0, to: u64::MAX, limit: 2 };
        assert_eq!(
            up.read_those(vec![N(1), N(2)], true, fits),
            Read::Further(Span { after: 2, to: u64::MAX, limit: 1000 })
        );
        assert_eq!(up.read_those(vec![N(1), N(3)], true, fits), Read::Rows(vec![N(3)], true));
        assert_eq!(up.read_those(vec![N(1)], true, fits), Read::Rows(vec![], false));
    }
}
