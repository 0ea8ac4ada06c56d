//! Who acts: principals, roles, scopes, and what each role may do (contract section 12). Deny by default.

use super::ids::TaskId;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A role a principal can hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Lists, inspects, verifies.
    Viewer,
    /// Viewer, and answers interruptions.
    Responder,
    /// Responder, and decides conflicts.
    Reviewer,
    /// Responder, and keeps work moving: cancel, release, re-admit, retry, gate.
    Operator,
    /// The runtime: submits, claims, renews, reserves and commits; never decides.
    Worker,
    /// Principals, roles, policies, redaction; everything but deciding.
    Admin,
}

impl Role {
    /// Every role.
    pub const ALL: [Role; 6] =
        [Role::Viewer, Role::Responder, Role::Reviewer, Role::Operator, Role::Worker, Role::Admin];

    /// The word on every surface.
    pub fn as_str(self) -> &'static str {
        match self {
            Role::Viewer => "viewer",
            Role::Responder => "responder",
            Role::Reviewer => "reviewer",
            Role::Operator => "operator",
            Role::Worker => "worker",
            Role::Admin => "admin",
        }
    }

    /// The role that a word names.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|r| r.as_str() == word)
    }

    fn bit(self) -> u8 {
        1 << (self as u8)
    }
}

/// Something a principal may or may not do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operation {
    /// List and read tasks, records, events, and run verification.
    Inspect,
    /// Read a payload nobody sent to or from this principal.
    ReadPayloads,
    /// Deliver messages.
    Submit,
    /// Claim, renew, reserve and commit effects.
    Work,
    /// Move a task, except out of the waiting states and to `canceled`.
    Transition,
    /// Answer an interruption.
    Answer,
    /// Judge a conflict.
    Judge,
    /// Cancel a task, a waiting one by a record.
    Cancel,
    /// End a task that waits for a person, by a record.
    CancelByRecord,
    /// Take a lease away.
    Release,
    /// Re-admit or drop quarantined messages.
    Quarantine,
    /// Record that an announced effect did not happen.
    VoidEffect,
    /// Record that an artifact does not pass.
    Gate,
    /// Accept a store whose head is not the remembered one.
    AcceptHead,
    /// Principals, tokens, policies, redaction.
    Administer,
}

impl Operation {
    /// Every operation with the roles that may do it: the one table behind every surface.
    pub const TABLE: [(Operation, &'static [Role]); 15] = {
        use Role::{Admin, Operator, Responder, Reviewer, Viewer, Worker};
        [
            (Operation::Inspect, &[Viewer, Responder, Reviewer, Operator, Worker, Admin]),
            (Operation::ReadPayloads, &[Viewer, Responder, Reviewer, Operator, Admin]),
            (Operation::Submit, &[Worker, Admin]),
            (Operation::Work, &[Worker, Admin]),
            (Operation::Transition, &[Worker, Operator, Admin]),
            (Operation::Answer, &[Responder, Reviewer, Operator]),
            (Operation::Judge, &[Reviewer]),
            (Operation::Cancel, &[Operator, Admin]),
            (Operation::CancelByRecord, &[Reviewer, Operator]),
            (Operation::Release, &[Operator, Admin]),
            (Operation::Quarantine, &[Operator, Admin]),
            (Operation::VoidEffect, &[Operator, Admin]),
            (Operation::Gate, &[Operator, Admin]),
            (Operation::AcceptHead, &[Operator, Admin]),
            (Operation::Administer, &[Admin]),
        ]
    };

    fn roles(self) -> u8 {
        Self::TABLE
            .iter()
            .filter(|(op, _)| *op == self)
            .flat_map(|(_, roles)| roles.iter())
            .fold(0, |bits, role| bits | role.bit())
    }
}

/// Text with `*` for any run of characters.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Pattern(pub String);

impl Pattern {
    /// Whether the whole text fits.
    pub fn fits(&self, text: &str) -> bool {
        let mut parts = self.0.split('*');
        let Some(mut rest) = parts.next().and_then(|head| text.strip_prefix(head)) else { return false };
        let Some(last) = self.0.contains('*').then(|| self.0.rsplit('*').next()).flatten() else {
            return rest.is_empty();
        };
        let middles: Vec<&str> = parts.collect();
        for middle in middles.iter().take(middles.len().saturating_sub(1)) {
            match rest.find(middle) {
                Some(at) => rest = rest.get(at + middle.len()..).unwrap_or_default(),
                None => return false,
            }
        }
        rest.ends_with(last)
    }
}

/// Where a role holds: everywhere, or only for tasks whose trace and labels fit.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Scope {
    /// Traces it covers; empty = all.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub traces: Vec<Pattern>,
    /// Labels it asks for, all of them; empty = none.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, Pattern>,
}

/// What a scope looks at in a task.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    /// The task.
    pub task_id: &'a TaskId,
    /// Its trace.
    pub trace_id: &'a str,
    /// Its labels.
    pub labels: &'a BTreeMap<String, String>,
}

impl Scope {
    /// Whether the scope covers a task.
    pub fn covers(&self, subject: Subject<'_>) -> bool {
        (self.traces.is_empty() || self.traces.iter().any(|p| p.fits(subject.trace_id)))
            && self.labels.iter().all(|(k, p)| subject.labels.get(k).is_some_and(|v| p.fits(v)))
    }
}

/// A role and where it holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Grant {
    /// Which role.
    pub role: Role,
    /// Where.
    #[serde(default)]
    pub scope: Scope,
}

/// An authenticated actor.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Principal {
    /// Who.
    pub subject: String,
    /// Who says so.
    pub issuer: String,
    /// How it was shown.
    pub method: String,
    /// What it may do.
    pub grants: Vec<Grant>,
    /// The senders it speaks for: it may deliver as them (over the network), and is the author of what they sent.
    #[serde(default)]
    pub senders: Vec<Pattern>,
    /// For whom it acts, where it acts for another.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_behalf_of: Option<String>,
}

impl Principal {
    /// The owner of an embedded store's file: viewer, responder, reviewer and operator.
    pub fn owner(user: &str) -> Self {
        Principal {
            subject: user.to_owned(),
            issuer: "local".into(),
            method: "file-owner".into(),
            grants: [Role::Viewer, Role::Responder, Role::Reviewer, Role::Operator].map(everywhere).into(),
            senders: vec![Pattern(user.to_owned())],
            on_behalf_of: None,
        }
    }

    /// The runtime on an embedded store: whoever can write the file may deliver for anybody.
    pub fn local_worker() -> Self {
        Principal {
            subject: "local-worker".into(),
            issuer: "local".into(),
            method: "file-owner".into(),
            grants: vec![everywhere(Role::Worker)],
            senders: vec![Pattern("*".into())],
            on_behalf_of: None,
        }
    }

    /// Whether some role allows the operation, on this task where one is given.
    pub fn may(&self, operation: Operation, on: Option<Subject<'_>>) -> bool {
        let allowed = operation.roles();
        // No agent identity can hold a deciding role: a worker's grants beside it do not count for deciding.
        let deciding = matches!(operation, Operation::Judge | Operation::Answer | Operation::CancelByRecord);
        if deciding && self.grants.iter().any(|g| g.role == Role::Worker) {
            return false;
        }
        self.grants.iter().any(|g| allowed & g.role.bit() != 0 && on.is_none_or(|s| g.scope.covers(s)))
    }

    /// Whether this principal is bound to `sender`.
    pub fn speaks_for(&self, sender: &str) -> bool {
        self.senders.iter().any(|p| p.fits(sender))
    }

    /// The roles held, each once, in their order.
    pub fn roles(&self) -> Vec<Role> {
        let mut roles: Vec<Role> = self.grants.iter().map(|g| g.role).collect();
        roles.sort();
        roles.dedup();
        roles
    }
}

fn everywhere(role: Role) -> Grant {
    Grant { role, scope: Scope::default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns() {
        for (pattern, text, fits) in [
            ("a", "a", true),
            ("a", "ab", false),
            ("*", "", true),
            ("a*", "abc", true),
            ("*c", "abc", true),
            ("a*c", "ac", true),
            ("a*b*c", "a-b-c", true),
            ("a*b*c", "acb", false),
            ("ab*ba", "aba", false),
            ("", "", true),
            ("", "x", false),
        ] {
            assert_eq!(Pattern(pattern.into()).fits(text), fits, "{pattern} {text}");
        }
    }

    #[test]
    fn every_operation_has_one_row() {
        for (i, (op, roles)) in Operation::TABLE.iter().enumerate() {
            assert!(Operation::TABLE.iter().skip(i + 1).all(|(other, _)| other != op));
            assert!(!roles.is_empty());
        }
    }

    #[test]
    fn section_12_table() {
        let may =
            |role, op| Principal { grants: vec![everywhere(role)], ..Principal::owner("x") }.may(op, None);
        use Operation as O;
        for (role, can, cannot) in [
            (Role::Viewer, vec![O::Inspect], vec![O::Answer, O::Judge, O::Cancel, O::Submit, O::Administer]),
            (Role::Responder, vec![O::Inspect, O::Answer], vec![O::Judge, O::Cancel, O::Release]),
            (Role::Reviewer, vec![O::Inspect, O::Answer, O::Judge], vec![O::Cancel, O::Release, O::Submit]),
            (
                Role::Operator,
                vec![O::Answer, O::Cancel, O::Release, O::Quarantine, O::VoidEffect, O::Gate],
                vec![O::Judge, O::Work],
            ),
            (
                Role::Worker,
                vec![O::Submit, O::Work, O::Transition],
                vec![O::Judge, O::Answer, O::Cancel, O::VoidEffect, O::ReadPayloads],
            ),
            (Role::Admin, vec![O::Administer, O::Inspect], vec![O::Judge, O::Answer]),
        ] {
            assert!(can.iter().all(|op| may(role, *op)), "{role:?} can {can:?}");
            assert!(cannot.iter().all(|op| !may(role, *op)), "{role:?} cannot {cannot:?}");
        }
    }

    #[test]
    fn a_worker_identity_never_decides() {
        let mut p = Principal::owner("x");
        p.grants.push(everywhere(Role::Worker));
        assert!(!p.may(Operation::Judge, None) && !p.may(Operation::Answer, None));
    }

    #[test]
    fn scopes_cover_by_trace_and_label() {
        let labels = BTreeMap::from([("team".to_owned(), "pay-1".to_owned())]);
        let id = TaskId::from("T");
        let subject = Subject { task_id: &id, trace_id: "R-7", labels: &labels };
        let scope = |t: &str, l: &str| Scope {
            traces: vec![Pattern(t.into())],
            labels: BTreeMap::from([("team".to_owned(), Pattern(l.into()))]),
        };
        assert!(scope("R-*", "pay-*").covers(subject));
        assert!(!scope("R-*", "ops").covers(subject));
        assert!(!scope("Q-*", "pay-*").covers(subject));
        assert!(Scope::default().covers(subject));
    }
}
