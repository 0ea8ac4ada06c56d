//! The runtime's side of a task: moves, leases, effects and gates (contract sections 5, 9 and 10).

use super::actor::Operation;
use super::admission::{apply_held, effect_conflict, freeze};
use super::command::{Command, Context, Draft, EffectOutcome, Reply, Request, Rules, Transition, Verdict};
use super::digest::{Digest, Scheme};
use super::envelope::{Class, EffectName};
use super::event::{ConflictSet, What};
use super::failure::{Failure, FailureKind};
use super::ids::TaskId;
use super::interruption::{Interruption, Question};
use super::refusal::Refusal;
use super::shell::is_left_open;
use super::task::{By, Task, TaskState};

/// The longest lease: a worker that needs more renews.
const MAX_TTL_MS: i64 = 7 * 24 * 3_600_000;

/// Runs a runtime command.
///
/// # Errors
/// The refusal; nothing is to be written.
pub(super) fn run(ctx: &Context, request: &Request, rules: &Rules) -> Result<Verdict, Refusal> {
    let not_found = || Refusal::TaskNotFound {
        task_id: request.command.task_id().map(|TaskId(id)| id).unwrap_or_default(),
    };
    let task = ctx.task.as_ref().ok_or_else(not_found)?;
    let runtime = Runtime { ctx, task, request, rules };
    match &request.command {
        Command::Transition(t) => runtime.transition(t),
        Command::Claim { worker, ttl_ms, .. } => runtime.claim(worker, *ttl_ms),
        Command::Renew { lease_version, ttl_ms, .. } => runtime.renew(*lease_version, *ttl_ms),
        Command::Release { lease_version, reason, .. } => runtime.release(*lease_version, reason),
        Command::Reserve { effect, lease_version, .. } => runtime.reserve(effect, *lease_version),
        Command::Commit { effect, digest, scheme, lease_version, .. } => {
            runtime.commit(effect, *digest, *scheme, *lease_version)
        }
        Command::Void { effect, expected_version, reason, .. } => {
            runtime.void(effect, *expected_version, reason)
        }
        Command::Gate { reason, .. } => runtime.gate(reason),
        Command::Admit(_) | Command::Decide(_) => {
            Err(Refusal::Invalid { why: "not a runtime command".into() })
        }
    }
}

struct Runtime<'a> {
    ctx: &'a Context,
    task: &'a Task,
    request: &'a Request,
    rules: &'a Rules,
}

/// Where a task can be moved from a state, for whoever asked for another.
fn ways_on(state: TaskState) -> String {
    let moved = |to: &TaskState| matches!(state.step(*to), Some(By::Runtime | By::Authority));
    let ways: Vec<&str> = TaskState::ALL.into_iter().filter(moved).map(TaskState::as_str).collect();
    match ways.as_slice() {
        [] if state.is_terminal() => "it is over".to_owned(),
        [] => "only a decision moves it on".to_owned(),
        ways => format!("it can be moved to {}", ways.join(", ")),
    }
}

impl Runtime<'_> {
    fn permit(&self, operation: Operation, role: &str) -> Result<(), Refusal> {
        if self.request.principal.may(operation, Some(self.task.subject())) {
            return Ok(());
        }
        let subject = &self.request.principal.subject;
        Err(Refusal::Forbidden { why: format!("{subject:?} needs the role {role} for this task") })
    }

    fn draft(&self) -> Draft {
        Draft::on(self.task, self.request.now)
    }

    fn moved(draft: Draft) -> Verdict {
        let (state, state_version) = (draft.task().state, draft.task().state_version);
        draft.done(Reply::Moved { state, state_version })
    }

    fn reason(&self, reason: &str) -> Result<String, Refusal> {
        let reason = reason.trim();
        let limit = self.rules.limits.text_bytes;
        if reason.is_empty() || is_left_open(reason) {
            return Err(Refusal::ReasonTooShort { minimum: 1 });
        }
        if reason.len() > limit {
            return Err(Refusal::Invalid {
                why: format!("the reason has {} bytes, the limit is {limit}", reason.len()),
            });
        }
        Ok(reason.to_owned())
    }

    fn as_seen(&self, expected: u64) -> Result<(), Refusal> {
        let current = self.task.state_version;
        if expected == current { Ok(()) } else { Err(Refusal::StaleVersion { expected, current }) }
    }

    fn transition(&self, t: &Transition) -> Result<Verdict, Refusal> {
        let canceling = t.to == TaskState::Canceled;
        if canceling {
            self.permit(Operation::Cancel, "operator")?;
        } else {
            self.permit(Operation::Transition, "worker")?;
        }
        self.as_seen(t.expected_version)?;
        let reason = self.reason(&t.reason)?;
        let illegal = |why: Option<&str>| Refusal::IllegalTransition {
            from: self.task.state,
            to: t.to,
            why: why.map(str::to_owned),
        };
        match self.task.state.step(t.to) {
            Some(By::Runtime) if !canceling => {}
            Some(By::Authority) if canceling => {}
            Some(By::Record) => return Err(illegal(Some("this step needs a decision: `tribunal decide`"))),
            Some(By::Conflict) => return Err(illegal(Some("only a contradiction leads there"))),
            _ => return Err(illegal(Some(&ways_on(self.task.state)))),
        }
        let mut draft = self.draft();
        self.step(&mut draft, t, &reason);
        Ok(Self::moved(draft))
    }

    fn step(&self, draft: &mut Draft, t: &Transition, reason: &str) {
        let executor = self.request.principal.subject.clone();
        if t.to == TaskState::Failed {
            draft.push(What::Failed(Failure { kind: FailureKind::Failed, message: Some(reason.to_owned()) }));
        }
        draft.bump(What::Moved {
            from: self.task.state,
            to: t.to,
            reason: reason.to_owned(),
            executor: executor.clone(),
            lease_version: self.task.lease.as_ref().map(|_| self.task.lease_version),
            retry_at: t.retry_at,
        });
        match t.to {
            TaskState::Running => apply_held(draft, &self.ctx.of_task, &self.ctx.committed),
            TaskState::WaitingHuman => {
                // A person must have something to answer, so the reason becomes the question.
                let question = Question::plain(reason.to_owned());
                let version = self.task.questions + 1;
                let id = format!("r{}", self.task.revision + 1);
                let asked = Interruption::open(id, version, question, executor, self.request.now);
                draft.bump_once(What::Asked(Box::new(asked)));
            }
            _ => {}
        }
    }

    fn ttl(ttl_ms: i64) -> Result<i64, Refusal> {
        if (1..=MAX_TTL_MS).contains(&ttl_ms) {
            return Ok(ttl_ms);
        }
        Err(Refusal::Invalid { why: "a lease lasts from 1 ms to 7 days".into() })
    }

    fn claim(&self, worker: &str, ttl_ms: i64) -> Result<Verdict, Refusal> {
        self.permit(Operation::Work, "worker")?;
        let expires_at = self.request.now.plus(Self::ttl(ttl_ms)?);
        if worker.is_empty() || worker.len() > self.rules.limits.id_bytes {
            return Err(Refusal::Invalid { why: "a worker has a name of 1 to 256 bytes".into() });
        }
        if let Some(lease) = &self.task.lease {
            let lease_version = self.task.lease_version;
            return Err(Refusal::AlreadyClaimed { worker: lease.worker.clone(), lease_version });
        }
        if self.task.state != TaskState::Ready {
            let (from, to) = (self.task.state, TaskState::Running);
            return Err(Refusal::IllegalTransition {
                from,
                to,
                why: Some("only a ready task can be claimed".into()),
            });
        }
        let lease_version = self.task.lease_version + 1;
        let mut draft = self.draft();
        draft.push(What::Claimed { worker: worker.to_owned(), lease_version, expires_at });
        draft.bump(What::Moved {
            from: TaskState::Ready,
            to: TaskState::Running,
            reason: "claim".into(),
            executor: worker.to_owned(),
            lease_version: Some(lease_version),
            retry_at: None,
        });
        apply_held(&mut draft, &self.ctx.of_task, &self.ctx.committed);
        Ok(Self::leased(draft, lease_version, expires_at))
    }

    fn leased(draft: Draft, lease_version: u64, expires_at: super::ids::Timestamp) -> Verdict {
        let (state, state_version) = (draft.task().state, draft.task().state_version);
        draft.done(Reply::Leased { lease_version, state_version, expires_at, state })
    }

    /// The lease must be held and be the one named; an expired one that nobody took away still is.
    fn holding(&self, lease: u64) -> Result<(), Refusal> {
        let held = self.task.lease.is_some();
        if held && self.task.is_current_lease(lease) {
            return Ok(());
        }
        Err(Refusal::StaleLease { lease, current: held.then_some(self.task.lease_version) })
    }

    fn renew(&self, lease_version: u64, ttl_ms: i64) -> Result<Verdict, Refusal> {
        self.permit(Operation::Work, "worker")?;
        let expires_at = self.request.now.plus(Self::ttl(ttl_ms)?);
        self.holding(lease_version)?;
        let mut draft = self.draft();
        draft.push(What::Renewed { lease_version, expires_at });
        Ok(Self::leased(draft, lease_version, expires_at))
    }

    fn release(&self, lease_version: u64, reason: &str) -> Result<Verdict, Refusal> {
        self.permit(Operation::Release, "operator")?;
        self.holding(lease_version)?;
        let reason = self.reason(reason)?;
        let executor = self.request.principal.subject.clone();
        let mut draft = self.draft();
        draft.push(What::Released { lease_version, executor: executor.clone(), reason: reason.clone() });
        draft.bump(What::Moved {
            from: self.task.state,
            to: TaskState::RetryWait,
            reason,
            executor,
            lease_version: Some(lease_version),
            retry_at: None,
        });
        Ok(Self::moved(draft))
    }

    fn effect_reply(draft: Draft, outcome: EffectOutcome) -> Verdict {
        let (state, state_version) = (draft.task().state, draft.task().state_version);
        draft.done(Reply::Effect { outcome, state, state_version })
    }

    fn effect_unchanged(&self, outcome: EffectOutcome) -> Verdict {
        let (state, state_version) = (self.task.state, self.task.state_version);
        Verdict::Unchanged(Reply::Effect { outcome, state, state_version })
    }

    fn effect_name(&self, effect: &EffectName) -> Result<(), Refusal> {
        let fits = |s: &str| !s.is_empty() && s.len() <= self.rules.limits.id_bytes && !s.contains('\0');
        if fits(&effect.key) && fits(&effect.target) {
            return Ok(());
        }
        Err(Refusal::Invalid { why: "an effect has a key and a target of 1 to 256 bytes each".into() })
    }

    fn reserve(&self, effect: &EffectName, lease: Option<u64>) -> Result<Verdict, Refusal> {
        self.permit(Operation::Work, "worker")?;
        self.effect_name(effect)?;
        match lease {
            Some(lease) => self.holding(lease)?,
            None if self.task.lease.is_some() => {
                return Err(Refusal::StaleLease { lease: 0, current: Some(self.task.lease_version) });
            }
            None => {}
        }
        if self.task.state != TaskState::Running {
            let why = format!("an effect is reserved while the task runs; it is {}", self.task.state);
            return Err(Refusal::EffectConflict { key: effect.key.clone(), why });
        }
        let conflict = |why: String| Refusal::EffectConflict { key: effect.key.clone(), why };
        if self.ctx.committed.iter().any(|c| c.effect == *effect) {
            return Ok(self.effect_unchanged(EffectOutcome::AlreadyCommitted));
        }
        let same_or_clash = |e: &EffectName| e.key == effect.key || e.target == effect.target;
        if let Some(c) = self.ctx.committed.iter().find(|c| same_or_clash(&c.effect)) {
            return Err(conflict(format!(
                "committed as key {:?} for target {:?}",
                c.effect.key, c.effect.target
            )));
        }
        if let Some(r) = self.task.reservations.iter().find(|r| same_or_clash(&r.effect)) {
            let again = r.effect == *effect && r.lease_version == lease && r.unknown_since.is_none();
            if again {
                return Ok(self.effect_unchanged(EffectOutcome::Reserved));
            }
            return Err(conflict(
                "was reserved before and nobody knows whether it happened: find out first".into(),
            ));
        }
        if self.task.reservations.len() >= self.rules.limits.open_per_task {
            return Err(conflict(format!(
                "{} reservations are open, settle them first",
                self.task.reservations.len()
            )));
        }
        let mut draft = self.draft();
        let executor = self.request.principal.subject.clone();
        draft.push(What::Reserved { effect: effect.clone(), lease_version: lease, executor });
        Ok(Self::effect_reply(draft, EffectOutcome::Reserved))
    }

    fn commit(
        &self,
        effect: &EffectName,
        digest: Digest,
        scheme: Scheme,
        lease: Option<u64>,
    ) -> Result<Verdict, Refusal> {
        self.permit(Operation::Work, "worker")?;
        self.effect_name(effect)?;
        // A commit reports what happened already: a lease that ended meanwhile does not undo it, a wrong one is refused.
        if let Some(lease) = lease.filter(|l| *l > self.task.lease_version) {
            return Err(Refusal::StaleLease { lease, current: Some(self.task.lease_version) });
        }
        let common = (scheme == Scheme::JcsSha256V1).then_some(digest);
        if let Some((why, committed)) =
            effect_conflict(self.task, &self.ctx.committed, effect, (digest, scheme, common))
        {
            let mut draft = self.draft();
            let why = format!("commit of effect {:?} with {digest}: {why}", effect.key);
            let set = ConflictSet {
                class: Class::Receipt,
                idempotency_key: effect.key.clone(),
                candidates: committed.iter().filter_map(|c| c.arrival).collect(),
                judged_before: None,
                effect: committed,
                why,
            };
            let what = What::Contradicted { effect: effect.clone(), digest, scheme, conflict: Box::new(set) };
            if self.task.state == TaskState::NeedsReview {
                draft.bump(what);
            } else {
                draft.push(what);
                freeze(&mut draft, &self.request.principal.subject, "conflict");
            }
            return Ok(Self::effect_reply(draft, EffectOutcome::Conflict));
        }
        if self.ctx.committed.iter().any(|c| c.effect == *effect) {
            return Ok(self.effect_unchanged(EffectOutcome::AlreadyCommitted));
        }
        let mut draft = self.draft();
        draft.push(What::Committed { effect: effect.clone(), digest, scheme, common, arrival: None });
        Ok(Self::effect_reply(draft, EffectOutcome::Committed))
    }

    /// Only of an effect whose fate is unknown: while its lease is held, the worker may be about to do it. The expected
    /// version keeps it from meeting a later announcement under the same key.
    fn void(&self, effect: &EffectName, expected_version: u64, reason: &str) -> Result<Verdict, Refusal> {
        self.permit(Operation::VoidEffect, "operator")?;
        self.as_seen(expected_version)?;
        let no = |why: &str| Err(Refusal::EffectConflict { key: effect.key.clone(), why: why.to_owned() });
        match self.task.reservations.iter().find(|r| r.effect == *effect) {
            None => return no("nothing is announced under this key for this target"),
            Some(r) if r.unknown_since.is_none() => {
                return no("whoever announced it may still do it: release the lease or move the task first");
            }
            Some(_) if self.task.state.waits_for_a_record() => {
                return no("the task waits for a decision, which may rest on it: decide first");
            }
            Some(_) => {}
        }
        let reason = self.reason(reason)?;
        let executor = self.request.principal.subject.clone();
        let mut draft = self.draft();
        draft.push(What::Voided { effect: effect.clone(), executor, reason });
        Ok(Self::effect_reply(draft, EffectOutcome::Voided))
    }

    fn gate(&self, reason: &str) -> Result<Verdict, Refusal> {
        self.permit(Operation::Gate, "operator")?;
        let reason = self.reason(reason)?;
        let executor = self.request.principal.subject.clone();
        let mut draft = self.draft();
        draft.push(What::Failed(Failure { kind: FailureKind::Unacceptable, message: Some(reason.clone()) }));
        draft.push(What::GateFailed { executor, reason });
        Ok(Self::moved(draft))
    }
}
