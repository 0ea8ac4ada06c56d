//! The filter of the ledger: the docket's language, asked of records. It is asked of every record that is read, and reading
//! goes on until the view is full or the ledger ends, so that what is listed is never taken for all while it is not.

use super::Approvals;
use crate::domain::ledger::Record;
use crate::domain::query::{Row, contains_ignoring_case};
use crate::tui::action::Action;
use crate::tui::screens::filter::Typed;
use crate::tui::screens::{Ctx, Outcome, movement};

/// The keys of the language that no record has anything for.
pub(super) const WITHOUT: &[&str] = &["reason", "label", "failure"];

/// A record as the filter sees it, by the subject who looks.
pub(super) struct Judged<'a>(pub(super) &'a Record, pub(super) &'a str);

impl Row for Judged<'_> {
    fn state(&self) -> &str {
        self.0.decision.as_str()
    }
    fn has_reason(&self, _reason: &str) -> bool {
        false
    }
    fn trace(&self) -> &str {
        &self.0.trace_id
    }
    fn task(&self) -> &str {
        self.0.task_id.as_str()
    }
    /// Who decided.
    fn agent(&self) -> Option<&str> {
        Some(&self.0.principal.subject)
    }
    fn label(&self, _key: &str) -> Option<&str> {
        None
    }
    /// When it was decided.
    fn since_ms(&self) -> Option<i64> {
        Some(self.0.decided_at.0)
    }
    fn candidates(&self) -> u32 {
        u32::try_from(self.0.candidates.len()).unwrap_or(u32::MAX)
    }
    fn failure(&self) -> Option<&str> {
        None
    }
    /// Whether whoever looks decided it.
    fn mine(&self) -> bool {
        self.0.principal.subject == self.1
    }
    fn text_contains(&self, text: &str) -> bool {
        let record = self.0;
        let prompt = record.interruption.as_ref().map(|asked| asked.prompt.as_str());
        [
            record.task_id.as_str(),
            &record.trace_id,
            &record.approval_id,
            &record.principal.subject,
            &record.reason,
        ]
        .into_iter()
        .chain(prompt)
        .any(|own| contains_ignoring_case(own, text))
    }
}

impl Approvals {
    pub(super) fn type_filter(&mut self, action: Action, ctx: &mut Ctx<'_>) -> Outcome {
        match self.filter.on(action) {
            Typed::Same => self.relayout(),
            Typed::Wrong => ctx.toast("the filter is not complete: esc leaves it"),
            Typed::Changed => self.restart(ctx),
            Typed::Other => match movement(action) {
                Some(movement) => self.pages.go(movement, ctx),
                None => return Outcome::Ignored,
            },
        }
        self.pump(ctx);
        Outcome::Handled
    }

    /// Begins the list anew: another filter.
    pub(super) fn restart(&mut self, ctx: &mut Ctx<'_>) {
        self.since = Some(ctx.model.now.run);
        self.asked = None;
        self.pages.restart(ctx);
        self.relayout();
        self.pump(ctx);
    }

    /// Leaves the rows the height that is theirs.
    pub(super) fn relayout(&mut self) {
        self.pages.resize(self.height.saturating_sub(3 + self.filter.height()));
    }

    /// How many were found, and how far the ledger is read.
    pub(super) fn found(&self) -> String {
        let held = self.pages.held();
        let whole = held.at_start() && held.at_end() && !self.pages.is_new();
        let more = if whole { "" } else { "+" };
        let count = if self.pages.is_new() { 0 } else { held.count() };
        match &self.asked {
            Some((_, span)) if !whole && self.task.is_none() => {
                format!("{count}{more} found, reading on from no. {}", span.to.min(self.head.unwrap_or(0)))
            }
            _ => format!("{count}{more} found"),
        }
    }
}
