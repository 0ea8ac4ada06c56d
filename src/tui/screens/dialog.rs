//! What a decision and an answer have in common: the frame, the reason that is kept, and the last line of what is in
//! the way.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Clear, Widget as _};

use super::View;
use super::reading::Reading;
use super::sending::Sending;
use crate::domain::ids::TaskId;
use crate::domain::secret::looks_like_secret;
use crate::tui::model::Model;
use crate::tui::theme::{Role, Theme};
use crate::tui::widgets::form::{Scroll, Sheet};
use crate::tui::widgets::{centred, ink};

/// Rows kept for what is in the way, at the bottom.
const STATUS: u16 = 2;

fn place(body: Rect, widest: u16) -> Rect {
    centred(body, widest, body.height)
}

/// The size of the part that scrolls, in a dialog of at most this width over a body of this size.
pub(super) fn inner(size: (u16, u16), widest: u16) -> (usize, usize) {
    let body = Rect { x: 0, y: 0, width: size.0, height: size.1 };
    let inner = Block::bordered().inner(place(body, widest));
    (usize::from(inner.width), usize::from(inner.height.saturating_sub(STATUS)))
}

/// What stands in the frame.
pub(super) struct Parts<'a> {
    /// What it is about.
    pub(super) title: Vec<Span<'static>>,
    /// What scrolls.
    pub(super) sheet: Sheet<'a>,
    /// Which part of it is in view.
    pub(super) scroll: Scroll,
    /// What is in the way, and how that looks; made to fit here.
    pub(super) status: (String, Role),
}

/// Draws the dialog.
pub(super) fn paint(frame: &mut Frame<'_>, area: Rect, view: &View<'_>, widest: u16, parts: Parts<'_>) {
    let theme = view.theme;
    let place = place(area, widest);
    Clear.render(place, frame.buffer_mut());
    let room = usize::from(place.width.saturating_sub(2));
    let block = Block::bordered()
        .title(Line::from(ink::fit(parts.title, room, false)))
        .border_style(theme.style(Role::Focus));
    let inner = block.inner(place);
    block.render(place, frame.buffer_mut());
    let body = Rect { height: inner.height.saturating_sub(STATUS), ..inner };
    parts.sheet.draw(frame, body, theme, parts.scroll);
    parts.sheet.draw_cut(frame, body, theme, parts.scroll);
    let status = Rect { y: body.bottom(), height: inner.height - body.height, ..inner };
    let (text, role) = parts.status;
    let most = usize::from(STATUS);
    let lines = ink::paragraph(&text, theme.style(role), usize::from(status.width), most, theme);
    super::case::stack(frame, status, lines);
}

/// `Decide T-20 · v7`: what is done, to which task, and how it stands.
pub(super) fn title(verb: &str, id: &TaskId, stands: Option<String>, theme: &Theme) -> Vec<Span<'static>> {
    let mut title = vec![Span::styled(format!(" {verb} "), theme.style(Role::Title))];
    title.extend(ink::spans(id.as_str(), theme.style(Role::Title), theme));
    let stands = stands.map_or_else(|| " ".to_owned(), |stands| format!(" · {stands} "));
    title.push(Span::styled(stands, theme.style(Role::Muted)));
    title
}

/// What is in the way of sending, or that nothing is.
pub(super) fn status(sending: &Sending, off: Option<String>, ready: &str) -> (String, Role) {
    match (sending.standing(), off) {
        (Some((text, role)), _) => (text.to_owned(), role),
        (None, Some(why)) => (format!("off: {why}"), Role::Warning),
        (None, None) => (ready.to_owned(), Role::Accent),
    }
}

/// The line above a field.
pub(super) fn label(text: &str, width: usize, theme: &Theme) -> Line<'static> {
    Line::from(ink::fit(vec![Span::styled(text.to_owned(), theme.style(Role::Title))], width, false))
}

/// What is said in place of everything else while the task is not there.
pub(super) fn absent(
    reading: &Reading,
    none: &str,
    width: usize,
    theme: &Theme,
    model: &Model,
) -> Vec<Line<'static>> {
    let (text, role) = match (reading.problem(), reading.waiting()) {
        (Some(why), _) => (why.to_owned(), Role::Danger),
        (None, Some(waiting)) => (format!("reading {}", waiting.mark(model.now.run)), Role::Muted),
        (None, None) => (none.to_owned(), Role::Muted),
    };
    ink::paragraph(&text, theme.style(role), width, 9, theme)
}

/// Why nothing can be sent on a task as it was last read, if so.
pub(super) fn unfit(reading: &Reading, model: &Model) -> Option<String> {
    if reading.shown().is_none() {
        return Some("the task is not read yet".to_owned());
    }
    if let Some(why) = model.closed() {
        return Some(why.to_owned());
    }
    reading.is_asking().then(|| "the task changed and is being read again".to_owned())
}

/// Why a reason is none, if so.
pub(super) fn unfounded(reason: &str) -> Option<String> {
    if reason.trim().is_empty() {
        return Some("a reason is required".to_owned());
    }
    secret("reason", reason)
}

/// What looks like a credential is refused, with what to do instead.
pub(super) fn secret(place: &str, text: &str) -> Option<String> {
    let kind = looks_like_secret(text)?;
    Some(format!("the {place} holds {}. {}", kind.what(), kind.advice()))
}
