//! The way to a decision from where no side is seen, and to the correction of a record, with whether it can be superseded.

use super::super::Ctx;
use super::super::answer::Answer;
use super::super::case::Case;
use super::Decision;
use crate::coordinator::Shown;
use crate::domain::ids::TaskId;
use crate::domain::task::TaskState;
use crate::domain::text::reveal;

/// Opens the decision on a task in this state, as it was last read. Where sides are judged the case comes first: a side is
/// upheld only after it was read, and the case is where it is read.
pub(in super::super) fn decide(id: TaskId, state: Option<TaskState>, ctx: &mut Ctx<'_>) {
    let closed = ctx.model.closed().map(|why| format!("nothing can be decided now: {why}"));
    match (closed, state) {
        (Some(why), _) => ctx.toast(why),
        (None, None) => ctx.toast("the task is not read yet"),
        (None, Some(TaskState::NeedsReview)) => {
            ctx.go_to(Case::new(id));
            ctx.toast("read the sides, then d decides");
        }
        (None, Some(_)) => ctx.push(Decision::new(id)),
    }
}

/// Opens what corrects a record of a task as it was just read: the form of its question, or its sides beside each
/// other. Says why where it cannot be superseded now.
pub(in super::super) fn correct(shown: &Shown, approval_id: &str, ctx: &mut Ctx<'_>) {
    if let Some(why) = not_correctable(shown, approval_id) {
        return ctx.toast(reveal(&why).to_string());
    }
    let task_id = shown.task.task_id.clone();
    if is_answer(shown) {
        return ctx.push(Answer::new(task_id).superseding(approval_id.to_owned()));
    }
    // A side is upheld only after it was read, and the case is where it is read.
    let number = shown.task.decided.as_ref().map_or(0, |last| last.sequence);
    ctx.toast(format!("read the sides that record {number} judged; then d corrects it"));
    ctx.go_to(Case::new(task_id));
}

/// Whether the last record of a task answered a question.
pub(in super::super) fn is_answer(shown: &Shown) -> bool {
    let judged = shown.task.judged.as_ref();
    judged.is_some_and(|judged| judged.from == TaskState::WaitingHuman && judged.interruption.is_some())
}

/// The last record of a task, where it can be superseded now.
pub(in super::super) fn correctable(shown: &Shown) -> Option<String> {
    let last = shown.task.decided.as_ref().map(|last| last.approval_id.clone())?;
    not_correctable(shown, &last).is_none().then_some(last)
}

/// Why a record of a task cannot be superseded, `None` where it can.
pub(in super::super) fn not_correctable(shown: &Shown, approval_id: &str) -> Option<String> {
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
