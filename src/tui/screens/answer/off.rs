//! Why an answer cannot be sent now: the first reason, in the order in which it can be put right.

use super::super::decision::correct;
use super::super::dialog;
use super::{Answer, Content};
use crate::coordinator::Shown;
use crate::domain::interruption::Need;
use crate::domain::task::TaskState;
use crate::tui::model::Model;
use crate::tui::widgets::moment::{self, Told};

impl Answer {
    /// Why it cannot be sent, a sentence fragment of anybody's text; `None` when it can.
    pub(super) fn off(&self, model: &Model) -> Option<String> {
        let unfit = dialog::unfit(&self.reading, model);
        let Some(shown) = self.reading.shown().filter(|_| unfit.is_none()) else { return unfit };
        self.not_asked(shown, model)
            .or_else(|| self.not_permitted(shown))
            .or_else(|| self.not_filled_in())
            .or_else(|| self.sides.not_upholdable())
            .or_else(|| dialog::unfounded(&self.reason.text()))
            .or_else(|| self.not_confirmed())
    }

    /// No question, another question, or one that is void.
    fn not_asked(&self, shown: &Shown, model: &Model) -> Option<String> {
        if let Some(why) = self.supersedes.as_ref().and_then(|old| correct::not_correctable(shown, old)) {
            return Some(why);
        }
        let Some(asked) = self.question(shown) else { return self.nothing_asked() };
        if self.is_changed() {
            let same = self.pinned.as_ref().is_some_and(|pinned| pinned.asked.id == asked.id);
            let what = if same { "the task changed" } else { "the question changed" };
            return Some(format!(
                "{what} while you wrote: acknowledge takes over what is asked now, what you wrote stays"
            ));
        }
        self.expired(model).filter(|_| !self.cancels())
    }

    /// That there is no question to answer, and why; `None` where there is one.
    pub(super) fn nothing_asked(&self) -> Option<String> {
        let shown = self.reading.shown().filter(|shown| self.question(shown).is_none())?;
        let task = &shown.task;
        let name = task.task_id.as_str();
        Some(match &task.decided {
            _ if task.state == TaskState::NeedsReview => {
                format!("no question is open: {name} is in review, d decides it")
            }
            Some(last) => format!(
                "no question is open: {} by {} in {} (record {})",
                last.decision, last.principal.subject, last.approval_id, last.sequence
            ),
            None => format!("no question is open: {name} is {}", task.state),
        })
    }

    /// What became of the question where it expired: when, that nothing was sent, and what can be done.
    pub(super) fn expired(&self, model: &Model) -> Option<String> {
        let (asked, now) = (&self.pinned.as_ref()?.asked, moment::now(model));
        let at = asked.question.expires_at.filter(|_| asked.expired(now))?;
        let (ago, told) = (moment::span(now.since(at)), moment::moment(at, Told::Utc, model));
        let left = match (&self.supersedes, self.need()) {
            (Some(_), _) => "What was answered stands, or the task is canceled (d)",
            (None, Need::MachineCredentials) => "Cancel the task here, or wait until it is asked anew",
            (None, _) if self.void => "Cancel the task (d), or wait until it is asked anew",
            (None, _) => "Cancel the task (esc, then d), or wait until it is asked anew",
        };
        Some(format!("question {} expired at {told}, {ago} ago, and nothing was sent. {left}", asked.id))
    }

    /// Whether what is chosen ends the task.
    pub(super) fn cancels(&self) -> bool {
        self.need() == Need::MachineCredentials && self.choice == Some(1)
    }

    fn not_permitted(&self, shown: &Shown) -> Option<String> {
        let name = match (&self.supersedes, self.cancels()) {
            (Some(_), true) => "supersede_cancel",
            (Some(_), false) => "supersede_ready",
            (None, true) => "cancel",
            (None, false) => "answer",
        };
        let open = shown.may.get(name) == Some(&true);
        (!open).then(|| "not permitted: the question or your role leaves this to others".to_owned())
    }

    fn not_filled_in(&self) -> Option<String> {
        if !self.choices().is_empty() && self.choice.is_none() {
            return Some("choose first".to_owned());
        }
        match (&self.content, &self.checked) {
            (Content::Elsewhere(why), _) => {
                Some(format!("this question is more than a form ({why}): use `tribunal answer --file`"))
            }
            (Content::Fields(_), None) => Some("the answer is checked when you leave its fields".to_owned()),
            (Content::Fields(_), Some(Err(errors))) => {
                let first = errors.first().map(ToString::to_string).unwrap_or_default();
                Some(format!("{} to put right: {first}", errors.len()))
            }
            (Content::Text, _) if self.text.text().trim().is_empty() => {
                Some("the answer is empty".to_owned())
            }
            (Content::Text, _) => dialog::secret("answer", &self.text.text()),
            _ => None,
        }
    }

    fn not_confirmed(&self) -> Option<String> {
        let wanted = self.wanted()?;
        (self.confirm.text() != wanted).then(|| format!("type {wanted} to confirm"))
    }
}
