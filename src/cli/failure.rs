//! Why a verb did not do what it was asked: one exit code and one message each (product.md).

use crate::config::ConfigError;
use crate::coordinator::{Error, StoreError};
use crate::domain::refusal::{Refusal, RefusalClass};
use serde_json::{Map, Value, json};
use std::io;

/// Why a verb ends otherwise than well.
#[derive(Debug)]
pub enum Failure {
    /// The command line, or the configuration, is wrong.
    Usage(String),
    /// A rule said no.
    Refused(Refusal),
    /// The store failed.
    Store(StoreError),
    /// What was given is wrong in itself; told already or told by this, with a code and data for programs.
    Invalid {
        /// The code.
        code: &'static str,
        /// The sentence.
        message: String,
        /// More members.
        data: Map<String, Value>,
    },
    /// Some messages were quarantined, or some refused as not permitted: told already, only the exit code is left.
    Told(u8),
    /// Whoever read the output is gone.
    Pipe,
    /// Something broke that is nobody's input.
    Broken(anyhow::Error),
}

impl Failure {
    /// A wrong input with a code.
    pub fn invalid(code: &'static str, message: impl Into<String>) -> Self {
        Failure::Invalid { code, message: message.into(), data: Map::new() }
    }

    /// A file that could not be read or written: what was given is wrong, where it is not there.
    pub fn file(path: &str, e: &io::Error) -> Self {
        let code = match e.kind() {
            io::ErrorKind::NotFound => "file_not_found",
            _ => "file_unreadable",
        };
        Failure::invalid(code, format!("{path}: {e}"))
    }

    /// The exit code.
    pub fn exit(&self) -> u8 {
        match self {
            Failure::Usage(_) => 2,
            Failure::Refused(refusal) => match refusal.class() {
                RefusalClass::NotFound => 3,
                RefusalClass::Stale => 4,
                RefusalClass::NotPermitted => 5,
                RefusalClass::Invalid => 6,
                RefusalClass::Unavailable => 7,
                RefusalClass::Damaged => 8,
            },
            Failure::Store(StoreError::BadCursor) => 6,
            Failure::Store(StoreError::Damaged(_)) => 8,
            Failure::Store(_) => 7,
            Failure::Invalid { .. } => 6,
            Failure::Told(code) => *code,
            Failure::Pipe => 0,
            Failure::Broken(_) => 1,
        }
    }

    /// The object for programs; `None` where nothing more is to be said.
    pub fn json(&self) -> Option<Value> {
        let coded = |code: &str, message: String| Some(json!({ "error": code, "message": message }));
        match self {
            Failure::Usage(message) => coded("usage", message.clone()),
            Failure::Refused(refusal) => {
                let mut value = serde_json::to_value(refusal).unwrap_or_default();
                if let Value::Object(members) = &mut value {
                    members.insert("message".into(), refusal.to_string().into());
                }
                Some(value)
            }
            Failure::Store(e) => coded(store_code(e), e.to_string()),
            Failure::Invalid { code, message, data } => {
                let mut members = Map::new();
                members.insert("error".into(), (*code).into());
                members.insert("message".into(), message.clone().into());
                members.extend(data.clone());
                Some(Value::Object(members))
            }
            Failure::Told(_) | Failure::Pipe => None,
            Failure::Broken(e) => coded("unexpected", format!("{e:#}")),
        }
    }

    /// The sentence for people.
    pub fn message(&self) -> Option<String> {
        match self {
            Failure::Usage(message) | Failure::Invalid { message, .. } => Some(message.clone()),
            Failure::Refused(refusal) => Some(refusal.to_string()),
            Failure::Store(e) => Some(e.to_string()),
            Failure::Told(_) | Failure::Pipe => None,
            Failure::Broken(e) => Some(format!("{e:#}")),
        }
    }
}

fn store_code(e: &StoreError) -> &'static str {
    match e {
        StoreError::Unreachable(_) => "unreachable",
        StoreError::Incompatible(_) => "store_incompatible",
        StoreError::ReadOnly(_) => "store_read_only",
        StoreError::Full => "store_full",
        StoreError::Failed(_) => "store_failed",
        StoreError::Busy => "store_busy",
        StoreError::Damaged(_) => "store_damaged",
        StoreError::Closed => "store_closed",
        StoreError::BadCursor => "bad_cursor",
    }
}

impl From<Error> for Failure {
    fn from(e: Error) -> Self {
        match e {
            Error::Refused(refusal) => Failure::Refused(refusal),
            Error::Store(e) => Failure::Store(e),
        }
    }
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        Failure::Refused(refusal)
    }
}

impl From<StoreError> for Failure {
    fn from(e: StoreError) -> Self {
        Failure::Store(e)
    }
}

impl From<ConfigError> for Failure {
    fn from(e: ConfigError) -> Self {
        Failure::Usage(e.to_string())
    }
}

impl From<anyhow::Error> for Failure {
    fn from(e: anyhow::Error) -> Self {
        Failure::Broken(e)
    }
}
