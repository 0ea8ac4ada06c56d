//! Case: the sides of a conflict beside each other, or one task and why it waits.
//!
//! Nothing is chosen here and no side comes first but by arrival. A side that arrives while somebody reads is
//! announced, and deciding waits until that was noted.

pub(super) mod checks;
pub(super) mod columns;
mod commands;
mod comparing;
mod header;
mod judged;
mod marked;
mod notes;
mod panes;
mod sides;
mod task;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::time::Duration;

use ratatui::Frame;
use ratatui::layout::Rect;

use super::answer::Answer;
use super::approvals::Approvals;
use super::decision::{Decision, Seen};
use super::reading::Reading;
use super::timeline::Timeline;
use super::viewer::Viewer;
use super::{AGES, Ctx, Layer, Outcome, View, movement};
use crate::domain::ids::TaskId;
use crate::tui::action::{Action, Scope};
use crate::tui::effect::Effect;
use crate::tui::event::Event;
use crate::tui::model::Model;
use checks::Checks;
use columns::Set;
use judged::Judged;
pub(super) use panes::stack;
use sides::Sides;
use task::TaskView;

/// The keys of a decided case; the first only while it can be superseded.
const SUPERSEDABLE: &[(Action, &str)] = &[
    (Action::Decide, "supersede"),
    (Action::NextDifference, "next"),
    (Action::CycleView, "view"),
    (Action::FocusPane, "pane"),
    (Action::Open, "open"),
    (Action::Approvals, "records"),
    (Action::Details, "details"),
    (Action::NextPair, "pair"),
    (Action::Timeline, "timeline"),
];

/// See the module.
pub struct Case {
    reading: Reading,
    sets: Vec<Set>,
    /// Which of the sets is shown.
    set: usize,
    /// Every arrival that was noted: what is not in here is new.
    noted: BTreeSet<u64>,
    checks: Checks,
    sides: Sides,
    task: TaskView,
    judged: Judged,
    /// Of a decided case the task itself is shown, not the sides that were judged.
    faces_task: bool,
    size: (u16, u16),
}

impl Case {
    /// For a task, which is read when the layer opens.
    pub fn new(id: TaskId) -> Case {
        Case {
            reading: Reading::new(id),
            sets: Vec::new(),
            set: 0,
            noted: BTreeSet::new(),
            checks: Checks::default(),
            sides: Sides::new(),
            task: TaskView::default(),
            judged: Judged::default(),
            faces_task: false,
            size: (0, 0),
        }
    }

    fn arrivals(&self) -> impl Iterator<Item = u64> {
        let columns = self.sets.iter().flat_map(|set| &set.columns);
        columns.flat_map(|column| column.sides.iter().map(|side| side.arrival))
    }

    /// What arrived and was not noted. What was judged already is no news, however late it was read.
    fn news(&self) -> Vec<u64> {
        let last = self.reading.shown().and_then(judged::decision);
        let is_judged =
            |arrival: u64| last.is_some_and(|last| judged::judged(last).any(|own| own == arrival));
        self.arrivals().filter(|arrival| !self.noted.contains(arrival) && !is_judged(*arrival)).collect()
    }

    /// Makes the sets anew from what is known, and stays with the intent that is shown.
    fn rebuild(&mut self) {
        let Some(shown) = self.reading.shown() else { return };
        let before = self.sets.get(self.set).map(|set| set.intent.clone());
        self.sets = columns::sets_with(shown, self.judged.stored());
        let same = before.and_then(|intent| self.sets.iter().position(|set| set.intent == intent));
        self.set = same.unwrap_or(0);
    }

    /// Takes over the task as it was just read.
    fn read(&mut self, first: bool, ctx: &mut Ctx<'_>) {
        self.rebuild();
        if first {
            self.noted = self.arrivals().collect();
        }
        let Some(shown) = self.reading.shown() else { return };
        if self.judged.settle(self.reading.id(), shown, ctx) {
            // Why it waits is more urgent than what was decided before; the other is one key away.
            self.faces_task = judged::decision(shown).is_some() && shown.reason.is_some();
            self.rebuild();
        }
        if !self.compares() {
            self.task.read(self.reading.id(), ctx);
        }
        self.go_on(ctx);
    }

    /// Asks for whatever is still missing, and fits what is there into the screen.
    fn go_on(&mut self, ctx: &mut Ctx<'_>) {
        let id = self.reading.id().clone();
        if let Some(set) = self.sets.get(self.set).filter(|_| self.compares()) {
            self.sides.settle(&id, set, ctx);
        }
        // One large content at a time, the pair on the screen first; comparing it goes on beside that.
        let wanted = self.sides.wanted().filter(|_| self.compares());
        self.checks.read_on(&id, wanted, &self.sets, ctx);
        self.fit(ctx.model);
    }

    fn fit(&mut self, model: &Model) {
        let area = Rect { x: 0, y: 0, width: self.size.0, height: self.size.1 };
        let parts = self.parts(area, model);
        self.sides.fit(&parts);
        self.task.resize(parts.list.height);
    }

    fn decide(&self, ctx: &mut Ctx<'_>) {
        let Some(shown) = self.reading.shown() else { return ctx.toast("the task is not read yet") };
        if !self.news().is_empty() {
            return ctx.toast("a side arrived while you read: acknowledge it first");
        }
        if self.reading.is_asking() {
            return ctx.toast("the task changed and is being read again");
        }
        let decision = Decision::seen(Seen {
            task_id: self.reading.id().clone(),
            version: shown.task.state_version,
            revision: shown.task.revision,
            set: shown.candidate_set_digest,
            checks: self.checks.clone(),
        });
        // Where there is nothing to decide the dialog says so, and shows what was written before, if something was.
        let open = shown.may.get("supersede") == Some(&true);
        match shown.task.decided.as_ref().filter(|_| open) {
            Some(last) => ctx.push(decision.superseding(last.approval_id.clone())),
            None => ctx.push(decision),
        }
    }

    /// Whether there are sides to compare, in conflict or judged.
    fn has_sides(&self) -> bool {
        let last = self.reading.shown().and_then(judged::decision);
        let judged = last.is_some_and(|last| !last.candidates.is_empty());
        let is_side = |column: &columns::Column| judged && column.upheld.is_some();
        self.sets.iter().any(|set| set.conflict.is_some() || set.columns.iter().any(is_side))
    }

    /// Whether the sides are shown; else the task itself is.
    fn compares(&self) -> bool {
        !self.faces_task && self.has_sides()
    }

    /// Turns between what was judged and the task as it is now, after the last view of the sides.
    fn turn_to_task(&mut self, ctx: &mut Ctx<'_>) -> bool {
        let decided = self.reading.shown().and_then(judged::decision).is_some();
        if !decided || !self.has_sides() || (!self.faces_task && !self.sides.is_last_look()) {
            return false;
        }
        self.faces_task = !self.faces_task;
        if self.faces_task {
            self.sides.first_look();
            self.task.read(self.reading.id(), ctx);
        }
        self.go_on(ctx);
        true
    }

    fn details(&self, ctx: &mut Ctx<'_>) {
        let lines = self.everything(ctx.model);
        ctx.push(Viewer::own(format!("{} · everything known", self.reading.id().as_str()), lines));
    }

    fn turn_intent(&mut self, forward: bool, ctx: &mut Ctx<'_>) {
        let many = self.sets.len();
        if many > 1 {
            self.set = (self.set + if forward { 1 } else { many - 1 }) % many;
            self.go_on(ctx);
        }
    }

    fn copy_digest(&self, ctx: &mut Ctx<'_>) {
        let set = self.sets.get(self.set);
        if let Some(column) = set.and_then(|set| self.sides.focused(set)) {
            ctx.effect(Effect::Copy(column.digest.to_string()));
            ctx.toast(format!("the whole digest of {} is copied", column.label));
        }
    }

    /// What means the same with and without sides.
    fn common(&mut self, action: Action, ctx: &mut Ctx<'_>) -> Outcome {
        match action {
            Action::Decide => self.decide(ctx),
            Action::Answer => {
                ctx.push(Answer::new(self.reading.id().clone()).knowing(self.checks.clone()));
            }
            Action::Approvals => ctx.push(Approvals::new(Some(self.reading.id().clone()))),
            Action::Timeline => ctx.push(Timeline::new(self.reading.id().clone())),
            Action::Details => self.details(ctx),
            Action::NextIntent => self.turn_intent(true, ctx),
            Action::PreviousIntent => self.turn_intent(false, ctx),
            Action::CopyDigest => self.copy_digest(ctx),
            Action::Copy => {
                let id = self.reading.id().as_str().to_owned();
                ctx.effect(Effect::Copy(id));
            }
            Action::Acknowledge => self.noted = self.arrivals().collect(),
            Action::Refresh => {
                self.reading.ask(ctx);
                self.checks.retry();
                self.sides.retry();
                self.judged.retry();
                self.go_on(ctx);
            }
            _ => return Outcome::Ignored,
        }
        Outcome::Handled
    }
}

impl Layer for Case {
    fn scopes(&self) -> &'static [Scope] {
        &[Scope::Case, Scope::List, Scope::Global, Scope::Always]
    }

    fn offers(&self) -> &'static [(Action, &'static str)] {
        if !self.compares() {
            if self.has_sides() {
                return &[
                    (Action::CycleView, "judged sides"),
                    (Action::Open, "open"),
                    (Action::Approvals, "records"),
                    (Action::Timeline, "timeline"),
                    (Action::Details, "details"),
                ];
            }
            const OFFERS: [(Action, &str); 4] = [
                (Action::Answer, "answer"),
                (Action::Open, "open"),
                (Action::Timeline, "timeline"),
                (Action::Details, "details"),
            ];
            let asks = self.reading.shown().is_some_and(|shown| shown.task.interruption.is_some());
            return OFFERS.get(usize::from(!asks)..).unwrap_or_default();
        }
        if !self.news().is_empty() {
            return &[
                (Action::Acknowledge, "acknowledge"),
                (Action::Details, "details"),
                (Action::NextPair, "pair"),
            ];
        }
        if self.reading.shown().and_then(judged::decision).is_some() {
            let may = self.reading.shown().is_some_and(|shown| shown.may.get("supersede") == Some(&true));
            return if may { SUPERSEDABLE } else { SUPERSEDABLE.get(1..).unwrap_or_default() };
        }
        &[
            (Action::Decide, "decide"),
            (Action::NextDifference, "next"),
            (Action::CycleView, "view"),
            (Action::FocusPane, "pane"),
            (Action::Open, "open"),
            (Action::Details, "details"),
            (Action::NextPair, "pair"),
            (Action::ToggleWrap, "wrap"),
            (Action::CopyDigest, "copy digest"),
            (Action::Timeline, "timeline"),
        ]
    }

    fn wake(&self, model: &Model) -> Option<Duration> {
        let waiting = self.reading.waiting().or(self.sides.waiting());
        Some(waiting.map_or(AGES, |waiting| waiting.wake(model.now.run)))
    }

    fn on(&mut self, action: Action, ctx: &mut Ctx<'_>) -> Outcome {
        if action == Action::Back {
            return if self.compares() && self.sides.stop(ctx) { Outcome::Handled } else { Outcome::Ignored };
        }
        if let Some(movement) = movement(action) {
            match self.compares() {
                true => self.sides.go(movement),
                false => self.task.go(movement, self.reading.id(), ctx),
            }
            return Outcome::Handled;
        }
        if self.common(action, ctx) == Outcome::Handled {
            return Outcome::Handled;
        }
        if action == Action::CycleView && self.turn_to_task(ctx) {
            return Outcome::Handled;
        }
        let Some(set) = self.sets.get(self.set).filter(|_| self.compares()) else {
            if action == Action::Open
                && let Some(arrival) = self.task.open(self.reading.id(), ctx)
            {
                self.checks.saw(arrival);
                return Outcome::Handled;
            }
            return Outcome::Ignored;
        };
        let outcome = self.sides.on(action, self.reading.id(), set, ctx);
        self.go_on(ctx);
        outcome
    }

    fn event(&mut self, event: &Event, ctx: &mut Ctx<'_>) {
        if let Event::Resize { width, height } = event {
            self.size = (*width, *height);
        }
        let first = self.reading.shown().is_none();
        if self.reading.event(event, ctx) {
            self.read(first, ctx);
        }
        if let Event::Reply { request, reply } = event {
            let read = self.checks.took(*request, reply);
            if let Some(arrival) = read {
                self.sides.read(arrival, reply);
            }
            let told = self.judged.take(*request, reply, self.reading.shown());
            if told && let Some(shown) = self.reading.shown() {
                self.judged.settle(self.reading.id(), shown, ctx);
                self.rebuild();
            }
            let mine = told
                || read.is_some()
                || self.sides.take(*request, reply, &mut self.checks)
                || self.task.take(*request, reply);
            if mine {
                self.go_on(ctx);
            }
        }
        self.fit(ctx.model);
    }

    fn draw(&self, frame: &mut Frame<'_>, area: Rect, view: &View<'_>) {
        self.paint(frame, area, view);
    }
}
