//! What the docket makes of answers and news.

use std::time::Duration;

use super::Docket;
use super::rows::{Item, Known};
use crate::domain::text::reveal;
use crate::tui::effect::Ask;
use crate::tui::event::{Change, Reply};
use crate::tui::model::Link;
use crate::tui::screens::Ctx;
use crate::tui::screens::pages::put;
use crate::tui::widgets::held::Keyed as _;

/// The shortest time between two readings for news.
pub(super) const NEWS: Duration = Duration::from_millis(250);

/// How often it is asked how the way to the coordinator is, while it is not well.
pub(super) const WAY: Duration = Duration::from_secs(5);

impl Docket {
    pub(super) fn count(&mut self, ctx: &mut Ctx<'_>) {
        if self.counting.is_none() {
            self.counting = Some(put(ctx, Ask::Tallies));
        }
    }

    /// Asks the coordinator how the way to it is: what it says stands in the header.
    pub(super) fn check_way(&mut self, ctx: &mut Ctx<'_>) {
        if self.checking.0.is_none() {
            self.checking = (Some(put(ctx, Ask::Status)), ctx.model.now.run);
        }
    }

    /// Reads again what is in view when something changed, a few times a second at most.
    pub(super) fn freshen(&mut self, ctx: &mut Ctx<'_>) {
        let run = ctx.model.now.run;
        if !self.news.here || self.counting.is_some() || run < self.news.read.saturating_add(NEWS) {
            return;
        }
        (self.news.here, self.news.read) = (false, run);
        self.count(ctx);
        if self.in_quarantine() {
            self.entries.stale();
        } else {
            self.pages.stale();
        }
        self.pump(ctx);
    }

    pub(super) fn reply(&mut self, request: u64, reply: &Reply, ctx: &mut Ctx<'_>) {
        let counted = self.counting == Some(request);
        if counted {
            self.counting = None;
        }
        // How the way is, is told in the header; that it cannot be told is no failure of the docket.
        if self.checking.0.take_if(|open| *open == request).is_some() {
            return;
        }
        match reply {
            Reply::List(page) if self.elsewhere.take(request, page, self.filter.query(), ctx) => {}
            Reply::List(page) if self.pages.waits_for(request) => {
                let rows = page.rows.iter().cloned().map(Item::new).collect();
                let gone = self.pages.take(request, rows, page.more);
                // Below another screen nobody looks at the list.
                if let Some(Known::Task(name) | Known::Entry(name)) = gone.filter(|_| ctx.on_top) {
                    ctx.toast(format!("{} no longer waits in this place", reveal(&name)));
                }
                self.look();
            }
            Reply::Tallies(tallies) => {
                self.tallies = Some(*tallies);
                self.seen.get_or_insert(self.tab.tally(tallies));
                self.look();
            }
            Reply::Show(shown) => drop(self.preview.take(request, Some(shown.clone()))),
            Reply::Quarantine(found) => self.entries.take(request, found, ctx),
            // Of a question that nobody waits for any more.
            Reply::List(_) => {}
            other => self.failed(request, &other.problem(), ctx),
        }
        if !self.pages.is_new() && !self.entries.is_new() {
            self.since = None;
        }
        self.pump(ctx);
        self.freshen(ctx);
    }

    pub(super) fn failed(&mut self, request: u64, why: &str, ctx: &mut Ctx<'_>) {
        if self.elsewhere.fail(request) {
            return;
        }
        self.pages.fail(request, why);
        self.entries.fail(request, why);
        // A task that is gone by now has no preview; that is no failure of the docket.
        if !self.preview.take(request, None) {
            ctx.toast(format!("{why}; r reads again"));
        }
    }

    pub(super) fn feed(&mut self, change: &Change, ctx: &mut Ctx<'_>) {
        match change {
            Change::News(tasks) => {
                self.news.here = true;
                let known = self.selected().map(Item::id).filter(|_| self.previews);
                let ours = matches!(&known, Some(Known::Task(id)) if tasks.iter().flatten().any(|task| task.as_str() == id));
                self.preview.follow(known, ours, ctx);
            }
            Change::Link(link) => {
                self.check_way(ctx);
                if *link == Link::Live {
                    self.news.here |= std::mem::take(&mut self.news.lost);
                } else {
                    self.news.lost = true;
                }
            }
            Change::Unkept(_) => return,
        }
        self.freshen(ctx);
    }
}
