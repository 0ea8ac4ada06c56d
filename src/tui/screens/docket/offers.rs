//! What the footer offers in the docket, by what is selected.

use super::Docket;
use crate::domain::attention::Reason;
use crate::tui::action::Action;
use crate::tui::screens::filter::TYPING;

type Offers = &'static [(Action, &'static str)];

/// What the footer offers: these, and then what is good to know in every list.
macro_rules! offers {
    ($($own:expr),+) => {
        &[
            $($own,)+
            (Action::Filter, "filter"),
            (Action::NextTab, "next list"),
            (Action::Sort, "sort"),
            (Action::Approvals, "approvals"),
            (Action::Quarantine, "quarantine"),
            (Action::Columns, "columns"),
        ]
    };
}
const TIMELINE: (Action, &str) = (Action::Timeline, "timeline");
const DECIDE: (Action, &str) = (Action::Decide, "decide");
const JUDGE: Offers = offers![(Action::Open, "open"), DECIDE, TIMELINE];
const ANSWER: Offers = offers![(Action::Open, "answer"), DECIDE, TIMELINE];
const LOOK: Offers = offers![(Action::Open, "open"), TIMELINE];
/// The list of entries takes no filter and no order.
const QUARANTINE: Offers = &[
    (Action::Open, "open"),
    (Action::NextTab, "next list"),
    (Action::Quarantine, "settled ones too"),
    (Action::Approvals, "approvals"),
];

impl Docket {
    /// The actions the footer offers, best first.
    pub(super) fn footer(&self) -> Offers {
        if self.filter.is_typing() {
            return TYPING;
        }
        if self.in_quarantine() {
            return QUARANTINE;
        }
        match self.selected().and_then(|item| item.0.reason) {
            Some(Reason::WaitingHuman | Reason::InputRequired | Reason::AuthRequired) => ANSWER,
            Some(Reason::NeedsReview) => JUDGE,
            _ => LOOK,
        }
    }
}
