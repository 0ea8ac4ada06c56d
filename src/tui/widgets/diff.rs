//! The differences of two texts as rows: equal parts folded, each difference with its place, its word and its
//! values. Only the rows in view are formatted, and of each value only what is shown.

#[cfg(test)]
mod tests;
mod value;

use ratatui::text::{Line, Span};

use super::ink;
use super::list::Move;
use crate::domain::diff::{Diff, Kind, Row, Side};
use crate::tui::theme::{Role, Theme};

/// How much is seen of the two sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sides {
    /// Each in a pane of its own; a row takes as many lines in both.
    Beside,
    /// One under the other in one pane.
    Under,
    /// One alone.
    One(Side),
}

/// What the two sides are called.
#[derive(Clone, Copy, Debug)]
pub struct Names<'a> {
    /// The first.
    pub a: &'a str,
    /// The second.
    pub b: &'a str,
}

/// Where the list of differences stands.
#[derive(Clone, Debug)]
pub struct Rows {
    selected: usize,
    top: usize,
    left: usize,
    wrap: bool,
    sides: Sides,
    width: usize,
    height: usize,
}

/// Lines a wrapped value takes at most; the rest is opened.
const MOST: usize = 6;
/// Characters that values can be scrolled sideways; the rest is opened.
const REACH: usize = 4096;

impl Rows {
    /// At the first row.
    pub fn new() -> Rows {
        Rows { selected: 0, top: 0, left: 0, wrap: true, sides: Sides::Under, width: 1, height: 1 }
    }

    /// Takes note of the size of one pane and of what is seen in it.
    pub fn resize(&mut self, width: u16, height: u16, sides: Sides) {
        (self.width, self.height) = (usize::from(width).max(1), usize::from(height).max(1));
        self.sides = sides;
    }

    /// Whether long values are wrapped.
    pub fn wraps(&self) -> bool {
        self.wrap
    }

    /// Wraps long values, or no longer.
    pub fn toggle_wrap(&mut self) {
        (self.wrap, self.left) = (!self.wrap, 0);
    }

    /// Scrolls values sideways; places stay where they are.
    pub fn sideways(&mut self, right: bool) {
        let step = (self.width / 2).max(1);
        let to = if right { self.left.saturating_add(step) } else { self.left.saturating_sub(step) };
        self.left = if self.wrap { 0 } else { to.min(REACH) };
    }

    /// The selected row.
    pub fn selected<'d>(&self, diff: &'d Diff) -> Option<&'d Row> {
        diff.row(self.selected)
    }

    /// The byte of one side's text nearest before the selected row; only so far as it is cheap.
    pub fn before(&self, diff: &Diff, side: Side) -> Option<u32> {
        let rows = (0..self.selected).rev().take(REACH).filter_map(|at| diff.row(at));
        let spans = rows.filter_map(|row| Some((row, row.span(side)?)));
        // A fold of members stands at the beginning of what they are in, all else where it ends.
        let mut near =
            spans.map(|(row, span)| match row.kind == Kind::Equal && diff.fold_start(row).is_none() {
                true => span.start,
                false => span.end.saturating_sub(1),
            });
        near.next()
    }

    /// Selects a row and brings it into view.
    pub fn select(&mut self, diff: &Diff, row: usize) {
        self.selected = row.min(diff.rows().len().saturating_sub(1));
        self.follow(diff);
    }

    /// Moves the selection.
    pub fn go(&mut self, diff: &Diff, movement: Move) {
        let page = (self.height / 6).max(1);
        let to = match movement {
            Move::By(by) => self.selected.saturating_add_signed(by),
            Move::HalfPages(pages) => {
                let by = pages.saturating_mul(isize::try_from(page).unwrap_or(1));
                self.selected.saturating_add_signed(by)
            }
            Move::First => 0,
            Move::Last => usize::MAX,
        };
        self.select(diff, to);
    }

    /// Moves to the next difference, or the one before. Returns whether there is one.
    pub fn step(&mut self, diff: &Diff, forward: bool) -> bool {
        let all = diff.differences();
        let here = u32::try_from(self.selected).unwrap_or(u32::MAX);
        let next = if forward {
            all.get(all.partition_point(|at| *at <= here))
        } else {
            all.partition_point(|at| *at < here).checked_sub(1).and_then(|at| all.get(at))
        };
        if let Some(row) = next {
            self.select(diff, *row as usize);
        }
        next.is_some()
    }

    /// `difference 2 of 5`: which difference is selected, or was passed last.
    pub fn place(&self, diff: &Diff) -> String {
        let all = diff.differences();
        let here = u32::try_from(self.selected).unwrap_or(u32::MAX);
        match all.partition_point(|at| *at <= here) {
            _ if all.is_empty() => "no difference".to_owned(),
            at => format!("difference {at} of {}", all.len()),
        }
    }

    /// Keeps the selected row in view, whole where it fits.
    pub fn follow(&mut self, diff: &Diff) {
        if self.selected < self.top {
            self.top = self.selected;
        }
        let mut used = self.lines_of(diff, self.selected);
        let mut first = self.selected;
        while first > self.top {
            used = used.saturating_add(self.lines_of(diff, first - 1));
            if used > self.height {
                break;
            }
            first -= 1;
        }
        self.top = first;
    }

    fn lines_of(&self, diff: &Diff, at: usize) -> usize {
        let Some(row) = diff.row(at) else { return 0 };
        if row.kind == Kind::Equal {
            return 1;
        }
        let lines = |side| value::lines_of(diff, row, side, self.room(), self.most());
        1 + match self.sides {
            Sides::Beside => lines(Side::A).max(lines(Side::B)),
            Sides::Under => lines(Side::A) + lines(Side::B),
            Sides::One(side) => lines(side),
        }
    }

    /// The cells of a value: what is left beside the mark of the selection and the side's name.
    fn room(&self) -> usize {
        self.width.saturating_sub(5).max(1)
    }

    fn most(&self) -> usize {
        if self.wrap { MOST } else { 1 }
    }

    /// The lines in view, for the panes that are seen: one, or two with as many lines.
    pub fn view(&self, diff: &Diff, names: Names<'_>, theme: &Theme) -> Vec<[Vec<Line<'static>>; 2]> {
        let mut blocks = Vec::new();
        let mut used = 0;
        for at in self.top..diff.rows().len() {
            if used >= self.height {
                break;
            }
            let Some(row) = diff.row(at) else { break };
            let block = self.block(diff, row, at == self.selected, names, theme);
            used += block.iter().map(Vec::len).max().unwrap_or(0);
            blocks.push(block);
        }
        blocks
    }

    fn block(
        &self,
        diff: &Diff,
        row: &Row,
        mine: bool,
        names: Names<'_>,
        theme: &Theme,
    ) -> [Vec<Line<'static>>; 2] {
        let head = |side| self.head(diff, row, (side, names), mine, theme);
        if row.kind == Kind::Equal {
            let two = if self.sides == Sides::Beside { vec![head(Side::B)] } else { Vec::new() };
            return [vec![head(if self.sides == Sides::One(Side::B) { Side::B } else { Side::A })], two];
        }
        let values = |side: Side, name: &str| -> Vec<Line<'static>> {
            let rows = value::lines(diff, row, side, self.room(), self.most(), self.left, theme);
            let first = |at: usize| if at == 0 { format!("  {name:<2} ") } else { "     ".to_owned() };
            let line = |(at, spans): (usize, Vec<Span<'static>>)| {
                let mut line = vec![Span::styled(first(at), theme.style(Role::Muted))];
                line.extend(spans);
                Line::from(line)
            };
            rows.into_iter().enumerate().map(line).collect()
        };
        let under = |side, lines: Vec<Vec<Line<'static>>>| {
            std::iter::once(head(side)).chain(lines.into_iter().flatten()).collect::<Vec<_>>()
        };
        match self.sides {
            Sides::Beside => {
                let mut both =
                    [under(Side::A, vec![values(Side::A, "")]), under(Side::B, vec![values(Side::B, "")])];
                let most = both.iter().map(Vec::len).max().unwrap_or(0);
                both.iter_mut().for_each(|lines| lines.resize(most, Line::default()));
                both
            }
            Sides::Under => {
                [under(Side::A, vec![values(Side::A, names.a), values(Side::B, names.b)]), Vec::new()]
            }
            Sides::One(side) => {
                let name = if side == Side::A { names.a } else { names.b };
                [under(side, vec![values(side, name)]), Vec::new()]
            }
        }
    }

    /// The first line of a row: mark, glyph, place, word.
    fn head(
        &self,
        diff: &Diff,
        row: &Row,
        (side, names): (Side, Names<'_>),
        mine: bool,
        theme: &Theme,
    ) -> Line<'static> {
        let (glyph, role) = match row.kind {
            Kind::Changed => ("~", Role::Changed),
            Kind::Added => ("+", Role::Added),
            Kind::Removed => ("-", Role::Removed),
            Kind::Spelling => ("≈", Role::Muted),
            Kind::Equal => ("…", Role::Muted),
        };
        let mark = if mine { Span::styled("▌", theme.style(Role::Accent)) } else { Span::raw(" ") };
        let glyph = Span::styled(format!("{glyph} "), theme.style(role));
        let word = match row.kind {
            Kind::Equal => String::new(),
            Kind::Spelling => "  written differently, same value".to_owned(),
            kind => format!("  {}", kind.word()),
        };
        let mut place = if row.kind == Kind::Equal { fold(diff, row, side) } else { place(diff, row, side) };
        // Elements shift: one head over both values says where each side has its own.
        let both = matches!(row.kind, Kind::Changed | Kind::Spelling) && self.sides == Sides::Under;
        if both && diff.pointer_a(row) != diff.pointer_b(row) {
            place = format!("{place}, in {} {}", names.b, bare(diff, row, Side::B));
        }
        let style = if row.kind == Kind::Equal { theme.style(Role::Muted) } else { theme.style(Role::Title) };
        let room = self.width.saturating_sub(3 + word.len());
        let mut line = vec![mark, glyph];
        line.extend(end_of(&place, style, room, theme));
        line.push(Span::styled(word, theme.style(role)));
        let mut line = Line::from(line);
        if mine {
            line = line.style(theme.style(Role::Selected));
        }
        line
    }
}

impl Default for Rows {
    fn default() -> Self {
        Rows::new()
    }
}

/// The end of a place says more than its beginning: it is cut in front.
fn end_of(place: &str, style: ratatui::style::Style, room: usize, theme: &Theme) -> Vec<Span<'static>> {
    let spans = ink::spans(place, style, theme);
    if ink::width(&spans) <= room {
        return spans;
    }
    let mut skip = place.chars().count().saturating_sub(room.saturating_sub(1));
    loop {
        let tail: String = place.chars().skip(skip).collect();
        let mut spans = vec![Span::styled(ink::MORE, style)];
        spans.extend(ink::spans(&tail, style, theme));
        if ink::width(&spans) <= room.max(1) || tail.is_empty() {
            return spans;
        }
        skip += 1;
    }
}

/// The most of a pointer that is shown in a row.
const POINTER: usize = 512;

fn end(text: &str) -> &str {
    text.get(text.ceil_char_boundary(text.len().saturating_sub(POINTER))..).unwrap_or_default()
}

/// `/facts/3 · Acme, 2024 · revenue`: the pointer, and what the element it leads through is called.
fn place(diff: &Diff, row: &Row, side: Side) -> String {
    match diff.element(row, side) {
        Some(element) => match element.within() {
            None => format!("{} · {}", end(&element.pointer), element.name),
            Some(inside) => format!("{} · {} · {}", end(&element.pointer), element.name, end(inside)),
        },
        None => match bare(diff, row, side) {
            pointer if pointer.is_empty() => "the whole".to_owned(),
            pointer => pointer,
        },
    }
}

/// The pointer on one side; on the other where this one has no such value.
fn bare(diff: &Diff, row: &Row, side: Side) -> String {
    let own = if side == Side::A { diff.pointer_a(row) } else { diff.pointer_b(row) };
    end(&own.unwrap_or_else(|| diff.pointer(row))).to_owned()
}

/// `41 equal members under /facts`.
fn fold(diff: &Diff, row: &Row, side: Side) -> String {
    let under = match bare(diff, row, side).is_empty() {
        true => "at the top".to_owned(),
        false => format!("under {}", place(diff, row, side)),
    };
    let many = if row.fold == 1 { "" } else { "s" };
    match diff.fold_start(row) {
        Some((a, b)) => {
            let first = if side == Side::A { a } else { b };
            let last = first.saturating_add(row.fold.saturating_sub(1));
            format!("{} equal element{many} {first}–{last} {under}", row.fold)
        }
        None => format!("{} equal member{many} {under}", row.fold),
    }
}
