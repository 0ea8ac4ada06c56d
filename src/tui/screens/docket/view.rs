//! How the docket is laid out and drawn.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::Line;
use ratatui::widgets::{Block, Borders, Widget as _};

use super::rows::{Columns, Item};
use super::{Docket, Tab};
use crate::domain::text::clip;
use crate::tui::model::chosen::Chosen;
use crate::tui::screens::View;
use crate::tui::screens::case::stack;
use crate::tui::theme::Role;
use crate::tui::widgets::status::{self, Waiting};
use crate::tui::widgets::{ink, moment};

/// From this width on the preview stands to the right.
const BESIDE: u16 = 120;
/// Below this height there is no room for a preview below.
const BELOW: u16 = 16;

/// Where the parts stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Places {
    tabs: Rect,
    filter: Rect,
    head: Rect,
    pub(super) rows: Rect,
    preview: Option<Rect>,
}

impl Docket {
    pub(super) fn relayout(&mut self) {
        let (width, height) = self.size;
        let places = self.places(Rect { x: 0, y: 0, width, height });
        self.pages.resize(places.rows.height);
        self.entries.resize(places.rows.height);
    }

    fn places(&self, area: Rect) -> Places {
        let mut rest = area;
        let mut top = |rows: u16| {
            let rows = rows.min(rest.height);
            let part = Rect { height: rows, ..rest };
            rest = Rect { y: rest.y.saturating_add(rows), height: rest.height - rows, ..rest };
            part
        };
        let (tabs, filter) = (top(1), top(if self.in_quarantine() { 0 } else { self.filter.height() }));
        let mut preview = None;
        if self.previews && !self.in_quarantine() {
            if area.width >= BESIDE {
                let wide = (area.width.saturating_mul(3) / 8).clamp(44, 80);
                preview = Some(Rect { x: rest.right().saturating_sub(wide), width: wide, ..rest });
                rest.width = rest.width.saturating_sub(wide);
            } else if area.height >= BELOW {
                let high = (rest.height / 3).clamp(6, 12);
                preview = Some(Rect { y: rest.bottom().saturating_sub(high), height: high, ..rest });
                rest.height = rest.height.saturating_sub(high);
            }
        }
        let head = Rect { height: rest.height.min(1), ..rest };
        let rows = Rect { y: rest.y.saturating_add(1), height: rest.height.saturating_sub(1), ..rest };
        Places { tabs, filter, head, rows, preview }
    }

    /// Draws it.
    pub(super) fn paint(&self, frame: &mut Frame<'_>, area: Rect, view: &View<'_>) {
        let places = self.places(area);
        self.paint_tabs(frame, places.tabs, view);
        if places.filter.height > 0 {
            self.filter.draw(frame, places.filter, view, &self.found());
        }
        let run = view.model.now.run;
        let waiting = self.since.map(|since| Waiting { since }.mark(run)).unwrap_or_default();
        if self.in_quarantine() {
            self.entries.draw(frame, places.head, places.rows, view, &waiting);
            return;
        }
        if let Some(place) = places.preview {
            self.paint_preview(frame, place, view);
        }
        let columns = self.columns(places.rows.width.saturating_sub(1), &view.model.columns);
        let head = Rect {
            x: places.head.x.saturating_add(1),
            width: places.head.width.saturating_sub(1),
            ..places.head
        };
        columns.head(self.order, view.theme).render(head, frame.buffer_mut());
        let rows = places.rows;
        match self.pages.failed() {
            Some(why) => {
                return status::say(
                    frame,
                    rows,
                    view.theme,
                    &format!("could not be read: {why}; r reads again"),
                    Role::Danger,
                );
            }
            // Rows of another question stay for a moment, so that a quick answer does not flicker.
            None if !waiting.is_empty() => {
                return status::say(frame, rows, view.theme, &format!("{waiting} reading…"), Role::Muted);
            }
            None if self.is_empty() => return self.paint_nothing(frame, rows, view),
            None => {}
        }
        let now = moment::now(view.model);
        self.pages.list().draw(frame, rows, view.theme, self.pages.held(), |row, _| {
            self.pages.held().get(row).map(|item| columns.row(item, now, view.theme)).unwrap_or_default()
        });
        self.paint_arrivals(frame, rows, view);
    }

    /// The columns that were chosen and have something to show.
    fn columns(&self, width: u16, chosen: &Chosen) -> Columns {
        let held = self.pages.held();
        let seen = self.pages.list().window().filter_map(|row| held.get(row));
        Columns::fit(width, chosen, self.order.key, held.iter().map(Item::name), seen)
    }

    fn paint_nothing(&self, frame: &mut Frame<'_>, rows: Rect, view: &View<'_>) {
        let indent = Rect { x: rows.x.saturating_add(1), width: rows.width.saturating_sub(2), ..rows };
        let style = view.theme.style(Role::Muted);
        let lines = ink::paragraph(&self.nothing(), style, usize::from(indent.width), 4, view.theme);
        stack(frame, indent, lines);
    }

    fn paint_tabs(&self, frame: &mut Frame<'_>, area: Rect, view: &View<'_>) {
        let short = area.width < 100;
        let tabs: Vec<(&str, Option<String>)> = Tab::EVERY
            .iter()
            .map(|tab| {
                let tally = self.tallies.as_ref().map(|tallies| tab.tally(tallies));
                let count = tally.map(|tally| status::counted(tally.count, tally.capped));
                (if short { tab.short() } else { tab.name() }, count)
            })
            .collect();
        let chosen = Tab::EVERY.iter().position(|tab| *tab == self.tab).unwrap_or(0);
        status::tabs(frame, area, view.theme, &tabs, chosen);
    }

    fn paint_arrivals(&self, frame: &mut Frame<'_>, rows: Rect, view: &View<'_>) {
        let arrived = self.arrived();
        if arrived == 0 || rows.height == 0 {
            return;
        }
        let text = format!(" {} new ↓ u ", status::counted(arrived, false));
        let width = u16::try_from(text.chars().count()).unwrap_or(u16::MAX).min(rows.width);
        let place = Rect { x: rows.right() - width, y: rows.bottom() - 1, width, height: 1 };
        Line::styled(text, view.theme.style(Role::Toast)).render(place, frame.buffer_mut());
    }

    fn paint_preview(&self, frame: &mut Frame<'_>, place: Rect, view: &View<'_>) {
        let theme = view.theme;
        let beside = place.width < frame.area().width;
        let mut block = Block::new()
            .borders(if beside { Borders::LEFT } else { Borders::TOP })
            .border_style(theme.style(Role::Border));
        let item = self.selected();
        if let Some(item) = item {
            let name = clip(item.name(), usize::from(place.width.saturating_sub(4))).text;
            block = block.title(Line::styled(format!(" {name} "), theme.style(Role::Title)));
        }
        let inner = block.inner(place);
        block.render(place, frame.buffer_mut());
        let inner = if beside {
            // The first line is level with the headings.
            Rect { x: inner.x.saturating_add(1), width: inner.width.saturating_sub(1), ..inner }
        } else {
            Rect { x: inner.x.saturating_add(1), width: inner.width.saturating_sub(2), ..inner }
        };
        let Some(item) = item else { return };
        let mut lines = self.preview.lines(item, inner.width, view);
        let room = usize::from(inner.height);
        if lines.len() > room && room > 0 {
            lines.truncate(room - 1);
            lines.push(Line::styled("… more: enter opens it", theme.style(Role::Muted)));
        }
        for (y, line) in (inner.y..inner.bottom()).zip(lines) {
            line.render(Rect { y, height: 1, ..inner }, frame.buffer_mut());
        }
    }

    /// How many rows the filter found, as far as is known.
    fn found(&self) -> String {
        if self.pages.is_new() {
            return "reading…".to_owned();
        }
        let held = self.pages.held();
        let more = if held.at_start() && held.at_end() { "" } else { "+" };
        format!("{}{more} found", held.count())
    }

    /// Why nothing is listed, and where else it may be.
    fn nothing(&self) -> String {
        if self.filter.is_empty() {
            return self.tab.nothing().to_owned();
        }
        let place = if self.tab == Tab::All { "nothing that waits" } else { "nothing here" };
        let hint = if self.filter.is_typing() { "enter looks elsewhere" } else { self.elsewhere.words() };
        let joint = if hint.is_empty() { "" } else { "; " };
        format!("{place} fits the filter{joint}{hint}")
    }
}
