//! The runtime's side: transitions, leases, effects, gates.

use super::ended;
use super::failure::Failure;
use super::output::Out;
use crate::coordinator::Coordinator;
use crate::domain::command::{Command, Reply, Transition};
use crate::domain::digest::{Digest, Scheme};
use crate::domain::envelope::EffectName;
use crate::domain::ids::{TaskId, Timestamp};
use crate::domain::task::TaskState;
use clap::Args;

#[derive(Debug, Args)]
#[command(after_help = states())]
pub struct Move {
    /// The task
    task: String,
    /// Where to: one of the states below
    #[arg(long, value_name = "STATE", value_parser = state)]
    to: TaskState,
    /// The version it was read at
    #[arg(long, value_name = "N")]
    expect_version: u64,
    /// Why
    #[arg(long)]
    reason: String,
    /// For `retry_wait`: not before this moment (RFC 3339)
    #[arg(long, value_name = "TIME", value_parser = time)]
    retry_at: Option<Timestamp>,
}

#[derive(Debug, Args)]
pub struct Claim {
    /// The task
    task: String,
    /// Who will hold it
    #[arg(long)]
    worker: String,
    /// For how long: 30s, 5m, 2h, 1d
    #[arg(long, default_value = "5m", value_parser = duration)]
    ttl: i64,
}

#[derive(Debug, Args)]
pub struct Renew {
    /// The task
    task: String,
    /// The lease
    #[arg(long, value_name = "N")]
    lease: u64,
    /// For how long from now: 30s, 5m, 2h, 1d
    #[arg(long, default_value = "5m", value_parser = duration)]
    ttl: i64,
}

#[derive(Debug, Args)]
pub struct Release {
    /// The task
    task: String,
    /// The lease
    #[arg(long, value_name = "N")]
    lease: u64,
    /// Why
    #[arg(long, default_value = "released from the command line")]
    reason: String,
}

/// Which side effect of which task.
#[derive(Debug, Args)]
struct Effect {
    /// The task
    task: String,
    /// The key under which it may happen once
    #[arg(long)]
    key: String,
    /// What it touches
    #[arg(long)]
    target: String,
}

impl Effect {
    fn named(self) -> (TaskId, EffectName) {
        (TaskId(self.task), EffectName { key: self.key, target: self.target })
    }
}

#[derive(Debug, Args)]
pub struct Reserve {
    #[command(flatten)]
    of: Effect,
    /// The lease
    #[arg(long, value_name = "N")]
    lease: Option<u64>,
}

#[derive(Debug, Args)]
pub struct Commit {
    #[command(flatten)]
    of: Effect,
    /// The digest of the receipt's payload
    #[arg(long, value_name = "DIGEST", value_parser = digest)]
    digest: Digest,
    /// The scheme of the digest
    #[arg(long, default_value = "jcs-sha256/1", value_parser = super::digest::scheme)]
    scheme: Scheme,
    /// The lease
    #[arg(long, value_name = "N")]
    lease: Option<u64>,
}

#[derive(Debug, Args)]
pub struct Void {
    #[command(flatten)]
    of: Effect,
    /// The version it was read at
    #[arg(long, value_name = "N")]
    expect_version: u64,
    /// How it is known that it did not happen
    #[arg(long)]
    reason: String,
}

#[derive(Debug, Args)]
pub struct Gate {
    /// The task
    task: String,
    /// The artifact does not pass
    #[arg(long, required = true)]
    fail: bool,
    /// Why
    #[arg(long)]
    reason: String,
}

/// The states, as the help lists them.
fn states() -> String {
    format!("States: {}", known_states())
}

fn known_states() -> String {
    let known: Vec<&str> = TaskState::ALL.iter().map(|s| s.as_str()).collect();
    known.join(", ")
}

/// Reads a state's name.
pub fn state(word: &str) -> Result<TaskState, String> {
    TaskState::parse(word).ok_or_else(|| format!("not a state; there are {}", known_states()))
}

/// Reads a digest.
pub fn digest(text: &str) -> Result<Digest, String> {
    text.parse().map_err(|e: crate::domain::digest::NotADigest| e.to_string())
}

fn time(text: &str) -> Result<Timestamp, String> {
    Timestamp::parse(text).ok_or_else(|| "not an RFC 3339 date-time with an offset".into())
}

/// Reads a duration as milliseconds: a whole number and `ms`, `s`, `m`, `h` or `d`.
pub fn duration(text: &str) -> Result<i64, String> {
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let (number, unit) = text.split_at(digits);
    let unit = match unit {
        "ms" => 1,
        "s" => 1000,
        "m" => 60_000,
        "h" => 3_600_000,
        "d" => 86_400_000,
        _ => return Err("a duration is a whole number and ms, s, m, h or d, as in 5m".into()),
    };
    number.parse::<i64>().ok().and_then(|n| n.checked_mul(unit)).ok_or_else(|| "not a duration".into())
}

impl Move {
    pub async fn run(self, c: &dyn Coordinator, out: &mut Out) -> Result<(), Failure> {
        let task_id = TaskId(self.task);
        let command = Command::Transition(Transition {
            task_id: task_id.clone(),
            to: self.to,
            expected_version: self.expect_version,
            reason: self.reason,
            retry_at: self.retry_at,
        });
        done(c.run(command).await?, out)?;
        if self.to.is_terminal() {
            ended::tell(c, &task_id).await;
        }
        Ok(())
    }
}

impl Claim {
    pub async fn run(self, c: &dyn Coordinator, out: &mut Out) -> Result<(), Failure> {
        let command = Command::Claim { task_id: TaskId(self.task), worker: self.worker, ttl_ms: self.ttl };
        done(c.run(command).await?, out)
    }
}

impl Renew {
    pub async fn run(self, c: &dyn Coordinator, out: &mut Out) -> Result<(), Failure> {
        let (lease_version, ttl_ms) = (self.lease, self.ttl);
        done(c.run(Command::Renew { task_id: TaskId(self.task), lease_version, ttl_ms }).await?, out)
    }
}

impl Release {
    pub async fn run(self, c: &dyn Coordinator, out: &mut Out) -> Result<(), Failure> {
        let (lease_version, reason) = (self.lease, self.reason);
        done(c.run(Command::Release { task_id: TaskId(self.task), lease_version, reason }).await?, out)
    }
}

impl Reserve {
    pub async fn run(self, c: &dyn Coordinator, out: &mut Out) -> Result<(), Failure> {
        let (task_id, effect) = self.of.named();
        let command = Command::Reserve { task_id, effect, lease_version: self.lease };
        done(c.run(command).await?, out)
    }
}

impl Commit {
    pub async fn run(self, c: &dyn Coordinator, out: &mut Out) -> Result<(), Failure> {
        let (task_id, effect) = self.of.named();
        let command = Command::Commit {
            task_id,
            effect,
            digest: self.digest,
            scheme: self.scheme,
            lease_version: self.lease,
        };
        done(c.run(command).await?, out)
    }
}

impl Void {
    pub async fn run(self, c: &dyn Coordinator, out: &mut Out) -> Result<(), Failure> {
        let (task_id, effect) = self.of.named();
        let command =
            Command::Void { task_id, effect, expected_version: self.expect_version, reason: self.reason };
        done(c.run(command).await?, out)
    }
}

impl Gate {
    pub async fn run(self, c: &dyn Coordinator, out: &mut Out) -> Result<(), Failure> {
        done(c.run(Command::Gate { task_id: TaskId(self.task), reason: self.reason }).await?, out)
    }
}

fn done(reply: Reply, out: &mut Out) -> Result<(), Failure> {
    if out.is_json() {
        return out.json(&reply);
    }
    match reply {
        Reply::Moved { state, state_version } => out.say(format!("{state}, version {state_version}")),
        Reply::Leased { lease_version, state_version, expires_at, state } => out.say(format!(
            "lease {lease_version} until {expires_at}; the task is {state}, version {state_version}"
        )),
        Reply::Effect { outcome, state, state_version } => {
            let word = serde_json::to_value(outcome).unwrap_or_default();
            let word = word.as_str().unwrap_or_default().to_owned();
            out.say(format!("{word}; the task is {state}, version {state_version}"))
        }
        Reply::Admitted(a) => out.say(a.outcome),
        Reply::Decided { record, .. } => out.say(record.approval_id),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations() {
        for (text, ms) in
            [("500ms", 500), ("30s", 30_000), ("5m", 300_000), ("2h", 7_200_000), ("1d", 86_400_000)]
        {
            assert_eq!(duration(text), Ok(ms));
        }
        for bad in ["", "5", "m", "-5m", "1.5h", "5 m", "9223372036854775807d", "5w"] {
            assert!(duration(bad).is_err(), "{bad}");
        }
    }
}
