//! Parts that screens are made of. They know themes, not screens; what they draw is revealed here or before.

pub mod diff;
pub mod form;
pub mod held;
pub mod ink;
pub mod input;
pub mod list;
pub mod moment;
pub mod pager;
pub mod status;
pub mod table;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::Line;
use unicode_width::UnicodeWidthStr as _;

/// The middle of `area`, at most this large: where a popup stands.
pub fn centred(area: Rect, width: u16, height: u16) -> Rect {
    let (width, height) = (width.min(area.width), height.min(area.height));
    let x = area.x.saturating_add((area.width - width) / 2);
    let y = area.y.saturating_add((area.height - height) / 2);
    Rect { x, y, width, height }
}

/// Draws a line at the top of `area`. Same as ratatui's own, and several times cheaper for the plain ASCII that
/// most rows are: no grapheme is looked for, and unstyled blanks, which are there already, are skipped.
pub fn put_line(buffer: &mut Buffer, area: Rect, line: &Line<'_>) {
    let area = area.intersection(buffer.area);
    let mut x = area.x;
    for span in &line.spans {
        let rest = Rect { x, width: area.right().saturating_sub(x), height: area.height.min(1), ..area };
        if rest.is_empty() {
            return;
        }
        let text = span.content.as_ref();
        let style = line.style.patch(span.style);
        let (plain, text) = plain_beginning(text);
        for byte in plain.bytes().take(usize::from(rest.width)) {
            if let Some(cell) = buffer.cell_mut((x, rest.y)).filter(|_| byte != b' ' || style != Style::new())
            {
                cell.set_char(char::from(byte)).set_style(style);
            }
            x += 1;
        }
        let room = usize::from(area.right().saturating_sub(x));
        if !text.is_empty() {
            (x, _) = buffer.set_stringn(x, rest.y, text, room, style);
            if text.width() > room {
                // Half a wide character does not fit, and what follows it must not take its cell.
                return;
            }
        }
    }
}

/// As much of a text as is visible ASCII, a cell a byte, and the rest: what belongs to the last character with it.
fn plain_beginning(text: &str) -> (&str, &str) {
    let plain = text.bytes().take_while(|byte| (b' '..=b'~').contains(byte)).count();
    let end = if plain == text.len() { plain } else { plain.saturating_sub(1) };
    text.split_at_checked(end).unwrap_or(("", text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ratatui::style::{Color, Modifier};
    use ratatui::text::Span;
    use ratatui::widgets::Widget as _;

    #[test]
    fn a_line_is_drawn_as_ratatui_draws_it() {
        let red = Style::new().fg(Color::Red);
        let line = Line::from(vec![
            Span::raw("ab "),
            Span::styled("c d ", red),
            Span::raw("界e\u{301} "),
            Span::styled("  ", Style::new().add_modifier(Modifier::REVERSED)),
            Span::raw("end"),
        ])
        .style(Style::new().add_modifier(Modifier::BOLD));
        for width in 0..20 {
            let area = Rect { x: 1, y: 1, width, height: 2 };
            let frame = Rect { x: 0, y: 0, width: 18, height: 3 };
            let (mut ours, mut theirs) = (Buffer::empty(frame), Buffer::empty(frame));
            ours.set_style(frame, Style::new().bg(Color::Blue));
            theirs.set_style(frame, Style::new().bg(Color::Blue));
            put_line(&mut ours, area, &line);
            // The style of the line as a whole is not spread to the rest of the row.
            let spans = line.spans.iter().map(|span| span.clone().patch_style(line.style.patch(span.style)));
            Line::from(spans.collect::<Vec<_>>()).render(area, &mut theirs);
            assert_eq!(ours, theirs, "width {width}");
        }
    }
}
