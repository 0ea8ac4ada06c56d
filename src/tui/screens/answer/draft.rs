//! The draft of an answer: what of it is kept, and how it comes back.

use super::super::Ctx;
use super::{Answer, Content};
use crate::domain::text::reveal;
use crate::tui::draft::{Basis, Written};
use crate::tui::effect::Effect;
use crate::tui::widgets::input::Field;

#[cfg(test)]
mod tests;

impl Answer {
    /// How the task stands that is answered.
    fn basis(&self) -> Option<Basis> {
        let pinned = self.pinned.as_ref()?;
        Some(Basis {
            version: pinned.version,
            question: Some(format!("{} v{}", pinned.asked.id, pinned.asked.version)),
            set: pinned.set,
            supersedes: self.supersedes.clone(),
        })
    }

    /// How the task stands as it was last read.
    pub(super) fn now(&self) -> Option<Basis> {
        let shown = self.reading.shown()?;
        let asked = self.question(shown);
        Some(Basis {
            version: shown.task.state_version,
            question: asked.map(|asked| format!("{} v{}", asked.id, asked.version)),
            set: shown.candidate_set_digest,
            supersedes: self.supersedes.clone(),
        })
    }

    pub(super) fn written(&self) -> Written {
        let choice = self.choice.and_then(|at| self.choices().get(at));
        let fields = match &self.content {
            Content::Fields(fields) => fields.filled(),
            _ => Default::default(),
        };
        Written {
            reason: self.reason.text(),
            text: self.text.text(),
            choice: choice.map(|(word, _)| (*word).to_owned()),
            fields,
            upheld: self.sides.upheld().to_vec(),
            ..Written::default()
        }
    }

    /// Has what is written kept, unless it is sent.
    pub(super) fn keep(&mut self, now: bool, ctx: &mut Ctx<'_>) {
        if self.sending.is_writing() {
            let (written, basis) = (self.written(), self.basis());
            self.draft.keep(written, basis, now, ctx);
        }
    }

    /// Begins when both the task and the draft are known: takes the draft over, or closes where nothing is asked and
    /// nothing was written either.
    pub(super) fn open(&mut self, ctx: &mut Ctx<'_>) {
        if self.reading.shown().is_none() {
            return;
        }
        let Some(draft) = self.draft.take() else { return };
        match (draft, self.nothing_asked()) {
            (None, Some(why)) => {
                ctx.toast(reveal(&why).to_string());
                return ctx.close();
            }
            (Some(draft), _) => {
                let fresh = self.now().is_some_and(|now| draft.basis.stale(&now).is_none());
                self.restore(draft.written, fresh);
            }
            (None, None) => {}
        }
        self.keep(false, ctx);
    }

    /// Puts a draft into the fields, before what was typed already. What has no place in this form is shown beside it.
    /// A choice comes back only where everything is as it was, and what confirms never does.
    pub(super) fn restore(&mut self, mut written: Written, fresh: bool) {
        self.confirm.set("");
        if self.pinned.is_none() || self.void {
            return self.draft.leave(written);
        }
        before(&mut self.reason, &std::mem::take(&mut written.reason));
        match &mut self.content {
            Content::Text => before(&mut self.text, &std::mem::take(&mut written.text)),
            Content::Fields(fields) => {
                written.fields = fields.restore(std::mem::take(&mut written.fields));
                self.checked = None;
            }
            Content::Elsewhere(_) | Content::None => {}
        }
        let word = written.choice.take().filter(|_| fresh && self.choice.is_none());
        if let Some(at) = word.and_then(|word| self.choices().iter().position(|one| one.0 == word)) {
            (self.choice, self.cursor) = (Some(at), at);
        }
        if fresh && self.sides.upheld().is_empty() && !self.cancels() {
            self.sides.restore(std::mem::take(&mut written.upheld));
        }
        self.draft.leave(written);
        self.check();
    }

    /// Nothing is written or chosen.
    pub(super) fn empty(&mut self) {
        for field in [&mut self.text, &mut self.reason, &mut self.confirm] {
            field.set("");
        }
        self.sides.clear();
        (self.choice, self.cursor, self.focus, self.checked) = (None, 0, 0, None);
    }

    /// Throws the draft away, asked twice.
    pub(super) fn discard(&mut self, ctx: &mut Ctx<'_>) {
        if self.sending.is_writing() && self.draft.discard(ctx) {
            self.empty();
            self.content = self.pinned.as_ref().map_or(Content::None, |pinned| Content::of(&pinned.asked));
        }
    }

    /// Copies what was written before and has no place here.
    pub(super) fn copy_leftover(&self, ctx: &mut Ctx<'_>) {
        match self.draft.leftover() {
            Some(text) => ctx.effect(Effect::Copy(text)),
            None => ctx.toast("there is nothing to copy"),
        }
    }
}

/// Puts text before what is in a field.
fn before(field: &mut Field, text: &str) {
    if !text.is_empty() {
        let typed = field.text();
        field.set(&if typed.is_empty() { text.to_owned() } else { format!("{text}\n{typed}") });
    }
}
