//! What the form shows: the question whole, what is known of it, the fields, and what is in the way.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Clear, Widget as _};

use super::super::View;
use super::question::facts;
use super::{Answer, Content, Part};
use crate::tui::model::Model;
use crate::tui::theme::{Role, Theme};
use crate::tui::widgets::centred;
use crate::tui::widgets::form::Sheet;
use crate::tui::widgets::ink;

/// Rows kept for what is in the way, at the bottom.
const STATUS: u16 = 2;
/// The most lines of a prompt.
const PROMPT: usize = 4000;

fn place(body: Rect) -> Rect {
    centred(body, 110, body.height)
}

impl Answer {
    pub(super) fn page(&mut self, pages: isize, model: &Model) {
        let inner =
            Block::bordered().inner(place(Rect { x: 0, y: 0, width: self.size.0, height: self.size.1 }));
        let height = usize::from(inner.height.saturating_sub(STATUS));
        let to =
            self.sheet(usize::from(inner.width), &Theme::bare(), model).paged(height, self.scroll, pages);
        self.scroll = to;
    }

    pub(super) fn paint(&self, frame: &mut Frame<'_>, area: Rect, view: &View<'_>) {
        let theme = view.theme;
        let place = place(area);
        Clear.render(place, frame.buffer_mut());
        let mut title = vec![Span::styled(" Answer ", theme.style(Role::Title))];
        title.extend(ink::spans(self.reading.id().as_str(), theme.style(Role::Title), theme));
        if let Some(pinned) = &self.pinned {
            title.push(Span::styled(format!(" · v{} ", pinned.version), theme.style(Role::Muted)));
        }
        let block = Block::bordered()
            .title(Line::from(ink::fit(title, usize::from(place.width.saturating_sub(2)), false)))
            .border_style(theme.style(Role::Focus));
        let inner = block.inner(place);
        block.render(place, frame.buffer_mut());
        let body = Rect { height: inner.height.saturating_sub(STATUS), ..inner };
        let sheet = self.sheet(usize::from(body.width), theme, view.model);
        sheet.draw(frame, body, theme, self.scroll);
        sheet.draw_cut(frame, body, theme, self.scroll);
        let status = Rect { y: body.bottom(), height: inner.height - body.height, ..inner };
        super::super::case::stack(frame, status, self.status(usize::from(status.width), view));
    }

    fn status(&self, width: usize, view: &View<'_>) -> Vec<Line<'static>> {
        let theme = view.theme;
        let say =
            |text: &str, role| ink::paragraph(text, theme.style(role), width, usize::from(STATUS), theme);
        if let Some((text, role)) = self.sending.standing() {
            return say(text, role);
        }
        match self.off(view.model) {
            Some(why) => say(&format!("off: {why}"), Role::Warning),
            None => say("ready: it is sent once and for good", Role::Accent),
        }
    }

    fn sheet(&self, width: usize, theme: &Theme, model: &Model) -> Sheet<'_> {
        let mut sheet = Sheet::new();
        let told = self.sending.told(width, theme, model);
        if self.sending.record().is_some() {
            sheet.lines(told);
            return sheet;
        }
        if !told.is_empty() {
            sheet.lines(told).lines([Line::default()]);
        }
        let Some(pinned) = &self.pinned else {
            let (text, role) = match (self.reading.problem(), self.reading.waiting()) {
                (Some(why), _) => (why.to_owned(), Role::Danger),
                (None, Some(waiting)) => (format!("reading {}", waiting.mark(model.now.run)), Role::Muted),
                (None, None) => ("no question is open".to_owned(), Role::Muted),
            };
            sheet.lines(ink::paragraph(&text, theme.style(role), width, 9, theme));
            return sheet;
        };
        let room = width.saturating_sub(2).max(1);
        let prompt = ink::paragraph(&pinned.asked.question.prompt, Style::new(), room, PROMPT, theme);
        sheet.lines(prompt.into_iter().map(|mut line| {
            line.spans.insert(0, Span::styled("│ ", theme.style(Role::Untrusted)));
            line
        }));
        for (text, role) in facts(&pinned.asked, model) {
            sheet.lines(ink::paragraph(&text, theme.style(role), width, 4, theme));
        }
        if let Some(held) =
            self.reading.shown().map(|shown| shown.candidate_set.held.len()).filter(|held| *held > 0)
        {
            let text = format!(
                "{held} held outcomes are judged with this and not applied: a decision can uphold one"
            );
            sheet.lines(ink::paragraph(&text, theme.style(Role::Warning), width, 3, theme));
        }
        sheet.lines([Line::default()]);
        self.add_content(&mut sheet, width, theme);
        self.add_end(&mut sheet, width, theme);
        sheet
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
                let label = Line::styled("Answer (free text)", theme.style(Role::Title));
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
        let label = |text: String| {
            Line::from(ink::fit(vec![Span::styled(text, theme.style(Role::Title))], width, false))
        };
        let reason = label("Reason (required, kept for ever)".to_owned());
        sheet.input(reason, &self.reason, part == Some(Part::Reason));
        if let Content::Fields(fields) = &self.content {
            let chosen = fields.chosen();
            if !chosen.is_empty() {
                let text = format!("what will be sent: {}", chosen.join(", "));
                sheet.lines(ink::paragraph(&text, theme.style(Role::Text), width, 4, theme));
            }
        }
        let confirm = match self.wanted() {
            Some(word) => format!("Confirm: type {word}, then send"),
            None => "Confirm: choose first".to_owned(),
        };
        sheet.input(label(confirm), &self.confirm, part == Some(Part::Confirm));
    }
}
