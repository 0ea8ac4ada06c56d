//! Where everything stands on the screen, and how it is painted.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Widget as _};

use super::super::View;
use super::Case;
use super::columns::Column;
use super::header::Heads;
use super::marked::Marked;
use super::sides::{Focus, Look};
use crate::domain::diff::Side;
use crate::tui::model::Model;
use crate::tui::theme::{Role, Theme};
use crate::tui::widgets::diff::Names;
use crate::tui::widgets::ink;

/// At least this wide, both sides have a pane of their own.
const WIDE: u16 = 120;

/// One pane.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pane {
    /// Its frame; empty where it has none.
    pub(super) frame: Rect,
    /// Where its header stands; empty where headers stand above.
    pub(super) header: Rect,
    /// Where the text stands.
    pub(super) body: Rect,
}

/// The parts of the screen.
#[derive(Clone, Debug, Default)]
pub(super) struct Parts {
    pub(super) wide: bool,
    pub(super) title: Rect,
    pub(super) notes: Rect,
    /// Where every column is named, when there are more than two.
    pub(super) names: Rect,
    /// Without frames: the headers of the sides that are seen.
    pub(super) heads: Rect,
    /// Two where it is wide, else one.
    pub(super) panes: Vec<Pane>,
    /// Without sides: where the task's submissions are listed.
    pub(super) list: Rect,
}

/// Takes rows off the top.
fn take(rest: &mut Rect, rows: u16) -> Rect {
    let rows = rows.min(rest.height);
    let top = Rect { height: rows, ..*rest };
    *rest = Rect { y: rest.y.saturating_add(rows), height: rest.height - rows, ..*rest };
    top
}

impl Case {
    /// The parts of `area`. Depends on nothing that drawing could change.
    pub(super) fn parts(&self, area: Rect, model: &Model) -> Parts {
        let mut rest = area;
        let mut parts = Parts { wide: area.width >= WIDE, ..Parts::default() };
        parts.title = take(&mut rest, 1);
        let Some(set) = self.sets.get(self.set).filter(|_| self.compares()) else {
            let facts = u16::try_from(self.fact_lines(usize::from(area.width), &Theme::bare(), model).len())
                .unwrap_or(u16::MAX);
            parts.notes = take(&mut rest, facts.min(area.height.saturating_mul(3) / 5));
            take(&mut rest, 1);
            parts.list = rest;
            return parts;
        };
        let most = if area.height >= 20 { 4 } else { 1 };
        let notes = u16::try_from(self.notes(model).len()).unwrap_or(u16::MAX);
        parts.notes = take(&mut rest, notes.min(most));
        if set.columns.len() > 2 {
            parts.names = take(&mut rest, 1);
        }
        let head = self.head_rows(area.height, parts.wide);
        if parts.wide {
            let left = rest.width / 2;
            let frames =
                [Rect { width: left, ..rest }, Rect { x: rest.x + left, width: rest.width - left, ..rest }];
            for frame in frames {
                let mut inner = Block::bordered().inner(frame);
                let header = take(&mut inner, head);
                take(&mut inner, 1);
                parts.panes.push(Pane { frame, header, body: inner });
            }
            return parts;
        }
        let seen =
            if self.sides.focus == Focus::Both && self.sides.look == Look::Differences { 2 } else { 1 };
        parts.heads = take(&mut rest, head.saturating_mul(seen));
        take(&mut rest, 1);
        parts.panes.push(Pane { frame: Rect::default(), header: Rect::default(), body: rest });
        parts
    }

    /// The rows of one header.
    fn head_rows(&self, height: u16, wide: bool) -> u16 {
        let submissions = || {
            let set = self.sets.get(self.set);
            let (a, b) = set.map_or((None, None), |set| self.sides.columns(set));
            let most = [a, b].into_iter().flatten().map(|column| column.stored.len()).max();
            u16::try_from(most.unwrap_or(1)).unwrap_or(u16::MAX)
        };
        match (wide, height) {
            (true, 30..) => submissions().saturating_mul(2).saturating_add(3).min(height / 4),
            (true, _) => 3,
            // A title, the digest, a submission, the evidence.
            (false, 20..) => 4,
            (false, 12..) => 2,
            (false, _) => 1,
        }
    }

    /// Paints the whole screen.
    pub(super) fn paint(&self, frame: &mut Frame<'_>, area: Rect, view: &View<'_>) {
        let theme = view.theme;
        let parts = self.parts(area, view.model);
        let width = usize::from(area.width);
        self.title(width, theme).render(parts.title, frame.buffer_mut());
        if !self.compares() {
            return self.paint_task(frame, &parts, view);
        }
        let notes = self.note_lines(width, usize::from(parts.notes.height), theme, view.model);
        stack(frame, parts.notes, notes);
        self.names(width, theme).render(parts.names, frame.buffer_mut());
        let Some(set) = self.sets.get(self.set) else { return };
        let heads = Heads { columns: &set.columns, checks: &self.checks, theme, model: view.model };
        let (a, b) = self.sides.columns(set);
        if parts.wide {
            for ((pane, column), side) in parts.panes.iter().zip([a, b]).zip([Side::A, Side::B]) {
                self.paint_frame(frame, pane, column, side, heads);
            }
        } else {
            self.paint_heads(frame, parts.heads, (a, b), heads);
            let rule = Rect { y: parts.heads.bottom(), height: 1, ..area }.intersection(area);
            Line::styled("─".repeat(width), theme.style(Role::Border)).render(rule, frame.buffer_mut());
        }
        let wait = self.sides.waiting().map(|waiting| waiting.mark(view.model.now.run)).unwrap_or_default();
        let name = |column: Option<&Column>| column.map(|column| column.label.clone()).unwrap_or_default();
        self.paint_bodies(frame, &parts, (&name(a), &name(b)), &wait, theme);
    }

    /// `sides  [A] [B] C  D NEW`: which of them are on the screen, which are new.
    fn names(&self, width: usize, theme: &Theme) -> Line<'static> {
        let Some(set) = self.sets.get(self.set) else { return Line::default() };
        let news = self.news();
        let mut line = vec![Span::styled(" sides ", theme.style(Role::Muted))];
        for column in &set.columns {
            let on = self.sides.pair.is_some_and(|(a, b)| [a, b].contains(&column.arrival()));
            let new = news.iter().any(|arrival| column.holds(*arrival));
            let (open, close) = if on { ("[", "]") } else { (" ", " ") };
            let style = if on { theme.style(Role::Selected) } else { theme.style(Role::Muted) };
            line.push(Span::styled(format!("{open}{}{close}", column.label), style));
            if column.upheld == Some(true) {
                line.push(Span::styled("✓ upheld ", theme.style(Role::Success)));
            }
            if new {
                line.push(Span::styled("NEW ", theme.style(Role::Danger)));
            }
        }
        line.push(Span::styled("  pair chooses the right one", theme.style(Role::Muted)));
        Line::from(ink::fit(line, width, false))
    }

    fn is_new(&self, column: &Column) -> bool {
        self.news().iter().any(|arrival| column.holds(*arrival))
    }

    fn paint_frame(
        &self,
        frame: &mut Frame<'_>,
        pane: &Pane,
        column: Option<&Column>,
        side: Side,
        heads: Heads<'_>,
    ) {
        let theme = heads.theme;
        let focused = self.sides.focus == Focus::One(side);
        let mut block =
            Block::bordered().border_style(theme.style(if focused { Role::Focus } else { Role::Border }));
        if let Some(column) = column {
            let room = usize::from(pane.frame.width.saturating_sub(4));
            let mut title = heads.title(column, self.is_new(column)).spans;
            if focused {
                title.insert(0, Span::styled("▸", theme.style(Role::Accent)));
            }
            let mut title = ink::fit(title, room, false);
            title.push(Span::raw(" "));
            block = block.title(Line::from(title));
        }
        block.render(pane.frame, frame.buffer_mut());
        if let Some(column) = column {
            let lines = heads.lines(column, usize::from(pane.header.width), usize::from(pane.header.height));
            stack(frame, pane.header, lines);
        }
        let rule = Rect { y: pane.header.bottom(), height: 1, ..pane.header }.intersection(pane.frame);
        Line::styled("─".repeat(usize::from(rule.width)), theme.style(Role::Border))
            .render(rule, frame.buffer_mut());
    }

    fn paint_heads(
        &self,
        frame: &mut Frame<'_>,
        area: Rect,
        pair: (Option<&Column>, Option<&Column>),
        heads: Heads<'_>,
    ) {
        let seen: Vec<&Column> = match (self.sides.focus, self.sides.look) {
            (Focus::Both, Look::Differences) => [pair.0, pair.1].into_iter().flatten().collect(),
            (Focus::One(Side::B), _) => pair.1.or(pair.0).into_iter().collect(),
            _ => pair.0.into_iter().collect(),
        };
        let rows = area.height / u16::try_from(seen.len().max(1)).unwrap_or(1);
        let width = usize::from(area.width);
        let mut rest = area;
        for column in seen {
            let place = take(&mut rest, rows);
            let mut lines =
                vec![Line::from(ink::fit(heads.title(column, self.is_new(column)).spans, width, false))];
            if rows > 1 {
                let inner = heads.lines(column, width.saturating_sub(2), usize::from(rows - 1));
                lines.extend(inner.into_iter().map(|mut line| {
                    line.spans.insert(0, Span::raw("  "));
                    line
                }));
            } else {
                // The one line there is names what would be decided on.
                let digest = heads.lines(column, width.saturating_sub(3), 1);
                let label = Span::styled(format!("{}  ", column.label), heads.theme.style(Role::Badge));
                lines = digest
                    .into_iter()
                    .map(|mut line| {
                        line.spans.insert(0, label.clone());
                        line
                    })
                    .collect();
            }
            stack(frame, place, lines);
        }
    }

    fn paint_bodies(
        &self,
        frame: &mut Frame<'_>,
        parts: &Parts,
        names: (&str, &str),
        wait: &str,
        theme: &Theme,
    ) {
        if self.sides.look != Look::Differences {
            let sides: &[Side] = if parts.wide { &[Side::A, Side::B] } else { &[self.sides.reading()] };
            for (pane, side) in parts.panes.iter().zip(sides) {
                let lines = self.whole(*side, usize::from(pane.body.width), wait, theme);
                stack(frame, pane.body, lines);
            }
            return;
        }
        let Some(first) = parts.panes.first() else { return };
        let say = |text: &str, role| {
            ink::paragraph(text, theme.style(role), usize::from(first.body.width), 9, theme)
        };
        let diff = match self.sides.compared() {
            Some(Ok(diff)) => diff,
            Some(Err(why)) => {
                let text = format!("no differences to show: {why}. The other views show each side whole.");
                return stack(frame, first.body, say(&text, Role::Warning));
            }
            None if self.sides.is_stopped() => {
                let text = "the comparison was cancelled: refresh compares again, view shows each side whole";
                return stack(frame, first.body, say(text, Role::Warning));
            }
            None if wait.is_empty() => return stack(frame, first.body, say(" comparing", Role::Muted)),
            None => {
                let text = format!(" comparing {wait}  back cancels it");
                return stack(frame, first.body, say(&text, Role::Muted));
            }
        };
        let blocks = self.sides.rows.view(diff, Names { a: names.0, b: names.1 }, theme);
        for (at, pane) in parts.panes.iter().enumerate() {
            let lines = blocks.iter().filter_map(|block| block.get(at)).flatten().cloned();
            stack(frame, pane.body, lines);
        }
    }

    /// The rows in view of one side's text.
    fn whole(&self, side: Side, width: usize, wait: &str, theme: &Theme) -> Vec<Line<'static>> {
        let text = match self.sides.text(side) {
            Some(Ok(text)) => text,
            Some(Err(why)) => return ink::paragraph(why, theme.style(Role::Danger), width, 9, theme),
            None => {
                let text = if wait.is_empty() {
                    " reading".into()
                } else {
                    format!(" reading {wait}  back cancels it")
                };
                return vec![Line::styled(text, theme.style(Role::Muted))];
            }
        };
        let diff = self.sides.diff();
        let (lines, diff) = match self.sides.look {
            Look::Whole => (&text.pretty, diff),
            _ => (&text.raw, None),
        };
        let pager = if side == Side::A { self.sides.pagers.first() } else { self.sides.pagers.last() };
        match (lines, pager) {
            (Ok(lines), Some(pager)) => pager.rows(&Marked { lines, diff: diff.as_deref(), side }, theme),
            (Err(why), _) => ink::paragraph(why, theme.style(Role::Warning), width, 9, theme),
            (Ok(_), None) => Vec::new(),
        }
    }
}

/// Lines one under the other, as many as there is room for.
pub(in super::super) fn stack(
    frame: &mut Frame<'_>,
    area: Rect,
    lines: impl IntoIterator<Item = Line<'static>>,
) {
    let area = area.intersection(frame.area());
    for (y, line) in (area.y..area.bottom()).zip(lines) {
        line.render(Rect { y, height: 1, ..area }, frame.buffer_mut());
    }
}
