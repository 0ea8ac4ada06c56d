//! How the timeline is drawn: one row an event, and below them all of the selected one.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget as _;

use super::super::View;
use super::super::case::stack;
use super::Timeline;
use super::window::Noted;
use super::words::{self, Kind};
use crate::domain::event::What;
use crate::tui::theme::Role;
use crate::tui::widgets::ink;
use crate::tui::widgets::list::Rows as _;
use crate::tui::widgets::moment::{Told, moment};
use crate::tui::widgets::table::{Column, Layout};

/// Rows in which the selected event stands in full, the line above them included.
pub(super) fn below(height: u16) -> u16 {
    if height >= 16 { 5 } else { 0 }
}

/// One row in words.
struct Cells {
    revision: String,
    time: String,
    arrival: String,
    who: String,
    what: String,
    about: String,
    version: String,
    kind: Kind,
    odd: bool,
}

impl Timeline {
    fn cells(&self, noted: &Noted, count: usize, view: &View<'_>) -> Cells {
        let Noted { event, odd } = noted;
        let told = words::words(event);
        let mut about = String::new();
        if !odd.is_empty() {
            about.push_str(&format!("! {}: ", odd.join(", ")));
        }
        if count > 1 {
            about.push_str(&format!("×{count} duplicates, the first: "));
        }
        about.push_str(&told.about);
        Cells {
            revision: if count == 1 { event.revision.to_string() } else { format!("{}+", event.revision) },
            time: moment(event.at, self.told, view.model),
            arrival: match &event.what {
                What::Delivered(d) => d.message.arrival().to_string(),
                _ => String::new(),
            },
            who: told.who,
            what: told.what,
            about,
            version: format!("v{}", event.state_version),
            kind: told.kind,
            odd: !odd.is_empty(),
        }
    }

    /// The columns, no wider than what is in view needs: what is left over is for what happened.
    fn columns(&self, width: u16, view: &View<'_>) -> Layout {
        let (mut time, mut who, mut what) = (4, 3, 4);
        for row in self.list.window() {
            let Some((noted, count)) = self.window.row_at(row) else { break };
            let cells = self.cells(noted, count, view);
            let wide = |text: &str| ink::width(&ink::spans(text, Style::new(), view.theme));
            time = time.max(wide(&cells.time));
            who = who.max(wide(&cells.who));
            what = what.max(wide(&cells.what));
        }
        let fit = |title, cells: usize, most: u16, rank, right| {
            let least = u16::try_from(cells).unwrap_or(u16::MAX).min(most);
            Column { title, least, most: least, rank, right }
        };
        let columns = [
            fit("rev", 6, 6, 4, true),
            fit("time", time, 20, 1, false),
            fit("#", 4, 4, 3, true),
            fit("who", who, if width < 100 { 12 } else { 18 }, 2, false),
            fit("what", what, 13, 0, false),
            Column { title: "about", least: 12, most: u16::MAX, rank: 0, right: false },
            fit("v", 4, 4, 5, true),
        ];
        Layout::fit(&columns, width)
    }

    fn line(&self, columns: &Layout, row: usize, view: &View<'_>) -> Line<'static> {
        let Some((noted, count)) = self.window.row_at(row) else { return Line::default() };
        let theme = view.theme;
        let cells = self.cells(noted, count, view);
        let loud = cells.what.starts_with(|char: char| char.is_uppercase());
        let muted = theme.style(Role::Muted);
        let style = match (cells.odd, loud, cells.kind) {
            (true, _, _) => theme.style(Role::Warning),
            (_, true, _) => theme.style(Role::Accent),
            (_, _, Kind::Move) => Style::new(),
            _ => muted,
        };
        columns.row([
            (cells.revision.as_str(), muted),
            (cells.time.as_str(), muted),
            (cells.arrival.as_str(), theme.style(Role::Badge)),
            (cells.who.as_str(), theme.style(Role::Untrusted)),
            (cells.what.as_str(), style),
            (cells.about.as_str(), if cells.odd { theme.style(Role::Warning) } else { Style::new() }),
            (cells.version.as_str(), muted),
        ])
    }

    fn title(&self, width: usize, view: &View<'_>) -> Line<'static> {
        let theme = view.theme;
        let muted = theme.style(Role::Muted);
        let mut line = vec![Span::raw(" ")];
        line.extend(ink::spans(self.reading.id().as_str(), theme.style(Role::Title), theme));
        let told = format!("  timeline · {} events · {}", self.window.end, self.told.word());
        line.push(Span::styled(told, muted));
        let wanted = &self.window.wanted;
        if let Some(kind) = wanted.kind {
            line.push(Span::styled(format!(" · only {}", kind.word()), theme.style(Role::Warning)));
        }
        if !wanted.text.is_empty() {
            line.push(Span::styled(" · / ", theme.style(Role::Warning)));
            line.extend(ink::spans(&wanted.text, theme.style(Role::Match), theme));
        }
        if !self.window.folds {
            line.push(Span::styled(" · duplicates unfolded", muted));
        }
        if self.asked.is_some() {
            let (from, to) = self.window.read;
            line.push(Span::styled(format!(" · reading, {from}–{to} so far"), muted));
        }
        Line::from(ink::fit(line, width, false))
    }

    /// All of the selected event that the row had to cut.
    fn whole(&self, width: usize, rows: usize, view: &View<'_>) -> Vec<Line<'static>> {
        let theme = view.theme;
        let Some((noted, count)) = self.window.row_at(self.list.row()) else { return Vec::new() };
        let cells = self.cells(noted, count, view);
        let at = moment(
            noted.event.at,
            if self.told == Told::Relative { Told::Utc } else { self.told },
            view.model,
        );
        let head = format!("{} {at}  {}  {}", cells.revision, cells.what, cells.who);
        let mut lines =
            vec![Line::from(ink::fit(ink::spans(&head, theme.style(Role::Title), theme), width, false))];
        let style = if cells.odd { theme.style(Role::Warning) } else { Style::new() };
        lines.extend(ink::paragraph(&cells.about, style, width, rows.saturating_sub(1), theme));
        lines
    }

    /// Paints the whole screen.
    pub(super) fn paint(&self, frame: &mut Frame<'_>, area: Rect, view: &View<'_>) {
        let theme = view.theme;
        let row = |y: u16| Rect { y: area.y.saturating_add(y), height: 1, ..area }.intersection(area);
        self.title(usize::from(area.width), view).render(row(0), frame.buffer_mut());
        let columns = self.columns(area.width.saturating_sub(1), view);
        if let Some(filter) = &self.filter {
            let place = row(1);
            let width = usize::from(place.width);
            frame.buffer_mut().set_stringn(place.x, place.y, " / ", width, theme.style(Role::Key));
            let field = Rect { x: place.x.saturating_add(3), width: place.width.saturating_sub(3), ..place };
            filter.draw(frame, field, theme, true);
        } else {
            let head = Rect { x: area.x.saturating_add(1), ..row(1) }.intersection(area);
            columns.head(theme.style(Role::Muted)).render(head, frame.buffer_mut());
        }
        let below = below(area.height);
        let rows =
            Rect { y: area.y.saturating_add(2), height: area.height.saturating_sub(2 + below), ..area };
        let rows = rows.intersection(area);
        if let Some((text, role)) = self.instead(view) {
            return Line::styled(text, theme.style(role)).render(rows, frame.buffer_mut());
        }
        self.list.draw(frame, rows, theme, &self.window, |row, _| self.line(&columns, row, view));
        if below > 0 {
            let width = usize::from(area.width);
            let rule = Line::styled("─".repeat(width), theme.style(Role::Border));
            let lines = self.whole(width.saturating_sub(1), usize::from(below - 1), view);
            let lines = lines.into_iter().map(|mut line| {
                line.spans.insert(0, Span::raw(" "));
                line
            });
            let place = Rect { y: rows.bottom(), height: below, ..area };
            stack(frame, place, std::iter::once(rule).chain(lines));
        }
    }

    /// What is said where there are no rows.
    fn instead(&self, view: &View<'_>) -> Option<(String, Role)> {
        let problem = self.problem.as_deref().or(self.reading.problem());
        let wait = self.reading.waiting().map(|waiting| waiting.mark(view.model.now.run));
        match (problem, wait) {
            (Some(why), _) => Some((why.to_owned(), Role::Danger)),
            (None, Some(wait)) => Some((format!(" reading {wait}"), Role::Muted)),
            _ if self.window.is_empty() && self.asked.is_none() => {
                Some((" nothing of this kind".to_owned(), Role::Muted))
            }
            _ => None,
        }
    }
}
