//! The tasks that the writer holds in memory: as it last saw or left them, with what their tables do not say yet.

use super::log;
use super::project::Before;
use crate::domain::command::Stored;
use crate::domain::event::{Event, Message, Submission, What};
use crate::domain::ids::TaskId;
use crate::domain::task::Task;
use crate::store::rows;
use std::collections::HashMap;

/// A task held in memory.
#[derive(Debug, Default)]
pub(super) struct Held {
    /// Its number; 0 for a task that is not there.
    pub item: i64,
    /// The task, but while a rule looks at it.
    pub task: Option<Task>,
    /// The revision of the stored snapshot; `None` before the first.
    pub stored: Option<u64>,
    /// How the stored tables stand, where they are behind the task.
    pub before: Option<Box<Before>>,
    /// The events that they are behind by, with their places in the log.
    pub events: Vec<(u64, Event)>,
    /// Every hash that finds a delivery of it, while all are near; `None` where some are not, or nothing was read.
    pub hashes: Option<Vec<i64>>,
}

impl Held {
    /// Whether no delivery of the task can be found by either hash: known without looking into a table.
    pub(super) fn lacks(&self, hashes: [i64; 2]) -> bool {
        self.hashes.as_ref().is_some_and(|known| !known.iter().any(|h| hashes.contains(h)))
    }

    /// Adds to what is stored of submissions what its tables do not say yet: those that `wanted` picks, and what became of
    /// each.
    pub(super) fn add_later(&self, stored: &mut Vec<Stored>, wanted: impl Fn(&Submission) -> bool) {
        for (_, event) in &self.events {
            match &event.what {
                What::Delivered(d) => match &d.message {
                    Message::New(said) if wanted(said) => stored.push(Stored {
                        submission: said.clone(),
                        outcome: d.outcome,
                        applied: false,
                        duplicates: 0,
                        judged_by: None,
                    }),
                    Message::New(_) => {}
                    Message::Repeat(repeat) => change(stored, &[repeat.of], |s| s.duplicates += 1),
                },
                What::Applied { arrival, .. } => change(stored, &[*arrival], |s| s.applied = true),
                What::Decided(d) => {
                    let judged = |s: &mut Stored| s.judged_by = Some(d.approval_id.clone());
                    change(stored, &d.candidates, judged);
                    change(stored, &d.held, judged);
                }
                _ => {}
            }
        }
    }

    /// The arrivals of submissions that came under a message id, as far as its tables do not say them yet.
    pub(super) fn later_named(&self, message_id: &str) -> impl Iterator<Item = u64> {
        self.events.iter().filter_map(move |(_, event)| match &event.what {
            What::Delivered(d) if d.message.message_id() == message_id => Some(d.message.stored_as()),
            _ => None,
        })
    }

    fn note_hashes(&mut self, event: &Event) {
        if event.revision > log::NEAR {
            self.hashes = None;
        }
        let What::Delivered(delivery) = &event.what else { return };
        let Some(known) = &mut self.hashes else { return };
        known.push(rows::message_hash(delivery.message.message_id()));
        if let Some(s) = delivery.message.submission() {
            known.push(rows::intent_hash(s.class, &s.idempotency_key));
        }
    }
}

/// Changes those with these arrivals.
fn change(stored: &mut [Stored], arrivals: &[u64], how: impl Fn(&mut Stored)) {
    stored.iter_mut().filter(|s| arrivals.contains(&s.submission.arrival)).for_each(how);
}

/// Tasks by id. One that is not here has tables that are up to the log, once [`Tasks::whole`] says so.
#[derive(Debug, Default)]
pub(super) struct Tasks {
    by_id: HashMap<TaskId, Held>,
    behind: Vec<TaskId>,
    pending: usize,
    /// Whether every task whose tables are behind the log is held here.
    pub whole: bool,
}

impl Tasks {
    pub(super) fn len(&self) -> usize {
        self.by_id.len()
    }

    /// How many events the tables are behind by.
    pub(super) fn pending(&self) -> usize {
        self.pending
    }

    /// Forgets everything; what the tables are behind by must be read from the log again.
    pub(super) fn clear(&mut self) {
        *self = Tasks::default();
    }

    pub(super) fn get(&self, id: &TaskId) -> Option<&Held> {
        self.by_id.get(id)
    }

    pub(super) fn get_mut(&mut self, id: &TaskId) -> Option<&mut Held> {
        self.by_id.get_mut(id)
    }

    pub(super) fn insert(&mut self, id: TaskId, held: Held) {
        self.by_id.insert(id, held);
    }

    /// Keeps a task that went on by `events`, with how its tables stood `before`.
    pub(super) fn keep(
        &mut self,
        item: i64,
        task: Task,
        events: Vec<(u64, Event)>,
        before: impl FnOnce() -> Before,
    ) {
        let id = task.task_id.clone();
        let held = self.by_id.entry(id.clone()).or_default();
        held.item = item;
        if held.before.is_none() {
            held.before = Some(Box::new(before()));
            self.behind.push(id);
        }
        for (_, event) in &events {
            held.note_hashes(event);
        }
        self.pending += events.len();
        held.events.extend(events);
        held.task = Some(task);
    }

    /// Takes the events that the tables of a task are behind by, to note them.
    pub(super) fn take_events(&mut self, id: &TaskId) -> Vec<(u64, Event)> {
        let events = self.by_id.get_mut(id).map(|h| std::mem::take(&mut h.events)).unwrap_or_default();
        self.pending -= events.len();
        events
    }

    /// The tasks that may be behind, in the order of their numbers, so that neighbours are written together.
    pub(super) fn take_all_behind(&mut self) -> Vec<TaskId> {
        let mut behind = std::mem::take(&mut self.behind);
        behind.sort_by_cached_key(|id| self.by_id.get(id).map(|h| h.item));
        behind
    }
}
