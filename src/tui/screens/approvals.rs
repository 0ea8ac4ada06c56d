//! The ledger: approval records, newest first, each opened whole; verified here.

mod filtered;
mod record;
#[cfg(test)]
mod tests;

use std::time::Duration;

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::decision::correct::correct;
use super::filter::{Filter, TYPING};
use super::pages::{PAGE, Pages, Wanted, put};
use super::viewer::Viewer;
use super::{AGES, Ctx, Layer, Outcome, View, movement};
use crate::coordinator::{Approval, LedgerPage, LedgerPlace, LedgerRequest};
use crate::domain::ids::TaskId;
use crate::domain::ledger::{NOT_OF_RECORDS, Report};
use crate::domain::text::{clip, reveal};
use crate::tui::action::{Action, Scope};
use crate::tui::effect::{Ask, Effect};
use crate::tui::event::{Change, Event, Key, Reply};
use crate::tui::model::Model;
use crate::tui::theme::Role;
use crate::tui::widgets::held::Keyed;
use crate::tui::widgets::list::Rows as _;
use crate::tui::widgets::moment;
use crate::tui::widgets::status::{self, Waiting};
use crate::tui::widgets::table::Column;
pub(super) use record::Opened;

/// A row: what is listed of a record.
#[derive(Clone, Debug, PartialEq)]
struct Item {
    sequence: u64,
    approval_id: String,
    task: TaskId,
    decision: &'static str,
    by: String,
    at: crate::domain::ids::Timestamp,
    upheld: String,
    reason: String,
    corrects: bool,
    digest: crate::domain::digest::Digest,
}

impl Item {
    fn of(approval: &Approval) -> Item {
        let record = &approval.record;
        let upheld: Vec<String> =
            record.upheld.iter().take(20).map(|arrival| format!("#{arrival}")).collect();
        Item {
            sequence: record.sequence,
            approval_id: record.approval_id.clone(),
            task: record.task_id.clone(),
            decision: record.decision.as_str(),
            by: record.principal.subject.clone(),
            at: record.decided_at,
            upheld: if upheld.is_empty() { "–".to_owned() } else { upheld.join(" ") },
            reason: clip(&record.reason, 500).text.to_string(),
            corrects: record.supersedes.is_some(),
            digest: record.record_digest,
        }
    }

    fn cells(&self, view: &View<'_>) -> [(String, Style); 7] {
        let style = |role| view.theme.style(role);
        let role = if self.decision == "ready" { Role::Success } else { Role::Warning };
        let mark = if self.corrects { " ↺" } else { "" };
        [
            (self.sequence.to_string(), style(Role::Text)),
            (self.task.as_str().to_owned(), style(Role::Text)),
            (format!("{}{mark}", self.decision), style(role)),
            (self.by.clone(), style(Role::Text)),
            (moment::minute(self.at, view.model), style(Role::Muted)),
            (self.upheld.clone(), style(Role::Text)),
            (self.reason.clone(), style(Role::Text)),
        ]
    }
}

impl Keyed for Item {
    type Id = u64;
    type Cursor = u64;
    fn id(&self) -> u64 {
        self.sequence
    }
    fn cursor(&self) -> u64 {
        self.sequence
    }
}

/// From where a page is read, and how many rows. `reversed`: whether the list begins with the highest number.
fn reading(wanted: &Wanted<u64>, reversed: bool) -> (LedgerPlace, usize) {
    let (after, before) = (LedgerPlace::After, LedgerPlace::Before);
    let place = match (wanted, reversed) {
        (Wanted::Start | Wanted::Again(None, _), true) | (Wanted::End, false) => before(u64::MAX),
        (Wanted::Start | Wanted::Again(None, _), false) | (Wanted::End, true) => after(0),
        (Wanted::After(number) | Wanted::Again(Some(number), _), true) => before(*number),
        (Wanted::After(number) | Wanted::Again(Some(number), _), false) => after(*number),
        (Wanted::Before(number), true) => after(*number),
        (Wanted::Before(number), false) => before(*number),
    };
    (place, if let Wanted::Again(_, limit) = wanted { *limit } else { PAGE })
}

/// The ledger, of the whole store or of one task.
pub struct Approvals {
    task: Option<TaskId>,
    pages: Pages<Item>,
    filter: Filter,
    height: u16,
    /// The open question: from where it reads, and how many rows.
    asked: Option<(u64, LedgerPlace, usize)>,
    /// The number of the last record, once known.
    head: Option<u64>,
    verifying: Option<(u64, Duration)>,
    verdict: Option<(String, Role)>,
    /// The record to be corrected, while its task is read.
    correcting: Option<(u64, String)>,
    since: Option<Duration>,
    opens: bool,
}

impl Approvals {
    /// The records of a task, oldest first, or of the whole store, newest first; read when the layer opens.
    pub fn new(task: Option<TaskId>) -> Approvals {
        Approvals {
            pages: Pages::new(task.is_none()),
            task,
            filter: Filter::without(NOT_OF_RECORDS),
            height: 0,
            asked: None,
            head: None,
            verifying: None,
            verdict: None,
            correcting: None,
            since: None,
            opens: true,
        }
    }

    fn pump(&mut self, ctx: &mut Ctx<'_>) {
        if self.head.is_none() {
            return;
        }
        let Some(wanted) = self.pages.wanted() else { return };
        let (from, limit) = reading(&wanted, self.is_reversed());
        let request = self.put(from, limit, ctx);
        self.pages.asked(request, &wanted);
    }

    /// Whether the list begins with the highest number: of one task it begins with the first record.
    fn is_reversed(&self) -> bool {
        self.task.is_none()
    }

    fn put(&mut self, from: LedgerPlace, limit: usize, ctx: &mut Ctx<'_>) -> u64 {
        let (task, query) = (self.task.clone(), self.filter.query());
        let request = put(ctx, Ask::Approvals(LedgerRequest { task, query, from, limit }));
        self.asked = Some((request, from, limit));
        request
    }

    fn take(&mut self, request: u64, found: &LedgerPage, ctx: &mut Ctx<'_>) {
        let Some((_, from, limit)) = self.asked.take_if(|(asked, ..)| *asked == request) else { return };
        if let Some(next) = found.next.filter(|_| found.rows.is_empty()) {
            let next = self.put(next, limit, ctx);
            return self.pages.asked_instead(request, next);
        }
        let mut rows: Vec<Item> = found.rows.iter().map(Item::of).collect();
        if matches!(from, LedgerPlace::After(_)) == self.is_reversed() {
            rows.reverse();
        }
        self.pages.take(request, rows, found.next.is_some());
    }

    fn verified(&mut self, report: &Report) {
        self.verdict = Some(match (&report.problem, report.head) {
            (Some(problem), _) => {
                let what = format!("{:?}", problem.kind).to_lowercase();
                let text = format!("✗ not verified: record {} {what}: {}", problem.sequence, problem.message);
                (reveal(&text).to_string(), Role::Danger)
            }
            (None, Some(head)) => (
                // As `--head` takes it.
                format!(
                    "✓ verified {} records, head {}:{head}",
                    status::counted(report.records, false),
                    report.records
                ),
                Role::Success,
            ),
            (None, None) => ("✓ verified: there is no record yet".to_owned(), Role::Success),
        });
    }

    fn failed(&mut self, request: u64, why: &str, ctx: &mut Ctx<'_>) {
        if self.verifying.take_if(|(open, _)| *open == request).is_some() {
            self.verdict = Some((format!("could not verify: {why}"), Role::Danger));
        } else if self.pages.waits_for(request) {
            self.pages.fail(request, why);
        } else {
            ctx.toast(why);
        }
    }

    fn reply(&mut self, request: u64, reply: &Reply, ctx: &mut Ctx<'_>) {
        match reply {
            Reply::Status(status) => {
                let known = self.head.replace(status.head.sequence);
                if known.is_some_and(|known| known != status.head.sequence) {
                    self.pages.grew();
                }
            }
            Reply::Approvals(found) => self.take(request, found, ctx),
            Reply::Verify(report) => {
                self.verifying = None;
                self.verified(report);
            }
            Reply::Show(shown) => {
                if let Some((_, old)) = self.correcting.take_if(|(asked, _)| *asked == request) {
                    correct(shown, &old, ctx);
                }
            }
            other => self.failed(request, &other.problem(), ctx),
        }
        if self.head.is_some() && !self.pages.is_new() {
            self.since = None;
        }
        self.pump(ctx);
    }

    fn title(&self) -> String {
        match (&self.task, self.head) {
            (Some(task), _) => format!("Approvals of {} · oldest first", reveal(task.as_str())),
            (None, Some(head)) => {
                format!("Approvals · {} records · newest first", status::counted(head, false))
            }
            (None, None) => "Approvals".to_owned(),
        }
    }
}

const COLUMNS: &[Column] = &[
    Column { title: "no.", least: 5, most: 7, rank: 0, right: true },
    Column { title: "task", least: 7, most: 12, rank: 1, right: false },
    Column { title: "decision", least: 10, most: 10, rank: 2, right: false },
    Column { title: "by", least: 8, most: 12, rank: 4, right: false },
    Column { title: "when", least: 16, most: 16, rank: 5, right: false },
    Column { title: "upheld", least: 6, most: 10, rank: 6, right: false },
    Column { title: "reason", least: 18, most: u16::MAX, rank: 3, right: false },
];

impl Layer for Approvals {
    fn scopes(&self) -> &'static [Scope] {
        if self.filter.is_typing() {
            &[Scope::Line, Scope::Field, Scope::Always]
        } else {
            &[Scope::Approvals, Scope::List, Scope::Global, Scope::Always]
        }
    }

    fn wants_text(&self) -> bool {
        self.filter.is_typing()
    }

    fn text(&mut self, key: Key, ctx: &mut Ctx<'_>) {
        if self.filter.key(key) {
            self.restart(ctx);
        }
    }

    fn on(&mut self, action: Action, ctx: &mut Ctx<'_>) -> Outcome {
        if self.filter.is_typing() {
            return self.type_filter(action, ctx);
        }
        match (action, self.pages.selected()) {
            (Action::Filter, _) => {
                self.filter.open();
                self.relayout();
            }
            // Leaving goes back first: to the whole ledger.
            (Action::Back, _) if self.filter.clear() => self.restart(ctx),
            (Action::Open, Some(item)) => ctx.push(Opened::new(item.sequence)),
            (Action::Supersede, Some(item)) => {
                let ask = Ask::Show(item.task.clone());
                self.correcting = Some((put(ctx, ask), item.approval_id.clone()));
            }
            (Action::Copy, Some(item)) => ctx.effect(Effect::Copy(item.approval_id.clone())),
            (Action::CopyDigest, Some(item)) => ctx.effect(Effect::Copy(item.digest.to_string())),
            (Action::Verify, _) if self.verifying.is_none() => {
                self.verdict = None;
                self.verifying = Some((put(ctx, Ask::Verify), ctx.model.now.run));
            }
            (Action::Verify, _) => {}
            (Action::Export, _) => {
                let command = &ctx.model.command;
                let lines =
                    [format!("{command} export > ledger.jsonl"), format!("{command} verify ledger.jsonl")];
                ctx.push(Viewer::own(
                    "in a shell: write the records to a file, and verify it",
                    lines.to_vec(),
                ));
            }
            _ => match movement(action) {
                Some(movement) => {
                    self.pages.go(movement, ctx);
                    self.pump(ctx);
                }
                None => return Outcome::Ignored,
            },
        }
        Outcome::Handled
    }

    fn event(&mut self, event: &Event, ctx: &mut Ctx<'_>) {
        match event {
            Event::Resize { height, .. } => {
                self.height = *height;
                self.relayout();
                if std::mem::take(&mut self.opens) {
                    self.since = Some(ctx.model.now.run);
                    self.pages.restart(ctx);
                    put(ctx, Ask::Status);
                }
                self.pump(ctx);
            }
            Event::Reply { request, reply } => self.reply(*request, reply, ctx),
            Event::Paste(text) if self.filter.paste(text) => self.restart(ctx),
            Event::Feed(Change::News(tasks)) if tasks.iter().any(Option::is_some) => {
                if self.task.as_ref().is_some_and(|own| tasks.iter().flatten().any(|task| task == own)) {
                    self.pages.stale();
                    self.pump(ctx);
                } else if self.task.is_none() {
                    put(ctx, Ask::Status);
                }
            }
            _ => {}
        }
    }

    fn draw(&self, frame: &mut Frame<'_>, area: Rect, view: &View<'_>) {
        let theme = view.theme;
        let line = |y: u16| Rect { y: area.y.saturating_add(y), height: 1, ..area }.intersection(area);
        status::say(frame, line(0), theme, &self.title(), Role::Title);
        let run = view.model.now.run;
        let (verdict, role) = match (&self.verdict, self.verifying) {
            (_, Some((_, since))) => (format!("verifying {}", Waiting { since }.mark(run)), Role::Muted),
            (Some((verdict, role)), _) => (verdict.clone(), *role),
            (None, None) => {
                ("not verified on this screen yet: V verifies the whole chain".to_owned(), Role::Muted)
            }
        };
        status::say(frame, line(1), theme, &verdict, role);
        let table = self.pages.table(COLUMNS, area.width.saturating_sub(1), |item| item.cells(view));
        let high = self.filter.height();
        if high > 0 {
            let place = Rect { height: high, ..line(2) }.intersection(area);
            self.filter.draw(frame, place, view, &self.found());
        }
        table.head(frame, line(2 + high), theme);
        let top = 3 + high;
        let rows = Rect { y: area.y.saturating_add(top), height: area.height.saturating_sub(top), ..area };
        let waiting = self.since.map(|since| Waiting { since }.mark(run)).unwrap_or_default();
        match self.pages.failed() {
            Some(why) => return status::say(frame, rows, theme, why, Role::Danger),
            None if !waiting.is_empty() => return status::say(frame, rows, theme, &waiting, Role::Muted),
            None if self.pages.is_read() && self.pages.held().is_empty() => {
                let filtered = !self.filter.is_empty();
                let none = if filtered { "no record fits the filter" } else { "nothing was decided yet" };
                return status::say(frame, rows, theme, none, Role::Muted);
            }
            None => {}
        }
        self.pages.draw(frame, rows, theme, &table);
    }

    fn wake(&self, model: &Model) -> Option<Duration> {
        let since = self.since.or(self.verifying.map(|(_, since)| since));
        Some(since.map_or(AGES, |since| Waiting { since }.wake(model.now.run)))
    }

    fn offers(&self) -> &'static [(Action, &'static str)] {
        if self.filter.is_typing() {
            return TYPING;
        }
        &[
            (Action::Open, "open"),
            (Action::Filter, "filter"),
            (Action::Verify, "verify"),
            (Action::Supersede, "correct"),
            (Action::Export, "export"),
            (Action::CopyDigest, "copy digest"),
        ]
    }
}
