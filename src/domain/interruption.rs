//! A question to a person: who may answer, until when, in which form (contract section 8).

use super::actor::Principal;
use super::digest::{self, Digest};
use super::envelope::Limits;
use super::ids::Timestamp;
use serde::{Deserialize, Serialize};

/// What kind of thing is needed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Need {
    /// Facts or a choice that only a person has.
    #[default]
    BusinessInput,
    /// A yes or a no.
    HumanApproval,
    /// An authorization given elsewhere; never typed, stored or forwarded here.
    MachineCredentials,
}

impl Need {
    /// The word on every surface.
    pub fn as_str(self) -> &'static str {
        match self {
            Need::BusinessInput => "business_input",
            Need::HumanApproval => "human_approval",
            Need::MachineCredentials => "machine_credentials",
        }
    }
}

/// How the asker learns that it was answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StatusBy {
    /// An open stream.
    Subscription,
    /// A call back.
    Webhook,
    /// Asking again.
    Polling,
}

/// Who may satisfy an interruption; empty lists mean anybody whose role allows it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Satisfiers {
    /// Principals by subject.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub principals: Vec<String>,
    /// Roles by name.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub roles: Vec<String>,
}

impl Satisfiers {
    /// Whether they leave it to this principal: nobody is named, or it is, or a role that it holds.
    pub fn include(&self, p: &Principal) -> bool {
        let by_role = || p.roles().iter().any(|r| self.roles.iter().any(|name| name == r.as_str()));
        (self.principals.is_empty() && self.roles.is_empty())
            || self.principals.contains(&p.subject)
            || by_role()
    }
}

/// The payload of a `human_request`: a question as its sender asks it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Question {
    /// What to ask; the only required member.
    pub prompt: String,
    /// What is needed.
    #[serde(default)]
    pub need: Need,
    /// The action that was interrupted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub action: Option<String>,
    /// A JSON Schema (2020-12) for the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schema: Option<serde_json::Value>,
    /// Who may answer.
    #[serde(default)]
    pub satisfiers: Satisfiers,
    /// What the answer covers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<String>,
    /// After this moment the question cannot be answered any more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
    /// The idempotency point from which work resumes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resume: Option<String>,
    /// How the asker learns the later status.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status_by: Option<StatusBy>,
    /// Where to authorize, for `machine_credentials`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<String>,
}

impl Question {
    /// A question of nothing but words.
    pub fn plain(prompt: String) -> Self {
        Question {
            prompt,
            need: Need::default(),
            action: None,
            schema: None,
            satisfiers: Satisfiers::default(),
            scope: None,
            expires_at: None,
            resume: None,
            status_by: None,
            link: None,
        }
    }

    /// Checks the bounds of a question.
    ///
    /// # Errors
    /// A sentence that names the member and the limit.
    pub fn check(&self, limits: &Limits) -> Result<(), String> {
        let texts = [
            ("prompt", Some(&self.prompt)),
            ("action", self.action.as_ref()),
            ("scope", self.scope.as_ref()),
            ("resume", self.resume.as_ref()),
            ("link", self.link.as_ref()),
        ];
        for (name, text) in texts {
            if let Some(text) = text.filter(|t| t.len() > limits.text_bytes) {
                return Err(format!(
                    "payload.{name} has {} bytes, the limit is {}",
                    text.len(),
                    limits.text_bytes
                ));
            }
        }
        let schema = self.schema.as_ref().map_or(0, |s| s.to_string().len());
        if schema > limits.schema_bytes {
            return Err(format!("payload.schema has {schema} bytes, the limit is {}", limits.schema_bytes));
        }
        let who = self.satisfiers.principals.iter().chain(&self.satisfiers.roles);
        if who.clone().count() > limits.labels || who.clone().any(|w| w.len() > limits.id_bytes) {
            return Err(format!(
                "payload.satisfiers is past {} names of {} bytes",
                limits.labels, limits.id_bytes
            ));
        }
        Ok(())
    }
}

/// An open interruption as the task keeps it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Interruption {
    /// Its name within the task; an answer names it.
    pub id: String,
    /// Counts the questions of the task, from 1.
    pub version: u64,
    /// What is asked.
    #[serde(flatten)]
    pub question: Question,
    /// Pins the schema by digest, so that an answer cannot be checked against another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schema_digest: Option<Digest>,
    /// Who asked.
    pub asked_by: String,
    /// When it was recorded here.
    pub opened_at: Timestamp,
}

impl Interruption {
    /// Opens `question`. `id` must be unique within the task.
    pub fn open(id: String, version: u64, question: Question, asked_by: String, at: Timestamp) -> Self {
        let schema_digest = question.schema.as_ref().map(|schema| {
            digest::jcs_of(schema).unwrap_or_else(|_| Digest::of_bytes(schema.to_string().as_bytes()))
        });
        Interruption { id, version, question, schema_digest, asked_by, opened_at: at }
    }

    /// Whether it can no longer be answered at `now`.
    pub fn expired(&self, now: Timestamp) -> bool {
        self.question.expires_at.is_some_and(|t| t <= now)
    }
}
