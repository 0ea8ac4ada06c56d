//! A popup that shows one text whole: a payload, an envelope, a record, or facts; never more of it than is seen.

use std::sync::Arc;

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::Line;
use ratatui::widgets::{Block, Clear, Widget as _};

use super::{Ctx, Layer, Outcome, View, movement};
use crate::domain::ids::TaskId;
use crate::tui::action::{Action, Scope};
use crate::tui::effect::{Ask, Effect, Source};
use crate::tui::event::{Event, Reply, Text};
use crate::tui::theme::Role;
use crate::tui::widgets::ink;
use crate::tui::widgets::pager::{self, Pager};
use crate::tui::widgets::status::Waiting;

/// What is shown.
enum Content {
    /// Lines that are there already.
    Own(Vec<String>),
    /// A text that is asked for when the popup opens.
    Foreign { id: TaskId, arrival: u64, source: Source, text: Option<Arc<Text>>, raw: bool, at: Option<u32> },
}

/// See the module.
pub(super) struct Viewer {
    title: String,
    content: Content,
    pager: Pager,
    request: Option<u64>,
    waiting: Option<Waiting>,
    problem: Option<String>,
}

impl Viewer {
    /// Lines of anybody's text.
    pub(super) fn own(title: impl Into<String>, lines: Vec<String>) -> Viewer {
        Viewer::new(title.into(), Content::Own(lines))
    }

    /// A submission's payload or envelope; marks the line that holds byte `at` of a payload.
    pub(super) fn of(
        title: impl Into<String>,
        id: TaskId,
        arrival: u64,
        source: Source,
        at: Option<u32>,
    ) -> Viewer {
        Viewer::new(title.into(), Content::Foreign { id, arrival, source, text: None, raw: false, at })
    }

    fn new(title: String, content: Content) -> Viewer {
        Viewer { title, content, pager: Pager::new(true), request: None, waiting: None, problem: None }
    }

    fn source(&self) -> Option<Result<&dyn pager::Source, &str>> {
        match &self.content {
            Content::Own(lines) => Some(Ok(lines)),
            Content::Foreign { text, raw, .. } => {
                let text = text.as_ref()?;
                // A payload that is no JSON has no pretty form.
                let lines = if *raw || text.pretty.is_err() { &text.raw } else { &text.pretty };
                Some(match lines {
                    Ok(lines) => Ok(lines),
                    Err(why) => Err(why.as_str()),
                })
            }
        }
    }

    /// Runs something on the pager, if there is a text.
    fn page(&mut self, act: impl FnOnce(&mut Pager, &dyn pager::Source)) {
        let mut pager = self.pager.clone();
        if let Some(Ok(source)) = self.source() {
            act(&mut pager, source);
            self.pager = pager;
        }
    }

    fn ask(&mut self, ctx: &mut Ctx<'_>) {
        let Content::Foreign { id, arrival, source, text: None, .. } = &self.content else { return };
        if self.request.is_none() && self.problem.is_none() {
            let ask = Ask::Text(id.clone(), *arrival, *source);
            let request = ctx.request();
            self.request = Some(request);
            self.waiting = Some(Waiting { since: ctx.model.now.run });
            ctx.effect(Effect::Ask(request, Box::new(ask)));
        }
    }

    fn take(&mut self, reply: &Reply) {
        self.request = None;
        self.waiting = None;
        match (reply, &mut self.content) {
            (Reply::Text(read), Content::Foreign { text, at, .. }) => {
                if let (Some(at), Ok(lines)) = (*at, &read.pretty) {
                    self.pager.jump(lines.line_at(at));
                }
                *text = Some(read.clone());
            }
            (other, _) => self.problem = Some(other.problem()),
        }
    }

    fn copied(&self) -> Option<String> {
        match &self.content {
            Content::Own(lines) => Some(lines.join("\n")),
            Content::Foreign { text, .. } => {
                let bytes = text.as_ref()?.view.bytes.as_ref()?;
                Some(String::from_utf8_lossy(bytes).into_owned())
            }
        }
    }

    /// What is said of the text at the bottom of the frame.
    fn footing(&self, view: &View<'_>) -> (String, Role) {
        let mut role = Role::Muted;
        let mut parts = Vec::new();
        if let Content::Foreign { text: Some(text), raw, source, .. } = &self.content {
            if *source == Source::Payload {
                let (word, own) = match (text.view.verified, text.view.masked) {
                    (true, false) => ("digest verified", Role::Muted),
                    (true, true) => ("digest verified by coordinator, partly masked for you", Role::Warning),
                    (false, _) => ("digest NOT verified", Role::Danger),
                };
                parts.push(word.to_owned());
                role = own;
            }
            parts.push("untrusted".to_owned());
            parts.push(if *raw || text.pretty.is_err() { "raw" } else { "as JSON" }.to_owned());
        }
        if let Some(Ok(source)) = self.source() {
            parts.push(self.pager.place(source));
        }
        if let Some(waiting) = self.waiting {
            parts.push(waiting.mark(view.model.now.run));
        }
        (format!(" {} ", parts.join(" · ")), role)
    }
}

/// Where the popup stands in the body.
fn place(body: Rect) -> Rect {
    let (x, y) = (u16::from(body.width > 60), u16::from(body.height > 16));
    Rect {
        x: body.x.saturating_add(x),
        y: body.y.saturating_add(y),
        width: body.width.saturating_sub(2 * x),
        height: body.height.saturating_sub(2 * y),
    }
}

impl Layer for Viewer {
    fn scopes(&self) -> &'static [Scope] {
        &[Scope::Text, Scope::List, Scope::Global, Scope::Always]
    }

    fn popup(&self) -> bool {
        true
    }

    fn offers(&self) -> &'static [(Action, &'static str)] {
        match &self.content {
            Content::Own(_) => {
                &[(Action::Down, "scroll"), (Action::ToggleWrap, "wrap"), (Action::Copy, "copy")]
            }
            Content::Foreign { .. } => &[
                (Action::Down, "scroll"),
                (Action::ToggleWrap, "wrap"),
                (Action::CycleView, "raw"),
                (Action::Copy, "copy"),
            ],
        }
    }

    fn wake(&self, model: &crate::tui::model::Model) -> Option<std::time::Duration> {
        self.waiting.map(|waiting| waiting.wake(model.now.run))
    }

    fn on(&mut self, action: Action, ctx: &mut Ctx<'_>) -> Outcome {
        if let Some(movement) = movement(action) {
            self.page(|pager, source| pager.go(source, movement));
            return Outcome::Handled;
        }
        match action {
            Action::Left => self.page(|pager, source| pager.sideways(source, false)),
            Action::Right => self.page(|pager, source| pager.sideways(source, true)),
            Action::ToggleWrap => self.pager.toggle_wrap(),
            Action::CycleView => {
                if let Content::Foreign { raw, .. } = &mut self.content {
                    *raw = !*raw;
                    self.pager.restart();
                }
            }
            Action::Copy => {
                if let Some(text) = self.copied() {
                    ctx.effect(Effect::Copy(text));
                }
            }
            _ => return Outcome::Ignored,
        }
        Outcome::Handled
    }

    fn event(&mut self, event: &Event, ctx: &mut Ctx<'_>) {
        match event {
            Event::Resize { width, height } => {
                let inner =
                    Block::bordered().inner(place(Rect { x: 0, y: 0, width: *width, height: *height }));
                self.pager.resize(inner.width, inner.height);
                self.ask(ctx);
            }
            Event::Reply { request, reply } if self.request == Some(*request) => self.take(reply),
            _ => {}
        }
    }

    fn draw(&self, frame: &mut Frame<'_>, area: Rect, view: &View<'_>) {
        let theme = view.theme;
        let place = place(area);
        Clear.render(place, frame.buffer_mut());
        let room = usize::from(place.width.saturating_sub(4));
        let mut title = vec![ratatui::text::Span::raw(" ")];
        title.extend(ink::fit(ink::spans(&self.title, theme.style(Role::Title), theme), room, false));
        title.push(ratatui::text::Span::raw(" "));
        let (footing, role) = self.footing(view);
        let block = Block::bordered()
            .title(Line::from(title))
            .title_bottom(Line::styled(footing, theme.style(role)))
            .border_style(theme.style(Role::Focus));
        let inner = block.inner(place);
        block.render(place, frame.buffer_mut());
        let rows = match (self.source(), &self.problem) {
            (_, Some(why)) => vec![Line::styled(why.clone(), theme.style(Role::Danger))],
            (Some(Ok(source)), None) => self.pager.rows(source, theme),
            (Some(Err(why)), None) => {
                ink::paragraph(why, theme.style(Role::Warning), usize::from(inner.width), 9, theme)
            }
            (None, None) => Vec::new(),
        };
        for (y, row) in (inner.y..inner.bottom()).zip(rows) {
            row.render(Rect { y, height: 1, ..inner }, frame.buffer_mut());
        }
    }
}
