//! What each key and event does to the form.

use std::time::Duration;

use ratatui::Frame;
use ratatui::layout::Rect;

use super::super::decision::correct::decide;
use super::super::sending::RECORDED;
use super::super::{Ctx, Layer, Outcome, View};
use super::{Answer, Part};
use crate::domain::text::reveal;
use crate::tui::action::{Action, Scope};
use crate::tui::event::{Code, Event, Key};
use crate::tui::model::Model;
use crate::tui::widgets::form::{Fields, Scroll};

impl Layer for Answer {
    fn scopes(&self) -> &'static [Scope] {
        match self.part() {
            _ if !self.types() => &[Scope::Answer, Scope::List, Scope::Global, Scope::Always],
            Some(Part::Text | Part::Reason) => &[Scope::Field, Scope::Always],
            _ => &[Scope::Line, Scope::Field, Scope::Always],
        }
    }

    fn wants_text(&self) -> bool {
        self.types()
    }

    fn popup(&self) -> bool {
        true
    }

    fn guarded(&self) -> bool {
        true
    }

    fn offers(&self) -> &'static [(Action, &'static str)] {
        if self.sending.record().is_some() {
            return RECORDED;
        }
        if self.pinned.as_ref().is_some_and(|pinned| pinned.asked.question.link.is_some())
            && !self.is_changed()
        {
            return &[
                (Action::Copy, "copy link"),
                (Action::NextField, "next"),
                (Action::Choose, "choose"),
                (Action::Submit, "send"),
                (Action::Preview, "preview"),
            ];
        }
        if self.pinned.is_none() && self.draft.is_found() {
            return &[(Action::Copy, "copy draft"), (Action::DiscardDraft, "discard draft")];
        }
        if self.void {
            return &[(Action::Decide, "cancel the task")];
        }
        if self.is_changed() && self.sending.is_writing() {
            return &[(Action::Acknowledge, "acknowledge"), (Action::NextField, "next")];
        }
        if let Some(Part::Side(_)) = self.part() {
            return &[
                (Action::Open, "read"),
                (Action::Choose, "uphold"),
                (Action::NextField, "next"),
                (Action::Submit, "send"),
            ];
        }
        if self.draft.is_found() {
            return &[
                (Action::NextField, "next"),
                (Action::Choose, "choose"),
                (Action::Submit, "send"),
                (Action::DiscardDraft, "discard draft"),
            ];
        }
        &[
            (Action::NextField, "next"),
            (Action::Choose, "choose"),
            (Action::Submit, "send"),
            (Action::Preview, "preview"),
        ]
    }

    fn wake(&self, model: &Model) -> Option<Duration> {
        let waiting =
            self.sending.waiting().or(self.reading.waiting()).map(|waiting| waiting.wake(model.now.run));
        let expires = self.pinned.as_ref().and_then(|pinned| pinned.asked.question.expires_at);
        let countdown = expires.and_then(|at| crate::tui::widgets::moment::countdown(at, model));
        waiting.into_iter().chain(countdown).min()
    }

    fn on(&mut self, action: Action, ctx: &mut Ctx<'_>) -> Outcome {
        if self.on_done(action, ctx) == Outcome::Handled {
            return Outcome::Handled;
        }
        if action != Action::DiscardDraft {
            self.draft.hold();
        }
        match action {
            Action::Back => {
                self.keep(true, ctx);
                return Outcome::Ignored;
            }
            Action::DiscardDraft => self.discard(ctx),
            Action::Down => self.step(true),
            Action::Up => self.step(false),
            Action::PageDown | Action::HalfPageDown => self.page(1, ctx.model),
            Action::PageUp | Action::HalfPageUp => self.page(-1, ctx.model),
            Action::First => self.scroll = Scroll::At(0),
            Action::Choose => {
                self.choose(ctx);
                self.keep(false, ctx);
            }
            Action::NextField => self.next_focus(true),
            Action::PreviousField => self.next_focus(false),
            Action::Open => return self.read_side(ctx),
            Action::Submit => self.submit(ctx),
            Action::Preview => self.preview(ctx),
            Action::Copy => self.copy(ctx),
            Action::Acknowledge if self.sending.is_writing() => {
                self.pin(ctx.model);
                self.sides.go_on(self.reading.id(), ctx);
                self.draft.rebase(self.now());
                self.keep(false, ctx);
            }
            Action::Refresh => {
                self.sides.retry();
                self.sides.go_on(self.reading.id(), ctx);
                self.reading.ask(ctx);
            }
            Action::Decide => {
                let state = self.reading.shown().map(|shown| shown.task.state);
                decide(self.reading.id().clone(), state, ctx);
            }
            // Enter sends nothing.
            Action::Accept => {}
            _ => return Outcome::Ignored,
        }
        Outcome::Handled
    }

    fn text(&mut self, key: Key, ctx: &mut Ctx<'_>) {
        if !self.sending.is_writing() || (self.part() == Some(Part::Confirm) && key.code == Code::Enter) {
            return;
        }
        if let Some(field) = self.field() {
            field.key(key);
        } else {
            self.with_fields(|fields, at| fields.key(at, key));
        }
        self.keep(false, ctx);
        self.scroll = Scroll::Focus;
    }

    fn event(&mut self, event: &Event, ctx: &mut Ctx<'_>) {
        match event {
            Event::Resize { width, height } => self.size = (*width, *height),
            Event::Paste(_) if self.part() == Some(Part::Confirm) => {
                return ctx.toast("what confirms is typed, not pasted");
            }
            Event::Paste(text) if self.sending.is_writing() => {
                if let Some(field) = self.field() {
                    field.paste(text);
                } else {
                    self.with_fields(|fields, at| fields.paste(at, text));
                }
                self.keep(false, ctx);
            }
            _ => {}
        }
        if self.sending.event(event, ctx) {
            self.after_reply(ctx);
        }
        if self.reading.event(event, ctx) {
            if self.pinned.is_none() {
                self.pin(ctx.model);
                self.sides.go_on(self.reading.id(), ctx);
            } else if self.is_changed() && self.sending.is_writing() {
                self.confirm.set("");
                let after = self.pinned.as_ref().map_or(0, |pinned| pinned.revision);
                self.sending.ask_changes(self.reading.id(), after, ctx);
            }
            self.open(ctx);
        }
        if self.draft.event(event, ctx) {
            self.open(ctx);
        }
        if let Event::Reply { request, reply } = event {
            self.sides.reply(self.reading.id(), *request, reply, ctx);
        }
    }

    fn draw(&self, frame: &mut Frame<'_>, area: Rect, view: &View<'_>) {
        self.paint(frame, area, view);
    }
}

impl Answer {
    /// What follows from a reply to the answer itself.
    fn after_reply(&mut self, ctx: &mut Ctx<'_>) {
        self.scroll = Scroll::At(0);
        if self.sending.record().is_some() {
            self.draft.forget(ctx);
            return self.reading.ask(ctx);
        }
        if self.sending.is_writing() {
            self.confirm.set("");
            let after = self.pinned.as_ref().map_or(0, |pinned| pinned.revision);
            self.sending.catch_up(&mut self.reading, after, ctx);
        }
    }

    /// Takes or leaves what the cursor is on.
    fn choose(&mut self, ctx: &mut Ctx<'_>) {
        if !self.sending.is_writing() {
            return;
        }
        match self.part() {
            Some(Part::Choice) => {
                self.choice = Some(self.cursor);
                if self.cancels() {
                    self.sides.clear();
                }
            }
            Some(Part::Field(_)) => self.with_fields(Fields::choose),
            Some(Part::Side(at)) => {
                if let Err(why) = self.uphold(at) {
                    return ctx.toast(reveal(&why).to_string());
                }
            }
            _ => return,
        }
        self.confirm.set("");
    }

    /// Moves the cursor within the part with the focus; among held outcomes, the focus.
    fn step(&mut self, forward: bool) {
        match self.part() {
            Some(Part::Choice) => {
                let last = self.choices().len().saturating_sub(1);
                self.cursor =
                    if forward { (self.cursor + 1).min(last) } else { self.cursor.saturating_sub(1) };
            }
            Some(Part::Field(_)) => self.with_fields(|fields, at| {
                fields.step(at, forward);
            }),
            Some(Part::Side(_)) => {
                let next = if forward { self.focus + 1 } else { self.focus.saturating_sub(1) };
                if let Some(Part::Side(_)) = self.parts().get(next) {
                    self.focus = next;
                }
            }
            _ => {}
        }
        self.scroll = Scroll::Focus;
    }
}
