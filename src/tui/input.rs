//! Keys, pastes and the rest from the terminal, with the terminal's own answers taken out.
//!
//! A thread of its own reads. crossterm's reader never returns once the terminal is gone, so it must not be
//! polled by the loop (as its `EventStream` does): the loop could then be ended by nothing at all.

#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::io;
use std::time::Duration;

use crossterm::event::{self, KeyCode, KeyEventKind, KeyModifiers};
use tokio::sync::mpsc::{self, Receiver, Sender};

use crate::tui::event::{Code, Event, Key};

/// The most of one paste that is taken.
const PASTE_LIMIT: usize = 1 << 20;
/// The most events taken in one go, so that a flood cannot keep the screen from being drawn.
const BATCH: usize = 1024;

/// The stream of events from the terminal.
pub struct Input {
    events: Receiver<io::Result<event::Event>>,
    answers: Answers,
}

impl Input {
    /// Starts reading. The first event is the size, which may have changed before anybody watched it. The
    /// terminal must be in raw mode.
    ///
    /// # Errors
    /// The system gave no thread.
    pub fn open() -> io::Result<Input> {
        let (sender, events) = mpsc::channel(BATCH);
        std::thread::Builder::new().name("input".into()).spawn(move || read_on(&sender))?;
        Ok(Input { events, answers: Answers::default() })
    }

    /// Says that the terminal was asked for its background, so an answer may come among the keys.
    pub fn expect_background(&mut self) {
        self.answers.expected = true;
    }

    /// Whether an answer is still out.
    pub fn expects_answer(&self) -> bool {
        self.answers.expected
    }

    /// Waits for something to happen, then takes everything that is there already. Safe to cancel: what was
    /// taken is in `into`.
    ///
    /// # Errors
    /// The terminal is gone.
    pub async fn take(&mut self, into: &mut VecDeque<Event>) -> io::Result<()> {
        let first = self.events.recv().await;
        self.sort(first, into)?;
        while into.len() < BATCH
            && let Ok(item) = self.events.try_recv()
        {
            self.sort(Some(item), into)?;
        }
        Ok(())
    }

    fn sort(&mut self, item: Option<io::Result<event::Event>>, into: &mut VecDeque<Event>) -> io::Result<()> {
        let event = item.unwrap_or_else(|| Err(io::ErrorKind::UnexpectedEof.into()))?;
        if let Some(event) = translate(event) {
            self.answers.filter(event, into);
        }
        Ok(())
    }
}

/// Reads until nobody takes it or reading fails.
fn read_on(events: &Sender<io::Result<event::Event>>) {
    // The first look sets up the watch for changes of size.
    let watched = event::poll(Duration::ZERO).and_then(|_| crossterm::terminal::size());
    let mut next = Some(watched.map(|(width, height)| event::Event::Resize(width, height)));
    loop {
        let item = next.take().unwrap_or_else(event::read);
        let failed = item.is_err();
        if events.blocking_send(item).is_err() || failed {
            return;
        }
    }
}

/// crossterm's event as ours; nothing for what we do not use.
fn translate(event: event::Event) -> Option<Event> {
    match event {
        event::Event::Key(key) if key.kind != KeyEventKind::Release => translate_key(key).map(Event::Key),
        event::Event::Paste(mut text) => {
            text.truncate(text.floor_char_boundary(PASTE_LIMIT));
            Some(Event::Paste(text))
        }
        event::Event::Resize(width, height) => Some(Event::Resize { width, height }),
        event::Event::FocusGained => Some(Event::Focus(true)),
        event::Event::FocusLost => Some(Event::Focus(false)),
        event::Event::Key(_) | event::Event::Mouse(_) => None,
    }
}

fn translate_key(key: event::KeyEvent) -> Option<Key> {
    let code = match key.code {
        KeyCode::Char(char) => Code::Char(char),
        KeyCode::Enter => Code::Enter,
        KeyCode::Esc => Code::Esc,
        KeyCode::Tab if key.modifiers.contains(KeyModifiers::SHIFT) => Code::BackTab,
        KeyCode::Tab => Code::Tab,
        KeyCode::BackTab => Code::BackTab,
        KeyCode::Backspace => Code::Backspace,
        KeyCode::Delete => Code::Delete,
        KeyCode::Insert => Code::Insert,
        KeyCode::Left => Code::Left,
        KeyCode::Right => Code::Right,
        KeyCode::Up => Code::Up,
        KeyCode::Down => Code::Down,
        KeyCode::Home => Code::Home,
        KeyCode::End => Code::End,
        KeyCode::PageUp => Code::PageUp,
        KeyCode::PageDown => Code::PageDown,
        KeyCode::F(number) => Code::F(number),
        _ => return None,
    };
    let held = |modifier| key.modifiers.contains(modifier);
    let carries_shift = matches!(code, Code::Char(_) | Code::BackTab);
    Some(Key {
        code,
        ctrl: held(KeyModifiers::CONTROL),
        alt: held(KeyModifiers::ALT),
        shift: held(KeyModifiers::SHIFT) && !carries_shift,
    })
}

/// Takes the answer to OSC 11 out of the keys: crossterm reads `ESC ] 11;rgb:…` as alt-] and typed characters,
/// which must never run actions. Keys that turn out to be no answer are given back in order.
#[derive(Default)]
struct Answers {
    expected: bool,
    held: Vec<Key>,
    text: String,
}

/// How every answer begins.
const ANSWER: &str = "11;rgb";
/// Longer than any answer.
const ANSWER_LIMIT: usize = 40;

impl Answers {
    fn filter(&mut self, event: Event, into: &mut VecDeque<Event>) {
        let Event::Key(key) = event else {
            into.push_back(event);
            return;
        };
        if self.held.is_empty() {
            let opens = key.alt && !key.ctrl && key.code == Code::Char(']');
            if self.expected && opens {
                self.held.push(key);
            } else {
                into.push_back(Event::Key(key));
            }
            return;
        }
        let bell = key.ctrl && key.code == Code::Char('g');
        let string_end = key.alt && key.code == Code::Char('\\');
        if bell || string_end {
            if let Some(light) = is_light(&self.text) {
                into.push_back(Event::Background { light });
                self.expected = false;
            }
            self.held.clear();
            self.text.clear();
            return;
        }
        self.held.push(key);
        self.text.extend(key.typed());
        let typed = self.text.len() + 1 == self.held.len();
        let fits = self.text.starts_with(ANSWER) || ANSWER.starts_with(&self.text);
        if !typed || !fits || self.text.len() > ANSWER_LIMIT {
            self.text.clear();
            into.extend(self.held.drain(..).map(Event::Key));
        }
    }
}

/// Whether `11;rgb:RRRR/GGGG/BBBB` (also `rgba`, 1 to 4 digits a part) is nearer white than black.
fn is_light(answer: &str) -> Option<bool> {
    let (_, colour) = answer.split_once(':')?;
    let mut parts = colour.split('/').map(|hex| {
        let most = 16f32.powi(i32::try_from(hex.len()).ok()?) - 1.0;
        let value = u16::from_str_radix(hex, 16).ok()?;
        Some(f32::from(value) / most)
    });
    let (red, green, blue) = (parts.next()??, parts.next()??, parts.next()??);
    Some(0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.5)
}
