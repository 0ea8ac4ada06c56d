//! What an accepted message does to its task, at once or when a held one's time has come.

use crate::domain::command::{Draft, Stored};
use crate::domain::digest::{Digest, Scheme};
use crate::domain::envelope::{Body, EffectName, Envelope};
use crate::domain::event::{Closing, CommittedEffect, What};
use crate::domain::failure::{Failure, FailureKind};
use crate::domain::interruption::{Interruption, Question};
use crate::domain::task::TaskState;

/// What of a message takes effect.
pub(super) struct Taking<'a> {
    arrival: u64,
    sender: &'a str,
    body: &'a Body,
    effect: Option<&'a EffectName>,
    content: (Digest, Scheme, Option<Digest>),
}

impl<'a> Taking<'a> {
    pub(super) fn of(e: &'a Envelope, arrival: u64) -> Self {
        Taking {
            arrival,
            sender: &e.sender,
            body: &e.body,
            effect: e.effect.as_ref(),
            content: (e.digest, e.scheme, e.common),
        }
    }
}

/// Adds what follows from an accepted message; its `delivered` or `applied` event is in the draft already.
pub(super) fn take_effect(draft: &mut Draft, committed: &[CommittedEffect], taking: &Taking<'_>) {
    let state = draft.task().state;
    match taking.body {
        Body::Request(_) | Body::Progress => {}
        Body::Receipt => {
            let Some(effect) = taking.effect else { return };
            if !committed.iter().any(|c| c.effect.key == effect.key) {
                let (digest, scheme, common) = taking.content;
                let arrival = Some(taking.arrival);
                draft.push(What::Committed { effect: effect.clone(), digest, scheme, common, arrival });
            }
        }
        Body::Question(question) if state == TaskState::WaitingHuman => replace(draft, taking, question),
        Body::Question(question) if state == TaskState::Running => {
            step(draft, taking, TaskState::WaitingHuman, "human_request", None);
            ask(draft, taking, question);
        }
        _ if state != TaskState::Running => {}
        Body::Result => step(draft, taking, TaskState::Succeeded, "task_result", None),
        Body::Denied(message) => {
            draft.push(What::Failed(Failure { kind: FailureKind::Rejected, message: message.clone() }));
            step(draft, taking, TaskState::Denied, "task_denied", None);
        }
        Body::Failure { kind, message, retryable, retry_at } => {
            draft.push(What::Failed(Failure { kind: *kind, message: message.clone() }));
            let to = if *retryable { TaskState::RetryWait } else { TaskState::Failed };
            step(draft, taking, to, "task_failure", *retry_at);
        }
        Body::Question(_) => {}
    }
}

fn step(
    draft: &mut Draft,
    taking: &Taking<'_>,
    to: TaskState,
    reason: &str,
    retry_at: Option<crate::domain::ids::Timestamp>,
) {
    let task = draft.task();
    let moved = What::Moved {
        from: task.state,
        to,
        reason: format!("{reason} #{}", taking.arrival),
        executor: taking.sender.to_owned(),
        lease_version: task.lease.as_ref().map(|_| task.lease_version),
        retry_at,
    };
    draft.bump(moved);
}

fn ask(draft: &mut Draft, taking: &Taking<'_>, question: &Question) {
    let asked = open(draft, taking, question);
    draft.bump_once(What::Asked(Box::new(asked)));
}

fn open(draft: &Draft, taking: &Taking<'_>, question: &Question) -> Interruption {
    let id = format!("i{}", taking.arrival);
    Interruption::open(
        id,
        draft.task().questions + 1,
        question.clone(),
        taking.sender.to_owned(),
        draft.now(),
    )
}

/// A newer question of the same asker takes the open one's place; answers to the old one are refused from now on.
fn replace(draft: &mut Draft, taking: &Taking<'_>, question: &Question) {
    if let Some(old) = &draft.task().interruption {
        let interruption = old.id.clone();
        draft.push(What::Closed { interruption, how: Closing::Replaced });
    }
    let asked = open(draft, taking, question);
    draft.bump(What::Asked(Box::new(asked)));
}

/// Applies what was held, in arrival order, to a task that just reached `running`: what a record upholds, and what
/// carries no lease or the current one (contract section 4).
pub(in crate::domain) fn apply_held(draft: &mut Draft, of_task: &[Stored], committed: &[CommittedEffect]) {
    for arrival in draft.task().held.clone() {
        if draft.task().state != TaskState::Running {
            return;
        }
        let Some(held) = of_task.iter().map(|s| &s.submission).find(|s| s.arrival == arrival) else {
            continue;
        };
        let Some(body) = held.held_body.as_deref() else { continue };
        let task = draft.task();
        let upheld = task.decided.as_ref().is_some_and(|d| d.upheld.contains(&arrival));
        let current = held.lease_version.is_none_or(|l| task.is_current_lease(l));
        if !upheld && !current {
            continue;
        }
        draft.push(What::Applied { arrival, class: held.class });
        let taking = Taking {
            arrival,
            sender: &held.sender,
            body,
            effect: held.effect.as_ref(),
            content: held.content(),
        };
        take_effect(draft, committed, &taking);
    }
}
