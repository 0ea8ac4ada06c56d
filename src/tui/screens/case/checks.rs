//! Whether the content of each side was read and verified here: nothing is decided on what was not.

use std::collections::{BTreeMap, BTreeSet};

use super::super::Ctx;
use super::columns::{Column, Set};
use crate::coordinator::PayloadView;
use crate::domain::event::Verification;
use crate::domain::ids::TaskId;
use crate::domain::text::reveal;
use crate::tui::effect::{Ask, Effect};
use crate::tui::event::Reply;
use crate::tui::theme::Role;

/// What is known of the content of one submission.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in super::super) enum Check {
    /// Read, and its digest is what was claimed; masked in part or not.
    Verified {
        /// Whether part of it is masked for who looks.
        masked: bool,
    },
    /// Read, and its digest is another.
    Mismatch(String),
    /// Not here.
    NotFetched,
    /// Could not be read.
    Failed(String),
}

impl Check {
    /// What a payload as it was read says.
    pub(in super::super) fn of(view: &PayloadView) -> Check {
        let problem = || view.problem.as_deref().map_or_else(String::new, |why| reveal(why).to_string());
        match (&view.bytes, view.verified) {
            (Some(_), true) => Check::Verified { masked: view.masked },
            (Some(_), false) => Check::Mismatch(problem()),
            (None, _) => Check::NotFetched,
        }
    }
}

/// What was read so far, and what was on the screen.
#[derive(Clone, Debug, Default)]
pub(in super::super) struct Checks {
    known: BTreeMap<u64, Check>,
    asked: Option<(u64, u64)>,
    seen: BTreeSet<u64>,
}

impl Checks {
    /// What is known of a column; `None` while it is not read.
    pub(in super::super) fn of(&self, column: &Column) -> Option<&Check> {
        self.known.get(&column.arrival())
    }

    /// Takes note of a payload that was read.
    pub(in super::super) fn note(&mut self, arrival: u64, view: &PayloadView) {
        self.known.insert(arrival, Check::of(view));
    }

    /// Takes note that a content was on the screen, to its end if one scrolled there.
    pub(in super::super) fn saw(&mut self, arrival: u64) {
        self.seen.insert(arrival);
    }

    /// Whether its content was on the screen.
    pub(in super::super) fn has_seen(&self, column: &Column) -> bool {
        self.seen.contains(&column.arrival())
    }

    /// Asks for the next content that was not read, one at a time: it is digested there and let go here.
    pub(in super::super) fn go_on(&mut self, id: &TaskId, sets: &[Set], ctx: &mut Ctx<'_>) {
        self.read_on(id, None, sets, ctx);
    }

    /// The same, but what is `wanted` on the screen goes first, also where it was read before.
    pub(in super::super) fn read_on(
        &mut self,
        id: &TaskId,
        wanted: Option<u64>,
        sets: &[Set],
        ctx: &mut Ctx<'_>,
    ) {
        if self.asked.is_some() {
            return;
        }
        let mut arrivals = sets.iter().flat_map(|set| &set.columns).map(Column::arrival);
        let unread = || arrivals.find(|arrival| !self.known.contains_key(arrival));
        if let Some(arrival) = wanted.or_else(unread) {
            let request = ctx.request();
            self.asked = Some((request, arrival));
            ctx.effect(Effect::Ask(request, Box::new(Ask::Payload(id.clone(), arrival))));
        }
    }

    /// Takes a reply, if it is to this. Returns whether it was.
    pub(in super::super) fn take(&mut self, request: u64, reply: &Reply) -> bool {
        self.took(request, reply).is_some()
    }

    /// The same; returns the arrival it is about.
    pub(in super::super) fn took(&mut self, request: u64, reply: &Reply) -> Option<u64> {
        let (_, arrival) = self.asked.filter(|(own, _)| *own == request)?;
        self.asked = None;
        let check = match reply {
            Reply::Payload(view) => Check::of(view),
            other => Check::Failed(other.problem()),
        };
        self.known.insert(arrival, check);
        Some(arrival)
    }

    /// Forgets what could not be read, so that it is asked for again.
    pub(in super::super) fn retry(&mut self) {
        self.known.retain(|_, check| !matches!(check, Check::Failed(_)));
    }

    /// The word for a column's digest, and how it looks.
    pub(in super::super) fn word(&self, column: &Column) -> (&'static str, Role) {
        match (self.of(column), column.verification()) {
            (Some(Check::Mismatch(_)), _) | (_, Verification::Mismatch) => ("✗ MISMATCH", Role::Danger),
            (Some(Check::NotFetched), _) | (_, Verification::NotFetched) => ("? not fetched", Role::Warning),
            (Some(Check::Verified { masked: false }), _) => ("✓ verified", Role::Success),
            (Some(Check::Verified { masked: true }), _) => {
                ("✓ verified by coordinator, partly masked", Role::Warning)
            }
            (Some(Check::Failed(_)), _) => ("! could not be read", Role::Danger),
            (None, _) => ("◌ being verified", Role::Muted),
        }
    }

    /// Why nothing may be decided yet, if so: a content that was not read.
    pub(in super::super) fn unread(&self, sets: &[Set]) -> Option<String> {
        sets.iter().flat_map(|set| &set.columns).find_map(|column| match self.of(column) {
            None => Some(format!("the content of {} (#{}) is not read yet", column.label, column.arrival())),
            Some(Check::Failed(why)) => {
                Some(format!("the content of {} could not be read: {why}", column.label))
            }
            Some(_) => None,
        })
    }

    /// Why this column may not be upheld, if so.
    pub(in super::super) fn not_upholdable(&self, column: &Column) -> Option<String> {
        match (self.of(column), column.verification()) {
            (None, _) => Some("its content is not read yet".to_owned()),
            (Some(Check::Failed(_)), _) => Some("its content could not be read".to_owned()),
            (Some(Check::NotFetched), _) | (_, Verification::NotFetched) => {
                Some("not fetched: its content is behind a reference and was not verified here".to_owned())
            }
            (Some(Check::Mismatch(_)), _) | (_, Verification::Mismatch) => {
                Some("MISMATCH: its content does not have the digest it claims".to_owned())
            }
            (Some(Check::Verified { .. }), _) if !self.has_seen(column) => {
                Some("its content was not on your screen: open and read it first".to_owned())
            }
            (Some(Check::Verified { .. }), _) => None,
        }
    }
}
