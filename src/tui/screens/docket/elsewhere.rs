//! Where a filter that finds nothing in a list would find something.

use super::tab::Tab;
use crate::coordinator::{ListRequest, Order, Page, Row, Scope};
use crate::domain::query::Query;
use crate::tui::effect::Ask;
use crate::tui::screens::Ctx;
use crate::tui::screens::pages::{cancel, put};

/// The most tasks that are looked at: a hint needs no exact count.
const MOST: usize = 50;

/// What is known of the other lists.
#[derive(Default)]
pub(super) struct Elsewhere {
    asked: Option<(u64, Scope)>,
    found: Option<Found>,
}

/// What was found there.
#[derive(Debug, PartialEq)]
struct Found {
    /// A list that holds some of it.
    tab: Option<Tab>,
    words: String,
}

impl Elsewhere {
    /// Nothing is known: the filter or the list is another.
    pub(super) fn forget(&mut self, ctx: &mut Ctx<'_>) {
        if let Some((request, _)) = self.asked.take() {
            cancel(ctx, request);
        }
        self.found = None;
    }

    /// Looks elsewhere for what this list does not hold, once.
    pub(super) fn look(&mut self, tab: Tab, query: Query, ctx: &mut Ctx<'_>) {
        if self.asked.is_none() && self.found.is_none() {
            // What waits is looked at first: quarantine entries are in no other list of everything.
            let scope = if tab == Tab::All { Scope::Everything } else { Scope::Waiting };
            self.ask(scope, query, ctx);
        }
    }

    fn ask(&mut self, scope: Scope, query: Query, ctx: &mut Ctx<'_>) {
        let order = Order::default();
        let request = ListRequest { scope, query, order, after: None, backwards: false, limit: MOST };
        self.asked = Some((put(ctx, Ask::List(request)), scope));
    }

    /// Takes a page of another list. Returns whether it was asked for here.
    pub(super) fn take(&mut self, request: u64, page: &Page<Row>, query: Query, ctx: &mut Ctx<'_>) -> bool {
        let Some((_, scope)) = self.asked.take_if(|(own, _)| *own == request) else { return false };
        match scope {
            Scope::Waiting if page.rows.is_empty() => self.ask(Scope::Everything, query, ctx),
            _ => self.found = Some(found(page)),
        }
        true
    }

    /// It could not be read: no hint is given.
    pub(super) fn fail(&mut self, request: u64) -> bool {
        let ours = self.asked.take_if(|(own, _)| *own == request).is_some();
        if ours {
            self.found = Some(Found { tab: None, words: String::new() });
        }
        ours
    }

    /// The list to go to.
    pub(super) fn tab(&self) -> Option<Tab> {
        self.found.as_ref()?.tab
    }

    /// What is said of it.
    pub(super) fn words(&self) -> &str {
        self.found.as_ref().map_or("looking elsewhere…", |found| found.words.as_str())
    }
}

fn found(page: &Page<Row>) -> Found {
    let more = if page.more { "+" } else { "" };
    let count = |fits: fn(&Row) -> bool| page.rows.iter().filter(|row| fits(row)).count();
    for (tab, many) in [
        (Tab::All, count(|row| row.reason.is_some())),
        (Tab::Decided, count(|row| row.reason.is_none() && row.approval_id.is_some())),
    ] {
        if many > 0 {
            let words = format!("{many}{more} in {}: enter goes there", tab.name());
            return Found { tab: Some(tab), words };
        }
    }
    let mut states: Vec<&str> = page.rows.iter().filter_map(|row| row.state).map(|s| s.as_str()).collect();
    states.sort_unstable();
    states.dedup();
    let words = match states.as_slice() {
        [] => "no task fits it".to_owned(),
        states => {
            format!(
                "{}{more} in no list: add state:{} to the filter of All",
                page.rows.len(),
                states.join(",")
            )
        }
    };
    Found { tab: None, words }
}
