//! Failure is not one string: the kinds of contract section 10.

use serde::{Deserialize, Serialize};

/// What kind of failure this is; each asks for another reaction from the person who reads it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureKind {
    /// Fields, binding, version or operation were wrong.
    Protocol,
    /// The caller could not prove who it is.
    Authentication,
    /// The caller may not do this.
    Authorization,
    /// The server would not take the work.
    Rejected,
    /// The server took the work and execution failed.
    Failed,
    /// The task may have succeeded: check before retrying.
    Delivery,
    /// Protocol fine, but the artifact does not pass a quality or security gate.
    Unacceptable,
}

impl FailureKind {
    /// Every kind, in the contract's order.
    pub const ALL: [FailureKind; 7] = [
        FailureKind::Protocol,
        FailureKind::Authentication,
        FailureKind::Authorization,
        FailureKind::Rejected,
        FailureKind::Failed,
        FailureKind::Delivery,
        FailureKind::Unacceptable,
    ];

    /// The word used on every surface.
    pub fn as_str(self) -> &'static str {
        match self {
            FailureKind::Protocol => "protocol",
            FailureKind::Authentication => "authentication",
            FailureKind::Authorization => "authorization",
            FailureKind::Rejected => "rejected",
            FailureKind::Failed => "failed",
            FailureKind::Delivery => "delivery",
            FailureKind::Unacceptable => "unacceptable",
        }
    }

    /// The kind that a word names.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|k| k.as_str() == word)
    }

    /// What a person should do about it first.
    pub fn advice(self) -> &'static str {
        match self {
            FailureKind::Protocol => "check the agent's version and the message it sent",
            FailureKind::Authentication => "renew the credentials, then retry",
            FailureKind::Authorization => "ask whoever grants access, then retry",
            FailureKind::Rejected => "the work was never taken: change the request or the server",
            FailureKind::Failed => "read the failure, then retry or cancel",
            FailureKind::Delivery => "the work may be done: check at the source before any retry",
            FailureKind::Unacceptable => "the result exists but must not be used as it is",
        }
    }
}

/// A failure as a task keeps it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// Which kind.
    pub kind: FailureKind,
    /// What was said about it; outside text, at most 1 KiB.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}
