//! One approval record, whole: every member, its place in the chain, what it corrects and what corrects it.

use std::time::Duration;

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::widgets::{Clear, Widget as _};

use crate::coordinator::{Approval, LedgerPage, LedgerPlace, LedgerRequest, Shown};
use crate::domain::decision::Resume;
use crate::domain::event::Verification;
use crate::domain::ids::TaskId;
use crate::domain::ledger::{Decider, Record, SetSeen, Side};
use crate::tui::action::{Action, Scope};
use crate::tui::effect::{Ask, Effect};
use crate::tui::event::{Event, Reply};
use crate::tui::model::Model;
use crate::tui::screens::decision::correct::correct;
use crate::tui::screens::pages::put;
use crate::tui::screens::timeline::words::said;
use crate::tui::screens::{Ctx, Layer, Outcome, View, movement};
use crate::tui::theme::Role;
use crate::tui::widgets::pager::Pager;
use crate::tui::widgets::status::{self, Waiting};

/// One record.
pub(in super::super) struct Opened {
    sequence: u64,
    record: Option<Box<Record>>,
    /// The record that corrects this one, once looked for: its id, or none.
    corrected_by: Option<Option<String>>,
    /// What was answered or approved; known of the latest record of a task.
    said: Option<String>,
    /// It is to be corrected once its task is read.
    corrects: bool,
    lines: Vec<String>,
    failed: Option<String>,
    pager: Pager,
    since: Duration,
    opens: bool,
}

impl Opened {
    /// For the record with this number, which is read when the layer opens.
    pub(in super::super) fn new(sequence: u64) -> Opened {
        Opened {
            sequence,
            record: None,
            corrected_by: None,
            said: None,
            corrects: false,
            lines: Vec::new(),
            failed: None,
            pager: Pager::new(true),
            since: Duration::ZERO,
            opens: true,
        }
    }

    fn take(&mut self, found: &LedgerPage, ctx: &mut Ctx<'_>) {
        match &self.record {
            None => {
                let Some(own) = found.rows.iter().find(|approval| approval.record.sequence == self.sequence)
                else {
                    self.failed = Some("this record is not here, or not for you to read".to_owned());
                    return;
                };
                // What corrects it can only come later, and only for the same task.
                ask(Some(own.record.task_id.clone()), LedgerPlace::After(self.sequence), 1000, ctx);
                put(ctx, Ask::Show(own.record.task_id.clone()));
                self.record = Some(own.record.clone());
            }
            Some(own) => {
                let corrects = |a: &&Approval| a.record.supersedes.as_ref() == Some(&own.approval_id);
                let by = found
                    .rows
                    .iter()
                    .find(corrects)
                    .map(|a| format!("{} (no. {})", a.record.approval_id, a.record.sequence));
                match found.next.filter(|_| by.is_none()) {
                    Some(next) => return ask(Some(own.task_id.clone()), next, 1000, ctx),
                    None => self.corrected_by = Some(by),
                }
            }
        }
        self.lay_out();
    }

    fn lay_out(&mut self) {
        if let Some(record) = &self.record {
            self.lines = lines(record, self.corrected_by.as_ref(), self.said.as_deref());
        }
    }

    fn fail(&mut self, why: String, ctx: &mut Ctx<'_>) {
        if std::mem::take(&mut self.corrects) {
            ctx.toast(why.as_str());
        }
        self.failed = Some(why);
    }

    /// Takes the task: the record keeps only a digest of the answer, the task the answer to its latest one.
    fn shown(&mut self, shown: &Shown, ctx: &mut Ctx<'_>) {
        let Some(record) = &self.record else { return };
        let last = shown.task.decided.as_ref().filter(|last| last.approval_id == record.approval_id);
        let said = last.and_then(|last| last.input.as_ref()).map(said);
        if std::mem::take(&mut self.corrects) {
            correct(shown, &record.approval_id, ctx);
        }
        if said.is_some() {
            self.said = said;
        }
        self.lay_out();
    }
}

/// Asks for every record of a task, or of all, from a place on.
fn ask(task: Option<TaskId>, from: LedgerPlace, limit: usize, ctx: &mut Ctx<'_>) {
    put(ctx, Ask::Approvals(LedgerRequest::all(task, from, limit)));
}

fn decider(decider: &Decider) -> String {
    let roles: Vec<&str> = decider.roles.iter().map(|role| role.as_str()).collect();
    let behalf = decider.on_behalf_of.as_ref().map(|who| format!(", on behalf of {who}")).unwrap_or_default();
    format!(
        "{}{behalf}; issuer {}, method {}; roles {}",
        decider.subject,
        decider.issuer,
        decider.method,
        roles.join(" ")
    )
}

fn side(side: &Side, lines: &mut Vec<String>) {
    let verified = match side.verification {
        Verification::Verified => "verified on arrival",
        Verification::Mismatch => "MISMATCH: the content has another digest",
        Verification::NotFetched => "content not fetched",
    };
    lines.push(format!(
        "  #{} {} from {}, message {}",
        side.arrival,
        side.kind.as_str(),
        side.sender,
        side.message_id
    ));
    lines.push(format!("      {} {}, {}", side.payload_digest, side.digest_scheme, verified));
    lines.push(format!("      intent {}", side.intent.idempotency_key));
    for evidence in &side.evidence_refs {
        lines.push(format!("      rests on {}", evidence.uri()));
    }
}

fn lines(record: &Record, corrected_by: Option<&Option<String>>, said: Option<&str>) -> Vec<String> {
    let mut lines = Vec::new();
    let mut say = |name: &str, text: String| lines.push(format!("{name:<16}{text}"));
    say("decision", format!("{}: {} → {}", record.decision, record.from_state, record.to_state));
    say("task", record.task_id.as_str().to_owned());
    say("trace", record.trace_id.clone());
    say("version", format!("{} → {}", record.state_version_before, record.state_version_after));
    say("reason", record.reason.clone());
    say("by", decider(&record.principal));
    for endorser in &record.endorsements {
        say("agreed", decider(endorser));
    }
    say("decided at", record.decided_at.to_string());
    say(
        "policy",
        format!("{} version {}, quorum {}", record.policy.id, record.policy.version, record.policy.quorum),
    );
    if record.self_interest {
        say("self-interest", "an author judged their own side, as the policy allows".to_owned());
    }
    let upheld: Vec<String> = record.upheld.iter().map(|arrival| format!("#{arrival}")).collect();
    say("upheld", if upheld.is_empty() { "none".to_owned() } else { upheld.join(" ") });
    let Resume { idempotency_key, note } = &record.resume;
    say("resumes from", idempotency_key.clone());
    if let Some(note) = note {
        say("note", note.clone());
    }
    if let Some(asked) = &record.interruption {
        say("question", format!("{}: {}", asked.id, asked.prompt));
    }
    if let Some(said) = said {
        say("answer", said.to_owned());
    }
    if let Some(digest) = record.input_digest {
        say("answer digest", digest.to_string());
    }
    say("candidates", format!("{}, none of them trusted by being recorded", record.candidates.len()));
    for candidate in &record.candidates {
        side(candidate, &mut lines);
    }
    if !record.held.is_empty() {
        lines.push(format!("{:<16}{}", "held, judged too", record.held.len()));
    }
    for held in &record.held {
        side(held, &mut lines);
    }
    chain(record, corrected_by, &mut lines);
    lines
}

fn chain(record: &Record, corrected_by: Option<&Option<String>>, lines: &mut Vec<String>) {
    let mut say = |name: &str, text: String| lines.push(format!("{name:<16}{text}"));
    let seen = match record.set_seen {
        SetSeen::Digest => "sent by the decider and matched",
        SetSeen::Version => "bound by the version alone",
    };
    say("what was judged", record.candidate_set_digest.to_string());
    say("", seen.to_owned());
    for opened in &record.evidence_opened {
        say("evidence opened", opened.clone());
    }
    say("approval", format!("{}, version {} of this task", record.approval_id, record.approval_version));
    say("corrects", record.supersedes.clone().unwrap_or_else(|| "no record".to_owned()));
    let by = match corrected_by {
        None => "…".to_owned(),
        Some(None) => "no record".to_owned(),
        Some(Some(by)) => by.clone(),
    };
    say("corrected by", by);
    say("place", format!("no. {} in store {}", record.sequence, record.store_id));
    say("record before", record.previous_record_digest.to_string());
    say("this record", record.record_digest.to_string());
    say("signature", record.signature.clone().unwrap_or_else(|| "none".to_owned()));
}

impl Layer for Opened {
    fn scopes(&self) -> &'static [Scope] {
        &[Scope::Record, Scope::List, Scope::Global, Scope::Always]
    }

    /// It covers the ledger and is no step further away than it: records open from wherever the ledger does.
    fn popup(&self) -> bool {
        true
    }

    fn on(&mut self, action: Action, ctx: &mut Ctx<'_>) -> Outcome {
        match (action, &self.record) {
            (Action::Copy | Action::CopyDigest, Some(record)) => {
                ctx.effect(Effect::Copy(record.record_digest.to_string()));
            }
            (Action::Supersede, Some(record)) => {
                put(ctx, Ask::Show(record.task_id.clone()));
                self.corrects = true;
            }
            _ => match movement(action) {
                Some(movement) => self.pager.go(&self.lines, movement),
                None => return Outcome::Ignored,
            },
        }
        Outcome::Handled
    }

    fn event(&mut self, event: &Event, ctx: &mut Ctx<'_>) {
        match event {
            Event::Resize { width, height } => {
                self.pager.resize(width.saturating_sub(2), height.saturating_sub(1));
                if std::mem::take(&mut self.opens) {
                    self.since = ctx.model.now.run;
                    ask(None, LedgerPlace::After(self.sequence.saturating_sub(1)), 1, ctx);
                }
            }
            Event::Reply { reply, .. } => match reply {
                Reply::Approvals(found) => self.take(found, ctx),
                Reply::Show(shown) => self.shown(shown, ctx),
                other => self.fail(other.problem(), ctx),
            },
            _ => {}
        }
    }

    fn draw(&self, frame: &mut Frame<'_>, area: Rect, view: &View<'_>) {
        Clear.render(area, frame.buffer_mut());
        frame.buffer_mut().set_style(area, view.theme.style(Role::Text));
        let line = |y: u16| Rect { y: area.y.saturating_add(y), height: 1, ..area }.intersection(area);
        let place = if self.lines.is_empty() {
            String::new()
        } else {
            format!(" · {}", self.pager.place(&self.lines))
        };
        let title = format!("Approval no. {}{place}", self.sequence);
        status::say(frame, line(0), view.theme, &title, Role::Title);
        if self.record.is_none() {
            let (text, role) = match &self.failed {
                Some(why) => (why.clone(), Role::Danger),
                None => (Waiting { since: self.since }.mark(view.model.now.run), Role::Muted),
            };
            return status::say(frame, line(1), view.theme, &text, role);
        }
        for (y, text) in (1..area.height).zip(self.pager.rows(&self.lines, view.theme)) {
            let line = line(y);
            let (x, width) = (line.x.saturating_add(1), line.width.saturating_sub(2));
            text.render(Rect { x, width, ..line }, frame.buffer_mut());
        }
    }

    fn wake(&self, model: &Model) -> Option<Duration> {
        let waits = self.record.is_none() && self.failed.is_none();
        waits.then(|| Waiting { since: self.since }.wake(model.now.run))
    }

    fn offers(&self) -> &'static [(Action, &'static str)] {
        &[(Action::CopyDigest, "copy digest"), (Action::Supersede, "correct")]
    }
}
