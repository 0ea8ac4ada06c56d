//! What every screen may read: who is here, where the store is, how fresh the data is, what time it is.

use std::time::Duration;

use jiff::Timestamp;

use crate::coordinator::{self, Status};
use crate::domain::actor::{Principal, Role};
use crate::domain::text::reveal;
use chosen::Chosen;

pub mod chosen;
#[cfg(test)]
mod tests;

/// The time of the event being handled. Screens read no clock of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Now {
    /// Monotonic time since the program started.
    pub run: Duration,
    /// Wall-clock time.
    pub wall: Timestamp,
}

/// The connection to the coordinator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Link {
    /// Not there yet, for the first time.
    Connecting,
    /// What is on the screen is current.
    Live,
    /// Lost; being tried again.
    Reconnecting {
        /// `Now::run` when it was lost.
        since: Duration,
    },
    /// Given up for now.
    Offline {
        /// When the data on the screen was current.
        data_of: Timestamp,
    },
}

/// What every screen may read.
#[derive(Clone, Debug)]
pub struct Model {
    /// The name of the store, revealed.
    pub store: String,
    /// Who will be recorded, and their role, revealed.
    pub who: String,
    /// How a shell reaches this store: the beginning of a command, quoted.
    pub command: String,
    /// How fresh the data is.
    pub link: Link,
    /// What the feed of changes says of the way there; the coordinator may know better.
    pub feed: Link,
    /// The time of the event being handled.
    pub now: Now,
    /// The zone local times are shown in.
    pub zone: jiff::tz::TimeZone,
    /// Why nothing can be written, where nothing can; revealed.
    pub read_only: Option<String>,
    /// Why the last write failed, if it did; revealed. The next one may go through: only trying tells.
    pub write_failure: Option<String>,
    /// Whether the window has the focus, as far as the terminal tells.
    pub focused: bool,
    /// Which columns the docket shows.
    pub columns: Chosen,
}

impl Model {
    /// A model before anything is known.
    pub fn new(store: impl Into<String>, who: impl Into<String>, now: Now) -> Model {
        let zone = jiff::tz::TimeZone::UTC;
        Model {
            store: store.into(),
            who: who.into(),
            command: "tribunal".to_owned(),
            link: Link::Connecting,
            feed: Link::Connecting,
            now,
            zone,
            read_only: None,
            write_failure: None,
            focused: true,
            columns: Chosen::default(),
        }
    }

    /// Takes note of what the coordinator says of itself. Returns whether the line that warns of the store came or went.
    pub fn learn(&mut self, status: &Status) -> bool {
        self.store = reveal(&status.name).to_string();
        self.who = who(&status.principal);
        self.link = match status.link {
            coordinator::Link::Live => self.feed,
            coordinator::Link::Reconnecting { since } => {
                let ago = self.now.wall.as_millisecond().saturating_sub(since.0);
                let ago = Duration::from_millis(u64::try_from(ago).unwrap_or(0));
                Link::Reconnecting { since: self.now.run.saturating_sub(ago) }
            }
            coordinator::Link::Offline { data_of } => {
                Link::Offline { data_of: Timestamp::from_millisecond(data_of.0).unwrap_or(self.now.wall) }
            }
        };
        let had = self.warning().is_some();
        let closed = match (&status.mismatch, &status.read_only) {
            (Some(why), _) => Some(format!("{why}; `tribunal store accept-head --reason …` accepts it")),
            (None, Some(why)) => {
                Some(format!("open for viewing, nothing can be written ({why}); start it as a user who may"))
            }
            (None, None) => None,
        };
        self.read_only = closed.map(|why| reveal(&why).to_string());
        self.write_failure = status.write_failure.as_deref().map(|why| reveal(why).to_string());
        had != self.warning().is_some()
    }

    /// Takes note that something was written. Returns whether the line that warns of the store went.
    pub fn wrote(&mut self) -> bool {
        self.write_failure.take().is_some() && self.warning().is_none()
    }

    /// What is wrong with the store, in the line below the header.
    pub fn warning(&self) -> Option<String> {
        let tried = || self.write_failure.as_ref().map(|why| format!("the last write failed: {why}"));
        self.read_only.as_ref().map(|why| format!("read only: {why}")).or_else(tried)
    }

    /// Takes note of what the feed of changes says of the way to the coordinator.
    pub fn hear(&mut self, link: Link) {
        (self.feed, self.link) = (link, link);
    }

    /// Whether a decision may be made on what is shown (screens, law 5).
    pub fn fresh(&self) -> bool {
        self.closed().is_none()
    }

    /// Why no decision may be made now, where none may; revealed.
    pub fn closed(&self) -> Option<&str> {
        match (self.link, &self.read_only) {
            (Link::Live, None) => None,
            (Link::Live, Some(why)) => Some(why),
            (Link::Connecting, _) => Some("not connected yet"),
            (Link::Reconnecting { .. }, _) => Some("the connection is lost and what is shown may be old"),
            (Link::Offline { .. }, _) => Some("offline: what is shown may be old"),
        }
    }
}

/// A principal with the roles that say most: a reviewer is a responder and a viewer too.
fn who(principal: &Principal) -> String {
    let roles = principal.roles();
    let more = roles.iter().any(|role| matches!(role, Role::Reviewer | Role::Operator));
    let said = roles.iter().filter(|role| !(more && matches!(role, Role::Viewer | Role::Responder)));
    let words: Vec<&str> = said.map(|role| role.as_str()).collect();
    let words = if words.is_empty() { "no role".to_owned() } else { words.join(", ") };
    format!("{} ({words})", reveal(&principal.subject))
}
