//! One frame: the changed cells as the fewest bytes, in one write, with nothing in it that we did not mean.

use std::fs::File;
use std::io;

use ratatui::backend::{Backend, ClearType, WindowSize};
use ratatui::buffer::Cell;
use ratatui::layout::{Position, Size};
use ratatui::style::{Color, Modifier};

/// The marks of synchronized output (mode 2026): terminals that do not know it ignore them.
const BEGIN: &[u8] = b"\x1b[?2026h";
const END: &[u8] = b"\x1b[?2026l";

/// A cell's looks as far as the terminal has been told.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Pen {
    fg: Color,
    bg: Color,
    underline: Color,
    modifier: Modifier,
}

const PLAIN: Pen =
    Pen { fg: Color::Reset, bg: Color::Reset, underline: Color::Reset, modifier: Modifier::empty() };

/// The terminal as ratatui's backend. Colours are written as the theme gave them: it alone knows the depth.
#[derive(Debug)]
pub struct Screen {
    file: File,
    size: Size,
    out: Vec<u8>,
    /// Where the cursor shows, as the terminal knows it.
    shown: Option<Position>,
    /// Where it is to show after this frame.
    wanted: Option<Position>,
    /// How many frames changed anything.
    frames: u64,
}

impl Screen {
    /// How many frames were written: one that changes nothing is none.
    pub fn frames(&self) -> u64 {
        self.frames
    }

    pub(super) fn new(file: File, width: u16, height: u16) -> Screen {
        Screen {
            file,
            size: Size { width, height },
            out: Vec::with_capacity(16 << 10),
            shown: None,
            frames: 0,
            wanted: None,
        }
    }

    /// Takes note of the terminal's new size.
    pub fn resize(&mut self, width: u16, height: u16) {
        self.size = Size { width, height };
    }

    /// Forgets where the terminal's cursor is: it was taken anew, and the cursor is hidden.
    pub(super) fn forget(&mut self) {
        self.shown = None;
    }

    pub(super) fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        super::write_raw(&self.file, bytes)
    }

    fn move_to(&mut self, to: Position) {
        self.sequence(format_args!("\x1b[{};{}H", to.y.saturating_add(1), to.x.saturating_add(1)));
    }

    fn sequence(&mut self, text: std::fmt::Arguments<'_>) {
        // Writing to a vector does not fail.
        let _ = io::Write::write_fmt(&mut self.out, text);
    }

    fn pen(&mut self, from: Pen, to: Pen) {
        let mut codes = String::new();
        let mut from = from;
        // Leaving bold also leaves dim on some terminals: what ends a modifier is a reset of everything.
        if !(from.modifier - to.modifier).is_empty() {
            codes.push_str(";0");
            from = PLAIN;
        }
        for (modifier, code) in MODIFIERS {
            if to.modifier.contains(*modifier) && !from.modifier.contains(*modifier) {
                codes.push_str(code);
            }
        }
        if to.fg != from.fg {
            push_color(&mut codes, to.fg, 30);
        }
        if to.bg != from.bg {
            push_color(&mut codes, to.bg, 40);
        }
        if to.underline != from.underline {
            push_underline(&mut codes, to.underline);
        }
        self.sequence(format_args!("\x1b[{}m", codes.trim_start_matches(';')));
    }

    /// Prints one cell's grapheme; says whether the terminal's cursor is surely one to the right of it now.
    fn print(&mut self, symbol: &str) -> bool {
        if let [byte] = symbol.as_bytes() {
            self.out.push(if byte.is_ascii_control() { b' ' } else { *byte });
            return true;
        }
        // The last line of defence: text is revealed long before it gets here.
        if symbol.chars().any(|char| char.is_control() || turns_text(char)) {
            self.out.extend_from_slice("\u{fffd}".as_bytes());
            return false;
        }
        self.out.extend_from_slice(symbol.as_bytes());
        // Terminals disagree about the width of clusters and of wide characters: the next cell says where it is.
        let mut chars = symbol.chars();
        matches!((chars.next(), chars.next()), (Some('\u{2500}'..='\u{259f}' | '\u{a0}'..='\u{2ff}'), None))
    }
}

const MODIFIERS: &[(Modifier, &str)] = &[
    (Modifier::BOLD, ";1"),
    (Modifier::DIM, ";2"),
    (Modifier::ITALIC, ";3"),
    (Modifier::UNDERLINED, ";4"),
    (Modifier::SLOW_BLINK, ";5"),
    (Modifier::RAPID_BLINK, ";6"),
    (Modifier::REVERSED, ";7"),
    (Modifier::HIDDEN, ";8"),
    (Modifier::CROSSED_OUT, ";9"),
];

/// Characters that change the direction of text around them, or are seen by nobody.
fn turns_text(char: char) -> bool {
    matches!(char, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200e}' | '\u{200f}' | '\u{61c}' | '\u{e0000}'..='\u{e007f}')
}

fn push_color(codes: &mut String, color: Color, base: u8) {
    let named = |offset: u8, bright: bool| base + offset + if bright { 60 } else { 0 };
    let code = match color {
        Color::Reset => base + 9,
        Color::Black => named(0, false),
        Color::Red => named(1, false),
        Color::Green => named(2, false),
        Color::Yellow => named(3, false),
        Color::Blue => named(4, false),
        Color::Magenta => named(5, false),
        Color::Cyan => named(6, false),
        Color::Gray => named(7, false),
        Color::DarkGray => named(0, true),
        Color::LightRed => named(1, true),
        Color::LightGreen => named(2, true),
        Color::LightYellow => named(3, true),
        Color::LightBlue => named(4, true),
        Color::LightMagenta => named(5, true),
        Color::LightCyan => named(6, true),
        Color::White => named(7, true),
        Color::Indexed(index) => {
            codes.push_str(&format!(";{};5;{index}", base + 8));
            return;
        }
        Color::Rgb(r, g, b) => {
            codes.push_str(&format!(";{};2;{r};{g};{b}", base + 8));
            return;
        }
    };
    codes.push_str(&format!(";{code}"));
}

fn push_underline(codes: &mut String, color: Color) {
    match color {
        Color::Indexed(index) => codes.push_str(&format!(";58;5;{index}")),
        Color::Rgb(r, g, b) => codes.push_str(&format!(";58;2;{r};{g};{b}")),
        _ => codes.push_str(";59"),
    }
}

impl Backend for Screen {
    type Error = io::Error;

    fn draw<'a, I>(&mut self, content: I) -> io::Result<()>
    where
        I: Iterator<Item = (u16, u16, &'a Cell)>,
    {
        let mut pen = PLAIN;
        let mut next: Option<Position> = None;
        for (x, y, cell) in content {
            let at = Position { x, y };
            if next != Some(at) {
                self.move_to(at);
            }
            let own =
                Pen { fg: cell.fg, bg: cell.bg, underline: cell.underline_color, modifier: cell.modifier };
            if own != pen {
                self.pen(pen, own);
                pen = own;
            }
            let sure = self.print(cell.symbol());
            next = sure.then_some(Position { x: x.saturating_add(1), y });
        }
        if pen != PLAIN {
            self.out.extend_from_slice(b"\x1b[0m");
        }
        Ok(())
    }

    fn hide_cursor(&mut self) -> io::Result<()> {
        self.wanted = None;
        Ok(())
    }

    fn show_cursor(&mut self) -> io::Result<()> {
        self.wanted = Some(self.wanted.unwrap_or_default());
        Ok(())
    }

    fn get_cursor_position(&mut self) -> io::Result<Position> {
        Ok(self.shown.unwrap_or_default())
    }

    fn set_cursor_position<P: Into<Position>>(&mut self, position: P) -> io::Result<()> {
        // ratatui shows and then places the cursor; a hidden one is placed by nobody.
        if self.wanted.is_some() {
            self.wanted = Some(position.into());
        }
        Ok(())
    }

    fn clear(&mut self) -> io::Result<()> {
        self.out.extend_from_slice(b"\x1b[0m\x1b[2J");
        Ok(())
    }

    fn clear_region(&mut self, _region: ClearType) -> io::Result<()> {
        self.clear()
    }

    fn size(&self) -> io::Result<Size> {
        Ok(self.size)
    }

    fn window_size(&mut self) -> io::Result<WindowSize> {
        Ok(WindowSize { columns_rows: self.size, pixels: Size::default() })
    }

    fn flush(&mut self) -> io::Result<()> {
        let moved = !self.out.is_empty();
        if !moved && self.wanted == self.shown {
            return Ok(());
        }
        match self.wanted {
            Some(position) => {
                self.move_to(position);
                if self.shown.is_none() {
                    self.out.extend_from_slice(b"\x1b[?25h");
                }
            }
            None if self.shown.is_some() => self.out.extend_from_slice(b"\x1b[?25l"),
            None => {}
        }
        self.shown = self.wanted;
        self.frames = self.frames.wrapping_add(1);
        let mut frame = Vec::with_capacity(self.out.len() + BEGIN.len() + END.len());
        frame.extend_from_slice(BEGIN);
        frame.append(&mut self.out);
        frame.extend_from_slice(END);
        self.write(&frame)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ratatui::style::Style;

    /// The bytes that draw these cells, without a terminal.
    fn drawn(cells: &[(u16, u16, &str, Style)]) -> String {
        let file = File::options().write(true).open("/dev/null").unwrap();
        let mut screen = Screen::new(file, 80, 24);
        let cells: Vec<_> = cells
            .iter()
            .map(|(x, y, text, style)| {
                let mut cell = Cell::new("");
                #[expect(
                    clippy::disallowed_methods,
                    reason = "what gets past the widgets is the point of the test"
                )]
                cell.set_symbol(text).set_style(*style);
                (*x, *y, cell)
            })
            .collect();
        screen.draw(cells.iter().map(|(x, y, cell)| (*x, *y, cell))).unwrap();
        String::from_utf8(screen.out).unwrap()
    }

    #[test]
    fn neighbours_need_no_move_and_a_wide_character_makes_the_next_cell_say_where_it_is() {
        let plain = Style::new();
        assert_eq!(
            drawn(&[(3, 1, "a", plain), (4, 1, "b", plain), (6, 1, "c", plain)]),
            "\x1b[2;4Hab\x1b[2;7Hc"
        );
        assert_eq!(drawn(&[(0, 0, "界", plain), (2, 0, "x", plain)]), "\x1b[1;1H界\x1b[1;3Hx");
        assert_eq!(drawn(&[(0, 0, "│", plain), (1, 0, "x", plain)]), "\x1b[1;1H│x");
    }

    #[test]
    fn a_style_without_colour_writes_no_colour_code() {
        let bold = Style::new().add_modifier(Modifier::BOLD | Modifier::REVERSED);
        assert_eq!(drawn(&[(0, 0, "a", bold), (1, 0, "b", Style::new())]), "\x1b[1;1H\x1b[1;7ma\x1b[0mb");
        assert_eq!(drawn(&[(0, 0, "a", bold)]), "\x1b[1;1H\x1b[1;7ma\x1b[0m");
    }

    #[test]
    fn colours_are_written_at_the_depth_they_come_in() {
        let style = |fg, bg| Style::new().fg(fg).bg(bg);
        assert_eq!(drawn(&[(0, 0, "a", style(Color::Red, Color::White))]), "\x1b[1;1H\x1b[31;107ma\x1b[0m");
        assert_eq!(
            drawn(&[(0, 0, "a", style(Color::Rgb(1, 2, 3), Color::Indexed(99)))]),
            "\x1b[1;1H\x1b[38;2;1;2;3;48;5;99ma\x1b[0m"
        );
    }

    #[test]
    fn nothing_in_a_cell_can_drive_the_terminal() {
        for bad in ["\x1b", "\x1b]52;c;YQ==\x07", "\u{9b}2J", "a\u{202e}", "\u{e0041}", "\n", "\r\n"] {
            let bytes = drawn(&[(0, 0, bad, Style::new())]);
            let rest = bytes.strip_prefix("\x1b[1;1H").unwrap();
            assert!(rest == " " || rest == "\u{fffd}", "{bad:?} wrote {rest:?}");
        }
    }
}
