//! Approval records as one principal may read them, and the verification of the whole ledger.

use super::local::Local;
use super::{Approval, Error, LedgerPage, LedgerPlace, LedgerRequest, StoreError, mask};
use crate::domain::actor::Operation;
use crate::domain::digest::jcs_bytes_of;
use crate::domain::ids::TaskId;
use crate::domain::ledger::{
    Chain, Judged, LogProblem, LogReport, Pin, Problem, ProblemKind, Record, Report,
};
use crate::store::{Sequenced, Store};

/// The most problems of a log that are told.
const MOST_PROBLEMS: usize = 100;

/// Records, or tasks, read at once.
const PAGE: usize = 256;

/// Records that one call looks at before it gives back what it found, and the most that it gives.
const MOST_READ: usize = 2048;
const MOST_ROWS: usize = 1000;

impl<S: Store> Local<S> {
    pub(super) async fn records(&self, request: LedgerRequest) -> Result<LedgerPage, Error> {
        self.sight.require(Operation::Inspect)?;
        let LedgerRequest { task, query, mut from, limit } = request;
        if let Some(id) = &task {
            self.visible(id).await?;
        }
        if let LedgerPlace::Before(number) = from {
            let head = self.store.status().await?.head.ledger.sequence;
            from = LedgerPlace::Before(number.min(head.saturating_add(1)));
        }
        let limit = limit.clamp(1, MOST_ROWS);
        let step = if query.terms.is_empty() { limit.min(PAGE) } else { PAGE };
        let (me, now) = (&self.sight.principal().subject, self.now().0);
        let (mut rows, mut looked_at) = (Vec::new(), 0);
        loop {
            let (page, next) = self.stretch(task.as_ref(), from, step).await?;
            let last = page.len().saturating_sub(1);
            for (at, stored) in page.into_iter().enumerate() {
                let sequence = stored.sequence;
                // Asked as it is shown, or a filter would tell what a mask hides.
                let readable = self.as_readable(stored).await?;
                rows.extend(readable.filter(|a| query.matches(&Judged { record: &a.record, me }, now)));
                if rows.len() == limit {
                    let next = if at == last { next } else { Some(from.past(sequence)) };
                    return Ok(LedgerPage { rows, next });
                }
            }
            looked_at += step;
            match next {
                Some(next) if looked_at < MOST_READ => from = next,
                next => return Ok(LedgerPage { rows, next }),
            }
        }
    }

    /// Up to `step` stored records from a place on, in its direction, and where reading goes on.
    async fn stretch(
        &self,
        task: Option<&TaskId>,
        from: LedgerPlace,
        step: usize,
    ) -> Result<(Vec<Sequenced>, Option<LedgerPlace>), Error> {
        match from {
            LedgerPlace::After(number) => {
                let page = self.store.records(task, number, step).await?;
                let last = page.last().filter(|_| page.len() >= step);
                let next = last.map(|last| LedgerPlace::After(last.sequence));
                Ok((page, next))
            }
            LedgerPlace::Before(number) => {
                // Numbers are unique: of `step` of them no record is left out.
                let after = number.saturating_sub(1).saturating_sub(step as u64);
                let mut page = self.store.records(task, after, step).await?;
                page.retain(|stored| stored.sequence < number);
                page.reverse();
                Ok((page, (after > 0).then(|| LedgerPlace::Before(after.saturating_add(1)))))
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

impl LedgerPlace {
    /// The place past a record, in the same direction.
    fn past(self, sequence: u64) -> Self {
        match self {
            LedgerPlace::After(_) => LedgerPlace::After(sequence),
            LedgerPlace::Before(_) => LedgerPlace::Before(sequence),
        }
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
