//! The draft of a decision: what of it is kept, and how it comes back.

use super::super::Ctx;
use super::{Decision, Focus, correct};
use crate::domain::task::TaskState;
use crate::domain::text::reveal;
use crate::tui::draft::{Basis, Written};

#[cfg(test)]
mod tests;

impl Decision {
    /// How the task stands that is decided.
    pub(super) fn basis(&self) -> Option<Basis> {
        let shown = self.reading.shown()?;
        let (version, set) = match &self.seen {
            Some(seen) => (seen.version, seen.set),
            None => (shown.task.state_version, shown.candidate_set_digest),
        };
        let question = self.question().map(|asked| format!("{} v{}", asked.id, asked.version));
        Some(Basis { version, question, set, supersedes: self.supersedes.clone() })
    }

    /// How the task stands as it was last read.
    pub(super) fn now(&self) -> Option<Basis> {
        let (basis, shown) = (self.basis()?, self.reading.shown()?);
        Some(Basis { version: shown.task.state_version, set: shown.candidate_set_digest, ..basis })
    }

    fn written(&self) -> Written {
        let choice = match self.to {
            Some(TaskState::Canceled) => Some("cancel"),
            Some(_) => Some("ready"),
            None => None,
        };
        Written {
            reason: self.reason.text(),
            resume: self.resume.text(),
            choice: choice.map(str::to_owned),
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

    /// Begins when both the task and its draft are known: takes the draft over, or closes where there is nothing to
    /// decide and nothing was written either.
    pub(super) fn open(&mut self, ctx: &mut Ctx<'_>) {
        let Some(shown) = self.reading.shown() else { return };
        let Some(draft) = self.draft.take() else { return };
        if self.supersedes.is_none() {
            // What is left where nothing waits is to correct the last record, or nothing.
            match (correct::nothing_to_decide(shown), correct::correctable(shown)) {
                (Some(_), Some(last)) if self.seen.is_none() => self.supersedes = Some(last),
                (Some(why), _) if draft.is_none() => {
                    ctx.toast(reveal(&why).to_string());
                    return ctx.close();
                }
                _ => {}
            }
        }
        if let Some(draft) = draft {
            let fresh = self.now().is_some_and(|now| draft.basis.stale(&now).is_none());
            self.restore(draft.written, fresh);
        }
        self.keep(false, ctx);
    }

    /// Puts a draft into the fields, before what was typed already. Choices come back only where everything is as it
    /// was, and what confirms never does.
    fn restore(&mut self, written: Written, fresh: bool) {
        let typed = self.reason.text();
        let both = [written.reason, typed].into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>();
        self.reason.set(&both.join("\n"));
        if self.resume.is_empty() {
            self.resume.set(&written.resume);
        }
        if fresh && self.to.is_none() {
            self.to = match written.choice.as_deref() {
                Some("ready") => Some(TaskState::Ready),
                Some("cancel") => Some(TaskState::Canceled),
                _ => None,
            };
            let ready = self.to == Some(TaskState::Ready);
            self.sides.restore(if ready { written.upheld } else { Vec::new() });
        }
        self.confirm.set("");
    }

    /// Throws the draft away, asked twice.
    pub(super) fn discard(&mut self, ctx: &mut Ctx<'_>) {
        if self.sending.is_writing() && self.draft.discard(ctx) {
            for field in [&mut self.reason, &mut self.resume, &mut self.confirm] {
                field.set("");
            }
            (self.to, self.focus) = (None, Focus::Choices);
            self.sides.clear();
        }
    }
}
