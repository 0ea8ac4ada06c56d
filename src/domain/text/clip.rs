//! Text cut to a number of terminal cells, never inside a character.

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

use super::{Revealed, Writer, is_plain};

/// Shown in the last cell when something was left out.
const MORE: &str = "…";

/// The beginning of a text, revealed, within a number of cells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Clipped {
    /// At most the cells asked for; ends in `…` when `more` holds and there is a cell for it. Its `hidden` may
    /// count a few characters beyond the cut, never fewer than are shown.
    pub text: Revealed<'static>,
    /// Something was left out: a way to open it must be offered.
    pub more: bool,
}

/// How many terminal cells a revealed text takes.
#[must_use]
pub fn cells(text: &Revealed<'_>) -> usize {
    let text = text.as_str();
    // Most of what is shown is plain, or was and is cut.
    match text.strip_suffix(MORE) {
        None if is_plain(text) => text.len(),
        Some(kept) if is_plain(kept) => kept.len() + 1,
        _ => text.graphemes(true).map(UnicodeWidthStr::width).sum(),
    }
}

/// The same where all that is looked at is plain, as most text is, at a fraction of the cost.
fn clip_plain(text: &str, width: usize) -> Option<Clipped> {
    // The character after the cut counts: a mark there would belong to the last one that is kept.
    let seen = text.len().min(width.checked_add(1)?);
    text.get(..seen).filter(|beginning| is_plain(beginning))?;
    let (kept, more) = if seen <= width {
        (text.to_owned(), false)
    } else {
        (format!("{}{MORE}", text.get(..width.checked_sub(1)?)?), true)
    };
    Some(Clipped { text: Revealed { text: kept.into(), hidden: 0 }, more })
}

/// Reveals as much of `text` as fits in `width` cells.
///
/// Reads no more of it than that needs, so that a line of 20 MB costs as little as a short one. A wide
/// character or a base with its marks is kept whole or left out.
#[must_use]
pub fn clip(text: &str, width: usize) -> Clipped {
    if let Some(clipped) = clip_plain(text, width) {
        return clipped;
    }
    // One visible cell can take several cells' worth of characters (an emoji and its skin tone), so read ahead.
    let enough = width.saturating_mul(4).saturating_add(16);
    let mut writer = Writer::after("");
    let mut rest = text.chars();
    while writer.column <= enough {
        let Some(c) = rest.next() else { break };
        writer.push(c);
    }
    let unread = rest.next().is_some();
    let whole = writer.finish();
    let fits = whole.as_str();
    if !unread && cells(&whole) <= width {
        return Clipped { text: whole, more: false };
    }
    let room = width.saturating_sub(MORE.width());
    let mut end = 0;
    let mut used = 0;
    for (at, grapheme) in fits.grapheme_indices(true) {
        used += grapheme.width();
        if used > room {
            break;
        }
        end = at + grapheme.len();
    }
    let mut kept = fits.get(..end).unwrap_or_default().to_owned();
    if width > 0 {
        kept.push_str(MORE);
    }
    Clipped { text: Revealed { text: kept.into(), hidden: whole.hidden }, more: true }
}
