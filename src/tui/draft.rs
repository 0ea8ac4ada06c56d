//! What somebody wrote and has not sent yet, as it is kept on disk: of one task, made against what was seen then.
//!
//! A draft holds what was typed and chosen, never what confirms, so that it cannot send itself. Text that looks like a
//! credential is left out of what is written down.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::domain::digest::Digest;
use crate::domain::ids::{TaskId, Timestamp};
use crate::domain::secret::{SecretKind, looks_like_secret};

/// The form of what is written now.
pub const FORMAT: u32 = 1;
/// The most bytes a draft may take on disk.
pub const LIMIT: usize = 1 << 20;

/// What is being written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// The answer to a question.
    Answer,
    /// A decision.
    Decision,
}

/// What was on the screen when it was begun.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Basis {
    /// The version of the task's state.
    pub version: u64,
    /// The question that was open, by its id and version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question: Option<String>,
    /// The digest of what would be judged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub set: Option<Digest>,
    /// The record that is corrected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub supersedes: Option<String>,
}

impl Basis {
    /// What is not as it was, where the task stands at `now`; `None` where everything is.
    pub fn stale(&self, now: &Basis) -> Option<String> {
        if self == now {
            return None;
        }
        let what = if self.version != now.version {
            format!("the task is at v{}", now.version)
        } else if self.question != now.question {
            "another question is asked".to_owned()
        } else {
            "what is to be judged changed".to_owned()
        };
        Some(format!("{what}: read again before you use it"))
    }
}

/// Everything that was typed and chosen.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Written {
    /// Why.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub reason: String,
    /// From where work resumes.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub resume: String,
    /// A free answer.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub text: String,
    /// The word of what was chosen: ready, cancel, approve, deny.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub choice: Option<String>,
    /// The arrivals that stand.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub upheld: Vec<u64>,
    /// The fields of a form that are not as they were offered, by their raw names; null where nothing is chosen.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub fields: BTreeMap<String, Value>,
}

impl Written {
    /// Whether nothing is in it that would have to be written again; a choice alone is one key.
    pub fn is_blank(&self) -> bool {
        self.reason.is_empty() && self.resume.is_empty() && self.text.is_empty() && self.fields.is_empty()
    }

    /// Puts what is in it into those places of another that are empty.
    pub fn put_into(self, other: &mut Written) {
        for (from, to) in
            [(self.reason, &mut other.reason), (self.resume, &mut other.resume), (self.text, &mut other.text)]
        {
            if to.is_empty() {
                *to = from;
            }
        }
        for (name, value) in self.fields {
            other.fields.entry(name).or_insert(value);
        }
    }

    /// What was typed, each with the word for its place: to be shown and copied. Raw.
    pub fn texts(&self) -> Vec<(String, String)> {
        let named = [("answer", &self.text), ("reason", &self.reason), ("resume from", &self.resume)];
        let typed = named.into_iter().filter(|(_, text)| !text.is_empty());
        let mut texts: Vec<_> = typed.map(|(name, text)| (name.to_owned(), text.clone())).collect();
        texts.extend(self.fields.iter().map(|(name, value)| (name.clone(), plain(value))));
        texts
    }

    /// Without what looks like a credential, and the first of that: in which place, and what it looks like.
    pub fn without_secrets(mut self) -> (Written, Option<(String, SecretKind)>) {
        let mut found = None;
        for (name, text) in [
            ("answer", &mut self.text),
            ("reason", &mut self.reason),
            ("point to resume from", &mut self.resume),
        ] {
            if let Some(kind) = looks_like_secret(text) {
                text.clear();
                found.get_or_insert((name.to_owned(), kind));
            }
        }
        self.fields.retain(|name, value| {
            let text = plain(value);
            // A field that is called `password` says what its value is.
            let kind = looks_like_secret(&text).or_else(|| looks_like_secret(&format!("{name}: {text}")));
            if let Some(kind) = kind {
                found.get_or_insert((name.clone(), kind));
            }
            kind.is_none()
        });
        (self, found)
    }
}

/// A value as it is read by people: a text without its quotes.
fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// What was written about one task.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Draft {
    /// The task.
    pub task: TaskId,
    /// What is being written.
    pub kind: Kind,
    /// When it was last changed.
    pub at: Timestamp,
    /// What it was made against.
    pub basis: Basis,
    /// What was written.
    pub written: Written,
}

/// A draft as it lies on disk.
#[derive(Serialize, Deserialize)]
struct Stored {
    format: u32,
    store: String,
    #[serde(flatten)]
    draft: Draft,
}

/// What is read first: whether the rest can be read.
#[derive(Deserialize)]
struct Head {
    format: u32,
}

impl Draft {
    /// The bytes for the disk, of a draft about a task of the store with this id.
    ///
    /// # Errors
    /// Too much was written; a sentence fragment.
    pub fn to_bytes(&self, store: &str) -> Result<Vec<u8>, String> {
        let stored = Stored { format: FORMAT, store: store.to_owned(), draft: self.clone() };
        let bytes = serde_json::to_vec(&stored).map_err(|error| error.to_string())?;
        if bytes.len() > LIMIT {
            return Err(format!("it is longer than {LIMIT} bytes"));
        }
        Ok(bytes)
    }

    /// The draft that `to_bytes` wrote.
    ///
    /// # Errors
    /// It is no draft, of another format, or about something else; a sentence fragment of our own words.
    pub fn from_bytes(bytes: &[u8], store: &str, task: &TaskId, kind: Kind) -> Result<Draft, String> {
        if bytes.len() > LIMIT {
            return Err(format!("it is longer than {LIMIT} bytes"));
        }
        let damaged = |_| "it is damaged".to_owned();
        let head: Head = serde_json::from_slice(bytes).map_err(damaged)?;
        if head.format != FORMAT {
            return Err(format!("its format is {}, and this program reads {FORMAT}", head.format));
        }
        let stored: Stored = serde_json::from_slice(bytes).map_err(damaged)?;
        let draft = stored.draft;
        let is_it = stored.store == store && draft.task == *task && draft.kind == kind;
        if is_it { Ok(draft) } else { Err("it is about something else".to_owned()) }
    }
}

#[cfg(test)]
mod tests;
