//! Anybody's text as styled spans: revealed, what was hidden marked, cut or wrapped to cells.

use ratatui::style::Style;
use ratatui::text::{Line, Span};
use unicode_segmentation::UnicodeSegmentation as _;
use unicode_width::UnicodeWidthStr as _;

use crate::domain::text::{is_hidden, is_plain, mixed_script_warning, reveal};
use crate::tui::theme::{Role, Theme};

/// Shown where something was left out.
pub const MORE: &str = "…";

/// Text as spans of one style, its hidden characters written out in the style for them.
pub fn spans(text: &str, style: Style, theme: &Theme) -> Vec<Span<'static>> {
    let odd = |char: char| (char.is_control() && !matches!(char, '\n' | '\t')) || is_hidden(char);
    let mut out = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let hidden = odd(first);
        let end = rest.find(|char| odd(char) != hidden).unwrap_or(rest.len());
        let (run, tail) = rest.split_at_checked(end).unwrap_or((rest, ""));
        let style = if hidden { style.patch(theme.style(Role::Hidden)) } else { style };
        out.push(Span::styled(reveal(run).to_string(), style));
        rest = tail;
    }
    out
}

/// The name of somebody who is not trusted; says so where it mixes scripts, as one that imitates another does.
pub fn name(text: &str, theme: &Theme) -> Vec<Span<'static>> {
    let mut name = spans(text, theme.style(Role::Untrusted), theme);
    if mixed_script_warning(text).is_some() {
        name.push(Span::styled(MIXED, theme.style(Role::Danger)));
    }
    name
}

/// Said of a name in which letters of several scripts stand side by side.
pub const MIXED: &str = " (mixed scripts!)";

/// The cells that spans take.
pub fn width(spans: &[Span<'_>]) -> usize {
    let cells = |text: &str| match is_plain(text) {
        true => text.len(),
        false => text.graphemes(true).map(|grapheme| grapheme.width()).sum(),
    };
    spans.iter().map(|span| cells(&span.content)).sum()
}

/// As much as fits in `room` cells; ends in `…` when something was left out here, or `more` says so.
pub fn fit(spans: Vec<Span<'static>>, room: usize, more: bool) -> Vec<Span<'static>> {
    if !more && width(&spans) <= room {
        return spans;
    }
    let mut rows = wrap_some(spans, room.saturating_sub(1), 1, false);
    let mut row = rows.pop().unwrap_or_default();
    if room > 0 {
        row.push(Span::raw(MORE));
    }
    row
}

/// Wrapped at cells into lines of at most `room` cells; at most `most` of them, the last marked where there is more.
pub fn wrap(spans: Vec<Span<'static>>, room: usize, most: usize, more: bool) -> Vec<Vec<Span<'static>>> {
    let mut rows = wrap_some(spans, room, most.saturating_add(1), false);
    mark_cut(&mut rows, room, most, more);
    rows
}

/// The same, broken behind blanks where there is one near the end of a line.
pub fn wrap_words(
    spans: Vec<Span<'static>>,
    room: usize,
    most: usize,
    more: bool,
) -> Vec<Vec<Span<'static>>> {
    let mut rows = wrap_some(spans, room, most.saturating_add(1), true);
    mark_cut(&mut rows, room, most, more);
    rows
}

fn mark_cut(rows: &mut Vec<Vec<Span<'static>>>, room: usize, most: usize, more: bool) {
    let cut = rows.len() > most;
    rows.truncate(most);
    if (cut || more)
        && let Some(last) = rows.pop()
    {
        rows.push(fit(last, room, true));
    }
}

/// A blank this near to the end of a line is where it is broken.
const NEAR: usize = 20;

fn wrap_some(spans: Vec<Span<'static>>, room: usize, most: usize, words: bool) -> Vec<Vec<Span<'static>>> {
    let mut rows: Vec<Vec<Span<'static>>> = Vec::new();
    let mut row: Vec<(&str, Style)> = Vec::new();
    let mut used = 0;
    let graphemes = spans.iter().flat_map(|span| span.content.graphemes(true).map(|text| (text, span.style)));
    for (text, style) in graphemes {
        let cells = text.width();
        if used + cells > room && !row.is_empty() {
            let blank = row.iter().rposition(|(text, _)| *text == " ").map(|at| at + 1);
            let at = blank.filter(|at| words && *at < row.len() && row.len() - at <= NEAR.min(room / 2));
            let rest = row.split_off(at.unwrap_or(row.len()));
            rows.push(joined(&row));
            if rows.len() >= most {
                return rows;
            }
            row = rest;
            used = row.iter().map(|(text, _)| text.width()).sum();
        }
        // What is wider than the whole line cannot be shown.
        if cells <= room {
            used += cells;
            row.push((text, style));
        }
    }
    rows.push(joined(&row));
    rows
}

/// Neighbours of one style as one span.
fn joined(row: &[(&str, Style)]) -> Vec<Span<'static>> {
    let mut out: Vec<Span<'static>> = Vec::new();
    for (text, style) in row {
        match out.last_mut().filter(|last| last.style == *style) {
            Some(last) => last.content.to_mut().push_str(text),
            None => out.push(Span::styled((*text).to_owned(), *style)),
        }
    }
    out
}

/// One line of `name  text`, the text anybody's, cut to `room` cells.
pub fn labelled(name: &str, text: &str, style: Style, room: usize, theme: &Theme) -> Line<'static> {
    let mut line = vec![Span::styled(format!("{name}  "), theme.style(Role::Muted))];
    line.extend(spans(text, style, theme));
    Line::from(fit(line, room, false))
}

/// Words of ours and of others in paragraphs of at most `room` cells, broken at blanks where there are any.
pub fn paragraph(text: &str, style: Style, room: usize, most: usize, theme: &Theme) -> Vec<Line<'static>> {
    let mut out: Vec<Line<'static>> = Vec::new();
    for line in text.split('\n') {
        let mut row: Vec<Span<'static>> = Vec::new();
        let mut used = 0;
        for word in line.split_inclusive(' ') {
            if out.len() >= most {
                break;
            }
            let word = spans(word, style, theme);
            let bare: usize = width(&word);
            if !row.is_empty() && used + bare > room.saturating_add(1) {
                out.push(Line::from(std::mem::take(&mut row)));
                used = 0;
            }
            if bare > room {
                let mut pieces = wrap(word, room, most, false);
                row = pieces.pop().unwrap_or_default();
                used = width(&row);
                out.extend(pieces.into_iter().map(Line::from));
            } else {
                row.extend(word);
                used += bare;
            }
        }
        out.push(Line::from(row));
    }
    if out.len() > most {
        out.truncate(most);
        if let Some(last) = out.pop() {
            out.push(Line::from(fit(last.spans, room, true)));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(rows: &[Vec<Span<'_>>]) -> Vec<String> {
        rows.iter().map(|row| row.iter().map(|span| span.content.as_ref()).collect()).collect()
    }

    #[test]
    fn what_is_hidden_is_written_out_and_nothing_is_cut_without_a_mark() {
        let theme = Theme::embedded("mono").unwrap();
        let row = spans("a\u{202e}b\x1b[2J界界", Style::new(), &theme);
        assert_eq!(text(&[fit(row.clone(), 40, false)]), ["a<U+202E>b␛[2J界界"]);
        assert_eq!(text(&[fit(row.clone(), 15, false)]), ["a<U+202E>b␛[2J…"]);
        assert_eq!(text(&[fit(row.clone(), 0, false)]), [""]);
        assert_eq!(text(&wrap(row.clone(), 8, 9, false)), ["a<U+202E", ">b␛[2J界", "界"]);
        assert_eq!(text(&wrap(row, 8, 2, false)), ["a<U+202E", ">b␛[2J…"]);
    }

    #[test]
    fn words_stay_whole_where_a_blank_is_near_the_end() {
        let theme = Theme::embedded("mono").unwrap();
        let row = |text| spans(text, Style::new(), &theme);
        assert_eq!(
            text(&wrap_words(row("supplier risk is material"), 16, 9, false)),
            ["supplier risk ", "is material"]
        );
        assert_eq!(
            text(&wrap_words(row("supplier concentration"), 12, 9, false)),
            ["supplier ", "concentratio", "n"]
        );
        assert_eq!(
            text(&wrap_words(row("a supplier concentrate"), 14, 2, false)),
            ["a supplier ", "concentrate"]
        );
        assert_eq!(text(&wrap_words(row("these are all words"), 12, 9, false)), ["these are ", "all words"]);
    }

    #[test]
    fn paragraphs_break_at_blanks_and_say_when_they_are_cut() {
        let theme = Theme::embedded("mono").unwrap();
        let lines = |most| {
            paragraph("which region do you mean\nsay it", Style::new(), 12, most, &theme)
                .iter()
                .map(ToString::to_string)
                .collect::<Vec<_>>()
        };
        assert_eq!(lines(9), ["which region ", "do you mean", "say it"]);
        assert_eq!(lines(2), ["which region ", "do you mean…"]);
    }
}
