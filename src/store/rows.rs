//! What both engines keep beside a task's snapshot, and how a filter sees a row: one definition, so that SQL and memory agree.

use super::{Entry, OrderKey};
use crate::domain::attention::{Attention, Reason, Stuck};
use crate::domain::digest::Digest;
use crate::domain::envelope::Class;
use crate::domain::failure::FailureKind;
use crate::domain::ids::Timestamp;
use crate::domain::query::Row;
use crate::domain::task::{Task, TaskState};

/// Stands between the parts of searchable text, so that a search does not find words across two of them.
const BETWEEN: char = '\u{1}';

/// The place of `x` in a list of all its kind: what is stored for it. The lists are only ever appended to.
pub(crate) fn code<T: PartialEq>(all: &[T], x: &T) -> i64 {
    all.iter().position(|y| y == x).and_then(|n| i64::try_from(n).ok()).unwrap_or(-1)
}

/// The one that a stored code stands for.
pub(crate) fn decode<T: Copy>(all: &[T], code: i64) -> Option<T> {
    usize::try_from(code).ok().and_then(|n| all.get(n)).copied()
}

/// The code of "not stuck".
pub(crate) const NOT_STUCK: i64 = -1;

/// The end of a docket row that holds for ever, and the deadline of a task that has none.
pub(crate) const NEVER: i64 = i64::MAX;

/// 64 bits that find an intent within a task; compare exactly after.
pub(crate) fn intent_hash(class: Class, key: &str) -> i64 {
    hash(class.as_str(), key)
}

/// 64 bits that find a message id within a task; compare exactly after.
pub(crate) fn message_hash(message_id: &str) -> i64 {
    hash("message", message_id)
}

fn hash(kind: &str, text: &str) -> i64 {
    let digest = Digest::of_parts(&[kind.as_bytes(), b"\0", text.as_bytes()]);
    let first = digest.as_bytes().first_chunk::<8>().copied().unwrap_or_default();
    i64::from_be_bytes(first)
}

/// The columns of a task that filters and orders look at, apart from its ids.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Columns {
    pub state: i64,
    pub entered_at: i64,
    pub urgency: i64,
    pub deadline: i64,
    pub candidates: i64,
    pub decided: bool,
    pub failure: Option<i64>,
    pub agent: Option<String>,
    pub assigned: Option<String>,
}

impl Columns {
    pub(crate) fn of(task: &Task) -> Self {
        let assigned = assigned(task);
        Columns {
            state: code(&TaskState::ALL, &task.state),
            entered_at: task.entered_at.0,
            urgency: urgency(task.request.priority),
            deadline: task.request.deadline.map_or(NEVER, |t| t.0),
            candidates: i64::from(candidates(task)),
            decided: task.decided.is_some(),
            failure: task.failure.as_ref().map(|f| code(&FailureKind::ALL, &f.kind)),
            agent: agent(task).map(str::to_owned),
            assigned: (!assigned.is_empty()).then(|| serde_json::to_string(assigned).unwrap_or_default()),
        }
    }
}

/// Turns a priority round, so that the most urgent comes first; exact for every integer.
pub(crate) fn urgency(priority: i64) -> i64 {
    !priority
}

fn assigned(task: &Task) -> &[String] {
    task.interruption.as_ref().map_or(&[], |i| &i.question.satisfiers.principals)
}

fn candidates(task: &Task) -> u32 {
    let sides = task.review.as_ref().map_or(0, |r| r.candidates().len());
    u32::try_from(sides + usize::from(task.interruption.is_some())).unwrap_or(u32::MAX)
}

fn agent(task: &Task) -> Option<&str> {
    let holder = task.lease.as_ref().map(|l| l.worker.as_str());
    holder.or_else(|| task.interruption.as_ref().map(|i| i.asked_by.as_str()))
}

/// What free text is searched in for a task: its id, goal, question and trace.
pub(crate) fn words_of_task(task: &Task) -> String {
    let question = task.interruption.as_ref().map(|i| i.question.prompt.as_str());
    let parts = [Some(task.task_id.as_str()), task.request.goal.as_deref(), question, Some(&task.trace_id)];
    joined(&parts)
}

/// What free text is searched in for a quarantine entry: its names and what is wrong with it.
pub(crate) fn words_of_entry(entry: &Entry) -> String {
    let n = &entry.named;
    joined(&[n.task_id.as_deref(), n.message_id.as_deref(), n.sender.as_deref(), Some(&entry.detail)])
}

fn joined(parts: &[Option<&str>]) -> String {
    let mut text = String::new();
    for part in parts.iter().copied().flatten() {
        text.push_str(&part.to_lowercase());
        text.push(BETWEEN);
    }
    text
}

/// A row of a list as a filter sees it.
#[derive(Clone, Copy, Debug)]
pub struct Listed<'a> {
    /// The task, or the quarantine entry.
    pub of: Of<'a>,
    /// Why it waits.
    pub attention: Option<&'a Attention>,
    /// Who "mine" is.
    pub me: &'a str,
}

/// What a row stands for.
#[derive(Clone, Copy, Debug)]
pub enum Of<'a> {
    /// A task.
    Task(&'a Task),
    /// A quarantine entry.
    Entry(&'a Entry),
}

impl<'a> Listed<'a> {
    fn task(&self) -> Option<&'a Task> {
        match self.of {
            Of::Task(task) => Some(task),
            Of::Entry(_) => None,
        }
    }
}

impl Row for Listed<'_> {
    fn state(&self) -> &str {
        self.task().map_or("", |t| t.state.as_str())
    }

    fn has_reason(&self, reason: &str) -> bool {
        let Some(attention) = self.attention else { return false };
        reason == attention.reason.as_str()
            || (reason == Stuck::Quarantined.as_str() && attention.stuck == Some(Stuck::Quarantined))
    }

    fn trace(&self) -> &str {
        self.task().map_or("", |t| &t.trace_id)
    }

    fn task(&self) -> &str {
        match self.of {
            Of::Task(task) => task.task_id.as_str(),
            Of::Entry(entry) => entry.named.task_id.as_deref().unwrap_or_default(),
        }
    }

    fn agent(&self) -> Option<&str> {
        match self.of {
            Of::Task(task) => agent(task),
            Of::Entry(entry) => entry.named.sender.as_deref(),
        }
    }

    fn label(&self, key: &str) -> Option<&str> {
        Listed::task(self).and_then(|t| t.labels.get(key)).map(String::as_str)
    }

    fn since_ms(&self) -> Option<i64> {
        let standing = Listed::task(self).map(|t| t.entered_at.0);
        self.attention.map(|a| a.since.0).or(standing)
    }

    fn candidates(&self) -> u32 {
        Listed::task(self).map_or(0, candidates)
    }

    fn failure(&self) -> Option<&str> {
        Listed::task(self).and_then(|t| t.failure.as_ref()).map(|f| f.kind.as_str())
    }

    fn mine(&self) -> bool {
        Listed::task(self).is_some_and(|t| assigned(t).iter().any(|p| p == self.me))
    }

    fn text_contains(&self, text: &str) -> bool {
        let words = match self.of {
            Of::Task(task) => words_of_task(task),
            Of::Entry(entry) => words_of_entry(entry),
        };
        words.contains(&text.to_lowercase())
    }
}

/// The code of a reason in the docket; what does not wait comes after everything that does.
pub(crate) fn reason_code(reason: Option<Reason>) -> i64 {
    reason.map_or(i64::try_from(Reason::ALL.len()).unwrap_or(NEVER), |r| code(&Reason::ALL, &r))
}

/// What a docket row stands for; `None` where its reason is none.
pub(crate) fn attention(reason: i64, stuck: i64, since: i64, until: i64) -> Option<Attention> {
    Some(Attention {
        reason: decode(&Reason::ALL, reason)?,
        stuck: decode(&Stuck::ALL, stuck),
        since: Timestamp(since),
        until: (until != NEVER).then_some(Timestamp(until)),
    })
}

/// The letter of an order in a cursor.
pub(crate) fn order_letter(key: OrderKey) -> char {
    match key {
        OrderKey::Since => 's',
        OrderKey::Priority => 'p',
        OrderKey::Deadline => 'd',
        OrderKey::Task => 't',
        OrderKey::Trace => 'r',
        OrderKey::Reason => 'w',
    }
}
