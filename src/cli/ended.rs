//! What a task that was ended by hand leaves open: effects of unknown fate, and messages that nobody applied.

use super::output::note;
use crate::coordinator::Coordinator;
use crate::domain::ids::TaskId;
use crate::domain::shell::{self, word};
use crate::domain::text::reveal;

/// Announced effects, or held messages, that are named one by one.
const NAMED: usize = 20;

/// Tells on standard error what a task that was ended by hand leaves open. The move is made: it is only told.
pub async fn tell(c: &dyn Coordinator, id: &TaskId) {
    let task = word(id.as_str());
    let shown = match c.show(id).await {
        Ok(shown) => shown,
        Err(e) => return warn(&format!("what {task} leaves open could not be read: {e}")),
    };
    let effects = &shown.task.reservations;
    for announced in effects.iter().take(NAMED) {
        let (key, target) = (&announced.effect.key, &announced.effect.target);
        warn(&format!(
            "effect {key} on {target} was announced, and nobody reported whether it happened: find out, then `{}` or `{}`",
            shell::commit_effect("tribunal", &shown.task, announced),
            shell::void_effect("tribunal", &shown.task, announced)
        ));
    }
    let held = &shown.held_messages;
    for s in held.iter().take(NAMED).map(|held| &held.submission) {
        let (arrival, kind) = (s.arrival, s.kind.as_str());
        warn(&format!(
            "#{arrival} {kind} from {}, message {}, is held and is not applied",
            s.sender, s.message_id
        ));
    }
    let more = effects.len().saturating_sub(NAMED) + held.len().saturating_sub(NAMED);
    if more > 0 {
        warn(&format!("{more} more are left open: `tribunal show {task}` names them"));
    }
}

/// Says something that a person should know, beside the result.
pub fn warn(text: &str) {
    note(&format!("warning: {}", reveal(text)));
}
