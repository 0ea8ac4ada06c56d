//! What each key and event does to the dialog.

use std::time::Duration;

use ratatui::Frame;
use ratatui::layout::Rect;

use super::super::sending::RECORDED;
use super::super::{Ctx, Layer, Outcome, View};
use super::{Decision, Focus};
use crate::tui::action::{Action, Scope};
use crate::tui::effect::Effect;
use crate::tui::event::{Code, Event, Key};
use crate::tui::model::Model;
use crate::tui::widgets::form::Scroll;

impl Layer for Decision {
    fn scopes(&self) -> &'static [Scope] {
        match self.focus {
            _ if self.sending.record().is_some() => DIALOG,
            Focus::Choices => DIALOG,
            Focus::Reason => &[Scope::Field, Scope::Always],
            Focus::Resume | Focus::Confirm => &[Scope::Line, Scope::Field, Scope::Always],
        }
    }

    fn wants_text(&self) -> bool {
        self.focus != Focus::Choices && self.sending.record().is_none()
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
        if self.focus == Focus::Choices {
            return if self.draft.is_found() { CHOOSING_DRAFTED } else { CHOOSING };
        }
        if self.draft.is_found() {
            return &[
                (Action::NextField, "next"),
                (Action::Submit, "send"),
                (Action::DiscardDraft, "discard draft"),
            ];
        }
        &[(Action::NextField, "next"), (Action::Submit, "send"), (Action::Preview, "record")]
    }

    fn wake(&self, model: &Model) -> Option<Duration> {
        let waiting = self.sending.waiting().or(self.reading.waiting());
        waiting.map(|waiting| waiting.wake(model.now.run))
    }

    fn on(&mut self, action: Action, ctx: &mut Ctx<'_>) -> Outcome {
        if self.on_done(action, ctx) == Outcome::Handled {
            return Outcome::Handled;
        }
        if action != Action::DiscardDraft {
            self.draft.hold();
        }
        let many = self.choices().len();
        match action {
            Action::Back => {
                self.keep(true, ctx);
                return Outcome::Ignored;
            }
            Action::DiscardDraft => self.discard(ctx),
            Action::Copy if self.reason.is_empty() => ctx.toast("there is nothing to copy"),
            Action::Copy => ctx.effect(Effect::Copy(self.reason.text())),
            Action::Down if self.focus == Focus::Choices => {
                self.cursor = (self.cursor + 1).min(many.saturating_sub(1))
            }
            Action::Up if self.focus == Focus::Choices => self.cursor = self.cursor.saturating_sub(1),
            Action::First => self.cursor = 0,
            Action::Last => self.cursor = many.saturating_sub(1),
            Action::PageDown | Action::HalfPageDown => self.page(1, ctx.model),
            Action::PageUp | Action::HalfPageUp => self.page(-1, ctx.model),
            Action::ToggleUphold => self.choose(ctx),
            Action::NextField => self.next_focus(true),
            Action::PreviousField => self.next_focus(false),
            Action::Submit => self.submit(ctx),
            Action::Preview => self.preview(ctx),
            // Enter decides nothing; it does not even leave the field.
            Action::Accept => {}
            Action::Refresh => {
                self.sides.retry();
                self.reading.ask(ctx);
            }
            _ => return Outcome::Ignored,
        }
        if matches!(action, Action::Down | Action::Up | Action::First | Action::Last | Action::ToggleUphold) {
            self.scroll = Scroll::Focus;
        }
        if action == Action::ToggleUphold {
            self.keep(false, ctx);
        }
        Outcome::Handled
    }

    fn text(&mut self, key: Key, ctx: &mut Ctx<'_>) {
        if !self.sending.is_writing() || (self.focus == Focus::Confirm && key.code == Code::Enter) {
            return;
        }
        if let Some(field) = self.field() {
            field.key(key);
        }
        self.keep(false, ctx);
        self.scroll = Scroll::Focus;
    }

    fn event(&mut self, event: &Event, ctx: &mut Ctx<'_>) {
        match event {
            Event::Resize { width, height } => self.size = (*width, *height),
            Event::Paste(_) if self.focus == Focus::Confirm => {
                return ctx.toast("what confirms is typed, not pasted");
            }
            Event::Paste(text) if self.sending.is_writing() => {
                if let Some(field) = self.field() {
                    field.paste(text);
                }
                self.keep(false, ctx);
            }
            _ => {}
        }
        if self.sending.event(event, ctx) {
            self.after_reply(ctx);
        }
        if self.reading.event(event, ctx) {
            self.read(ctx);
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

/// What the footer offers among the choices.
const CHOOSING: &[(Action, &str)] = &[
    (Action::ToggleUphold, "choose"),
    (Action::NextField, "next"),
    (Action::Down, "down"),
    (Action::Up, "up"),
    (Action::Submit, "send"),
    (Action::Preview, "record"),
];

/// The same where something was written before.
const CHOOSING_DRAFTED: &[(Action, &str)] = &[
    (Action::ToggleUphold, "choose"),
    (Action::NextField, "next"),
    (Action::Down, "down"),
    (Action::Up, "up"),
    (Action::Submit, "send"),
    (Action::DiscardDraft, "discard draft"),
];

/// The scopes outside text fields.
const DIALOG: &[Scope] = &[Scope::Decision, Scope::List, Scope::Global, Scope::Always];

impl Decision {
    /// What follows from a reply to the decision itself.
    fn after_reply(&mut self, ctx: &mut Ctx<'_>) {
        self.scroll = Scroll::Focus;
        if self.sending.record().is_some() {
            self.draft.forget(ctx);
            self.reading.ask(ctx);
            return;
        }
        if self.sending.is_writing() {
            // Refused: what was confirmed is not what is there.
            self.confirm.set("");
            self.focus = Focus::Choices;
            let after = self.seen.as_ref().map(|seen| seen.revision);
            let after = after.or(self.reading.shown().map(|shown| shown.task.revision));
            self.sending.catch_up(&mut self.reading, after.unwrap_or(0), ctx);
        }
    }
}
