//! One value of a row: its JSON text from where the sides begin to differ, what changed inside it marked.

use ratatui::style::{Modifier, Style};
use ratatui::text::Span;

use super::super::ink;
use crate::domain::diff::{Diff, Kind, Row, Shape, Side, Tag, inline};
use crate::tui::theme::{Role, Theme};

/// Bytes shown in front of the first difference.
const BEFORE: usize = 24;
/// Bytes that are compared at once while the first difference is looked for.
const BLOCK: usize = 4096;

/// A part of a value's text.
struct Part {
    text: String,
    /// Whether something stands in front of it, and behind it.
    before: bool,
    more: bool,
}

/// How many lines the value takes, at most `most`.
pub(super) fn lines_of(diff: &Diff, row: &Row, side: Side, room: usize, most: usize) -> usize {
    if most == 1 || diff.value(row, side).is_none_or(|value| value.len() <= room / 4) {
        return 1;
    }
    lines(diff, row, side, room, most, 0, &Theme::bare()).len()
}

/// The lines of the value: at most `most` of `room` cells.
pub(super) fn lines(
    diff: &Diff,
    row: &Row,
    side: Side,
    room: usize,
    most: usize,
    left: usize,
    theme: &Theme,
) -> Vec<Vec<Span<'static>>> {
    let shape = diff.shape(row, side);
    let muted = theme.style(Role::Muted);
    let chars = room.saturating_mul(most);
    let Some(part) = part(diff, row, side, left, chars) else {
        return vec![ink::fit(vec![Span::styled("(missing)", muted)], room, false)];
    };
    let own = match row.kind {
        Kind::Added => theme.style(Role::Added),
        Kind::Removed => theme.style(Role::Removed),
        _ => Style::new(),
    };
    let mut text = Vec::new();
    if part.before {
        text.push(Span::styled(ink::MORE, muted));
    }
    let strings = [Side::A, Side::B].into_iter().all(|side| diff.shape(row, side) == Shape::String);
    if row.kind == Kind::Changed && strings {
        text.extend(changed(diff, row, side, &part.text, left, chars, theme));
    } else {
        text.extend(ink::spans(&part.text, own, theme));
    }
    let empty = matches!(shape, Shape::EmptyString | Shape::EmptyArray | Shape::EmptyObject);
    let says_itself = matches!(shape, Shape::Null | Shape::Boolean);
    if empty || (kinds_differ(diff, row) && !says_itself) {
        text.push(Span::styled(format!(" ({})", shape.word()), muted));
    }
    if most == 1 { vec![ink::fit(text, room, part.more)] } else { ink::wrap(text, room, most, part.more) }
}

/// Whether the sides hold different kinds of value, which their texts alone may hide: `1` and `"1"`.
fn kinds_differ(diff: &Diff, row: &Row) -> bool {
    let (a, b) = (diff.shape(row, Side::A), diff.shape(row, Side::B));
    row.kind == Kind::Changed && a != b
}

/// Up to `chars` characters of the value, from where the difference begins and `left` further.
fn part(diff: &Diff, row: &Row, side: Side, left: usize, chars: usize) -> Option<Part> {
    let value = diff.value(row, side)?;
    let start = start(diff, row, chars);
    let start = start.min(value.len());
    let from = value.get(start..).unwrap_or_default();
    // Enough for every character, however it is written, and no more.
    let window = from.get(..chars.saturating_add(left).saturating_mul(6).min(from.len())).unwrap_or(from);
    let window = String::from_utf8_lossy(window);
    if start > 0 {
        let window = window.trim_end_matches('\u{fffd}');
        let text: String = window.chars().skip(left).take(chars).collect();
        let more = window.len() < from.len() || window.chars().nth(left.saturating_add(chars)).is_some();
        return Some(Part { text, before: true, more });
    }
    let excerpt = diff.text(row, side, chars.saturating_add(left))?;
    let text: String = excerpt.text.chars().skip(left).collect();
    Some(Part { text, before: left > 0, more: excerpt.more })
}

/// Where the text of both sides is shown from: 0, or a little in front of their first difference where that
/// would be out of sight.
fn start(diff: &Diff, row: &Row, chars: usize) -> usize {
    let (Some(a), Some(b)) = (diff.value(row, Side::A), diff.value(row, Side::B)) else { return 0 };
    let strings = a.first() == Some(&b'"') && b.first() == Some(&b'"');
    if row.kind != Kind::Changed || !strings {
        return 0;
    }
    let blocks = a.chunks(BLOCK).zip(b.chunks(BLOCK)).take_while(|(a, b)| a == b).count();
    let from = blocks.saturating_mul(BLOCK);
    let rest_a = a.get(from..).unwrap_or_default();
    let rest_b = b.get(from..).unwrap_or_default();
    let same = rest_a.iter().zip(rest_b).take_while(|(a, b)| a == b).count();
    let first = from.saturating_add(same);
    if first.saturating_add(BEFORE) < chars {
        return 0;
    }
    let mut start = first.saturating_sub(BEFORE);
    // Not inside a character, and not inside an escape.
    while start > 0 && a.get(start).is_some_and(|byte| byte & 0xC0 == 0x80) {
        start -= 1;
    }
    let near = start.saturating_sub(12);
    if let Some(at) = a.get(near..start).and_then(|text| text.iter().position(|byte| *byte == b'\\')) {
        start = near + at;
    }
    start
}

/// What changed inside a string. Without colours it stands between brackets.
fn changed(
    diff: &Diff,
    row: &Row,
    side: Side,
    text: &str,
    left: usize,
    chars: usize,
    theme: &Theme,
) -> Vec<Span<'static>> {
    let other = if side == Side::A { Side::B } else { Side::A };
    let other = part(diff, row, other, left, chars).map(|part| part.text).unwrap_or_default();
    let pieces = if side == Side::A { inline(text, &other) } else { inline(&other, text) };
    let (role, open, close) =
        if side == Side::A { (Role::Removed, "[-", "-]") } else { (Role::Added, "{+", "+}") };
    let style = theme.style(role).add_modifier(Modifier::UNDERLINED);
    let bare = theme.style(Role::Changed).fg.is_none();
    let mut runs: Vec<(bool, std::ops::Range<usize>)> = Vec::new();
    for (tag, a, b) in pieces {
        let range = if side == Side::A { a } else { b };
        let blank = text.get(range.clone()).is_some_and(|piece| piece.chars().all(char::is_whitespace));
        // A blank between two changes belongs to them.
        let differs = tag != Tag::Equal || (blank && runs.last().is_some_and(|(differs, _)| *differs));
        match runs.last_mut() {
            Some((before, run)) if *before == differs => run.end = range.end,
            _ if range.is_empty() => {}
            _ => runs.push((differs, range)),
        }
    }
    let mut out = Vec::new();
    for (differs, range) in runs {
        let piece = text.get(range).unwrap_or_default();
        if !differs {
            out.extend(ink::spans(piece, Style::new(), theme));
            continue;
        }
        if bare {
            out.push(Span::styled(open, style));
        }
        out.extend(ink::spans(piece, style, theme));
        if bare {
            out.push(Span::styled(close, style));
        }
    }
    out
}
