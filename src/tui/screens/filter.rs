//! The filter line: applied as it is typed, with what is wrong under the caret and what could come next.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget as _;

use super::View;
use crate::domain::query::{Completion, MAX_INPUT, Query, QueryError};
use crate::tui::action::Action;
use crate::tui::event::Key;
use crate::tui::theme::Role;
use crate::tui::widgets::ink;
use crate::tui::widgets::input::Field;

/// The filter in force, and the line it is typed in while it is typed.
#[derive(Default)]
pub(super) struct Filter {
    text: String,
    query: Query,
    typing: Option<Field>,
    /// The keys of the language that mean nothing here.
    without: &'static [&'static str],
}

/// What the footer offers while a filter is typed.
pub(super) const TYPING: &[(Action, &str)] =
    &[(Action::Accept, "keep"), (Action::NextField, "complete"), (Action::Back, "leave")];

/// What came of an action while a filter is typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Typed {
    /// It is kept, or nothing changed.
    Same,
    /// Something is wrong with it: it is still typed.
    Wrong,
    /// Something else is to be listed.
    Changed,
    /// The action is none of the filter's.
    Other,
}

impl Filter {
    /// No filter, of a language without these keys.
    pub(super) fn without(keys: &'static [&'static str]) -> Filter {
        Filter { without: keys, ..Filter::default() }
    }

    /// Carries out what a key of the line means.
    pub(super) fn on(&mut self, action: Action) -> Typed {
        match action {
            Action::Accept if self.keep() => Typed::Same,
            Action::Accept => Typed::Wrong,
            Action::Back => {
                self.typing = None;
                Typed::Changed
            }
            Action::NextField if self.complete() => Typed::Changed,
            Action::NextField => Typed::Same,
            _ => Typed::Other,
        }
    }

    /// The terms that are fine, and what is wrong with the others.
    fn parse(&self, text: &str) -> (Query, Vec<QueryError>) {
        Query::parse_without(text, self.without)
    }

    /// What could come next, of what means something here.
    fn completions(&self, text: &str) -> Vec<Completion> {
        let mut all = Query::completions(text, text.len());
        all.retain(|next| !self.without.iter().any(|key| next.text.trim_start_matches('-').starts_with(key)));
        all
    }

    /// What is listed: of what is being typed, the terms that are fine.
    pub(super) fn query(&self) -> Query {
        self.typing.as_ref().map_or_else(|| self.query.clone(), |field| self.parse(&field.text()).0)
    }

    /// Whether everything is listed.
    pub(super) fn is_empty(&self) -> bool {
        self.query().terms.is_empty()
    }

    pub(super) fn is_typing(&self) -> bool {
        self.typing.is_some()
    }

    /// Rows of the screen it takes.
    pub(super) fn height(&self) -> u16 {
        match (&self.typing, self.text.is_empty()) {
            (Some(_), _) => 2,
            (None, true) => 0,
            (None, false) => 1,
        }
    }

    /// Begins to type, from the filter in force.
    pub(super) fn open(&mut self) {
        self.typing = Some(Field::line(&self.text));
    }

    /// Lists everything again. Returns whether that is a change.
    pub(super) fn clear(&mut self) -> bool {
        let filtered = !self.text.is_empty();
        *self = Filter::without(self.without);
        filtered
    }

    /// Keeps what was typed, unless something is wrong with it.
    fn keep(&mut self) -> bool {
        let Some(text) = self.typing.as_ref().map(Field::text) else { return true };
        let (query, errors) = self.parse(&text);
        if !errors.is_empty() {
            return false;
        }
        *self = Filter { text: text.trim().to_owned(), query, typing: None, ..*self };
        true
    }

    /// Takes a key or a paste. Returns whether what is listed may change.
    pub(super) fn key(&mut self, key: Key) -> bool {
        self.change(|field| field.key(key))
    }

    pub(super) fn paste(&mut self, text: &str) -> bool {
        self.change(|field| {
            field.paste(text);
            true
        })
    }

    /// Writes the first of what could come next.
    fn complete(&mut self) -> bool {
        let text = self.typing.as_ref().map(Field::text).unwrap_or_default();
        let first = self.completions(&text).into_iter().next();
        self.change(|field| {
            let mut text = field.text();
            let Some(first) = first else { return false };
            if first.replace.end > text.len() || !text.is_char_boundary(first.replace.start) {
                return false;
            }
            text.replace_range(first.replace, &first.text);
            field.set(&text);
            true
        })
    }

    fn change(&mut self, change: impl FnOnce(&mut Field) -> bool) -> bool {
        let Some(mut field) = self.typing.take() else { return false };
        let before = field.text();
        let changed = change(&mut field) && field.text() != before && self.check(&mut field, &before);
        self.typing = Some(field);
        changed
    }

    /// Says below the line what is wrong with what is typed. Returns whether it is taken at all.
    fn check(&self, field: &mut Field, before: &str) -> bool {
        let text = field.text();
        if text.len() > MAX_INPUT {
            field.set(before);
            field
                .set_error(Some((before.chars().count(), format!("a filter has at most {MAX_INPUT} bytes"))));
            return false;
        }
        let error = self.parse(&text).1.into_iter().next().map(|error| {
            let at = text.get(..error.at.start).unwrap_or_default().chars().count();
            (at, error.to_string())
        });
        field.set_error(error);
        true
    }

    /// Draws the line, and below it what is wrong or what could come next.
    pub(super) fn draw(&self, frame: &mut Frame<'_>, area: Rect, view: &View<'_>, found: &str) {
        let theme = view.theme;
        let line = Rect { height: area.height.min(1), ..area };
        let buffer = frame.buffer_mut();
        buffer.set_stringn(line.x, line.y, " / ", usize::from(line.width), theme.style(Role::Key));
        let Some(field) = &self.typing else {
            let room = usize::from(area.width).saturating_sub(3);
            let mut text = ink::spans(&self.text, theme.style(Role::Accent), theme);
            text.push(Span::styled(format!("   {found} · esc clears it"), theme.style(Role::Muted)));
            let place = Rect { x: line.x.saturating_add(3), width: line.width.saturating_sub(3), ..line };
            Line::from(ink::fit(text, room, false)).render(place, buffer);
            return;
        };
        let indent =
            |area: Rect| Rect { x: area.x.saturating_add(3), width: area.width.saturating_sub(3), ..area };
        if field.error().is_none() {
            let text = field.text();
            let next: Vec<String> =
                self.completions(&text).into_iter().take(12).map(|next| next.text).collect();
            let words = if next.is_empty() { found.to_owned() } else { format!("tab: {}", next.join("  ")) };
            let below = indent(Rect { y: area.y.saturating_add(1), height: 1, ..area }).intersection(area);
            let text = ink::spans(&words, theme.style(Role::Muted), theme);
            Line::from(ink::fit(text, usize::from(below.width), false)).render(below, buffer);
            field.draw(frame, indent(line), theme, true);
        } else {
            field.draw(frame, indent(area), theme, true);
        }
    }
}
