//! Finds what a decision speaks of: the question it answers, and the arrivals that names stand for.
//!
//! A verb that is repeated after its reply was lost must ask for the same thing as the first time, or its idempotency
//! key would stand for two decisions. So where the task was decided at the expected version already, both are taken
//! from that record.

use super::failure::Failure;
use super::may;
use crate::coordinator::{Coordinator, LedgerPlace, LedgerRequest, Shown};
use crate::domain::attention::Stuck;
use crate::domain::decision::Resume;
use crate::domain::event::What;
use crate::domain::ids::TaskId;
use crate::domain::interruption::Interruption;
use crate::domain::ledger::Record;
use crate::domain::refusal::Refusal;
use serde_json::Map;

const PAGE: usize = 500;

/// The longest resume point of a decision, in bytes.
const MOST_KEY: usize = 256;

/// A task as it is now, and the record of a decision that was made at the version that is expected.
pub struct Seen {
    /// The task.
    pub shown: Shown,
    /// The record, where that version was decided.
    pub record: Option<Box<Record>>,
}

impl Seen {
    /// Reads the task.
    pub async fn read(c: &dyn Coordinator, id: &TaskId, expected: u64) -> Result<Self, Failure> {
        let shown = c.show(id).await?;
        let mut record = None;
        let mut from = Some(LedgerPlace::After(0)).filter(|_| shown.task.state_version > expected);
        while let Some(place) = from.filter(|_| record.is_none()) {
            let page = c.approvals(LedgerRequest::all(Some(id.clone()), place, PAGE)).await?;
            from = page.next;
            record = page.rows.into_iter().map(|a| a.record).find(|r| r.state_version_before == expected);
        }
        Ok(Seen { shown, record })
    }

    /// The id of the question that a decision settles, where it names none itself.
    pub fn question_id(&self) -> Option<String> {
        match &self.record {
            Some(record) => record.interruption.as_ref().map(|i| i.id.clone()),
            None => self.shown.candidate_set.interruption.as_ref().map(|i| i.id.clone()),
        }
    }

    /// A question of the task by its id, open or not.
    pub async fn question(&self, c: &dyn Coordinator, id: &str) -> Result<Option<Interruption>, Failure> {
        if let Some(open) = self.shown.task.interruption.as_ref().filter(|i| i.id == id) {
            return Ok(Some(open.clone()));
        }
        let mut after = 0;
        loop {
            let page = c.timeline(&self.shown.task.task_id, after, PAGE).await?;
            let Some(last) = page.last() else { return Ok(None) };
            after = last.revision;
            for event in page {
                if let What::Asked(asked) = event.what
                    && asked.id == id
                {
                    return Ok(Some(*asked));
                }
            }
        }
    }

    /// Refuses to answer a question that is past its time, before anything is said about the answer itself: when that
    /// was, and what can be done.
    pub fn not_expired(&self, question: Option<&Interruption>) -> Result<(), Failure> {
        let (shown, open) = (&self.shown, self.shown.task.interruption.as_ref());
        let void = shown.stuck == Some(Stuck::InterruptionExpired) && self.record.is_none();
        let Some(question) = question.filter(|q| void && open.is_some_and(|open| open.id == q.id)) else {
            return Ok(());
        };
        let at = question.question.expires_at.map(|at| format!(" at {at}")).unwrap_or_default();
        let cancels = may::commands(shown).into_iter().find(|command| command.contains(" --cancel "));
        let cancel =
            cancels.map(|command| format!("cancel the task with `{command}`, or ")).unwrap_or_default();
        let asker = &question.asked_by;
        let why = format!(
            "question {} expired{at} and takes no answer: {cancel}have {asker} ask anew (a `human_request` of that sender under a new key)",
            question.id
        );
        Err(Refusal::NotWaiting { state: shown.task.state, why: Some(why) }.into())
    }

    /// The arrivals that `#4`, `4` or message ids stand for.
    pub async fn arrivals(&self, c: &dyn Coordinator, names: &[String]) -> Result<Vec<u64>, Failure> {
        let mut arrivals = Vec::with_capacity(names.len());
        for name in names {
            arrivals.push(self.arrival(c, name).await?);
        }
        Ok(arrivals)
    }

    async fn arrival(&self, c: &dyn Coordinator, name: &str) -> Result<u64, Failure> {
        if let Some(number) = number(name) {
            return Ok(number);
        }
        let found = c.arrivals_of(&self.shown.task.task_id, name).await?;
        let judged: Vec<u64> = match &self.record {
            Some(r) => r.candidates.iter().chain(&r.held).map(|s| s.arrival).collect(),
            None => self.shown.candidate_set.sides().map(|s| s.arrival).collect(),
        };
        let sides: Vec<u64> = found.iter().copied().filter(|a| judged.contains(a)).collect();
        one_of(&self.shown.task.task_id, name, if sides.is_empty() { &found } else { &sides })
    }
}

/// The resume point that a question names, so that the record keeps what was shown; one that no record can hold is
/// left to the default.
pub fn promised(question: &Interruption) -> Option<Resume> {
    let key = question.question.resume.clone().filter(|key| (1..=MOST_KEY).contains(&key.len()))?;
    Some(Resume { idempotency_key: key, note: None })
}

/// `#4` or `4`.
pub fn number(name: &str) -> Option<u64> {
    name.strip_prefix('#').unwrap_or(name).parse().ok()
}

/// The only arrival among several; otherwise an error that lists them.
pub fn one_of(task: &TaskId, name: &str, found: &[u64]) -> Result<u64, Failure> {
    match found {
        [one] => Ok(*one),
        [] => Err(Refusal::MessageNotFound { task_id: task.0.clone(), message: name.to_owned() }.into()),
        several => {
            let listed: Vec<String> = several.iter().map(|a| format!("#{a}")).collect();
            let message = format!("message id {name} came as {}: name the arrival", listed.join(", "));
            let mut data = Map::new();
            data.insert("arrivals".into(), several.into());
            Err(Failure::Invalid { code: "ambiguous_message_id", message, data })
        }
    }
}
