//! The docket: everything that waits for a person, in tabs, filtered and ordered, with a preview.

mod act;
mod columns;
mod elsewhere;
mod offers;
mod preview;
mod rows;
mod tab;
mod take;
#[cfg(test)]
mod tests;
mod view;

use std::time::Duration;

use ratatui::Frame;
use ratatui::layout::Rect;

use super::approvals::Approvals;
use super::filter::Filter;
use super::pages::{PAGE, Pages, Wanted, put};
use super::quarantine::{Entries, Quarantine};
use super::{AGES, Ctx, Layer, Outcome, View, movement};
use crate::coordinator::{ListRequest, Order, Tallies, Tally};
use crate::domain::ids::TaskId;
use crate::tui::action::{Action, Scope};
use crate::tui::effect::{Ask, Effect};
use crate::tui::event::{Event, Key};
use crate::tui::model::{Link, Model};
use crate::tui::widgets::held::Keyed as _;
use crate::tui::widgets::list::{Move, Rows as _};
use crate::tui::widgets::status::Waiting;
pub(super) use columns::Choosing;
use elsewhere::Elsewhere;
use preview::Preview;
use rows::Item;
use tab::Tab;
use take::{NEWS, WAY};

/// The queue of everything that waits for a person.
pub struct Docket {
    tab: Tab,
    pages: Pages<Item>,
    entries: Entries,
    filter: Filter,
    elsewhere: Elsewhere,
    order: Order,
    tallies: Option<Tallies>,
    /// How many the tab listed when it was last looked at from where new ones come.
    seen: Option<Tally>,
    preview: Preview,
    previews: bool,
    size: (u16, u16),
    /// The open question for the tallies.
    counting: Option<u64>,
    /// The last question of how the way to the coordinator is, while it is open, and when it was put.
    checking: (Option<u64>, Duration),
    news: News,
    /// Since when the rows in view are of another question than the tabs say.
    since: Option<Duration>,
}

/// What changed since it was read.
#[derive(Default)]
struct News {
    /// Whether something did.
    here: bool,
    /// When it was last read.
    read: Duration,
    /// Whether the connection was lost meanwhile.
    lost: bool,
}

impl Default for Docket {
    fn default() -> Self {
        Docket::new()
    }
}

impl Docket {
    /// The whole docket, longest wait first; read when the layer opens.
    pub fn new() -> Docket {
        Docket {
            tab: Tab::All,
            pages: Pages::new(true),
            entries: Entries::new(),
            filter: Filter::default(),
            elsewhere: Elsewhere::default(),
            order: Order::default(),
            tallies: None,
            seen: None,
            preview: Preview::default(),
            previews: true,
            size: (0, 0),
            counting: None,
            checking: (None, Duration::ZERO),
            news: News::default(),
            since: None,
        }
    }

    fn in_quarantine(&self) -> bool {
        self.tab == Tab::Quarantine
    }

    /// The selected row, in a tab that lists tasks.
    fn selected(&self) -> Option<&Item> {
        if self.in_quarantine() { None } else { self.pages.selected() }
    }

    fn task(&self) -> Option<TaskId> {
        self.selected().and_then(|item| item.0.task_id.clone()).map(TaskId)
    }

    /// Asks for what is missing, and for the task under the selection.
    fn pump(&mut self, ctx: &mut Ctx<'_>) {
        if self.in_quarantine() {
            self.entries.pump(ctx);
            return;
        }
        if let Some(wanted) = self.pages.wanted() {
            let (after, backwards, limit) = match &wanted {
                Wanted::Start => (None, false, PAGE),
                Wanted::End => (None, true, PAGE),
                Wanted::Before(place) => (Some(place.clone()), true, PAGE),
                Wanted::After(place) => (Some(place.clone()), false, PAGE),
                Wanted::Again(place, limit) => (place.clone(), false, *limit),
            };
            let (scope, query, order) = (self.tab.scope(), self.filter.query(), self.order);
            let request = put(ctx, Ask::List(ListRequest { scope, query, order, after, backwards, limit }));
            self.pages.asked(request, &wanted);
        }
        // Not while it is typed: what is nowhere is looked for among all tasks.
        if self.is_empty() && !self.filter.is_empty() && !self.filter.is_typing() {
            self.elsewhere.look(self.tab, self.filter.query(), ctx);
        }
        let known = self.selected().map(Item::id).filter(|_| self.previews);
        self.preview.follow(known, false, ctx);
    }

    /// Whether the list was read and holds nothing.
    fn is_empty(&self) -> bool {
        self.pages.held().is_empty() && self.pages.is_read() && !self.pages.is_new()
    }

    /// Begins the list anew: another tab, filter or order.
    fn restart(&mut self, ctx: &mut Ctx<'_>) {
        self.since = Some(ctx.model.now.run);
        self.elsewhere.forget(ctx);
        if self.in_quarantine() {
            self.entries.restart(ctx);
        } else {
            self.pages.restart(ctx);
        }
        self.relayout();
        self.pump(ctx);
    }

    /// Asks for everything again.
    fn refresh(&mut self, ctx: &mut Ctx<'_>) {
        self.seen = None;
        self.check_way(ctx);
        self.count(ctx);
        self.restart(ctx);
        let known = self.pages.list().selected().cloned().filter(|_| self.previews);
        self.preview.follow(known, true, ctx);
    }

    fn show(&mut self, tab: Tab, ctx: &mut Ctx<'_>) {
        self.tab = tab;
        self.seen = self.tallies.as_ref().map(|tallies| tab.tally(tallies));
        self.restart(ctx);
    }

    /// Whether what arrives comes at the end of the list.
    fn arrivals_last(&self) -> bool {
        self.order == Order::default() && !self.in_quarantine()
    }

    /// How many came since the list was last looked at, at its far end.
    fn arrived(&self) -> u64 {
        let now = self.tallies.as_ref().map(|tallies| self.tab.tally(tallies));
        match (now, self.seen) {
            (Some(now), Some(seen)) if self.arrivals_last() && self.filter.is_empty() && !now.capped => {
                now.count.saturating_sub(seen.count)
            }
            _ => 0,
        }
    }

    fn look(&mut self) {
        let held = self.pages.held();
        let whole = held.at_start() && held.at_end() && held.len() <= self.pages.list().window().len();
        let at_end = held.at_end() && self.pages.list().window().end >= held.len();
        if whole || at_end {
            self.seen = self.tallies.as_ref().map(|tallies| self.tab.tally(tallies));
        }
    }

    fn go(&mut self, movement: Move, ctx: &mut Ctx<'_>) {
        if self.in_quarantine() {
            self.entries.go(movement, ctx);
        } else {
            self.pages.go(movement, ctx);
        }
        self.pump(ctx);
        self.look();
    }
}

impl Layer for Docket {
    fn scopes(&self) -> &'static [Scope] {
        if self.filter.is_typing() {
            &[Scope::Line, Scope::Field, Scope::Always]
        } else {
            &[Scope::Docket, Scope::List, Scope::Global, Scope::Always]
        }
    }

    fn wants_text(&self) -> bool {
        self.filter.is_typing()
    }

    fn on(&mut self, action: Action, ctx: &mut Ctx<'_>) -> Outcome {
        if self.filter.is_typing() {
            return self.type_filter(action, ctx);
        }
        match action {
            Action::JumpToNew if self.arrivals_last() => self.go(Move::Last, ctx),
            Action::NextTab => self.show(self.tab.step(1), ctx),
            Action::PreviousTab => self.show(self.tab.step(Tab::EVERY.len() - 1), ctx),
            Action::Sort => {
                let key = rows::next_order(self.order.key);
                self.order_by(Order { key, descending: false }, ctx);
            }
            Action::ReverseSort => {
                self.order_by(Order { descending: !self.order.descending, ..self.order }, ctx);
            }
            Action::Filter if self.in_quarantine() => ctx.toast("the quarantine has no filter"),
            Action::Filter => {
                self.filter.open();
                self.relayout();
            }
            Action::TogglePreview => {
                self.previews = !self.previews;
                self.relayout();
                self.pump(ctx);
            }
            Action::Columns if self.in_quarantine() => ctx.toast("the quarantine has its own columns"),
            Action::Columns => ctx.push(Choosing::default()),
            Action::Refresh => self.refresh(ctx),
            Action::Open => self.open(ctx),
            Action::Decide | Action::Answer | Action::Timeline => self.open_for_task(action, ctx),
            Action::Approvals => ctx.push(Approvals::new(None)),
            Action::Quarantine => ctx.push(Quarantine::new()),
            Action::Copy => {
                match self.selected().map(|item| item.name().to_owned()).or(self.entries.selected()) {
                    Some(name) => ctx.effect(Effect::Copy(name)),
                    None => return Outcome::Ignored,
                }
            }
            // Leaving goes back first: to the whole list, to the first tab.
            Action::Back if self.filter.clear() => self.restart(ctx),
            Action::Back if self.tab != Tab::All => self.show(Tab::All, ctx),
            _ => match movement(action) {
                Some(movement) => self.go(movement, ctx),
                None => return Outcome::Ignored,
            },
        }
        Outcome::Handled
    }

    fn text(&mut self, key: Key, ctx: &mut Ctx<'_>) {
        if self.filter.key(key) {
            self.restart(ctx);
        }
    }

    fn event(&mut self, event: &Event, ctx: &mut Ctx<'_>) {
        match event {
            Event::Resize { width, height } => {
                let opens = self.size == (0, 0);
                self.size = (*width, *height);
                self.relayout();
                if opens {
                    self.check_way(ctx);
                    self.count(ctx);
                    self.restart(ctx);
                } else {
                    self.pump(ctx);
                }
            }
            Event::Reply { request, reply } => self.reply(*request, reply, ctx),
            Event::Feed(change) => self.feed(change, ctx),
            Event::Tick => {
                self.preview.tick(ctx);
                let unwell = matches!(ctx.model.link, Link::Reconnecting { .. } | Link::Offline { .. });
                if unwell && ctx.model.now.run >= self.checking.1.saturating_add(WAY) {
                    self.check_way(ctx);
                }
                self.freshen(ctx);
            }
            Event::Paste(text) => {
                if self.filter.paste(text) {
                    self.restart(ctx);
                }
            }
            Event::Key(_) | Event::Focus(_) | Event::Background { .. } => {}
        }
    }

    fn draw(&self, frame: &mut Frame<'_>, area: Rect, view: &View<'_>) {
        self.paint(frame, area, view);
    }

    fn wake(&self, model: &Model) -> Option<Duration> {
        let run = model.now.run;
        let news = (self.news.here && self.counting.is_none())
            .then(|| self.news.read.saturating_add(NEWS).saturating_sub(run));
        let wait = self.since.map(|since| Waiting { since }.wake(run));
        [Some(AGES), news, wait, self.preview.wake(model)].into_iter().flatten().min()
    }

    fn offers(&self) -> &'static [(Action, &'static str)] {
        self.footer()
    }
}
