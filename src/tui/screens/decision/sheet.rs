//! What the dialog says: the choices, what follows from them, the reason, what confirms, and what is in the way.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::super::View;
use super::super::case::columns::Column;
use super::super::dialog::{self, Parts};
use super::{Choice, Decision, Focus};
use crate::domain::task::TaskState;
use crate::domain::text::mixed_script_warning;
use crate::tui::model::Model;
use crate::tui::theme::{Role, Theme};
use crate::tui::widgets::form::Sheet;
use crate::tui::widgets::ink;

/// The most columns it takes.
const WIDEST: u16 = 118;

impl Decision {
    pub(super) fn page(&mut self, pages: isize, model: &Model) {
        let (width, height) = dialog::inner(self.size, WIDEST);
        let to = self.sheet(width, &Theme::bare(), model).paged(height, self.scroll, pages);
        self.scroll = to;
    }

    pub(super) fn paint(&self, frame: &mut Frame<'_>, area: Rect, view: &View<'_>) {
        let theme = view.theme;
        let verb = if self.supersedes.is_some() { "Supersede" } else { "Decide" };
        let stands = self.reading.shown().map(|shown| {
            format!("{} · v{}", shown.task.state.as_str().replace('_', " "), shown.task.state_version)
        });
        let (width, _) = dialog::inner((area.width, area.height), WIDEST);
        let parts = Parts {
            title: dialog::title(verb, self.reading.id(), stands, theme),
            sheet: self.sheet(width, theme, view.model),
            scroll: self.scroll,
            status: dialog::status(
                &self.sending,
                self.off(view.model),
                "ready: sending records it, for good",
            ),
        };
        dialog::paint(frame, area, view, WIDEST, parts);
    }

    /// Everything in the dialog.
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
        let Some(shown) = self.reading.shown() else {
            sheet.lines(dialog::absent(&self.reading, "", width, theme, model));
            return sheet;
        };
        if !told.is_empty() {
            // What came of the last try is read first.
            sheet.lines(told).lines([Line::default()]);
        }
        let found = self.draft.told(self.now().as_ref(), width, theme, model);
        if !found.is_empty() {
            sheet.lines(found).lines([Line::default()]);
        }
        let closed = self.closed(shown);
        if let Some(why) = &closed {
            // There is nothing to choose; what was written stays.
            sheet.lines(ink::paragraph(why, theme.style(Role::Warning), width, 6, theme));
        } else {
            self.add_choices(&mut sheet, width, theme);
            sheet.lines([Line::default()]);
            sheet.lines(self.consequences(width, theme, model));
        }
        sheet.lines([Line::default()]);
        let label = |text: &str| [dialog::label(text, width, theme)];
        sheet.input(label("Reason (required, kept for ever)"), &self.reason, self.focus == Focus::Reason);
        if closed.is_some() {
            return sheet;
        }
        let named = self.question().and_then(|asked| asked.question.resume.as_ref());
        let left_out = if named.is_some() { "what the question names" } else { "the new record's id" };
        sheet.input(
            label(&format!("Resume from (may be left out: then {left_out})")),
            &self.resume,
            self.focus == Focus::Resume,
        );
        let wanted = ink::paragraph(&self.confirmation(), theme.style(Role::Title), width, 3, theme);
        sheet.input(wanted, &self.confirm, self.focus == Focus::Confirm);
        sheet
    }

    /// What is typed to confirm, and that no side stands where one could.
    fn confirmation(&self) -> String {
        let Some(wanted) = self.wanted() else { return "Confirm: choose first".to_owned() };
        let sides = self.sides.columns().count();
        let aside = match sides {
            1 => "the side is set aside".to_owned(),
            2 => "both sides are set aside".to_owned(),
            many => format!("all {many} sides are set aside"),
        };
        if self.to == Some(TaskState::Ready) && self.sides.upheld().is_empty() && sides > 0 {
            return format!("Confirm: nothing is upheld: {aside}; type {wanted}, then send");
        }
        format!("Confirm: type {wanted}, then send")
    }

    fn add_choices<'a>(&'a self, sheet: &mut Sheet<'a>, width: usize, theme: &Theme) {
        let mut last = None;
        for (at, choice) in self.choices().into_iter().enumerate() {
            if let Choice::Uphold((set, _)) = choice
                && last != Some(set)
            {
                last = Some(set);
                sheet.lines([self.sides.head(set, width, theme)]);
            }
            let mine = self.focus == Focus::Choices && at == self.cursor;
            let line = [self.choice_line(choice, mine, width, theme)];
            if mine {
                sheet.focused(line)
            } else {
                sheet.lines(line)
            };
        }
    }

    fn choice_line(&self, choice: Choice, mine: bool, width: usize, theme: &Theme) -> Line<'static> {
        let style = if mine { theme.style(Role::Selected) } else { Style::new() };
        let mark = if mine { "▌" } else { " " };
        let mut line = vec![Span::styled(mark, theme.style(Role::Accent))];
        let tick = |on: bool| if on { "(•) " } else { "( ) " };
        match choice {
            Choice::Ready => {
                let on = self.to == Some(TaskState::Ready);
                line.push(Span::styled(format!("{}ready   the work goes on", tick(on)), style));
            }
            Choice::Cancel => {
                let on = self.to == Some(TaskState::Canceled);
                line.push(Span::styled(format!("{}cancel  the task ends for good", tick(on)), style));
            }
            Choice::Uphold(at) => return self.sides.line(at, mine, width, theme),
        }
        Line::from(ink::fit(line, width, false))
    }

    /// Chosen, rejected, the resulting state, what resumes and from where, under which policy, by whom.
    fn consequences(&self, width: usize, theme: &Theme, model: &Model) -> Vec<Line<'static>> {
        let Some(shown) = self.reading.shown() else { return Vec::new() };
        let mut facts: Vec<(String, Role)> = Vec::new();
        let named = |column: &Column| {
            let sender = column.sides.first().map(|side| side.sender.as_str()).unwrap_or_default();
            let odd = if mixed_script_warning(sender).is_some() { ink::MIXED } else { "" };
            format!("{} #{} of {sender}{odd}, {}", column.label, column.arrival(), column.digest)
        };
        match self.to {
            None => facts.push(("nothing is chosen".to_owned(), Role::Muted)),
            Some(to) => {
                for column in self.sides.standing() {
                    facts.push((format!("stands: {}", named(column)), Role::Success));
                }
                for column in self.sides.falling() {
                    let seen = self.sides.checks().has_seen(column);
                    let unseen = if seen { "" } else { ", AND ITS CONTENT WAS NOT ON YOUR SCREEN" };
                    facts.push((format!("does not stand{unseen}: {}", named(column)), Role::Removed));
                }
                facts.push((format!("then: {} → {to}", shown.task.state), Role::Warning));
                let from = self.resume_key().unwrap_or_else(|| "the new record's id".to_owned());
                let stands = if self.sides.upheld().is_empty() {
                    "nothing is reused"
                } else {
                    "what stands is reused"
                };
                facts.push(match to {
                    TaskState::Canceled => ("nothing resumes".to_owned(), Role::Warning),
                    _ => (format!("work resumes from {from}; {stands}"), Role::Text),
                });
            }
        }
        if let Some(old) = &self.supersedes {
            facts.push((format!("corrects record {old}, which stays in the ledger"), Role::Warning));
        }
        facts.push((
            "policy: the coordinator's, named in the record; one decider is enough".to_owned(),
            Role::Muted,
        ));
        facts.push((format!("recorded as: {}", model.who), Role::Text));
        facts
            .iter()
            .flat_map(|(text, role)| ink::paragraph(text, theme.style(*role), width, 4, theme))
            .collect()
    }
}
