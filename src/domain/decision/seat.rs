//! Whether a principal may make a decision of some kind at all: what is checked before its content, and the same checks
//! asked beforehand, so that what screens offer is what is accepted (contract sections 6 and 12).

use super::Policy;
use crate::domain::actor::{Operation, Principal};
use crate::domain::ids::Timestamp;
use crate::domain::interruption::Interruption;
use crate::domain::ledger::{CandidateSet, Side};
use crate::domain::refusal::Refusal;
use crate::domain::task::{Task, TaskState};

/// Who decides about a task, which way, and in place of which record.
#[derive(Clone, Copy)]
pub(super) struct Seat<'a> {
    pub(super) task: &'a Task,
    pub(super) principal: &'a Principal,
    pub(super) to: TaskState,
    pub(super) supersedes: Option<&'a str>,
}

impl<'a> Seat<'a> {
    /// The state that is judged: the present one, or for a correction the one decided from.
    pub(super) fn judged_state(&self) -> TaskState {
        match (self.supersedes, &self.task.judged) {
            (Some(_), Some(judged)) => judged.from,
            _ => self.task.state,
        }
    }

    pub(super) fn question(&self) -> Option<&'a Interruption> {
        match self.supersedes {
            Some(_) => self.task.judged.as_ref().and_then(|j| j.interruption.as_ref()),
            None => self.task.interruption.as_ref(),
        }
    }

    pub(super) fn permitted(&self) -> Result<(), Refusal> {
        let canceled = self.to == TaskState::Canceled;
        let (operation, role) = match self.judged_state() {
            _ if canceled => (Operation::CancelByRecord, "reviewer or operator"),
            TaskState::NeedsReview => (Operation::Judge, "reviewer"),
            _ => (Operation::Answer, "responder"),
        };
        let p = self.principal;
        if !p.may(operation, Some(self.task.subject())) {
            return Err(Refusal::Forbidden {
                why: format!("{:?} needs the role {role} for this task", p.subject),
            });
        }
        let Some(asked) = self.question().filter(|_| !canceled) else { return Ok(()) };
        if asked.question.satisfiers.include(p) {
            return Ok(());
        }
        Err(Refusal::Forbidden {
            why: format!("the question names others who may answer it, not {:?}", p.subject),
        })
    }

    pub(super) fn waiting(&self) -> Result<(), Refusal> {
        if !matches!(self.to, TaskState::Ready | TaskState::Canceled) {
            return Err(Refusal::Invalid { why: "a decision is `ready` or `canceled`".into() });
        }
        match (self.supersedes, &self.task.decided) {
            (None, _) if self.task.state.waits_for_a_record() => return Ok(()),
            (Some(_), _) if self.task.state.waits_for_a_record() => {
                let why =
                    Some("a newer conflict or question is open: decide it without `supersedes`".to_owned());
                return Err(Refusal::NotWaiting { state: self.task.state, why });
            }
            (Some(old), Some(last)) if self.correctable() && old == last.approval_id => return Ok(()),
            _ => {}
        }
        Err(match &self.task.decided {
            Some(last) => Refusal::AlreadyDecided {
                task_id: self.task.task_id.0.clone(),
                approval_id: last.approval_id.clone(),
                sequence: last.sequence,
                by: last.principal.subject.clone(),
                decision: last.decision,
                current: self.task.state_version,
            },
            None => Refusal::NotWaiting { state: self.task.state, why: None },
        })
    }

    pub(super) fn correctable(&self) -> bool {
        self.task.state == TaskState::Ready && self.task.lease.is_none() && self.task.judged.is_some()
    }

    /// The author of a side may not judge it, unless policy lets them; then the record says so.
    pub(super) fn self_interest(
        &self,
        set: &CandidateSet,
        upheld: &[u64],
        policy: &Policy,
    ) -> Result<bool, Refusal> {
        let judged =
            |s: &&Side| set.candidates.iter().any(|c| c.arrival == s.arrival) || upheld.contains(&s.arrival);
        let own = set.sides().filter(judged).find(|s| self.principal.speaks_for(&s.sender));
        match own {
            None => Ok(false),
            Some(_) if policy.self_interest => Ok(true),
            Some(side) => {
                Err(Refusal::SelfInterest { subject: self.principal.subject.clone(), arrival: side.arrival })
            }
        }
    }

    /// Whether some decision from here would be accepted: one that upholds nothing and fits the question.
    fn open(&self, set: &CandidateSet, policy: &Policy, now: Timestamp) -> bool {
        let late = self.to == TaskState::Ready && self.question().is_some_and(|q| q.expired(now));
        self.permitted().is_ok()
            && self.waiting().is_ok()
            && self.self_interest(set, &[], policy).is_ok()
            && !late
    }
}

/// Which kinds of decision would be accepted from a principal now, each with the right content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Possible {
    /// `ready`, from where the task waits.
    pub ready: bool,
    /// `canceled`, from where it waits.
    pub canceled: bool,
    /// `ready` in place of the last record.
    pub supersede_ready: bool,
    /// `canceled` in place of the last record.
    pub supersede_canceled: bool,
}

/// Asks the checks of a decision beforehand; `set` is what it would judge.
pub fn possible(
    task: &Task,
    set: &CandidateSet,
    principal: &Principal,
    policy: &Policy,
    now: Timestamp,
) -> Possible {
    let last = task.decided.as_ref().map(|last| last.approval_id.as_str());
    let open = |to, supersedes| Seat { task, principal, to, supersedes }.open(set, policy, now);
    let corrects = |to| last.is_some() && open(to, last);
    Possible {
        ready: open(TaskState::Ready, None),
        canceled: open(TaskState::Canceled, None),
        supersede_ready: corrects(TaskState::Ready),
        supersede_canceled: corrects(TaskState::Canceled),
    }
}

#[cfg(test)]
mod tests;
