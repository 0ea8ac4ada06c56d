//! `answer`: supplies what an interrupted task asks for.

use super::decide::decided;
use super::digest::read_input;
use super::failure::Failure;
use super::output::Out;
use super::question::{Seen, promised};
use crate::coordinator::Coordinator;
use crate::domain::decision::{Decision, Input, Part};
use crate::domain::digest;
use crate::domain::form::{Entry, Form};
use crate::domain::ids::TaskId;
use crate::domain::interruption::Interruption;
use crate::domain::task::TaskState;
use clap::Args;
use serde_json::Value;
use std::collections::BTreeMap;

/// The largest answer that is read, in bytes.
const MOST: u64 = 1 << 20;

#[derive(Debug, Args)]
pub struct Answer {
    /// The task
    task: String,
    /// The question; may be left out when one is open
    #[arg(long, value_name = "ID")]
    interruption: Option<String>,
    /// The answer: JSON, or text where the question has no schema; `-` for standard input
    #[arg(long, value_name = "FILE", conflicts_with = "set")]
    file: Option<String>,
    /// A field of the answer
    #[arg(long, value_name = "KEY=VALUE", num_args = 1.., value_parser = pair)]
    set: Vec<(String, String)>,
    /// Yes
    #[arg(long, conflicts_with = "deny")]
    approve: bool,
    /// No; the task goes on and hears it
    #[arg(long)]
    deny: bool,
    /// A held side that stands: its arrival, or its message id where that is unique
    #[arg(long, value_name = "ARRIVAL|MESSAGE_ID", num_args = 1..)]
    uphold: Vec<String>,
    /// The record this corrects
    #[arg(long, value_name = "APPROVAL_ID")]
    supersedes: Option<String>,
    /// The version that was read
    #[arg(long, value_name = "N")]
    expect_version: u64,
    /// Repeats carry the same key; random where left out
    #[arg(long, value_name = "KEY")]
    idempotency_key: Option<String>,
    /// Why
    #[arg(long)]
    reason: String,
}

fn pair(text: &str) -> Result<(String, String), String> {
    text.split_once('=')
        .filter(|(key, _)| !key.is_empty())
        .map(|(key, value)| (key.to_owned(), value.to_owned()))
        .ok_or_else(|| "write KEY=VALUE".into())
}

impl Answer {
    pub async fn run(self, c: &dyn Coordinator, out: &mut Out) -> Result<(), Failure> {
        let task_id = TaskId(self.task.clone());
        let seen = Seen::read(c, &task_id, self.expect_version).await?;
        let interruption = self.interruption.clone().or_else(|| seen.question_id());
        let question = match &interruption {
            Some(id) => seen.question(c, id).await?,
            None => None,
        };
        seen.not_expired(question.as_ref())?;
        let decision = Decision {
            decision: TaskState::Ready,
            expected_version: self.expect_version,
            candidate_set_digest: None,
            upheld: seen.arrivals(c, &self.uphold).await?,
            resume: question.as_ref().and_then(promised),
            evidence_opened: Vec::new(),
            input: self.input(question.as_ref())?,
            supersedes: self.supersedes,
            interruption,
            task_id,
            reason: self.reason,
            idempotency_key: self.idempotency_key.unwrap_or_default(),
            approval_id: String::new(),
            masked: Vec::new(),
        };
        decided(c.decide(decision).await?, out)
    }

    /// What is sent; whether it fits the question is for the coordinator to say.
    fn input(&self, question: Option<&Interruption>) -> Result<Option<Input>, Failure> {
        let schema = question.and_then(|q| q.question.schema.as_ref());
        let mut parts = Vec::new();
        if let Some(file) = &self.file {
            parts.push(content(read_input(Some(file), MOST)?, schema.is_some())?);
        } else if !self.set.is_empty() {
            parts.push(fields(&self.set, schema)?);
        }
        let approved = (self.approve || self.deny).then_some(self.approve);
        if parts.is_empty() && approved.is_none() {
            return Ok(None);
        }
        let schema_digest = question.and_then(|q| q.schema_digest).filter(|_| !parts.is_empty());
        Ok(Some(Input { parts, schema_digest, approved }))
    }
}

/// A file's content: JSON where the question has a schema, or where it is an object or array; words otherwise.
fn content(bytes: Vec<u8>, has_schema: bool) -> Result<Part, Failure> {
    let first = bytes.trim_ascii_start().first().copied();
    if has_schema || matches!(first, Some(b'{' | b'[')) {
        // Strictly, or a repeated member would vanish on the way.
        match digest::scan(&bytes, digest::MAX_DEPTH) {
            Ok(()) => {
                let value = serde_json::from_slice::<Value>(&bytes);
                return value.map(Part::Data).map_err(|e| Failure::invalid("input_invalid", e.to_string()));
            }
            Err(e) if has_schema => {
                return Err(Failure::invalid("input_invalid", format!("the answer: {e}")));
            }
            Err(_) => {}
        }
    }
    let text = String::from_utf8(bytes)
        .map_err(|_| Failure::invalid("input_invalid", "the answer is neither JSON nor UTF-8 text"))?;
    Ok(Part::Text(text.trim_end_matches(['\n', '\r']).to_owned()))
}

fn fields(set: &[(String, String)], schema: Option<&Value>) -> Result<Part, Failure> {
    let invalid = |message: String| Failure::invalid("input_invalid", message);
    let Some(schema) = schema else {
        return Err(invalid("the question has no fields: answer with --file".into()));
    };
    let form = Form::from_schema(schema)
        .map_err(|e| invalid(format!("the answer does not fit on one line, use --file: {e}")))?;
    let mut entries = BTreeMap::new();
    for (key, value) in set {
        if !form.fields.iter().any(|f| f.name.raw() == key) {
            let known: Vec<&str> = form.fields.iter().map(|f| f.name.raw()).collect();
            return Err(invalid(format!("there is no field {key}; there are {}", known.join(", "))));
        }
        if entries.insert(key.clone(), Entry::Text(value.clone())).is_some() {
            return Err(invalid(format!("field {key} is set twice")));
        }
    }
    form.collect(&entries).map(Part::Data).map_err(|errors| {
        let list: Vec<String> = errors.iter().map(ToString::to_string).collect();
        invalid(list.join("; "))
    })
}
