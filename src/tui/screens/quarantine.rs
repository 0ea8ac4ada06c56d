//! The quarantine: messages that could not be admitted, why, and what can be done about each.

mod act;
mod opened;
#[cfg(test)]
mod tests;

pub use opened::Opened;

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::numbered::{Read, Span};
use super::pages::{Pages, put};
use super::{AGES, Ctx, Layer, Outcome, View, movement};
use crate::coordinator::{Entry, EntryState};
use crate::tui::action::{Action, Scope};
use crate::tui::effect::{Ask, Effect};
use crate::tui::event::{Change, Event, Reply};
use crate::tui::model::Model;
use crate::tui::theme::Role;
use crate::tui::widgets::held::Keyed;
use crate::tui::widgets::list::{Move, Rows as _};
use crate::tui::widgets::moment;
use crate::tui::widgets::status::{self, Waiting};
use crate::tui::widgets::table::Column;
use act::Drop;
pub(super) use act::Readmit;
use std::time::Duration;

/// An entry as it is held.
#[derive(Clone, Debug)]
pub(super) struct Item(Entry);

impl Item {
    fn cells(&self, view: &View<'_>) -> [(String, Style); 7] {
        let (style, entry) = (|role| view.theme.style(role), &self.0);
        let (state, role) = match &entry.state {
            EntryState::Open => (entry.reason.as_str(), Role::Danger),
            EntryState::Readmitted { .. } => ("✓ re-admitted", Role::Success),
            EntryState::Dropped { .. } => ("✗ dropped", Role::Muted),
        };
        let named = |name: &Option<String>| name.clone().unwrap_or_else(|| "–".to_owned());
        [
            (entry.id.clone(), style(Role::Text)),
            (state.to_owned(), style(role)),
            (entry.detail.clone(), style(Role::Untrusted)),
            (named(&entry.named.task_id), style(Role::Untrusted)),
            (named(&entry.named.sender), style(Role::Untrusted)),
            (if entry.count > 1 { format!("{}×", entry.count) } else { String::new() }, style(Role::Warning)),
            (moment::minute(entry.received_at, view.model), style(Role::Muted)),
        ]
    }
}

impl Keyed for Item {
    type Id = String;
    type Cursor = u64;
    fn id(&self) -> String {
        self.0.id.clone()
    }
    fn cursor(&self) -> u64 {
        self.0.number
    }
}

/// The open entries as a list, oldest first: a screen, and a tab of the docket.
pub(super) struct Entries {
    pages: Pages<Item>,
    asked: Option<(u64, Span)>,
    settled_too: bool,
}

impl Entries {
    pub(super) fn new() -> Entries {
        Entries { pages: Pages::new(false), asked: None, settled_too: false }
    }

    pub(super) fn resize(&mut self, height: u16) {
        self.pages.resize(height);
    }

    pub(super) fn restart(&mut self, ctx: &mut Ctx<'_>) {
        self.pages.restart(ctx);
    }

    pub(super) fn stale(&mut self) {
        self.pages.stale();
    }

    pub(super) fn is_new(&self) -> bool {
        self.pages.is_new()
    }

    pub(super) fn selected(&self) -> Option<String> {
        self.pages.selected().map(Item::id)
    }

    pub(super) fn go(&mut self, movement: Move, ctx: &mut Ctx<'_>) {
        self.pages.go(movement, ctx);
    }

    /// Asks for what is missing.
    pub(super) fn pump(&mut self, ctx: &mut Ctx<'_>) {
        if let Some(wanted) = self.pages.wanted() {
            let span = Span::ascending(&wanted);
            let request = put(ctx, Ask::Quarantine(span.after, span.limit, self.settled_too));
            self.pages.asked(request, &wanted);
            self.asked = Some((request, span));
        }
    }

    /// Takes a page, if it was asked for here.
    pub(super) fn take(&mut self, request: u64, found: &[Entry], ctx: &mut Ctx<'_>) {
        let Some((_, span)) = self.asked.take_if(|(asked, _)| *asked == request) else { return };
        match span.read(found.iter().cloned().map(Item).collect()) {
            Read::Rows(rows, more) => drop(self.pages.take(request, rows, more)),
            Read::Further(span) => {
                let next = put(ctx, Ask::Quarantine(span.after, span.limit, self.settled_too));
                self.pages.asked_instead(request, next);
                self.asked = Some((next, span));
            }
        }
    }

    pub(super) fn fail(&mut self, request: u64, why: &str) {
        self.pages.fail(request, why);
    }

    pub(super) fn draw(&self, frame: &mut Frame<'_>, head: Rect, rows: Rect, view: &View<'_>, waiting: &str) {
        let theme = view.theme;
        let table = self.pages.table(COLUMNS, rows.width.saturating_sub(1), |item| item.cells(view));
        table.head(frame, head, theme);
        if let Some(why) = self.pages.failed() {
            return status::say(
                frame,
                rows,
                theme,
                &format!("could not be read: {why}; r reads again"),
                Role::Danger,
            );
        }
        if !waiting.is_empty() {
            return status::say(frame, rows, theme, &format!("{waiting} reading…"), Role::Muted);
        }
        if self.pages.held().is_empty() && self.pages.is_read() && !self.pages.is_new() {
            return status::say(frame, rows, theme, NOTHING, Role::Muted);
        }
        self.pages.draw(frame, rows, theme, &table);
    }
}

/// What is said where nothing is listed.
pub(super) const NOTHING: &str = "no message is put aside: what could not be admitted comes here";

const COLUMNS: &[Column] = &[
    Column { title: "entry", least: 5, most: 8, rank: 0, right: false },
    Column { title: "why", least: 15, most: 16, rank: 2, right: false },
    Column { title: "what is wrong", least: 28, most: u16::MAX, rank: 1, right: false },
    Column { title: "task", least: 6, most: 12, rank: 4, right: false },
    Column { title: "sender", least: 8, most: 14, rank: 6, right: false },
    Column { title: "times", least: 5, most: 5, rank: 5, right: true },
    Column { title: "received", least: 16, most: 16, rank: 3, right: false },
];

/// The quarantine as a screen; settled entries can be shown too.
pub struct Quarantine {
    entries: Entries,
    since: Option<Duration>,
    opens: bool,
}

impl Default for Quarantine {
    fn default() -> Self {
        Quarantine::new()
    }
}

impl Quarantine {
    /// The open entries, read when the layer opens.
    pub fn new() -> Quarantine {
        Quarantine { entries: Entries::new(), since: None, opens: true }
    }

    fn restart(&mut self, ctx: &mut Ctx<'_>) {
        self.since = Some(ctx.model.now.run);
        self.entries.restart(ctx);
        self.entries.pump(ctx);
    }
}

impl Layer for Quarantine {
    fn scopes(&self) -> &'static [Scope] {
        &[Scope::Quarantine, Scope::List, Scope::Global, Scope::Always]
    }

    fn on(&mut self, action: Action, ctx: &mut Ctx<'_>) -> Outcome {
        let selected = self.entries.selected();
        match (action, selected) {
            (Action::Open, Some(id)) => ctx.push(Opened::new(id)),
            (Action::Readmit, Some(id)) => ctx.push(Readmit::new(id)),
            (Action::Drop, Some(id)) => ctx.push(Drop::new(id)),
            (Action::Copy, Some(id)) => ctx.effect(Effect::Copy(id)),
            (Action::ToggleSettled, _) => {
                self.entries.settled_too = !self.entries.settled_too;
                self.restart(ctx);
            }
            _ => match movement(action) {
                Some(movement) => {
                    self.entries.go(movement, ctx);
                    self.entries.pump(ctx);
                }
                None => return Outcome::Ignored,
            },
        }
        Outcome::Handled
    }

    fn event(&mut self, event: &Event, ctx: &mut Ctx<'_>) {
        match event {
            Event::Resize { height, .. } => {
                self.entries.resize(height.saturating_sub(2));
                if std::mem::take(&mut self.opens) {
                    self.restart(ctx);
                }
            }
            Event::Reply { request, reply } => match reply {
                Reply::Quarantine(found) => self.entries.take(*request, found, ctx),
                other => self.entries.fail(*request, &other.problem()),
            },
            Event::Feed(Change::News(tasks)) if tasks.contains(&None) => self.entries.stale(),
            _ => {}
        }
        if !self.entries.is_new() {
            self.since = None;
        }
        self.entries.pump(ctx);
    }

    fn draw(&self, frame: &mut Frame<'_>, area: Rect, view: &View<'_>) {
        let line = |y: u16| Rect { y: area.y.saturating_add(y), height: 1, ..area }.intersection(area);
        let what = if self.entries.settled_too { "open and settled" } else { "open only" };
        let title = format!("Quarantine · {what} · oldest first");
        status::say(frame, line(0), view.theme, &title, Role::Title);
        let rows = Rect { y: area.y.saturating_add(2), height: area.height.saturating_sub(2), ..area };
        let waiting = self.since.map(|since| Waiting { since }.mark(view.model.now.run)).unwrap_or_default();
        self.entries.draw(frame, line(1), rows, view, &waiting);
    }

    fn wake(&self, model: &Model) -> Option<Duration> {
        Some(self.since.map_or(AGES, |since| Waiting { since }.wake(model.now.run)))
    }

    fn offers(&self) -> &'static [(Action, &'static str)] {
        &[
            (Action::Open, "open"),
            (Action::Readmit, "re-admit"),
            (Action::Drop, "drop"),
            (Action::ToggleSettled, "settled too"),
        ]
    }
}
