//! Tells what a decision said: whether it was a yes, a no or an answer, what it upheld and why.

use super::failure::Failure;
use super::output::Out;
use crate::coordinator::{Coordinator, Shown};
use crate::domain::decision::{Input, Part};
use crate::domain::event::What;
use crate::domain::ledger::Record;
use crate::domain::task::TaskState;

const PAGE: usize = 500;

/// What an answer comes to, in one word.
fn word(input: Option<&Input>) -> &'static str {
    match input.and_then(|i| i.approved) {
        Some(true) => "approved",
        Some(false) => "denied",
        None => "answered",
    }
}

/// What a record says to the question it settles: `approved`, `denied`, `answered`, or `-` where it answers none. A
/// record holds only the digest of its answer, so the answer is looked for in the task's timeline.
pub async fn answer(c: &dyn Coordinator, record: &Record) -> Result<&'static str, Failure> {
    if record.interruption.is_none() || record.decision == TaskState::Canceled {
        return Ok("-");
    }
    let mut after = 0;
    while record.input_digest.is_some() {
        let page = c.timeline(&record.task_id, after, PAGE).await?;
        let Some(last) = page.last() else { break };
        after = last.revision;
        for event in &page {
            if let What::Decided(d) = &event.what
                && d.approval_id == record.approval_id
            {
                return Ok(word(d.input.as_ref()));
            }
        }
    }
    Ok(word(None))
}

/// The last decision on a task: what it upheld and from whom, its reason, and its answer.
pub async fn last(c: &dyn Coordinator, shown: &Shown, out: &mut Out) -> Result<(), Failure> {
    let Some(decided) = &shown.task.decided else { return Ok(()) };
    out.say("")?;
    let (by, id) = (&decided.principal.subject, &decided.approval_id);
    let corrects = decided.supersedes.as_ref().map(|id| format!(", corrects {id}")).unwrap_or_default();
    out.say(format!("decision       {} by {by} in {id}{corrects}", decided.decision))?;
    out.say("  reason:")?;
    out.say_lines("    ", &decided.reason)?;
    if decided.upheld.is_empty() && !decided.candidates.is_empty() {
        out.say("  upheld: none")?;
    }
    for arrival in &decided.upheld {
        let said = c.submissions(&shown.task.task_id, arrival.saturating_sub(1), 1).await?;
        let side = said.iter().map(|s| &s.submission).find(|s| s.arrival == *arrival);
        let from = side.map(|s| format!(" {} from {}", s.message_id, s.sender)).unwrap_or_default();
        out.say(format!("  upheld: #{arrival}{from}"))?;
    }
    let Some(input) = &decided.input else { return Ok(()) };
    out.say(format!("  answer: {}", word(Some(input))))?;
    for part in &input.parts {
        match part {
            Part::Text(text) => out.say_lines("    ", text)?,
            Part::Data(value) => out.say(format!("    {value}"))?,
        }
    }
    Ok(())
}
