//! The ledger: approval records, their verification and export, and the acceptance of a store's head.

use super::decided;
use super::failure::Failure;
use super::output::{Out, counted, note};
use super::read::wrong_filter;
use crate::coordinator::{Coordinator, LedgerPlace, LedgerRequest};
use crate::domain::digest::Digest;
use crate::domain::ids::TaskId;
use crate::domain::ledger::{Chain, NOT_OF_RECORDS, Pin, Record, Report};
use crate::domain::query::Query;
use clap::{Args, Subcommand};
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};

#[derive(Debug, Args)]
pub struct Approvals {
    /// Only those of this task
    task: Option<String>,
    /// Only those that fit, in the language of `list`: `state:canceled agent:rita since:2d words`. The state is the
    /// decision, the agent who decided, the time when; words are looked for in task, trace, record, reason and question
    #[arg(long, value_name = "FILTER", allow_hyphen_values = true)]
    filter: Option<String>,
}

#[derive(Debug, Args)]
pub struct Verify {
    /// An exported ledger, `-` for standard input; the store's own where left out
    pub file: Option<String>,
    /// A head seen before, as `export` printed it, which must still be there: without one a file that was cut short, or
    /// rewritten from some record on, cannot be told from a whole one
    #[arg(long, value_name = "SEQ:DIGEST", value_parser = pin)]
    pub head: Vec<Pin>,
    /// Only the ledger, not also that everything in the store follows from its log (which takes as long as the log is)
    #[arg(long, conflicts_with = "file")]
    pub ledger: bool,
}

#[derive(Debug, Args)]
pub struct Export {
    /// Only records after this number; the first line then says which record they follow
    #[arg(long, default_value_t = 0, value_name = "SEQ")]
    after: u64,
}

#[derive(Debug, Subcommand)]
pub enum StoreVerb {
    /// Accept a store whose head is not the remembered one, so that writes go on
    AcceptHead {
        /// Why
        #[arg(long)]
        reason: String,
    },
}

const PAGE: usize = 500;

/// The longest record that is read from a file, in bytes.
const MOST: u64 = 256 << 20;

fn pin(text: &str) -> Result<Pin, String> {
    let read = || {
        let (sequence, digest) = text.split_once(':')?;
        Some(Pin { sequence: sequence.parse().ok()?, record_digest: Digest::parse(digest)? })
    };
    read().ok_or_else(|| "a head is written SEQ:sha256:HEX, as `export` prints it".into())
}

impl Approvals {
    pub async fn run(self, c: &dyn Coordinator, out: &mut Out) -> Result<(), Failure> {
        let (query, errors) = Query::parse_without(&self.filter.unwrap_or_default(), NOT_OF_RECORDS);
        if !errors.is_empty() {
            return Err(wrong_filter(&errors));
        }
        let task = self.task.map(TaskId);
        let mut next = Some(LedgerPlace::After(0));
        let mut found = 0;
        while let Some(from) = next {
            let asked = LedgerRequest { task: task.clone(), query: query.clone(), from, limit: PAGE };
            let page = c.approvals(asked).await?;
            next = page.next;
            found += page.rows.len();
            if out.is_json() {
                page.rows.iter().try_for_each(|approval| out.json(&approval.record))?;
                continue;
            }
            let mut rows = Vec::with_capacity(page.rows.len());
            for approval in &page.rows {
                rows.push(row(&approval.record, decided::answer(c, &approval.record).await?));
            }
            out.table(&rows)?;
        }
        if found == 0 && !query.terms.is_empty() && !out.is_json() {
            note("no record fits the filter");
        }
        Ok(())
    }
}

/// A record for people; `answer` is what it says to the question it settles.
fn row(r: &Record, answer: &str) -> Vec<String> {
    let upheld: Vec<String> = r.upheld.iter().map(|a| format!("#{a}")).collect();
    vec![
        r.sequence.to_string(),
        r.decided_at.to_string(),
        r.approval_id.clone(),
        r.task_id.0.clone(),
        format!("{} → {}", r.from_state, r.to_state),
        r.principal.subject.clone(),
        if upheld.is_empty() { "-".into() } else { upheld.join(",") },
        answer.to_owned(),
        r.reason.clone(),
    ]
}

impl Verify {
    pub async fn run(self, c: &dyn Coordinator, out: &mut Out) -> Result<(), Failure> {
        let found =
            if self.ledger { c.verify(self.head).await? } else { c.verify_everything(self.head).await? };
        report(&found, None, out)?;
        ended(&found)
    }
}

/// The first line of a ledger's end: the record before it, which it does not hold. No record has these members.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Follows {
    store_id: String,
    after: u64,
    record_digest: Digest,
}

/// Verifies an exported ledger without any store.
pub fn verify_file(file: &str, heads: &[Pin], out: &mut Out) -> Result<(), Failure> {
    let wrong = |e: io::Error| Failure::file(file, &e);
    let from: Box<dyn Read> = match file {
        "-" => Box::new(io::stdin()),
        path => Box::new(File::open(path).map_err(wrong)?),
    };
    let mut input = BufReader::new(from);
    let mut chain = Chain::new(heads.iter().copied());
    let (mut line, mut after, mut first) = (Vec::new(), None, true);
    loop {
        line.clear();
        let read = (&mut input).take(MOST).read_until(b'\n', &mut line).map_err(wrong)?;
        if read == 0 {
            break;
        }
        if read as u64 == MOST && line.last() != Some(&b'\n') {
            return Err(Failure::invalid("limit_exceeded", format!("a record has more than {MOST} bytes")));
        }
        let record = line.trim_ascii();
        if record.is_empty() {
            continue;
        }
        match serde_json::from_slice::<Follows>(record) {
            Ok(head) if first => {
                let before = Pin { sequence: head.after, record_digest: head.record_digest };
                chain = chain.of_store(head.store_id).after(before);
                after = Some(before);
            }
            _ if first && !looks_like_record(record) => {
                let why = format!("{file}: not an exported ledger: its first line is no approval record");
                return Err(Failure::invalid("not_a_ledger", why));
            }
            _ => chain.push(record),
        }
        first = false;
    }
    let found = chain.finish();
    if first && !out.is_json() {
        out.say(format!("{file} holds no record"))?;
    } else {
        report(&found, after, out)?;
    }
    if found.ok && heads.is_empty() && !out.is_json() {
        out.say("that nothing was cut off its end is not known without --head")?;
    }
    ended(&found)
}

/// Whether a line may be an approval record, as it was or altered: a message has neither of these members.
pub fn looks_like_record(line: &[u8]) -> bool {
    const NAMES: [&str; 2] = ["record_digest", "approval_id"];
    match serde_json::from_slice::<BTreeMap<String, IgnoredAny>>(line) {
        Ok(members) => NAMES.iter().any(|name| members.contains_key(*name)),
        // What was cut or spoilt is no JSON any more.
        Err(_) => NAMES.iter().any(|name| line.windows(name.len()).any(|part| part == name.as_bytes())),
    }
}

/// How verification ends.
fn ended(report: &Report) -> Result<(), Failure> {
    if report.ok { Ok(()) } else { Err(Failure::Told(8)) }
}

/// What may be behind a docket that is not as the log says, where nobody altered the file.
const OTHERWISE: &str = "the docket: programs with different [thresholds] in their configurations on one file write it \
    differently, each its own way; log and records are not touched by that. Give all of them the same, and open the \
    store again: whoever opens it with thresholds that differ from the last ones makes the docket anew";

/// Tells what verification found; `after` is the record before the first one that was there to verify.
fn report(report: &Report, after: Option<Pin>, out: &mut Out) -> Result<(), Failure> {
    let before = after.map_or(0, |a| a.sequence);
    if out.is_json() {
        let mut value = serde_json::to_value(report).map_err(|e| Failure::Broken(e.into()))?;
        if let (Some(members), Some(a)) = (value.as_object_mut(), after) {
            members
                .insert("after".into(), json!({ "sequence": a.sequence, "record_digest": a.record_digest }));
        }
        out.json(&value)?;
    } else {
        if let Some(a) = after {
            out.say(format!("only what follows record {}:{}", a.sequence, a.record_digest))?;
            out.say("that it stood there is not verified here: `--head` compares it")?;
        }
        match (&report.problem, report.head) {
            (Some(problem), _) => {
                out.say(format!("NOT as it was: record {}: {}", problem.sequence, problem.message))?;
                out.say(format!("{} before it, as written", counted(report.records, "record")))?;
            }
            (None, Some(head)) => {
                out.say(format!("{}, every one as it was written", counted(report.records, "record")))?;
                out.say(format!("head {}:{head}", before.saturating_add(report.records)))?;
            }
            (None, None) => out.say("no records yet")?,
        }
        if let Some(log) = &report.log {
            let (events, tasks) = (counted(log.events, "event"), counted(log.tasks, "task"));
            if log.problems.is_empty() {
                out.say(format!("{events} of {tasks}, and all that is read follows from them"))?;
            }
            for problem in &log.problems {
                out.say(format!("NOT as the log says: {}: {}", problem.at, problem.message))?;
            }
            if log.problems.iter().any(|problem| problem.message.contains("the docket lists it otherwise")) {
                out.say(OTHERWISE)?;
            }
        }
    }
    Ok(())
}

impl Export {
    pub async fn run(self, c: &dyn Coordinator, out: &mut Out) -> Result<(), Failure> {
        let after = self.after;
        let mut head = None;
        if let Some(before) = after.checked_sub(1) {
            let page = c.approvals(LedgerRequest::all(None, LedgerPlace::After(before), 1)).await?;
            let Some(last) = page.rows.iter().map(|a| &a.record).find(|r| r.sequence == self.after) else {
                return Err(Failure::invalid("no_such_record", format!("there is no record {after}")));
            };
            let follows =
                Follows { store_id: last.store_id.clone(), after, record_digest: last.record_digest };
            out.exact(&serde_json::to_vec(&follows).map_err(|e| Failure::Broken(e.into()))?)?;
        }
        let mut next = Some(LedgerPlace::After(after));
        while let Some(from) = next {
            let page = c.approvals(LedgerRequest::all(None, from, PAGE)).await?;
            next = page.next;
            for approval in &page.rows {
                out.exact(&approval.bytes)?;
            }
            let last = page.rows.last().map(|last| &last.record);
            head = last.map(|last| format!("{}:{}", last.sequence, last.record_digest)).or(head);
        }
        out.flush()?;
        match head {
            Some(head) => note(&format!("head {head}: keep it, and give it to `verify --head`")),
            None => note("no records"),
        }
        Ok(())
    }
}

impl StoreVerb {
    pub async fn run(self, c: &dyn Coordinator, out: &mut Out) -> Result<(), Failure> {
        let StoreVerb::AcceptHead { reason } = self;
        c.accept_head(&reason).await?;
        let status = c.status().await?;
        if out.is_json() {
            return out.json(&json!({ "outcome": "accepted", "events": status.events, "head": status.head }));
        }
        out.say(format!(
            "accepted: {}, {}",
            counted(status.events, "event"),
            counted(status.head.sequence, "record")
        ))
    }
}
