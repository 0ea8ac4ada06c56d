//! What can be known of the selected row without opening it: each side, the question, how it is stuck and what is safe.

use std::collections::BTreeMap;
use std::time::Duration;

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::rows::{self, Item, Known};
use crate::coordinator::{Row, Shown, Submitted};
use crate::domain::attention::{Reason, Stuck};
use crate::domain::ids::TaskId;
use crate::tui::effect::Ask;
use crate::tui::model::Model;
use crate::tui::screens::pages::{cancel, put};
use crate::tui::screens::{Ctx, View};
use crate::tui::theme::{Role, Theme};
use crate::tui::widgets::ink;
use crate::tui::widgets::moment::{self, Told};

/// How long the selection rests before the task is read: moving through a list reads nothing.
const REST: Duration = Duration::from_millis(80);
/// The most lines one side, prompt or goal takes.
const LINES: usize = 6;

/// The pane's state.
#[derive(Default)]
pub(super) struct Preview {
    of: Option<Known>,
    shown: Option<Box<Shown>>,
    request: Option<u64>,
    due: Option<Duration>,
}

impl Preview {
    /// Follows the selection; `changed`: the task it is about has news.
    pub(super) fn follow(&mut self, selected: Option<Known>, changed: bool, ctx: &mut Ctx<'_>) {
        let same = self.of == selected;
        if same && !changed {
            return;
        }
        if let Some(request) = self.request.take() {
            cancel(ctx, request);
        }
        if !same {
            self.shown = None;
        }
        self.due = matches!(selected, Some(Known::Task(_))).then(|| ctx.model.now.run.saturating_add(REST));
        self.of = selected;
    }

    /// Reads the task when the selection has rested.
    pub(super) fn tick(&mut self, ctx: &mut Ctx<'_>) {
        if self.due.is_some_and(|due| due <= ctx.model.now.run)
            && let Some(Known::Task(task)) = &self.of
        {
            self.due = None;
            self.request = Some(put(ctx, Ask::Show(TaskId(task.clone()))));
        }
    }

    /// Takes the task. Returns whether it was asked for here.
    pub(super) fn take(&mut self, request: u64, shown: Option<Box<Shown>>) -> bool {
        let ours = self.request == Some(request);
        if ours {
            self.request = None;
            self.shown = shown;
        }
        ours
    }

    pub(super) fn wake(&self, model: &Model) -> Option<Duration> {
        self.due.map(|due| due.saturating_sub(model.now.run))
    }

    /// The pane's lines, at most `room` cells wide.
    pub(super) fn lines(&self, item: &Item, room: u16, view: &View<'_>) -> Vec<Line<'static>> {
        let pane = Pane { room: usize::from(room), theme: view.theme, model: view.model };
        let mut lines = pane.head(&item.0);
        let shown = self
            .shown
            .as_deref()
            .filter(|shown| Some(shown.task.task_id.as_str()) == item.0.task_id.as_deref());
        match (item.0.reason, item.0.stuck) {
            (Some(Reason::Stuck), Some(stuck)) => lines.extend(pane.stuck(&item.0, stuck, shown)),
            (Some(Reason::NeedsReview), _) => lines.extend(pane.sides(&item.0, shown)),
            _ => {}
        }
        lines.extend(pane.question(&item.0));
        lines.extend(pane.facts(&item.0, shown));
        lines
    }
}

struct Pane<'a> {
    room: usize,
    theme: &'a Theme,
    model: &'a Model,
}

impl Pane<'_> {
    fn style(&self, role: Role) -> Style {
        self.theme.style(role)
    }

    fn say(&self, text: &str, role: Role, most: usize) -> Vec<Line<'static>> {
        ink::paragraph(text, self.style(role), self.room, most, self.theme)
    }

    fn labelled(&self, name: &str, text: &str, role: Role) -> Line<'static> {
        ink::labelled(name, text, self.style(role), self.room, self.theme)
    }

    fn at(&self, at: crate::domain::ids::Timestamp) -> String {
        moment::moment(at, Told::Local, self.model)
    }

    fn head(&self, row: &Row) -> Vec<Line<'static>> {
        let (why, _, role) = rows::why(row);
        let since = moment::span(moment::now(self.model).since(row.since).max(0) / 60_000 * 60_000);
        let line = vec![
            Span::styled(why.to_owned(), self.style(role)),
            Span::raw(format!("  since {}, {since}", self.at(row.since))),
        ];
        let mut lines = vec![Line::from(ink::fit(line, self.room, false))];
        if let Some(goal) = row.goal.as_deref().filter(|goal| !goal.is_empty()) {
            lines.extend(self.say(goal, Role::Untrusted, 3));
        }
        lines
    }

    /// One line a distinct digest, with every submission behind it, in the order of arrival.
    fn sides(&self, row: &Row, shown: Option<&Shown>) -> Vec<Line<'static>> {
        let Some(shown) = shown else {
            return self.say(&format!("{} sides, {} messages", row.candidates, row.messages), Role::Muted, 1);
        };
        let mut lines = Vec::new();
        for set in shown.task.review.iter().flat_map(|review| &review.sets) {
            lines.push(self.labelled("same intent", &set.idempotency_key, Role::Untrusted));
        }
        let mut groups: Vec<(String, Vec<&Submitted>)> = Vec::new();
        let mut known: BTreeMap<String, usize> = BTreeMap::new();
        for side in &shown.candidates {
            let name = format!("{} {}", side.submission.kind.as_str(), side.submission.payload_digest);
            let at = *known.entry(name).or_insert(groups.len());
            match groups.get_mut(at) {
                Some((_, group)) => group.push(side),
                None => groups.push((letter(at), vec![side])),
            }
        }
        for (letter, group) in &groups {
            let Some(first) = group.first() else { continue };
            let deliveries: u64 = group.iter().map(|side| side.deliveries).sum();
            let head = vec![
                Span::styled(
                    format!("{letter} {}… ", first.submission.payload_digest.short()),
                    self.style(Role::Accent),
                ),
                Span::raw(format!("{deliveries}× {}", first.submission.kind.as_str())),
            ];
            lines.push(Line::from(ink::fit(head, self.room, false)));
            for side in group.iter().take(LINES) {
                let s = &side.submission;
                let mut line = vec![Span::raw(format!("  #{} {} ", s.arrival, self.at(s.received_at)))];
                line.extend(ink::spans(&s.sender, self.style(Role::Untrusted), self.theme));
                lines.push(Line::from(ink::fit(line, self.room, false)));
            }
            if group.len() > LINES {
                lines.push(Line::raw(format!("  and {} more: open it", group.len() - LINES)));
            }
        }
        lines
    }

    fn stuck(&self, row: &Row, stuck: Stuck, shown: Option<&Shown>) -> Vec<Line<'static>> {
        let mut lines = self.say(rows::stuck_words(stuck), Role::Danger, 1);
        if let Some(lease) = shown.and_then(|shown| shown.task.lease.as_ref()) {
            let text = format!("{} until {}", lease.worker, self.at(lease.expires_at));
            lines.push(self.labelled("lease", &text, Role::Untrusted));
        }
        for reservation in shown.iter().flat_map(|shown| &shown.task.reservations) {
            let text = format!(
                "{} at {}, announced {}",
                reservation.effect.key,
                reservation.effect.target,
                self.at(reservation.at)
            );
            lines.push(self.labelled("effect", &text, Role::Untrusted));
        }
        if let Some(failure) = row.failure {
            lines.push(self.labelled("last failure", failure.as_str(), Role::Text));
        }
        if let Some(detail) = row.detail.as_deref() {
            lines.extend(self.say(detail, Role::Untrusted, LINES));
        }
        lines.extend(self.say(&format!("safe to do: {}", stuck.advice()), Role::Accent, 3));
        lines
    }

    fn question(&self, row: &Row) -> Vec<Line<'static>> {
        let Some(asked) = &row.interruption else { return Vec::new() };
        let mut lines = self.say(&format!("“{}”", asked.prompt), Role::Untrusted, LINES);
        lines.push(self.labelled("needs", &asked.need.as_str().replace('_', " "), Role::Text));
        if let Some(expires) = asked.expires_at {
            let (left, role) = rows::deadline(expires, moment::now(self.model));
            lines.push(self.labelled("expires", &format!("{left}, {}", self.at(expires)), role));
        }
        lines
    }

    fn facts(&self, row: &Row, shown: Option<&Shown>) -> Vec<Line<'static>> {
        let mut lines = Vec::new();
        for (name, text) in [("trace", row.trace_id.as_deref()), ("worker", row.worker.as_deref())] {
            if let Some(text) = text {
                lines.push(self.labelled(name, text, Role::Untrusted));
            }
        }
        if let Some(at) = row.deadline {
            let (left, role) = rows::deadline(at, moment::now(self.model));
            lines.push(self.labelled("deadline", &format!("{left}, {}", self.at(at)), role));
        }
        if row.reason != Some(Reason::NeedsReview) && row.quarantine.is_none() {
            lines.push(self.labelled("messages", &row.messages.to_string(), Role::Text));
        }
        if let Some(decided) = shown.and_then(|shown| shown.task.decided.as_ref()) {
            let text = format!("{}, record {}: {}", decided.decision, decided.sequence, decided.reason);
            lines.push(self.labelled("decided", &text, Role::Success));
        }
        lines
    }
}

/// `A` to `Z`, then `A2` and so on.
fn letter(at: usize) -> String {
    let letter = char::from(b'A'.saturating_add(u8::try_from(at % 26).unwrap_or(0)));
    if at < 26 { letter.to_string() } else { format!("{letter}{}", at / 26 + 1) }
}
