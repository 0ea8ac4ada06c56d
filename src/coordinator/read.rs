//! Reads tasks, sides and payloads as one principal may see them.

use super::decide::payload_of;
use super::local::Local;
use super::{
    Error, ListRequest, Page, PayloadView, Row, RowQuestion, Shown, Submitted, Tallies, Tally, mask,
};
use crate::domain::actor::{Operation, Principal};
use crate::domain::attention::{self, Reason};
use crate::domain::command::Stored;
use crate::domain::decision::{self, Possible};
use crate::domain::digest::{self, Digest};
use crate::domain::event::{Event, Submission};
use crate::domain::ids::{TaskId, Timestamp};
use crate::domain::ledger::CandidateSet;
use crate::domain::query::{Query, Term, Test, contains_ignoring_case};
use crate::domain::redact::Mask;
use crate::domain::refusal::Refusal;
use crate::domain::task::{Task, TaskState};
use crate::store::{DocketRow, Order, PageRequest, Scope, Store};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Rows of a page, and how many are counted for a scoped principal before a tally is capped.
const MOST_ROWS: usize = 1000;
const MOST_COUNTED: u64 = 10_000;

/// Every arrival that a decision on the task, or a correction of the last one, speaks of.
pub(super) fn judged_arrivals(task: &Task) -> Vec<u64> {
    let mut all: Vec<u64> = task.review.as_ref().map(|r| r.candidates()).unwrap_or_default();
    all.extend(&task.held);
    if let Some(judged) = &task.judged {
        all.extend(judged.review.as_ref().map(|r| r.candidates()).unwrap_or_default());
        all.extend(&judged.held);
    }
    all.sort_unstable();
    all.dedup();
    all
}

/// A filter that names a state asks about all tasks, not only about those that wait.
fn widened(scope: Scope, query: &Query) -> Scope {
    let names_state = query.terms.iter().any(|t| matches!(t.what, Test::State(_)));
    if scope == Scope::Waiting && names_state { Scope::Everything } else { scope }
}

impl<S: Store> Local<S> {
    pub(super) async fn page(&self, request: ListRequest) -> Result<Page<Row>, Error> {
        self.sight.require(Operation::Inspect)?;
        let want = request.limit.clamp(1, MOST_ROWS);
        let scope = widened(request.scope, &request.query);
        // Words are looked for in what this principal may read, or a filter would tell what a mask hides.
        let (words, terms): (Vec<Term>, Vec<Term>) = request
            .query
            .terms
            .into_iter()
            .partition(|t| self.sight.may_mask() && matches!(t.what, Test::Text(_)));
        let mut ask = PageRequest {
            scope,
            query: Query { terms },
            order: request.order,
            after: request.after,
            backwards: request.backwards,
            limit: want,
            now: self.now(),
            me: self.sight.principal().subject.clone(),
        };
        let filtered = !self.sight.sees_all() || !words.is_empty();
        let mut rows: Vec<Row> = Vec::new();
        loop {
            let got = self.store.page(&ask).await?;
            let edge = if ask.backwards { got.rows.first() } else { got.rows.last() };
            let next = edge.map(|r| r.cursor.clone());
            let mut seen = Vec::with_capacity(got.rows.len());
            for row in got.rows {
                seen.extend(self.row(row, &words).await?);
            }
            if ask.backwards {
                seen.append(&mut rows);
                rows = seen;
            } else {
                rows.append(&mut seen);
            }
            if !filtered || !got.more || rows.len() > want || next.is_none() {
                let more = if filtered { rows.len() > want } else { got.more };
                let surplus = rows.len().saturating_sub(want);
                if ask.backwards {
                    rows.drain(..surplus);
                } else {
                    rows.truncate(want);
                }
                return Ok(Page { rows, more });
            }
            ask.after = next;
        }
    }

    /// A row as this principal may see it; `None` where it may not, or where the words are not in what it may read.
    async fn row(&self, found: DocketRow, words: &[Term]) -> Result<Option<Row>, Error> {
        let mut row = Row {
            task_id: None,
            trace_id: None,
            state: None,
            state_version: None,
            reason: found.attention.map(|a| a.reason),
            stuck: found.attention.and_then(|a| a.stuck),
            since: found.attention.map_or(Timestamp(0), |a| a.since),
            candidates: 0,
            messages: 0,
            held: 0,
            interruption: None,
            goal: None,
            priority: 0,
            deadline: None,
            failure: None,
            worker: None,
            labels: BTreeMap::new(),
            approval_id: None,
            quarantine: None,
            detail: None,
            cursor: found.cursor,
        };
        match (found.task, found.entry) {
            (Some(task), _) if self.sight.sees(&task) => {
                let since = found.attention.map_or(task.entered_at, |a| a.since);
                let mask = self.sight.mask(Some(task.subject()));
                of_task(&mut row, task, since);
                mask::row(&mask, &mut row);
            }
            (None, Some(entry)) if self.knows(&entry).await? => {
                row.since = found.attention.map_or(entry.received_at, |a| a.since);
                row.task_id = entry.named.task_id;
                row.messages = entry.count;
                row.detail = Some(entry.detail);
                row.quarantine = Some(entry.id);
            }
            _ => return Ok(None),
        }
        Ok(words.iter().all(|term| has_words(&row, term)).then_some(row))
    }

    pub(super) async fn counts(&self) -> Result<Tallies, Error> {
        self.sight.require(Operation::Inspect)?;
        if self.sight.sees_all() {
            return Ok(self.store.tallies(self.now()).await?);
        }
        Ok(Tallies {
            all: self.count(Scope::Waiting).await?,
            needs_review: self.count(Scope::Reason(Reason::NeedsReview)).await?,
            waiting: self.count(Scope::Reason(Reason::WaitingHuman)).await?,
            input: self.count(Scope::Reason(Reason::InputRequired)).await?,
            auth: self.count(Scope::Reason(Reason::AuthRequired)).await?,
            stuck: self.count(Scope::Reason(Reason::Stuck)).await?,
            quarantine: self.count_entries().await?,
            decided: self.count(Scope::Decided).await?,
        })
    }

    /// Counts what a scoped principal would be listed, by listing it.
    async fn count(&self, scope: Scope) -> Result<Tally, Error> {
        let mut tally = Tally::default();
        let mut after = None;
        loop {
            let request = ListRequest {
                scope,
                query: Query::default(),
                order: Order::default(),
                after,
                backwards: false,
                limit: MOST_ROWS,
            };
            let page = self.page(request).await?;
            tally.count += page.rows.len() as u64;
            tally.capped = page.more && tally.count >= MOST_COUNTED;
            if !page.more || tally.capped {
                return Ok(tally);
            }
            after = page.rows.last().map(|r| r.cursor.clone());
        }
    }

    async fn count_entries(&self) -> Result<Tally, Error> {
        let mut tally = Tally::default();
        let mut after = 0;
        loop {
            let page = self.entries(after, MOST_ROWS, false).await?;
            tally.count += page.len() as u64;
            tally.capped = page.len() == MOST_ROWS && tally.count >= MOST_COUNTED;
            match page.last() {
                Some(last) if page.len() == MOST_ROWS && !tally.capped => after = last.number,
                _ => return Ok(tally),
            }
        }
    }

    pub(super) async fn whole(&self, id: &TaskId) -> Result<Shown, Error> {
        let mut task = self.visible(id).await?;
        let stored = self.store.submissions_of(id, &judged_arrivals(&task)).await?;
        let mut candidate_set = CandidateSet::of(&task, &stored);
        if let Some(arrival) = candidate_set.missing(&task) {
            let why = format!("{id:?} has a side #{arrival} that is not in the store any more");
            return Err(super::StoreError::Damaged(why).into());
        }
        let judgeable = candidate_set.sides().next().is_some() || candidate_set.interruption.is_some();
        let candidate_set_digest = candidate_set.digest().ok().filter(|_| judgeable);
        let now = self.now();
        let waits = attention::of(&task, &self.rules.thresholds)
            .into_iter()
            .find(|a| a.since <= now && a.until.is_none_or(|until| now < until));
        let candidates = task.review.as_ref().map(|r| r.candidates()).unwrap_or_default();
        let p = self.sight.principal();
        let own =
            candidate_set.sides().filter(|s| p.speaks_for(&s.sender) && !self.rules.policy.self_interest);
        let own = own.map(|s| s.arrival).collect();
        let can = decision::possible(&task, &candidate_set, p, &self.rules.policy, now);
        let may = abilities(p, &self.runtime, &task, can);
        let shown = |arrivals: &[u64]| -> Vec<Submitted> {
            let fits = stored.iter().filter(|s| arrivals.contains(&s.submission.arrival));
            fits.map(|s| self.submitted(&task, s.clone())).collect()
        };
        let (candidates, held_messages) = (shown(&candidates), shown(&task.held));
        let mask = self.sight.mask(Some(task.subject()));
        mask::set(&mask, &mut candidate_set);
        mask::task(&mask, &mut task);
        Ok(Shown {
            reason: waits.map(|a| a.reason),
            stuck: waits.and_then(|a| a.stuck),
            since: waits.map(|a| a.since),
            candidates,
            held_messages,
            candidate_set,
            candidate_set_digest,
            may,
            own,
            task,
        })
    }

    fn submitted(&self, task: &Task, stored: Stored) -> Submitted {
        let mut submitted = Submitted::from(stored);
        let all = self.sight.reads(task, &submitted.submission);
        mask::submission(&self.sight.mask(Some(task.subject())), all, &mut submitted.submission);
        submitted
    }

    pub(super) async fn said(&self, id: &TaskId, after: u64, limit: usize) -> Result<Vec<Submitted>, Error> {
        let task = self.visible(id).await?;
        let stored = self.store.submissions(id, after, limit.clamp(1, MOST_ROWS)).await?;
        Ok(stored.into_iter().map(|s| self.submitted(&task, s)).collect())
    }

    /// A submission whose content may be read, with its stored envelope and the mask that applies.
    async fn readable(&self, id: &TaskId, arrival: u64) -> Result<(Submission, Arc<[u8]>, Mask), Error> {
        let task = self.visible(id).await?;
        let missing = || Refusal::MessageNotFound { task_id: id.0.clone(), message: format!("#{arrival}") };
        let stored = self.store.submissions_of(id, &[arrival]).await?.pop().ok_or_else(missing)?;
        if !self.sight.reads(&task, &stored.submission) {
            let why = format!("{:?} reads only what it sent or received", self.sight.principal().subject);
            return Err(Refusal::Forbidden { why }.into());
        }
        let raw = self.store.envelope(id, arrival).await?.ok_or_else(missing)?;
        Ok((stored.submission, raw, self.sight.mask(Some(task.subject()))))
    }

    pub(super) async fn content(&self, id: &TaskId, arrival: u64) -> Result<PayloadView, Error> {
        let (submission, raw, mask) = self.readable(id, arrival).await?;
        let view = tokio::task::spawn_blocking(move || examine(&submission, &raw, &mask));
        let broke = |_| super::StoreError::Failed("the payload could not be read: the reader broke".into());
        Ok(view.await.map_err(broke)?)
    }

    pub(super) async fn original(&self, id: &TaskId, arrival: u64) -> Result<Arc<[u8]>, Error> {
        let (_, raw, mask) = self.readable(id, arrival).await?;
        let changed = !mask.is_empty() && payload_of(&raw).is_some_and(|p| mask.touches("", &p));
        if changed {
            let why = "part of this message is masked for you: read its payload instead".to_owned();
            return Err(Refusal::Forbidden { why }.into());
        }
        Ok(raw)
    }

    pub(super) async fn history(&self, id: &TaskId, after: u64, limit: usize) -> Result<Vec<Event>, Error> {
        let task = self.visible(id).await?;
        let mut events = self.store.events(id, after, limit.clamp(1, MOST_ROWS)).await?;
        let mask = self.sight.mask(Some(task.subject()));
        let all = self.sight.reads_all(&task);
        for event in &mut events {
            mask::event(&mask, all, event);
        }
        Ok(events)
    }
}

fn of_task(row: &mut Row, task: Task, since: Timestamp) {
    row.since = since;
    row.state = Some(task.state);
    row.state_version = Some(task.state_version);
    row.candidates = task.review.as_ref().map_or(0, |r| r.candidates().len() as u64);
    row.messages = task.arrivals;
    row.held = task.held.len() as u64;
    row.interruption = task.interruption.map(|i| RowQuestion {
        id: i.id,
        need: i.question.need,
        prompt: i.question.prompt,
        expires_at: i.question.expires_at,
    });
    row.goal = task.request.goal;
    row.priority = task.request.priority;
    row.deadline = task.request.deadline;
    row.failure = task.failure.map(|f| f.kind);
    row.worker = task.lease.map(|l| l.worker);
    row.labels = task.labels;
    row.approval_id = task.decided.map(|d| d.approval_id);
    row.task_id = Some(task.task_id.0);
    row.trace_id = Some(task.trace_id);
}

fn has_words(row: &Row, term: &Term) -> bool {
    let Test::Text(text) = &term.what else { return true };
    let prompt = row.interruption.as_ref().map(|q| &q.prompt);
    let places =
        [row.task_id.as_ref(), row.goal.as_ref(), prompt, row.trace_id.as_ref(), row.detail.as_ref()];
    places.into_iter().flatten().any(|place| contains_ignoring_case(place, text)) != term.negated
}

/// What may be done with the task now, by name, as the rules would have it: screens offer nothing else.
fn abilities(p: &Principal, runtime: &Principal, task: &Task, can: Possible) -> BTreeMap<&'static str, bool> {
    let may = |operation| p.may(operation, Some(task.subject()));
    let works = |operation| runtime.may(operation, Some(task.subject()));
    let state = task.state;
    let waits = state.waits_for_a_record();
    let unknown = task.reservations.iter().any(|r| r.unknown_since.is_some());
    BTreeMap::from([
        ("decide", state == TaskState::NeedsReview && can.ready),
        ("answer", state == TaskState::WaitingHuman && can.ready),
        ("supersede", can.supersede_ready || can.supersede_canceled),
        ("supersede_ready", can.supersede_ready),
        ("supersede_cancel", can.supersede_canceled),
        ("cancel", if waits { can.canceled } else { !state.is_terminal() && may(Operation::Cancel) }),
        ("release", task.lease.is_some() && may(Operation::Release)),
        ("gate", may(Operation::Gate)),
        ("commit_effect", !task.reservations.is_empty() && works(Operation::Work)),
        ("void_effect", unknown && !waits && may(Operation::VoidEffect)),
        ("claim", state == TaskState::Ready && task.lease.is_none() && works(Operation::Work)),
        ("transition", !state.is_terminal() && !waits && works(Operation::Transition)),
    ])
}

/// Reads the payload out of the stored bytes and digests it again.
fn examine(submission: &Submission, raw: &[u8], mask: &Mask) -> PayloadView {
    let Some(payload) = payload_of(raw) else {
        let problem = match &submission.payload_ref {
            Some(_) => "the content is behind a reference and was not fetched",
            None => "the stored message holds no payload",
        };
        return PayloadView { bytes: None, masked: false, verified: false, problem: Some(problem.into()) };
    };
    let found: Result<Digest, _> = digest::digest(submission.digest_scheme, &payload);
    let problem = match found {
        Ok(found) if found == submission.payload_digest => None,
        Ok(found) => Some(format!("claimed {}, the stored bytes have {found}", submission.payload_digest)),
        Err(rejection) => Some(format!("the stored bytes have no digest: {rejection}")),
    };
    let masked = mask.touches("", &payload);
    let bytes = if masked { mask.apply(&payload).into() } else { payload };
    PayloadView { bytes: Some(bytes), masked, verified: problem.is_none(), problem }
}
