//! A task's events in words: all of them, or how it came into its state.

use super::failure::Failure;
use super::output::{Out, named};
use crate::coordinator::{Coordinator, Shown};
use crate::domain::event::{Event, Message, What};
use crate::domain::ids::TaskId;

const PAGE: usize = 500;

/// Every event in order.
pub async fn all(c: &dyn Coordinator, id: &TaskId, out: &mut Out) -> Result<(), Failure> {
    let mut after = 0;
    loop {
        let page = c.timeline(id, after, PAGE).await?;
        let Some(last) = page.last() else { return Ok(()) };
        after = last.revision;
        out.rows(&page, line)?;
    }
}

/// How the task came into its state: from where, by whom, and why. Nothing for one that is where it began. It is looked
/// for page by page from the end, however much has happened since.
pub async fn last_move(c: &dyn Coordinator, shown: &Shown) -> Result<Option<String>, Failure> {
    let task = &shown.task;
    // It may have gone on since it was shown.
    let mut through = task.revision;
    while through > 0 {
        let after = through.saturating_sub(PAGE as u64);
        let events = c.timeline(&task.task_id, after, PAGE).await?;
        let moves = |e: &&Event| e.revision <= through && matches!(e.what, What::Moved { .. });
        if let Some(last) = events.iter().rev().find(moves) {
            return Ok(Some(told(&last.what).1));
        }
        through = after;
    }
    Ok(None)
}

fn line(event: &Event) -> Vec<String> {
    let (what, about) = told(&event.what);
    vec![
        event.revision.to_string(),
        event.at.to_string(),
        format!("v{}", event.state_version),
        what.to_owned(),
        about,
    ]
}

/// One event in words.
fn told(what: &What) -> (&'static str, String) {
    match what {
        What::Created { trace_id, request, .. } => {
            ("created", format!("{trace_id}  {}", request.goal.as_deref().unwrap_or_default()))
        }
        What::Delivered(d) => {
            let what = match &d.message {
                Message::New(s) => format!(" {}", s.kind.as_str()),
                Message::Repeat(r) => format!(", repeats #{}", r.of),
            };
            let (arrival, id) = (d.message.arrival(), d.message.message_id());
            (d.outcome.as_str(), format!("#{arrival} {id} from {}{what}", named(d.message.sender())))
        }
        What::Moved { from, to, reason, executor, lease_version, .. } => {
            let lease = lease_version.map(|l| format!(", lease {l}")).unwrap_or_default();
            ("moved", format!("{from} → {to} by {executor}{lease}: {reason}"))
        }
        What::Failed(f) => {
            ("failed", format!("{}: {}", f.kind.as_str(), f.message.as_deref().unwrap_or("-")))
        }
        What::Claimed { worker, lease_version, expires_at } => {
            ("claimed", format!("{worker}, lease {lease_version} until {expires_at}"))
        }
        What::Renewed { lease_version, expires_at } => {
            ("renewed", format!("lease {lease_version} until {expires_at}"))
        }
        What::Released { lease_version, executor, reason } => {
            ("released", format!("lease {lease_version} by {executor}: {reason}"))
        }
        What::Asked(i) => ("asked", format!("{} by {}: {}", i.id, i.asked_by, i.question.prompt)),
        What::Closed { interruption, how } => {
            let how = serde_json::to_value(how).unwrap_or_default();
            ("closed", format!("{interruption}, {}", how.as_str().unwrap_or_default()))
        }
        What::Applied { arrival, .. } => ("applied", format!("#{arrival}, held until now")),
        What::Reserved { effect, executor, .. } => {
            ("reserved", format!("{} on {} by {executor}", effect.key, effect.target))
        }
        What::Voided { effect, executor, reason } => {
            ("not done", format!("{} on {} by {executor}: {reason}", effect.key, effect.target))
        }
        What::Committed { effect, digest, .. } => {
            ("committed", format!("{} on {} {digest}", effect.key, effect.target))
        }
        What::Contradicted { effect, conflict, .. } => {
            ("contradicted", format!("{} on {}: {}", effect.key, effect.target, conflict.why))
        }
        What::Decided(d) => (
            "decided",
            format!("{} by {} in {}: {}", d.decision, d.principal.subject, d.approval_id, d.reason),
        ),
        What::GateFailed { executor, reason } => ("gate failed", format!("by {executor}: {reason}")),
    }
}
