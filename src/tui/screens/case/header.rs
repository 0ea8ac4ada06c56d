//! The header of a column: its digest, how it was verified, every submission behind it, what it rests on.

use std::collections::BTreeSet;

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::checks::Checks;
use super::columns::{Column, contradicted, disputed};
use crate::coordinator::Submitted;
use crate::domain::evidence::EvidenceRef;
use crate::tui::model::Model;
use crate::tui::theme::{Role, Theme};
use crate::tui::widgets::ink;
use crate::tui::widgets::moment::{Told, moment};

/// What headers are made from.
#[derive(Clone, Copy)]
pub(super) struct Heads<'a> {
    /// Every side of the intent.
    pub(super) columns: &'a [Column],
    /// What was read of them.
    pub(super) checks: &'a Checks,
    /// How roles look.
    pub(super) theme: &'a Theme,
    /// The clock, for dates.
    pub(super) model: &'a Model,
}

impl Heads<'_> {
    /// ` A  ✓ upheld · task_result · 3 deliveries · untrusted`.
    pub(super) fn title(&self, column: &Column, new: bool) -> Line<'static> {
        let theme = self.theme;
        let mut line =
            vec![Span::styled(format!(" {} ", column.label), theme.style(Role::Badge)), " ".into()];
        match column.upheld {
            Some(true) => line.push(Span::styled("✓ upheld · ", theme.style(Role::Success))),
            Some(false) => line.push(Span::styled("not upheld · ", theme.style(Role::Warning))),
            None => {}
        }
        let kind = format!("{} · {}", column.kind.as_str(), column.times());
        line.push(Span::styled(kind, theme.style(Role::Title)));
        line.push(Span::styled(" · untrusted", theme.style(Role::Untrusted)));
        if column.done {
            line.push(Span::styled(" · ALREADY DONE", theme.style(Role::Danger)));
        }
        if column.held {
            line.push(Span::styled(" · held", theme.style(Role::Warning)));
        }
        if new {
            line.push(Span::styled(" · NEW", theme.style(Role::Danger)));
        }
        Line::from(line)
    }

    /// The digest, as much of it as fits beside scheme and verification; two lines where all of it fits in them.
    fn digest(&self, column: &Column, width: usize, most: usize) -> Vec<Line<'static>> {
        let theme = self.theme;
        let (word, role) = self.checks.word(column);
        let rest = |room: usize| {
            let scheme = Span::styled(format!("{}  ", column.scheme.as_str()), theme.style(Role::Muted));
            ink::fit(vec![scheme, Span::styled(word, theme.style(role))], room, false)
        };
        let tail = column.scheme.as_str().len() + 2 + word.chars().count();
        let whole = column.digest.to_string();
        if width >= whole.len() + 2 + tail || (width >= whole.len() && most > 3) {
            let mut first = vec![Span::styled(whole.clone(), theme.style(Role::Title))];
            if width >= whole.len() + 2 + tail {
                first.push(Span::raw("  "));
                first.extend(rest(tail));
                return vec![Line::from(first)];
            }
            return vec![Line::from(first), Line::from(rest(width))];
        }
        // What is typed to confirm is always in sight.
        let digits = width.saturating_sub(tail + 10).clamp(6, 64);
        let mut line = vec![
            Span::styled(format!("sha256:{}", column.digest.hex_prefix(digits)), theme.style(Role::Title)),
            Span::styled("…  ", theme.style(Role::Muted)),
        ];
        let room = width.saturating_sub(ink::width(&line));
        line.extend(rest(room));
        vec![Line::from(ink::fit(line, width, false))]
    }

    /// One submission: `#1 researcher-a  12:01:07Z  claimed 12:01:05Z  attempt 1  lease 1`.
    fn submission(&self, one: &Submitted, wrong: &BTreeSet<u64>) -> Vec<Span<'static>> {
        let theme = self.theme;
        let s = &one.submission;
        let told = |at| moment(at, Told::Utc, self.model);
        let mut line = vec![Span::styled(format!("#{} ", s.arrival), theme.style(Role::Badge))];
        line.extend(ink::name(&s.sender, theme));
        line.push(Span::raw(format!("  {}  ", told(s.received_at))));
        let odd = wrong.contains(&s.arrival);
        let claimed = format!("claimed {}{}", told(s.created_at), if odd { " !" } else { "" });
        line.push(Span::styled(claimed, theme.style(if odd { Role::Danger } else { Role::Muted })));
        let mut more = String::new();
        if let Some(attempt) = s.attempt {
            more.push_str(&format!("  attempt {attempt}"));
        }
        if let Some(lease) = s.lease_version {
            more.push_str(&format!("  lease {lease}"));
        }
        if one.deliveries > 1 {
            more.push_str(&format!("  ×{}", one.deliveries));
        }
        line.push(Span::styled(more, theme.style(Role::Muted)));
        line
    }

    /// `evidence 2: file:filings.csv  https://…`, those in dispute first.
    fn evidence(&self, column: &Column) -> Vec<Span<'static>> {
        let theme = self.theme;
        let all = column.evidence();
        if all.is_empty() {
            return vec![Span::styled("no evidence", theme.style(Role::Warning))];
        }
        let mut line = vec![Span::styled(format!("evidence {}: ", all.len()), theme.style(Role::Muted))];
        let (first, then): (Vec<_>, Vec<_>) =
            all.into_iter().partition(|one| disputed(one, column, self.columns));
        for one in &first {
            line.push(Span::styled("! digest differs: ", theme.style(Role::Danger)));
            line.extend(ink::spans(one.uri(), theme.style(Role::Link), theme));
            line.push(Span::raw("  "));
        }
        for one in &then {
            line.extend(ink::spans(one.uri(), theme.style(Role::Link), theme));
            line.push(Span::raw("  "));
        }
        line
    }

    /// The header within `most` lines; what does not fit is counted, and the details have it all.
    pub(super) fn lines(&self, column: &Column, width: usize, most: usize) -> Vec<Line<'static>> {
        let wrong = contradicted(self.columns);
        let mut lines = self.digest(column, width, most);
        // Room for the evidence, and for the mark of what is left out.
        let room = most.saturating_sub(lines.len() + 1).max(1);
        let mut told: Vec<Vec<Line<'static>>> = Vec::new();
        for one in &column.stored {
            // What does not fit in its line goes on in the next, where there is room for all.
            let each = if room >= column.stored.len().saturating_mul(2) { 2 } else { 1 };
            let rows = ink::wrap(self.submission(one, &wrong), width, each, false);
            told.push(rows.into_iter().map(Line::from).collect());
        }
        for side in column.sides.iter().filter(|_| column.stored.is_empty()) {
            let mut line = vec![Span::styled(format!("#{} ", side.arrival), self.theme.style(Role::Badge))];
            line.extend(ink::name(&side.sender, self.theme));
            told.push(vec![Line::from(ink::fit(line, width, false))]);
        }
        let all: usize = told.iter().map(Vec::len).sum();
        let keep = if all <= room { told.len() } else { room.saturating_sub(1) };
        let left = told.len().saturating_sub(keep);
        let hidden = column.stored.get(keep..).unwrap_or_default();
        lines.extend(told.into_iter().take(keep).flatten());
        if left > 0 {
            let odd = hidden.iter().any(|one| wrong.contains(&one.submission.arrival));
            let odd = if odd { ", a claimed time ! among them" } else { "" };
            let text = format!("… {left} more{odd}: see details");
            lines.push(note(&text, self.theme.style(Role::Muted), width, self.theme));
        }
        lines.push(Line::from(ink::fit(self.evidence(column), width, false)));
        lines.truncate(most);
        lines
    }

    /// Everything about a column, one fact a line, for the popup.
    pub(super) fn whole(&self, column: &Column) -> Vec<String> {
        let wrong = contradicted(self.columns);
        let (word, _) = self.checks.word(column);
        let mut out = vec![
            format!("{}  {}  {}, untrusted", column.label, column.kind.as_str(), column.times()),
            column.digest.to_string(),
            format!("{}  {word}", column.scheme.as_str()),
        ];
        if let Some(super::checks::Check::Mismatch(why) | super::checks::Check::Failed(why)) =
            self.checks.of(column)
        {
            out.push(why.clone());
        }
        if let Some(upheld) = column.upheld {
            out.push(if upheld { "upheld".to_owned() } else { "not upheld".to_owned() });
        }
        if let Some(effect) = &column.effect {
            out.push(format!("reports the effect {} on {}", effect.key, effect.target));
        }
        for one in &column.stored {
            let line = Line::from(self.submission(one, &wrong)).to_string();
            out.push(String::new());
            out.push(line);
            let s = &one.submission;
            out.push(format!("    message {}, for {}, {}", s.message_id, s.recipient, one.outcome.as_str()));
            if wrong.contains(&s.arrival) {
                out.push("    ! its claimed time contradicts the order of arrival".to_owned());
            }
            if let Some(record) = &one.judged_by {
                out.push(format!("    judged by {record}"));
            }
        }
        out.push(String::new());
        out.push(format!("evidence: {}", column.evidence().len()));
        for one in column.evidence() {
            out.extend(evidence_lines(one, disputed(one, column, self.columns)));
        }
        out
    }
}

fn evidence_lines(one: &EvidenceRef, disputed: bool) -> Vec<String> {
    let mut out = vec![format!("  {}", one.uri())];
    if let EvidenceRef::Described(about) = one {
        let title = about.title.as_deref().map(|title| format!("title {title}"));
        let kind = about.media_type.as_deref().map(|kind| format!("type {kind}"));
        let size = about.size.map(|size| format!("{size} bytes claimed"));
        let protected = (about.protected == Some(true)).then(|| "protected".to_owned());
        out.extend([title, kind, size, protected].into_iter().flatten().map(|fact| format!("    {fact}")));
    }
    out.push(match one.digest() {
        Some((digest, scheme)) => format!("    {digest}  {}  claimed, not opened here", scheme.as_str()),
        None => "    no digest claimed: its content may have changed".to_owned(),
    });
    if disputed {
        out.push("    ! the same reference with another digest or none is named elsewhere".to_owned());
    }
    out
}

/// A line of ours that may be cut.
pub(super) fn note(text: &str, style: Style, width: usize, theme: &Theme) -> Line<'static> {
    Line::from(ink::fit(ink::spans(text, style, theme), width, false))
}
