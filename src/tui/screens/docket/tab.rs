//! The tabs of the docket: each names one list, and its count is the length of that list.

use crate::coordinator::{Scope, Tallies, Tally};
use crate::domain::attention::Reason;
use crate::tui::screens::quarantine::NOTHING;

/// A tab.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tab {
    All,
    NeedsReview,
    Waiting,
    Input,
    Auth,
    Stuck,
    Quarantine,
    Decided,
}

impl Tab {
    pub(super) const EVERY: [Tab; 8] = [
        Tab::All,
        Tab::NeedsReview,
        Tab::Waiting,
        Tab::Input,
        Tab::Auth,
        Tab::Stuck,
        Tab::Quarantine,
        Tab::Decided,
    ];

    pub(super) fn name(self) -> &'static str {
        match self {
            Tab::All => "All",
            Tab::NeedsReview => "Needs review",
            Tab::Waiting => "Waiting",
            Tab::Input => "Input",
            Tab::Auth => "Auth",
            Tab::Stuck => "Stuck",
            Tab::Quarantine => "Quarantine",
            Tab::Decided => "Decided",
        }
    }

    /// The name where there is little room.
    pub(super) fn short(self) -> &'static str {
        match self {
            Tab::NeedsReview => "Review",
            Tab::Waiting => "Wait",
            Tab::Quarantine => "Quar.",
            other => other.name(),
        }
    }

    /// What is said where it lists nothing: what it would list, and what is listed elsewhere.
    pub(super) fn nothing(self) -> &'static str {
        match self {
            Tab::All => {
                "nothing waits for a person; what was decided is under Decided, and / with state:running finds the rest"
            }
            Tab::NeedsReview => {
                "no results contradict each other: such tasks are listed here until somebody decides"
            }
            Tab::Waiting => "no local question is open; what remote agents ask is under Input and Auth",
            Tab::Input => {
                "no remote agent asks for input (INPUT_REQUIRED); local questions are under Waiting"
            }
            Tab::Auth => {
                "no remote agent asks for authorization (AUTH_REQUIRED); local questions are under Waiting"
            }
            Tab::Stuck => {
                "nothing is stuck: expired leases and questions, overdue retries and effects of unknown fate come here"
            }
            Tab::Quarantine => NOTHING,
            Tab::Decided => {
                "nothing was decided yet: every task with an approval record is listed here, waiting or not"
            }
        }
    }

    /// From which tasks its list is; the quarantine is read in its own way.
    pub(super) fn scope(self) -> Scope {
        match self {
            Tab::All | Tab::Quarantine => Scope::Waiting,
            Tab::NeedsReview => Scope::Reason(Reason::NeedsReview),
            Tab::Waiting => Scope::Reason(Reason::WaitingHuman),
            Tab::Input => Scope::Reason(Reason::InputRequired),
            Tab::Auth => Scope::Reason(Reason::AuthRequired),
            Tab::Stuck => Scope::Reason(Reason::Stuck),
            Tab::Decided => Scope::Decided,
        }
    }

    pub(super) fn tally(self, tallies: &Tallies) -> Tally {
        match self {
            Tab::All => tallies.all,
            Tab::NeedsReview => tallies.needs_review,
            Tab::Waiting => tallies.waiting,
            Tab::Input => tallies.input,
            Tab::Auth => tallies.auth,
            Tab::Stuck => tallies.stuck,
            Tab::Quarantine => tallies.quarantine,
            Tab::Decided => tallies.decided,
        }
    }

    /// The tab this many to the right, in a circle.
    pub(super) fn step(self, by: usize) -> Tab {
        let at = Tab::EVERY.iter().position(|own| *own == self).unwrap_or(0);
        Tab::EVERY.get((at + by) % Tab::EVERY.len()).copied().unwrap_or(Tab::All)
    }
}
