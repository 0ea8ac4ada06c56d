//! A text of any size, of which only the lines in view are built; lines of any length, scrolled or wrapped.

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::ink;
use super::list::Move;
use crate::domain::diff::{Lines, Slice};
use crate::tui::theme::{Role, Theme};

/// Where lines come from.
pub trait Source {
    /// How many lines there are.
    fn len(&self) -> usize;
    /// Whether there are none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// The characters of a line.
    fn width(&self, line: usize) -> usize;
    /// Some characters of a line.
    fn slice(&self, line: usize, from: usize, width: usize) -> Option<Slice>;
    /// Whether lines are marked, so that there is a column for it.
    fn marks(&self) -> bool {
        false
    }
    /// The glyph in front of a line, and how it and the line look.
    fn mark(&self, _line: usize) -> Option<(&'static str, Role)> {
        None
    }
}

impl Source for Lines {
    fn len(&self) -> usize {
        Lines::len(self)
    }
    fn width(&self, line: usize) -> usize {
        Lines::width(self, line)
    }
    fn slice(&self, line: usize, from: usize, width: usize) -> Option<Slice> {
        Lines::slice(self, line, from, width)
    }
}

impl Source for Vec<String> {
    fn len(&self) -> usize {
        Vec::len(self)
    }
    fn width(&self, line: usize) -> usize {
        self.get(line).map_or(0, |line| line.chars().count())
    }
    fn slice(&self, line: usize, from: usize, width: usize) -> Option<Slice> {
        let line = self.get(line)?;
        let text: String = line.chars().skip(from).take(width).collect();
        let more = line.chars().nth(from.saturating_add(width)).is_some();
        Some(Slice { text, before: from > 0, more })
    }
}

/// Where a text stands on the screen.
#[derive(Clone, Debug)]
pub struct Pager {
    /// The first line in view, and which part of it where it is wrapped.
    top: (usize, usize),
    /// Characters scrolled off to the left.
    left: usize,
    wrap: bool,
    width: usize,
    height: usize,
    /// A line to be found at a glance.
    marked: Option<usize>,
}

impl Pager {
    /// At the beginning.
    pub fn new(wrap: bool) -> Pager {
        Pager { top: (0, 0), left: 0, wrap, width: 1, height: 1, marked: None }
    }

    /// Takes note of its size.
    pub fn resize(&mut self, width: u16, height: u16) {
        let (width, height) = (usize::from(width).max(1), usize::from(height).max(1));
        if width != self.width {
            self.top.1 = 0;
        }
        (self.width, self.height) = (width, height);
    }

    /// Whether long lines are wrapped.
    pub fn wraps(&self) -> bool {
        self.wrap
    }

    /// Wraps long lines, or no longer.
    pub fn toggle_wrap(&mut self) {
        self.wrap = !self.wrap;
        (self.left, self.top.1) = (0, 0);
    }

    /// Back to the beginning, nothing marked.
    pub fn restart(&mut self) {
        (self.top, self.left, self.marked) = ((0, 0), 0, None);
    }

    /// Marks a line and brings it into view.
    pub fn jump(&mut self, line: usize) {
        self.marked = Some(line);
        self.top = (line.saturating_sub(self.height / 4), 0);
    }

    /// Brings a line into view and marks none.
    pub fn show(&mut self, line: usize) {
        self.jump(line);
        self.marked = None;
    }

    /// The first line in view.
    pub fn line(&self) -> usize {
        self.top.0
    }

    /// Scrolls sideways, where lines are not wrapped.
    pub fn sideways(&mut self, source: &dyn Source, right: bool) {
        let step = (self.width / 2).max(1);
        if self.wrap {
            return;
        }
        let last = self.top.0.saturating_add(self.height);
        let widest = (self.top.0..last).map(|line| source.width(line)).max().unwrap_or(0);
        self.left = if right { self.left.saturating_add(step) } else { self.left.saturating_sub(step) };
        self.left = self.left.min(widest.saturating_sub(1));
    }

    /// Moves the view.
    pub fn go(&mut self, source: &dyn Source, movement: Move) {
        let half = isize::try_from((self.height / 2).max(1)).unwrap_or(1);
        match movement {
            Move::By(by) => self.by(source, by),
            Move::HalfPages(pages) => self.by(source, pages.saturating_mul(half)),
            Move::First => self.top = (0, 0),
            Move::Last => {
                let last = source.len().saturating_sub(1);
                self.top = (last, self.parts(source, last).saturating_sub(1));
                self.by(source, 1_isize.saturating_sub_unsigned(self.height));
            }
        }
    }

    fn by(&mut self, source: &dyn Source, by: isize) {
        for _ in 0..by.unsigned_abs() {
            let next = if by > 0 { self.after(source, self.top) } else { self.before(source, self.top) };
            match next {
                Some(next) => self.top = next,
                None => break,
            }
        }
    }

    /// The cells in front of a row's text: for the line that was jumped to, for the marks of the text.
    fn gutter(&self, source: &dyn Source) -> usize {
        if source.marks() { 3 } else { usize::from(self.marked.is_some()) }
    }

    fn room(&self, source: &dyn Source) -> usize {
        self.width.saturating_sub(self.gutter(source)).max(1)
    }

    fn parts(&self, source: &dyn Source, line: usize) -> usize {
        if self.wrap { source.width(line).div_ceil(self.room(source)).max(1) } else { 1 }
    }

    fn after(&self, source: &dyn Source, (line, part): (usize, usize)) -> Option<(usize, usize)> {
        if part + 1 < self.parts(source, line) {
            return Some((line, part + 1));
        }
        (line + 1 < source.len()).then_some((line + 1, 0))
    }

    fn before(&self, source: &dyn Source, (line, part): (usize, usize)) -> Option<(usize, usize)> {
        match part.checked_sub(1) {
            Some(part) => Some((line, part)),
            None => line.checked_sub(1).map(|line| (line, self.parts(source, line).saturating_sub(1))),
        }
    }

    /// `line 3 of 900`, and whether the end is in view.
    pub fn place(&self, source: &dyn Source) -> String {
        let last = source.len();
        let at = self.top.0.saturating_add(1).min(last);
        format!("line {at} of {last}")
    }

    /// The rows in view. Nothing else is built.
    pub fn rows(&self, source: &dyn Source, theme: &Theme) -> Vec<Line<'static>> {
        let mut rows = Vec::with_capacity(self.height);
        let mut at = Some(self.top);
        while let Some((line, part)) = at.filter(|_| rows.len() < self.height) {
            let width = self.room(source);
            let from = if self.wrap { part.saturating_mul(width) } else { self.left };
            let Some(slice) = source.slice(line, from, width) else { break };
            let marked = self.marked == Some(line);
            let said = source.mark(line);
            let pointer = Span::styled(if marked { "▸" } else { " " }, theme.style(Role::Accent));
            let glyph = said.map_or(Span::raw("  "), |(glyph, role)| {
                Span::styled(format!("{glyph} "), theme.style(role))
            });
            let mark: Vec<Span<'static>> = match self.gutter(source) {
                0 => Vec::new(),
                1 => vec![pointer],
                _ => vec![pointer, glyph],
            };
            let style = match said {
                Some((_, role)) => theme.style(role),
                None if marked => theme.style(Role::Match),
                None => Style::new(),
            };
            let text = ink::spans(&slice.text, style, theme);
            if self.wrap {
                // What was revealed is longer than it was: such a part takes more rows than one.
                let room = self.height - rows.len();
                let all = ink::wrap(text, width, usize::MAX, false).into_iter().take(room);
                rows.extend(all.map(|row| Line::from_iter(mark.clone().into_iter().chain(row))));
            } else {
                let mut row = mark;
                let before = slice.before && width > 1;
                if before {
                    row.push(Span::styled(ink::MORE, theme.style(Role::Muted)));
                }
                row.extend(ink::fit(text, width - usize::from(before), slice.more));
                rows.push(Line::from(row));
            }
            at = self.after(source, (line, part));
        }
        rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;
    use std::sync::Arc;

    fn text(pager: &Pager, source: &dyn Source) -> Vec<String> {
        let theme = Theme::embedded("mono").unwrap();
        pager.rows(source, &theme).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn long_lines_scroll_with_marks_or_wrap_whole() {
        let source: Vec<String> = vec!["abcdefghij".into(), "x".into(), "e\u{202e}f".into()];
        let mut pager = Pager::new(false);
        pager.resize(6, 3);
        assert_eq!(text(&pager, &source), ["abcde…", "x", "e<U+2…"]);
        pager.sideways(&source, true);
        assert_eq!(text(&pager, &source), ["…defg…", "…", "…"]);
        pager.toggle_wrap();
        assert_eq!(text(&pager, &source), ["abcdef", "ghij", "x"]);
        pager.go(&source, Move::By(2));
        assert_eq!(text(&pager, &source), ["x", "e<U+20", "2E>f"]);
        pager.go(&source, Move::First);
        pager.go(&source, Move::Last);
        assert_eq!(pager.place(&source), "line 1 of 3");
    }

    struct Counted<'a>(&'a Lines, Cell<(usize, usize)>);

    impl Source for Counted<'_> {
        fn len(&self) -> usize {
            self.0.len()
        }
        fn width(&self, line: usize) -> usize {
            self.0.width(line)
        }
        fn slice(&self, line: usize, from: usize, width: usize) -> Option<Slice> {
            let slice = self.0.slice(line, from, width)?;
            let (count, chars) = self.1.get();
            self.1.set((count + 1, chars + slice.text.chars().count()));
            Some(slice)
        }
    }

    #[test]
    fn of_a_line_of_20_megabytes_only_what_is_in_view_is_read() {
        let huge = format!("[\"{}\",1]", "a b".repeat(7_000_000));
        let lines = Lines::pretty(Arc::from(huge.into_bytes())).unwrap();
        for wrap in [true, false] {
            let mut pager = Pager::new(wrap);
            pager.resize(100, 30);
            for movement in [Move::HalfPages(2), Move::Last, Move::By(-3)] {
                pager.go(&lines, movement);
                let counted = Counted(&lines, Cell::default());
                let rows = text(&pager, &counted);
                let (count, chars) = counted.1.get();
                assert!(count <= 30 && chars <= 3000, "{count} {chars}");
                assert!(!rows.is_empty() && rows.len() <= 30);
            }
        }
    }
}
