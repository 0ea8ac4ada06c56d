//! Why a decision cannot be sent now: the first reason, in the order in which it can be put right.

use super::super::dialog;
use super::{Decision, correct};
use crate::coordinator::Shown;
use crate::domain::interruption::Need;
use crate::domain::task::TaskState;
use crate::tui::model::Model;
use crate::tui::widgets::moment;

impl Decision {
    /// Why it cannot be sent, a sentence fragment of anybody's text; `None` when it can.
    pub(super) fn off(&self, model: &Model) -> Option<String> {
        let unfit = dialog::unfit(&self.reading, model);
        let Some(shown) = self.reading.shown().filter(|_| unfit.is_none()) else { return unfit };
        self.closed(shown)
            .or_else(|| self.not_permitted(shown))
            .or_else(|| self.changed(shown))
            .or_else(|| self.sides.unread())
            .or_else(|| self.not_chosen(shown, model))
            .or_else(|| self.not_founded())
            .or_else(|| self.not_confirmed())
    }

    /// Nothing waits for a decision.
    pub(super) fn closed(&self, shown: &Shown) -> Option<String> {
        let task = &shown.task;
        if let Some(old) = &self.supersedes {
            return correct::not_correctable(shown, old);
        }
        if task.state.waits_for_a_record() {
            return None;
        }
        Some(match &task.decided {
            Some(last) => format!(
                "already decided: {} by {} in {} (record {})",
                last.decision, last.principal.subject, last.approval_id, last.sequence
            ),
            None => format!("the task does not wait for a decision: it is {}", task.state),
        })
    }

    fn not_permitted(&self, shown: &Shown) -> Option<String> {
        let may = |name| shown.may.get(name) == Some(&true);
        let candidates = &shown.candidate_set.candidates;
        let own = shown.own.iter().find(|own| {
            candidates.iter().any(|side| side.arrival == **own) || self.sides.upheld().contains(own)
        });
        if let Some(own) = own {
            return Some(format!("you wrote #{own} and may not judge it"));
        }
        let (name, role) = match (self.to, &self.supersedes) {
            (Some(TaskState::Canceled), None) => ("cancel", "a reviewer or an operator"),
            (Some(TaskState::Ready), Some(_)) => ("supersede_ready", "who may decide"),
            (_, Some(_)) => ("supersede", "who may decide, and only until a worker takes the task"),
            _ if shown.task.state == TaskState::WaitingHuman => ("answer", "a responder it names"),
            _ => ("decide", "a reviewer"),
        };
        // Before anything is chosen, canceling may be what is left.
        let open = may(name) || (self.to.is_none() && may("cancel"));
        (!open).then(|| format!("not permitted: this is for {role}"))
    }

    /// What is there is not what was seen.
    fn changed(&self, shown: &Shown) -> Option<String> {
        let seen = self.seen.as_ref()?;
        let task = &shown.task;
        if task.state_version != seen.version {
            return Some(format!(
                "the task changed since you looked (v{} then, v{} now): go back and read it again",
                seen.version, task.state_version
            ));
        }
        (shown.candidate_set_digest != seen.set)
            .then(|| "what is to be judged changed since you looked: go back and read it again".to_owned())
    }

    fn not_chosen(&self, shown: &Shown, model: &Model) -> Option<String> {
        let Some(to) = self.to else { return Some("choose ready or cancel".to_owned()) };
        let need = self.question().map(|asked| asked.question.need);
        let takes_answer =
            to == TaskState::Ready && need.is_some_and(|need| need != Need::MachineCredentials);
        if takes_answer && self.supersedes.is_some() && correct::is_answer(shown) {
            return Some(
                "this record holds an answer: answering (a) corrects it, here it is only canceled".to_owned(),
            );
        }
        let expired = self.question().is_some_and(|asked| asked.expired(moment::now(model)));
        if to == TaskState::Ready && expired {
            return Some("the question expired: the task can only be canceled, or asked anew".to_owned());
        }
        if takes_answer && shown.task.state == TaskState::WaitingHuman {
            return Some("a question waits: answer it (a) in place of deciding, or cancel".to_owned());
        }
        self.sides.not_upholdable()
    }

    fn not_founded(&self) -> Option<String> {
        let resume = self.resume.text();
        if resume.len() > 256 {
            return Some("the point to resume from has at most 256 bytes".to_owned());
        }
        dialog::unfounded(&self.reason.text()).or_else(|| dialog::secret("point to resume from", &resume))
    }

    fn not_confirmed(&self) -> Option<String> {
        let wanted = self.wanted()?;
        (self.confirm.text() != wanted).then(|| format!("type {wanted} to confirm"))
    }
}
