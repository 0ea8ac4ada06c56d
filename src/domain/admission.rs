//! What happens to a message that arrives: every row of contract section 4, tried from the top; the first that fits
//! decides. `docs/admission.md` lists what this file chose where two rows speak of the same message.

mod accept;
#[cfg(test)]
pub(crate) mod tests;

pub(super) use accept::apply_held;

use super::actor::Operation;
use super::command::{Admit, Admitted, Context, Draft, Reply, Request, Rules, Stored, Verdict};
use super::digest::{Digest, Scheme};
use super::envelope::{Class, EffectName, Envelope, Fault, MessageType, Named, Payload, QuarantineReason};
use super::event::{
    Closing, CommittedEffect, ConflictSet, Delivery, Differs, Message, Outcome, Repeat, SchemeChange,
    Submission, Verification, What,
};
use super::refusal::Refusal;
use super::task::{Task, TaskState};

/// Admits one message.
///
/// # Errors
/// [`Refusal::Forbidden`] where the principal may not deliver at all; everything else that is wrong is quarantined.
pub fn admit(ctx: &Context, admit: &Admit, request: &Request, rules: &Rules) -> Result<Verdict, Refusal> {
    let envelope = match &admit.message {
        Ok(envelope) => envelope,
        Err(bad) => return Ok(Verdict::Quarantine(bad.fault.clone())),
    };
    if !request.principal.may(Operation::Submit, ctx.task.as_ref().map(Task::subject)) {
        return Err(Refusal::Forbidden { why: "delivering messages needs the role worker".into() });
    }
    if !request.principal.speaks_for(&envelope.sender) {
        let detail = format!("{:?} is not bound to sender {:?}", request.principal.subject, envelope.sender);
        return Ok(quarantine(envelope, QuarantineReason::SenderMismatch, detail));
    }
    let Some(task) = &ctx.task else { return Ok(create(envelope, request)) };
    if task.trace_id != envelope.trace_id {
        let detail =
            format!("the task's trace is {:?}, the message says {:?}", task.trace_id, envelope.trace_id);
        return Ok(quarantine(envelope, QuarantineReason::TraceMismatch, detail));
    }
    let arrival = Arrival { ctx, task, envelope, request };
    if let Some(limit) = arrival.past_limit(rules) {
        return Ok(quarantine(envelope, QuarantineReason::LimitExceeded, limit));
    }
    Ok(arrival.rows())
}

fn quarantine(envelope: &Envelope, reason: QuarantineReason, detail: String) -> Verdict {
    let named = Named {
        message_id: Some(envelope.message_id.clone()),
        task_id: Some(envelope.task_id.0.clone()),
        sender: Some(envelope.sender.clone()),
    };
    Verdict::Quarantine(Box::new(Fault { reason, detail, named }))
}

/// A message for a task nobody asked for yet: a request begins it, anything else waits in quarantine.
fn create(envelope: &Envelope, request: &Request) -> Verdict {
    let asked = match &envelope.body {
        super::envelope::Body::Request(asked) => asked.clone(),
        _ => {
            let detail =
                "no request for this task has arrived; it is re-admitted by itself when one does".to_owned();
            return quarantine(envelope, QuarantineReason::MissingTask, detail);
        }
    };
    let created = What::Created {
        trace_id: envelope.trace_id.clone(),
        request: asked,
        labels: envelope.labels.clone(),
        digest: envelope.digest,
        scheme: envelope.scheme,
        common: envelope.common,
    };
    let Some(mut draft) = Draft::create(&envelope.task_id, created, request.now) else {
        return quarantine(envelope, QuarantineReason::Malformed, "the task could not be created".into());
    };
    draft.push(What::Delivered(Box::new(delivery(draft.task(), envelope, request, Outcome::Accepted))));
    reply(draft, envelope, Outcome::Accepted, None, None)
}

/// Whether two digests name the same content: under one scheme by themselves, across schemes by the common one.
fn same_content(a: (Digest, Scheme, Option<Digest>), b: (Digest, Scheme, Option<Digest>)) -> bool {
    if a.1 == b.1 { a.0 == b.0 } else { a.2.is_some() && a.2 == b.2 }
}

fn content(envelope: &Envelope) -> (Digest, Scheme, Option<Digest>) {
    (envelope.digest, envelope.scheme, envelope.common)
}

fn committed_content(c: &CommittedEffect) -> (Digest, Scheme, Option<Digest>) {
    (c.digest, c.scheme, c.common)
}

/// What stands against an effect: committed otherwise, or announced otherwise. `docs/admission.md` on the latter.
pub(super) fn effect_conflict(
    task: &Task,
    committed: &[CommittedEffect],
    effect: &EffectName,
    digest: (Digest, Scheme, Option<Digest>),
) -> Option<(String, Option<CommittedEffect>)> {
    for c in committed {
        if c.effect.key == effect.key && c.effect.target != effect.target {
            return Some(("its key is committed for another target".into(), Some(c.clone())));
        }
        if c.effect.key == effect.key && !same_content(committed_content(c), digest) {
            return Some(("its key is committed with another digest".into(), Some(c.clone())));
        }
        if c.effect.key != effect.key && c.effect.target == effect.target {
            return Some(("its target is committed under another key".into(), Some(c.clone())));
        }
    }
    let clashes =
        |r: &&super::task::Reservation| (r.effect.key == effect.key) != (r.effect.target == effect.target);
    let reserved = task.reservations.iter().find(clashes)?;
    let why = format!("key {:?} is reserved for target {:?}", reserved.effect.key, reserved.effect.target);
    Some((why, None))
}

/// The submission's own record of an envelope.
fn delivery(task: &Task, e: &Envelope, request: &Request, outcome: Outcome) -> Delivery {
    let (payload_ref, verification) = match &e.payload {
        Payload::Inline(_) => (None, Verification::Verified),
        Payload::Ref(r) => (Some(r.clone()), Verification::NotFetched),
    };
    Delivery {
        outcome,
        submitted_by: request.principal.subject.clone(),
        id_reused: false,
        message: Message::New(Submission {
            arrival: task.arrivals + 1,
            message_id: e.message_id.clone(),
            sender: e.sender.clone(),
            recipient: e.recipient.clone(),
            class: e.kind.class(),
            idempotency_key: e.idempotency_key.clone(),
            kind: e.kind,
            payload_digest: e.digest,
            digest_scheme: e.scheme,
            common_digest: e.common.filter(|_| e.scheme != Scheme::JcsSha256V1),
            payload_ref,
            verification,
            evidence_refs: e.evidence_refs.clone(),
            lease_version: e.lease_version,
            attempt: e.attempt,
            effect: e.effect.clone(),
            created_at: e.created_at,
            received_at: request.now,
            state_version_at: task.state_version,
            held_body: (outcome == Outcome::Held).then(|| Box::new(e.body.clone())),
        }),
        conflict: None,
    }
}

fn reply(
    draft: Draft,
    e: &Envelope,
    outcome: Outcome,
    duplicate_of: Option<u64>,
    reason: Option<String>,
) -> Verdict {
    let task = draft.task();
    let admitted = Admitted {
        message_id: Some(e.message_id.clone()),
        task_id: Some(e.task_id.0.clone()),
        outcome: outcome.as_str().to_owned(),
        arrival: Some(task.arrivals),
        duplicate_of,
        state: Some(task.state),
        state_version: Some(task.state_version),
        reason,
        quarantine: None,
    };
    draft.done(Reply::Admitted(admitted))
}

/// One message at the door of one task.
struct Arrival<'a> {
    ctx: &'a Context,
    task: &'a Task,
    envelope: &'a Envelope,
    request: &'a Request,
}

/// What a conflict is made of.
struct Clash {
    with: Vec<u64>,
    why: String,
    effect: Option<CommittedEffect>,
    judged_before: Option<String>,
}

impl<'a> Arrival<'a> {
    /// The rows of section 4 below the first, in their order.
    fn rows(&self) -> Verdict {
        let (task, e) = (self.task, self.envelope);
        let same: Vec<&Stored> = self.ctx.same_intent.iter().filter(|s| self.is_same(s)).collect();
        if !same.is_empty() {
            return if self.revives(&same) { self.accept(&same) } else { self.duplicate(&same) };
        }
        if let Some(clash) =
            self.reused_message_id().or_else(|| self.same_intent()).or_else(|| self.other_request())
        {
            return self.conflict(Outcome::Conflict, clash);
        }
        if e.kind.class() == Class::Outcome && !task.may_report(&e.sender, e.lease_version) {
            return self.record(Outcome::StaleLease, false, self.stale_reason());
        }
        if let Some(verdict) = self.effect_rows() {
            return verdict;
        }
        if task.state.is_terminal() {
            return self.record(Outcome::Late, false, format!("the task is {} already", task.state));
        }
        if self.is_legal_now() {
            return self.accept(&[]);
        }
        let judged_later = task.state.waits_for_a_record();
        self.record(Outcome::Held, judged_later, format!("recorded; the task is {}, not running", task.state))
    }

    fn is_same(&self, s: &Stored) -> bool {
        let (e, s) = (self.envelope, &s.submission);
        s.kind == e.kind && s.effect == e.effect && same_content(s.content(), content(e))
    }

    /// Row 2: nothing came of it yet, or the latest record upholds it, and its sender works on the task now.
    fn revives(&self, same: &[&Stored]) -> bool {
        let idle = |s: &&Stored| {
            matches!(s.outcome, Outcome::Held | Outcome::Late | Outcome::StaleLease)
                && !s.applied
                && s.judged_by.is_none()
        };
        let upheld = |s: &&Stored| {
            self.task.decided.as_ref().is_some_and(|d| d.upheld.contains(&s.submission.arrival))
        };
        (same.iter().all(idle) || same.iter().any(upheld))
            && self.task.state == TaskState::Running
            && self.task.may_report(&self.envelope.sender, self.envelope.lease_version)
    }

    /// Row 4: one id, two contents. Between progress messages it is only a flag: progress never conflicts.
    fn reused_message_id(&self) -> Option<Clash> {
        let e = self.envelope;
        let mut with: Vec<u64> = self
            .ctx
            .same_message_id
            .iter()
            .map(|s| &s.submission)
            .filter(|s| {
                s.sender == e.sender && (s.class, e.kind.class()) != (Class::Progress, Class::Progress)
            })
            .map(|s| s.arrival)
            .collect();
        if with.is_empty() {
            return None;
        }
        let why = format!("message id {:?} came with another content before", e.message_id);
        with.extend(self.ctx.same_intent.iter().map(|s| s.submission.arrival));
        Some(Clash { with, why, effect: None, judged_before: self.judged_before() })
    }

    /// Rows 5 and 6: one intent, two contents.
    fn same_intent(&self) -> Option<Clash> {
        let e = self.envelope;
        if self.ctx.same_intent.is_empty() || e.kind.class() == Class::Progress {
            return None;
        }
        let with = self.ctx.same_intent.iter().map(|s| s.submission.arrival).collect();
        let why = format!("{} {:?} has another content", e.kind.class().as_str(), e.idempotency_key);
        Some(Clash { with, why, effect: None, judged_before: self.judged_before() })
    }

    /// Section 2: a further request for a task that goes on must ask for the same.
    fn other_request(&self) -> Option<Clash> {
        let e = self.envelope;
        let further = e.kind == MessageType::TaskRequest && !self.task.state.is_terminal();
        if !further || same_content(self.task.request_digest, content(e)) {
            return None;
        }
        // The first request is always the first arrival.
        let why = "another request asks for something else under the same task".to_owned();
        Some(Clash { with: vec![1], why, effect: None, judged_before: None })
    }

    fn judged_before(&self) -> Option<String> {
        self.ctx.same_intent.iter().rev().find_map(|s| s.judged_by.clone())
    }

    /// The rows about side effects; `None` where none fits.
    fn effect_rows(&self) -> Option<Verdict> {
        let (task, e) = (self.task, self.envelope);
        let effect = e.effect.as_ref()?;
        let terminal = task.state.is_terminal();
        if e.kind == MessageType::Receipt {
            if let Some((why, committed)) = effect_conflict(task, &self.ctx.committed, effect, content(e)) {
                let with = committed.iter().filter_map(|c| c.arrival).collect();
                let outcome = if terminal { Outcome::LateConflict } else { Outcome::Conflict };
                let why = format!("receipt for effect {:?}: {why}", effect.key);
                return Some(
                    self.conflict(outcome, Clash { with, why, effect: committed, judged_before: None }),
                );
            }
            let done = self.ctx.committed.iter().any(|c| c.effect.key == effect.key);
            return (!done).then(|| self.accept(&[]));
        }
        let equal = |c: &CommittedEffect| c.effect == *effect;
        if !terminal || self.ctx.committed.iter().any(equal) {
            return None;
        }
        let why =
            format!("reports effect {:?}, not committed, after the task was {}", effect.key, task.state);
        let with = task.outcome.into_iter().collect();
        let effect = self.ctx.committed.first().cloned();
        Some(self.conflict(Outcome::LateConflict, Clash { with, why, effect, judged_before: None }))
    }

    fn stale_reason(&self) -> String {
        match (self.envelope.lease_version, &self.task.lease) {
            (Some(lease), _) => format!("lease {lease} is not the current one; recorded as evidence"),
            (None, Some(held)) => format!("{:?} holds the task; recorded as evidence", held.worker),
            (None, None) => "recorded as evidence".to_owned(),
        }
    }

    /// Whether the type takes effect in the state the task is in.
    fn is_legal_now(&self) -> bool {
        let (state, e) = (self.task.state, self.envelope);
        match e.kind.class() {
            Class::Progress | Class::Receipt | Class::Request => true,
            Class::Outcome => state == TaskState::Running,
            Class::Interruption => {
                state == TaskState::Running || (state == TaskState::WaitingHuman && self.is_asker())
            }
        }
    }

    fn is_asker(&self) -> bool {
        self.task.interruption.as_ref().is_some_and(|i| i.asked_by == self.envelope.sender)
    }

    /// The bound that this message would break if it were held or became a candidate.
    fn past_limit(&self, rules: &Rules) -> Option<String> {
        let limit = rules.limits.open_per_task;
        let held = self.task.held.len();
        let candidates =
            self.task.review.as_ref().map_or(0, |r| r.candidates().len()).max(self.ctx.same_intent.len());
        let (name, found) =
            if held >= candidates { ("held messages", held) } else { ("candidates", candidates) };
        let counts = !matches!(self.envelope.kind.class(), Class::Progress);
        let repeats = || self.ctx.same_intent.iter().any(|s| self.is_same(s));
        (counts && found >= limit && !repeats())
            .then(|| format!("the task has {found} {name}, the limit is {limit}: settle them first"))
    }

    fn delivery(&self, outcome: Outcome) -> Delivery {
        let mut delivery = delivery(self.task, self.envelope, self.request, outcome);
        delivery.id_reused = !self.ctx.same_message_id.is_empty();
        delivery
    }

    fn record(&self, outcome: Outcome, bump: bool, reason: String) -> Verdict {
        let mut draft = Draft::on(self.task, self.request.now);
        let what = What::Delivered(Box::new(self.delivery(outcome)));
        if bump {
            draft.bump(what)
        } else {
            draft.push(what)
        }
        reply(draft, self.envelope, outcome, None, Some(reason))
    }

    /// Accepts the message; `same` are stored ones that said the same and were held: their time has come with it.
    fn accept(&self, same: &[&Stored]) -> Verdict {
        let mut draft = Draft::on(self.task, self.request.now);
        for s in same.iter().map(|s| &s.submission).filter(|s| self.task.held.contains(&s.arrival)) {
            draft.push(What::Applied { arrival: s.arrival, class: s.class });
        }
        draft.push(What::Delivered(Box::new(self.delivery(Outcome::Accepted))));
        accept::take_effect(
            &mut draft,
            &self.ctx.committed,
            &accept::Taking::of(self.envelope, self.task.arrivals + 1),
        );
        reply(draft, self.envelope, Outcome::Accepted, None, None)
    }

    fn duplicate(&self, same: &[&Stored]) -> Verdict {
        let e = self.envelope;
        let accepted = same.iter().find(|s| s.outcome == Outcome::Accepted || s.applied);
        let Some(first) = accepted.or(same.first()).map(|s| &s.submission) else { return self.accept(&[]) };
        let unlike = |differs: bool| differs.then_some(());
        let differs = Differs {
            evidence_refs: unlike(first.evidence_refs != e.evidence_refs).map(|()| e.evidence_refs.clone()),
            created_at: unlike(first.created_at != e.created_at).map(|()| e.created_at),
            lease_version: e.lease_version.filter(|l| first.lease_version != Some(*l)),
            attempt: e.attempt.filter(|a| first.attempt != Some(*a)),
            recipient: unlike(first.recipient != e.recipient).map(|()| e.recipient.clone()),
        };
        let change = SchemeChange { from: first.digest_scheme, to: e.scheme };
        let of = first.arrival;
        let sender = &e.sender;
        let delivery = Delivery {
            outcome: Outcome::Duplicate,
            submitted_by: self.request.principal.subject.clone(),
            id_reused: self.ctx.same_message_id.iter().any(|s| s.submission.sender != *sender),
            message: Message::Repeat(Repeat {
                arrival: self.task.arrivals + 1,
                message_id: e.message_id.clone(),
                sender: sender.clone(),
                of,
                differs: Some(differs).filter(|d| *d != Differs::default()),
                scheme_change: Some(change).filter(|c| c.from != c.to),
            }),
            conflict: None,
        };
        let mut draft = Draft::on(self.task, self.request.now);
        draft.push(What::Delivered(Box::new(delivery)));
        reply(draft, e, Outcome::Duplicate, Some(of), Some(format!("repeats #{of}")))
    }

    fn conflict(&self, outcome: Outcome, clash: Clash) -> Verdict {
        let mut delivery = self.delivery(outcome);
        let mut candidates = clash.with;
        candidates.push(delivery.message.arrival());
        candidates.sort_unstable();
        candidates.dedup();
        let why = clash.why.clone();
        delivery.conflict = Some(ConflictSet {
            class: self.envelope.kind.class(),
            idempotency_key: self.envelope.idempotency_key.clone(),
            candidates,
            judged_before: clash.judged_before,
            effect: clash.effect,
            why: clash.why,
        });
        let mut draft = Draft::on(self.task, self.request.now);
        let delivered = What::Delivered(Box::new(delivery));
        if self.task.state == TaskState::NeedsReview {
            draft.bump(delivered);
        } else {
            draft.push(delivered);
            freeze(&mut draft, &self.request.principal.subject, outcome.as_str());
        }
        reply(draft, self.envelope, outcome, None, Some(why))
    }
}

/// Moves a task to `needs_review`, closing an open question.
pub(super) fn freeze(draft: &mut Draft, executor: &str, reason: &str) {
    if let Some(open) = &draft.task().interruption {
        let interruption = open.id.clone();
        draft.push(What::Closed { interruption, how: Closing::Interrupted });
    }
    let moved = What::Moved {
        from: draft.task().state,
        to: TaskState::NeedsReview,
        reason: reason.to_owned(),
        executor: executor.to_owned(),
        lease_version: draft.task().lease.as_ref().map(|_| draft.task().lease_version),
        retry_at: None,
    };
    draft.bump_once(moved);
}
