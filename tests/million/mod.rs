//! A screen with a million rows that nobody holds: the list is measured with it, on paper and on a terminal.

use std::time::Duration;

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::widgets::Widget as _;
use tribunal::tui::action::{Action, Scope};
use tribunal::tui::effect::Effect;
use tribunal::tui::event::Event;
use tribunal::tui::model::Model;
use tribunal::tui::screens::{AGES, Ctx, Layer, Outcome, View, movement};
use tribunal::tui::theme::Role;
use tribunal::tui::widgets::list::{List, Rows};
use tribunal::tui::widgets::status;
use tribunal::tui::widgets::table::{Column, Layout};

/// Rows made when they are asked for.
struct Made;

impl Rows for Made {
    type Id = usize;
    fn len(&self) -> usize {
        1_000_000
    }
    fn more(&self) -> bool {
        true
    }
    fn id(&self, row: usize) -> Option<usize> {
        (row < self.len()).then_some(row)
    }
    fn row(&self, id: &usize) -> Option<usize> {
        Some(*id)
    }
}

const COLUMNS: &[Column] = &[
    Column { title: "task", least: 8, most: 12, rank: 0, right: false },
    Column { title: "state", least: 12, most: 14, rank: 1, right: false },
    Column { title: "asks", least: 10, most: u16::MAX, rank: 2, right: false },
    Column { title: "age", least: 5, most: 5, rank: 3, right: true },
];

/// The screen.
pub struct Million {
    list: List<usize>,
}

impl Million {
    pub fn new() -> Million {
        let mut list = List::default();
        list.select(&Made, 0);
        Million { list }
    }
}

impl Layer for Million {
    fn scopes(&self) -> &'static [Scope] {
        &[Scope::Docket, Scope::List, Scope::Global, Scope::Always]
    }
    #[expect(clippy::panic, reason = "what a panic leaves behind is what the terminal is tested with")]
    fn on(&mut self, action: Action, ctx: &mut Ctx<'_>) -> Outcome {
        match (action, movement(action)) {
            (_, Some(movement)) => {
                self.list.go(&Made, movement);
            }
            (Action::Copy, _) => ctx.effect(Effect::Copy(format!("T-{}", self.list.row()))),
            (Action::Decide, _) => panic!("asked to \x1b[2Jpanic"),
            (Action::Refresh, _) => drop(std::thread::spawn(|| panic!("elsewhere"))),
            _ => return Outcome::Ignored,
        }
        Outcome::Handled
    }
    fn event(&mut self, event: &Event, _ctx: &mut Ctx<'_>) {
        if let Event::Resize { height, .. } = event {
            self.list.resize(height.saturating_sub(2));
        }
    }
    fn draw(&self, frame: &mut Frame<'_>, area: Rect, view: &View<'_>) {
        let [tabs, head] = [0, 1].map(|y| Rect { y: area.y + y, height: 1, ..area });
        status::tabs(
            frame,
            tabs,
            view.theme,
            &[("All", Some("1000000".into())), ("Stuck", Some("0".into())), ("Auth", None)],
            0,
        );
        let columns = Layout::fit(COLUMNS, area.width.saturating_sub(1));
        columns
            .head(view.theme.style(Role::Muted))
            .render(Rect { x: 1, ..head }.intersection(head), frame.buffer_mut());
        let rows = Rect { y: area.y + 2, height: area.height.saturating_sub(2), ..area };
        self.list.draw(frame, rows, view.theme, &Made, |row, _| {
            let state = if row % 3 == 0 { ("needs review", Role::Danger) } else { ("waiting", Role::Muted) };
            columns.row([
                (format!("T-{row}").as_str(), Style::new()),
                (state.0, view.theme.style(state.1)),
                ("Which region? 地域 \u{202e}reversed", view.theme.style(Role::Untrusted)),
                (format!("{}m", row % 60).as_str(), Style::new()),
            ])
        });
    }
    fn wake(&self, _model: &Model) -> Option<Duration> {
        Some(AGES)
    }
    fn offers(&self) -> &'static [(Action, &'static str)] {
        &[(Action::Open, "open"), (Action::Decide, "decide"), (Action::Filter, "filter")]
    }
}
