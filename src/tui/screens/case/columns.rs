//! Who said what: the sides of each conflict, one column per distinct content, in order of arrival.

use std::collections::BTreeSet;

use crate::coordinator::{Shown, Submitted};
use crate::domain::digest::{Digest, Scheme};
use crate::domain::envelope::{EffectName, Intent, MessageType};
use crate::domain::event::{ConflictSet, Verification};
use crate::domain::evidence::EvidenceRef;
use crate::domain::ledger::Side;

/// One intent with everything that was said about it.
#[derive(Clone, Debug, PartialEq)]
pub(in super::super) struct Set {
    /// What the sides claim to settle.
    pub(in super::super) intent: Intent,
    /// The conflict, where there is one; held outcomes have none.
    pub(in super::super) conflict: Option<ConflictSet>,
    /// One for each distinct content, by first arrival.
    pub(in super::super) columns: Vec<Column>,
}

/// One distinct content with every submission behind it.
#[derive(Clone, Debug, PartialEq)]
pub(in super::super) struct Column {
    /// `A`, `B`, …: by arrival, and nothing else.
    pub(in super::super) label: String,
    /// What kind of message.
    pub(in super::super) kind: MessageType,
    /// The digest of its payload.
    pub(in super::super) digest: Digest,
    /// The scheme of the digest.
    pub(in super::super) scheme: Scheme,
    /// The effect it reports.
    pub(in super::super) effect: Option<EffectName>,
    /// What arrived, by arrival.
    pub(in super::super) sides: Vec<Side>,
    /// The same as they are stored, where they were shown.
    pub(in super::super) stored: Vec<Submitted>,
    /// Whether it is held and in no conflict.
    pub(in super::super) held: bool,
    /// Whether the effect it reports is committed by it: it happened.
    pub(in super::super) done: bool,
    /// Where it was judged: whether it was upheld.
    pub(in super::super) upheld: Option<bool>,
}

impl Column {
    /// The arrival it is named by.
    pub(in super::super) fn arrival(&self) -> u64 {
        self.sides.first().map_or(0, |side| side.arrival)
    }

    /// `3 deliveries`, repeats counted; `2 submissions` where the repeats are not known here.
    pub(in super::super) fn times(&self) -> String {
        let told = |many: u64, one: &str, more: &str| match many {
            1 => format!("1 {one}"),
            many => format!("{many} {more}"),
        };
        if self.stored.is_empty() {
            return told(self.sides.len() as u64, "submission", "submissions");
        }
        told(self.stored.iter().map(|one| one.deliveries).sum(), "delivery", "deliveries")
    }

    /// Every reference that one of its submissions gives, each once.
    pub(in super::super) fn evidence(&self) -> Vec<&EvidenceRef> {
        let mut all: Vec<&EvidenceRef> = Vec::new();
        for one in self.sides.iter().flat_map(|side| &side.evidence_refs) {
            if !all.contains(&one) {
                all.push(one);
            }
        }
        all
    }

    /// How its content was checked when it arrived; the worst of its submissions.
    pub(in super::super) fn verification(&self) -> Verification {
        let all = || self.sides.iter().map(|side| side.verification);
        let has = |wanted| all().any(|one| one == wanted);
        if has(Verification::Mismatch) {
            Verification::Mismatch
        } else if has(Verification::NotFetched) {
            Verification::NotFetched
        } else {
            Verification::Verified
        }
    }

    /// Whether one of these arrivals is its.
    pub(in super::super) fn holds(&self, arrival: u64) -> bool {
        self.sides.iter().any(|side| side.arrival == arrival)
    }
}

/// The sets of a task: those in conflict in the order the task keeps them, then what is held beside them.
pub(in super::super) fn sets(shown: &Shown) -> Vec<Set> {
    sets_with(shown, &[])
}

/// The same; for a task that is decided, with the submissions that were `judged`: they are its sides, also where
/// the task does not keep them any more.
pub(super) fn sets_with(shown: &Shown, judged: &[Submitted]) -> Vec<Set> {
    let stored: Vec<&Submitted> = shown.candidates.iter().chain(&shown.held_messages).chain(judged).collect();
    let mut sides: Vec<Side> = shown.candidate_set.sides().cloned().collect();
    if sides.is_empty() {
        sides.extend(judged.iter().map(|one| Side::of(&shown.task.task_id, &one.submission)));
    }
    sides.sort_by_key(|side| side.arrival);
    sides.dedup_by_key(|side| side.arrival);
    let last = super::judged::decision(shown);
    let in_set = shown.candidate_set.held.iter().map(|side| side.arrival);
    let held: BTreeSet<u64> = in_set.chain(last.iter().flat_map(|last| last.held.iter().copied())).collect();
    let judged = shown.task.judged.as_ref().and_then(|judged| judged.review.as_ref());
    let conflicts = shown.task.review.as_ref().or(judged).map(|review| review.sets.as_slice());
    let mut sets: Vec<Set> = Vec::new();
    for conflict in conflicts.unwrap_or_default() {
        sets.push(Set {
            intent: Intent {
                task_id: shown.task.task_id.clone(),
                class: conflict.class,
                idempotency_key: conflict.idempotency_key.clone(),
            },
            conflict: Some(conflict.clone()),
            columns: Vec::new(),
        });
    }
    for side in &sides {
        let one = stored.iter().find(|one| one.submission.arrival == side.arrival).copied();
        let held = held.contains(&side.arrival);
        let mut placed = false;
        // What contradicts something done under another key names it: it is a side of both.
        for set in sets.iter_mut().filter(|set| set.is_about(side)) {
            add(set, side, one, held);
            placed = true;
        }
        if !placed {
            let mut set = Set { intent: side.intent.clone(), conflict: None, columns: Vec::new() };
            add(&mut set, side, one, held);
            sets.push(set);
        }
    }
    sets.retain(|set| !set.columns.is_empty());
    for column in sets.iter_mut().flat_map(|set| &mut set.columns).filter(|_| last.is_some()) {
        let judged =
            |side: &Side| last.is_some_and(|last| super::judged::judged(last).any(|a| a == side.arrival));
        let stands = |side: &Side| last.is_some_and(|last| last.upheld.contains(&side.arrival));
        if column.sides.iter().any(judged) {
            column.upheld = Some(column.sides.iter().any(stands));
        }
    }
    sets
}

impl Set {
    fn is_about(&self, side: &Side) -> bool {
        let named = |conflict: &ConflictSet| conflict.candidates.contains(&side.arrival);
        self.intent == side.intent || self.conflict.as_ref().is_some_and(named)
    }
}

fn add(set: &mut Set, side: &Side, stored: Option<&Submitted>, held: bool) {
    let effect = stored.and_then(|one| one.submission.effect.clone());
    let committed = set.conflict.as_ref().and_then(|conflict| conflict.effect.as_ref());
    let done = committed.is_some_and(|done| done.arrival == Some(side.arrival));
    let same = |column: &&mut Column| {
        (column.kind, column.digest, column.scheme) == (side.kind, side.payload_digest, side.digest_scheme)
            && column.effect == effect
            && column.done == done
    };
    let stored = stored.cloned();
    match set.columns.iter_mut().find(same) {
        Some(column) => {
            column.sides.push(side.clone());
            column.stored.extend(stored);
            column.held &= held;
        }
        None => set.columns.push(Column {
            label: label(set.columns.len()),
            kind: side.kind,
            digest: side.payload_digest,
            scheme: side.digest_scheme,
            effect,
            sides: vec![side.clone()],
            stored: stored.into_iter().collect(),
            held,
            done,
            upheld: None,
        }),
    }
}

/// `A` to `Z`, then `AA`.
pub(in super::super) fn label(at: usize) -> String {
    let letter = char::from(b'A' + u8::try_from(at % 26).unwrap_or(0));
    match at / 26 {
        0 => letter.to_string(),
        more => format!("{}{letter}", label(more - 1)),
    }
}

/// The arrivals whose claimed time cannot be: earlier than that of something that came before them, or after
/// they were received.
pub(in super::super) fn contradicted(columns: &[Column]) -> BTreeSet<u64> {
    let mut all: Vec<&Submitted> = columns.iter().flat_map(|column| &column.stored).collect();
    all.sort_by_key(|one| one.submission.arrival);
    let mut latest = None;
    let mut wrong = BTreeSet::new();
    for one in all {
        let one = &one.submission;
        if latest.is_some_and(|latest| one.created_at < latest) || one.created_at > one.received_at {
            wrong.insert(one.arrival);
        }
        latest = latest.max(Some(one.created_at));
    }
    wrong
}

/// Whether another side rests on something of the same name with another digest.
pub(in super::super) fn disputed(one: &EvidenceRef, own: &Column, columns: &[Column]) -> bool {
    let others = columns.iter().filter(|column| column.label != own.label);
    let same = others.flat_map(|column| column.evidence()).filter(|other| other.uri() == one.uri());
    let own_differs = own.evidence().into_iter().any(|o| o.uri() == one.uri() && o.digest() != one.digest());
    own_differs || same.into_iter().any(|other| other.digest() != one.digest())
}
