//! Loads what a rule needs to know for a command, and nothing more.

use super::held::Held;
use super::write::Batch;
use super::{check, log};
use crate::domain::command::{Command, Context, Request, Transition};
use crate::domain::envelope::{EffectName, Envelope};
use crate::domain::ids::TaskId;
use crate::domain::task::{Task, TaskState};
use crate::store::StoreError;
use crate::store::rows;

impl Batch<'_> {
    /// What a rule needs to know. The task itself is lent: [`Batch::put_back`] or [`Batch::record`] takes it home.
    pub(super) fn load(
        &mut self,
        request: &Request,
        id: Option<&TaskId>,
    ) -> Result<(i64, Context), StoreError> {
        let Some(id) = id else { return Ok((0, Context::default())) };
        if self.tasks.get(id).is_none() {
            self.hold(id)?;
        }
        let plain = plain(request);
        if plain.is_none() {
            // What the rule asks of the tables must be there; and a decision is held against all that is stored.
            self.project(id)?;
        }
        let news = plain.is_some_and(|envelope| self.is_news(envelope, id));
        let (item, task) = self.tasks.get_mut(id).map_or((0, None), |h| (h.item, h.task.take()));
        let mut context = Context::default();
        if let Some(task) = task.as_ref().filter(|_| !news) {
            self.load_more(request, item, task, &mut context)?;
        }
        context.task = task;
        Ok((item, context))
    }

    /// Reads a task into memory; one that is not there as well.
    pub(super) fn hold(&mut self, id: &TaskId) -> Result<(), StoreError> {
        let held = match log::task(self.conn, id)? {
            None => Held { hashes: Some(Vec::new()), ..Held::default() },
            Some((item, task)) => Held {
                item,
                stored: Some(task.revision),
                hashes: (task.revision <= log::NEAR).then(|| log::hashes(self.conn, item)).transpose()?,
                task: Some(task),
                ..Held::default()
            },
        };
        self.tasks.insert(id.clone(), held);
        Ok(())
    }

    /// Whether a message is sure to repeat or contradict nothing stored, so that only its task need be known.
    fn is_news(&self, envelope: &Envelope, id: &TaskId) -> bool {
        let by_intent = rows::intent_hash(envelope.kind.class(), &envelope.idempotency_key);
        let hashes = [by_intent, rows::message_hash(&envelope.message_id)];
        self.tasks.get(id).is_some_and(|held| held.lacks(hashes))
    }

    fn load_more(
        &self,
        request: &Request,
        item: i64,
        task: &Task,
        context: &mut Context,
    ) -> Result<(), StoreError> {
        let effect = match &request.command {
            Command::Admit(admit) => {
                if let Ok(envelope) = &admit.message {
                    self.load_submissions(item, &task.task_id, envelope, context)?;
                }
                admit.message.as_ref().ok().and_then(|e| e.effect.as_ref())
            }
            Command::Decide(decision) => {
                let p = &request.principal;
                context.replay = log::replay(self.conn, &p.issuer, &p.subject, &decision.idempotency_key)?;
                context.head = self.counters.ledger.clone();
                check::before_a_decision(self.conn, item, &task.task_id)?;
                let open = task.review.as_ref().map(|r| r.candidates()).unwrap_or_default();
                let judged = task.judged.as_ref();
                let before = judged.and_then(|j| j.review.as_ref()).map(|r| r.candidates());
                let held = judged.map(|j| j.held.clone());
                let all = [open, before.unwrap_or_default(), held.unwrap_or_default(), task.held.clone()];
                context.of_task = log::submissions_of(self.conn, item, &all.concat())?;
                None
            }
            Command::Claim { .. } | Command::Transition(Transition { to: TaskState::Running, .. }) => {
                context.of_task = log::submissions_of(self.conn, item, &task.held)?;
                None
            }
            Command::Reserve { effect, .. } | Command::Commit { effect, .. } => Some(effect),
            _ => None,
        };
        if let Some(EffectName { key, target }) = effect {
            context.committed = log::committed(self.conn, item, key, target)?;
        }
        Ok(())
    }

    fn load_submissions(
        &self,
        item: i64,
        id: &TaskId,
        envelope: &Envelope,
        context: &mut Context,
    ) -> Result<(), StoreError> {
        let Some(held) = self.tasks.get(id) else { return Ok(()) };
        let (class, key) = (envelope.kind.class(), &envelope.idempotency_key);
        context.same_intent = log::of_intent(self.conn, item, class, key)?;
        held.add_later(&mut context.same_intent, |s| s.class == class && s.idempotency_key == *key);
        let mut named = log::arrivals_of(self.conn, item, &envelope.message_id)?;
        named.extend(held.later_named(&envelope.message_id));
        if !named.is_empty() {
            context.same_message_id = log::submissions_of(self.conn, item, &named)?;
            held.add_later(&mut context.same_message_id, |s| named.contains(&s.arrival));
        }
        Ok(())
    }

    pub(super) fn put_back(&mut self, id: Option<TaskId>, task: Option<Task>) {
        if let Some(held) = id.and_then(|id| self.tasks.get_mut(&id)) {
            held.task = task;
        }
    }
}

/// The message, where all that its rule asks of the tables are submissions.
fn plain(request: &Request) -> Option<&Envelope> {
    let Command::Admit(admit) = &request.command else { return None };
    admit.message.as_ref().ok().filter(|envelope| envelope.effect.is_none())
}
