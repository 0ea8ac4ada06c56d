//! The comparison of the pair on the screen: its contents gathered one by one, compared aside, stopped when asked.

use std::sync::Arc;

use super::super::Ctx;
use crate::coordinator::PayloadView;
use crate::domain::diff::Diff;
use crate::tui::effect::{Ask, Content, Effect};
use crate::tui::event::Reply;
use crate::tui::widgets::status::Waiting;

/// Two sides by their arrivals.
pub(super) type Pair = (u64, u64);

/// How far the comparison is.
#[derive(Debug, Default)]
pub(super) struct Comparing {
    contents: Vec<(u64, PayloadView)>,
    asked: Option<(u64, Pair)>,
    found: Option<(Pair, Result<Arc<Diff>, String>)>,
    waiting: Option<Waiting>,
    problem: Option<String>,
    /// The pair that somebody did not want to wait for.
    stopped: Option<Pair>,
}

impl Comparing {
    /// What was found for a pair, or why there is nothing to show.
    pub(super) fn of(&self, pair: Pair) -> Option<Result<&Arc<Diff>, &str>> {
        let (_, found) = self.found.as_ref().filter(|(of, _)| *of == pair)?;
        Some(found.as_ref().map_err(String::as_str))
    }

    /// Whether somebody stopped it.
    pub(super) fn is_stopped(&self, pair: Pair) -> bool {
        self.stopped == Some(pair)
    }

    /// Why a content could not be read, revealed.
    pub(super) fn problem(&self) -> Option<&str> {
        self.problem.as_deref()
    }

    /// Since when it is waited for.
    pub(super) fn waiting(&self) -> Option<Waiting> {
        self.waiting
    }

    fn is_due(&self, pair: Pair) -> bool {
        self.of(pair).is_none() && self.problem.is_none() && !self.is_stopped(pair)
    }

    fn content(&self, arrival: u64) -> Option<&PayloadView> {
        self.contents.iter().find(|(of, _)| *of == arrival).map(|(_, view)| view)
    }

    /// The content that must be read before it can go on.
    pub(super) fn wanted(&self, pair: Pair) -> Option<u64> {
        [pair.0, pair.1].into_iter().find(|one| self.is_due(pair) && self.content(*one).is_none())
    }

    /// Lets go of what another pair needed, and starts once both contents are here.
    pub(super) fn settle(&mut self, pair: Pair, ctx: &mut Ctx<'_>) {
        self.contents.retain(|(of, _)| [pair.0, pair.1].contains(of));
        self.found.take_if(|(of, _)| *of != pair);
        self.stopped.take_if(|of| *of != pair);
        if let Some((request, _)) = self.asked.take_if(|(_, of)| *of != pair) {
            ctx.effect(Effect::Cancel(request));
            self.waiting = None;
        }
        if !self.is_due(pair) || self.asked.is_some() {
            return;
        }
        self.waiting.get_or_insert(Waiting { since: ctx.model.now.run });
        let (Some(a), Some(b)) = (self.content(pair.0), self.content(pair.1)) else { return };
        let (Some(a), Some(b)) = (a.bytes.clone(), b.bytes.clone()) else {
            let why = "the content of a side is behind a reference and is not here".to_owned();
            self.found = Some((pair, Err(why)));
            self.waiting = None;
            return;
        };
        let request = ctx.request();
        self.asked = Some((request, pair));
        ctx.effect(Effect::Ask(request, Box::new(Ask::Compare(Content(a), Content(b)))));
    }

    /// Takes what was read of a submission, where the pair needs it.
    pub(super) fn read(&mut self, pair: Option<Pair>, arrival: u64, reply: &Reply) {
        if pair.is_none_or(|pair| self.wanted(pair) != Some(arrival)) {
            return;
        }
        match reply {
            Reply::Payload(view) => self.contents.push((arrival, view.clone())),
            other => self.fail(other.problem()),
        }
    }

    /// Says why it cannot be done.
    pub(super) fn fail(&mut self, why: String) {
        self.problem = Some(why);
        self.waiting = None;
    }

    /// Takes a reply, if it is to this. Returns the pair that was compared.
    pub(super) fn take(&mut self, request: u64, reply: &Reply) -> Option<Pair> {
        let (_, pair) = self.asked.take_if(|(own, _)| *own == request)?;
        self.waiting = None;
        match reply {
            Reply::Compare(found) => self.found = Some((pair, found.clone())),
            other => self.fail(other.problem()),
        }
        Some(pair)
    }

    /// Stops it where it is seen to take time. What is read to be verified goes on. Returns whether it did.
    pub(super) fn stop(&mut self, pair: Option<Pair>, ctx: &mut Ctx<'_>) -> bool {
        let seen = |waiting: Waiting| !waiting.mark(ctx.model.now.run).is_empty();
        if !self.waiting.is_some_and(seen) {
            return false;
        }
        if let Some((request, _)) = self.asked.take() {
            ctx.effect(Effect::Cancel(request));
        }
        self.waiting = None;
        self.stopped = pair;
        true
    }

    /// Forgets what failed or was stopped, so that it is done again.
    pub(super) fn retry(&mut self) {
        self.problem = None;
        self.stopped = None;
    }

    /// Forgets what failed.
    pub(super) fn clear(&mut self) {
        self.problem = None;
    }
}
