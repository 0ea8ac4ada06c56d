//! Approval records as one principal may read them, and the verification of the whole ledger.

use super::local::Local;
use super::{Approval, Error, StoreError, mask};
use crate::domain::actor::Operation;
use crate::domain::digest::jcs_bytes_of;
use crate::domain::ids::TaskId;
use crate::domain::ledger::{Chain, LogProblem, LogReport, Pin, Problem, ProblemKind, Record, Report};
use crate::store::{Sequenced, Store};

/// The most problems of a log that are told.
const MOST_PROBLEMS: usize = 100;

/// Records, or tasks, read at once.
const PAGE: usize = 256;

impl<S: Store> Local<S> {
    pub(super) async fn records(
        &self,
        task: Option<&TaskId>,
        after: u64,
        limit: usize,
    ) -> Result<Vec<Approval>, Error> {
        self.sight.require(Operation::Inspect)?;
        if let Some(id) = task {
            self.visible(id).await?;
        }
        let limit = limit.clamp(1, 1000);
        let mut found = Vec::new();
        let mut after = after;
        loop {
            let page = self.store.records(task, after, limit).await?;
            let Some(last) = page.last().map(|r| r.sequence) else { return Ok(found) };
            after = last;
            let full = page.len() >= limit;
            for stored in page {
                if let Some(approval) = self.as_readable(stored).await? {
                    found.push(approval);
                }
                if found.len() == limit {
                    return Ok(found);
                }
            }
            if !full {
                return Ok(found);
            }
        }
    }

    pub(super) async fn record(&self, approval_id: &str) -> Result<Option<Approval>, Error> {
        self.sight.require(Operation::Inspect)?;
        match self.store.record(approval_id).await? {
            Some(stored) => self.as_readable(stored).await,
            None => Ok(None),
        }
    }

    /// The record, masked where it must be, then without its exact bytes; `None` where it is out of scope.
    async fn as_readable(&self, stored: Sequenced) -> Result<Option<Approval>, Error> {
        let damaged = |_| StoreError::Damaged(format!("record {} cannot be read", stored.sequence));
        let record: Record = serde_json::from_slice(&stored.bytes).map_err(damaged)?;
        let mut approval = Approval { record: Box::new(record), bytes: stored.bytes };
        if self.sight.sees_all() && !self.sight.may_mask() {
            return Ok(Some(approval));
        }
        let Some(task) = self.store.task(&approval.record.task_id).await?.filter(|t| self.sight.sees(t))
        else {
            return Ok(None);
        };
        if mask::record(&self.sight.mask(Some(task.subject())), &mut approval.record) {
            approval.bytes = jcs_bytes_of(&approval.record).unwrap_or_default();
        }
        Ok(Some(approval))
    }

    pub(super) async fn verify_ledger(&self, pins: Vec<Pin>) -> Result<Report, Error> {
        self.sight.require(Operation::Inspect)?;
        let status = self.store.status().await?;
        let head = status.head.ledger;
        let known = head.record_digest.map(|record_digest| Pin { sequence: head.sequence, record_digest });
        let mut chain = Chain::new(pins.into_iter().chain(known)).of_store(status.store_id.clone());
        let mut after = 0;
        loop {
            let page = self.store.records(None, after, PAGE).await?;
            let Some(last) = page.last() else { return Ok(with_mismatch(chain.finish(), status.mismatch)) };
            after = last.sequence;
            let walked = tokio::task::spawn_blocking(move || {
                for record in &page {
                    chain.push(&record.bytes);
                }
                chain
            });
            let broke = |_| StoreError::Failed("verification broke off".into());
            chain = walked.await.map_err(broke)?;
        }
    }

    /// The ledger, and that all that is read follows from the log; for who sees only a part of it, the ledger alone:
    /// nobody may learn of the rest from what is wrong with it.
    pub(super) async fn verify_everything(&self, pins: Vec<Pin>) -> Result<Report, Error> {
        self.sight.require(Operation::Inspect)?;
        if !self.sight.sees_all() {
            return self.verify_ledger(pins).await;
        }
        let through = self.store.status().await?.head.events;
        let mut report = self.verify_ledger(pins).await?;
        let mut log = LogReport::default();
        let mut after = Some(0);
        while let Some(from) = after {
            let page = self.store.check(from, through, PAGE).await?;
            (log.tasks, log.events) = (log.tasks + page.tasks, log.events + page.events);
            let room = MOST_PROBLEMS.saturating_sub(log.problems.len());
            log.problems.extend(page.findings.into_iter().take(room));
            after = page.next;
        }
        if log.events != through && log.problems.len() < MOST_PROBLEMS {
            let message = format!("{through} events were written, {} belong to something", log.events);
            log.problems.push(LogProblem { at: "the log".into(), message });
        }
        report.ok &= log.problems.is_empty();
        report.log = Some(log);
        Ok(report)
    }
}

/// A chain that holds together in a store that is not as it is remembered: what is missing may be records, too.
fn with_mismatch(mut report: Report, mismatch: Option<String>) -> Report {
    if let (None, Some(message)) = (&report.problem, mismatch) {
        let sequence = report.records + 1;
        report.problem = Some(Problem { sequence, kind: ProblemKind::TailCut, message });
        report.ok = false;
    }
    report
}
