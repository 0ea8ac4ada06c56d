//! Tells a story: envelopes and the runtime's steps, in the order they stand in a file.

use super::shift::Shift;
use crate::cli::failure::Failure;
use crate::cli::runtime::{digest, duration, state};
use crate::coordinator::{Coordinator, Incoming};
use crate::domain::command::{Command, Transition};
use crate::domain::decision::{Decision, Input, Part};
use crate::domain::digest::Scheme;
use crate::domain::envelope::EffectName;
use crate::domain::ids::{TaskId, Timestamp};
use crate::domain::task::TaskState;
use anyhow::{Context as _, anyhow};
use serde::Deserialize;
use serde_json::Value;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

/// Something that is not a message: what a verb of the same name would do.
#[derive(Debug, Deserialize)]
#[serde(tag = "step", rename_all = "snake_case", deny_unknown_fields)]
enum Step {
    /// It is this moment now.
    Clock { at: Timestamp },
    /// Bytes that arrive as a message, whatever they are.
    Raw { text: String },
    /// `transition`; the version is the present one.
    Transition { task: String, to: String, reason: String, retry_at: Option<Timestamp> },
    /// `claim`
    Claim { task: String, worker: String, ttl: String },
    /// `renew`; the lease is the present one.
    Renew { task: String, ttl: String },
    /// `release`; the lease is the present one.
    Release { task: String, reason: String },
    /// `reserve-effect`; under the present lease, where there is one and none is named.
    ReserveEffect { task: String, key: String, target: String, lease: Option<u64> },
    /// `commit-effect`; likewise.
    CommitEffect { task: String, key: String, target: String, digest: String, lease: Option<u64> },
    /// `gate --fail`
    Gate { task: String, reason: String },
    /// `decide`; what is open now is what was seen.
    Decide {
        task: String,
        decision: String,
        #[serde(default)]
        uphold: Vec<u64>,
        reason: String,
        /// `latest` corrects the task's last record.
        supersedes: Option<Latest>,
    },
    /// `answer`; the open question is the one that is answered.
    Answer { task: String, data: Option<Value>, text: Option<String>, approved: Option<bool>, reason: String },
}

/// The lines of a story, each with its number.
pub(super) fn lines(story: &str) -> Vec<(usize, &str)> {
    (1..).zip(story.lines()).filter(|(_, line)| !line.trim().is_empty()).collect()
}

/// The lines of a story by the task they are about, each with the time it happened at: tasks that have nothing to do
/// with each other can be told at once.
pub(super) fn by_task(story: &str) -> Vec<Vec<(usize, &str)>> {
    let mut told: Vec<Vec<(usize, &str)>> = Vec::new();
    let mut known: HashMap<String, usize> = HashMap::new();
    let mut clock = None;
    for (number, line) in lines(story) {
        let value: Value = serde_json::from_str(line).unwrap_or_default();
        if value.get("step").is_some_and(|step| step == "clock") {
            clock = Some((number, line));
            continue;
        }
        let task = value.get("task").or(value.get("task_id")).and_then(Value::as_str).unwrap_or_default();
        let at = *known.entry(task.to_owned()).or_insert(told.len());
        if at == told.len() {
            told.push(Vec::new());
        }
        if let Some(own) = told.get_mut(at) {
            own.extend(clock);
            own.push((number, line));
        }
    }
    told
}

/// What is decided, without what was seen.
struct Judged {
    to: TaskState,
    upheld: Vec<u64>,
    input: Option<Input>,
    reason: String,
}

/// The task's last record.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Latest {
    Latest,
}

/// What time it is in the story.
pub(super) type Told = Arc<AtomicI64>;

/// Tells stories to a coordinator, whose clock it sets.
pub(super) struct Teller<'c> {
    to: &'c dyn Coordinator,
    clock: Told,
    shift: Shift,
    waiting: Vec<Incoming>,
    messages: usize,
}

impl<'c> Teller<'c> {
    pub(super) fn new(to: &'c dyn Coordinator, clock: Told, shift: Shift) -> Self {
        Teller { to, clock, shift, waiting: Vec::new(), messages: 0 }
    }

    /// Tells lines of the story in this file, each with its number.
    pub(super) async fn tell(&mut self, name: &str, lines: &[(usize, &str)]) -> Result<(), Failure> {
        for (number, line) in lines {
            let place = format!("{name}:{number}");
            let is_step = serde_json::from_str::<Value>(line).is_ok_and(|v| v.get("step").is_some());
            if !is_step {
                let moved = self.shift.message(line).with_context(|| place.clone())?;
                self.waiting.push(Incoming { raw: moved.into_bytes().into(), source: place, whole: None });
                continue;
            }
            let step: Step = serde_json::from_str(line).with_context(|| place.clone())?;
            if let Step::Raw { text } = step {
                self.waiting.push(Incoming { raw: text.into_bytes().into(), source: place, whole: None });
                continue;
            }
            self.deliver().await?;
            self.take(step).await.map_err(|e| match e.message() {
                Some(message) => Failure::Broken(anyhow!("{place}: {message}")),
                None => e,
            })?;
        }
        self.deliver().await
    }

    /// How many messages were delivered.
    pub(super) fn finish(self) -> usize {
        self.messages
    }

    async fn deliver(&mut self) -> Result<(), Failure> {
        let messages = std::mem::take(&mut self.waiting);
        self.messages += messages.len();
        if !messages.is_empty() {
            self.to.admit(messages).await?;
        }
        Ok(())
    }

    async fn take(&self, step: Step) -> Result<(), Failure> {
        let usage = Failure::Usage;
        let command = match step {
            Step::Clock { at } => {
                self.clock.store(self.shift.moment(at).0, Ordering::Relaxed);
                return Ok(());
            }
            Step::Raw { .. } => return Ok(()),
            Step::Transition { task, to, reason, retry_at } => {
                let task_id = TaskId(task);
                let expected_version = self.to.show(&task_id).await?.task.state_version;
                let to = state(&to).map_err(usage)?;
                let retry_at = retry_at.map(|at| self.shift.moment(at));
                Command::Transition(Transition { task_id, to, expected_version, reason, retry_at })
            }
            Step::Claim { task, worker, ttl } => {
                Command::Claim { task_id: TaskId(task), worker, ttl_ms: duration(&ttl).map_err(usage)? }
            }
            Step::Renew { task, ttl } => {
                let (task_id, ttl_ms) = (TaskId(task), duration(&ttl).map_err(usage)?);
                let lease_version = self.to.show(&task_id).await?.task.lease_version;
                Command::Renew { task_id, lease_version, ttl_ms }
            }
            Step::Release { task, reason } => {
                let task_id = TaskId(task);
                let lease_version = self.to.show(&task_id).await?.task.lease_version;
                Command::Release { task_id, lease_version, reason }
            }
            Step::ReserveEffect { task, key, target, lease } => {
                let task_id = TaskId(task);
                let lease_version = self.lease(&task_id, lease).await?;
                Command::Reserve { task_id, effect: EffectName { key, target }, lease_version }
            }
            Step::CommitEffect { task, key, target, digest: given, lease } => {
                let (task_id, digest) = (TaskId(task), digest(&given).map_err(usage)?);
                let lease_version = self.lease(&task_id, lease).await?;
                let (effect, scheme) = (EffectName { key, target }, Scheme::JcsSha256V1);
                Command::Commit { task_id, effect, digest, scheme, lease_version }
            }
            Step::Gate { task, reason } => Command::Gate { task_id: TaskId(task), reason },
            Step::Decide { task, decision, uphold, reason, supersedes } => {
                let judged =
                    Judged { to: state(&decision).map_err(usage)?, upheld: uphold, input: None, reason };
                return self.decide(TaskId(task), judged, supersedes).await;
            }
            Step::Answer { task, data, text, approved, reason } => {
                let parts = data.map(Part::Data).into_iter().chain(text.map(Part::Text)).collect();
                let input = Input { parts, schema_digest: None, approved };
                let judged = Judged { to: TaskState::Ready, upheld: Vec::new(), input: Some(input), reason };
                return self.decide(TaskId(task), judged, None).await;
            }
        };
        self.to.run(command).await?;
        Ok(())
    }

    async fn lease(&self, id: &TaskId, named: Option<u64>) -> Result<Option<u64>, Failure> {
        if named.is_some() {
            return Ok(named);
        }
        let task = self.to.show(id).await?.task;
        Ok(task.lease.as_ref().map(|_| task.lease_version))
    }

    async fn decide(&self, task_id: TaskId, judged: Judged, corrects: Option<Latest>) -> Result<(), Failure> {
        let Judged { to: decision, upheld, input, reason } = judged;
        let shown = self.to.show(&task_id).await?;
        let open = shown.task.interruption.as_ref();
        let input = input.map(|mut input| {
            input.schema_digest = open.and_then(|i| i.schema_digest).filter(|_| !input.parts.is_empty());
            input
        });
        let interruption = open.map(|i| i.id.clone());
        let decision = Decision {
            task_id,
            decision,
            expected_version: shown.task.state_version,
            candidate_set_digest: shown.candidate_set_digest,
            interruption,
            upheld,
            resume: None,
            reason,
            evidence_opened: Vec::new(),
            input,
            supersedes: corrects.and(shown.task.decided.as_ref().map(|last| last.approval_id.clone())),
            idempotency_key: String::new(),
            approval_id: String::new(),
            masked: Vec::new(),
        };
        self.to.decide(decision).await?;
        Ok(())
    }
}
