//! The rows in view as a table whose columns fit what is seen.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::widgets::Widget as _;

use super::Pages;
use crate::tui::theme::{Role, Theme};
use crate::tui::widgets::held::Keyed;
use crate::tui::widgets::table::{Column, Layout};

/// The rows in view, fitted to what they hold.
pub(in super::super) struct Table<const N: usize> {
    layout: Layout,
    first: usize,
    rows: Vec<[(String, Style); N]>,
}

impl<const N: usize> Table<N> {
    /// Draws the headings, in line with the rows.
    pub(in super::super) fn head(&self, frame: &mut Frame<'_>, area: Rect, theme: &Theme) {
        let area = Rect { x: area.x.saturating_add(1), width: area.width.saturating_sub(1), ..area };
        self.layout.head(theme.style(Role::Muted)).render(area, frame.buffer_mut());
    }
}

impl<T: Keyed> Pages<T> {
    /// The rows in view as a table of these columns.
    pub(in super::super) fn table<const N: usize>(
        &self,
        columns: &[Column],
        width: u16,
        cells: impl Fn(&T) -> [(String, Style); N],
    ) -> Table<N> {
        let window = self.list.window();
        let first = window.start;
        let rows: Vec<_> = window.map_while(|row| self.held.get(row)).map(cells).collect();
        let texts = rows.iter().map(|row| row.iter().map(|(text, _)| text.as_str()));
        Table { layout: Layout::seen(columns, width, texts), first, rows }
    }

    /// Draws the rows of a table.
    pub(in super::super) fn draw<const N: usize>(
        &self,
        frame: &mut Frame<'_>,
        area: Rect,
        theme: &Theme,
        table: &Table<N>,
    ) {
        self.list.draw(frame, area, theme, &self.held, |row, _| {
            let cells = row.checked_sub(table.first).and_then(|at| table.rows.get(at));
            let cells = cells.into_iter().flatten();
            table.layout.row(cells.map(|(text, style)| (text.as_str(), *style)))
        });
    }
}
