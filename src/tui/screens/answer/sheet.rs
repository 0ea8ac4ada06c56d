//! What the form shows: the question whole, what is known of it, the fields, and what is in the way.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::super::View;
use super::super::dialog::{self, Parts};
use super::super::timeline::words::said;
use super::question::facts;
use super::{Answer, Content, Part};
use crate::tui::model::Model;
use crate::tui::theme::{Role, Theme};
use crate::tui::widgets::form::Sheet;
use crate::tui::widgets::ink;

/// The most columns it takes.
const WIDEST: u16 = 110;
/// The most lines of a prompt, and of what will be sent.
const WHOLE: usize = 4000;

impl Answer {
    pub(super) fn page(&mut self, pages: isize, model: &Model) {
        let (width, height) = dialog::inner(self.size, WIDEST);
        let to = self.sheet(width, &Theme::bare(), model).paged(height, self.scroll, pages);
        self.scroll = to;
    }

    pub(super) fn paint(&self, frame: &mut Frame<'_>, area: Rect, view: &View<'_>) {
        let theme = view.theme;
        let verb = if self.supersedes.is_some() { "Correct the answer to" } else { "Answer" };
        let stands = self.pinned.as_ref().map(|pinned| format!("v{}", pinned.version));
        let (width, _) = dialog::inner((area.width, area.height), WIDEST);
        let parts = Parts {
            title: dialog::title(verb, self.reading.id(), stands, theme),
            sheet: self.sheet(width, theme, view.model),
            scroll: self.scroll,
            status: dialog::status(
                &self.sending,
                self.off(view.model),
                "ready: it is sent once and for good",
            ),
        };
        dialog::paint(frame, area, view, WIDEST, parts);
    }

    fn sheet(&self, width: usize, theme: &Theme, model: &Model) -> Sheet<'_> {
        let mut sheet = Sheet::new();
        let told = self.sending.told(width, theme, model);
        if self.sending.record().is_some() {
            if let Some(why) = self.sending.overtaken(&self.reading) {
                sheet.lines(ink::paragraph(&why, theme.style(Role::Warning), width, 2, theme));
            }
            sheet.lines(told);
            return sheet;
        }
        if !told.is_empty() {
            sheet.lines(told).lines([Line::default()]);
        }
        let found = self.draft.told(self.now().as_ref(), width, theme, model);
        if !found.is_empty() {
            sheet.lines(found).lines([Line::default()]);
        }
        let Some(pinned) = &self.pinned else {
            sheet.lines(dialog::absent(&self.reading, "no question is open", width, theme, model));
            return sheet;
        };
        let room = width.saturating_sub(2).max(1);
        let prompt = ink::paragraph(&pinned.asked.question.prompt, Style::new(), room, WHOLE, theme);
        sheet.lines(prompt.into_iter().map(|mut line| {
            line.spans.insert(0, Span::styled("│ ", theme.style(Role::Untrusted)));
            line
        }));
        if let Some(text) = self.corrected() {
            sheet.lines(ink::paragraph(&text, theme.style(Role::Warning), width, 4, theme));
        }
        for (text, role) in facts(&pinned.asked, model) {
            sheet.lines(ink::paragraph(&text, theme.style(role), width, 4, theme));
        }
        sheet.lines([Line::default()]);
        if self.void {
            return sheet;
        }
        self.add_content(&mut sheet, width, theme);
        self.add_sides(&mut sheet, width, theme);
        self.add_end(&mut sheet, width, theme);
        sheet
    }

    /// What was answered, and stays in the ledger.
    fn corrected(&self) -> Option<String> {
        let old = self.supersedes.as_ref()?;
        let last = self.reading.shown()?.task.decided.as_ref().filter(|last| last.approval_id == *old)?;
        let answer = last.input.as_ref().map_or_else(|| last.decision.to_string(), said);
        Some(format!(
            "corrects record {} ({old}), which stays in the ledger: {} {answer}: {}",
            last.sequence, last.principal.subject, last.reason
        ))
    }

    fn add_content<'a>(&'a self, sheet: &mut Sheet<'a>, width: usize, theme: &Theme) {
        let part = self.part();
        for (at, (word, about)) in self.choices().iter().enumerate() {
            let mine = part == Some(Part::Choice) && at == self.cursor;
            let style = if mine { theme.style(Role::Selected) } else { Style::new() };
            let tick = if self.choice == Some(at) { "(•)" } else { "( )" };
            let mark = Span::styled(if mine { "▌" } else { " " }, theme.style(Role::Accent));
            let line = vec![mark, Span::styled(format!("{tick} {word:<8} {about}"), style)];
            let line = [Line::from(ink::fit(line, width, false))];
            if mine {
                sheet.focused(line)
            } else {
                sheet.lines(line)
            };
        }
        match &self.content {
            Content::Fields(fields) => {
                let focus = match part {
                    Some(Part::Field(at)) => Some(at),
                    _ => None,
                };
                fields.add_to(sheet, focus, width, theme);
            }
            Content::Text => {
                let label = [Line::styled("Answer (free text)", theme.style(Role::Title))];
                sheet.input(label, &self.text, part == Some(Part::Text));
            }
            Content::Elsewhere(why) => {
                let text = format!(
                    "This question is more than a form: {why}. Answer it with `tribunal answer {} --file FILE`.",
                    self.reading.id().as_str()
                );
                sheet.lines(ink::paragraph(&text, theme.style(Role::Warning), width, 6, theme));
            }
            Content::None => {}
        }
    }

    fn add_end<'a>(&'a self, sheet: &mut Sheet<'a>, width: usize, theme: &Theme) {
        let part = self.part();
        let label = |text: &str| [dialog::label(text, width, theme)];
        let reason = label("Reason (required, kept for ever)");
        sheet.input(reason, &self.reason, part == Some(Part::Reason));
        if let Content::Fields(fields) = &self.content {
            let text = match fields.members() {
                Ok(members) if members.is_empty() => "an answer without any member".to_owned(),
                Ok(members) => members.join(", "),
                Err(errors) => format!("nothing yet, {} to put right", errors.len()),
            };
            let text = format!("what will be sent: {text}");
            sheet.lines(ink::paragraph(&text, theme.style(Role::Text), width, WHOLE, theme));
        }
        let confirm = match self.wanted() {
            Some(word) => format!("Confirm: type {word}, then send"),
            None => "Confirm: choose first".to_owned(),
        };
        sheet.input(label(&confirm), &self.confirm, part == Some(Part::Confirm));
    }
}
