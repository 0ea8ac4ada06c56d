//! A window onto the events of a task: pages are read as one scrolls, and only some of them are held.

use std::collections::VecDeque;

use super::words::{Before, Kind, Words, words};
use crate::domain::event::{Event, Outcome, What};
use crate::domain::query::contains_ignoring_case;
use crate::tui::widgets::list::Rows;

/// Events asked for at once.
pub(super) const PAGE: usize = 500;
/// Events held at most.
const HELD: usize = 4000;

/// An event with what was odd about it when it was read.
#[derive(Clone, Debug)]
pub(super) struct Noted {
    pub(super) event: Event,
    pub(super) odd: Vec<&'static str>,
}

/// What is shown of the events.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Wanted {
    pub(super) kind: Option<Kind>,
    pub(super) text: String,
}

impl Wanted {
    fn fits(&self, words: &Words) -> bool {
        let text = |part: &String| contains_ignoring_case(part, &self.text);
        self.kind.is_none_or(|kind| kind == words.kind)
            && (self.text.is_empty() || [&words.what, &words.who, &words.about].into_iter().any(text))
    }
}

/// One row: an event, or a run of repeats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Row {
    /// The place of the first event among those held.
    pub(super) first: usize,
    /// How many events it stands for.
    pub(super) count: usize,
}

/// See the module.
#[derive(Debug)]
pub(super) struct Window {
    pub(super) wanted: Wanted,
    pub(super) folds: bool,
    held: VecDeque<Noted>,
    rows: Vec<Row>,
    /// The revisions read: behind the first, up to the second.
    pub(super) read: (u64, u64),
    /// The last revision there is, as far as is known.
    pub(super) end: u64,
    before: Before,
}

impl Window {
    pub(super) fn new() -> Window {
        Window {
            wanted: Wanted::default(),
            folds: true,
            held: VecDeque::new(),
            rows: Vec::new(),
            read: (0, 0),
            end: 0,
            before: Before::default(),
        }
    }

    /// Forgets everything and reads on behind a revision.
    pub(super) fn restart(&mut self, after: u64) {
        self.held.clear();
        self.rows.clear();
        self.read = (after, after);
        self.before = Before::default();
    }

    /// Takes a page that was asked for behind `after`.
    pub(super) fn take(&mut self, after: u64, page: &[Event]) {
        let last = page.last().map_or(after, |event| event.revision);
        if after == self.read.1 {
            for event in page {
                let odd = self.before.oddities(event);
                if self.wanted.fits(&words(event)) {
                    self.held.push_back(Noted { event: event.clone(), odd });
                }
            }
            self.read.1 = last;
            self.end = self.end.max(last);
            self.shrink(true);
        } else if after < self.read.0 {
            let mut before = Before::default();
            let fits: Vec<Noted> = page
                .iter()
                .filter(|event| event.revision <= self.read.0)
                .map(|event| Noted { odd: before.oddities(event), event: event.clone() })
                .filter(|noted| self.wanted.fits(&words(&noted.event)))
                .collect();
            for noted in fits.into_iter().rev() {
                self.held.push_front(noted);
            }
            self.read.0 = after;
            self.shrink(false);
        }
        self.lay_out();
    }

    /// Lets go of what is furthest from where one reads.
    fn shrink(&mut self, front: bool) {
        while self.held.len() > HELD {
            let gone = if front { self.held.pop_front() } else { self.held.pop_back() };
            let Some(gone) = gone else { break };
            if front {
                self.read.0 = gone.event.revision;
            } else {
                self.read.1 = gone.event.revision.saturating_sub(1);
                self.before = Before::default();
            }
        }
    }

    /// Folds runs of repeats that say nothing new.
    pub(super) fn lay_out(&mut self) {
        self.rows.clear();
        for (at, noted) in self.held.iter().enumerate() {
            let plain = is_repeat(&noted.event) && noted.odd.is_empty();
            let joins = self.folds
                && plain
                && self.rows.last().is_some_and(|row| {
                    self.held
                        .get(row.first)
                        .is_some_and(|first| is_repeat(&first.event) && first.odd.is_empty())
                });
            match self.rows.last_mut().filter(|_| joins) {
                Some(row) => row.count += 1,
                None => self.rows.push(Row { first: at, count: 1 }),
            }
        }
    }

    pub(super) fn row_at(&self, row: usize) -> Option<(&Noted, usize)> {
        let row = self.rows.get(row)?;
        Some((self.held.get(row.first)?, row.count))
    }

    /// The revision range to ask for where more is wanted: behind what was read, or in front of it.
    pub(super) fn next(&self, forward: bool) -> Option<(u64, usize)> {
        if forward {
            return (self.read.1 < self.end).then_some((self.read.1, PAGE));
        }
        let first = self.read.0;
        (first > 0).then(|| {
            let after = first.saturating_sub(PAGE as u64);
            (after, usize::try_from(first - after).unwrap_or(PAGE))
        })
    }
}

impl Rows for Window {
    type Id = u64;
    fn len(&self) -> usize {
        self.rows.len()
    }
    fn more(&self) -> bool {
        self.read.1 < self.end
    }
    fn id(&self, row: usize) -> Option<u64> {
        self.row_at(row).map(|(noted, _)| noted.event.revision)
    }
    fn row(&self, id: &u64) -> Option<usize> {
        // The row that holds it: the last that begins at it or before.
        let at = self
            .rows
            .partition_point(|row| self.held.get(row.first).is_some_and(|noted| noted.event.revision <= *id));
        at.checked_sub(1)
    }
}

/// Whether an event only repeats what is stored.
fn is_repeat(event: &Event) -> bool {
    matches!(&event.what, What::Delivered(d)
        if d.outcome == Outcome::Duplicate && !d.id_reused && d.message.repeat().is_some_and(|r| r.differs.is_none() && r.scheme_change.is_none()))
}
