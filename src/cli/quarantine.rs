//! `quarantine`: messages that were put aside.

use super::digest::read_input;
use super::failure::Failure;
use super::output::Out;
use crate::coordinator::{Coordinator, Entry, EntryState};
use clap::Subcommand;
use serde_json::json;

/// The largest repaired message, in bytes; the coordinator's own limit is lower.
const MOST: u64 = 1 << 30;

#[derive(Debug, Subcommand)]
pub enum Quarantine {
    /// List entries, oldest first
    List {
        /// Settled ones too
        #[arg(long)]
        all: bool,
    },
    /// Show an entry and its bytes
    Show {
        /// The entry
        id: String,
    },
    /// Admit an entry again, as it was or repaired
    Readmit {
        /// The entry
        id: String,
        /// The repaired message; `-` for standard input
        #[arg(long)]
        file: Option<String>,
    },
    /// Drop an entry; its bytes stay readable
    Drop {
        /// The entry
        id: String,
        /// Why
        #[arg(long)]
        reason: String,
    },
}

const PAGE: usize = 500;

impl Quarantine {
    pub async fn run(self, c: &dyn Coordinator, out: &mut Out) -> Result<(), Failure> {
        match self {
            Quarantine::List { all } => list(c, all, out).await,
            Quarantine::Show { id } => show(c, &id, out).await,
            Quarantine::Readmit { id, file } => {
                let repaired = match &file {
                    Some(file) => Some(read_input(Some(file), MOST)?),
                    None => None,
                };
                let admitted = c.readmit(&id, repaired).await?;
                if out.is_json() {
                    out.json(&admitted)?;
                } else {
                    let why = admitted.reason.as_deref().unwrap_or_default();
                    out.say(format!("{id}  {}  {why}", admitted.outcome))?;
                }
                if admitted.arrival.is_none() { Err(Failure::Told(6)) } else { Ok(()) }
            }
            Quarantine::Drop { id, reason } => {
                c.drop_entry(&id, &reason).await?;
                if out.is_json() {
                    return out.json(&json!({ "id": id, "outcome": "dropped" }));
                }
                out.say(format!("{id} dropped; its bytes stay readable"))
            }
        }
    }
}

async fn list(c: &dyn Coordinator, all: bool, out: &mut Out) -> Result<(), Failure> {
    let mut after = 0;
    loop {
        let page = c.quarantine(after, PAGE, all).await?;
        let full = page.len() == PAGE;
        let Some(last) = page.last() else { return Ok(()) };
        after = last.number;
        out.rows(&page, row)?;
        if !full {
            return Ok(());
        }
    }
}

fn standing(entry: &Entry) -> &'static str {
    match entry.state {
        EntryState::Open => "open",
        EntryState::Readmitted { .. } => "readmitted",
        EntryState::Dropped { .. } => "dropped",
    }
}

fn row(entry: &Entry) -> Vec<String> {
    vec![
        entry.id.clone(),
        standing(entry).into(),
        entry.reason.as_str().into(),
        format!("×{}", entry.count),
        entry.named.task_id.clone().unwrap_or_else(|| "-".into()),
        entry.named.message_id.clone().unwrap_or_else(|| "-".into()),
        entry.source.clone(),
        entry.detail.clone(),
    ]
}

async fn show(c: &dyn Coordinator, id: &str, out: &mut Out) -> Result<(), Failure> {
    let found = c.entry(id).await?;
    let text = String::from_utf8_lossy(&found.bytes);
    let exact = matches!(text, std::borrow::Cow::Borrowed(_));
    if out.is_json() {
        let mut value = serde_json::to_value(&found.entry).unwrap_or_default();
        if let Some(members) = value.as_object_mut() {
            // What is no UTF-8 has no JSON string; then the replacement characters are said to be none of its own.
            members.insert("bytes".into(), text.as_ref().into());
            members.insert("exact".into(), exact.into());
        }
        return out.json(&value);
    }
    let e = &found.entry;
    out.table(&[
        vec!["entry".into(), format!("{} ({})", e.id, standing(e))],
        vec!["reason".into(), format!("{}: {}", e.reason.as_str(), e.detail)],
        vec!["source".into(), format!("{}, delivered by {}", e.source, e.submitted_by)],
        vec!["received".into(), format!("{}, {} times, last {}", e.received_at, e.count, e.last_received_at)],
        vec!["bytes".into(), format!("{} {}", e.size, e.bytes_digest)],
    ])?;
    out.say("")?;
    out.say_lines("  ", &text)
}
