//! Timeline: everything that happened to a task, in order.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::Line;
use ratatui::widgets::Widget as _;

use super::super::action::{Action, Scope};
use super::super::event::Event;
use super::reading::Reading;
use super::{Ctx, Layer, Outcome, View};
use crate::domain::ids::TaskId;
use crate::domain::text::reveal;

/// See the module.
pub struct Timeline {
    reading: Reading,
}

impl Timeline {
    /// For a task, which is read when the layer opens.
    pub fn new(id: TaskId) -> Timeline {
        Timeline { reading: Reading::new(id) }
    }
}

impl Layer for Timeline {
    fn scopes(&self) -> &'static [Scope] {
        &[Scope::Timeline, Scope::List, Scope::Global, Scope::Always]
    }

    fn on(&mut self, _action: Action, _ctx: &mut Ctx<'_>) -> Outcome {
        Outcome::Ignored
    }

    fn event(&mut self, event: &Event, ctx: &mut Ctx<'_>) {
        self.reading.event(event, ctx);
    }

    fn draw(&self, frame: &mut Frame<'_>, area: Rect, _view: &View<'_>) {
        Line::raw(reveal(self.reading.id().as_str()).to_string()).render(area, frame.buffer_mut());
    }
}
