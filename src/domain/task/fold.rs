//! Folds events into a task: the only way its state is ever written.

use super::{Judged, Lease, Reservation, Review, Task, TaskState};
use crate::domain::envelope::Class;
use crate::domain::event::{Closing, ConflictSet, Decided, Delivery, Event, Outcome, What};
use crate::domain::ids::{TaskId, Timestamp};

/// How many ids of repeats a task remembers.
const REMEMBERED_IDS: usize = 16;

/// Folds `event` into `task`; `None` before the first event.
///
/// An event that cannot follow (a gap in `revision`, anything before `created`) leaves the task as it was: the store
/// checks revisions before it writes, so this is reached only by a damaged log, which verification reports.
pub fn evolve(task: Option<Task>, id: &TaskId, event: &Event) -> Option<Task> {
    let expected = task.as_ref().map_or(0, |t| t.revision) + 1;
    if event.revision != expected {
        return task;
    }
    let mut task = match (task, &event.what) {
        (Some(task), _) => task,
        (None, What::Created { .. }) => born(id, event)?,
        (None, _) => return None,
    };
    task.fold(event);
    Some(task)
}

fn born(id: &TaskId, event: &Event) -> Option<Task> {
    let What::Created { trace_id, request, labels, digest, scheme, common } = &event.what else {
        return None;
    };
    Some(Task {
        task_id: id.clone(),
        trace_id: trace_id.clone(),
        state: TaskState::Pending,
        state_version: 0,
        revision: 0,
        arrivals: 0,
        submissions: 0,
        created_at: event.at,
        entered_at: event.at,
        request: request.clone(),
        labels: labels.clone(),
        request_digest: (*digest, *scheme, *common),
        lease_version: 0,
        lease: None,
        lease_revoked: false,
        retry_at: None,
        failure: None,
        outcome: None,
        review: None,
        held: Vec::new(),
        interruption: None,
        questions: 0,
        reservations: Vec::new(),
        effects_committed: 0,
        duplicates: 0,
        duplicate_ids: Vec::new(),
        decided: None,
        judged: None,
    })
}

impl Task {
    /// Folds an event that is known to be the next one.
    pub(in crate::domain) fn fold(&mut self, event: &Event) {
        self.revision = event.revision;
        self.state_version = event.state_version;
        match &event.what {
            What::Created { .. } => {}
            What::Delivered(delivery) => self.delivered(delivery),
            What::Moved { from, to, retry_at, .. } => self.moved(*from, *to, *retry_at, event.at),
            What::Failed(failure) => self.failure = Some(failure.clone()),
            What::Claimed { worker, lease_version, expires_at } => {
                self.lease = Some(Lease { worker: worker.clone(), expires_at: *expires_at });
                self.lease_version = *lease_version;
                self.lease_revoked = false;
                self.judged = None;
            }
            What::Renewed { expires_at, .. } => {
                if let Some(lease) = &mut self.lease {
                    lease.expires_at = *expires_at;
                }
            }
            What::Released { .. } => {
                self.lease_revoked = true;
                self.end_lease(event.at);
            }
            What::Asked(interruption) => {
                self.questions = interruption.version;
                self.interruption = Some((**interruption).clone());
            }
            What::Closed { how, .. } => {
                let closed = self.interruption.take();
                if matches!(how, Closing::Answered | Closing::Canceled)
                    && let Some(judged) = &mut self.judged
                {
                    judged.interruption = closed;
                }
            }
            What::Applied { arrival, class } => {
                self.held.retain(|a| a != arrival);
                if *class == Class::Outcome {
                    self.outcome = Some(*arrival);
                }
            }
            What::Reserved { effect, lease_version, .. } => self.reservations.push(Reservation {
                effect: effect.clone(),
                lease_version: *lease_version,
                at: event.at,
                unknown_since: None,
            }),
            What::Voided { effect, .. } => self.reservations.retain(|r| r.effect != *effect),
            What::Committed { effect, .. } => {
                self.effects_committed += 1;
                self.reservations.retain(|r| r.effect.key != effect.key);
            }
            What::Contradicted { conflict, .. } => self.join(conflict),
            What::Decided(decided) => self.decide(decided),
            What::GateFailed { .. } => {}
        }
    }

    fn delivered(&mut self, delivery: &Delivery) {
        let message = &delivery.message;
        self.arrivals = message.arrival();
        if message.submission().is_some() {
            self.submissions += 1;
        }
        match delivery.outcome {
            Outcome::Duplicate => {
                self.duplicates += 1;
                if !self.duplicate_ids.iter().any(|known| known == message.message_id()) {
                    self.duplicate_ids.push(message.message_id().to_owned());
                    if self.duplicate_ids.len() > REMEMBERED_IDS {
                        self.duplicate_ids.remove(0);
                    }
                }
            }
            Outcome::Held => self.held.push(message.arrival()),
            _ => {}
        }
        if let Some(set) = &delivery.conflict {
            self.join(set);
        }
        let outcome = message.submission().filter(|s| s.class == Class::Outcome);
        if let Some(outcome) = outcome.filter(|_| delivery.outcome == Outcome::Accepted) {
            self.outcome = Some(outcome.arrival);
        }
    }

    fn join(&mut self, set: &ConflictSet) {
        let review = self.review.get_or_insert_with(Review::default);
        let same = |s: &&mut ConflictSet| s.class == set.class && s.idempotency_key == set.idempotency_key;
        match review.sets.iter_mut().find(same) {
            Some(open) => {
                open.candidates.extend(&set.candidates);
                open.candidates.sort_unstable();
                open.candidates.dedup();
                open.effect = open.effect.take().or_else(|| set.effect.clone());
                open.judged_before = open.judged_before.take().or_else(|| set.judged_before.clone());
            }
            None => review.sets.push(set.clone()),
        }
        let candidates = review.candidates();
        self.held.retain(|a| !candidates.contains(a));
    }

    fn moved(&mut self, from: TaskState, to: TaskState, retry_at: Option<Timestamp>, at: Timestamp) {
        self.state = to;
        self.entered_at = at;
        self.retry_at = retry_at.filter(|_| to == TaskState::RetryWait);
        if from == TaskState::Running {
            self.end_lease(at);
        }
        match to {
            TaskState::Running | TaskState::NeedsReview => self.judged = None,
            TaskState::Ready => self.outcome = None,
            TaskState::Succeeded => self.failure = None,
            _ => {}
        }
    }

    /// Nobody holds the task any more: what was announced under the lease is of unknown fate.
    fn end_lease(&mut self, at: Timestamp) {
        let ended = self.lease.take();
        for reservation in &mut self.reservations {
            if reservation.unknown_since.is_none() {
                reservation.unknown_since = Some(ended.as_ref().map_or(at, |l| l.expires_at.min(at)));
            }
        }
    }

    fn decide(&mut self, decided: &Decided) {
        let before = self.judged.take();
        let judged = match (&decided.supersedes, before) {
            // A correction judges again what the superseded record judged.
            (Some(_), Some(before)) => before,
            _ => Box::new(Judged {
                from: self.state,
                review: self.review.take(),
                interruption: None,
                held: decided.held.clone(),
            }),
        };
        self.judged = Some(judged);
        self.held.retain(|a| !decided.held.contains(a) || decided.upheld.contains(a));
        // A held outcome that a correction upholds waits again; one that it no longer upholds does not.
        for arrival in decided.upheld.iter().filter(|a| decided.held.contains(a)) {
            if !self.held.contains(arrival) {
                self.held.push(*arrival);
            }
        }
        self.held.sort_unstable();
        self.decided = Some(Box::new(decided.clone()));
    }
}
