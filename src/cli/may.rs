//! Tells what may be done with a task as commands, with its version and lease filled in.

use crate::coordinator::Shown;
use crate::domain::interruption::Need;
use crate::domain::shell::{self, as_seen, word};
use crate::domain::task::TaskState;

/// One command for each thing that is allowed now, ready to be completed: what a person must still say is in capitals
/// or `…`. Nothing is in it that the coordinator did not call allowed.
pub fn commands(shown: &Shown) -> Vec<String> {
    let task = &shown.task;
    let may = |name: &str| shown.may.get(name).copied().unwrap_or(false);
    let id = word(task.task_id.as_str());
    let version = as_seen(task);
    let mut all = Vec::new();
    if may("decide") {
        all.push(format!("tribunal decide {id} --ready --uphold ARRIVAL {version}"));
    }
    if may("answer") {
        let question = task.interruption.as_ref();
        for says in replies(question.map(|i| i.question.need)) {
            all.push(format!("tribunal answer {id}{says} {version}"));
        }
    }
    if may("supersede")
        && let (Some(decided), Some(judged)) = (&task.decided, &task.judged)
    {
        let corrects = format!("--supersedes {}", word(&decided.approval_id));
        if !may("supersede_ready") {
            // What is left is to end the task.
        } else if judged.from == TaskState::NeedsReview {
            all.push(format!("tribunal decide {id} --ready --uphold ARRIVAL {corrects} {version}"));
        } else {
            for says in replies(judged.interruption.as_ref().map(|i| i.question.need)) {
                all.push(format!("tribunal answer {id}{says} {corrects} {version}"));
            }
        }
        if may("supersede_cancel") {
            all.push(format!("tribunal decide {id} --cancel {corrects} {version}"));
        }
    }
    if may("release") {
        all.push(shell::release("tribunal", task));
    }
    if may("claim") {
        all.push(format!("tribunal claim {id} --worker NAME"));
    }
    if may("transition") {
        all.push(shell::transition("tribunal", task, "STATE"));
    }
    if may("commit_effect") {
        all.extend(task.reservations.iter().map(|open| shell::commit_effect("tribunal", task, open)));
    }
    if may("void_effect") {
        let unknown = task.reservations.iter().filter(|r| r.unknown_since.is_some());
        all.extend(unknown.map(|open| shell::void_effect("tribunal", task, open)));
    }
    if may("cancel") {
        all.push(shell::cancel("tribunal", task));
    }
    if may("gate") {
        all.push(format!("tribunal gate {id} --fail --reason …"));
    }
    all
}

/// What a question of this need can be answered with.
fn replies(need: Option<Need>) -> &'static [&'static str] {
    match need {
        Some(Need::HumanApproval) => &[" --approve", " --deny"],
        // The authorization is given elsewhere: the answer says only that it was.
        Some(Need::MachineCredentials) => &[""],
        Some(Need::BusinessInput) | None => &[" --file FILE"],
    }
}
