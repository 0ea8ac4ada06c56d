//! A text field of one line or many, with the real cursor in it, clean pastes, and its error below.

#[cfg(test)]
mod tests;

use ratatui::Frame;
use ratatui::layout::{Position, Rect};
use ratatui::style::Style;
use ratatui::text::Line;
use ratatui::widgets::Widget as _;
use ratatui_textarea::{Input, Key as AreaKey, TextArea, WrapMode};
use unicode_width::UnicodeWidthStr as _;

use crate::domain::text::clip;
use crate::tui::event::{Code, Key};
use crate::tui::theme::{Role, Theme};

/// The most a field holds, in bytes.
pub const LIMIT: usize = 256 << 10;

/// A text field.
#[derive(Clone, Debug)]
pub struct Field {
    area: TextArea<'static>,
    many: bool,
    bytes: usize,
    error: Option<(usize, String)>,
}

impl Field {
    /// A field of one line.
    pub fn line(text: &str) -> Field {
        Field::new(text, false)
    }

    /// A field of many lines, wrapped at words.
    pub fn lines(text: &str) -> Field {
        Field::new(text, true)
    }

    fn new(text: &str, many: bool) -> Field {
        let mut area = TextArea::default();
        // The terminal's own cursor stands in the field, so the drawn one is not needed.
        area.set_cursor_style(Style::new());
        area.set_cursor_line_style(Style::new());
        area.set_max_histories(100);
        if many {
            area.set_wrap_mode(WrapMode::WordOrGlyph);
        }
        let mut field = Field { area, many, bytes: 0, error: None };
        field.paste(text);
        field
    }

    /// The text typed so far.
    pub fn text(&self) -> String {
        self.area.lines().join("\n")
    }

    /// Whether there is no text.
    pub fn is_empty(&self) -> bool {
        self.area.is_empty()
    }

    /// Replaces the whole text.
    pub fn set(&mut self, text: &str) {
        *self = Field::new(text, self.many);
    }

    /// Says what is wrong, and at which character of the first line; `None` when nothing is.
    pub fn set_error(&mut self, error: Option<(usize, String)>) {
        self.error = error;
    }

    /// Whether the text is refused.
    pub fn error(&self) -> Option<&str> {
        self.error.as_ref().map(|(_, what)| what.as_str())
    }

    /// Takes a key. Returns whether the text changed.
    pub fn key(&mut self, key: Key) -> bool {
        let ends_line = key.code == Code::Enter || (key.ctrl && matches!(key.code, Code::Char('m' | 'j')));
        if ends_line && !self.many {
            return false;
        }
        if self.bytes >= LIMIT && (key.typed().is_some() || ends_line) {
            return false;
        }
        let to_start = key.ctrl && !key.alt && key.code == Code::Char('u');
        let changed = if to_start { self.clear_to_start() } else { self.area.input(translate(key)) };
        if changed {
            self.changed();
        }
        changed
    }

    /// Takes away what is before the cursor in its line, as shells do; at the start of a line nothing.
    fn clear_to_start(&mut self) -> bool {
        let at_start = self.area.cursor().1 == 0;
        !at_start && self.area.delete_line_by_head()
    }

    /// Takes pasted text: as text, never as keys. Control characters and those that turn or hide text are left
    /// out, line ends become spaces in a field of one line. Returns how many characters were left out.
    pub fn paste(&mut self, text: &str) -> usize {
        let mut left_out = 0;
        let mut clean = String::with_capacity(text.len().min(LIMIT));
        let mut room = LIMIT.saturating_sub(self.bytes);
        for char in text.replace("\r\n", "\n").chars() {
            let char = match char {
                '\n' | '\r' if self.many => '\n',
                '\n' | '\r' | '\t' => ' ',
                other => other,
            };
            if (char.is_control() && char != '\n') || hides(char) || char.len_utf8() > room {
                left_out += 1;
            } else {
                room -= char.len_utf8();
                clean.push(char);
            }
        }
        if self.area.insert_str(clean) {
            self.changed();
        }
        left_out
    }

    fn changed(&mut self) {
        self.bytes = self.area.lines().iter().map(|line| line.len() + 1).sum();
        self.error = None;
    }

    /// Rows it wants, with the one for its error.
    pub fn height(&self, most: u16) -> u16 {
        let rows = if self.many { self.area.lines().len().max(3) } else { 1 };
        let rows = rows + usize::from(self.error.is_some());
        u16::try_from(rows).unwrap_or(u16::MAX).min(most)
    }

    /// Draws the field; with the focus, the real cursor stands where the next character goes.
    pub fn draw(&self, frame: &mut Frame<'_>, area: Rect, theme: &Theme, focused: bool) {
        let area = area.intersection(frame.area());
        if area.is_empty() {
            return;
        }
        let below = u16::from(self.error.is_some() && area.height > 1);
        let text = Rect { height: area.height - below, ..area };
        (&self.area).render(text, frame.buffer_mut());
        let (top, left) = self.area.scroll_offset();
        if focused {
            let cursor = self.area.screen_cursor();
            let cell = |at: usize, scrolled: u16, most: u16| {
                u16::try_from(at.saturating_sub(usize::from(scrolled)))
                    .unwrap_or(u16::MAX)
                    .min(most.saturating_sub(1))
            };
            let x = text.x.saturating_add(cell(cursor.col, left, text.width));
            let y = text.y.saturating_add(cell(cursor.row, top, text.height));
            frame.set_cursor_position(Position { x, y });
        }
        if let Some((at, what)) = self.error.as_ref().filter(|_| below > 0) {
            let first = self.area.lines().first().map(String::as_str).unwrap_or_default();
            let before: String = first.chars().take(*at).collect();
            let column = before.width().saturating_sub(usize::from(left)).min(usize::from(area.width / 2));
            let room = usize::from(area.width).saturating_sub(column + 2);
            let line = format!("{}▲ {}", " ".repeat(column), clip(what, room).text);
            let place = Rect { y: area.bottom() - 1, height: 1, ..area };
            Line::styled(line, theme.style(Role::Danger)).render(place, frame.buffer_mut());
        }
    }
}

/// Characters nobody sees, or that turn the text around them. Joiners stay: scripts and emoji need them.
fn hides(char: char) -> bool {
    matches!(char,
        '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{61c}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        | '\u{feff}' | '\u{e0000}'..='\u{e007f}')
}

fn translate(key: Key) -> Input {
    let code = match key.code {
        Code::Char(char) => AreaKey::Char(char),
        Code::Enter => AreaKey::Enter,
        Code::Esc => AreaKey::Esc,
        Code::Tab | Code::BackTab => AreaKey::Tab,
        Code::Backspace => AreaKey::Backspace,
        Code::Delete => AreaKey::Delete,
        Code::Left => AreaKey::Left,
        Code::Right => AreaKey::Right,
        Code::Up => AreaKey::Up,
        Code::Down => AreaKey::Down,
        Code::Home => AreaKey::Home,
        Code::End => AreaKey::End,
        Code::PageUp => AreaKey::PageUp,
        Code::PageDown => AreaKey::PageDown,
        Code::F(number) => AreaKey::F(number),
        Code::Insert => AreaKey::Null,
    };
    Input { key: code, ctrl: key.ctrl, alt: key.alt, shift: key.shift }
}
