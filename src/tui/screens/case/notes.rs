//! What is said above the sides: what is in conflict and why, what was judged or done before, what is new.

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::Case;
use super::header::{Heads, note};
use super::judged::decision;
use super::sides::{Look, Sides};
use crate::domain::diff::Diff;
use crate::domain::event::Decided;
use crate::tui::model::Model;
use crate::tui::theme::{Role, Theme};
use crate::tui::widgets::ink;
use crate::tui::widgets::moment::{Told, moment};

impl Case {
    /// The line at the top: which task, where it stands, which intent; at the right where one reads.
    pub(super) fn title(&self, width: usize, theme: &Theme) -> Line<'static> {
        let mut left = vec![Span::raw(" ")];
        left.extend(ink::spans(self.reading.id().as_str(), theme.style(Role::Title), theme));
        let Some(shown) = self.reading.shown() else { return Line::from(ink::fit(left, width, false)) };
        let state = shown.task.state.as_str().replace('_', " ");
        left.push(Span::styled(format!("  {state}"), theme.style(Role::Warning)));
        left.push(Span::styled(format!("  v{}  trace ", shown.task.state_version), theme.style(Role::Muted)));
        left.extend(ink::spans(&shown.task.trace_id, Style::new(), theme));
        if let Some(set) = self.sets.get(self.set).filter(|_| self.compares()) {
            let nth = match self.sets.len() {
                1 => String::new(),
                many => format!(" {} of {many}", self.set + 1),
            };
            left.push(Span::styled(format!("  intent{nth} "), theme.style(Role::Muted)));
            left.extend(ink::spans(&set.intent.idempotency_key, Style::new(), theme));
        }
        let right = if self.compares() { place(&self.sides) } else { String::new() };
        let room = width.saturating_sub(right.chars().count() + 2);
        if room < width / 3 {
            return Line::from(ink::fit(left, width, false));
        }
        let mut line = ink::fit(left, room, false);
        line.push(Span::raw(" ".repeat(room.saturating_sub(ink::width(&line)) + 1)));
        line.push(Span::styled(right, theme.style(Role::Accent)));
        Line::from(line)
    }

    /// Every note there is, as text and role, most urgent first.
    pub(super) fn notes(&self, model: &Model) -> Vec<(String, Role)> {
        let mut notes = Vec::new();
        let Some(shown) = self.reading.shown() else { return notes };
        let news = self.news();
        if !news.is_empty() {
            notes.push((self.told_news(&news), Role::Danger));
        }
        if let Some(why) = self.reading.problem() {
            notes.push((format!("could not be read again: {why}"), Role::Danger));
        }
        if let Some(why) = self.sides.problem() {
            notes.push((
                format!("the sides could not be compared: {why} (refresh tries again)"),
                Role::Danger,
            ));
        }
        let last = decision(shown);
        if let Some(last) = last {
            notes.push((self.told_decision(last, model), Role::Success));
            notes.push((format!("reason: {}", last.reason), Role::Text));
        }
        if let Some(why) = self.judged.problem() {
            notes.push((format!("what was judged could not be read whole: {why}"), Role::Warning));
        }
        let Some(set) = self.sets.get(self.set) else { return notes };
        match &set.conflict {
            Some(conflict) => {
                let (word, role) = match last {
                    Some(_) => ("was in conflict", Role::Muted),
                    None => ("conflict", Role::Warning),
                };
                notes.push((format!("{word}: {}", conflict.why), role));
                if let Some(done) = &conflict.effect {
                    let from = done.arrival.map(|arrival| format!(" by #{arrival}")).unwrap_or_default();
                    let (key, target) = (&done.effect.key, &done.effect.target);
                    notes.push((
                        format!(
                            "already done: effect {key} on {target}, committed{from} with {}",
                            done.digest
                        ),
                        Role::Danger,
                    ));
                }
                if let Some(record) = &conflict.judged_before {
                    notes.push((format!("this intent was judged before, by record {record}"), Role::Warning));
                }
            }
            None if set.columns.iter().all(|column| column.held) => {
                notes.push(("held: no conflict, judged together with the others".to_owned(), Role::Muted))
            }
            None => {}
        }
        let two = self.sides.pair.is_some_and(|(a, b)| a != b);
        if let Some(same) = self.sides.diff().filter(|_| two).as_deref().and_then(alike) {
            notes.push((same, Role::Warning));
        }
        let others =
            shown.held_messages.iter().filter(|one| !self.arrivals().any(|a| a == one.submission.arrival));
        match others.count() {
            0 => {}
            many => notes.push((
                format!("{many} more held, judged by nobody here: the timeline lists them"),
                Role::Muted,
            )),
        }
        notes
    }

    /// `decided in record 3: ready, upheld A #2, not B #5, by ann, 12:04:31Z (A-3)`.
    fn told_decision(&self, last: &Decided, model: &Model) -> String {
        let at = self.judged.record().map(|record| moment(record.decided_at, Told::Utc, model));
        let at = at.map(|at| format!(", {at}")).unwrap_or_default();
        let (what, by, id) = (last.decision, &last.principal.subject, &last.approval_id);
        let columns = || self.sets.iter().flat_map(|set| &set.columns);
        let named = |wanted: bool| -> Vec<String> {
            let own = columns().filter(|column| column.upheld == Some(wanted));
            own.map(|column| format!("{} #{}", column.label, column.arrival())).collect()
        };
        let (upheld, not) = (named(true).join(", "), named(false).join(", "));
        let sides = match (upheld.is_empty(), not.is_empty()) {
            (true, true) => String::new(),
            (true, false) => ", no side upheld".to_owned(),
            (false, true) => format!(", upheld {upheld}"),
            (false, false) => format!(", upheld {upheld}, not {not}"),
        };
        let word = if last.supersedes.is_some() { "corrected" } else { "decided" };
        format!("{word} in record {}: {what}{sides}, by {by}{at} ({id})", last.sequence)
    }

    fn told_news(&self, news: &[u64]) -> String {
        let columns = self.sets.iter().flat_map(|set| &set.columns);
        let told: Vec<String> = columns
            .filter(|column| news.iter().any(|arrival| column.holds(*arrival)))
            .map(|column| {
                let last = column.sides.iter().rev().find(|side| news.contains(&side.arrival));
                let from =
                    last.map(|side| format!(" #{} from {}", side.arrival, side.sender)).unwrap_or_default();
                format!("{}{from}", column.label)
            })
            .collect();
        format!("ARRIVED while you read: {}. Deciding is off until you acknowledge it", told.join(", "))
    }

    /// The notes within some lines; the last says when there are more.
    pub(super) fn note_lines(
        &self,
        width: usize,
        most: usize,
        theme: &Theme,
        model: &Model,
    ) -> Vec<Line<'static>> {
        let notes = self.notes(model);
        let cut = notes.len() > most;
        let mut lines: Vec<Line<'static>> = notes
            .iter()
            .take(most)
            .map(|(text, role)| note(&format!(" {text}"), theme.style(*role), width, theme))
            .collect();
        if cut && let Some(last) = lines.pop() {
            let mut spans = ink::fit(last.spans, width.saturating_sub(19), false);
            spans.push(Span::styled("  … more in details", theme.style(Role::Muted)));
            lines.push(Line::from(ink::fit(spans, width, false)));
        }
        lines
    }

    /// Everything that the screen had to cut, line by line.
    pub(super) fn everything(&self, model: &Model) -> Vec<String> {
        let theme = Theme::bare();
        let mut lines: Vec<String> = self.notes(model).into_iter().map(|(text, _)| text).collect();
        if let Some(shown) = self.reading.shown() {
            lines.extend(super::task::facts(shown, self.judged.record(), model));
        }
        if let Some(set) = self.sets.get(self.set) {
            let heads = Heads { columns: &set.columns, checks: &self.checks, theme: &theme, model };
            for column in &set.columns {
                lines.push(String::new());
                lines.extend(heads.whole(column));
            }
        }
        lines
    }
}

/// Where one reads: `difference 2 of 5  wrap on`.
fn place(sides: &Sides) -> String {
    let wrap = if sides.rows.wraps() { "wrap on" } else { "wrap off" };
    match (sides.look, sides.diff()) {
        (Look::Differences, Some(diff)) => format!("{}  {wrap}", sides.rows.place(&diff)),
        (Look::Differences, None) => wrap.to_owned(),
        (Look::Whole, Some(diff)) => format!("whole  {}  {wrap}", sides.rows.place(&diff)),
        (Look::Whole, None) => format!("whole  {wrap}"),
        (Look::Raw, _) => format!("raw  {wrap}"),
    }
}

/// Where two texts hold the same value, that they do, and why they are not the same text.
pub(super) fn alike(diff: &Diff) -> Option<String> {
    if !diff.same_value() {
        return None;
    }
    if diff.same_bytes() {
        return Some(
            "both sides are the same bytes: what differs is around them (kind, scheme, effect)".to_owned(),
        );
    }
    let ways = diff.spellings();
    let named = [
        (ways.whitespace, "white space"),
        (ways.order, "the order of members"),
        (ways.names, "escapes in names"),
        (ways.numbers, "how numbers are written"),
        (ways.strings, "escapes in strings"),
    ];
    let named: Vec<&str> = named.into_iter().filter(|(is, _)| *is).map(|(_, word)| word).collect();
    Some(format!("equal in canonical form, different bytes: {}", named.join(", ")))
}
