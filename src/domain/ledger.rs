//! Approval records, the candidate-set digest, the hash chain and its verification (contract section 6).

mod judged;
#[cfg(test)]
mod tests;
mod verify;

pub use judged::{Judged, NOT_OF_RECORDS};
pub use verify::{Chain, LogProblem, LogReport, Pin, Problem, ProblemKind, Report};

use super::actor::{Principal, Role};
use super::command::Stored;
use super::decision::Resume;
use super::digest::{self, Digest, Scheme};
use super::envelope::{Intent, MessageType};
use super::event::{Submission, Verification};
use super::evidence::EvidenceRef;
use super::ids::{TaskId, Timestamp};
use super::interruption::Interruption;
use super::task::{Task, TaskState};
use serde::{Deserialize, Serialize};

/// Where the ledger of a store stands.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Head {
    /// The store.
    pub store_id: String,
    /// The number of its last record; 0 = none.
    pub sequence: u64,
    /// The last record's digest; `None` = no record yet, and the next one's predecessor is 64 zeros.
    pub record_digest: Option<Digest>,
}

impl Head {
    /// What the next record names as its predecessor.
    pub fn previous(&self) -> Digest {
        self.record_digest.unwrap_or(Digest::from_bytes([0; 32]))
    }
}

/// One side as it is judged: what was on the screen is what is signed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Side {
    /// What it claims to settle.
    pub intent: Intent,
    /// Its message id.
    pub message_id: String,
    /// Its arrival.
    pub arrival: u64,
    /// Its sender.
    pub sender: String,
    /// Its type.
    #[serde(rename = "type")]
    pub kind: MessageType,
    /// Its digest.
    pub payload_digest: Digest,
    /// The scheme of the digest.
    pub digest_scheme: Scheme,
    /// Where its content is, when it is not in the store.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub payload_ref: Option<EvidenceRef>,
    /// Whether the digest was recomputed here.
    pub verification: Verification,
    /// What it rests on.
    pub evidence_refs: Vec<EvidenceRef>,
    /// Always false: nothing an agent sent is trusted by being recorded.
    pub trusted: bool,
}

impl Side {
    /// A stored submission as a side.
    pub fn of(task_id: &TaskId, s: &Submission) -> Self {
        Side {
            intent: Intent {
                task_id: task_id.clone(),
                class: s.class,
                idempotency_key: s.idempotency_key.clone(),
            },
            message_id: s.message_id.clone(),
            arrival: s.arrival,
            sender: s.sender.clone(),
            kind: s.kind,
            payload_digest: s.payload_digest,
            digest_scheme: s.digest_scheme,
            payload_ref: s.payload_ref.clone(),
            verification: s.verification,
            evidence_refs: s.evidence_refs.clone(),
            trusted: false,
        }
    }
}

/// The question as it is judged.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Asked {
    /// Its id within the task.
    pub id: String,
    /// What is asked.
    pub prompt: String,
    /// The schema of the answer.
    pub schema_digest: Option<Digest>,
    /// Until when it could be answered.
    pub expires_at: Option<Timestamp>,
}

impl Asked {
    /// The open question as it is judged.
    pub fn of(i: &Interruption) -> Self {
        Asked {
            id: i.id.clone(),
            prompt: i.question.prompt.clone(),
            schema_digest: i.schema_digest,
            expires_at: i.question.expires_at,
        }
    }
}

/// Everything one decision judges.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CandidateSet {
    /// The sides in conflict, by arrival.
    pub candidates: Vec<Side>,
    /// Held outcomes, by arrival.
    pub held: Vec<Side>,
    /// The open question.
    pub interruption: Option<Asked>,
}

impl CandidateSet {
    /// What a decision on `task` would judge now; for a task decided already, what a correction would judge again.
    pub fn of(task: &Task, stored: &[Stored]) -> Self {
        let (candidates, held, interruption) = match task.state {
            TaskState::NeedsReview | TaskState::WaitingHuman => (
                task.review.as_ref().map(|r| r.candidates()).unwrap_or_default(),
                task.held.clone(),
                task.interruption.as_ref(),
            ),
            _ => match &task.judged {
                Some(j) => (
                    j.review.as_ref().map(|r| r.candidates()).unwrap_or_default(),
                    j.held.clone(),
                    j.interruption.as_ref(),
                ),
                None => return CandidateSet::default(),
            },
        };
        let sides = |arrivals: &[u64], outcomes_only: bool| {
            let fits = |s: &&Stored| {
                arrivals.contains(&s.submission.arrival)
                    && (!outcomes_only || s.submission.class == super::envelope::Class::Outcome)
            };
            stored.iter().filter(fits).map(|s| Side::of(&task.task_id, &s.submission)).collect::<Vec<_>>()
        };
        CandidateSet {
            candidates: sides(&candidates, false),
            held: sides(&held, true),
            interruption: interruption.map(Asked::of),
        }
    }

    /// The first arrival that `task` says is judged, and that was not among the stored submissions.
    pub fn missing(&self, task: &Task) -> Option<u64> {
        let review = match task.state {
            TaskState::NeedsReview | TaskState::WaitingHuman => task.review.as_ref(),
            _ => task.judged.as_ref().and_then(|j| j.review.as_ref()),
        };
        let there = |arrival: &u64| self.candidates.iter().any(|s| s.arrival == *arrival);
        review.map(super::task::Review::candidates).unwrap_or_default().into_iter().find(|a| !there(a))
    }

    /// jcs-sha256/1 over the set.
    ///
    /// # Errors
    /// None of the members can be without a canonical form; the signature carries the digest module's error.
    pub fn digest(&self) -> Result<Digest, digest::Unprintable> {
        digest::jcs_of(self)
    }

    /// Every side that could be upheld.
    pub fn sides(&self) -> impl Iterator<Item = &Side> {
        self.candidates.iter().chain(&self.held)
    }
}

/// Who decided, as the record keeps it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decider {
    /// Who.
    pub subject: String,
    /// Who says so.
    pub issuer: String,
    /// How it was shown.
    pub method: String,
    /// The roles held then.
    pub roles: Vec<Role>,
    /// For whom, where for another.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_behalf_of: Option<String>,
}

impl Decider {
    /// The principal as it stands now.
    pub fn of(p: &Principal) -> Self {
        Decider {
            subject: p.subject.clone(),
            issuer: p.issuer.clone(),
            method: p.method.clone(),
            roles: p.roles(),
            on_behalf_of: p.on_behalf_of.clone(),
        }
    }
}

/// The policy that applied.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PolicyMark {
    /// Which.
    pub id: String,
    /// Its version.
    pub version: u64,
    /// How many distinct principals had to agree.
    pub quorum: u32,
}

/// Whether a decider named the set it had seen, or only the version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SetSeen {
    /// The digest was sent and matched.
    Digest,
    /// Only the version bound the decision.
    Version,
}

/// An approval record: immutable, and part of one hash chain per store.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// "1".
    pub schema_version: String,
    /// The store.
    pub store_id: String,
    /// Gapless per store, from 1.
    pub sequence: u64,
    /// Its name.
    pub approval_id: String,
    /// Per task, from 1.
    pub approval_version: u64,
    /// The record it corrects.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub supersedes: Option<String>,
    /// The task.
    pub task_id: TaskId,
    /// Its run.
    pub trace_id: String,
    /// `ready` or `canceled`.
    pub decision: TaskState,
    /// Where the task stood.
    pub from_state: TaskState,
    /// Where it went.
    pub to_state: TaskState,
    /// Its version before.
    pub state_version_before: u64,
    /// Its version after.
    pub state_version_after: u64,
    /// What was judged.
    pub candidates: Vec<Side>,
    /// The question, where one was open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interruption: Option<Asked>,
    /// Held outcomes judged with it.
    pub held: Vec<Side>,
    /// The digest of the three above.
    pub candidate_set_digest: Digest,
    /// How the decider was bound to them.
    pub set_seen: SetSeen,
    /// What stands.
    pub upheld: Vec<u64>,
    /// Evidence the decider opened.
    pub evidence_opened: Vec<String>,
    /// The digest of the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_digest: Option<Digest>,
    /// From where work resumes.
    pub resume: Resume,
    /// Why.
    pub reason: String,
    /// Who.
    pub principal: Decider,
    /// Under which policy.
    pub policy: PolicyMark,
    /// Present and true where the policy let an author judge their own side.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub self_interest: bool,
    /// Who agreed, where more than one had to.
    pub endorsements: Vec<Decider>,
    /// When.
    pub decided_at: Timestamp,
    /// The digest of the record before it; 64 zeros for the first.
    pub previous_record_digest: Digest,
    /// jcs-sha256/1 over the record without this member and `signature`.
    pub record_digest: Digest,
    /// A signature over the digest, where one was made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signature: Option<String>,
}

impl Record {
    /// The digest the record must carry.
    ///
    /// # Errors
    /// Where the record has no canonical form.
    pub fn computed_digest(&self) -> Result<Digest, digest::Unprintable> {
        let mut value = serde_json::to_value(self).unwrap_or_default();
        verify::strip(&mut value);
        digest::jcs_of(&value)
    }
}
