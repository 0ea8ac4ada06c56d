//! What time it is for a list, where a clock may have been set back.

use super::connect::failed;
use crate::domain::attention::Stuck;
use crate::domain::ids::Timestamp;
use crate::store::StoreError;
use crate::store::rows::{NOT_STUCK, code};
use rusqlite::Connection;

/// When a list is read: `now` by the reader's clock, and the latest moment of anything that waits already. Where a clock
/// was set back, that is later, and what waits since a moment to come is no less there.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clock {
    pub now: i64,
    pub latest: i64,
}

impl Clock {
    /// Reads the latest moment beside the reader's.
    pub(super) fn read(conn: &Connection, now: Timestamp) -> Result<Self, StoreError> {
        let latest: [Option<i64>; 2] = conn
            .prepare_cached(
                "SELECT (SELECT max(entered_at) FROM task), (SELECT max(received_at) FROM quarantine WHERE settled = 0)",
            )
            .and_then(|mut s| s.query_row([], |r| Ok([r.get(0)?, r.get(1)?])))
            .map_err(failed)?;
        let latest = latest.into_iter().flatten().fold(now.0, i64::max);
        Ok(Clock { now: now.0, latest })
    }

    /// Whether something that is stored happened later than now.
    pub(super) fn was_set_back(self) -> bool {
        self.latest > self.now
    }
}

/// The codes of what waits from the moment it came about: all but what is stuck by the passing of time.
pub(super) fn at_once() -> String {
    format!("{NOT_STUCK}, {}", code(&Stuck::ALL, &Stuck::Quarantined))
}
