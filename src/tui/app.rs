//! The stack of layers: who gets an event, what it changes, and how the whole is drawn.

#[cfg(test)]
mod tests;

use std::time::Duration;

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::Line;
use ratatui::widgets::{Block, Widget as _};

use crate::domain::text::clip;
use crate::tui::action::{Action, Scope};
use crate::tui::effect::Effect;
use crate::tui::event::{Change, Code, Event, Key, Reply};
use crate::tui::keymap::Keymap;
use crate::tui::model::{Link, Model, Now};
use crate::tui::screens::{Ctx, Layer, Outcome, View, Want, help, palette};
use crate::tui::theme::{Depth, EMBEDDED, Role, Theme};
use crate::tui::widgets::status;

/// The smallest screen that is of use.
pub const LEAST: (u16, u16) = (40, 12);
/// Screens on top of each other, popups not counted.
pub const DEEPEST: usize = 3;
/// How long a guarded layer ignores keys after it was first painted.
pub const GUARD: Duration = Duration::from_millis(300);
/// How long a notice stays.
const NOTICE: Duration = Duration::from_secs(4);

/// A layer with what the stack knows of it.
struct Place {
    layer: Box<dyn Layer>,
    requests: Vec<u64>,
    /// When it was first painted.
    painted: Option<Duration>,
}

/// What is said in place of the keys, for a while.
struct Notice {
    text: String,
    until: Duration,
    /// It came by itself and not from a key: whoever types on has not read it yet.
    stays: bool,
}

/// Everything on the screen.
pub struct App {
    model: Model,
    theme: Theme,
    depth: Depth,
    /// Whether the theme follows the terminal's background.
    follow: bool,
    keymap: Keymap,
    stack: Vec<Place>,
    size: (u16, u16),
    notice: Option<Notice>,
    next_request: u64,
    /// The person asked to leave, and was told what would be lost.
    warned: bool,
    /// What the first screen wants, until it is taken.
    opening: Vec<Effect>,
}

/// How the app looks and what its keys mean.
pub struct Look {
    /// The theme asked for, at full depth; none follows the terminal's background.
    pub theme: Option<Theme>,
    /// What the terminal can show.
    pub depth: Depth,
    /// Which key means what.
    pub keymap: Keymap,
}

impl App {
    /// An app with one screen, of a size in cells.
    pub fn new(model: Model, look: Look, first: Box<dyn Layer>, width: u16, height: u16) -> App {
        let follow = look.theme.is_none();
        let theme =
            look.theme.map_or_else(|| Theme::automatic(false, look.depth), |theme| theme.at(look.depth));
        let mut app = App {
            model,
            theme,
            depth: look.depth,
            follow,
            keymap: look.keymap,
            stack: Vec::new(),
            size: (width, height),
            notice: None,
            next_request: 0,
            warned: false,
            opening: Vec::new(),
        };
        let mut opening = Vec::new();
        app.push(first, &mut opening);
        app.opening = opening;
        app
    }

    /// What every screen may read.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// What the first screen wanted when it opened; to be carried out once.
    pub fn opening(&mut self) -> Vec<Effect> {
        std::mem::take(&mut self.opening)
    }

    /// The theme in use.
    pub fn theme(&self) -> &Theme {
        &self.theme
    }

    /// Takes an event. The only place where state changes. Returns what is to be done in the world, in order.
    pub fn update(&mut self, event: Event, now: Now) -> Vec<Effect> {
        self.model.now = now;
        let mut effects = Vec::new();
        if self.notice.as_ref().is_some_and(|notice| now.run >= notice.until) {
            self.notice = None;
        }
        match event {
            Event::Key(key) => self.key(key, &mut effects),
            Event::Paste(_) => {
                let open = self.stack.last().is_some_and(|top| top.layer.wants_text() && !self.shut(top));
                if open {
                    self.tell_top(&event, &mut effects);
                }
            }
            Event::Resize { width, height } => {
                self.size = (width, height);
                self.tell_size(&mut effects);
            }
            Event::Focus(focused) => {
                self.model.focused = focused;
                self.tell_all(&event, &mut effects);
            }
            Event::Background { light } => {
                if self.follow {
                    self.theme = Theme::automatic(light, self.depth);
                }
            }
            Event::Tick => self.tell_all(&event, &mut effects),
            Event::Reply { request, ref reply } => {
                let moved = match reply {
                    Reply::Status(status) => self.model.learn(status),
                    Reply::Decide(..) => self.model.wrote(),
                    _ => false,
                };
                if moved {
                    self.tell_size(&mut effects);
                }
                if let Some(at) = self.stack.iter().position(|place| place.requests.contains(&request)) {
                    self.tell(at, &event, &mut effects);
                }
            }
            Event::Feed(ref change) => {
                match change {
                    Change::Link(link) => self.model.hear(*link),
                    Change::Unkept(Some(why)) => self.say(format!("not kept on disk: {why}"), true),
                    Change::Unkept(None) => self.say("kept on disk again".to_owned(), true),
                    Change::News(_) => {}
                }
                self.tell_all(&event, &mut effects);
            }
        }
        effects
    }

    /// Shows a short notice, revealed, until the next key that does something.
    pub fn notify(&mut self, text: impl Into<String>) {
        self.say(text.into(), false);
    }

    /// The same, revealed; where it came by itself it stays for a while, whatever is typed.
    pub fn say(&mut self, text: String, stays: bool) {
        let until = self.model.now.run.saturating_add(NOTICE);
        self.notice = Some(Notice { text, until, stays });
    }

    /// Says what would be lost by leaving. Returns whether that was said already, to the key before this one.
    pub fn warned_of_loss(&mut self, why: &str) -> bool {
        if !self.warned {
            self.notify(format!("quitting again loses what you wrote: {why}"));
        }
        std::mem::replace(&mut self.warned, true)
    }

    /// Takes note that a frame was painted: what is guarded counts from here.
    pub fn painted(&mut self, run: Duration) {
        let seen = self.size.0 >= LEAST.0 && self.size.1 >= LEAST.1;
        if let Some(top) = self.stack.last_mut().filter(|_| seen) {
            top.painted.get_or_insert(run);
        }
    }

    /// How long after a frame the next is due if nothing happens; none when nothing on it changes with time.
    pub fn wake(&self) -> Option<Duration> {
        let notice = self.notice.as_ref().map(|notice| notice.until.saturating_sub(self.model.now.run));
        let link = matches!(self.model.link, Link::Reconnecting { .. } | Link::Offline { .. })
            .then_some(Duration::from_secs(1));
        let layers = self.visible().filter_map(|place| place.layer.wake(&self.model)).min();
        [notice, link, layers].into_iter().flatten().min()
    }

    /// Whether keys are dropped, because the layer was not in sight when they were typed.
    fn shut(&self, place: &Place) -> bool {
        let since = place.painted.map(|painted| self.model.now.run.saturating_sub(painted));
        place.layer.guarded() && since.is_none_or(|since| since < GUARD)
    }

    fn key(&mut self, key: Key, effects: &mut Vec<Effect>) {
        let Some(top) = self.stack.last() else { return };
        let scopes = top.layer.scopes();
        let typing = top.layer.wants_text();
        let action = match key.typed() {
            Some(_) if typing => None,
            _ => self.keymap.resolve(scopes, key),
        };
        // Leaving is always possible; everything else waits until the layer was in sight.
        if self.shut(top) && !matches!(action, Some(Action::Back | Action::Quit)) {
            return;
        }
        let danger = action.is_some_and(|action| action.entry().danger && top.painted.is_none());
        if action != Some(Action::Quit) {
            self.warned = false;
        }
        // What the last key had to say is of another moment, and often of another screen.
        if !danger && (action.is_some() || typing) && self.notice.as_ref().is_some_and(|said| !said.stays) {
            self.notice = None;
        }
        match action {
            Some(_) if danger => {}
            Some(action) => self.run(action, effects),
            None if typing => self.with_top(effects, |layer, ctx| layer.text(key, ctx)),
            // Escape and a key in one read look like alt and the key.
            None if key.alt => {
                let plain = Key { alt: false, ..key };
                for key in [Key::plain(Code::Esc), plain] {
                    self.key(key, effects);
                }
            }
            None => {}
        }
    }

    fn run(&mut self, action: Action, effects: &mut Vec<Effect>) {
        let mut outcome = Outcome::Ignored;
        self.with_top(effects, |layer, ctx| outcome = layer.on(action, ctx));
        if outcome == Outcome::Handled {
            return;
        }
        let scopes = self.stack.last().map_or(&[][..], |top| top.layer.scopes());
        match action {
            Action::Back => self.pop(effects),
            Action::Quit => effects.push(Effect::Quit),
            Action::Redraw => effects.push(Effect::Redraw),
            Action::Help => self.push(Box::new(help::help(&self.keymap, scopes)), effects),
            Action::Palette => self.push(Box::new(palette::palette(&self.keymap, scopes)), effects),
            Action::ToggleTheme => self.next_theme(),
            _ => {}
        }
    }

    fn next_theme(&mut self) {
        let at = EMBEDDED.iter().position(|(name, _)| *name == self.theme.name);
        let next = EMBEDDED.get(at.map_or(0, |at| at + 1) % EMBEDDED.len());
        if let Some(theme) = next.and_then(|(name, _)| Theme::embedded(name)) {
            self.follow = false;
            self.theme = theme.at(self.depth);
            self.notify(format!("theme {}", self.theme.name));
        }
    }

    fn push(&mut self, layer: Box<dyn Layer>, effects: &mut Vec<Effect>) {
        if !layer.popup() && self.is_deep() {
            let back =
                self.keymap.all_keys(Action::Back).next().map(|key| key.to_string()).unwrap_or_default();
            self.notify(format!("three levels deep already: {back} goes back"));
            return;
        }
        self.stack.push(Place { layer, requests: Vec::new(), painted: None });
        let body = self.body();
        self.tell_top(&Event::Resize { width: body.width, height: body.height }, effects);
    }

    fn is_deep(&self) -> bool {
        self.stack.iter().filter(|place| !place.layer.popup()).count() >= DEEPEST
    }

    /// Closes the top layer, but never the last, and takes back what it still waits for.
    fn pop(&mut self, effects: &mut Vec<Effect>) {
        if self.stack.len() > 1
            && let Some(gone) = self.stack.pop()
        {
            effects.extend(gone.requests.into_iter().map(Effect::Cancel));
        }
    }

    fn tell_all(&mut self, event: &Event, effects: &mut Vec<Effect>) {
        for at in (0..self.stack.len()).rev() {
            self.tell(at, event, effects);
        }
    }

    fn tell_size(&mut self, effects: &mut Vec<Effect>) {
        let Rect { width, height, .. } = self.body();
        self.tell_all(&Event::Resize { width, height }, effects);
    }

    fn tell_top(&mut self, event: &Event, effects: &mut Vec<Effect>) {
        self.tell(self.stack.len().saturating_sub(1), event, effects);
    }

    fn tell(&mut self, at: usize, event: &Event, effects: &mut Vec<Effect>) {
        if let (Event::Reply { request, .. }, Some(place)) = (event, self.stack.get_mut(at)) {
            place.requests.retain(|own| own != request);
        }
        self.with(at, effects, |layer, ctx| layer.event(event, ctx));
    }

    fn with_top(&mut self, effects: &mut Vec<Effect>, act: impl FnOnce(&mut dyn Layer, &mut Ctx<'_>)) {
        self.with(self.stack.len().saturating_sub(1), effects, act);
    }

    fn with(&mut self, at: usize, effects: &mut Vec<Effect>, act: impl FnOnce(&mut dyn Layer, &mut Ctx<'_>)) {
        let mut wants = Vec::new();
        let on_top = at + 1 == self.stack.len();
        let Some(place) = self.stack.get_mut(at) else { return };
        let mut ctx = Ctx {
            model: &self.model,
            on_top,
            effects,
            wants: &mut wants,
            requests: &mut place.requests,
            next_request: &mut self.next_request,
        };
        act(place.layer.as_mut(), &mut ctx);
        for want in wants {
            self.grant(at, want, effects);
        }
    }

    /// Does what a layer wanted of the stack. What is below the top stays where it is: it can neither close nor
    /// cover what somebody is reading.
    fn grant(&mut self, at: usize, want: Want, effects: &mut Vec<Effect>) {
        let top = at + 1 == self.stack.len();
        match want {
            Want::Toast(text) => self.notify(text),
            Want::Columns(chosen) => {
                self.model.columns = chosen;
                effects.push(Effect::KeepColumns(chosen));
            }
            Want::Push(layer) if top => self.push(layer, effects),
            Want::GoTo(layer) if top => {
                while self.is_deep() {
                    self.pop(effects);
                }
                self.push(layer, effects);
            }
            Want::Close if top => self.pop(effects),
            Want::CloseAndRun(action) if top => {
                self.pop(effects);
                self.run(action, effects);
            }
            Want::Push(_) | Want::GoTo(_) | Want::Close | Want::CloseAndRun(_) => {}
        }
    }

    /// The part between header and footer, less the line that warns of the store.
    fn body(&self) -> Rect {
        let (width, height) = self.size;
        let top = 1 + u16::from(self.model.warning().is_some());
        Rect { x: 0, y: top, width, height: height.saturating_sub(top + 1) }
    }

    /// The layers that are seen: the topmost screen and the popups over it.
    fn visible(&self) -> impl Iterator<Item = &Place> {
        let base = self.stack.iter().rposition(|place| !place.layer.popup()).unwrap_or(0);
        self.stack.iter().skip(base)
    }

    /// Draws everything. Changes nothing.
    pub fn view(&self, frame: &mut Frame<'_>) {
        let area = frame.area();
        let theme = &self.theme;
        let text = theme.style(Role::Text);
        if text != Style::new() {
            Block::new().style(text).render(area, frame.buffer_mut());
        }
        if area.width < LEAST.0 || area.height < LEAST.1 {
            let line = format!("needs {}×{}", LEAST.0, LEAST.1);
            Line::raw(line).render(Rect { height: area.height.min(1), ..area }, frame.buffer_mut());
            return;
        }
        let row = |y| Rect { y, height: 1, ..area };
        status::header(frame, row(area.y), theme, &self.model);
        if let Some(text) = self.model.warning() {
            status::say(frame, row(area.y + 1), theme, &text, Role::Danger);
        }
        let top = self.body().y;
        let body = Rect { y: area.y + top, height: area.height.saturating_sub(top + 1), ..area };
        for place in self.visible() {
            place.layer.draw(frame, body, &View { theme, model: &self.model });
        }
        match &self.notice {
            Some(Notice { text, .. }) => {
                let text = clip(&format!(" {text}"), usize::from(area.width)).text.to_string();
                let line = Line::styled(text, theme.style(Role::Toast));
                line.render(row(area.bottom() - 1), frame.buffer_mut());
            }
            None => status::footer(frame, row(area.bottom() - 1), theme, &self.footer()),
        }
    }

    /// The keys the footer names: what the top layer offers, then the ones that are always good to know.
    fn footer(&self) -> Vec<(String, &'static str)> {
        let Some(top) = self.stack.last() else { return Vec::new() };
        let scopes: &[Scope] = top.layer.scopes();
        let common: &[(Action, &str)] =
            &[(Action::Back, "back"), (Action::Palette, "palette"), (Action::Help, "help")];
        let own = top.layer.offers();
        let common = common.iter().filter(|(action, _)| own.iter().all(|(offered, _)| offered != action));
        own.iter()
            .chain(common)
            .filter(|(action, _)| *action != Action::Back || self.stack.len() > 1)
            .filter_map(|(action, word)| Some((self.keymap.keys(scopes, *action).next()?.to_string(), *word)))
            .collect()
    }
}
