//! What is done about a task from a shell, as commands with its version and lease filled in; what a person must still
//! say is `…`. `program` is how a command begins: `tribunal`, or that with its store.

use super::task::{Reservation, Task, TaskState};

/// A name as a shell takes it for one word: names come from agents and are not to be pasted as anything else.
pub fn word(name: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:@,+=".contains(c);
    if !name.is_empty() && !name.starts_with('-') && name.chars().all(plain) {
        return name.to_owned();
    }
    format!("'{}'", name.replace('\'', r"'\''"))
}

/// Whether a person left open what they must say: the command is as it was printed.
pub fn is_left_open(said: &str) -> bool {
    said.trim() == "…"
}

/// What every command needs that acts on the task as it was seen.
pub fn as_seen(task: &Task) -> String {
    format!("--expect-version {} --reason …", task.state_version)
}

/// Takes the lease away.
pub fn release(program: &str, task: &Task) -> String {
    format!("{program} release {} --lease {} --reason …", word(task.task_id.as_str()), task.lease_version)
}

/// Says that an announced effect happened; its digest is that of what the target shows for it.
pub fn commit_effect(program: &str, task: &Task, announced: &Reservation) -> String {
    let lease = announced.lease_version.map(|l| format!(" --lease {l}")).unwrap_or_default();
    format!("{program} commit-effect {} --digest DIGEST{lease}", of_effect(task, announced))
}

/// Says that an announced effect did not happen.
pub fn void_effect(program: &str, task: &Task, announced: &Reservation) -> String {
    format!("{program} void-effect {} {}", of_effect(task, announced), as_seen(task))
}

fn of_effect(task: &Task, announced: &Reservation) -> String {
    let [id, key, target] =
        [task.task_id.as_str(), &announced.effect.key, &announced.effect.target].map(word);
    format!("{id} --key {key} --target {target}")
}

/// Moves the task to a state.
pub fn transition(program: &str, task: &Task, to: &str) -> String {
    format!("{program} transition {} --to {to} {}", word(task.task_id.as_str()), as_seen(task))
}

/// Ends the task: by a record where only a record moves it.
pub fn cancel(program: &str, task: &Task) -> String {
    if task.state.waits_for_a_record() {
        return format!("{program} decide {} --cancel {}", word(task.task_id.as_str()), as_seen(task));
    }
    transition(program, task, TaskState::Canceled.as_str())
}

#[cfg(test)]
mod tests {
    use super::word;

    #[test]
    fn a_name_stays_one_word() {
        assert_eq!(word("T-07"), "T-07");
        assert_eq!(word("-x"), "'-x'");
        assert_eq!(word("a b; rm -rf ~"), "'a b; rm -rf ~'");
        assert_eq!(word("it's $(x)"), r"'it'\''s $(x)'");
        assert_eq!(word(""), "''");
    }
}
