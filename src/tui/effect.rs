//! What the screens want done: I/O as data, run by `runtime` and by the loop, never by a screen.

use std::sync::Arc;

use crate::coordinator::{LedgerRequest, ListRequest};
use crate::domain::decision::Decision;
use crate::domain::ids::TaskId;
use crate::tui::draft::{Draft, Kind};
use crate::tui::model::chosen::Chosen;

/// One wish. Wishes are carried out in order.
#[derive(Debug, PartialEq)]
pub enum Effect {
    /// Leave the program.
    Quit,
    /// Put this text on the clipboard.
    Copy(String),
    /// Draw the whole screen anew.
    Redraw,
    /// Ask the coordinator; the answer comes back as `Event::Reply` with this number.
    Ask(u64, Box<Ask>),
    /// Nobody waits for the answer to this request any more.
    Cancel(u64),
    /// Keep what was written, away from the loop.
    Keep {
        /// As far as it is written, whole.
        draft: Box<Draft>,
        /// At once; else within a second.
        now: bool,
    },
    /// Keep which columns the docket shows.
    KeepColumns(Chosen),
    /// The draft of this is sent or thrown away.
    Forget(TaskId, Kind),
}

/// One question to the coordinator. Each has the reply of the same name.
#[derive(Debug, PartialEq)]
pub enum Ask {
    /// A page of the docket.
    List(ListRequest),
    /// How many rows each tab lists.
    Tallies,
    /// How store and connection do.
    Status,
    /// A task with all that a person needs to judge it.
    Show(TaskId),
    /// A page of a task's submissions, after an arrival.
    Submissions(TaskId, u64, usize),
    /// The payload of one submission.
    Payload(TaskId, u64),
    /// Two payloads that were read, compared.
    Compare(Content, Content),
    /// The text of one submission, to be read line by line.
    Text(TaskId, u64, Source),
    /// The exact stored envelope of one submission.
    Envelope(TaskId, u64),
    /// A page of a task's events, after a revision.
    Timeline(TaskId, u64, usize),
    /// A decision or an answer. Asked again under the same idempotency key it has the same reply.
    Decide(Box<Decision>),
    /// A page of approval records.
    Approvals(LedgerRequest),
    /// Whether every record is as it was written.
    Verify,
    /// A page of quarantine entries, after a number; settled ones too.
    Quarantine(u64, usize, bool),
    /// One quarantine entry with its bytes.
    Entry(String),
    /// Deliver an entry again.
    Readmit(String),
    /// Drop an entry, with a reason.
    Drop(String, String),
    /// What was written about a task and not sent. The one question that the user's own disk answers.
    Draft(TaskId, Kind),
}

/// The bytes of a payload that was read.
#[derive(Clone, PartialEq)]
pub struct Content(pub Arc<[u8]>);

impl std::fmt::Debug for Content {
    /// Payloads are not ours and may be huge: only the size is shown.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Content({} bytes)", self.0.len())
    }
}

/// Which text of a submission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// Its payload, masked where it must be.
    Payload,
    /// The whole envelope as it arrived.
    Envelope,
}
