//! The filter of the ledger: the docket's language, asked of records by the coordinator. Reading goes on until the view is
//! full or the ledger ends, so that what is listed is never taken for all while it is not.

use super::Approvals;
use crate::coordinator::LedgerPlace;
use crate::tui::action::Action;
use crate::tui::screens::filter::Typed;
use crate::tui::screens::{Ctx, Outcome, movement};

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
            Some((_, LedgerPlace::Before(number), _)) if !whole && *number < u64::MAX => {
                format!("{count}{more} found, reading on from no. {}", number.saturating_sub(1))
            }
            _ => format!("{count}{more} found"),
        }
    }
}
