//! Why an answer cannot be sent now: the first reason, in the order in which it can be put right.

use super::{Answer, Content};
use crate::coordinator::Shown;
use crate::domain::interruption::Need;
use crate::domain::secret::looks_like_secret;
use crate::tui::model::Model;
use crate::tui::widgets::moment;

impl Answer {
    /// Why it cannot be sent, a sentence fragment of anybody's text; `None` when it can.
    pub(super) fn off(&self, model: &Model) -> Option<String> {
        let Some(shown) = self.reading.shown() else {
            return Some("the task is not read yet".to_owned());
        };
        if !model.fresh() {
            return Some("what is on the screen may be old: there is no connection".to_owned());
        }
        if self.reading.is_asking() {
            return Some("the task changed and is being read again".to_owned());
        }
        self.not_asked(shown, model)
            .or_else(|| self.not_permitted(shown))
            .or_else(|| self.not_filled_in())
            .or_else(|| self.not_founded())
            .or_else(|| self.not_confirmed())
    }

    /// No question, another question, or one that is void.
    fn not_asked(&self, shown: &Shown, model: &Model) -> Option<String> {
        let task = &shown.task;
        let Some(asked) = &task.interruption else {
            return Some(match &task.decided {
                Some(last) => format!(
                    "no question is open: {} by {} in {} (record {})",
                    last.decision, last.principal.subject, last.approval_id, last.sequence
                ),
                None => format!("no question is open: the task is {}", task.state),
            });
        };
        if self.is_changed() {
            let same = self.pinned.as_ref().is_some_and(|pinned| pinned.asked.id == asked.id);
            let what = if same { "the task changed" } else { "the question changed" };
            return Some(format!(
                "{what} while you wrote: acknowledge takes over what is asked now, what you wrote stays"
            ));
        }
        let cancels = self.need() == Need::MachineCredentials && self.choice == Some(1);
        (asked.expired(moment::now(model)) && !cancels).then(|| {
            "the question is expired: it can only be canceled by a decision, or asked anew".to_owned()
        })
    }

    fn not_permitted(&self, shown: &Shown) -> Option<String> {
        let may = |name| shown.may.get(name) == Some(&true);
        let cancels = self.need() == Need::MachineCredentials && self.choice == Some(1);
        let open = if cancels { may("cancel") } else { may("answer") };
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
            (Content::Text, _) => secret("answer", &self.text.text()),
            _ => None,
        }
    }

    fn not_founded(&self) -> Option<String> {
        let reason = self.reason.text();
        if reason.trim().is_empty() {
            return Some("a reason is required".to_owned());
        }
        secret("reason", &reason)
    }

    fn not_confirmed(&self) -> Option<String> {
        let wanted = self.wanted()?;
        (self.confirm.text() != wanted).then(|| format!("type {wanted} to confirm"))
    }
}

/// What looks like a credential is refused, with what to do instead.
fn secret(place: &str, text: &str) -> Option<String> {
    let kind = looks_like_secret(text)?;
    Some(format!("the {place} holds {}. {}", kind.what(), kind.advice()))
}
