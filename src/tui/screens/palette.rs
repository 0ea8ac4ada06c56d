//! The palette: every action with its words and keys, found by a few letters, run by `Enter`.

use frizbee::{Config, Matcher};
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::Style;
use ratatui::text::Line;
use ratatui::widgets::{Block, Clear, Widget as _};

use super::{Ctx, Layer, Outcome, View, movement};
use crate::tui::action::{ACTIONS, Action, Scope};
use crate::tui::event::{Event, Key};
use crate::tui::keymap::Keymap;
use crate::tui::theme::Role;
use crate::tui::widgets::centred;
use crate::tui::widgets::input::Field;
use crate::tui::widgets::list::{List, Rows};
use crate::tui::widgets::table::{self, Column};

/// What `:` shows over a layer with these scopes: what is valid there first.
pub fn palette(keymap: &Keymap, scopes: &'static [Scope]) -> Palette {
    Palette::new("Actions", entries(keymap, scopes))
}

/// One action as it is listed.
#[derive(Clone, Debug)]
pub(super) struct Listed {
    action: Action,
    keys: String,
    /// Name, words, keys and scope: what is searched.
    search: String,
    scope: &'static str,
    /// Whether it is valid where the list was opened.
    pub(super) here: bool,
}

/// Every action, those valid in `scopes` first and of these the most particular, otherwise in the order of the table.
pub(super) fn entries(keymap: &Keymap, scopes: &[Scope]) -> Vec<Listed> {
    let mut all: Vec<Listed> = ACTIONS
        .iter()
        .map(|entry| {
            let here = scopes.iter().any(|scope| entry.valid_in(*scope));
            let keys: Vec<String> = if here {
                keymap.keys(scopes, entry.action).map(|key| key.to_string()).collect()
            } else {
                keymap.all_keys(entry.action).map(|key| key.to_string()).collect()
            };
            let scope = entry.keys.first().map_or("", |(scope, _)| scope.word());
            let keys = keys.join(" ");
            let search = format!("{} {} {keys} {scope}", entry.name, entry.doc);
            Listed { action: entry.action, keys, search, scope, here }
        })
        .collect();
    let at = |entry: &Listed| scopes.iter().position(|scope| entry.action.entry().valid_in(*scope));
    all.sort_by_key(|entry| at(entry).unwrap_or(usize::MAX));
    all
}

/// A searchable list of actions.
pub struct Palette {
    title: &'static str,
    all: Vec<Listed>,
    found: Vec<usize>,
    list: List<usize>,
    field: Field,
}

struct Found<'a>(&'a [usize]);

impl Rows for Found<'_> {
    type Id = usize;
    fn len(&self) -> usize {
        self.0.len()
    }
    fn id(&self, row: usize) -> Option<usize> {
        self.0.get(row).copied()
    }
    fn row(&self, id: &usize) -> Option<usize> {
        self.0.iter().position(|own| own == id)
    }
}

const COLUMNS: &[Column] = &[
    Column { title: "action", least: 12, most: 18, rank: 0, right: false },
    Column { title: "keys", least: 8, most: 12, rank: 1, right: false },
    Column { title: "does", least: 10, most: u16::MAX, rank: 3, right: false },
    Column { title: "where", least: 6, most: 13, rank: 4, right: false },
];

/// Where the last of them stands.
const WHERE: usize = 3;

impl Palette {
    pub(super) fn new(title: &'static str, all: Vec<Listed>) -> Palette {
        let found = (0..all.len()).collect::<Vec<_>>();
        let mut list = List::default();
        list.select(&Found(&found), 0);
        Palette { title, all, found, list, field: Field::line("") }
    }

    fn search(&mut self) {
        let typed = self.field.text();
        let needle = typed.trim();
        self.found = if needle.is_empty() { (0..self.all.len()).collect() } else { find(needle, &self.all) };
        self.list.select(&Found(&self.found), 0);
    }

    fn selected(&self) -> Option<&Listed> {
        self.list.selected().and_then(|at| self.all.get(*at))
    }
}

/// The entries that match, best first: those with exactly this key, then by likeness.
fn find(needle: &str, all: &[Listed]) -> Vec<usize> {
    let by_key = (0..all.len())
        .filter(|at| all.get(*at).is_some_and(|entry| entry.keys.split(' ').any(|key| key == needle)));
    let mut found: Vec<usize> = by_key.collect();
    let texts: Vec<&str> = all.iter().map(|entry| entry.search.as_str()).collect();
    for hit in Matcher::new(needle, &Config::default()).match_list(&texts) {
        let at = usize::try_from(hit.index).unwrap_or(usize::MAX);
        if !found.contains(&at) {
            found.push(at);
        }
    }
    found
}

/// Where the popup stands in the body.
fn place(body: Rect) -> Rect {
    centred(body, 90, body.height.saturating_sub(2).clamp(body.height.min(6), 30))
}

impl Layer for Palette {
    fn scopes(&self) -> &'static [Scope] {
        &[Scope::Line, Scope::Field, Scope::Always]
    }

    fn wants_text(&self) -> bool {
        true
    }

    fn popup(&self) -> bool {
        true
    }

    fn offers(&self) -> &'static [(Action, &'static str)] {
        &[(Action::Accept, "run")]
    }

    fn on(&mut self, action: Action, ctx: &mut Ctx<'_>) -> Outcome {
        if let Some(movement) = movement(action) {
            self.list.go(&Found(&self.found), movement);
            return Outcome::Handled;
        }
        match (action, self.selected()) {
            // Enter never decides: what changes the record wants its own key.
            (Action::Accept, Some(entry)) if entry.here && entry.action.entry().danger => {
                ctx.toast(format!("{} runs by its own key only: {}", entry.action.entry().name, entry.keys));
            }
            (Action::Accept, Some(entry)) if entry.here => ctx.close_and_run(entry.action),
            (Action::Accept, Some(entry)) => {
                ctx.toast(format!("{} is for: {}", entry.action.entry().name, entry.scope))
            }
            (Action::Accept, None) => {}
            // Opened again from inside itself it would stack up.
            (Action::Help, _) => {}
            _ => return Outcome::Ignored,
        }
        Outcome::Handled
    }

    fn text(&mut self, key: Key, _ctx: &mut Ctx<'_>) {
        if self.field.key(key) {
            self.search();
        }
    }

    fn event(&mut self, event: &Event, _ctx: &mut Ctx<'_>) {
        match event {
            Event::Paste(text) => {
                self.field.paste(text);
                self.search();
            }
            Event::Resize { width, height } => {
                // Two borders, the field, the headings.
                let place = place(Rect { x: 0, y: 0, width: *width, height: *height });
                self.list.resize(place.height.saturating_sub(4));
            }
            _ => {}
        }
    }

    fn draw(&self, frame: &mut Frame<'_>, area: Rect, view: &View<'_>) {
        let theme = view.theme;
        let place = place(area);
        Clear.render(place, frame.buffer_mut());
        let block = Block::bordered()
            .title(Line::styled(format!(" {} ", self.title), theme.style(Role::Title)))
            .title_bottom(Line::styled(
                format!(" {} of {} ", self.found.len(), self.all.len()),
                theme.style(Role::Muted),
            ))
            .border_style(theme.style(Role::Focus));
        let inner = block.inner(place);
        block.render(place, frame.buffer_mut());
        let [line, head, rows] =
            Layout::vertical([Constraint::Length(1), Constraint::Length(1), Constraint::Fill(1)])
                .areas(inner);
        frame.buffer_mut().set_stringn(line.x, line.y, "> ", usize::from(line.width), theme.style(Role::Key));
        let field = Rect { x: line.x.saturating_add(2), width: line.width.saturating_sub(2), ..line };
        // Where everything is valid here, nothing is said of where.
        let here = self.all.iter().all(|entry| entry.here);
        let columns = table::Layout::without(COLUMNS, head.width.saturating_sub(1), |at| here && at == WHERE);
        columns
            .head(theme.style(Role::Muted))
            .render(Rect { x: head.x.saturating_add(1), ..head }.intersection(head), frame.buffer_mut());
        self.list.draw(frame, rows, theme, &Found(&self.found), |row, _| {
            let Some(entry) = self.found.get(row).and_then(|at| self.all.get(*at)) else {
                return Line::default();
            };
            let known = entry.action.entry();
            let name = if known.danger { format!("{} !", known.name) } else { known.name.to_owned() };
            let dim = if entry.here { Style::new() } else { theme.style(Role::Muted) };
            columns.row([
                (name.as_str(), dim),
                (entry.keys.as_str(), theme.style(Role::Key)),
                (known.doc, dim),
                (if entry.here { "here" } else { entry.scope }, theme.style(Role::Muted)),
            ])
        });
        self.field.draw(frame, field, theme, true);
    }
}
