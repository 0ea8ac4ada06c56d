//! Timeline: everything that happened to a task, in order.

#[cfg(test)]
mod tests;
mod view;
mod window;
pub(super) mod words;

use std::time::Duration;

use ratatui::Frame;
use ratatui::layout::Rect;

use super::answer::Answer;
use super::approvals::Approvals;
use super::decision::correct::decide;
use super::reading::Reading;
use super::viewer::Viewer;
use super::{AGES, Ctx, Layer, Outcome, View, movement};
use crate::domain::event::{Message, What};
use crate::domain::ids::TaskId;
use crate::tui::action::{Action, Scope};
use crate::tui::effect::{Ask, Effect, Source};
use crate::tui::event::{Event, Key, Reply};
use crate::tui::model::Model;
use crate::tui::widgets::input::Field;
use crate::tui::widgets::list::{List, Move, Rows as _};
use crate::tui::widgets::moment::Told;
use window::Window;
use words::Kind;

/// See the module.
pub struct Timeline {
    reading: Reading,
    window: Window,
    list: List<u64>,
    told: Told,
    /// The request that is out and the revision it reads on behind.
    asked: Option<(u64, u64)>,
    /// Whether to go to the end once it was read.
    to_last: bool,
    problem: Option<String>,
    filter: Option<Field>,
}

impl Timeline {
    /// For a task, which is read when the layer opens.
    pub fn new(id: TaskId) -> Timeline {
        Timeline {
            reading: Reading::new(id),
            window: Window::new(),
            list: List::default(),
            told: Told::default(),
            asked: None,
            to_last: false,
            problem: None,
            filter: None,
        }
    }

    /// Reads on where the rows that are held do not reach far enough.
    fn read_on(&mut self, ctx: &mut Ctx<'_>) {
        if self.asked.is_some() || self.problem.is_some() {
            return;
        }
        let view = self.list.window();
        let below = view.end.saturating_add(window::PAGE / 4) >= self.window.len();
        let above = view.start <= window::PAGE / 4;
        let next = self.window.next(true).filter(|_| below);
        let next = next.or_else(|| self.window.next(false).filter(|_| above));
        if let Some((after, limit)) = next {
            self.ask(after, limit, ctx);
        }
    }

    fn ask(&mut self, after: u64, limit: usize, ctx: &mut Ctx<'_>) {
        let request = ctx.request();
        self.asked = Some((request, after));
        ctx.effect(Effect::Ask(request, Box::new(Ask::Timeline(self.reading.id().clone(), after, limit))));
    }

    fn restart(&mut self, after: u64, ctx: &mut Ctx<'_>) {
        if let Some((request, _)) = self.asked.take() {
            ctx.effect(Effect::Cancel(request));
        }
        self.problem = None;
        self.window.restart(after);
        self.list = {
            let height = u16::try_from(self.list.window().len()).unwrap_or(1);
            let mut list = List::default();
            list.resize(height);
            list
        };
        self.read_on(ctx);
    }

    fn go(&mut self, movement: Move, ctx: &mut Ctx<'_>) {
        match movement {
            Move::First if self.window.read.0 > 0 => return self.restart(0, ctx),
            Move::Last if self.window.read.1 < self.window.end => {
                self.to_last = true;
                let after = self.window.end.saturating_sub(window::PAGE as u64);
                return self.restart(after, ctx);
            }
            _ => {}
        }
        self.list.go(&self.window, movement);
        self.read_on(ctx);
    }

    fn take(&mut self, reply: &Reply, after: u64, ctx: &mut Ctx<'_>) {
        match reply {
            Reply::Timeline(page) if page.is_empty() => self.window.end = self.window.read.1,
            Reply::Timeline(page) => {
                self.window.take(after, page);
                self.list.settle(&self.window);
                if self.to_last && self.window.read.1 >= self.window.end {
                    self.to_last = false;
                    self.list.go(&self.window, Move::Last);
                }
            }
            other => self.problem = Some(other.problem()),
        }
        self.read_on(ctx);
    }

    fn open(&self, ctx: &mut Ctx<'_>) {
        let Some((noted, count)) = self.window.row_at(self.list.row()) else { return };
        let id = self.reading.id().clone();
        if let What::Delivered(d) = &noted.event.what {
            // A repeat is not stored again: what it repeats is.
            let stored = d.message.stored_as();
            let title = match &d.message {
                Message::New(_) => format!("envelope #{stored}"),
                Message::Repeat(r) => format!("envelope #{stored}, which #{} repeats", r.arrival),
            };
            return ctx.push(Viewer::of(title, id, stored, Source::Envelope, None));
        }
        let text = serde_json::to_string_pretty(&noted.event).unwrap_or_default();
        let title = format!("event {}{}", noted.event.revision, if count > 1 { " and more" } else { "" });
        ctx.push(Viewer::own(title, text.lines().map(str::to_owned).collect()));
    }

    fn next_kind(&mut self, ctx: &mut Ctx<'_>) {
        let at = self.window.wanted.kind.and_then(|kind| Kind::ALL.iter().position(|one| *one == kind));
        self.window.wanted.kind = Kind::ALL.get(at.map_or(0, |at| at + 1)).copied();
        self.restart(0, ctx);
    }

    /// What a filter field does while it has the focus.
    fn on_filter(&mut self, action: Action, ctx: &mut Ctx<'_>) -> Outcome {
        match action {
            Action::Accept => {
                let text = self.filter.take().map(|field| field.text()).unwrap_or_default();
                text.trim().clone_into(&mut self.window.wanted.text);
                self.restart(0, ctx);
            }
            Action::Back => self.filter = None,
            Action::Quit | Action::Redraw => return Outcome::Ignored,
            _ => {}
        }
        Outcome::Handled
    }
}

impl Layer for Timeline {
    fn scopes(&self) -> &'static [Scope] {
        if self.filter.is_some() {
            return &[Scope::Line, Scope::Field, Scope::Always];
        }
        &[Scope::Timeline, Scope::List, Scope::Global, Scope::Always]
    }

    fn wants_text(&self) -> bool {
        self.filter.is_some()
    }

    fn offers(&self) -> &'static [(Action, &'static str)] {
        if self.filter.is_some() {
            return &[(Action::Accept, "filter")];
        }
        &[
            (Action::Open, "open"),
            (Action::FilterKinds, "kinds"),
            (Action::Filter, "filter"),
            (Action::CycleTime, "time"),
            (Action::ToggleDuplicates, "duplicates"),
        ]
    }

    fn wake(&self, model: &Model) -> Option<Duration> {
        match self.reading.waiting() {
            Some(waiting) => Some(waiting.wake(model.now.run)),
            None => (self.told == Told::Relative).then_some(AGES),
        }
    }

    fn on(&mut self, action: Action, ctx: &mut Ctx<'_>) -> Outcome {
        if self.filter.is_some() {
            return self.on_filter(action, ctx);
        }
        if let Some(movement) = movement(action) {
            self.go(movement, ctx);
            return Outcome::Handled;
        }
        match action {
            Action::Open => self.open(ctx),
            Action::FilterKinds => self.next_kind(ctx),
            Action::Filter => self.filter = Some(Field::line(&self.window.wanted.text)),
            Action::CycleTime => self.told = self.told.next(),
            Action::ToggleDuplicates => {
                self.window.folds = !self.window.folds;
                self.window.lay_out();
                self.list.settle(&self.window);
                self.read_on(ctx);
            }
            Action::Approvals => ctx.push(Approvals::new(Some(self.reading.id().clone()))),
            Action::Decide => {
                let state = self.reading.shown().map(|shown| shown.task.state);
                decide(self.reading.id().clone(), state, ctx);
            }
            Action::Answer => ctx.push(Answer::new(self.reading.id().clone())),
            Action::Copy => {
                if let Some((noted, _)) = self.window.row_at(self.list.row()) {
                    let text = serde_json::to_string(&noted.event).unwrap_or_default();
                    ctx.effect(Effect::Copy(text));
                }
            }
            _ => return Outcome::Ignored,
        }
        Outcome::Handled
    }

    fn text(&mut self, key: Key, _ctx: &mut Ctx<'_>) {
        if let Some(filter) = &mut self.filter {
            filter.key(key);
        }
    }

    fn event(&mut self, event: &Event, ctx: &mut Ctx<'_>) {
        match event {
            // The title and the heading stand above, the selected event in full below.
            Event::Resize { height, .. } => {
                self.list.resize(height.saturating_sub(2 + view::below(*height)));
            }
            Event::Paste(text) => {
                if let Some(filter) = &mut self.filter {
                    filter.paste(text);
                }
            }
            _ => {}
        }
        if self.reading.event(event, ctx)
            && let Some(shown) = self.reading.shown()
        {
            self.window.end = self.window.end.max(shown.task.revision);
            self.read_on(ctx);
        }
        if let Event::Reply { request, reply } = event
            && let Some((_, after)) = self.asked.filter(|(own, _)| own == request)
        {
            self.asked = None;
            self.take(reply, after, ctx);
        }
    }

    fn draw(&self, frame: &mut Frame<'_>, area: Rect, view: &View<'_>) {
        self.paint(frame, area, view);
    }
}
