//! A rule said no: every refusal with its code, its data, and what to do next (contract section 6).

use super::digest::Digest;
use super::task::TaskState;
use serde::Serialize;
use thiserror::Error;

/// Why nothing was written. `Display` is one sentence for people; [`Refusal::code`] is for programs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Error)]
#[serde(tag = "error", rename_all = "snake_case")]
pub enum Refusal {
    /// Nobody in particular asked.
    #[error("not authenticated: say who you are first")]
    Unauthenticated,
    /// No such task here, or none that this principal may know of.
    #[error("task {task_id} is not known here")]
    TaskNotFound {
        /// The task asked for.
        task_id: String,
    },
    /// No such message of this task, or none that is kept.
    #[error("task {task_id} keeps no message {message}")]
    MessageNotFound {
        /// The task.
        task_id: String,
        /// The message id, or the arrival after `#`.
        message: String,
    },
    /// The key was used for something else.
    #[error(
        "idempotency key {key} was used for another decision: choose a new key, or send the same decision"
    )]
    IdempotencyKeyReused {
        /// The key.
        key: String,
    },
    /// Role or scope does not allow it.
    #[error("not permitted: {why}")]
    Forbidden {
        /// What is missing.
        why: String,
    },
    /// Somebody decided already.
    #[error(
        "already decided: {decision} by {by} in {approval_id} (record {sequence}); read it with `show {task_id}`"
    )]
    AlreadyDecided {
        /// The task.
        task_id: String,
        /// The record that stands.
        approval_id: String,
        /// Its number in the ledger.
        sequence: u64,
        /// Who decided.
        by: String,
        /// What was decided.
        decision: TaskState,
        /// The task's version now.
        current: u64,
    },
    /// The task does not wait for a person.
    #[error("the task does not wait for a decision: it is {state}{}", .why.as_ref().map(|w| format!(" ({w})")).unwrap_or_default())]
    NotWaiting {
        /// Where it stands.
        state: TaskState,
        /// More about it.
        #[serde(skip_serializing_if = "Option::is_none")]
        why: Option<String>,
    },
    /// The task moved on since it was read.
    #[error("stale: expected version {expected}, it is {current} now; read the task again")]
    StaleVersion {
        /// What the writer had seen.
        expected: u64,
        /// What is stored.
        current: u64,
    },
    /// What would be judged is not what was seen.
    #[error("what is to be judged changed: {why}; read the task again")]
    CandidateSetChanged {
        /// What changed.
        why: String,
        /// The digest of what is stored now.
        current: Digest,
    },
    /// The judge wrote one of the sides.
    #[error("{subject} is the author of #{arrival} and may not judge it")]
    SelfInterest {
        /// Who.
        subject: String,
        /// The side.
        arrival: u64,
    },
    /// A side that cannot be upheld.
    #[error("#{arrival} cannot be upheld: {why}")]
    NotUpholdable {
        /// The side.
        arrival: u64,
        /// Why not.
        why: String,
    },
    /// A reason is required.
    #[error("the reason is too short: {minimum} or more characters that are not blank, and not `…`")]
    ReasonTooShort {
        /// The policy's minimum.
        minimum: usize,
    },
    /// The answer does not fit the question.
    #[error("the input is not valid: {why}")]
    InputInvalid {
        /// What is wrong, by field where there are fields.
        why: String,
    },
    /// A step that is not on the list.
    #[error("illegal transition: {from} to {to}{}", .why.as_ref().map(|w| format!(" ({w})")).unwrap_or_default())]
    IllegalTransition {
        /// Old state.
        from: TaskState,
        /// State asked for.
        to: TaskState,
        /// What to do instead, where there is something.
        #[serde(skip_serializing_if = "Option::is_none")]
        why: Option<String>,
    },
    /// A lease that is not the current one.
    #[error("lease {lease} is not the current one{}", .current.map(|c| format!(" ({c} is)")).unwrap_or_default())]
    StaleLease {
        /// The lease given.
        lease: u64,
        /// The current one, while there is one.
        current: Option<u64>,
    },
    /// The task is held by somebody.
    #[error("claimed by {worker} under lease {lease_version} already")]
    AlreadyClaimed {
        /// Who.
        worker: String,
        /// Under which lease.
        lease_version: u64,
    },
    /// An effect that happened, or may have, under other terms.
    #[error("effect {key}: {why}")]
    EffectConflict {
        /// The effect's key.
        key: String,
        /// What stands against it.
        why: String,
    },
    /// The store's head is not the remembered one.
    #[error(
        "the store is read-only: {why}; a person must look and run `tribunal store accept-head --reason …`"
    )]
    HeadMismatch {
        /// What is different.
        why: String,
    },
    /// What is stored contradicts itself; nothing may rest on it.
    #[error("the store is damaged: {why}; restore it from a copy, and find out who wrote to it")]
    #[serde(rename = "store_damaged")]
    Damaged {
        /// How.
        why: String,
    },
    /// The store could not take it, and did not.
    #[error("{why}")]
    #[serde(rename = "store_unavailable")]
    Unavailable {
        /// Why.
        why: String,
    },
    /// Something in the request itself is wrong.
    #[error("{why}")]
    Invalid {
        /// What.
        why: String,
    },
    /// The quarantine entry is not there.
    #[error("quarantine entry {id} is not known here, or was settled already")]
    EntryNotFound {
        /// The entry.
        id: String,
    },
}

/// What kind of no this is; the command line's exit code and the HTTP status follow from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefusalClass {
    /// Exit 3.
    NotFound,
    /// Exit 4: stale or already decided.
    Stale,
    /// Exit 5: not permitted or not authenticated.
    NotPermitted,
    /// Exit 6: invalid input.
    Invalid,
    /// Exit 7: the store cannot be used.
    Unavailable,
    /// Exit 8: what is stored is not what it was.
    Damaged,
}

impl Refusal {
    /// The stable code and the class.
    pub fn kind(&self) -> (&'static str, RefusalClass) {
        use RefusalClass as C;
        match self {
            Refusal::Unauthenticated => ("unauthenticated", C::NotPermitted),
            Refusal::TaskNotFound { .. } => ("task_not_found", C::NotFound),
            Refusal::MessageNotFound { .. } => ("message_not_found", C::NotFound),
            Refusal::IdempotencyKeyReused { .. } => ("idempotency_key_reused", C::Invalid),
            Refusal::Forbidden { .. } => ("forbidden", C::NotPermitted),
            Refusal::AlreadyDecided { .. } => ("already_decided", C::Stale),
            Refusal::NotWaiting { .. } => ("not_waiting", C::Stale),
            Refusal::StaleVersion { .. } => ("stale_version", C::Stale),
            Refusal::CandidateSetChanged { .. } => ("candidate_set_changed", C::Stale),
            Refusal::SelfInterest { .. } => ("self_interest", C::NotPermitted),
            Refusal::NotUpholdable { .. } => ("not_upholdable", C::Invalid),
            Refusal::ReasonTooShort { .. } => ("reason_too_short", C::Invalid),
            Refusal::InputInvalid { .. } => ("input_invalid", C::Invalid),
            Refusal::IllegalTransition { .. } => ("illegal_transition", C::Stale),
            Refusal::StaleLease { .. } => ("stale_lease", C::Stale),
            Refusal::AlreadyClaimed { .. } => ("already_claimed", C::Stale),
            Refusal::EffectConflict { .. } => ("effect_conflict", C::Stale),
            Refusal::HeadMismatch { .. } => ("head_mismatch", C::Stale),
            Refusal::Damaged { .. } => ("store_damaged", C::Damaged),
            Refusal::Unavailable { .. } => ("store_unavailable", C::Unavailable),
            Refusal::Invalid { .. } => ("invalid", C::Invalid),
            Refusal::EntryNotFound { .. } => ("entry_not_found", C::NotFound),
        }
    }

    /// The stable code.
    pub fn code(&self) -> &'static str {
        self.kind().0
    }

    /// The class.
    pub fn class(&self) -> RefusalClass {
        self.kind().1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_is_what_is_serialised() {
        for refusal in [
            Refusal::Unauthenticated,
            Refusal::StaleVersion { expected: 1, current: 2 },
            Refusal::NotWaiting { state: TaskState::Ready, why: None },
            Refusal::AlreadyClaimed { worker: "w".into(), lease_version: 1 },
        ] {
            let json = serde_json::to_value(&refusal).unwrap();
            assert_eq!(json["error"], refusal.code());
        }
    }
}
