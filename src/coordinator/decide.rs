//! Completes a decision with what only the coordinator knows, and hands it to the rules.

use super::Error;
use super::local::Local;
use crate::domain::command::{Command, Reply};
use crate::domain::decision::Decision;
use crate::domain::diff::{Diff, Limits};
use crate::domain::digest;
use crate::domain::ledger::{CandidateSet, Side};
use crate::domain::redact::{Mask, diff_hidden};
use crate::domain::refusal::Refusal;
use crate::domain::shell::is_left_open;
use crate::domain::task::Task;
use crate::store::Store;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use uuid::Uuid;

impl<S: Store> Local<S> {
    pub(super) async fn judge(&self, mut decision: Decision) -> Result<Reply, Error> {
        let task = self.visible(&decision.task_id).await?;
        decision.approval_id = format!("A-{}", Uuid::now_v7());
        if decision.idempotency_key.is_empty() {
            decision.idempotency_key = format!("K-{}", Uuid::now_v7());
        }
        let mask = self.sight.mask(Some(task.subject()));
        decision.masked = self.masked_sides(&task, &decision.upheld, mask).await?;
        self.one(Command::Decide(Box::new(decision)), self.sight.principal().clone()).await
    }

    /// The upheld sides of which something that differs from another side of the same intent is masked.
    async fn masked_sides(&self, task: &Task, upheld: &[u64], mask: Mask) -> Result<Vec<u64>, Error> {
        if mask.is_empty() || upheld.is_empty() {
            return Ok(Vec::new());
        }
        let stored = self.store.submissions_of(&task.task_id, &super::read::judged_arrivals(task)).await?;
        let set = CandidateSet::of(task, &stored);
        let mask = Arc::new(mask);
        let mut masked = Vec::new();
        for side in set.sides().filter(|s| upheld.contains(&s.arrival)) {
            let others = set.sides().filter(|o| o.intent == side.intent && o.arrival != side.arrival);
            for other in others {
                if self.differs_behind(task, side, other, Arc::clone(&mask)).await? {
                    masked.push(side.arrival);
                    break;
                }
            }
        }
        Ok(masked)
    }

    /// Whether a difference between two sides is masked; what cannot be compared counts as masked.
    async fn differs_behind(&self, task: &Task, a: &Side, b: &Side, mask: Arc<Mask>) -> Result<bool, Error> {
        if a.payload_digest == b.payload_digest && a.digest_scheme == b.digest_scheme {
            return Ok(false);
        }
        let (Some(a), Some(b)) = (
            self.store.envelope(&task.task_id, a.arrival).await?,
            self.store.envelope(&task.task_id, b.arrival).await?,
        ) else {
            return Ok(true);
        };
        let hidden = tokio::task::spawn_blocking(move || {
            let (Some(a), Some(b)) = (payload_of(&a), payload_of(&b)) else { return true };
            let diff = Diff::new(a, b, &AtomicBool::new(false), Limits::default());
            diff.map_or(true, |diff| diff_hidden(&diff, &mask))
        });
        Ok(hidden.await.unwrap_or(true))
    }

    pub(super) async fn accept(&self, reason: &str) -> Result<(), Error> {
        self.sight.require(crate::domain::actor::Operation::AcceptHead)?;
        let reason = checked_reason(reason)?;
        let by = self.sight.principal().subject.clone();
        Ok(self.store.accept_head(&crate::store::Acceptance { by, reason, at: self.now() }).await?)
    }
}

/// The payload's bytes of a stored envelope; `None` where it is behind a reference.
pub(super) fn payload_of(raw: &[u8]) -> Option<Arc<[u8]>> {
    let members = digest::members(raw, usize::MAX).ok()??;
    let payload = members.iter().find(|m| m.key == "payload")?;
    raw.get(payload.value.clone()).map(Arc::from)
}

/// A reason that is kept for ever: not blank, bounded, and no credential.
pub(super) fn checked_reason(reason: &str) -> Result<String, Refusal> {
    let reason = reason.trim();
    if reason.is_empty() || is_left_open(reason) {
        return Err(Refusal::ReasonTooShort { minimum: 1 });
    }
    if reason.len() > 64 << 10 {
        return Err(Refusal::Invalid { why: "a reason has at most 65536 bytes".into() });
    }
    match crate::domain::secret::looks_like_secret(reason) {
        Some(kind) => {
            Err(Refusal::InputInvalid { why: format!("the reason holds {}: {}", kind.what(), kind.advice()) })
        }
        None => Ok(reason.to_owned()),
    }
}
