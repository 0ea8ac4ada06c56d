//! The selection follows the item, the view stays still, and only what is seen is built.

use super::*;
use ratatui::Terminal;
use ratatui::backend::TestBackend;

impl Rows for Vec<u32> {
    type Id = u32;
    fn len(&self) -> usize {
        Vec::len(self)
    }
    fn id(&self, row: usize) -> Option<u32> {
        self.get(row).copied()
    }
    fn row(&self, id: &u32) -> Option<usize> {
        self.iter().position(|own| own == id)
    }
}

fn at(rows: &Vec<u32>, height: u16, row: usize) -> List<u32> {
    let mut list = List::default();
    list.resize(height);
    list.select(rows, row);
    list
}

#[test]
fn movement_keeps_the_selection_in_view_and_stops_at_the_ends() {
    let rows: Vec<u32> = (0..100).collect();
    let mut list = at(&rows, 10, 0);
    assert!(!list.go(&rows, Move::By(-1)));
    assert!(list.go(&rows, Move::By(9)));
    assert_eq!(list.window(), 0..10);
    list.go(&rows, Move::HalfPages(1));
    assert_eq!((list.row(), list.window()), (14, 5..15));
    list.go(&rows, Move::Last);
    assert_eq!((list.selected(), list.window()), (Some(&99), 90..100));
    list.go(&rows, Move::First);
    assert_eq!((list.selected(), list.window()), (Some(&0), 0..10));
}

#[test]
fn going_beyond_the_edge_turns_a_quarter_of_the_view_but_never_past_the_end() {
    let rows: Vec<u32> = (0..100).collect();
    let mut list = at(&rows, 12, 11);
    assert_eq!(list.window(), 0..12);
    list.go(&rows, Move::By(1));
    assert_eq!((list.row(), list.window()), (12, 4..16));
    list.go(&rows, Move::By(3));
    assert_eq!(list.window(), 4..16);
    list.go(&rows, Move::By(-12));
    assert_eq!((list.row(), list.window()), (3, 0..12));
    let mut list = at(&rows, 12, 98);
    list.go(&rows, Move::By(1));
    assert_eq!((list.row(), list.window()), (99, 88..100));
    let few: Vec<u32> = (0..3).collect();
    let mut list = at(&few, 12, 0);
    list.go(&few, Move::By(9));
    assert_eq!((list.row(), list.window()), (2, 0..12));
}

#[test]
fn arrivals_above_move_neither_selection_nor_view() {
    let rows: Vec<u32> = (0..100).collect();
    let mut list = at(&rows, 10, 20);
    let line_of_selection = list.row() - list.window().start;
    let newer: Vec<u32> = (200..203).chain(rows.iter().copied()).collect();
    list.settle(&newer);
    assert_eq!((list.selected(), list.row(), list.unseen()), (Some(&20), 23, 3));
    assert_eq!(list.row() - list.window().start, line_of_selection);
    list.go(&newer, Move::First);
    assert_eq!(list.unseen(), 0);
}

#[test]
fn arrivals_above_the_first_row_are_counted_too() {
    let rows: Vec<u32> = (0..5).collect();
    let mut list = at(&rows, 10, 0);
    list.settle(&vec![9, 8, 0, 1, 2]);
    assert_eq!((list.selected(), list.row(), list.window().start, list.unseen()), (Some(&0), 2, 2, 2));
}

#[test]
fn when_the_item_goes_its_row_is_kept() {
    let mut list = at(&(0..5).collect(), 10, 3);
    list.settle(&vec![0, 1, 2, 4]);
    assert_eq!((list.selected(), list.row()), (Some(&4), 3));
    list.settle(&vec![0]);
    assert_eq!((list.selected(), list.row()), (Some(&0), 0));
    list.settle(&vec![]);
    assert_eq!((list.selected(), list.row()), (None, 0));
}

#[test]
fn only_rows_in_view_are_built_and_a_smaller_height_still_shows_the_selection() {
    let rows: Vec<u32> = (0..1000).collect();
    let list = at(&rows, 10, 500);
    let theme = Theme::embedded("mono").unwrap();
    let mut built = Vec::new();
    let mut terminal = Terminal::new(TestBackend::new(20, 4)).unwrap();
    terminal
        .draw(|frame| {
            list.draw(frame, frame.area(), &theme, &rows, |row, _| {
                built.push(row);
                Line::raw(format!("row {row}"))
            });
        })
        .unwrap();
    assert_eq!(built, [497, 498, 499, 500]);
    assert!(terminal.backend().to_string().contains("▌row 500"));
}

mod properties {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_selection_is_always_in_view(
            len in 0usize..200,
            height in 0u16..30,
            moves in prop::collection::vec((0u8..5, -20isize..20), 0..30),
        ) {
            let rows: Vec<u32> = (0..len as u32).collect();
            let mut list = at(&rows, height, 0);
            for (kind, by) in moves {
                match kind {
                    0 => drop(list.go(&rows, Move::By(by))),
                    1 => drop(list.go(&rows, Move::HalfPages(by))),
                    2 => drop(list.go(&rows, Move::Last)),
                    3 => list.resize(by.unsigned_abs() as u16),
                    _ => list.settle(&rows),
                }
                prop_assert!(list.window().contains(&list.row()));
                prop_assert!(len == 0 || list.row() < len);
            }
        }
    }
}
