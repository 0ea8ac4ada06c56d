//! Decision: what a person decides, restated and confirmed before it is sent.

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
pub struct Decision {
    reading: Reading,
}

impl Decision {
    /// For a task, which is read when the layer opens.
    pub fn new(id: TaskId) -> Decision {
        Decision { reading: Reading::new(id) }
    }
}

impl Layer for Decision {
    fn scopes(&self) -> &'static [Scope] {
        &[Scope::Decision, Scope::List, Scope::Global, Scope::Always]
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
