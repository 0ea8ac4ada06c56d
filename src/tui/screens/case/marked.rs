//! The lines of one whole text with what differs in them marked: by glyph first, by colour where there is any.

use crate::domain::diff::{Diff, Kind, Lines, Side, Slice};
use crate::tui::theme::Role;
use crate::tui::widgets::pager::Source;

/// See the module.
pub(super) struct Marked<'a> {
    /// The lines.
    pub(super) lines: &'a Lines,
    /// The differences, where lines are marked.
    pub(super) diff: Option<&'a Diff>,
    /// Which of the two texts.
    pub(super) side: Side,
}

impl Source for Marked<'_> {
    fn len(&self) -> usize {
        self.lines.len()
    }

    fn width(&self, line: usize) -> usize {
        self.lines.width(line)
    }

    fn slice(&self, line: usize, from: usize, width: usize) -> Option<Slice> {
        self.lines.slice(line, from, width)
    }

    fn marks(&self) -> bool {
        self.diff.is_some()
    }

    fn mark(&self, line: usize) -> Option<(&'static str, Role)> {
        let row = self.diff?.difference_in(self.side, self.lines.span(line)?)?;
        Some(match row.kind {
            Kind::Changed => ("~", Role::Changed),
            Kind::Added => ("+", Role::Added),
            Kind::Removed => ("-", Role::Removed),
            Kind::Spelling => ("≈", Role::Muted),
            Kind::Equal => return None,
        })
    }
}
