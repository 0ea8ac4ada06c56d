//! What happened: the only thing that may change the state of the terminal.

use std::sync::Arc;

use crate::coordinator::{
    Entry, LedgerPage, Page, PayloadView, Quarantined, Row, Shown, Status, Submitted, Tallies,
};
use crate::domain::command::{Admitted, DecisionOutcome};
use crate::domain::diff::{Diff, Lines};
use crate::domain::ids::TaskId;
use crate::domain::ledger::{Record, Report};
use crate::domain::refusal::Refusal;
use crate::domain::text::reveal;
use crate::tui::draft::Draft;
use crate::tui::model::Link;

/// A key without its modifiers. A character carries its own shift: `G`, not shift and `g`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Code {
    Char(char),
    Enter,
    Esc,
    Tab,
    BackTab,
    Backspace,
    Delete,
    Insert,
    Left,
    Right,
    Up,
    Down,
    Home,
    End,
    PageUp,
    PageDown,
    F(u8),
}

/// One key press.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Key {
    /// Which key.
    pub code: Code,
    /// Held with control.
    pub ctrl: bool,
    /// Held with alt, or preceded by escape.
    pub alt: bool,
    /// Held with shift; never set for characters and back-tab, which carry it.
    pub shift: bool,
}

impl Key {
    /// The key with no modifier.
    pub const fn plain(code: Code) -> Key {
        Key { code, ctrl: false, alt: false, shift: false }
    }

    /// The character this key types into a text, if it types one.
    pub fn typed(self) -> Option<char> {
        match self.code {
            Code::Char(char) if !self.ctrl && !self.alt => Some(char),
            _ => None,
        }
    }
}

/// What happened.
#[derive(Debug)]
pub enum Event {
    /// A key was pressed.
    Key(Key),
    /// Text was pasted; control characters are still in it.
    Paste(String),
    /// The terminal has this size now. A layer also gets it, with its own size, before its first frame.
    Resize {
        /// Columns.
        width: u16,
        /// Rows.
        height: u16,
    },
    /// The window gained or lost the focus.
    Focus(bool),
    /// The terminal told its background: light or dark.
    Background {
        /// Whether it is light.
        light: bool,
    },
    /// Time passed that something on the screen waited for.
    Tick,
    /// An effect was answered.
    Reply {
        /// The number of the request, from `Ctx::request`.
        request: u64,
        /// What came of it.
        reply: Reply,
    },
    /// The world changed by itself.
    Feed(Change),
}

/// What came of an effect.
#[derive(Debug)]
pub enum Reply {
    /// A page of the docket.
    List(Page<Row>),
    /// How many rows each tab lists.
    Tallies(Tallies),
    /// How store and connection do.
    Status(Box<Status>),
    /// A task.
    Show(Box<Shown>),
    /// Submissions of a task.
    Submissions(Vec<Submitted>),
    /// A payload.
    Payload(PayloadView),
    /// The differences of two payloads, or why there are none to show.
    Compare(Result<Arc<Diff>, String>),
    /// A text, ready to be read line by line.
    Text(Arc<Text>),
    /// A stored envelope.
    Envelope(Arc<[u8]>),
    /// Events of a task.
    Timeline(Vec<crate::domain::event::Event>),
    /// The decision was made, now or before.
    Decide(DecisionOutcome, Box<Record>),
    /// Approval records.
    Approvals(LedgerPage),
    /// What verification found.
    Verify(Report),
    /// Quarantine entries.
    Quarantine(Vec<Entry>),
    /// A quarantine entry.
    Entry(Box<Quarantined>),
    /// What became of an entry that was delivered again.
    Readmit(Box<Admitted>),
    /// The entry was dropped.
    Drop,
    /// What is known of a draft.
    Draft(Found),
    /// A rule said no; nothing was written.
    Refused(Box<Refusal>),
    /// It could not be done; a sentence fragment without anybody else's text unrevealed.
    Failed(String),
}

impl Reply {
    /// Why this is not the answer that was asked for, revealed. Whether a write was refused or may have been done after
    /// all is not told apart here.
    pub fn problem(&self) -> String {
        match self {
            Reply::Refused(refusal) => reveal(&refusal.to_string()).to_string(),
            Reply::Failed(why) => why.clone(),
            _ => "the coordinator answered something else".to_owned(),
        }
    }
}

/// What is known of a draft.
#[derive(Debug, Default)]
pub struct Found {
    /// The draft, where there is one.
    pub draft: Option<Box<Draft>>,
    /// What lies in its place and cannot be read, and why.
    pub problem: Option<String>,
}

/// One text, ready to be read line by line.
#[derive(Debug)]
pub struct Text {
    /// What is known of it; for an envelope its bytes alone.
    pub view: PayloadView,
    /// Its lines as JSON is written for people, or why there are none.
    pub pretty: Result<Lines, String>,
    /// Its lines as they are, or why there are none.
    pub raw: Result<Lines, String>,
}

/// A change that nobody here asked for.
#[derive(Debug)]
pub enum Change {
    /// The connection to the coordinator changed.
    Link(Link),
    /// Something was committed, here or elsewhere: the tasks it is about, each once. Quarantine entries count as `None`.
    News(Vec<Option<TaskId>>),
    /// Why something that was written is not kept on disk, revealed; `None` when everything is again.
    Unkept(Option<String>),
}
