//! The choice of columns, over the docket: taken at once, and remembered.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Clear, Widget as _};

use crate::tui::action::{Action, Scope};
use crate::tui::model::chosen::COLUMNS;
use crate::tui::screens::{Ctx, Layer, Outcome, View, movement};
use crate::tui::theme::Role;
use crate::tui::widgets::list::Move;
use crate::tui::widgets::{centred, ink};

/// The most columns of the screen it takes.
const WIDEST: u16 = 52;

/// See the module.
#[derive(Default)]
pub(in super::super) struct Choosing {
    cursor: usize,
}

impl Layer for Choosing {
    fn scopes(&self) -> &'static [Scope] {
        &[Scope::Columns, Scope::List, Scope::Global, Scope::Always]
    }

    fn popup(&self) -> bool {
        true
    }

    fn offers(&self) -> &'static [(Action, &'static str)] {
        &[(Action::Choose, "show or hide")]
    }

    fn on(&mut self, action: Action, ctx: &mut Ctx<'_>) -> Outcome {
        let last = COLUMNS.len().saturating_sub(1);
        match (action, movement(action)) {
            (Action::Choose, _) => {
                let mut chosen = ctx.model.columns;
                chosen.toggle(self.cursor);
                ctx.choose_columns(chosen);
            }
            (_, Some(Move::First)) => self.cursor = 0,
            (_, Some(Move::Last)) => self.cursor = last,
            (_, Some(Move::By(by) | Move::HalfPages(by))) => {
                self.cursor = self.cursor.saturating_add_signed(by).min(last);
            }
            _ => return Outcome::Ignored,
        }
        Outcome::Handled
    }

    fn draw(&self, frame: &mut Frame<'_>, area: Rect, view: &View<'_>) {
        let theme = view.theme;
        let high = u16::try_from(COLUMNS.len() + 2).unwrap_or(u16::MAX);
        let place = centred(area, WIDEST, high);
        Clear.render(place, frame.buffer_mut());
        let block = Block::bordered()
            .title(Line::styled(" Columns beside the task ", theme.style(Role::Title)))
            .title_bottom(Line::styled(" where they fit and say something ", theme.style(Role::Muted)))
            .border_style(theme.style(Role::Focus));
        let inner = block.inner(place);
        block.render(place, frame.buffer_mut());
        for ((at, (name, about)), y) in COLUMNS.iter().enumerate().zip(inner.y..inner.bottom()) {
            let mine = at == self.cursor;
            let tick = if view.model.columns.shows(name) { "[x]" } else { "[ ]" };
            let style = if mine { theme.style(Role::Selected) } else { Style::new() };
            let line = vec![
                Span::styled(if mine { "▌" } else { " " }, theme.style(Role::Accent)),
                Span::styled(format!("{tick} {name:<9} {about}"), style),
            ];
            let line = Line::from(ink::fit(line, usize::from(inner.width), false));
            line.render(Rect { y, height: 1, ..inner }, frame.buffer_mut());
        }
    }
}
