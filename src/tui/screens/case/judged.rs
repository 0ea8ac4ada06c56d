//! What the last decision judged: its record, and the submissions of its sides as they are still stored.

use super::super::Ctx;
use crate::coordinator::{LedgerPlace, LedgerRequest, Shown, Submitted};
use crate::domain::envelope::Class;
use crate::domain::event::Decided;
use crate::domain::ids::TaskId;
use crate::domain::ledger::Record;
use crate::tui::effect::{Ask, Effect};
use crate::tui::event::Reply;

/// Submissions asked for at once.
const PAGE: usize = 100;
/// Pages that are read, at most: what is further apart is in the timeline.
const MOST: usize = 16;

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Judged {
    /// The number of the record; 0 while there is none.
    sequence: u64,
    record: Option<Box<Record>>,
    stored: Vec<Submitted>,
    /// The last arrival that was looked for.
    read: u64,
    pages: usize,
    asked_record: Option<u64>,
    asked_page: Option<u64>,
    problem: Option<String>,
}

/// The decision a task stands on; none while another is waited for.
pub(super) fn decision(shown: &Shown) -> Option<&Decided> {
    shown.task.decided.as_deref().filter(|_| !shown.task.state.waits_for_a_record())
}

impl Judged {
    /// The record, once it was read.
    pub(super) fn record(&self) -> Option<&Record> {
        self.record.as_deref()
    }

    /// The submissions behind the sides, as far as they were read; by arrival.
    pub(super) fn stored(&self) -> &[Submitted] {
        &self.stored
    }

    /// Why not all of it could be read, revealed.
    pub(super) fn problem(&self) -> Option<&str> {
        self.problem.as_deref()
    }

    /// Asks for what is missing of the task's last decision. Returns whether that is another one than before.
    pub(super) fn settle(&mut self, id: &TaskId, shown: &Shown, ctx: &mut Ctx<'_>) -> bool {
        let sequence = decision(shown).map_or(0, |last| last.sequence);
        let new = sequence != self.sequence;
        if new {
            *self = Judged { sequence, ..Judged::default() };
        }
        let Some(last) = decision(shown) else { return new };
        if new {
            let request = ctx.request();
            self.asked_record = Some(request);
            let from = LedgerPlace::After(sequence.saturating_sub(1));
            let asked = LedgerRequest::all(Some(id.clone()), from, 1);
            ctx.effect(Effect::Ask(request, Box::new(Ask::Approvals(asked))));
        }
        let next = judged(last).filter(|arrival| *arrival > self.read).min();
        if let Some(next) = next.filter(|_| self.asked_page.is_none() && self.problem.is_none()) {
            if self.pages >= MOST {
                self.problem =
                    Some("not every side that was judged is read: the timeline has all".to_owned());
                return new;
            }
            self.pages += 1;
            let request = ctx.request();
            self.asked_page = Some(request);
            let before = next.saturating_sub(1);
            ctx.effect(Effect::Ask(request, Box::new(Ask::Submissions(id.clone(), before, PAGE))));
        }
        new
    }

    /// Takes a reply, if it is to this.
    pub(super) fn take(&mut self, request: u64, reply: &Reply, shown: Option<&Shown>) -> bool {
        let (record, page) = (self.asked_record == Some(request), self.asked_page == Some(request));
        if record {
            self.asked_record = None;
        }
        if page {
            self.asked_page = None;
        }
        match reply {
            Reply::Approvals(found) if record => {
                let own = found.rows.iter().find(|approval| approval.record.sequence == self.sequence);
                self.record = own.map(|approval| approval.record.clone());
            }
            Reply::Submissions(found) if page => self.read(found, shown.and_then(decision)),
            other if record || page => self.problem = Some(other.problem()),
            _ => {}
        }
        record || page
    }

    fn read(&mut self, found: &[Submitted], last: Option<&Decided>) {
        let Some(last) = last else { return };
        let end = found.last().filter(|_| found.len() >= PAGE).map(|one| one.submission.arrival);
        self.read = end.unwrap_or(u64::MAX);
        // As the record keeps them: of what was held, only outcomes are sides.
        let side = |one: &&Submitted| {
            let s = &one.submission;
            last.candidates.contains(&s.arrival)
                || (last.held.contains(&s.arrival) && s.class == Class::Outcome)
        };
        self.stored.extend(found.iter().filter(side).cloned());
    }

    /// Forgets what failed, so that it is asked for again.
    pub(super) fn retry(&mut self) {
        if self.problem.take().is_some() {
            self.sequence = 0;
        }
    }
}

/// Every arrival that was judged.
pub(super) fn judged(last: &Decided) -> impl Iterator<Item = u64> {
    last.candidates.iter().chain(&last.held).copied()
}
