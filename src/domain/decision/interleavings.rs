//! A model check: two reviewers, a worker and late messages, in every order in which their steps can fall.
//!
//! Each actor is a list of steps that happen in order; a reviewer first looks and later decides on what it saw. Every
//! interleaving of all actors is played on the real rules, and the invariants are asserted after every step,
//! the ledger's chain at the end of each.

use super::Decision;
use crate::domain::refusal::Refusal;
use crate::domain::task::TaskState as S;
use crate::domain::testing::{World, message};
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Clone, Copy, Debug)]
enum Step {
    /// Reviewer `n` reads the task and makes up their mind.
    Look(usize, S),
    /// Reviewer `n` sends what they made up.
    Send(usize),
    /// The worker takes the task if it can.
    Claim,
    /// The worker reports what the latest record upholds, or a new result under the resume key.
    Report,
    /// A further candidate arrives.
    Candidate(i64),
    /// A failure under a new key arrives.
    Failure,
}

#[derive(Clone)]
struct Play {
    world: World,
    minds: [Option<Decision>; 2],
    told: BTreeMap<usize, Result<u64, Refusal>>,
    candidates: BTreeSet<u64>,
}

impl Play {
    fn take(&mut self, step: Step) {
        let w = &mut self.world;
        match step {
            Step::Look(n, to) => {
                let mut d = w.decision(to);
                d.idempotency_key = format!("reviewer-{n}");
                d.approval_id = format!("A-{n}");
                d.upheld = w
                    .set()
                    .candidates
                    .first()
                    .filter(|_| to == S::Ready)
                    .map(|c| c.arrival)
                    .into_iter()
                    .collect();
                self.minds[n] = Some(d);
            }
            Step::Send(n) => {
                let d = self.minds[n].clone().expect("looked before");
                let version = d.expected_version;
                let seen = d.candidate_set_digest;
                let stored = w.set().digest().ok();
                let told = w.decide(d).map(|r| r.sequence);
                if told.is_ok() {
                    assert_eq!(seen, stored, "a decision judges exactly what was looked at");
                    assert!(w.records.iter().filter(|r| r.state_version_before == version).count() == 1);
                }
                self.told.insert(n, told);
            }
            Step::Claim => drop(w.claim("agent-w")),
            Step::Report => {
                let upheld = w.task().decided.as_ref().and_then(|d| d.upheld.first().copied());
                let value = match upheld {
                    Some(2) => json!({"revenue": 1}),
                    Some(_) => json!({"revenue": 2}),
                    None => json!({"revenue": 77}),
                };
                let key = if upheld.is_some() { "k" } else { "fresh" };
                w.admit(&message("task_result", "M-w", key, value, json!({"sender": "agent-w"})));
            }
            Step::Candidate(value) => {
                let id = format!("M-c{value}");
                w.admit(&message(
                    "task_result",
                    &id,
                    "k",
                    json!({"revenue": value}),
                    json!({"sender": "agent-c"}),
                ));
            }
            Step::Failure => {
                drop(w.admit(&message("task_failure", "M-f", "kf", json!({}), json!({"sender": "agent-f"}))))
            }
        }
        self.check();
    }

    fn check(&mut self) {
        let w = &self.world;
        w.check_logs();
        let open: BTreeSet<u64> = w.task().review.iter().flat_map(|r| r.candidates()).collect();
        let judged: BTreeSet<u64> =
            w.records.iter().flat_map(|r| r.candidates.iter().map(|c| c.arrival)).collect();
        self.candidates.extend(&open);
        let kept: BTreeSet<u64> = open.union(&judged).copied().collect();
        assert_eq!(kept, self.candidates, "a candidate is open or in a record, never lost");
    }

    fn end(&self) {
        self.world.check();
        let decided = self.told.values().filter(|t| t.is_ok()).count();
        assert_eq!(
            decided,
            self.world.records.len(),
            "no reply said success for an absent record, and none is silent"
        );
        for told in self.told.values().filter_map(|t| t.as_ref().err()) {
            assert!(
                matches!(
                    told.code(),
                    "already_decided" | "stale_version" | "candidate_set_changed" | "not_upholdable"
                ),
                "a loser is told that it lost: {told}"
            );
        }
    }
}

fn play(play: &Play, actors: &mut [&[Step]], runs: &mut u64) {
    let mut over = true;
    for i in 0..actors.len() {
        let Some((step, rest)) = actors[i].split_first() else { continue };
        over = false;
        let mut next = play.clone();
        next.take(*step);
        let before = std::mem::replace(&mut actors[i], rest);
        self::play(&next, actors, runs);
        actors[i] = before;
    }
    if over {
        play.end();
        *runs += 1;
    }
}

fn explore(actors: &mut [&[Step]]) -> u64 {
    let start = Play {
        world: World::conflicted(),
        minds: [None, None],
        told: BTreeMap::new(),
        candidates: BTreeSet::new(),
    };
    let mut runs = 0;
    play(&start, actors, &mut runs);
    runs
}

#[test]
fn two_reviewers_a_worker_and_late_messages() {
    let runs = explore(&mut [
        &[Step::Look(0, S::Ready), Step::Send(0)],
        &[Step::Look(1, S::Canceled), Step::Send(1)],
        &[Step::Claim, Step::Report],
        &[Step::Candidate(3)],
        &[Step::Failure],
    ]);
    assert_eq!(runs, 5040, "8! / (2! 2! 2!)");
}

#[test]
fn two_reviewers_who_both_uphold_and_two_candidates() {
    let runs = explore(&mut [
        &[Step::Look(0, S::Ready), Step::Send(0)],
        &[Step::Look(1, S::Ready), Step::Send(1)],
        &[Step::Claim, Step::Report],
        &[Step::Candidate(3), Step::Candidate(4)],
    ]);
    assert_eq!(runs, 2520, "8! / (2! 2! 2! 2!)");
}
