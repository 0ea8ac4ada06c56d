//! Answer: the open question of a task, and the form that answers it.
//!
//! What is answered is the question that was read when the form opened. When another is asked, or the task
//! changes, sending stops until that was noted; what is written stays. Outcomes that are held beside the question are
//! judged with it (contract section 6): what is not upheld here is set aside.

mod draft;
mod keys;
mod off;
mod question;
mod send;
mod sheet;
mod sides;
#[cfg(test)]
mod tests;

use super::case::checks::Checks;
use super::case::columns;
use super::decision::correct;
use super::drafting::Drafting;
use super::reading::Reading;
use super::sending::Sending;
use super::upholding::{At, Upholding};
use crate::coordinator::Shown;
use crate::domain::digest::Digest;
use crate::domain::form::FieldError;
use crate::domain::ids::TaskId;
use crate::domain::interruption::{Interruption, Need};
use crate::tui::draft::Kind;
use crate::tui::model::Model;
use crate::tui::widgets::form::{Fields, Scroll};
use crate::tui::widgets::input::Field;
use question::Content;

/// The question as it was read, with the state of its task.
#[derive(Clone, Debug)]
struct Pinned {
    asked: Interruption,
    version: u64,
    revision: u64,
    set: Option<Digest>,
}

/// A part of the form that can have the focus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Choice,
    Field(usize),
    Text,
    /// A held outcome that can be upheld.
    Side(At),
    Reason,
    Confirm,
}

/// See the module.
pub struct Answer {
    reading: Reading,
    pinned: Option<Pinned>,
    content: Content,
    /// Which of the choices of this need is taken: approve or deny, ready or cancel.
    choice: Option<usize>,
    cursor: usize,
    text: Field,
    /// The held outcomes as they were when the question was read.
    sides: Upholding,
    reason: Field,
    confirm: Field,
    /// The record whose answer this one corrects.
    supersedes: Option<String>,
    /// The task was not read yet.
    opens: bool,
    /// The question was expired when it was read: nothing is filled in.
    void: bool,
    focus: usize,
    /// The answer as the fields give it; none while they are being filled in.
    checked: Option<Result<serde_json::Value, Vec<FieldError>>>,
    sending: Sending,
    scroll: Scroll,
    draft: Drafting,
    size: (u16, u16),
}

impl Answer {
    /// For a task, whose open question is read when the layer opens. Where none is open and the last record is an
    /// answer that can still be superseded, that one is corrected.
    pub fn new(id: TaskId) -> Answer {
        Answer {
            draft: Drafting::new(id.clone(), Kind::Answer),
            reading: Reading::new(id),
            pinned: None,
            content: Content::None,
            choice: None,
            cursor: 0,
            text: Field::lines(""),
            sides: Upholding::default(),
            reason: Field::lines(""),
            confirm: Field::line(""),
            supersedes: None,
            opens: true,
            void: false,
            focus: 0,
            checked: None,
            sending: Sending::new(),
            scroll: Scroll::At(0),
            size: (0, 0),
        }
    }

    /// The record whose answer this one corrects.
    pub(super) fn superseding(mut self, approval_id: String) -> Answer {
        self.supersedes = Some(approval_id);
        self
    }

    /// What was read of its messages where one comes from.
    pub(super) fn knowing(mut self, checks: Checks) -> Answer {
        self.sides = Upholding::knowing(checks);
        self
    }

    /// The question of a task that is answered here: the open one, or the one that was answered.
    fn question<'a>(&self, shown: &'a Shown) -> Option<&'a Interruption> {
        match &self.supersedes {
            Some(_) => shown.task.judged.as_ref().and_then(|judged| judged.interruption.as_ref()),
            None => shown.task.interruption.as_ref(),
        }
    }

    fn need(&self) -> Need {
        self.pinned.as_ref().map_or(Need::BusinessInput, |pinned| pinned.asked.question.need)
    }

    /// The choices of this need, by the word that confirms them.
    fn choices(&self) -> &'static [(&'static str, &'static str)] {
        match self.need() {
            Need::BusinessInput => &[],
            Need::HumanApproval => &[
                ("approve", "yes: the agent may do it"),
                ("deny", "no: the agent goes on without it; the task does not end"),
            ],
            Need::MachineCredentials => &[
                ("ready", "it is authorized there: the work goes on"),
                ("cancel", "it will not be authorized: the task ends for good"),
            ],
        }
    }

    fn parts(&self) -> Vec<Part> {
        if self.pinned.is_none() || self.void {
            return Vec::new();
        }
        let mut parts = Vec::new();
        if !self.choices().is_empty() {
            parts.push(Part::Choice);
        }
        match &self.content {
            Content::Fields(fields) => parts.extend((0..fields.len()).map(Part::Field)),
            Content::Text => parts.push(Part::Text),
            Content::Elsewhere(_) | Content::None => {}
        }
        parts.extend(self.sides.places().map(Part::Side));
        parts.extend([Part::Reason, Part::Confirm]);
        parts
    }

    fn part(&self) -> Option<Part> {
        self.parts().get(self.focus).copied()
    }

    /// What must be typed to confirm: the word, and the beginning of the digest that stands, if one does.
    fn wanted(&self) -> Option<String> {
        let word = match self.choices() {
            [] => "answer",
            choices => choices.get(self.choice?).map(|(word, _)| *word)?,
        };
        Some(match self.sides.standing().next() {
            Some(column) => format!("{word} {}", column.digest.short()),
            None => word.to_owned(),
        })
    }

    /// Takes over the question that is open now.
    fn pin(&mut self, model: &Model) {
        let Some(shown) = self.reading.shown() else { return };
        if std::mem::take(&mut self.opens) && self.supersedes.is_none() && shown.task.interruption.is_none() {
            self.supersedes = correct::correctable(shown).filter(|_| correct::is_answer(shown));
        }
        let before =
            self.pinned.as_ref().map(|pinned| (pinned.asked.question.need, pinned.asked.schema_digest));
        self.pinned = self.question(shown).map(|asked| Pinned {
            asked: asked.clone(),
            version: shown.task.state_version,
            revision: shown.task.revision,
            set: shown.candidate_set_digest,
        });
        let part = self.part();
        self.sides.take(columns::sets(shown));
        if let Some(at) = part.and_then(|part| self.parts().iter().position(|own| *own == part)) {
            self.focus = at;
        }
        self.void = self.need() != Need::MachineCredentials && self.expired(model).is_some();
        let now = self.pinned.as_ref().map(|pinned| (pinned.asked.question.need, pinned.asked.schema_digest));
        self.confirm.set("");
        if before != now {
            let written = self.written();
            self.empty();
            self.content = self.pinned.as_ref().map_or(Content::None, |pinned| Content::of(&pinned.asked));
            if !written.is_blank() {
                // What has no place in the new form is shown and kept.
                self.restore(written, false);
            }
        }
    }

    /// Whether the task is not as it was when the question was read.
    fn is_changed(&self) -> bool {
        let (Some(pinned), Some(shown)) = (&self.pinned, self.reading.shown()) else { return false };
        shown.task.state_version != pinned.version
            || shown.candidate_set_digest != pinned.set
            || self.question(shown).map(|asked| (&asked.id, asked.version))
                != Some((&pinned.asked.id, pinned.asked.version))
    }

    fn field(&mut self) -> Option<&mut Field> {
        match self.part()? {
            Part::Text => Some(&mut self.text),
            Part::Reason => Some(&mut self.reason),
            Part::Confirm => Some(&mut self.confirm),
            Part::Choice | Part::Field(_) | Part::Side(_) => None,
        }
    }

    /// Whether characters are typed into the part with the focus.
    fn types(&self) -> bool {
        match (self.part(), &self.content) {
            _ if self.sending.record().is_some() => false,
            (Some(Part::Field(at)), Content::Fields(fields)) => fields.types(at),
            (Some(Part::Text | Part::Reason | Part::Confirm), _) => true,
            _ => false,
        }
    }

    fn next_focus(&mut self, forward: bool) {
        self.check();
        let many = self.parts().len().max(1);
        self.focus = (self.focus + if forward { 1 } else { many - 1 }) % many;
        self.scroll = Scroll::Focus;
    }

    /// Makes the answer from the fields and puts what is wrong beside them.
    fn check(&mut self) -> Option<usize> {
        let Content::Fields(fields) = &mut self.content else { return None };
        if self.checked.is_none() {
            self.checked = Some(fields.answer());
        }
        match &self.checked {
            Some(Err(errors)) => fields.set_errors(errors),
            _ => fields.set_errors(&[]),
        }
    }

    /// Runs something on a field of the schema; the answer must be made again.
    fn with_fields(&mut self, act: impl FnOnce(&mut Fields, usize)) {
        if let (Some(Part::Field(at)), Content::Fields(fields)) =
            (self.parts().get(self.focus).copied(), &mut self.content)
        {
            act(fields, at);
            self.checked = None;
        }
    }
}
