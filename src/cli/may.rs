//! Tells what may be done with a task as commands, with its version and lease filled in.

use crate::coordinator::Shown;
use crate::domain::interruption::Need;
use crate::domain::task::TaskState;

/// One command for each thing that is allowed now, ready to be completed: what a person must still say is in capitals
/// or `…`. Nothing is in it that the coordinator did not call allowed.
pub fn commands(shown: &Shown) -> Vec<String> {
    let task = &shown.task;
    let may = |name: &str| shown.may.get(name).copied().unwrap_or(false);
    let id = quoted(task.task_id.as_str());
    let version = format!("--expect-version {} --reason …", task.state_version);
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
        let corrects = format!("--supersedes {}", quoted(&decided.approval_id));
        if judged.from == TaskState::NeedsReview {
            all.push(format!("tribunal decide {id} --ready --uphold ARRIVAL {corrects} {version}"));
        } else {
            for says in replies(judged.interruption.as_ref().map(|i| i.question.need)) {
                all.push(format!("tribunal answer {id}{says} {corrects} {version}"));
            }
        }
    }
    if may("release") {
        all.push(format!("tribunal release {id} --lease {} --reason …", task.lease_version));
    }
    if may("claim") {
        all.push(format!("tribunal claim {id} --worker NAME"));
    }
    if may("transition") {
        all.push(format!("tribunal transition {id} --to STATE {version}"));
    }
    if may("commit_effect") {
        for open in &task.reservations {
            let lease = open.lease_version.map(|l| format!(" --lease {l}")).unwrap_or_default();
            let (key, target) = (quoted(&open.effect.key), quoted(&open.effect.target));
            all.push(format!(
                "tribunal commit-effect {id} --key {key} --target {target} --digest DIGEST{lease}"
            ));
        }
    }
    if may("cancel") {
        all.push(if task.state.waits_for_a_record() {
            format!("tribunal decide {id} --cancel {version}")
        } else {
            format!("tribunal transition {id} --to canceled {version}")
        });
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

/// A name as a shell takes it for one word: names come from agents and are not to be pasted as anything else.
pub(super) fn quoted(name: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:@,+=".contains(c);
    if !name.is_empty() && !name.starts_with('-') && name.chars().all(plain) {
        return name.to_owned();
    }
    format!("'{}'", name.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn a_name_stays_one_word() {
        assert_eq!(quoted("T-07"), "T-07");
        assert_eq!(quoted("a b; rm -rf ~"), "'a b; rm -rf ~'");
        assert_eq!(quoted("it's $(x)"), r"'it'\''s $(x)'");
        assert_eq!(quoted(""), "''");
    }
}
