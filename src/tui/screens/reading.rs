//! One task as it was last read: asked for when its layer opens and again whenever it changes.

use super::Ctx;
use crate::coordinator::Shown;
use crate::domain::ids::TaskId;
use crate::tui::effect::{Ask, Effect};
use crate::tui::event::{Change, Event, Reply};
use crate::tui::widgets::status::Waiting;

/// What is known of a task, and whether it is being asked for.
#[derive(Debug)]
pub(super) struct Reading {
    id: TaskId,
    request: Option<u64>,
    /// Something changed while it was being asked for.
    again: bool,
    waiting: Option<Waiting>,
    shown: Option<Box<Shown>>,
    problem: Option<String>,
}

impl Reading {
    /// Nothing is known yet.
    pub(super) fn new(id: TaskId) -> Reading {
        Reading { id, request: None, again: false, waiting: None, shown: None, problem: None }
    }

    /// The task's id.
    pub(super) fn id(&self) -> &TaskId {
        &self.id
    }

    /// The task as it was last read.
    pub(super) fn shown(&self) -> Option<&Shown> {
        self.shown.as_deref()
    }

    /// Why it could not be read, revealed.
    pub(super) fn problem(&self) -> Option<&str> {
        self.problem.as_deref()
    }

    /// What is being waited for while nothing is known.
    pub(super) fn waiting(&self) -> Option<Waiting> {
        self.waiting.filter(|_| self.shown.is_none())
    }

    /// Whether a newer state of the task is being asked for.
    pub(super) fn is_asking(&self) -> bool {
        self.request.is_some()
    }

    /// Asks for the task, once at a time.
    pub(super) fn ask(&mut self, ctx: &mut Ctx<'_>) {
        if self.request.is_some() {
            self.again = true;
            return;
        }
        let request = ctx.request();
        self.request = Some(request);
        self.waiting = Some(Waiting { since: ctx.model.now.run });
        ctx.effect(Effect::Ask(request, Box::new(Ask::Show(self.id.clone()))));
    }

    /// Takes an event: asks at the first size, and when the task changed. Returns whether the task was read anew.
    pub(super) fn event(&mut self, event: &Event, ctx: &mut Ctx<'_>) -> bool {
        match event {
            Event::Resize { .. }
                if self.shown.is_none() && self.problem.is_none() && self.request.is_none() =>
            {
                self.ask(ctx);
            }
            Event::Feed(Change::News(tasks)) if tasks.iter().flatten().any(|task| *task == self.id) => {
                self.ask(ctx);
            }
            // What was missed while the way was lost is asked for.
            Event::Feed(Change::Link(crate::tui::model::Link::Live)) if self.shown.is_some() => self.ask(ctx),
            Event::Reply { request, reply } if self.request == Some(*request) => {
                return self.take(reply, ctx);
            }
            _ => {}
        }
        false
    }

    fn take(&mut self, reply: &Reply, ctx: &mut Ctx<'_>) -> bool {
        self.request = None;
        self.waiting = None;
        let read = match reply {
            Reply::Show(shown) => {
                self.shown = Some(shown.clone());
                self.problem = None;
                true
            }
            other => {
                self.problem = Some(other.problem());
                false
            }
        };
        if std::mem::take(&mut self.again) {
            self.ask(ctx);
        }
        read
    }
}
