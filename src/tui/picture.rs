//! A picture of the screen: a buffer as SVG text. Pure, so the pictures in the documentation come from the
//! same frames as the tests.

use std::fmt::Write as _;

use ratatui::buffer::{Buffer, Cell};
use ratatui::style::{Color, Modifier};
use unicode_width::UnicodeWidthStr as _;

use crate::tui::theme::{Theme, value_of};

/// The size of one cell, in pixels.
const CELL: (u32, u32) = (9, 19);
/// The space around the screen, in pixels.
const MARGIN: u32 = 10;

/// The looks of a cell, reverse resolved.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Looks {
    ink: (u8, u8, u8),
    paper: Option<(u8, u8, u8)>,
    modifier: Modifier,
}

/// Draws the buffer as SVG on the theme's paper. Every cell stands on a grid of fixed size, whatever the font.
pub fn svg(buffer: &Buffer, theme: &Theme) -> String {
    let area = buffer.area;
    let (width, height) =
        (u32::from(area.width) * CELL.0 + 2 * MARGIN, u32::from(area.height) * CELL.1 + 2 * MARGIN);
    let page =
        (value_of(theme.page.0).unwrap_or((229, 229, 229)), value_of(theme.page.1).unwrap_or((0, 0, 0)));
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\">\n\
         <rect width=\"100%\" height=\"100%\" rx=\"6\" fill=\"{}\"/>\n\
         <g font-family=\"DejaVu Sans Mono, Menlo, Consolas, monospace\" font-size=\"15\" xml:space=\"preserve\">\n",
        hex(page.1)
    );
    for y in 0..area.height {
        let mut texts = String::new();
        let mut run: Option<(u32, u32, Looks, String)> = None;
        let mut x = 0;
        while let Some(cell) = buffer.cell((area.x + x, area.y + y)).filter(|_| x < area.width) {
            let symbol = cell.symbol();
            let cells = u16::try_from(symbol.width().max(1)).unwrap_or(1);
            let looks = looks(cell, page);
            let plain = symbol.is_ascii() && cells == 1;
            match &mut run {
                // Plain neighbours of the same looks are one text; all else stands alone on its own cell.
                Some((_, width, own, text)) if *own == looks && plain && text.is_ascii() => {
                    *width += 1;
                    text.push_str(symbol);
                }
                _ => {
                    if let Some(run) = run.replace((u32::from(x), u32::from(cells), looks, symbol.to_owned()))
                    {
                        draw(&mut out, &mut texts, y, &run);
                    }
                }
            }
            x = x.saturating_add(cells);
        }
        if let Some(run) = run {
            draw(&mut out, &mut texts, y, &run);
        }
        out.push_str(&texts);
    }
    out.push_str("</g>\n</svg>\n");
    out
}

/// Adds the run's paper to `out` and its ink to `texts`, which comes after all papers of the row.
fn draw(out: &mut String, texts: &mut String, y: u16, (x, width, looks, text): &(u32, u32, Looks, String)) {
    let (left, top) = (MARGIN + x * CELL.0, MARGIN + u32::from(y) * CELL.1);
    let pixels = width * CELL.0;
    if let Some(paper) = looks.paper {
        // Writing to a string does not fail.
        let _ = writeln!(
            out,
            "<rect x=\"{left}\" y=\"{top}\" width=\"{pixels}\" height=\"{}\" fill=\"{}\"/>",
            CELL.1,
            hex(paper)
        );
    }
    let inked = !text.trim().is_empty() || looks.modifier.contains(Modifier::UNDERLINED);
    if !inked || looks.modifier.contains(Modifier::HIDDEN) {
        return;
    }
    let mut more = String::new();
    for (modifier, attribute) in [
        (Modifier::BOLD, " font-weight=\"bold\""),
        (Modifier::ITALIC, " font-style=\"italic\""),
        (Modifier::UNDERLINED, " text-decoration=\"underline\""),
        (Modifier::CROSSED_OUT, " text-decoration=\"line-through\""),
        (Modifier::DIM, " opacity=\"0.65\""),
    ] {
        if looks.modifier.contains(modifier) {
            more.push_str(attribute);
        }
    }
    let _ = write!(texts, "<text x=\"{left}\" y=\"{}\" fill=\"{}\"", top + 14, hex(looks.ink));
    let _ = writeln!(
        texts,
        " textLength=\"{pixels}\" lengthAdjust=\"spacingAndGlyphs\"{more}>{}</text>",
        escaped(text)
    );
}

fn looks(cell: &Cell, page: ((u8, u8, u8), (u8, u8, u8))) -> Looks {
    let value = |color: Color| value_of(color);
    let (mut ink, mut paper) = (value(cell.fg).unwrap_or(page.0), value(cell.bg));
    if cell.modifier.contains(Modifier::REVERSED) {
        (ink, paper) = (paper.unwrap_or(page.1), Some(ink));
    }
    Looks { ink, paper, modifier: cell.modifier - Modifier::REVERSED }
}

fn hex((red, green, blue): (u8, u8, u8)) -> String {
    format!("#{red:02x}{green:02x}{blue:02x}")
}

fn escaped(text: &str) -> String {
    text.chars().fold(String::new(), |mut out, char| {
        match char {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            // XML has no way to write these, and no cell should hold them.
            char if char.is_control() => out.push('\u{fffd}'),
            char => out.push(char),
        }
        out
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use ratatui::layout::Rect;
    use ratatui::style::Style;

    #[test]
    fn every_character_stands_on_its_cell_and_is_escaped() {
        let mut buffer = Buffer::empty(Rect::new(0, 0, 8, 2));
        buffer.set_string(0, 0, "a<界&", Style::new().fg(Color::Rgb(1, 2, 3)));
        buffer.set_string(0, 1, "R", Style::new().add_modifier(Modifier::REVERSED | Modifier::BOLD));
        let picture = svg(&buffer, &Theme::embedded("mono").unwrap());
        assert!(picture.contains("<text x=\"10\" y=\"24\" fill=\"#010203\" textLength=\"18\" lengthAdjust=\"spacingAndGlyphs\">a&lt;</text>"), "{picture}");
        // The wide character takes cells 2 and 3, so the ampersand is in cell 4.
        assert!(picture.contains("<text x=\"28\" y=\"24\" fill=\"#010203\" textLength=\"18\""), "{picture}");
        assert!(picture.contains("<text x=\"46\" y=\"24\""), "{picture}");
        // Reverse: paper on ink.
        assert!(
            picture.contains("<rect x=\"10\" y=\"29\" width=\"9\" height=\"19\" fill=\"#e5e5e5\"/>"),
            "{picture}"
        );
        assert!(
            picture.contains(
                "fill=\"#000000\" textLength=\"9\" lengthAdjust=\"spacingAndGlyphs\" font-weight=\"bold\">R<"
            ),
            "{picture}"
        );
        assert_eq!(picture.matches("<text").count(), picture.matches("</text>").count());
    }
}
