//! One quarantine entry: why it was put aside, what could be read of it, and its bytes as they came.

use std::sync::Arc;
use std::time::Duration;

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::Line;
use ratatui::widgets::{Block, Borders, Widget as _};

use super::act::{Drop, Readmit};
use crate::coordinator::{Entry, EntryState};
use crate::domain::diff::Lines;
use crate::tui::action::{Action, Scope};
use crate::tui::effect::{Ask, Effect};
use crate::tui::event::{Change, Event, Reply};
use crate::tui::model::Model;
use crate::tui::screens::pages::put;
use crate::tui::screens::{Ctx, Layer, Outcome, View, movement};
use crate::tui::theme::Role;
use crate::tui::widgets::ink;
use crate::tui::widgets::moment::{self, Told};
use crate::tui::widgets::pager::Pager;
use crate::tui::widgets::status::{self, Waiting};

/// Lines above the bytes: the title, what is known of the entry, the rule.
const HEAD: u16 = 8;

/// One entry.
pub struct Opened {
    id: String,
    entry: Option<Entry>,
    text: Option<Lines>,
    note: &'static str,
    failed: Option<String>,
    pager: Pager,
    request: Option<u64>,
    since: Duration,
    opens: bool,
}

impl Opened {
    /// For an entry, which is read when the layer opens.
    pub fn new(id: String) -> Opened {
        Opened {
            id,
            entry: None,
            text: None,
            note: "",
            failed: None,
            pager: Pager::new(true),
            request: None,
            since: Duration::ZERO,
            opens: true,
        }
    }

    fn read(&mut self, ctx: &mut Ctx<'_>) {
        self.since = ctx.model.now.run;
        self.request = Some(put(ctx, Ask::Entry(self.id.clone())));
    }

    fn take(&mut self, entry: &Entry, bytes: &Arc<[u8]>) {
        self.entry = Some(entry.clone());
        if self.text.is_some() {
            return;
        }
        self.text = Lines::raw(Arc::clone(bytes)).ok();
        if self.text.is_none() {
            // What is no UTF-8 is shown with marks in its place; the bytes are kept as they came.
            self.note = " · not all of it is UTF-8: � stands for what is not";
            self.text = Lines::raw(String::from_utf8_lossy(bytes).into_owned().into_bytes().into()).ok();
        }
    }

    fn is_open(&self) -> bool {
        self.entry.as_ref().is_some_and(|entry| entry.state == EntryState::Open)
    }

    fn head(&self, entry: &Entry, room: usize, view: &View<'_>) -> Vec<Line<'static>> {
        let theme = view.theme;
        let say = |name: &str, text: &str, role| ink::labelled(name, text, theme.style(role), room, theme);
        let at = |at| moment::moment(at, Told::Local, view.model);
        let named = |name: &Option<String>| name.clone().unwrap_or_else(|| "–".to_owned());
        let state = match &entry.state {
            EntryState::Open => ("open".to_owned(), Role::Warning),
            EntryState::Readmitted { by, at: then } => {
                (format!("re-admitted by {by}, {}", at(*then)), Role::Success)
            }
            EntryState::Dropped { by, at: then, reason } => {
                (format!("dropped by {by}, {}: {reason}", at(*then)), Role::Muted)
            }
        };
        let received = if entry.count > 1 {
            format!("{}× from {} to {}", entry.count, at(entry.received_at), at(entry.last_received_at))
        } else {
            at(entry.received_at)
        };
        let names = &entry.named;
        let names = format!(
            "task {}, message {}, sender {}",
            named(&names.task_id),
            named(&names.message_id),
            named(&names.sender)
        );
        let bytes = format!("{}, {}", status::counted(entry.size, false), entry.bytes_digest);
        vec![
            say("why     ", &format!("{}: {}", entry.reason.as_str(), entry.detail), Role::Danger),
            say("names   ", &names, Role::Untrusted),
            say(
                "from    ",
                &format!("{}, delivered by {}", entry.source, entry.submitted_by),
                Role::Untrusted,
            ),
            say("received", &received, Role::Text),
            say("bytes   ", &bytes, Role::Text),
            say("state   ", &state.0, state.1),
        ]
    }
}

impl Layer for Opened {
    fn scopes(&self) -> &'static [Scope] {
        &[Scope::Entry, Scope::List, Scope::Global, Scope::Always]
    }

    fn on(&mut self, action: Action, ctx: &mut Ctx<'_>) -> Outcome {
        match action {
            Action::Readmit | Action::Drop if !self.is_open() => ctx.toast("this entry is settled"),
            Action::Readmit => ctx.push(Readmit::new(self.id.clone())),
            Action::Drop => ctx.push(Drop::new(self.id.clone())),
            Action::Copy => match &self.entry {
                Some(entry) => ctx.effect(Effect::Copy(entry.bytes_digest.to_string())),
                None => return Outcome::Ignored,
            },
            _ => match (movement(action), &self.text) {
                (Some(movement), Some(text)) => self.pager.go(text, movement),
                _ => return Outcome::Ignored,
            },
        }
        Outcome::Handled
    }

    fn event(&mut self, event: &Event, ctx: &mut Ctx<'_>) {
        match event {
            Event::Resize { width, height } => {
                self.pager.resize(width.saturating_sub(2), height.saturating_sub(HEAD));
                if std::mem::take(&mut self.opens) {
                    self.read(ctx);
                }
            }
            Event::Reply { request, reply } if self.request == Some(*request) => {
                self.request = None;
                match reply {
                    Reply::Entry(found) => self.take(&found.entry, &found.bytes),
                    other => self.failed = Some(other.problem()),
                }
            }
            Event::Feed(Change::News(tasks)) if tasks.contains(&None) && self.request.is_none() => {
                self.read(ctx)
            }
            _ => {}
        }
    }

    fn draw(&self, frame: &mut Frame<'_>, area: Rect, view: &View<'_>) {
        let theme = view.theme;
        let line = |y: u16| Rect { y: area.y.saturating_add(y), height: 1, ..area }.intersection(area);
        status::say(frame, line(0), theme, &format!("Quarantine · {}", self.id), Role::Title);
        let Some(entry) = &self.entry else {
            let (text, role) = match &self.failed {
                Some(why) => (why.clone(), Role::Danger),
                None => (Waiting { since: self.since }.mark(view.model.now.run), Role::Muted),
            };
            return status::say(frame, line(1), theme, &text, role);
        };
        let inset =
            |line: Rect| Rect { x: line.x.saturating_add(1), width: line.width.saturating_sub(2), ..line };
        for (y, text) in (1..HEAD).zip(self.head(entry, usize::from(area.width.saturating_sub(2)), view)) {
            text.render(inset(line(y)), frame.buffer_mut());
        }
        let Some(text) = &self.text else { return };
        let title = format!(" as it came · {}{} ", self.pager.place(text), self.note);
        Block::new()
            .borders(Borders::TOP)
            .border_style(theme.style(Role::Border))
            .title(Line::styled(title, theme.style(Role::Muted)))
            .render(line(HEAD - 1), frame.buffer_mut());
        for (y, text) in (HEAD..area.height).zip(self.pager.rows(text, theme)) {
            text.render(inset(line(y)), frame.buffer_mut());
        }
    }

    fn wake(&self, model: &Model) -> Option<Duration> {
        let waits = self.entry.is_none() && self.failed.is_none();
        waits.then(|| Waiting { since: self.since }.wake(model.now.run))
    }

    fn offers(&self) -> &'static [(Action, &'static str)] {
        if self.is_open() {
            &[(Action::Readmit, "re-admit"), (Action::Drop, "drop"), (Action::Copy, "copy digest")]
        } else {
            &[(Action::Copy, "copy digest")]
        }
    }
}
