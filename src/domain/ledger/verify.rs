//! Verifies a chain of approval records from their stored bytes, and names the first that is not what it was.

use super::{CandidateSet, Record};
use crate::domain::digest::{self, Digest, Scheme};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Takes away the members that a record's digest does not cover.
pub(super) fn strip(value: &mut Value) {
    if let Value::Object(members) = value {
        members.remove("record_digest");
        members.remove("signature");
    }
}

/// What is wrong with a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProblemKind {
    /// Not a record, or not as it was written.
    Altered,
    /// A record is missing before this number.
    Removed,
    /// It stands where it does not belong.
    Reordered,
    /// It belongs to another store.
    OtherStore,
    /// The ledger ends before a head that was seen.
    TailCut,
    /// At a head that was seen, another record stands now: everything from somewhere before it was rewritten.
    Rewritten,
}

/// The first problem of a ledger.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Problem {
    /// The number at which it shows.
    pub sequence: u64,
    /// What it is.
    pub kind: ProblemKind,
    /// A sentence about it.
    pub message: String,
}

/// What verification found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    /// Whether all is as it was.
    pub ok: bool,
    /// How many records were read and are good.
    pub records: u64,
    /// The digest of the last good record.
    pub head: Option<Digest>,
    /// The first problem.
    pub problem: Option<Problem>,
    /// The log and all that follows from it, where that was checked as well.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log: Option<LogReport>,
}

/// What the check of a whole store found beside its ledger: that what is read follows from the log.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogReport {
    /// How many events were folded again.
    pub events: u64,
    /// Of how many tasks.
    pub tasks: u64,
    /// What does not fit, at most 100 of them.
    pub problems: Vec<LogProblem>,
}

/// Something in a store that does not follow from its log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogProblem {
    /// What it is about: a task, an entry.
    pub at: String,
    /// What is wrong with it.
    pub message: String,
}

/// A head that was seen before, exported or remembered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pin {
    /// The record's number.
    pub sequence: u64,
    /// Its digest.
    pub record_digest: Digest,
}

/// Walks a ledger record by record, in bounded memory.
#[derive(Clone, Debug, Default)]
pub struct Chain {
    pins: Vec<Pin>,
    store_id: Option<String>,
    /// The number of the record before the first one that is walked.
    before: u64,
    /// The number of the last good record.
    good: u64,
    last: Option<Digest>,
    problem: Option<Problem>,
}

impl Chain {
    /// Starts a walk that must meet every pin. Sequence 0 pins are met by every ledger.
    pub fn new(pins: impl IntoIterator<Item = Pin>) -> Self {
        Chain { pins: pins.into_iter().filter(|p| p.sequence > 0).collect(), ..Chain::default() }
    }

    /// The same for the ledger of this store and no other.
    #[must_use]
    pub fn of_store(self, store_id: String) -> Self {
        Chain { store_id: Some(store_id), ..self }
    }

    /// The same for a ledger's end, which begins after a record that is not looked at: that it once stood there is for
    /// whoever saw it to say, with a pin.
    #[must_use]
    pub fn after(mut self, before: Pin) -> Self {
        let other = |p: &Pin| p.sequence == before.sequence && p.record_digest != before.record_digest;
        if self.pins.iter().any(other) {
            let message = format!("record {} is not the one seen before at this place", before.sequence);
            self.problem = Some(Problem { sequence: before.sequence, kind: ProblemKind::Rewritten, message });
        } else if let Some(pin) = self.pins.iter().find(|p| p.sequence < before.sequence) {
            let message = format!(
                "record {} was seen, but what is here begins after {}",
                pin.sequence, before.sequence
            );
            self.problem = Some(Problem { sequence: pin.sequence, kind: ProblemKind::Removed, message });
        }
        Chain {
            before: before.sequence,
            good: before.sequence,
            last: (before.sequence > 0).then_some(before.record_digest),
            ..self
        }
    }

    /// Takes the next record, as stored. After a problem, further records only tell whether one that seems to be
    /// missing stands in another place.
    pub fn push(&mut self, raw: &[u8]) {
        if let Some(problem) = &mut self.problem {
            let found =
                || serde_json::from_slice::<Record>(raw).is_ok_and(|r| r.sequence == problem.sequence);
            if problem.kind == ProblemKind::Removed && found() {
                problem.kind = ProblemKind::Reordered;
                problem.message = format!("record {} stands in another place", problem.sequence);
            }
            return;
        }
        match self.check(raw) {
            Ok(digest) => {
                self.good += 1;
                self.last = Some(digest);
            }
            Err((kind, message)) => {
                let sequence = self.good + 1;
                self.problem = Some(Problem { sequence, kind, message });
            }
        }
    }

    fn check(&mut self, raw: &[u8]) -> Result<Digest, (ProblemKind, String)> {
        let altered = |why: &str| (ProblemKind::Altered, format!("record is not as it was written: {why}"));
        let expected = self.good + 1;
        digest::scan(raw, 100).map_err(|r| altered(&r.to_string()))?;
        let mut value: Value = serde_json::from_slice(raw).map_err(|_| altered("not JSON"))?;
        let record: Record = serde_json::from_value(value.clone()).map_err(|e| altered(&e.to_string()))?;
        if digest::canonical(Scheme::JcsSha256V1, raw).ok().as_deref() != Some(raw) {
            return Err(altered("it is not canonical JSON"));
        }
        if record.signature.is_some() {
            return Err(altered("it carries a signature, and none was ever made"));
        }
        strip(&mut value);
        let computed = digest::jcs_of(&value).map_err(|r| altered(&r.to_string()))?;
        if computed != record.record_digest {
            return Err(altered("its content has another digest"));
        }
        let set = CandidateSet {
            candidates: record.candidates.clone(),
            held: record.held.clone(),
            interruption: record.interruption.clone(),
        };
        if set.digest().ok() != Some(record.candidate_set_digest) {
            return Err(altered("what it judged has another digest"));
        }
        self.place(&record, expected)?;
        let met = |p: &&Pin| p.sequence == expected && p.record_digest != computed;
        if self.pins.iter().any(|p| met(&p)) {
            return Err((
                ProblemKind::Rewritten,
                format!("record {expected} is not the one seen before at this place"),
            ));
        }
        Ok(computed)
    }

    fn place(&mut self, record: &Record, expected: u64) -> Result<(), (ProblemKind, String)> {
        if self.store_id.get_or_insert_with(|| record.store_id.clone()) != &record.store_id {
            return Err((ProblemKind::OtherStore, format!("record {expected} belongs to another store")));
        }
        if record.sequence > expected {
            return Err((
                ProblemKind::Removed,
                format!("record {expected} is missing; {} follows", record.sequence),
            ));
        }
        if record.sequence < expected {
            let message = format!("record {} stands at place {expected}", record.sequence);
            return Err((ProblemKind::Reordered, message));
        }
        if record.previous_record_digest != self.last.unwrap_or(Digest::from_bytes([0; 32])) {
            let message = format!("record {expected} does not follow the record before it");
            return Err((ProblemKind::Reordered, message));
        }
        Ok(())
    }

    /// Ends the walk.
    pub fn finish(mut self) -> Report {
        if self.problem.is_none()
            && let Some(pin) = self.pins.iter().filter(|p| p.sequence > self.good).max_by_key(|p| p.sequence)
        {
            self.problem = Some(Problem {
                sequence: self.good + 1,
                kind: ProblemKind::TailCut,
                message: format!("the ledger ends at {}, but record {} was seen", self.good, pin.sequence),
            });
        }
        let records = self.good.saturating_sub(self.before);
        Report { ok: self.problem.is_none(), records, head: self.last, problem: self.problem, log: None }
    }
}
