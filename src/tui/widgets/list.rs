//! A list of any length: only the rows in view are built, and the selection follows the item.
//!
//! The state knows items by their id. When rows arrive above, selected row and view move with the item, so
//! what is being read stays where it is, and the number that arrived unseen is shown: `3 new ↑`.

#[cfg(test)]
mod tests;

use std::ops::Range;

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget as _;

use crate::tui::theme::{Role, Theme};
use crate::tui::widgets::put_line;

/// How much of the selected row is set off, in cells: a whole row would be written twice for every move.
const SHOWN: u16 = 34;

/// What a list is about: a window onto rows that may be far more than are held.
pub trait Rows {
    /// What an item is known by, wherever it stands.
    type Id: Clone + PartialEq;
    /// The number of the first row that is known.
    fn first(&self) -> usize {
        0
    }
    /// The number after that of the last row that is known.
    fn len(&self) -> usize;
    /// Whether there are none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// Whether there may be more after the last known row.
    fn more(&self) -> bool {
        false
    }
    /// The item in this row, if it is held.
    fn id(&self, row: usize) -> Option<Self::Id>;
    /// The row of this item, if it is held.
    fn row(&self, id: &Self::Id) -> Option<usize>;
}

/// A movement in a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Move {
    /// By this many rows.
    By(isize),
    /// By this many half pages.
    HalfPages(isize),
    /// To the first row.
    First,
    /// To the last known row.
    Last,
}

/// Where a list stands.
#[derive(Clone, Debug)]
pub struct List<Id> {
    selected: Option<Id>,
    row: usize,
    top: usize,
    height: usize,
    unseen: usize,
}

impl<Id> Default for List<Id> {
    fn default() -> Self {
        List { selected: None, row: 0, top: 0, height: 1, unseen: 0 }
    }
}

impl<Id: Clone + PartialEq> List<Id> {
    /// The selected item.
    pub fn selected(&self) -> Option<&Id> {
        self.selected.as_ref()
    }

    /// The row of the selected item when it was last seen.
    pub fn row(&self) -> usize {
        self.row
    }

    /// The rows in view, as they will be drawn: what must be held.
    pub fn window(&self) -> Range<usize> {
        self.top..self.top.saturating_add(self.height)
    }

    /// How many items arrived above the view since it was last at the top.
    pub fn unseen(&self) -> usize {
        self.unseen
    }

    /// Takes note of the height the list is drawn with; call on every resize.
    pub fn resize(&mut self, height: u16) {
        self.height = usize::from(height).max(1);
        self.follow();
    }

    /// Selects an item by its row, as after a search.
    pub fn select(&mut self, rows: &impl Rows<Id = Id>, row: usize) {
        self.row = row.min(rows.len().saturating_sub(1));
        self.selected = rows.id(self.row);
        self.follow();
    }

    /// Moves the selection. Returns whether it moved.
    pub fn go(&mut self, rows: &impl Rows<Id = Id>, movement: Move) -> bool {
        let before = self.row;
        let half = isize::try_from((self.height / 2).max(1)).unwrap_or(1);
        let to = match movement {
            Move::By(by) => self.row.saturating_add_signed(by),
            Move::HalfPages(pages) => self.row.saturating_add_signed(pages.saturating_mul(half)),
            Move::First => rows.first(),
            Move::Last => usize::MAX,
        };
        let to = to.min(rows.len().saturating_sub(1)).max(rows.first());
        if matches!(movement, Move::By(_)) {
            self.turn(to, rows.len());
        }
        self.select(rows, to);
        self.row != before
    }

    /// Moves the view by a quarter when the next row is beyond its edge. Row by row every line on the screen
    /// would change with every key: many times the bytes, and nothing for the eye to hold on to.
    fn turn(&mut self, to: usize, len: usize) {
        let quarter = self.height / 4;
        if to >= self.top.saturating_add(self.height) {
            let top = (to + quarter + 1).saturating_sub(self.height);
            self.top = top.min(len.saturating_sub(self.height));
        } else if to < self.top {
            self.top = to.saturating_sub(quarter);
        }
    }

    /// Follows the selected item after the rows changed. If it is gone, what took its row is selected.
    pub fn settle(&mut self, rows: &impl Rows<Id = Id>) {
        let found = self.selected.as_ref().and_then(|id| rows.row(id));
        match found {
            Some(now) => {
                if now > self.row {
                    let arrived = now - self.row;
                    self.top = self.top.saturating_add(arrived);
                    self.unseen = self.unseen.saturating_add(arrived);
                } else {
                    self.top = self.top.saturating_sub(self.row - now);
                }
                self.row = now;
                self.follow();
            }
            None => self.select(rows, self.row.max(rows.first())),
        }
    }

    /// Follows the selected item after the rows were numbered anew and nothing else happened. Rows that are gone
    /// settle.
    pub fn renumber(&mut self, rows: &impl Rows<Id = Id>) {
        match self.selected.as_ref().and_then(|id| rows.row(id)) {
            Some(now) => {
                let above = self.row.saturating_sub(self.top);
                self.row = now;
                self.top = now.saturating_sub(above).max(rows.first());
                self.follow();
            }
            None => self.settle(rows),
        }
    }

    /// Keeps the selected row in view.
    fn follow(&mut self) {
        let lowest = self.row.saturating_sub(self.height.saturating_sub(1));
        self.top = self.top.clamp(lowest, self.row.max(lowest));
        if self.top == 0 {
            self.unseen = 0;
        } else {
            self.unseen = self.unseen.min(self.top);
        }
    }

    /// Draws the rows in view. `line` builds one row within the given width, from revealed text; it is asked for
    /// nothing that is not seen.
    pub fn draw<'a>(
        &self,
        frame: &mut Frame<'_>,
        area: Rect,
        theme: &Theme,
        rows: &impl Rows<Id = Id>,
        mut line: impl FnMut(usize, u16) -> Line<'a>,
    ) {
        let area = area.intersection(frame.area());
        let height = usize::from(area.height);
        if height == 0 || area.width == 0 {
            return;
        }
        // The height may be newer than the last event: never draw the selection out of view.
        let top = self.top.max(self.row.saturating_sub(height - 1));
        let len = rows.len();
        let buffer = frame.buffer_mut();
        for (y, row) in (area.y..area.bottom()).zip(top..len) {
            let place = Rect { y, height: 1, ..area };
            let selected = row == self.row && self.selected.is_some();
            if selected {
                let shown = Rect { width: area.width.min(SHOWN), ..place };
                buffer.set_style(shown, theme.style(Role::Selected));
                buffer.set_stringn(area.x, y, "▌", 1, theme.style(Role::Accent));
            }
            let text = Rect { x: area.x.saturating_add(1), width: area.width - 1, ..place };
            put_line(buffer, text, &line(row, text.width));
        }
        let above = (top > 0 && self.unseen > 0).then(|| format!(" {} new ↑ ", self.unseen));
        let below = (rows.more() && top.saturating_add(height) >= len).then(|| " more ↓ ".to_owned());
        for (mark, y) in [(above, area.y), (below, area.bottom() - 1)] {
            if let Some(mark) = mark {
                let span = Span::styled(mark, theme.style(Role::Toast));
                let width = u16::try_from(span.width()).unwrap_or(u16::MAX).min(area.width);
                let place = Rect { x: area.right() - width, y, width, height: 1 };
                span.render(place, buffer);
            }
        }
    }
}
