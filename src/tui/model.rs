//! What every screen may read: who is here, where the store is, how fresh the data is, what time it is.

use std::time::Duration;

use jiff::Timestamp;

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
    /// How fresh the data is.
    pub link: Link,
    /// The time of the event being handled.
    pub now: Now,
    /// The zone local times are shown in.
    pub zone: jiff::tz::TimeZone,
    /// Whether the window has the focus, as far as the terminal tells.
    pub focused: bool,
}

impl Model {
    /// A model before anything is known.
    pub fn new(store: impl Into<String>, who: impl Into<String>, now: Now) -> Model {
        let zone = jiff::tz::TimeZone::UTC;
        Model { store: store.into(), who: who.into(), link: Link::Connecting, now, zone, focused: true }
    }

    /// Whether a decision may be made on what is shown (screens, law 5).
    pub fn fresh(&self) -> bool {
        self.link == Link::Live
    }
}
