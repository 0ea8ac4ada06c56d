//! What the keys of the docket do with the selected row, and with the filter while it is typed.

use super::Docket;
use super::rows::{self, Known};
use crate::coordinator::Order;
use crate::domain::attention::Reason;
use crate::domain::ids::TaskId;
use crate::tui::action::Action;
use crate::tui::screens::answer::Answer;
use crate::tui::screens::case::Case;
use crate::tui::screens::decision::correct::decide;
use crate::tui::screens::filter::Typed;
use crate::tui::screens::quarantine::Opened;
use crate::tui::screens::timeline::Timeline;
use crate::tui::screens::{Ctx, Outcome, movement};
use crate::tui::widgets::held::Keyed as _;

impl Docket {
    pub(super) fn open(&mut self, ctx: &mut Ctx<'_>) {
        if self.in_quarantine() {
            if let Some(id) = self.entries.selected() {
                ctx.push(Opened::new(id));
            }
            return;
        }
        let Some(item) = self.selected() else {
            if let Some(tab) = self.elsewhere.tab().filter(|_| self.is_empty()) {
                self.show(tab, ctx);
            }
            return;
        };
        match (item.id(), item.0.reason) {
            (Known::Entry(id), _) => ctx.push(Opened::new(id)),
            (
                Known::Task(task),
                Some(Reason::WaitingHuman | Reason::InputRequired | Reason::AuthRequired),
            ) => {
                ctx.push(Answer::new(TaskId(task)));
            }
            (Known::Task(task), _) => ctx.push(Case::new(TaskId(task))),
        }
    }

    /// Opens what speaks of the selected task.
    pub(super) fn open_for_task(&mut self, action: Action, ctx: &mut Ctx<'_>) {
        let closed = ctx.model.closed().filter(|_| action == Action::Answer).map(str::to_owned);
        match (closed, self.task(), action) {
            (_, Some(task), Action::Decide) => {
                decide(task, self.selected().and_then(|item| item.0.state), ctx);
            }
            (Some(why), ..) => ctx.toast(format!("nothing can be decided now: {why}")),
            (None, Some(task), Action::Answer) => ctx.push(Answer::new(task)),
            (None, Some(task), Action::Timeline) => ctx.push(Timeline::new(task)),
            (None, None, _) if self.selected().is_some() => {
                ctx.toast("this entry names no task: enter opens it")
            }
            _ => {}
        }
    }

    pub(super) fn order_by(&mut self, order: Order, ctx: &mut Ctx<'_>) {
        if self.in_quarantine() {
            ctx.toast("the quarantine is listed in the order of arrival");
            return;
        }
        self.order = order;
        self.restart(ctx);
        ctx.toast(rows::order_words(order));
    }

    pub(super) fn type_filter(&mut self, action: Action, ctx: &mut Ctx<'_>) -> Outcome {
        match self.filter.on(action) {
            Typed::Same => {
                self.relayout();
                self.pump(ctx);
            }
            Typed::Wrong => ctx.toast("the filter is not complete: esc leaves it"),
            Typed::Changed => self.restart(ctx),
            Typed::Other => match movement(action) {
                Some(movement) => self.go(movement, ctx),
                None => return Outcome::Ignored,
            },
        }
        Outcome::Handled
    }
}
