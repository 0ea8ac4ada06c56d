//! Correcting a record: whether it can be superseded now, and the dialog for it.

use super::{Decision, Draft, Seen};
use crate::coordinator::Shown;
use crate::domain::task::TaskState;
use crate::tui::screens::case::checks::Checks;

/// The dialog that corrects a record of a task as it was just read.
///
/// # Errors
/// Why this record cannot be superseded now, anybody's text.
pub(in super::super) fn correcting(shown: &Shown, approval_id: &str) -> Result<Decision, String> {
    if let Some(why) = not_correctable(shown, approval_id) {
        return Err(why);
    }
    let seen = Seen {
        task_id: shown.task.task_id.clone(),
        version: shown.task.state_version,
        revision: shown.task.revision,
        set: shown.candidate_set_digest,
        checks: Checks::default(),
        draft: Draft::default(),
    };
    Ok(Decision::seen(seen).superseding(approval_id.to_owned()))
}

/// Why a record of a task cannot be superseded, `None` where it can.
pub(super) fn not_correctable(shown: &Shown, approval_id: &str) -> Option<String> {
    let task = &shown.task;
    let last = task.decided.as_ref().map(|last| last.approval_id.as_str());
    if last != Some(approval_id) {
        let stands = last.map_or_else(|| "no record".to_owned(), str::to_owned);
        return Some(format!(
            "{approval_id} cannot be superseded: the latest of {} is {stands}; it is {}",
            task.task_id.as_str(),
            task.state
        ));
    }
    if task.state != TaskState::Ready || task.lease.is_some() || task.judged.is_none() {
        return Some(format!(
            "{approval_id} cannot be superseded any more: work has gone on, {} is {}",
            task.task_id.as_str(),
            task.state
        ));
    }
    (shown.may.get("supersede") != Some(&true))
        .then(|| format!("{approval_id} is not for you to supersede: who may decide may correct"))
}

/// Why there is nothing to decide about a task that waits for nobody; `None` where it waits.
pub(in super::super) fn nothing_to_decide(shown: &Shown) -> Option<String> {
    let task = &shown.task;
    if task.state.waits_for_a_record() {
        return None;
    }
    let by = task.decided.as_ref().map(|last| {
        format!(" (last: {} by {} in {})", last.decision, last.principal.subject, last.approval_id)
    });
    let by = by.unwrap_or_default();
    Some(format!("{} is {}: nothing to decide{by}", task.task_id.as_str(), task.state))
}
