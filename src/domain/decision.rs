//! Checks a decision or an answer, in the contract's order, and turns it into events and a record (section 6).

mod input;
#[cfg(test)]
mod interleavings;
mod seat;
#[cfg(test)]
mod tests;

pub use input::{Input, Part};
pub use seat::{Possible, possible};

use seat::Seat;

use super::command::{Context, DecisionOutcome, Draft, Recorded, Reply, Request, Rules, Verdict};
use super::digest::{self, Digest};
use super::event::{Closing, Decided, Verification, What};
use super::ids::TaskId;
use super::ledger::{CandidateSet, Decider, PolicyMark, Record, SetSeen, Side};
use super::refusal::Refusal;
use super::secret::looks_like_secret;
use super::shell::is_left_open;
use super::task::{Task, TaskState};
use super::text::is_hidden;
use serde::{Deserialize, Serialize};

/// How decisions are made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Policy {
    /// Which policy.
    pub id: String,
    /// Its version.
    pub version: u64,
    /// How many characters a reason needs, blanks at its ends apart.
    pub minimum_reason: usize,
    /// Whether an author may judge their own side; the record then says so.
    pub self_interest: bool,
}

impl Default for Policy {
    fn default() -> Self {
        Policy { id: "default".into(), version: 1, minimum_reason: 1, self_interest: false }
    }
}

/// From where work resumes after a decision.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resume {
    /// The idempotency point.
    pub idempotency_key: String,
    /// A note for the worker.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// What a person asks for. Serialised, it is the body that an idempotency key stands for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Decision {
    /// The task.
    pub task_id: TaskId,
    /// `ready` or `canceled`.
    pub decision: TaskState,
    /// The version that was on the screen.
    pub expected_version: u64,
    /// The digest of what was on the screen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub candidate_set_digest: Option<Digest>,
    /// The question this answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interruption: Option<String>,
    /// Arrivals that stand.
    #[serde(default)]
    pub upheld: Vec<u64>,
    /// From where work resumes; the new approval id where left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resume: Option<Resume>,
    /// Why.
    pub reason: String,
    /// Evidence that was opened.
    #[serde(default)]
    pub evidence_opened: Vec<String>,
    /// The answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<Input>,
    /// The record this corrects.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub supersedes: Option<String>,
    /// Repeats of the same request carry the same key.
    #[serde(skip)]
    pub idempotency_key: String,
    /// The id its record gets if it is the first; made by the coordinator.
    #[serde(skip)]
    pub approval_id: String,
    /// Sides of which something that differs is masked for the principal; found by the coordinator.
    #[serde(skip)]
    pub masked: Vec<u64>,
}

/// Bounds of a decision that no policy lifts.
const MAX_KEY: usize = 256;
const MAX_TEXT: usize = 64 << 10;
const MAX_OPENED: usize = 1000;

/// Decides.
///
/// # Errors
/// The first check that fails, in the contract's order; nothing is to be written.
pub fn decide(ctx: &Context, d: &Decision, request: &Request, rules: &Rules) -> Result<Verdict, Refusal> {
    if request.principal.subject.is_empty() {
        return Err(Refusal::Unauthenticated);
    }
    let Some(task) = &ctx.task else {
        return Err(Refusal::TaskNotFound { task_id: d.task_id.0.clone() });
    };
    let body_digest = digest::jcs_of(d).map_err(|r| Refusal::Invalid { why: r.to_string() })?;
    if let Some(earlier) = &ctx.replay {
        if earlier.body_digest != body_digest {
            return Err(Refusal::IdempotencyKeyReused { key: d.idempotency_key.clone() });
        }
        let record = &earlier.record;
        let said = (&record.task_id, record.decision, record.state_version_before);
        if said != (&d.task_id, d.decision, d.expected_version) {
            let why = format!("record {} stands under this key and is of another decision", record.sequence);
            return Err(Refusal::Damaged { why });
        }
        let reply = Reply::Decided { outcome: DecisionOutcome::Replayed, record: earlier.record.clone() };
        return Ok(Verdict::Unchanged(reply));
    }
    let case = Case { ctx, task, d, request, rules };
    case.seat().permitted()?;
    case.seat().waiting()?;
    let set = CandidateSet::of(task, &ctx.of_task);
    if let Some(arrival) = set.missing(task) {
        return Err(Refusal::Damaged {
            why: format!("#{arrival} is to be judged, but is not in the store any more"),
        });
    }
    let set_digest = set.digest().map_err(|r| Refusal::Invalid { why: r.to_string() })?;
    case.seen(set_digest)?;
    let self_interest = case.seat().self_interest(&set, &d.upheld, &rules.policy)?;
    case.upheld(&set)?;
    case.reason()?;
    let question = case.question();
    input::check(d, task.state, question, request.now)?;
    case.bounds()?;
    case.record(set, set_digest, self_interest, body_digest)
}

struct Case<'a> {
    ctx: &'a Context,
    task: &'a Task,
    d: &'a Decision,
    request: &'a Request,
    rules: &'a Rules,
}

impl<'a> Case<'a> {
    fn seat(&self) -> Seat<'a> {
        let (to, supersedes) = (self.d.decision, self.d.supersedes.as_deref());
        Seat { task: self.task, principal: &self.request.principal, to, supersedes }
    }

    fn question(&self) -> Option<&'a super::interruption::Interruption> {
        self.seat().question()
    }

    fn seen(&self, current: Digest) -> Result<(), Refusal> {
        if self.d.expected_version != self.task.state_version {
            let (expected, current) = (self.d.expected_version, self.task.state_version);
            return Err(Refusal::StaleVersion { expected, current });
        }
        let changed = |why: String| Err(Refusal::CandidateSetChanged { why, current });
        if self.d.candidate_set_digest.is_some_and(|seen| seen != current) {
            return changed("the candidate set has another digest".into());
        }
        match (&self.d.interruption, self.question()) {
            (Some(named), Some(open)) if *named == open.id => Ok(()),
            (Some(named), Some(open)) => changed(format!("the open question is {}, not {named}", open.id)),
            (Some(named), None) => changed(format!("question {named} is not open any more")),
            (None, Some(open)) => Err(Refusal::InputInvalid {
                why: format!("name the question this settles: {} is open", open.id),
            }),
            (None, None) => Ok(()),
        }
    }

    fn upheld(&self, set: &CandidateSet) -> Result<(), Refusal> {
        let mut settled: Vec<&super::envelope::Intent> = Vec::new();
        for &arrival in &self.d.upheld {
            let no = |why: &str| Err(Refusal::NotUpholdable { arrival, why: why.to_owned() });
            let Some(side) = set.sides().find(|s| s.arrival == arrival) else {
                return no("it is neither a candidate nor a held outcome of this task");
            };
            if self.d.decision == TaskState::Canceled {
                return no("a canceled task resumes nothing");
            }
            match side.verification {
                Verification::Verified => {}
                Verification::NotFetched => {
                    return no("its content is behind a reference and was not verified here");
                }
                Verification::Mismatch => return no("its content does not have the digest it claims"),
            }
            if self.d.masked.contains(&arrival) {
                return no("part of what differs is masked for you");
            }
            if settled.contains(&&side.intent) {
                return no("another side of the same intent is upheld already");
            }
            settled.push(&side.intent);
        }
        Ok(())
    }

    fn reason(&self) -> Result<(), Refusal> {
        let minimum = self.rules.policy.minimum_reason.max(1);
        let seen = |c: &char| !is_hidden(*c);
        let reason = self.d.reason.trim();
        if reason.chars().filter(seen).count() < minimum || is_left_open(reason) {
            return Err(Refusal::ReasonTooShort { minimum });
        }
        match looks_like_secret(&self.d.reason) {
            Some(kind) => Err(Refusal::InputInvalid {
                why: format!("the reason holds {}: {}", kind.what(), kind.advice()),
            }),
            None => Ok(()),
        }
    }

    fn bounds(&self) -> Result<(), Refusal> {
        let d = self.d;
        let key = d.resume.as_ref().map_or(0, |r| r.idempotency_key.len()).max(d.idempotency_key.len());
        let note = d.resume.as_ref().and_then(|r| r.note.as_ref()).map_or(0, String::len);
        let opened = d.evidence_opened.iter().map(String::len).max().unwrap_or(0);
        let why = if d.idempotency_key.is_empty() || key > MAX_KEY {
            "an idempotency key has 1 to 256 bytes"
        } else if d.resume.as_ref().is_some_and(|r| r.idempotency_key.is_empty()) {
            "the resume point has 1 to 256 bytes"
        } else if d.reason.len().max(note).max(opened) > MAX_TEXT {
            "a reason, a note or a reference has at most 65536 bytes"
        } else if d.evidence_opened.len() > MAX_OPENED {
            "at most 1000 references are named as opened"
        } else {
            return Ok(());
        };
        Err(Refusal::Invalid { why: why.into() })
    }

    fn record(
        &self,
        set: CandidateSet,
        set_digest: Digest,
        self_interest: bool,
        body_digest: Digest,
    ) -> Result<Verdict, Refusal> {
        let (d, task) = (self.d, self.task);
        let resume =
            d.resume.clone().unwrap_or(Resume { idempotency_key: d.approval_id.clone(), note: None });
        let invalid = |r: digest::Unprintable| Refusal::Invalid { why: r.to_string() };
        let input_digest = d.input.as_ref().map(digest::jcs_of).transpose().map_err(invalid)?;
        let mut upheld = d.upheld.clone();
        upheld.sort_unstable();
        let mut record = Record {
            schema_version: "1".into(),
            store_id: self.ctx.head.store_id.clone(),
            sequence: self.ctx.head.sequence + 1,
            approval_id: d.approval_id.clone(),
            approval_version: task.decided.as_ref().map_or(0, |last| last.approval_version) + 1,
            supersedes: d.supersedes.clone(),
            task_id: task.task_id.clone(),
            trace_id: task.trace_id.clone(),
            decision: d.decision,
            from_state: task.state,
            to_state: d.decision,
            state_version_before: task.state_version,
            state_version_after: task.state_version + 1,
            candidates: set.candidates,
            interruption: set.interruption,
            held: set.held,
            candidate_set_digest: set_digest,
            set_seen: if d.candidate_set_digest.is_some() { SetSeen::Digest } else { SetSeen::Version },
            upheld,
            evidence_opened: d.evidence_opened.clone(),
            input_digest,
            resume,
            reason: d.reason.trim().to_owned(),
            principal: Decider::of(&self.request.principal),
            policy: PolicyMark {
                id: self.rules.policy.id.clone(),
                version: self.rules.policy.version,
                quorum: 1,
            },
            self_interest,
            endorsements: Vec::new(),
            decided_at: self.request.now,
            previous_record_digest: self.ctx.head.previous(),
            record_digest: Digest::from_bytes([0; 32]),
            signature: None,
        };
        record.record_digest = record.computed_digest().map_err(invalid)?;
        Ok(self.events(record, body_digest))
    }

    fn events(&self, record: Record, body_digest: Digest) -> Verdict {
        let d = self.d;
        let arrivals = |sides: &[Side]| sides.iter().map(|s| s.arrival).collect::<Vec<u64>>();
        let mut draft = Draft::on(self.task, self.request.now);
        draft.push(What::Decided(Box::new(Decided {
            approval_id: record.approval_id.clone(),
            sequence: record.sequence,
            approval_version: record.approval_version,
            supersedes: record.supersedes.clone(),
            decision: record.decision,
            upheld: record.upheld.clone(),
            candidates: arrivals(&record.candidates),
            held: arrivals(&record.held),
            resume: record.resume.clone(),
            reason: record.reason.clone(),
            principal: record.principal.clone(),
            record_digest: record.record_digest,
            input: d.input.clone(),
        })));
        if let Some(open) = &self.task.interruption {
            let how = if d.decision == TaskState::Canceled { Closing::Canceled } else { Closing::Answered };
            draft.push(What::Closed { interruption: open.id.clone(), how });
        }
        draft.bump(What::Moved {
            from: self.task.state,
            to: d.decision,
            reason: record.reason.clone(),
            executor: record.principal.subject.clone(),
            lease_version: None,
            retry_at: None,
        });
        let (task, events) = draft.into_parts();
        let record = Box::new(record);
        let reply = Reply::Decided { outcome: DecisionOutcome::Decided, record: record.clone() };
        Verdict::Recorded(Box::new(Recorded { task, events, record: Some((record, body_digest)), reply }))
    }
}
