//! Plays keys to an app without a terminal and shows what is on the screen: for tests and pictures.

use std::sync::Arc;
use std::time::Duration;

use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::Buffer;
use ratatui::style::{Color, Modifier};

use crate::coordinator::Coordinator;
use crate::tui::app::{App, Look};
use crate::tui::effect::Effect;
use crate::tui::event::{Change, Code, Event, Key};
use crate::tui::keymap::Keymap;
use crate::tui::model::{Link, Model, Now};
use crate::tui::screens::Layer;
use crate::tui::theme::{Depth, Theme};
use crate::tui::{picture, runtime};

/// An app being played to, with a clock that moves only when told.
pub struct Script {
    app: App,
    terminal: Terminal<TestBackend>,
    /// The last frame, whole: the backend is only told what changed, and keeps what a wide character covers.
    shown: Buffer,
    run: Duration,
    effects: Vec<Effect>,
}

/// Time between two keys of a script: a fast typist.
const BEAT: Duration = Duration::from_millis(50);

impl Script {
    /// An app with one screen, in the `mono` theme, at 12:04:31 UTC.
    pub fn new(first: impl Layer + 'static, width: u16, height: u16) -> Script {
        Script::themed(first, width, height, "mono", Depth::Mono)
    }

    /// The same in an embedded theme, fitted to a depth. An unknown theme is the automatic one.
    pub fn themed(first: impl Layer + 'static, width: u16, height: u16, theme: &str, depth: Depth) -> Script {
        let look = Look { theme: Theme::embedded(theme), depth, keymap: Keymap::default() };
        let now = at(Duration::ZERO);
        let mut model = Model::new("payments-prod", "you (reviewer)", now);
        model.command = "tribunal --store '/a b/it.db'".to_owned();
        let app = App::new(model, look, Box::new(first), width, height);
        let backend = TestBackend::new(width, height);
        let Ok(terminal) = Terminal::new(backend);
        let mut script =
            Script { app, terminal, shown: Buffer::default(), run: Duration::ZERO, effects: Vec::new() };
        script.effects = script.app.opening();
        script.paint();
        script
    }

    /// Types keys one after another, as `jjs<enter>`, each painted before the next is typed.
    pub fn keys(&mut self, keys: &str) -> &mut Script {
        for key in parse(keys) {
            self.run += BEAT;
            self.event(Event::Key(key));
        }
        self
    }

    /// Types keys faster than frames: all are taken before one is painted.
    pub fn burst(&mut self, keys: &str) -> &mut Script {
        for key in parse(keys) {
            self.update(Event::Key(key));
        }
        self.paint();
        self
    }

    /// Something happens and is painted.
    pub fn event(&mut self, event: Event) -> &mut Script {
        if let Event::Resize { width, height } = event {
            self.terminal.backend_mut().resize(width, height);
        }
        self.update(event);
        self.paint();
        self
    }

    /// Time passes, and with it whatever asked to be woken.
    pub fn wait(&mut self, time: Duration) -> &mut Script {
        self.run += time;
        self.event(Event::Tick)
    }

    fn update(&mut self, event: Event) {
        self.effects.extend(self.app.update(event, at(self.run)));
    }

    fn paint(&mut self) {
        let Ok(frame) = self.terminal.draw(|frame| self.app.view(frame));
        self.shown = frame.buffer.clone();
        self.app.painted(self.run);
    }

    /// Puts everything that was asked to a coordinator and takes its answers, until nothing is asked any more.
    pub async fn settle(&mut self, coordinator: &Arc<dyn Coordinator>) -> &mut Script {
        self.event(Event::Feed(Change::Link(Link::Live)));
        loop {
            let asked = std::mem::take(&mut self.effects);
            let mut answered = false;
            for effect in asked {
                if let Effect::Ask(request, ask) = effect {
                    let reply = runtime::answer(coordinator.clone(), *ask).await;
                    self.event(Event::Reply { request, reply });
                    answered = true;
                }
            }
            if !answered {
                return self;
            }
        }
    }

    /// The app itself.
    pub fn app(&self) -> &App {
        &self.app
    }

    /// What was asked of the world since the last call.
    pub fn effects(&mut self) -> Vec<Effect> {
        std::mem::take(&mut self.effects)
    }

    /// The cells on the screen.
    pub fn buffer(&self) -> &Buffer {
        &self.shown
    }

    /// The screen as text, one line a row, blanks at the ends left out.
    pub fn screen(&self) -> String {
        let buffer = self.buffer();
        let mut text = String::new();
        for y in 0..buffer.area.height {
            let mut row = String::new();
            let mut x = 0;
            while let Some(cell) = buffer.cell((x, y)).filter(|_| x < buffer.area.width) {
                row.push_str(cell.symbol());
                let width = unicode_width::UnicodeWidthStr::width(cell.symbol());
                x += u16::try_from(width).unwrap_or(1).max(1);
            }
            text.push_str(row.trim_end());
            text.push('\n');
        }
        text
    }

    /// What is styled: one line a run, as `ROW COLUMN..COLUMN text ink/paper modifiers`.
    pub fn styles(&self) -> String {
        let buffer = self.buffer();
        let mut text = String::new();
        for y in 0..buffer.area.height {
            let mut x = 0;
            while let Some(first) = buffer.cell((x, y)).filter(|_| x < buffer.area.width) {
                let style = (first.fg, first.bg, first.modifier);
                let start = x;
                let mut run = String::new();
                while let Some(cell) =
                    buffer.cell((x, y)).filter(|cell| (cell.fg, cell.bg, cell.modifier) == style)
                {
                    run.push_str(cell.symbol());
                    x += 1;
                    if x >= buffer.area.width {
                        break;
                    }
                }
                if style != (Color::Reset, Color::Reset, Modifier::empty()) {
                    let (ink, paper, modifier) = style;
                    text.push_str(&format!(
                        "{y} {start}..{x} {:?} {ink}/{paper} {modifier:?}\n",
                        run.trim_end()
                    ));
                }
            }
        }
        text
    }

    /// The screen as SVG.
    pub fn picture(&self) -> String {
        picture::svg(self.buffer(), self.app.theme())
    }
}

fn at(run: Duration) -> Now {
    let start = jiff::Timestamp::from_second(1_796_040_271).unwrap_or_default();
    Now { run, wall: start.checked_add(run).unwrap_or(start) }
}

/// Reads `jjs<enter><ctrl-d>`; what is no key is left out.
pub fn parse(keys: &str) -> Vec<Key> {
    let mut rest = keys;
    let mut parsed = Vec::new();
    while let Some(char) = rest.chars().next() {
        let named = rest.strip_prefix('<').and_then(|inner| inner.split_once('>'));
        match named.and_then(|(name, after)| Some((name.parse().ok()?, after))) {
            Some((key, after)) => {
                parsed.push(key);
                rest = after;
            }
            None => {
                parsed.push(Key::plain(Code::Char(char)));
                rest = rest.get(char.len_utf8()..).unwrap_or_default();
            }
        }
    }
    parsed
}
