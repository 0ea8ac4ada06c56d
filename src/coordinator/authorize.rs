//! What a principal may see: scopes, payloads and masks (contract section 12). Deny by default.

use crate::domain::actor::{Operation, Principal, Role, Scope, Subject};
use crate::domain::event::Submission;
use crate::domain::redact::{Mask, Rule};
use crate::domain::refusal::Refusal;
use crate::domain::task::Task;

/// One principal's view of a store.
#[derive(Clone, Debug)]
pub(super) struct Sight {
    principal: Principal,
    redaction: Vec<Rule>,
}

impl Sight {
    /// As whom.
    pub(super) fn of(principal: Principal) -> Self {
        Sight { principal, redaction: Vec::new() }
    }

    /// Masks by these rules.
    pub(super) fn redact(&mut self, rules: Vec<Rule>) {
        self.redaction = rules;
    }

    /// As whom.
    pub(super) fn principal(&self) -> &Principal {
        &self.principal
    }

    /// Refuses what no role of the principal allows anywhere.
    pub(super) fn require(&self, operation: Operation) -> Result<(), Refusal> {
        if self.principal.subject.is_empty() {
            return Err(Refusal::Unauthenticated);
        }
        if self.principal.may(operation, None) {
            return Ok(());
        }
        let needed: Vec<&str> = Operation::TABLE
            .iter()
            .filter(|(op, _)| *op == operation)
            .flat_map(|(_, roles)| roles.iter().map(|r| r.as_str()))
            .collect();
        let why = format!("{:?} needs one of the roles {}", self.principal.subject, needed.join(", "));
        Err(Refusal::Forbidden { why })
    }

    /// Whether the principal may know of a task; what it may not know of is not found.
    pub(super) fn sees(&self, task: &Task) -> bool {
        self.principal.may(Operation::Inspect, Some(task.subject()))
    }

    /// Whether the principal sees every task, so that nothing has to be filtered.
    pub(super) fn sees_all(&self) -> bool {
        self.principal.grants.iter().any(|g| g.scope == Scope::default())
    }

    /// Whether it may read what a submission holds: anybody's, or only what it sent or received.
    pub(super) fn reads(&self, task: &Task, submission: &Submission) -> bool {
        self.reads_all(task)
            || self.principal.speaks_for(&submission.sender)
            || self.principal.speaks_for(&submission.recipient)
    }

    /// Whether it may read every payload of a task.
    pub(super) fn reads_all(&self, task: &Task) -> bool {
        self.principal.may(Operation::ReadPayloads, Some(task.subject()))
    }

    /// Whether nothing at all has to be filtered or masked.
    pub(super) fn reads_everything(&self) -> bool {
        let reader = |g: &crate::domain::actor::Grant| g.scope == Scope::default() && g.role != Role::Worker;
        self.redaction.is_empty() && self.principal.grants.iter().any(reader)
    }

    /// Whether anything could be masked for somebody.
    pub(super) fn may_mask(&self) -> bool {
        !self.redaction.is_empty()
    }

    /// What is masked for this principal on a task; without one, only roles held everywhere count.
    pub(super) fn mask(&self, on: Option<Subject<'_>>) -> Mask {
        let holds = |threshold: Role| {
            self.principal.grants.iter().any(|g| {
                let covered = on.map_or(g.scope == Scope::default(), |s| g.scope.covers(s));
                covered && includes(g.role, threshold)
            })
        };
        // A threshold that names no role is one that nobody reaches: masking fails closed.
        self.redaction.iter().filter(|rule| !Role::parse(&rule.below).is_some_and(holds)).collect()
    }
}

/// Whether whoever holds `role` may do all that `threshold` may, so that a mask for those below it does not apply.
fn includes(role: Role, threshold: Role) -> bool {
    use Role::{Admin, Operator, Responder, Reviewer, Viewer, Worker};
    match threshold {
        Worker => true,
        Viewer => role != Worker,
        Responder => matches!(role, Responder | Reviewer | Operator | Admin),
        Reviewer => matches!(role, Reviewer | Admin),
        Operator => matches!(role, Operator | Admin),
        Admin => role == Admin,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::actor::{Grant, Pattern};
    use crate::domain::redact::Target;

    fn sight(role: Role, below: &str) -> Sight {
        let grant = Grant { role, scope: Scope::default() };
        let mut sight = Sight::of(Principal { grants: vec![grant], ..Principal::owner("x") });
        sight.redact(vec![Rule::new(Target::Pointer("/secret".into()), below).unwrap()]);
        sight
    }

    #[test]
    fn masks_below_the_threshold_only() {
        for (role, below, masked) in [
            (Role::Viewer, "reviewer", true),
            (Role::Responder, "reviewer", true),
            (Role::Operator, "reviewer", true),
            (Role::Reviewer, "reviewer", false),
            (Role::Admin, "reviewer", false),
            (Role::Worker, "viewer", true),
            (Role::Viewer, "viewer", false),
            (Role::Reviewer, "operator", true),
            (Role::Admin, "nobody", true),
        ] {
            assert_eq!(!sight(role, below).mask(None).is_empty(), masked, "{role:?} below {below}");
        }
    }

    #[test]
    fn a_scoped_role_lifts_no_mask_elsewhere() {
        let mut sight = sight(Role::Viewer, "reviewer");
        let scope = Scope { traces: vec![Pattern("R-*".into())], ..Scope::default() };
        sight.principal.grants.push(Grant { role: Role::Reviewer, scope });
        let (id, labels) = ("T".into(), std::collections::BTreeMap::new());
        let on = |trace_id| Subject { task_id: &id, trace_id, labels: &labels };
        assert!(sight.mask(Some(on("R-1"))).is_empty());
        assert!(!sight.mask(Some(on("Q-1"))).is_empty());
        assert!(!sight.mask(None).is_empty());
    }
}
