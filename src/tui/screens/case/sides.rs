//! The pair of sides on the screen: which, how they are looked at, and where in them one reads.

use std::sync::Arc;

use super::super::viewer::Viewer;
use super::super::{Ctx, Outcome};
use super::checks::Checks;
use super::columns::{Column, Set};
use super::comparing::{Comparing, Pair};
use super::marked::Marked;
use super::panes::Parts;
use crate::domain::diff::{Diff, Kind, Side};
use crate::domain::ids::TaskId;
use crate::tui::action::Action;
use crate::tui::effect::{self, Ask, Effect};
use crate::tui::event::{Reply, Text};
use crate::tui::widgets::diff::{self, Rows};
use crate::tui::widgets::list::Move;
use crate::tui::widgets::pager::{Pager, Source};
use crate::tui::widgets::status::Waiting;

/// How the two texts are looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Look {
    /// Their differences.
    Differences,
    /// Each whole, as JSON is written for people.
    Whole,
    /// Each as it was sent.
    Raw,
}

/// Which pane the keys act on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Focus {
    /// Both, where one pane shows both.
    Both,
    /// One.
    One(Side),
}

/// The text of a side, or why it could not be read.
type ReadText = Result<Arc<Text>, String>;

/// See the module.
pub(super) struct Sides {
    /// The two columns by their arrivals; left and right as chosen.
    pub(super) pair: Option<(u64, u64)>,
    pub(super) look: Look,
    pub(super) focus: Focus,
    pub(super) rows: Rows,
    pub(super) pagers: [Pager; 2],
    comparing: Comparing,
    /// What was read of either side, or why it could not be, revealed; by arrival.
    texts: [Option<(u64, ReadText)>; 2],
    asked_texts: [Option<(u64, u64)>; 2],
    /// Since when texts are waited for.
    reading: Option<Waiting>,
    wide: bool,
}

impl Sides {
    /// Nothing is compared yet.
    pub(super) fn new() -> Sides {
        Sides {
            pair: None,
            look: Look::Differences,
            focus: Focus::Both,
            rows: Rows::new(),
            pagers: [Pager::new(true), Pager::new(true)],
            comparing: Comparing::default(),
            texts: [None, None],
            asked_texts: [None, None],
            reading: None,
            wide: false,
        }
    }

    /// The columns of the pair.
    pub(super) fn columns<'s>(&self, set: &'s Set) -> (Option<&'s Column>, Option<&'s Column>) {
        let find = |arrival: u64| set.columns.iter().find(|column| column.arrival() == arrival);
        match self.pair {
            Some((a, b)) => (find(a), find(b).filter(|_| a != b)),
            None => (None, None),
        }
    }

    /// The column the keys act on: the left one where both are in one pane.
    pub(super) fn focused<'s>(&self, set: &'s Set) -> Option<&'s Column> {
        let (a, b) = self.columns(set);
        if self.focus == Focus::One(Side::B) { b.or(a) } else { a }
    }

    /// The differences of the pair on the screen, or why there are none to show.
    pub(super) fn compared(&self) -> Option<Result<&Arc<Diff>, &str>> {
        self.comparing.of(self.pair?)
    }

    /// The differences of the pair on the screen.
    pub(super) fn diff(&self) -> Option<Arc<Diff>> {
        self.compared().and_then(Result::ok).cloned()
    }

    /// Why a side could not be read, revealed.
    pub(super) fn problem(&self) -> Option<&str> {
        self.comparing.problem()
    }

    /// Whether somebody did not want to wait for the comparison.
    pub(super) fn is_stopped(&self) -> bool {
        self.pair.is_some_and(|pair| self.comparing.is_stopped(pair))
    }

    /// The content that the pair on the screen waits for.
    pub(super) fn wanted(&self) -> Option<u64> {
        self.comparing.wanted(self.pair?)
    }

    /// Takes a content that was read.
    pub(super) fn read(&mut self, arrival: u64, reply: &Reply) {
        self.comparing.read(self.pair, arrival, reply);
    }

    /// Forgets what failed or was stopped, so that it is done again.
    pub(super) fn retry(&mut self) {
        self.comparing.retry();
        for text in &mut self.texts {
            text.take_if(|(_, read)| read.is_err());
        }
    }

    /// What is being waited for.
    pub(super) fn waiting(&self) -> Option<Waiting> {
        if self.look == Look::Differences { self.comparing.waiting() } else { self.reading }
    }

    /// Stops what is seen to be waited for. Returns whether there was anything.
    pub(super) fn stop(&mut self, ctx: &mut Ctx<'_>) -> bool {
        if self.look == Look::Differences {
            return self.comparing.stop(self.pair, ctx);
        }
        if self.reading.is_none_or(|waiting| waiting.mark(ctx.model.now.run).is_empty()) {
            return false;
        }
        for (request, _) in self.asked_texts.iter_mut().filter_map(Option::take) {
            ctx.effect(Effect::Cancel(request));
        }
        self.reading = None;
        self.look = Look::Differences;
        true
    }

    /// The text of one side, or why it could not be read, once that is known.
    pub(super) fn text(&self, side: Side) -> Option<Result<&Arc<Text>, &str>> {
        let (a, b) = self.pair?;
        let (own, arrival) = if side == Side::A { (self.texts.first(), a) } else { (self.texts.last(), b) };
        let (_, read) = own?.as_ref().filter(|(of, _)| *of == arrival)?;
        Some(read.as_ref().map_err(String::as_str))
    }

    /// Whether the next view is the first one again.
    pub(super) fn is_last_look(&self) -> bool {
        self.look == Look::Raw
    }

    /// Back to the first view; one side alone has no differences to show.
    pub(super) fn first_look(&mut self) {
        let alone = self.pair.is_some_and(|(a, b)| a == b);
        self.look = if alone { Look::Whole } else { Look::Differences };
    }

    /// Keeps the pair within the set and asks for what it needs.
    pub(super) fn settle(&mut self, id: &TaskId, set: &Set, ctx: &mut Ctx<'_>) {
        let there = |arrival: u64| set.columns.iter().any(|column| column.arrival() == arrival);
        if self.pair.is_none_or(|(a, b)| !there(a) || !there(b) || (a == b && set.columns.len() > 1)) {
            let mut arrivals = set.columns.iter().map(Column::arrival);
            let first = arrivals.next();
            self.pair = first.map(|first| (first, arrivals.next().unwrap_or(first)));
            self.comparing.clear();
            self.first_look();
        }
        let Some(pair) = self.pair else { return };
        self.comparing.settle(pair, ctx);
        if self.look != Look::Differences {
            for (at, arrival) in [pair.0, pair.1].into_iter().enumerate() {
                self.ask_text(id, at, arrival, ctx);
            }
        }
    }

    fn ask_text(&mut self, id: &TaskId, at: usize, arrival: u64, ctx: &mut Ctx<'_>) {
        let has = self.texts.get(at).and_then(Option::as_ref).is_some_and(|(of, _)| *of == arrival);
        let Some(asked) = self.asked_texts.get_mut(at).filter(|asked| asked.is_none() && !has) else {
            return;
        };
        let request = ctx.request();
        *asked = Some((request, arrival));
        self.reading.get_or_insert(Waiting { since: ctx.model.now.run });
        ctx.effect(Effect::Ask(request, Box::new(Ask::Text(id.clone(), arrival, effect::Source::Payload))));
    }

    /// Takes a reply, if it is to this.
    pub(super) fn take(&mut self, request: u64, reply: &Reply, checks: &mut Checks) -> bool {
        if let Some(pair) = self.comparing.take(request, reply) {
            if self.pair == Some(pair) {
                self.took(pair, checks);
            }
            return true;
        }
        let at = self.asked_texts.iter().position(|asked| asked.is_some_and(|(own, _)| own == request));
        let Some(at) = at else { return false };
        let arrival = self.asked_texts.get_mut(at).and_then(Option::take).map(|(_, arrival)| arrival);
        if self.asked_texts.iter().all(Option::is_none) {
            self.reading = None;
        }
        let read = match reply {
            Reply::Text(text) => Ok(text.clone()),
            other => Err(other.problem()),
        };
        let (Some(arrival), Some(place)) = (arrival, self.texts.get_mut(at)) else { return true };
        match &read {
            Ok(text) => {
                checks.note(arrival, &text.view);
                // It can be read to its end from now on.
                if text.raw.is_ok() {
                    checks.saw(arrival);
                }
            }
            Err(why) => self.comparing.fail(why.clone()),
        }
        // What failed is kept too: it is asked for again only when somebody says so.
        *place = Some((arrival, read));
        self.show_selected();
        true
    }

    fn took(&mut self, pair: Pair, checks: &mut Checks) {
        let wrap = self.rows.wraps();
        self.rows = Rows::new();
        if !wrap {
            self.rows.toggle_wrap();
        }
        if let Some(diff) = self.diff() {
            checks.saw(pair.0);
            checks.saw(pair.1);
            if let Some(first) = diff.differences().first() {
                self.rows.select(&diff, *first as usize);
            }
        }
    }

    /// Takes note of the sizes, and brings the first difference into view when they are first known.
    pub(super) fn fit(&mut self, parts: &Parts) {
        self.wide = parts.wide;
        if self.wide && self.focus == Focus::Both {
            self.focus = Focus::One(Side::A);
        }
        let sides = match (parts.wide, self.focus) {
            (true, _) => diff::Sides::Beside,
            (false, Focus::Both) => diff::Sides::Under,
            (false, Focus::One(side)) => diff::Sides::One(side),
        };
        let body = parts.panes.first().map(|pane| pane.body).unwrap_or_default();
        self.rows.resize(body.width, body.height, sides);
        for pager in &mut self.pagers {
            pager.resize(body.width, body.height);
        }
        if let Some(diff) = self.diff() {
            self.rows.follow(&diff);
        }
    }

    /// Moves in what is shown; whole texts move together unless one pane has the focus alone.
    pub(super) fn go(&mut self, movement: Move) {
        if self.look == Look::Differences {
            if let Some(diff) = self.diff() {
                self.rows.go(&diff, movement);
            }
            return;
        }
        self.page(|pager, source| pager.go(source, movement));
    }

    /// The side a single pane shows a whole text of.
    pub(super) fn reading(&self) -> Side {
        if self.focus == Focus::One(Side::B) { Side::B } else { Side::A }
    }

    fn page(&mut self, act: impl Fn(&mut Pager, &dyn Source)) {
        let side = self.reading();
        let at = usize::from(side == Side::B);
        let Some((_, Ok(text))) = self.texts.get(at).and_then(Clone::clone) else { return };
        let diff = self.diff();
        let (lines, diff) = if self.look == Look::Whole { (&text.pretty, diff) } else { (&text.raw, None) };
        if let (Ok(lines), Some(pager)) = (lines, self.pagers.get_mut(at)) {
            act(pager, &Marked { lines, diff: diff.as_deref(), side });
        }
    }

    /// Brings the selected difference into view in both whole texts.
    fn show_selected(&mut self) {
        let Some(diff) = self.diff().filter(|_| self.look == Look::Whole) else { return };
        let row = self.rows.selected(&diff).copied();
        let Some(row) = row.filter(|row| row.kind != Kind::Equal) else { return };
        for (at, side) in [Side::A, Side::B].into_iter().enumerate() {
            let text = self.text(side).and_then(Result::ok);
            let Some(lines) = text.and_then(|text| text.pretty.as_ref().ok()) else { continue };
            // Where this side has nothing there, what stands before it says where that is.
            let own = row.span(side).map(|span| lines.line_at(span.start));
            let near = || self.rows.before(&diff, side).map(|byte| lines.line_at(byte));
            let (own, near) = (own, if own.is_none() { near() } else { None });
            let Some(pager) = self.pagers.get_mut(at) else { continue };
            match (own, near) {
                (Some(line), _) => pager.jump(line),
                (None, Some(line)) => pager.show(line),
                (None, None) => pager.restart(),
            }
        }
    }

    /// Carries out an action on the pair.
    pub(super) fn on(&mut self, action: Action, id: &TaskId, set: &Set, ctx: &mut Ctx<'_>) -> Outcome {
        match action {
            Action::NextDifference => self.step(true, ctx),
            Action::PreviousDifference => self.step(false, ctx),
            Action::CycleView => {
                self.look = match self.look {
                    Look::Differences => Look::Whole,
                    Look::Whole => Look::Raw,
                    Look::Raw => Look::Differences,
                };
                self.pagers.iter_mut().for_each(Pager::restart);
                self.show_selected();
            }
            Action::ToggleWrap => {
                self.rows.toggle_wrap();
                self.pagers.iter_mut().for_each(Pager::toggle_wrap);
            }
            Action::Left | Action::Right => {
                self.rows.sideways(action == Action::Right);
                self.page(|pager, source| pager.sideways(source, action == Action::Right));
            }
            Action::FocusPane => {
                self.focus = match self.focus {
                    Focus::Both => Focus::One(Side::A),
                    Focus::One(Side::A) => Focus::One(Side::B),
                    Focus::One(Side::B) if self.wide => Focus::One(Side::A),
                    Focus::One(Side::B) => Focus::Both,
                };
            }
            Action::NextPair => self.turn(set, true),
            Action::PreviousPair => self.turn(set, false),
            Action::SwapSides => {
                self.pair = self.pair.map(|(a, b)| (b, a));
                self.comparing.clear();
            }
            Action::Open => self.open(id, set, ctx),
            _ => return Outcome::Ignored,
        }
        Outcome::Handled
    }

    fn step(&mut self, forward: bool, ctx: &mut Ctx<'_>) {
        if self.look == Look::Raw {
            self.look = Look::Differences;
        }
        let Some(diff) = self.diff() else { return };
        if !self.rows.step(&diff, forward) {
            ctx.toast(if forward { "no difference after this" } else { "no difference before this" });
        }
        self.show_selected();
    }

    /// Compares the left side with the next one, or the one before, of the others.
    fn turn(&mut self, set: &Set, forward: bool) {
        let arrivals: Vec<u64> = set.columns.iter().map(Column::arrival).collect();
        let Some((a, b)) = self.pair.filter(|_| arrivals.len() > 2) else { return };
        let at = arrivals.iter().position(|arrival| *arrival == b).unwrap_or(0);
        let step = |at: usize| (at + if forward { 1 } else { arrivals.len() - 1 }) % arrivals.len();
        let mut next = step(at);
        if arrivals.get(next) == Some(&a) {
            next = step(next);
        }
        self.pair = arrivals.get(next).map(|b| (a, *b));
        self.comparing.clear();
    }

    /// Opens the selected value whole, in its text.
    fn open(&self, id: &TaskId, set: &Set, ctx: &mut Ctx<'_>) {
        let (a, b) = self.columns(set);
        let diff = self.diff();
        let row = diff.as_deref().and_then(|diff| self.rows.selected(diff));
        let mut side = self.reading();
        // What only one side has is opened there.
        match row.map(|row| row.kind) {
            Some(Kind::Added) => side = Side::B,
            Some(Kind::Removed) => side = Side::A,
            _ => {}
        }
        let column = if side == Side::A { a } else { b.or(a) };
        let span = row.and_then(|row| row.span(side));
        if let Some(column) = column {
            let title = format!("{} · #{} · {}", column.label, column.arrival(), column.kind.as_str());
            let at = span.map(|span| span.start);
            ctx.push(Viewer::of(title, id.clone(), column.arrival(), effect::Source::Payload, at));
        }
    }
}
