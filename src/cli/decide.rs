//! `decide`: judges a conflict, or cancels a task that waits.

use super::failure::Failure;
use super::output::Out;
use super::question::{Seen, number, promised};
use crate::coordinator::Coordinator;
use crate::domain::command::{DecisionOutcome, Reply};
use crate::domain::decision::Decision;
use crate::domain::digest::Digest;
use crate::domain::ids::TaskId;
use crate::domain::task::TaskState;
use clap::{ArgGroup, Args};

#[derive(Debug, Args)]
#[command(group(ArgGroup::new("decision").required(true).args(["ready", "cancel"])))]
pub struct Decide {
    /// The task
    task: String,
    /// The task goes on
    #[arg(long)]
    ready: bool,
    /// The task ends
    #[arg(long)]
    cancel: bool,
    /// The version that was read
    #[arg(long, value_name = "N")]
    expect_version: u64,
    /// The digest of what was read; without it the version alone binds
    #[arg(long, value_name = "DIGEST", value_parser = super::runtime::digest)]
    candidate_set: Option<Digest>,
    /// A side that stands: its arrival, or its message id where that is unique
    #[arg(long, value_name = "ARRIVAL|MESSAGE_ID", num_args = 1..)]
    uphold: Vec<String>,
    /// The question this settles; may be left out when one is open
    #[arg(long, value_name = "ID")]
    interruption: Option<String>,
    /// The record this corrects
    #[arg(long, value_name = "APPROVAL_ID")]
    supersedes: Option<String>,
    /// Repeats carry the same key; random where left out
    #[arg(long, value_name = "KEY")]
    idempotency_key: Option<String>,
    /// Why
    #[arg(long)]
    reason: String,
}

impl Decide {
    pub async fn run(self, c: &dyn Coordinator, out: &mut Out) -> Result<(), Failure> {
        let task_id = TaskId(self.task);
        if let Some(several) = self.uphold.iter().find_map(|name| as_list(name)) {
            return Err(several);
        }
        let seen = Seen::read(c, &task_id, self.expect_version).await?;
        let interruption = self.interruption.or_else(|| seen.question_id());
        let resume = match &interruption {
            Some(id) if !self.cancel => seen.question(c, id).await?.as_ref().and_then(promised),
            _ => None,
        };
        let decision = Decision {
            decision: if self.cancel { TaskState::Canceled } else { TaskState::Ready },
            expected_version: self.expect_version,
            candidate_set_digest: self.candidate_set,
            interruption,
            upheld: seen.arrivals(c, &self.uphold).await?,
            resume,
            reason: self.reason,
            evidence_opened: Vec::new(),
            input: None,
            supersedes: self.supersedes,
            idempotency_key: self.idempotency_key.unwrap_or_default(),
            approval_id: String::new(),
            masked: Vec::new(),
            task_id,
        };
        decided(c.decide(decision).await?, out)
    }
}

/// Refuses `2,3`: every side is named alone, so that a message id may hold a comma.
fn as_list(name: &str) -> Option<Failure> {
    let numbers: Option<Vec<u64>> = name.split(',').map(|part| number(part.trim())).collect();
    let numbers = numbers.filter(|numbers| numbers.len() > 1)?;
    let each: Vec<String> = numbers.iter().map(|n| format!("--uphold {n}")).collect();
    Some(Failure::Usage(format!("--uphold {name}: give --uphold for each side: {}", each.join(" "))))
}

/// Prints the record that was made, or that an earlier request under the same key had made.
pub fn decided(reply: Reply, out: &mut Out) -> Result<(), Failure> {
    let Reply::Decided { outcome, record } = &reply else {
        return Err(Failure::Broken(anyhow::anyhow!("the coordinator gave another answer than asked for")));
    };
    if out.is_json() {
        return out.json(&reply);
    }
    let word = match outcome {
        DecisionOutcome::Decided => "decided",
        DecisionOutcome::Replayed => "decided before, under the same key",
    };
    let upheld: Vec<String> = record.upheld.iter().map(|a| format!("#{a}")).collect();
    out.say(format!("{word}: {} is {}", record.task_id.as_str(), record.to_state))?;
    out.table(&[
        vec!["record".into(), format!("{} ({})", record.approval_id, record.sequence)],
        vec!["digest".into(), record.record_digest.to_string()],
        vec!["by".into(), record.principal.subject.clone()],
        vec!["upheld".into(), if upheld.is_empty() { "none".into() } else { upheld.join(", ") }],
        vec!["resumes".into(), record.resume.idempotency_key.clone()],
        vec!["version".into(), record.state_version_after.to_string()],
    ])
}
