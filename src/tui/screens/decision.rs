//! Decision: what a person decides, restated and confirmed before it is sent.
//!
//! Nothing is chosen when it opens. What is typed to confirm is the beginning of the digest that will stand, so
//! that neither a stray key nor a habit decides. Enter, paste and mouse never do.

pub(super) mod correct;
mod draft;
mod keys;
mod off;
mod record;
mod sheet;
#[cfg(test)]
mod tests;

use super::case::checks::Checks;
use super::case::columns;
use super::drafting::Drafting;
use super::reading::Reading;
use super::sending::Sending;
use super::upholding::{At, Upholding};
use super::viewer::Viewer;
use super::{Ctx, Outcome};
use crate::domain::decision::{Decision as Asked, Resume};
use crate::domain::digest::Digest;
use crate::domain::ids::TaskId;
use crate::domain::interruption::Interruption;
use crate::domain::task::TaskState;
use crate::domain::text::reveal;
use crate::tui::action::Action;
use crate::tui::draft::Kind;
use crate::tui::widgets::form::Scroll;
use crate::tui::widgets::input::Field;

/// What was on the screen when the decision was opened.
#[derive(Clone, Debug)]
pub(super) struct Seen {
    /// The task.
    pub(super) task_id: TaskId,
    /// Its version.
    pub(super) version: u64,
    /// Its last event.
    pub(super) revision: u64,
    /// The digest of what would be judged.
    pub(super) set: Option<Digest>,
    /// Which contents were read, verified and on the screen.
    pub(super) checks: Checks,
}

/// Where the keys go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Focus {
    Choices,
    Reason,
    Resume,
    Confirm,
}

/// The place of the first side among the choices, after ready and cancel.
const SIDES: usize = 2;

/// One line that can be chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Choice {
    Ready,
    Cancel,
    Uphold(At),
}

/// See the module.
pub struct Decision {
    reading: Reading,
    seen: Option<Seen>,
    /// What can be upheld, and what is.
    sides: Upholding,
    to: Option<TaskState>,
    cursor: usize,
    focus: Focus,
    reason: Field,
    resume: Field,
    confirm: Field,
    draft: Drafting,
    supersedes: Option<String>,
    sending: Sending,
    scroll: Scroll,
    size: (u16, u16),
}

impl Decision {
    /// For a task of which nothing was on the screen: sides can only be upheld from the case.
    pub fn new(id: TaskId) -> Decision {
        Decision {
            draft: Drafting::new(id.clone(), Kind::Decision),
            reading: Reading::new(id),
            seen: None,
            sides: Upholding::default(),
            to: None,
            cursor: 0,
            focus: Focus::Choices,
            reason: Field::lines(""),
            resume: Field::line(""),
            confirm: Field::line(""),
            supersedes: None,
            sending: Sending::new(),
            scroll: Scroll::Focus,
            size: (0, 0),
        }
    }

    /// For a task as it was on the screen.
    pub(super) fn seen(seen: Seen) -> Decision {
        let mut decision = Decision::new(seen.task_id.clone());
        decision.sides = Upholding::knowing(seen.checks.clone());
        decision.seen = Some(seen);
        decision
    }

    /// The record that this one corrects.
    pub fn superseding(mut self, approval_id: String) -> Decision {
        self.supersedes = Some(approval_id);
        self
    }

    fn choices(&self) -> Vec<Choice> {
        let mut all = vec![Choice::Ready, Choice::Cancel];
        all.extend(self.sides.places().map(Choice::Uphold));
        all
    }

    /// What must be typed to confirm.
    fn wanted(&self) -> Option<String> {
        match (self.sides.standing().next(), self.to?) {
            (Some(column), _) => Some(column.digest.short()),
            (None, TaskState::Canceled) => Some("cancel".to_owned()),
            (None, _) => Some("ready".to_owned()),
        }
    }

    fn choose(&mut self, ctx: &mut Ctx<'_>) {
        if !self.sending.is_writing() {
            return;
        }
        match self.choices().get(self.cursor) {
            Some(Choice::Ready) => self.to = Some(TaskState::Ready),
            Some(Choice::Cancel) => {
                self.to = Some(TaskState::Canceled);
                self.sides.clear();
            }
            Some(Choice::Uphold(at)) => match self.sides.toggle(*at) {
                Ok(true) => self.to = Some(TaskState::Ready),
                Ok(false) => {}
                Err(why) => return ctx.toast(why),
            },
            None => return,
        }
        // What was typed was meant for something else.
        self.confirm.set("");
    }

    fn field(&mut self) -> Option<&mut Field> {
        match self.focus {
            Focus::Choices => None,
            Focus::Reason => Some(&mut self.reason),
            Focus::Resume => Some(&mut self.resume),
            Focus::Confirm => Some(&mut self.confirm),
        }
    }

    /// Moves on: what is decided, the sides that can stand, then the fields. The sides are passed by where none can stand.
    fn next_focus(&mut self, forward: bool) {
        const ORDER: [Focus; 4] = [Focus::Choices, Focus::Reason, Focus::Resume, Focus::Confirm];
        self.scroll = Scroll::Focus;
        let sides = self.can_uphold();
        let in_sides = self.cursor >= SIDES;
        match self.focus {
            Focus::Choices if forward && !in_sides && sides => return self.cursor = SIDES,
            Focus::Choices if !forward && in_sides => return self.cursor = 0,
            _ => {}
        }
        let at = ORDER.iter().position(|focus| *focus == self.focus).unwrap_or(0);
        let next = (at + if forward { 1 } else { ORDER.len() - 1 }) % ORDER.len();
        self.focus = ORDER.get(next).copied().unwrap_or(Focus::Choices);
        if self.focus == Focus::Choices {
            self.cursor = if !forward && sides { SIDES } else { 0 };
        }
    }

    /// Whether there is a list of sides in which some may still be chosen.
    fn can_uphold(&self) -> bool {
        let open = self.reading.shown().is_some_and(|shown| self.closed(shown).is_none());
        open && self.to != Some(TaskState::Canceled) && self.choices().len() > SIDES
    }

    /// The question that is judged.
    fn question(&self) -> Option<&Interruption> {
        let task = &self.reading.shown()?.task;
        match &self.supersedes {
            Some(_) => task.judged.as_ref().and_then(|judged| judged.interruption.as_ref()),
            None => task.interruption.as_ref(),
        }
    }

    /// From where work resumes: what was typed, else what the question names.
    fn resume_key(&self) -> Option<String> {
        let typed = self.resume.text().trim().to_owned();
        let named = || self.question().and_then(|asked| asked.question.resume.clone());
        if typed.is_empty() { named().filter(|key| !key.is_empty()) } else { Some(typed) }
    }

    /// The decision as it is sent.
    fn asked(&self) -> Option<Asked> {
        let shown = self.reading.shown()?;
        let resume = self.resume_key().filter(|_| self.to == Some(TaskState::Ready));
        let resume = resume.map(|key| Resume { idempotency_key: key, note: None });
        let question = self.question();
        Some(Asked {
            task_id: self.reading.id().clone(),
            decision: self.to?,
            expected_version: self.seen.as_ref().map_or(shown.task.state_version, |seen| seen.version),
            candidate_set_digest: self.seen.as_ref().map_or(shown.candidate_set_digest, |seen| seen.set),
            interruption: question.map(|question| question.id.clone()),
            upheld: self.sides.upheld().to_vec(),
            resume,
            reason: self.reason.text().trim().to_owned(),
            evidence_opened: Vec::new(),
            input: None,
            supersedes: self.supersedes.clone(),
            idempotency_key: self.sending.key().to_owned(),
            approval_id: String::new(),
            masked: Vec::new(),
        })
    }

    fn submit(&mut self, ctx: &mut Ctx<'_>) {
        let ready = match self.off(ctx.model) {
            Some(why) => Err(why),
            None => self.asked().ok_or_else(|| "nothing is chosen".to_owned()),
        };
        if self.sending.submit(ready, ctx) {
            self.scroll = Scroll::Focus;
        }
    }

    /// Takes over the task as it was just read.
    fn read(&mut self, ctx: &mut Ctx<'_>) {
        let Some(shown) = self.reading.shown() else { return };
        let fewer = self.sides.take(columns::sets(shown));
        let revision = shown.task.revision;
        self.cursor = self.cursor.min(self.choices().len().saturating_sub(1));
        if let Some(after) = self.seen.as_ref().map(|seen| seen.revision).filter(|seen| *seen < revision) {
            if self.sending.is_writing() {
                self.sending.ask_changes(self.reading.id(), after, ctx);
            }
            self.confirm.set("");
        }
        if fewer {
            self.confirm.set("");
        }
        self.sides.go_on(self.reading.id(), ctx);
        self.open(ctx);
    }

    fn preview(&self, ctx: &mut Ctx<'_>) {
        if let Some(lines) = self.record_lines(ctx.model) {
            ctx.push(Viewer::own("the record as it will be kept", lines));
        }
    }

    /// What is left to do once it is recorded.
    fn on_done(&self, action: Action, ctx: &mut Ctx<'_>) -> Outcome {
        let Some(record) = self.sending.record().filter(|_| action == Action::Supersede) else {
            return self.sending.on_record(action, ctx);
        };
        let shown = self.reading.shown().filter(|_| !self.reading.is_asking());
        match shown.map(|shown| correct::not_correctable(shown, &record.approval_id)) {
            Some(None) => {
                let seen = Seen {
                    task_id: self.reading.id().clone(),
                    version: record.state_version_after,
                    revision: self.reading.shown().map_or(0, |shown| shown.task.revision),
                    set: Some(record.candidate_set_digest),
                    checks: self.sides.checks().clone(),
                };
                ctx.push(Decision::seen(seen).superseding(record.approval_id.clone()));
            }
            Some(Some(why)) => ctx.toast(reveal(&why).to_string()),
            None => ctx.toast("the task is being read again"),
        }
        Outcome::Handled
    }
}
