//! Screens and popups: each a layer on the stack, told of actions and events, drawn from its own state.
//!
//! A layer changes its state in `on`, `text` and `event`, never in `draw`. What it wants of the world or of the
//! stack it says to the `Ctx`; the app carries it out when the handler has returned.

pub mod answer;
pub mod approvals;
pub mod case;
pub mod decision;
mod dialog;
pub mod docket;
mod drafting;
mod filter;
pub mod help;
#[cfg(test)]
mod listed;
mod numbered;
mod pages;
pub mod palette;
pub mod quarantine;
mod reading;
mod sending;
#[cfg(test)]
mod stage;
pub mod timeline;
mod upholding;
mod viewer;

use std::time::Duration;

use ratatui::Frame;
use ratatui::layout::Rect;

use crate::tui::action::{Action, Scope};
use crate::tui::effect::Effect;
use crate::tui::event::{Event, Key};
use crate::tui::model::Model;
use crate::tui::model::chosen::Chosen;
use crate::tui::theme::Theme;
use crate::tui::widgets::list::Move;

/// A screen or popup on the stack.
pub trait Layer {
    /// The scopes that are live while this layer is on top, most particular first; one of `Scope::LIVE`. While
    /// a text field has the focus: its text scopes, so that characters are typed and not run.
    fn scopes(&self) -> &'static [Scope];

    /// Carries out an action. `Ignored` for `Back` closes the layer.
    fn on(&mut self, action: Action, ctx: &mut Ctx<'_>) -> Outcome;

    /// Takes a key that no action claimed, while `wants_text`.
    fn text(&mut self, _key: Key, _ctx: &mut Ctx<'_>) {}

    /// Takes everything that is not a key: its size (before its first frame and whenever it changes), replies
    /// to its own requests, changes of the world, pastes while `wants_text`.
    fn event(&mut self, _event: &Event, _ctx: &mut Ctx<'_>) {}

    /// Draws into `area`, of the size it was last told.
    fn draw(&self, frame: &mut Frame<'_>, area: Rect, view: &View<'_>);

    /// Whether a text field has the focus: keys that type go to it, pastes too.
    fn wants_text(&self) -> bool {
        false
    }

    /// Whether the layer below shows through: drawn over it, and not counted as a level of depth.
    fn popup(&self) -> bool {
        false
    }

    /// Whether keys typed before it was painted, and for 300 ms after, are dropped: for decisions.
    fn guarded(&self) -> bool {
        false
    }

    /// When something on it changes by time alone, counted from the last frame: a spinner, a countdown, ages
    /// (`AGES`). `None` wakes nobody.
    fn wake(&self, _model: &Model) -> Option<Duration> {
        None
    }

    /// The actions the footer offers, best first.
    fn offers(&self) -> &'static [(Action, &'static str)] {
        &[]
    }
}

/// How often ages are drawn anew.
pub const AGES: Duration = Duration::from_secs(60);

/// Whether a layer did something about an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It did.
    Handled,
    /// It has nothing to do with it.
    Ignored,
}

/// What a layer may look at while it draws.
#[derive(Clone, Copy)]
pub struct View<'a> {
    /// How roles look.
    pub theme: &'a Theme,
    /// What every screen may read.
    pub model: &'a Model,
}

/// What a layer wants of the stack.
pub enum Want {
    /// A layer on top of this one.
    Push(Box<dyn Layer>),
    /// A layer on top, in place of those that leave no room for it.
    GoTo(Box<dyn Layer>),
    /// This layer closed.
    Close,
    /// This layer closed, and then the action carried out by what is below.
    CloseAndRun(Action),
    /// The docket with these columns, from now on and remembered.
    Columns(Chosen),
    /// A short notice shown, revealed.
    Toast(String),
}

/// What a handler may read and say.
pub struct Ctx<'a> {
    /// What every screen may read.
    pub model: &'a Model,
    /// Whether this layer is the one the person acts on.
    pub on_top: bool,
    pub(super) effects: &'a mut Vec<Effect>,
    pub(super) wants: &'a mut Vec<Want>,
    pub(super) requests: &'a mut Vec<u64>,
    pub(super) next_request: &'a mut u64,
}

impl Ctx<'_> {
    /// Wants something done in the world.
    pub fn effect(&mut self, effect: Effect) {
        self.effects.push(effect);
    }

    /// A new request number, whose reply comes to this layer as `Event::Reply` and is dropped if it is closed.
    pub fn request(&mut self) -> u64 {
        *self.next_request = self.next_request.saturating_add(1);
        self.requests.push(*self.next_request);
        *self.next_request
    }

    /// Opens a layer on top of this one.
    pub fn push(&mut self, layer: impl Layer + 'static) {
        self.wants.push(Want::Push(Box::new(layer)));
    }

    /// Opens a screen on top of this one; where that is too deep, in its place.
    pub fn go_to(&mut self, layer: impl Layer + 'static) {
        self.wants.push(Want::GoTo(Box::new(layer)));
    }

    /// Closes this layer.
    pub fn close(&mut self) {
        self.wants.push(Want::Close);
    }

    /// Closes this layer and has the one below carry out `action`.
    pub fn close_and_run(&mut self, action: Action) {
        self.wants.push(Want::CloseAndRun(action));
    }

    /// Has the docket show these columns, from now on and remembered.
    pub fn choose_columns(&mut self, chosen: Chosen) {
        self.wants.push(Want::Columns(chosen));
    }

    /// Shows a short notice. Text that is not ours must be revealed already.
    pub fn toast(&mut self, text: impl Into<String>) {
        self.wants.push(Want::Toast(text.into()));
    }
}

/// The movement of a list that an action means, if it means one.
pub fn movement(action: Action) -> Option<Move> {
    Some(match action {
        Action::Down => Move::By(1),
        Action::Up => Move::By(-1),
        Action::PageDown => Move::HalfPages(2),
        Action::PageUp => Move::HalfPages(-2),
        Action::HalfPageDown => Move::HalfPages(1),
        Action::HalfPageUp => Move::HalfPages(-1),
        Action::First | Action::JumpToNew => Move::First,
        Action::Last => Move::Last,
        _ => return None,
    })
}
