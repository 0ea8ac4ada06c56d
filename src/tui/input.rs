//! Keys, pastes and the rest from the terminal, with the terminal's own answers taken out.

#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::future::poll_fn;
use std::io;
use std::task::Poll;

use crossterm::event::{self, EventStream, KeyCode, KeyEventKind, KeyModifiers};
use futures_util::StreamExt as _;

use super::event::{Code, Event, Key};

/// The most of one paste that is taken.
const PASTE_LIMIT: usize = 1 << 20;
/// The most events taken in one go, so that a flood cannot keep the screen from being drawn.
const BATCH: usize = 1024;

/// The stream of events from the terminal.
pub struct Input {
    stream: EventStream,
    answers: Answers,
}

impl Input {
    /// Starts reading. The terminal must be in raw mode.
    pub fn open() -> Input {
        Input { stream: EventStream::new(), answers: Answers::default() }
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
        let first = self.stream.next().await;
        self.sort(first, into)?;
        for _ in 1..BATCH {
            // Polled with the loop's own waker: crossterm keeps the one it saw last and would lose a wake-up.
            let more = poll_fn(|cx| match self.stream.poll_next_unpin(cx) {
                Poll::Ready(item) => Poll::Ready(Some(item)),
                Poll::Pending => Poll::Ready(None),
            });
            match more.await {
                Some(item) => self.sort(item, into)?,
                None => break,
            }
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
