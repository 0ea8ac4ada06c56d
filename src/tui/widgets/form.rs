//! Forms: a sheet of lines and fields that scrolls with the focus, and the fields of a question's schema.

mod fields;
#[cfg(test)]
mod tests;

pub use fields::Fields;

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::Line;
use ratatui::widgets::Widget as _;

use super::input::Field;
use crate::tui::theme::{Role, Theme};

/// Rows of a text field of many lines, at most.
const TALLEST: u16 = 6;

/// One part of a sheet.
enum Block<'a> {
    Lines(Vec<Line<'static>>),
    Input(&'a Field, bool),
}

/// Which part of a sheet is in view.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scroll {
    /// The part with the focus, whole where it fits.
    #[default]
    Focus,
    /// From this row on.
    At(usize),
}

/// Lines and fields one under the other, built anew for each frame.
#[derive(Default)]
pub struct Sheet<'a> {
    blocks: Vec<Block<'a>>,
    /// The rows that must be seen: from, to.
    focus: Option<(usize, usize)>,
    rows: usize,
}

impl<'a> Sheet<'a> {
    /// An empty sheet.
    pub fn new() -> Sheet<'a> {
        Sheet::default()
    }

    /// Adds lines.
    pub fn lines(&mut self, lines: impl IntoIterator<Item = Line<'static>>) -> &mut Self {
        let lines: Vec<_> = lines.into_iter().collect();
        self.rows = self.rows.saturating_add(lines.len());
        self.blocks.push(Block::Lines(lines));
        self
    }

    /// Adds lines that must be in view.
    pub fn focused(&mut self, lines: impl IntoIterator<Item = Line<'static>>) -> &mut Self {
        let from = self.rows;
        self.lines(lines);
        self.focus = Some((from, self.rows));
        self
    }

    /// Adds a field with the lines above it.
    pub fn input(
        &mut self,
        label: impl IntoIterator<Item = Line<'static>>,
        field: &'a Field,
        focused: bool,
    ) -> &mut Self {
        let from = self.rows;
        self.lines(label);
        self.rows = self.rows.saturating_add(usize::from(field.height(TALLEST)));
        self.blocks.push(Block::Input(field, focused));
        if focused {
            self.focus = Some((from, self.rows));
        }
        self
    }

    /// The first row in view in an area of this height.
    pub fn top(&self, height: usize, scroll: Scroll) -> usize {
        let last = self.rows.saturating_sub(height);
        match (scroll, self.focus) {
            (Scroll::At(row), _) => row.min(last),
            (Scroll::Focus, Some((from, to))) => {
                let least = to.saturating_sub(height);
                // As little as shows the focus; its beginning where it is taller than the area.
                least.min(from).min(last)
            }
            (Scroll::Focus, None) => 0,
        }
    }

    /// Where the view goes by so many half pages.
    pub fn paged(&self, height: usize, scroll: Scroll, pages: isize) -> Scroll {
        let by = pages.saturating_mul(isize::try_from((height / 2).max(1)).unwrap_or(1));
        let to = self.top(height, scroll).saturating_add_signed(by);
        Scroll::At(to.min(self.rows.saturating_sub(height)))
    }

    /// Marks the edges beyond which there is more.
    pub fn draw_cut(&self, frame: &mut Frame<'_>, area: Rect, theme: &Theme, scroll: Scroll) {
        let height = usize::from(area.height);
        let top = self.top(height, scroll);
        let marks = [
            (top > 0, " more ↑ ", area.y),
            (top + height < self.rows, " more ↓ ", area.bottom().saturating_sub(1)),
        ];
        for (_, text, y) in marks.into_iter().filter(|(is, ..)| *is) {
            let width = 8.min(area.width);
            let place = Rect { x: area.right().saturating_sub(width), y, width, height: 1 };
            Line::styled(text, theme.style(Role::Toast)).render(place.intersection(area), frame.buffer_mut());
        }
    }

    /// Draws what is in view.
    pub fn draw(&self, frame: &mut Frame<'_>, area: Rect, theme: &Theme, scroll: Scroll) {
        let area = area.intersection(frame.area());
        let height = usize::from(area.height);
        let top = self.top(height, scroll);
        let mut row = 0usize;
        let place = |row: usize, rows: u16| -> Option<Rect> {
            let y = u16::try_from(row.checked_sub(top)?).ok().filter(|y| *y < area.height)?;
            Some(Rect { y: area.y + y, height: rows.min(area.height - y), ..area })
        };
        for block in &self.blocks {
            match block {
                Block::Lines(lines) => {
                    for line in lines {
                        if let Some(place) = place(row, 1) {
                            line.render(place, frame.buffer_mut());
                        }
                        row += 1;
                    }
                }
                Block::Input(field, focused) => {
                    let rows = field.height(TALLEST);
                    if let Some(place) = place(row, rows) {
                        let inner = Rect {
                            x: place.x.saturating_add(2),
                            width: place.width.saturating_sub(2),
                            ..place
                        };
                        for y in place.y..place.bottom() {
                            let mark = if *focused { "▌" } else { "│" };
                            let role = if *focused { Role::Accent } else { Role::Border };
                            frame.buffer_mut().set_stringn(
                                place.x,
                                y,
                                mark,
                                usize::from(place.width),
                                theme.style(role),
                            );
                        }
                        field.draw(frame, inner, theme, *focused);
                    }
                    row += usize::from(rows);
                }
            }
        }
    }
}
