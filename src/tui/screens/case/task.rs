//! A task that is not in review: where it stands, why it waits, what is safe to do, and what was sent.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget as _;

use super::super::viewer::Viewer;
use super::super::{Ctx, View};
use super::Case;
use super::commands;
use super::panes::{Parts, stack};
use crate::coordinator::{Shown, Submitted};
use crate::domain::attention::Stuck;
use crate::domain::ids::TaskId;
use crate::domain::ledger::Record;
use crate::tui::effect::{Ask, Effect, Source};
use crate::tui::event::Reply;
use crate::tui::model::Model;
use crate::tui::theme::{Role, Theme};
use crate::tui::widgets::ink;
use crate::tui::widgets::list::{List, Move, Rows};
use crate::tui::widgets::moment::{self, Told, moment};
use crate::tui::widgets::table::{Column, Layout};

/// Submissions asked for at once.
const PAGE: usize = 200;

/// The submissions of a task, read page by page as one scrolls.
#[derive(Debug, Default)]
pub(super) struct TaskView {
    all: Vec<Submitted>,
    list: List<u64>,
    more: bool,
    /// The request that is out, and the arrival it reads on from.
    asked: Option<(u64, u64)>,
    problem: Option<String>,
}

struct Held<'a>(&'a [Submitted], bool);

impl Rows for Held<'_> {
    type Id = u64;
    fn len(&self) -> usize {
        self.0.len()
    }
    fn more(&self) -> bool {
        self.1
    }
    fn id(&self, row: usize) -> Option<u64> {
        self.0.get(row).map(|one| one.submission.arrival)
    }
    fn row(&self, id: &u64) -> Option<usize> {
        self.0.binary_search_by_key(id, |one| one.submission.arrival).ok()
    }
}

const COLUMNS: &[Column] = &[
    Column { title: "#", least: 4, most: 7, rank: 0, right: true },
    Column { title: "sender", least: 8, most: 24, rank: 0, right: false },
    Column { title: "type", least: 13, most: 14, rank: 1, right: false },
    Column { title: "outcome", least: 9, most: 13, rank: 1, right: false },
    Column { title: "digest", least: 7, most: 14, rank: 2, right: false },
    Column { title: "received", least: 9, most: 20, rank: 3, right: false },
    Column { title: "×", least: 3, most: 6, rank: 4, right: true },
    Column { title: "message", least: 8, most: 30, rank: 5, right: false },
];

impl TaskView {
    /// Reads the submissions from the first one on.
    pub(super) fn read(&mut self, id: &TaskId, ctx: &mut Ctx<'_>) {
        self.ask(id, 0, ctx);
    }

    fn ask(&mut self, id: &TaskId, after: u64, ctx: &mut Ctx<'_>) {
        let request = ctx.request();
        self.asked = Some((request, after));
        ctx.effect(Effect::Ask(request, Box::new(Ask::Submissions(id.clone(), after, PAGE))));
    }

    /// Takes a reply, if it is to this.
    pub(super) fn take(&mut self, request: u64, reply: &Reply) -> bool {
        let Some((_, after)) = self.asked.filter(|(own, _)| *own == request) else { return false };
        self.asked = None;
        self.problem = None;
        match reply {
            Reply::Submissions(page) => {
                self.all.retain(|one| one.submission.arrival <= after);
                self.all.extend(page.iter().cloned());
                self.more = page.len() >= PAGE;
            }
            other => self.problem = Some(other.problem()),
        }
        self.list.settle(&Held(&self.all, self.more));
        true
    }

    /// Takes note of the height of the list, its heading included.
    pub(super) fn resize(&mut self, height: u16) {
        self.list.resize(height.saturating_sub(1));
    }

    /// Moves, and reads on where the end of what is known is near.
    pub(super) fn go(&mut self, movement: Move, id: &TaskId, ctx: &mut Ctx<'_>) {
        self.list.go(&Held(&self.all, self.more), movement);
        let near = self.list.window().end.saturating_add(PAGE / 4) >= self.all.len();
        if self.more
            && near
            && self.asked.is_none()
            && let Some(last) = self.all.last().map(|one| one.submission.arrival)
        {
            self.ask(id, last, ctx);
        }
    }

    /// Opens the payload of the selected submission.
    /// Returns its arrival.
    pub(super) fn open(&self, id: &TaskId, ctx: &mut Ctx<'_>) -> Option<u64> {
        let arrival = self.list.selected()?;
        let kind = Held(&self.all, false).row(arrival).and_then(|row| self.all.get(row));
        let kind = kind.map_or("", |one| one.submission.kind.as_str());
        ctx.push(Viewer::of(format!("#{arrival} {kind}"), id.clone(), *arrival, Source::Payload, None));
        Some(*arrival)
    }

    fn draw(&self, frame: &mut Frame<'_>, area: Rect, view: &View<'_>) {
        let theme = view.theme;
        let columns = Layout::fit(COLUMNS, area.width.saturating_sub(1));
        let head = Rect { x: area.x.saturating_add(1), height: area.height.min(1), ..area };
        columns.head(theme.style(Role::Muted)).render(head.intersection(area), frame.buffer_mut());
        let rows = Rect { y: area.y.saturating_add(1), height: area.height.saturating_sub(1), ..area };
        if let Some(why) = &self.problem {
            return stack(frame, rows, [Line::styled(why.clone(), theme.style(Role::Danger))]);
        }
        self.list.draw(frame, rows, theme, &Held(&self.all, self.more), |row, _| {
            let Some(one) = self.all.get(row) else { return Line::default() };
            let s = &one.submission;
            let (arrival, times) = (s.arrival.to_string(), one.deliveries.to_string());
            let digest = s.payload_digest.hex_prefix(12);
            let received = moment(s.received_at, Told::Utc, view.model);
            let plain = Style::new();
            columns.row([
                (arrival.as_str(), theme.style(Role::Badge)),
                (s.sender.as_str(), theme.style(Role::Untrusted)),
                (s.kind.as_str(), plain),
                (one.outcome.as_str(), plain),
                (digest.as_str(), theme.style(Role::Muted)),
                (received.as_str(), theme.style(Role::Muted)),
                (times.as_str(), theme.style(Role::Muted)),
                (s.message_id.as_str(), theme.style(Role::Muted)),
            ])
        });
    }
}

/// The facts of a task, one a line, of anybody's text; with the record of its last decision, where it was read.
pub(super) fn facts(shown: &Shown, record: Option<&Record>, model: &Model) -> Vec<String> {
    let task = &shown.task;
    let mut out = Vec::new();
    let told = |at| moment(at, Told::Utc, model);
    let since = |at| moment::span(moment::now(model).since(at));
    if let Some(goal) = &task.request.goal {
        out.push(format!("asks: {goal}"));
    }
    let entered = task.entered_at;
    out.push(format!(
        "{} since {} ({})",
        task.state.as_str().replace('_', " "),
        told(entered),
        since(entered)
    ));
    if let Some(reason) = shown.reason {
        let how =
            shown.stuck.map(|stuck| format!(", {}", stuck.as_str().replace('_', " "))).unwrap_or_default();
        let for_long =
            shown.since.map(|at| format!(" since {} ({})", told(at), since(at))).unwrap_or_default();
        out.push(format!("waits: {}{how}{for_long}", reason.as_str()));
    }
    if let Some(stuck) = shown.stuck {
        out.push(format!("safe to do: {}", stuck.advice()));
        let commands = commands::commands(shown, &model.command);
        out.extend(commands.iter().map(|command| format!("in a shell: {command}")));
    }
    if let Some(lease) = &task.lease {
        let over = lease.expires_at <= moment::now(model);
        let word = if over { "EXPIRED" } else { "expires" };
        out.push(format!(
            "lease {} of {}, {word} {}",
            task.lease_version,
            lease.worker,
            told(lease.expires_at)
        ));
    }
    if let Some(at) = task.retry_at {
        out.push(format!("to be tried again at {}", told(at)));
    }
    if let Some(failure) = &task.failure {
        let said = failure.message.as_deref().map(|said| format!(": {said}")).unwrap_or_default();
        out.push(format!("last failure, {}{said}", failure.kind.as_str()));
        out.push(format!("about it: {}", failure.kind.advice()));
    }
    for one in &task.reservations {
        let unknown = one.unknown_since.is_some() || shown.stuck == Some(Stuck::EffectUnknown);
        let known = if unknown { ", and NOBODY KNOWS whether it happened" } else { "" };
        out.push(format!("effect {} on {} is reserved{known}", one.effect.key, one.effect.target));
    }
    if let Some(asked) = &task.interruption {
        let until = asked.question.expires_at.map(|at| format!(", until {}", told(at))).unwrap_or_default();
        out.push(format!(
            "{} asks ({}{until}): {}",
            asked.asked_by,
            asked.question.need.as_str(),
            asked.question.prompt
        ));
    }
    if let Some(last) = &task.decided {
        let (what, by) = (last.decision, &last.principal.subject);
        let own = record.filter(|record| record.sequence == last.sequence);
        let at = own.map(|record| format!(" at {}", told(record.decided_at))).unwrap_or_default();
        let upheld: Vec<String> = last.upheld.iter().map(|arrival| format!("#{arrival}")).collect();
        let upheld = match (last.candidates.is_empty(), upheld.is_empty()) {
            (true, true) => String::new(),
            (false, true) => ", no side upheld".to_owned(),
            (_, false) => format!(", upheld {}", upheld.join(" ")),
        };
        out.push(format!(
            "last decision: {what} by {by}{at} in {} (record {}){upheld}: {}",
            last.approval_id, last.sequence, last.reason
        ));
    }
    if let Some(at) = task.request.deadline {
        out.push(format!("deadline {}", told(at)));
    }
    for (name, value) in &task.labels {
        out.push(format!("label {name} = {value}"));
    }
    out.push(format!(
        "{} deliveries, {} distinct, {} held, {} repeats, {} effects done",
        task.arrivals,
        task.submissions,
        task.held.len(),
        task.duplicates,
        task.effects_committed
    ));
    out
}

impl Case {
    /// The facts in paragraphs.
    pub(super) fn fact_lines(&self, width: usize, theme: &Theme, model: &Model) -> Vec<Line<'static>> {
        let Some(shown) = self.reading.shown() else {
            let text = match (self.reading.problem(), self.reading.waiting()) {
                (Some(why), _) => (why.to_owned(), Role::Danger),
                (None, Some(waiting)) => (format!("reading {}", waiting.mark(model.now.run)), Role::Muted),
                (None, None) => (String::new(), Role::Muted),
            };
            return ink::paragraph(&format!(" {}", text.0), theme.style(text.1), width, 9, theme);
        };
        let room = width.saturating_sub(2);
        let urgent = |text: &str| {
            ["waits", "safe to do", "last failure", "effect"].iter().any(|w| text.starts_with(w))
        };
        let lines = facts(shown, self.judged.record(), model).into_iter().flat_map(|text| {
            let role = if urgent(&text) { Role::Warning } else { Role::Text };
            let text = text.replace('\n', " ␊ ");
            ink::paragraph(&text, theme.style(role), room, 6, theme)
        });
        lines
            .map(|mut line| {
                line.spans.insert(0, Span::raw(" "));
                line
            })
            .collect()
    }

    pub(super) fn paint_task(&self, frame: &mut Frame<'_>, parts: &Parts, view: &View<'_>) {
        let theme = view.theme;
        let width = usize::from(parts.notes.width);
        let mut lines = self.fact_lines(width, theme, view.model);
        let room = usize::from(parts.notes.height);
        if lines.len() > room {
            lines.truncate(room.saturating_sub(1));
            lines.push(Line::styled(" … more in details", theme.style(Role::Muted)));
        }
        stack(frame, parts.notes, lines);
        let rule = Rect { y: parts.notes.bottom(), height: 1, ..parts.title };
        stack(frame, rule, [Line::styled("─".repeat(width), theme.style(Role::Border))]);
        if self.reading.shown().is_some() {
            self.task.draw(frame, parts.list, view);
        }
    }
}
