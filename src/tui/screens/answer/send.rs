//! The answer as it is sent, and what is left to do once it is recorded.

use super::super::decision::correct;
use super::super::viewer::Viewer;
use super::super::{Ctx, Outcome};
use super::question::{self, Content};
use super::{Answer, Part};
use crate::domain::decision::{Decision as Asked, Input, Part as Piece, Resume};
use crate::domain::interruption::Need;
use crate::domain::task::TaskState;
use crate::tui::action::Action;
use crate::tui::effect::Effect;
use crate::tui::widgets::form::Scroll;

impl Answer {
    /// The input as it is sent; `None` where there is none to send.
    fn input(&self) -> Option<Input> {
        let schema_digest = self.pinned.as_ref().and_then(|pinned| pinned.asked.schema_digest);
        match (self.need(), &self.content) {
            (Need::MachineCredentials, _) => None,
            (Need::HumanApproval, _) => {
                Some(Input { parts: Vec::new(), schema_digest: None, approved: Some(self.choice? == 0) })
            }
            (Need::BusinessInput, Content::Fields(_)) => match &self.checked {
                Some(Ok(value)) => {
                    Some(Input { parts: vec![Piece::Data(value.clone())], schema_digest, approved: None })
                }
                _ => None,
            },
            (Need::BusinessInput, _) => Some(Input {
                parts: vec![Piece::Text(self.text.text())],
                schema_digest: None,
                approved: None,
            }),
        }
    }

    /// The answer as it is sent.
    fn asked(&self) -> Option<Asked> {
        let pinned = self.pinned.as_ref()?;
        let cancels = self.cancels();
        Some(Asked {
            task_id: self.reading.id().clone(),
            decision: if cancels { TaskState::Canceled } else { TaskState::Ready },
            expected_version: pinned.version,
            candidate_set_digest: pinned.set,
            interruption: Some(pinned.asked.id.clone()),
            upheld: self.sides.upheld().to_vec(),
            resume: pinned
                .asked
                .question
                .resume
                .clone()
                .filter(|key| !cancels && !key.is_empty())
                .map(|key| Resume { idempotency_key: key, note: None }),
            reason: self.reason.text().trim().to_owned(),
            evidence_opened: Vec::new(),
            input: self.input(),
            supersedes: self.supersedes.clone(),
            idempotency_key: self.sending.key().to_owned(),
            approval_id: String::new(),
            masked: Vec::new(),
        })
    }

    pub(super) fn submit(&mut self, ctx: &mut Ctx<'_>) {
        if let Some(at) = self.check().filter(|_| self.sending.is_writing()) {
            let parts = self.parts();
            self.focus = parts.iter().position(|part| *part == Part::Field(at)).unwrap_or(self.focus);
            self.scroll = Scroll::Focus;
        }
        let ready = match self.off(ctx.model) {
            Some(why) => Err(why),
            None => self.asked().ok_or_else(|| "no question is open".to_owned()),
        };
        if self.sending.submit(ready, ctx) {
            self.scroll = Scroll::At(0);
        }
    }

    pub(super) fn preview(&mut self, ctx: &mut Ctx<'_>) {
        self.check();
        if let Some(asked) = self.asked() {
            let text = serde_json::to_string_pretty(&asked).unwrap_or_default();
            ctx.push(Viewer::own("exactly what is sent", text.lines().map(str::to_owned).collect()));
        }
    }

    /// What is left to do once it is recorded.
    pub(super) fn on_done(&self, action: Action, ctx: &mut Ctx<'_>) -> Outcome {
        let Some(record) = self.sending.record().filter(|_| action == Action::Supersede) else {
            return self.sending.on_record(action, ctx);
        };
        match self.reading.shown().filter(|_| !self.reading.is_asking()) {
            Some(shown) => correct::correct(shown, &record.approval_id, ctx),
            None => ctx.toast("the task is being read again"),
        }
        Outcome::Handled
    }

    pub(super) fn copy(&self, ctx: &mut Ctx<'_>) {
        match self.pinned.as_ref().and_then(|pinned| pinned.asked.question.link.as_deref()) {
            Some(link) if question::is_safe(link) => ctx.effect(Effect::Copy(link.to_owned())),
            Some(_) => ctx.toast("the link is not plain http(s): it is not copied"),
            None => self.copy_leftover(ctx),
        }
    }
}
