//! The two things that can be done about an entry: deliver it again, or drop it with a reason that is kept.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::Line;
use ratatui::widgets::{Block, Clear, Widget as _};

use crate::domain::text::reveal;
use crate::tui::action::{Action, Scope};
use crate::tui::effect::Ask;
use crate::tui::event::{Event, Key, Reply};
use crate::tui::screens::pages::put;
use crate::tui::screens::{Ctx, Layer, Outcome, View};
use crate::tui::theme::Role;
use crate::tui::widgets::input::Field;
use crate::tui::widgets::{centred, ink};

/// Draws the frame of a dialog and its words; gives what is left below them.
fn dialog(frame: &mut Frame<'_>, area: Rect, view: &View<'_>, title: &str, words: &str) -> Rect {
    let theme = view.theme;
    let place = centred(area, 72, 10);
    Clear.render(place, frame.buffer_mut());
    let block = Block::bordered()
        .title(Line::styled(format!(" {} ", reveal(title)), theme.style(Role::Title)))
        .border_style(theme.style(Role::Focus));
    let inner = block.inner(place);
    block.render(place, frame.buffer_mut());
    let room = usize::from(inner.width);
    let lines = ink::paragraph(words, theme.style(Role::Text), room, 5, theme);
    let used = u16::try_from(lines.len()).unwrap_or(5);
    for (y, line) in (inner.y..inner.bottom()).zip(lines) {
        line.render(Rect { y, height: 1, ..inner }, frame.buffer_mut());
    }
    let below = used.saturating_add(1).min(inner.height);
    Rect { y: inner.y.saturating_add(below), height: inner.height - below, ..inner }
}

/// Says what came of a request and closes the dialog; `false` where it was refused and can be sent again.
fn answered(reply: &Reply, ctx: &mut Ctx<'_>) -> bool {
    match reply {
        Reply::Readmit(admitted) => {
            let why = admitted.reason.as_deref().map(|why| format!(": {}", reveal(why))).unwrap_or_default();
            ctx.toast(format!("delivered again: {}{why}", admitted.outcome));
        }
        Reply::Drop => ctx.toast("dropped; its bytes stay readable"),
        Reply::Refused(refusal) => {
            ctx.toast(reveal(&refusal.to_string()).to_string());
            return false;
        }
        Reply::Failed(why) => {
            ctx.toast(format!("{why}; ctrl-s tries again"));
            return false;
        }
        _ => return false,
    }
    ctx.close();
    true
}

/// Whether nothing can be written now; tells why.
fn closed(ctx: &mut Ctx<'_>) -> bool {
    let why = ctx.model.closed().map(str::to_owned);
    if let Some(why) = &why {
        ctx.toast(format!("nothing can be written now: {why}"));
    }
    why.is_some()
}

/// Asks once more before an entry is delivered again.
pub(in super::super) struct Readmit {
    id: String,
    sent: Option<u64>,
}

impl Readmit {
    pub(in super::super) fn new(id: String) -> Readmit {
        Readmit { id, sent: None }
    }
}

impl Layer for Readmit {
    fn scopes(&self) -> &'static [Scope] {
        &[Scope::Confirm, Scope::Global, Scope::Always]
    }

    fn popup(&self) -> bool {
        true
    }

    fn guarded(&self) -> bool {
        true
    }

    fn on(&mut self, action: Action, ctx: &mut Ctx<'_>) -> Outcome {
        match action {
            Action::Submit if self.sent.is_some() => {}
            Action::Submit => {
                if !closed(ctx) {
                    self.sent = Some(put(ctx, Ask::Readmit(self.id.clone())));
                }
            }
            _ => return Outcome::Ignored,
        }
        Outcome::Handled
    }

    fn event(&mut self, event: &Event, ctx: &mut Ctx<'_>) {
        if let Event::Reply { request, reply } = event
            && self.sent == Some(*request)
            && !answered(reply, ctx)
        {
            self.sent = None;
        }
    }

    fn draw(&self, frame: &mut Frame<'_>, area: Rect, view: &View<'_>) {
        let words = "The message goes through admission again as it is, as a new delivery that names this entry. \
                     If what was wrong with it still is, it is put aside again.";
        let below = dialog(frame, area, view, &format!("Deliver {} again", self.id), words);
        let text =
            if self.sent.is_some() { "sending…" } else { "ctrl-s delivers it again · esc goes back" };
        let below = Rect { height: below.height.min(1), ..below };
        Line::styled(text, view.theme.style(Role::Key)).render(below, frame.buffer_mut());
    }

    fn offers(&self) -> &'static [(Action, &'static str)] {
        &[(Action::Submit, "deliver again")]
    }
}

/// Asks for the reason why an entry is dropped.
pub(super) struct Drop {
    id: String,
    reason: Field,
    sent: Option<u64>,
}

impl Drop {
    pub(super) fn new(id: String) -> Drop {
        Drop { id, reason: Field::line(""), sent: None }
    }
}

impl Layer for Drop {
    fn scopes(&self) -> &'static [Scope] {
        &[Scope::Line, Scope::Field, Scope::Always]
    }

    fn wants_text(&self) -> bool {
        true
    }

    fn popup(&self) -> bool {
        true
    }

    fn guarded(&self) -> bool {
        true
    }

    fn on(&mut self, action: Action, ctx: &mut Ctx<'_>) -> Outcome {
        match action {
            Action::Submit if self.sent.is_some() => {}
            Action::Submit if self.reason.text().trim().is_empty() => {
                self.reason.set_error(Some((0, "a reason is required, and kept".to_owned())));
            }
            Action::Submit => {
                if !closed(ctx) {
                    self.sent = Some(put(ctx, Ask::Drop(self.id.clone(), self.reason.text())));
                }
            }
            Action::Accept => ctx.toast("enter drops nothing: ctrl-s does"),
            _ => return Outcome::Ignored,
        }
        Outcome::Handled
    }

    fn text(&mut self, key: Key, _ctx: &mut Ctx<'_>) {
        if self.sent.is_none() {
            self.reason.key(key);
        }
    }

    fn event(&mut self, event: &Event, ctx: &mut Ctx<'_>) {
        match event {
            Event::Paste(text) if self.sent.is_none() => drop(self.reason.paste(text)),
            Event::Reply { request, reply } if self.sent == Some(*request) && !answered(reply, ctx) => {
                self.sent = None;
            }
            _ => {}
        }
    }

    fn draw(&self, frame: &mut Frame<'_>, area: Rect, view: &View<'_>) {
        let words = "It is not admitted and no longer waits for anybody. The entry, its bytes and this reason stay \
                     in the record. Why is it dropped?";
        let below = dialog(frame, area, view, &format!("Drop {}", self.id), words);
        let key = view.theme.style(Role::Key);
        if self.sent.is_some() {
            return Line::styled("sending…", key)
                .render(Rect { height: below.height.min(1), ..below }, frame.buffer_mut());
        }
        frame.buffer_mut().set_stringn(below.x, below.y, "> ", usize::from(below.width), key);
        let (x, width) = (below.x.saturating_add(2), below.width.saturating_sub(2));
        self.reason.draw(frame, Rect { x, width, height: below.height.min(2), ..below }, view.theme, true);
    }

    fn offers(&self) -> &'static [(Action, &'static str)] {
        &[(Action::Submit, "drop it")]
    }
}
