//! What can be done in a shell about a task that nothing moves, as whole commands.

use crate::coordinator::Shown;
use crate::domain::attention::Stuck;
use crate::domain::shell;
use crate::domain::task::TaskState;

/// The commands behind the advice about a stuck task, for the store that `command` reaches. Only what the coordinator
/// calls allowed is in it; what a person must still say is `…`. Of anybody's text: names are quoted for a shell.
pub(super) fn commands(shown: &Shown, command: &str) -> Vec<String> {
    let task = &shown.task;
    let may = |name: &str| shown.may.get(name) == Some(&true);
    let release = || shell::release(command, task);
    let ready = || shell::transition(command, task, TaskState::Ready.as_str());
    let (first, cancels) = match shown.stuck {
        Some(Stuck::LeaseExpired) => (may("release").then(release), true),
        Some(Stuck::RetryOverdue | Stuck::PendingTooLong) => (may("transition").then(ready), true),
        Some(Stuck::InterruptionExpired) => (None, true),
        // What is to be found out first is found out elsewhere; these only say what it was.
        Some(Stuck::EffectUnknown) => return of_effects(shown, command),
        Some(Stuck::ReadyTooLong | Stuck::Quarantined) | None => (None, false),
    };
    let cancel = (cancels && may("cancel")).then(|| shell::cancel(command, task));
    first.into_iter().chain(cancel).collect()
}

/// The lease goes first: while it is held, whoever holds it may still act.
fn of_effects(shown: &Shown, command: &str) -> Vec<String> {
    let task = &shown.task;
    let may = |name: &str| shown.may.get(name) == Some(&true);
    let mut all: Vec<String> = may("release").then(|| shell::release(command, task)).into_iter().collect();
    for announced in task.reservations.iter().filter(|r| r.unknown_since.is_some()) {
        all.extend(may("commit_effect").then(|| shell::commit_effect(command, task, announced)));
        all.extend(may("void_effect").then(|| shell::void_effect(command, task, announced)));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::super::super::stage::Stage;
    use super::*;
    use crate::domain::envelope::EffectName;
    use crate::domain::task::Reservation;

    #[test]
    fn a_stuck_task_names_the_commands_that_are_allowed_and_safe() {
        let mut stage = Stage::running();
        let told = |stage: &Stage| commands(&stage.shown(), "tribunal --store s.db");
        assert!(told(&stage).is_empty(), "nothing is stuck");
        stage.stuck = Some(Stuck::LeaseExpired);
        stage.may.extend([("release", true), ("cancel", true), ("transition", true)]);
        let version = stage.shown().task.state_version;
        let cancel =
            format!("tribunal --store s.db transition T --to canceled --expect-version {version} --reason …");
        let release = "tribunal --store s.db release T --lease 1 --reason …".to_owned();
        assert_eq!(told(&stage), [release.clone(), cancel.clone()]);
        stage.may.insert("cancel", false);
        assert_eq!(told(&stage), [release]);
        stage.may.insert("cancel", true);
        stage.stuck = Some(Stuck::PendingTooLong);
        let ready = cancel.replace("canceled", "ready");
        assert_eq!(told(&stage), [ready, cancel]);
        stage.stuck = Some(Stuck::EffectUnknown);
        assert_eq!(told(&stage), ["tribunal --store s.db release T --lease 1 --reason …"]);
        let mut shown = stage.shown();
        shown.may = [("release", false), ("commit_effect", true), ("void_effect", true)].into();
        let name = |key: &str| EffectName { key: key.into(), target: "bank account".into() };
        let announced = |key: &str, unknown_since| Reservation {
            effect: name(key),
            lease_version: Some(1),
            at: shown.task.entered_at,
            unknown_since,
        };
        shown.task.reservations =
            vec![announced("pay-1", Some(shown.task.entered_at)), announced("pay-2", None)];
        let of = "T --key pay-1 --target 'bank account'";
        let says = [
            format!("tribunal commit-effect {of} --digest DIGEST --lease 1"),
            format!("tribunal void-effect {of} --expect-version {version} --reason …"),
        ];
        assert_eq!(commands(&shown, "tribunal"), says, "only of what nobody knows");
    }
}
