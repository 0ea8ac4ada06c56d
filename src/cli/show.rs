//! `show`: a task with all that a person needs to judge it, its timeline, or one payload.

use super::decided;
use super::failure::Failure;
use super::may;
use super::output::{Out, age, counted, named, note};
use super::read::arrival;
use super::timeline;
use crate::coordinator::{Coordinator, Error, Shown, Submitted};
use crate::domain::attention::Stuck;
use crate::domain::event::Verification;
use crate::domain::ids::{TaskId, Timestamp};
use crate::domain::refusal::Refusal;
use crate::domain::text::reveal;
use clap::Args;
use serde::Serialize;
use serde_json::value::RawValue;
use std::collections::BTreeMap;

#[derive(Debug, Args)]
pub struct Show {
    /// The task
    task: String,
    /// Every event in order
    #[arg(long, conflicts_with = "payload")]
    timeline: bool,
    /// The payload of one message, by message id or arrival
    #[arg(long, value_name = "MESSAGE_ID|ARRIVAL")]
    payload: Option<String>,
}

/// A payload, as `--json` prints it.
#[derive(Serialize)]
struct Content<'a> {
    task_id: &'a TaskId,
    arrival: u64,
    verified: bool,
    masked: bool,
    problem: Option<String>,
    payload: Option<&'a RawValue>,
}

impl Show {
    pub async fn run(self, c: &dyn Coordinator, out: &mut Out) -> Result<(), Failure> {
        let id = TaskId(self.task);
        if let Some(name) = &self.payload {
            return payload(c, &id, arrival(c, &id, name).await?, out).await;
        }
        if self.timeline {
            return timeline::all(c, &id, out).await;
        }
        let read = c.show(&id).await;
        let unknown = matches!(read, Err(Error::Refused(Refusal::TaskNotFound { .. })));
        if unknown && !out.is_json() && c.entry(id.as_str()).await.is_ok() {
            note(&format!(
                "this message was put aside: `tribunal quarantine show {}` shows it",
                reveal(&id.0)
            ));
        }
        let mut shown = read?;
        let problems = checked_now(c, &mut shown).await?;
        if out.is_json() {
            return out.json(&shown);
        }
        whole(c, &shown, &problems, out).await
    }
}

/// What is wrong with the content of sides, by arrival.
type Problems = BTreeMap<u64, String>;

/// Digests the stored bytes of every side again and puts what comes of it in place of what was found on arrival: what
/// is shown must be true of what is stored now.
async fn checked_now(c: &dyn Coordinator, shown: &mut Shown) -> Result<Problems, Failure> {
    let mut problems = Problems::new();
    for side in shown.candidates.iter_mut().chain(&mut shown.held_messages) {
        let s = &mut side.submission;
        let view = c.payload(&shown.task.task_id, s.arrival).await?;
        if view.verified {
            s.verification = Verification::Verified;
        } else if s.verification != Verification::NotFetched {
            s.verification = Verification::Mismatch;
            problems.insert(s.arrival, view.problem.unwrap_or_default());
        }
    }
    Ok(problems)
}

async fn payload(c: &dyn Coordinator, id: &TaskId, arrival: u64, out: &mut Out) -> Result<(), Failure> {
    let view = c.payload(id, arrival).await?;
    let bytes = view.bytes.as_deref().unwrap_or_default();
    if out.is_json() {
        let raw = serde_json::from_slice::<&RawValue>(bytes).ok();
        return out.json(&Content {
            task_id: id,
            arrival,
            verified: view.verified,
            masked: view.masked,
            problem: view.problem,
            payload: raw,
        });
    }
    let problem = view.problem.unwrap_or_default();
    let checked =
        if view.verified { "digest verified".to_owned() } else { format!("NOT verified: {problem}") };
    let masked = if view.masked { ", partly masked for you" } else { "" };
    out.say(format!("#{arrival}  untrusted, {checked}{masked}"))?;
    out.say_lines("", &String::from_utf8_lossy(bytes))
}

async fn whole(
    c: &dyn Coordinator,
    shown: &Shown,
    problems: &Problems,
    out: &mut Out,
) -> Result<(), Failure> {
    let (task, now) = (&shown.task, Timestamp(jiff::Timestamp::now().as_millisecond()));
    let mut facts = vec![
        vec!["task".into(), task.task_id.0.clone()],
        vec!["state".into(), format!("{}, version {}", task.state, task.state_version)],
        vec!["trace".into(), task.trace_id.clone()],
        vec!["goal".into(), task.request.goal.clone().unwrap_or_else(|| "-".into())],
        vec!["since".into(), format!("{} ({})", task.entered_at, age(task.entered_at, now))],
        vec![
            "messages".into(),
            format!(
                "{}, {} distinct, {}",
                task.arrivals,
                task.submissions,
                counted(task.duplicates, "repeat")
            ),
        ],
    ];
    if let Some(moved) = timeline::last_move(c, shown).await? {
        facts.push(vec!["moved".into(), moved]);
    }
    if let Some(stuck) = shown.stuck {
        let since = shown.since.map(|at| format!(" since {at} ({})", age(at, now))).unwrap_or_default();
        facts.push(vec!["stuck".into(), format!("{}{since}: {}", stuck.as_str(), stuck.advice())]);
    }
    if let Some(lease) = &task.lease {
        let until = lease.expires_at;
        facts.push(vec!["lease".into(), format!("{} by {} until {until}", task.lease_version, lease.worker)]);
    }
    if let Some(failure) = &task.failure {
        let words = failure.message.as_deref().unwrap_or("-");
        let advice = failure.kind.advice();
        facts.push(vec!["failure".into(), format!("{}: {words} ({advice})", failure.kind.as_str())]);
    }
    for reserved in &task.reservations {
        let fate = match (reserved.unknown_since, shown.stuck) {
            (Some(_), _) => "of unknown fate",
            (None, Some(Stuck::EffectUnknown)) => "of unknown fate; `void-effect` once its lease is released",
            (None, _) => "announced",
        };
        facts.push(vec![
            "effect".into(),
            format!("{} on {}, {fate}", reserved.effect.key, reserved.effect.target),
        ]);
    }
    out.table(&facts)?;
    conflicts(shown, problems, out)?;
    question(shown, out)?;
    decided::last(c, shown, out).await?;
    if let Some(digest) = &shown.candidate_set_digest {
        out.say("")?;
        out.say(format!("candidate set  {digest}"))?;
    }
    let can = may::commands(shown);
    if can.is_empty() {
        return out.say("you may        only read");
    }
    out.say("")?;
    out.say("you may")?;
    can.iter().try_for_each(|command| out.say(format!("  {command}")))
}

fn conflicts(shown: &Shown, problems: &Problems, out: &mut Out) -> Result<(), Failure> {
    for set in shown.task.review.iter().flat_map(|r| &r.sets) {
        out.say("")?;
        out.say(format!("conflict       {} {}: {}", set.class.as_str(), set.idempotency_key, set.why))?;
        if let Some(effect) = &set.effect {
            let (e, digest) = (&effect.effect, effect.digest);
            out.say(format!("  committed    {} on {} {digest}", e.key, e.target))?;
        }
        for side in shown.candidates.iter().filter(|s| set.candidates.contains(&s.submission.arrival)) {
            submission(side, shown, problems, out)?;
        }
    }
    if !shown.held_messages.is_empty() {
        out.say("")?;
        out.say("held")?;
        for held in &shown.held_messages {
            submission(held, shown, problems, out)?;
        }
    }
    Ok(())
}

fn submission(side: &Submitted, shown: &Shown, problems: &Problems, out: &mut Out) -> Result<(), Failure> {
    let s = &side.submission;
    let yours = if shown.own.contains(&s.arrival) { ", YOUR OWN" } else { "" };
    let problem = problems.get(&s.arrival).map(String::as_str).unwrap_or_default();
    let verified = match s.verification {
        Verification::Verified => "verified now".to_owned(),
        Verification::Mismatch => format!("NOT verified: {problem}"),
        Verification::NotFetched => "not fetched".to_owned(),
    };
    out.say(format!(
        "  #{}  {} from {}{yours}, untrusted, {}, received {} (claimed {})",
        s.arrival,
        s.kind.as_str(),
        named(&s.sender),
        if side.deliveries == 1 { "1 delivery".into() } else { format!("{} deliveries", side.deliveries) },
        s.received_at,
        s.created_at
    ))?;
    out.say(format!("      {} {} {verified}  message {}", s.payload_digest, s.digest_scheme, s.message_id))?;
    for evidence in &s.evidence_refs {
        let claimed = evidence.digest().map(|(d, scheme)| format!("  {d} {scheme}")).unwrap_or_default();
        out.say(format!("      rests on {}{claimed}", evidence.uri()))?;
    }
    Ok(())
}

fn question(shown: &Shown, out: &mut Out) -> Result<(), Failure> {
    let Some(open) = &shown.task.interruption else { return Ok(()) };
    let q = &open.question;
    out.say("")?;
    let until = q.expires_at.map(|t| format!(", until {t}")).unwrap_or_default();
    out.say(format!(
        "question {}     {} asked by {}{until}",
        open.id,
        q.need.as_str(),
        named(&open.asked_by)
    ))?;
    out.say_lines("  ", &q.prompt)?;
    for (name, text) in
        [("action", &q.action), ("scope", &q.scope), ("link", &q.link), ("resumes", &q.resume)]
    {
        if let Some(text) = text {
            out.say(format!("  {name}: {}", named(text)))?;
        }
    }
    if let Some(schema) = &q.schema {
        out.say(format!("  schema: {schema}"))?;
    }
    Ok(())
}
