//! Reads a list page by page around what is looked at, one question at a time, and loses no key meanwhile.

mod table;

use std::mem;

use crate::tui::effect::{Ask, Effect};
use crate::tui::widgets::held::{Held, Keyed};
use crate::tui::widgets::list::{List, Move, Rows as _};

use super::Ctx;

/// Rows of one page.
pub(super) const PAGE: usize = 200;
/// A page is asked for when fewer rows than this are held beyond the view.
const NEAR: usize = 60;
/// Rows read again on both sides of the view when something changed.
const MARGIN: usize = 100;
/// Movements that may wait for rows.
const OWED: isize = 100_000;

/// A page to be asked for.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Wanted<C> {
    /// The first page.
    Start,
    /// The last page.
    End,
    /// The page before this place.
    Before(C),
    /// The page after this place.
    After(C),
    /// This many rows after a place, or from the start, in place of what is held.
    Again(Option<C>, usize),
}

/// What an open question is for.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Open {
    Start,
    End,
    Before,
    After,
    Again(usize),
}

/// A list of which a few pages are held.
pub(super) struct Pages<T: Keyed> {
    held: Held<T>,
    list: List<T::Id>,
    open: Option<(u64, Open)>,
    /// To be read from the start or from the end.
    jump: Option<Move>,
    /// Whether to go on reading until the end is there, for lists that cannot be read from it.
    chase: bool,
    backwards: bool,
    again: bool,
    /// Whether what is before the first row came after it was read.
    grew: bool,
    /// Rows the selection is still to move when they are there.
    owed: isize,
    /// What to select when the first page is there.
    keep: Option<T::Id>,
    failed: Option<String>,
}

impl<T: Keyed> Pages<T> {
    /// Nothing read yet. `backwards`: whether the list can be read from its end.
    pub(super) fn new(backwards: bool) -> Pages<T> {
        Pages {
            held: Held::default(),
            list: List::default(),
            open: None,
            jump: None,
            chase: false,
            backwards,
            again: false,
            grew: false,
            owed: 0,
            keep: None,
            failed: None,
        }
    }

    pub(super) fn held(&self) -> &Held<T> {
        &self.held
    }

    pub(super) fn list(&self) -> &List<T::Id> {
        &self.list
    }

    pub(super) fn resize(&mut self, height: u16) {
        self.list.resize(height);
    }

    /// What the keys act on; nothing while other rows are being read than those in view.
    pub(super) fn selected(&self) -> Option<&T> {
        if self.is_new() {
            return None;
        }
        self.held.get(self.list.row()).filter(|item| self.list.selected() == Some(&item.id()))
    }

    /// Whether the rows in view are about to be replaced by those of another question.
    pub(super) fn is_new(&self) -> bool {
        self.jump.is_some() || matches!(self.open, Some((_, Open::Start | Open::End)))
    }

    /// Why nothing is read, where reading failed.
    pub(super) fn failed(&self) -> Option<&str> {
        self.failed.as_deref()
    }

    /// Whether the rows were read at least once.
    pub(super) fn is_read(&self) -> bool {
        self.held.at_start() || self.held.at_end() || self.held.count() > 0
    }

    /// Begins anew, as after another question; the selected item stays selected if it is on the first page.
    pub(super) fn restart(&mut self, ctx: &mut Ctx<'_>) {
        self.keep = self.keep.take().or_else(|| self.list.selected().cloned());
        self.drop_open(ctx);
        self.jump = Some(Move::First);
        (self.owed, self.chase, self.again, self.grew, self.failed) = (0, false, false, false, None);
    }

    fn drop_open(&mut self, ctx: &mut Ctx<'_>) {
        if let Some((request, _)) = self.open.take() {
            cancel(ctx, request);
        }
    }

    /// Something changed: what is in view is to be read again.
    pub(super) fn stale(&mut self) {
        self.again = true;
    }

    /// There are more rows before the first; those that are held are as they were.
    pub(super) fn grew(&mut self) {
        if self.held.count() == 0 {
            self.again = true;
        } else if self.held.at_start() {
            self.held.reopen();
            self.grew = true;
        }
    }

    /// Moves the selection; what is not there yet is made up for when it comes.
    pub(super) fn go(&mut self, movement: Move, ctx: &mut Ctx<'_>) {
        match movement {
            Move::First | Move::Last => (self.owed, self.chase) = (0, false),
            Move::By(_) | Move::HalfPages(_) => {}
        }
        match movement {
            Move::First if !self.held.at_start() => {
                self.restart(ctx);
                self.keep = None;
            }
            Move::Last if !self.held.at_end() && self.backwards => {
                self.drop_open(ctx);
                self.jump = Some(Move::Last);
            }
            Move::Last if !self.held.at_end() => {
                self.chase = true;
                self.list.go(&self.held, movement);
            }
            Move::By(by) if self.is_new() => self.owe(by),
            Move::HalfPages(_) if self.is_new() => {}
            Move::By(by) => {
                let before = self.list.row();
                self.list.go(&self.held, movement);
                let moved = self.list.row().cast_signed().wrapping_sub(before.cast_signed());
                self.owe(by.saturating_sub(moved));
            }
            _ => drop(self.list.go(&self.held, movement)),
        }
    }

    /// Takes note of a movement past what is held, unless nothing more will come there.
    fn owe(&mut self, by: isize) {
        let waits = if by > 0 { !self.held.at_end() } else { !self.held.at_start() };
        if self.is_new() || (by != 0 && waits) {
            self.owed = self.owed.saturating_add(by).clamp(-OWED, OWED);
        }
    }

    /// The page to ask for now, if one is needed and none is under way; to be told with `asked`.
    pub(super) fn wanted(&mut self) -> Option<Wanted<T::Cursor>> {
        if self.open.is_some() || self.failed.is_some() {
            return None;
        }
        match self.jump {
            Some(Move::Last) => return Some(Wanted::End),
            Some(_) => return Some(Wanted::Start),
            None => {}
        }
        let (view, first, len) = (self.list.window(), self.held.first(), self.held.len());
        if (self.chase || self.owed > 0 || view.end.saturating_add(NEAR) > len) && !self.held.at_end() {
            return self.held.back().map(|last| Wanted::After(last.cursor()));
        }
        if (self.owed < 0 || view.start < first.saturating_add(NEAR)) && !self.held.at_start() {
            return self.held.front().map(|first| Wanted::Before(first.cursor()));
        }
        if !mem::take(&mut self.again) {
            return None;
        }
        let row = view.start.saturating_sub(MARGIN).max(first);
        let row = if self.held.at_start() || row > first { row } else { row.saturating_add(1) };
        let after = row.checked_sub(1).and_then(|before| self.held.get(before)).map(Keyed::cursor);
        let row = if after.is_some() { row } else { 0 };
        Some(Wanted::Again(after, view.end.saturating_sub(row).saturating_add(MARGIN).min(1000)))
    }

    /// The page was asked for under this number.
    pub(super) fn asked(&mut self, request: u64, wanted: &Wanted<T::Cursor>) {
        self.jump = None;
        let open = match wanted {
            Wanted::Start => Open::Start,
            Wanted::End => Open::End,
            Wanted::Before(_) => Open::Before,
            Wanted::After(_) => Open::After,
            Wanted::Again(None, _) => Open::Again(0),
            Wanted::Again(Some(after), _) => {
                let rows = self.held.first()..self.held.len();
                let row =
                    rows.rev().find(|row| self.held.get(*row).is_some_and(|own| own.cursor() == *after));
                Open::Again(row.map_or(0, |row| row.saturating_add(1)))
            }
        };
        self.open = Some((request, open));
    }

    /// Another question was put in place of this one.
    pub(super) fn asked_instead(&mut self, request: u64, next: u64) {
        if let Some((open, _)) = self.open.as_mut().filter(|(open, _)| *open == request) {
            *open = next;
        }
    }

    /// Whether this request is ours.
    pub(super) fn waits_for(&self, request: u64) -> bool {
        self.open.is_some_and(|(open, _)| open == request)
    }

    /// Takes a page. Returns the item that was selected, where it is no longer here.
    pub(super) fn take(&mut self, request: u64, rows: Vec<T>, more: bool) -> Option<T::Id> {
        let (_, open) = self.open.take_if(|(open, _)| *open == request)?;
        let before = self.list.selected().cloned();
        match open {
            Open::Start => {
                self.held.from_start(rows, more);
                let row = self.keep.take().and_then(|id| self.held.row(&id));
                self.list.select(&self.held, row.unwrap_or(0));
            }
            Open::End => {
                self.held.from_end(rows, more);
                self.list.select(&self.held, usize::MAX);
            }
            Open::Before => {
                self.held.prepend(rows, more);
                // What arrived above is counted, where all of it is here.
                if mem::take(&mut self.grew) && !more {
                    self.list.settle(&self.held);
                } else {
                    self.list.renumber(&self.held);
                }
            }
            Open::After => {
                self.held.append(rows, more);
                self.list.renumber(&self.held);
            }
            Open::Again(first) => {
                self.held.again(first, rows, more);
                self.list.settle(&self.held);
            }
        }
        if self.chase {
            self.list.go(&self.held, Move::Last);
            self.chase = !self.held.at_end();
        }
        self.make_up();
        let kept = matches!(open, Open::Start | Open::End) || self.owed != 0 || self.chase;
        before.filter(|id| !kept && self.held.row(id).is_none())
    }

    /// Moves as far as was owed and is there now.
    fn make_up(&mut self) {
        let owed = mem::take(&mut self.owed);
        if owed != 0 {
            let before = self.list.row();
            self.list.go(&self.held, Move::By(owed));
            let moved = self.list.row().cast_signed().wrapping_sub(before.cast_signed());
            self.owe(owed.saturating_sub(moved));
        }
    }

    /// The page could not be read, for this reason, revealed.
    pub(super) fn fail(&mut self, request: u64, why: &str) {
        if self.open.take_if(|(open, _)| *open == request).is_some() {
            self.failed = Some(why.to_owned());
        }
    }
}

/// Puts a question; its reply comes to this layer under the number.
pub(super) fn put(ctx: &mut Ctx<'_>, ask: Ask) -> u64 {
    let request = ctx.request();
    ctx.effect(Effect::Ask(request, Box::new(ask)));
    request
}

/// Nobody waits for this request any more.
pub(super) fn cancel(ctx: &mut Ctx<'_>, request: u64) {
    ctx.requests.retain(|own| *own != request);
    ctx.effect(Effect::Cancel(request));
}
