//! Sends one decision once: a second press does nothing, a lost reply is asked for under the same key, and a
//! refusal says who changed what.

use ratatui::text::Line;
use uuid::Uuid;

use super::reading::Reading;
use super::timeline::words::{said, words};
use super::viewer::Viewer;
use super::{Ctx, Outcome};
use crate::domain::command::DecisionOutcome;
use crate::domain::decision::Decision;
use crate::domain::event::Event as Fact;
use crate::domain::ids::TaskId;
use crate::domain::ledger::Record;
use crate::domain::refusal::{Refusal, RefusalClass};
use crate::domain::task::TaskState;
use crate::domain::text::reveal;
use crate::tui::action::Action;
use crate::tui::effect::{Ask, Effect};
use crate::tui::event::{Change, Event, Reply};
use crate::tui::model::{Link, Model};
use crate::tui::theme::{Role, Theme};
use crate::tui::widgets::ink;
use crate::tui::widgets::moment::{Told, moment};
use crate::tui::widgets::status::Waiting;

/// How far a decision got.
#[derive(Debug)]
enum Phase {
    Writing,
    Sending {
        request: u64,
        decision: Box<Decision>,
        waiting: Waiting,
    },
    /// Nobody knows whether it was written: only the very same may be sent again.
    Lost {
        decision: Box<Decision>,
        why: String,
    },
    Done {
        outcome: DecisionOutcome,
        record: Box<Record>,
        /// What was answered, of which the record keeps only a digest.
        said: Option<String>,
    },
}

/// Events that are told of what changed meanwhile.
const CHANGES: usize = 8;

/// What the footer offers once it is recorded.
pub(super) const RECORDED: &[(Action, &str)] =
    &[(Action::Copy, "copy digest"), (Action::Supersede, "correct"), (Action::Preview, "record")];

/// See the module.
#[derive(Debug)]
pub(super) struct Sending {
    key: String,
    phase: Phase,
    refusal: Option<Box<Refusal>>,
    changes: Vec<Fact>,
    asked: Option<u64>,
}

impl Sending {
    /// Nothing is sent yet; the key is made here, once.
    pub(super) fn new() -> Sending {
        Sending { key: key(), phase: Phase::Writing, refusal: None, changes: Vec::new(), asked: None }
    }

    /// The key under which it is sent, however often.
    pub(super) fn key(&self) -> &str {
        &self.key
    }

    /// How far it got, in words, once it may not be changed any more.
    pub(super) fn standing(&self) -> Option<(&'static str, Role)> {
        if self.record().is_some() {
            return Some(("recorded, for good", Role::Success));
        }
        if self.waiting().is_some() {
            return Some(("sending…", Role::Warning));
        }
        (!self.is_writing()).then_some(("unknown whether it is written: send again", Role::Danger))
    }

    /// Whether it may still be changed.
    pub(super) fn is_writing(&self) -> bool {
        matches!(self.phase, Phase::Writing)
    }

    /// The record that was written.
    pub(super) fn record(&self) -> Option<&Record> {
        match &self.phase {
            Phase::Done { record, .. } => Some(record),
            _ => None,
        }
    }

    /// That the record that was written is not the last of its task any more, as that was read now.
    pub(super) fn overtaken(&self, reading: &Reading) -> Option<String> {
        let own = self.record()?;
        let last = reading.shown()?.task.decided.as_ref().filter(|last| last.sequence > own.sequence)?;
        Some(match &last.supersedes {
            Some(old) if *old == own.approval_id => format!("superseded by record {}", last.sequence),
            _ => format!("record {} of this task is later than this one", last.sequence),
        })
    }

    /// What is being waited for.
    pub(super) fn waiting(&self) -> Option<Waiting> {
        match &self.phase {
            Phase::Sending { waiting, .. } => Some(*waiting),
            _ => None,
        }
    }

    /// Sends it, unless it is under way or done; the very same again where its reply was lost; or says why it is not
    /// sent. Returns whether something new was sent.
    pub(super) fn submit(&mut self, ready: Result<Decision, String>, ctx: &mut Ctx<'_>) -> bool {
        if self.again(ctx) || !self.is_writing() {
            return false;
        }
        match ready {
            Ok(decision) => {
                self.refusal = None;
                self.changes.clear();
                self.put(Box::new(decision), ctx);
                true
            }
            Err(why) => {
                ctx.toast(format!("not sent: {}", reveal(&why)));
                false
            }
        }
    }

    /// Sends the very same again where its reply was lost. Returns whether there was something to send.
    fn again(&mut self, ctx: &mut Ctx<'_>) -> bool {
        match std::mem::replace(&mut self.phase, Phase::Writing) {
            Phase::Lost { decision, .. } => {
                self.put(decision, ctx);
                true
            }
            other => {
                self.phase = other;
                false
            }
        }
    }

    fn put(&mut self, decision: Box<Decision>, ctx: &mut Ctx<'_>) {
        let request = ctx.request();
        ctx.effect(Effect::Ask(request, Box::new(Ask::Decide(decision.clone()))));
        self.phase = Phase::Sending { request, decision, waiting: Waiting { since: ctx.model.now.run } };
    }

    /// Asks what happened behind a revision: told where it was refused, or where the task changed.
    pub(super) fn ask_changes(&mut self, id: &TaskId, after: u64, ctx: &mut Ctx<'_>) {
        if self.asked.is_none() {
            let request = ctx.request();
            self.asked = Some(request);
            ctx.effect(Effect::Ask(request, Box::new(Ask::Timeline(id.clone(), after, CHANGES))));
        }
    }

    /// What follows from a refusal because something changed since this revision: the task is read again, and what
    /// happened meanwhile.
    pub(super) fn catch_up(&mut self, reading: &mut Reading, after: u64, ctx: &mut Ctx<'_>) {
        let stale = self.refusal.as_ref().is_some_and(|refusal| refusal.class() == RefusalClass::Stale);
        if stale && self.is_writing() {
            self.ask_changes(reading.id(), after, ctx);
            reading.ask(ctx);
        }
    }

    /// What can be done with the record once it is written: copied and read.
    pub(super) fn on_record(&self, action: Action, ctx: &mut Ctx<'_>) -> Outcome {
        let Some(record) = self.record() else { return Outcome::Ignored };
        match action {
            Action::Copy | Action::CopyDigest => ctx.effect(Effect::Copy(record.record_digest.to_string())),
            Action::Preview => {
                let text = serde_json::to_string_pretty(record).unwrap_or_default();
                let lines = text.lines().map(str::to_owned).collect();
                ctx.push(Viewer::own(format!("record {}", record.sequence), lines));
            }
            _ => return Outcome::Ignored,
        }
        Outcome::Handled
    }

    /// Takes an event. Returns whether the decision got further.
    pub(super) fn event(&mut self, event: &Event, ctx: &mut Ctx<'_>) -> bool {
        match event {
            Event::Feed(Change::Link(Link::Live)) => self.again(ctx),
            Event::Reply { request, reply } if self.asked == Some(*request) => {
                self.asked = None;
                if let Reply::Timeline(events) = reply {
                    self.changes.clone_from(events);
                }
                false
            }
            Event::Reply { request, reply } if matches!(&self.phase, Phase::Sending { request: own, .. } if own == request) =>
            {
                self.take(reply);
                true
            }
            _ => false,
        }
    }

    fn take(&mut self, reply: &Reply) {
        let Phase::Sending { decision, .. } = std::mem::replace(&mut self.phase, Phase::Writing) else {
            return;
        };
        match reply {
            Reply::Decide(outcome, record) => {
                let said = decision.input.as_ref().map(said);
                self.phase = Phase::Done { outcome: *outcome, record: record.clone(), said };
            }
            Reply::Refused(refusal) => {
                if matches!(**refusal, Refusal::IdempotencyKeyReused { .. }) {
                    self.key = key();
                }
                self.refusal = Some(refusal.clone());
            }
            other => self.phase = Phase::Lost { decision, why: other.problem() },
        }
    }

    /// What is to be said about it now, within `width` cells; nothing while it is being written for the first time.
    pub(super) fn told(&self, width: usize, theme: &Theme, model: &Model) -> Vec<Line<'static>> {
        let say = |text: &str, role, most| ink::paragraph(text, theme.style(role), width, most, theme);
        let mut lines = match &self.phase {
            Phase::Writing => Vec::new(),
            Phase::Sending { waiting, .. } => {
                say(&format!("sending… {}", waiting.mark(model.now.run)), Role::Warning, 1)
            }
            Phase::Lost { why, .. } => {
                let text = format!(
                    "The reply was lost ({why}). It may be written or not: sending again puts the very same under the same key, which can be written only once."
                );
                say(&text, Role::Danger, 6)
            }
            Phase::Done { outcome, record, said } => done(*outcome, record, said.as_deref(), width, theme),
        };
        if let (Some(refusal), Phase::Writing) = (&self.refusal, &self.phase) {
            lines.extend(say(&format!("REFUSED, nothing was written: {refusal}"), Role::Danger, 8));
        }
        if let Phase::Writing = &self.phase {
            lines.extend(self.told_changes(width, theme, model));
        }
        lines
    }

    fn told_changes(&self, width: usize, theme: &Theme, model: &Model) -> Vec<Line<'static>> {
        if self.changes.is_empty() {
            return Vec::new();
        }
        let mut lines =
            ink::paragraph("what happened since you looked:", theme.style(Role::Warning), width, 1, theme);
        for fact in &self.changes {
            let told = words(fact);
            let text = format!(
                "  {}  {} {}  {}",
                moment(fact.at, Told::Utc, model),
                told.what,
                told.who,
                told.about
            );
            lines.push(Line::from(ink::fit(
                ink::spans(&text, theme.style(Role::Warning), theme),
                width,
                false,
            )));
        }
        if self.changes.len() >= CHANGES {
            lines.push(Line::styled("  … and more: the timeline lists them", theme.style(Role::Muted)));
        }
        lines
    }
}

fn key() -> String {
    format!("K-{}", Uuid::now_v7())
}

fn done(
    outcome: DecisionOutcome,
    record: &Record,
    said: Option<&str>,
    width: usize,
    theme: &Theme,
) -> Vec<Line<'static>> {
    let word = match outcome {
        DecisionOutcome::Decided => "RECORDED",
        DecisionOutcome::Replayed => "RECORDED (before: this is the same record again)",
    };
    let upheld: Vec<String> = record.upheld.iter().map(|arrival| format!("#{arrival}")).collect();
    let resumes = match record.decision {
        TaskState::Canceled => "nothing resumes".to_owned(),
        _ => format!("work resumes from {}", record.resume.idempotency_key),
    };
    let mut facts = vec![(format!("{word}: {} → {}", record.from_state, record.to_state), Role::Success)];
    if let Some(said) = said {
        facts.push((said.to_owned(), Role::Success));
    }
    if !upheld.is_empty() {
        facts.push((format!("stands: {}", upheld.join(" ")), Role::Success));
    }
    facts.extend([
        (format!("record {} of this store, {}", record.sequence, record.approval_id), Role::Text),
        (record.record_digest.to_string(), Role::Title),
        (format!("by {} at {}", record.principal.subject, record.decided_at), Role::Text),
        (resumes, Role::Text),
    ]);
    let lines = facts.iter();
    lines.flat_map(|(text, role)| ink::paragraph(text, theme.style(*role), width, 3, theme)).collect()
}
