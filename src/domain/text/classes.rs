//! Which characters may not be shown as they are.

/// Code points, first to last, that are invisible, reorder text, or have no agreed meaning. Sorted.
///
/// From the Unicode Character Database: general categories Cc (C1 only; C0 has pictures), Cf, Co, Zl, Zp, the
/// noncharacters, and all of `Default_Ignorable_Code_Point`, which adds fillers and variation selectors. A
/// variation selector or a joiner is revealed inside emoji too: runs of them carry hidden messages.
const HIDDEN: &[(u32, u32)] = &[
    (0x0080, 0x009F),    // C1 controls
    (0x00AD, 0x00AD),    // soft hyphen
    (0x034F, 0x034F),    // combining grapheme joiner
    (0x0600, 0x0605),    // Arabic number signs
    (0x061C, 0x061C),    // Arabic letter mark
    (0x06DD, 0x06DD),    // Arabic end of ayah
    (0x070F, 0x070F),    // Syriac abbreviation mark
    (0x0890, 0x0891),    // Arabic currency marks above
    (0x08E2, 0x08E2),    // Arabic disputed end of ayah
    (0x115F, 0x1160),    // Hangul fillers
    (0x17B4, 0x17B5),    // Khmer inherent vowels
    (0x180B, 0x180F),    // Mongolian variation selectors and vowel separator
    (0x200B, 0x200F),    // zero width, joiners, direction marks
    (0x2028, 0x202E),    // line and paragraph separators, bidi embeddings and overrides
    (0x2060, 0x206F),    // word joiner, invisible operators, bidi isolates, deprecated format characters
    (0x3164, 0x3164),    // Hangul filler
    (0xE000, 0xF8FF),    // private use
    (0xFDD0, 0xFDEF),    // noncharacters
    (0xFE00, 0xFE0F),    // variation selectors
    (0xFEFF, 0xFEFF),    // byte order mark
    (0xFFA0, 0xFFA0),    // halfwidth Hangul filler
    (0xFFF0, 0xFFFB),    // unassigned ignorables, interlinear annotation
    (0x110BD, 0x110BD),  // Kaithi number sign
    (0x110CD, 0x110CD),  // Kaithi number sign above
    (0x13430, 0x1343F),  // Egyptian hieroglyph format controls
    (0x1BCA0, 0x1BCA3),  // shorthand format controls
    (0x1D173, 0x1D17A),  // musical format controls
    (0xE0000, 0xE0FFF),  // tags, variation selectors supplement
    (0xF0000, 0x10FFFF), // private use planes
];

/// Whether a character above C0 has to be written out as its code point.
#[must_use]
pub fn is_hidden(c: char) -> bool {
    let code = u32::from(c);
    if code < 0x80 {
        return false;
    }
    if code & 0xFFFE == 0xFFFE {
        return true;
    }
    HIDDEN
        .binary_search_by(|&(first, last)| {
            if last < code {
                std::cmp::Ordering::Less
            } else if first > code {
                std::cmp::Ordering::Greater
            } else {
                std::cmp::Ordering::Equal
            }
        })
        .is_ok()
}

/// The control picture of a C0 control or DEL: `␛` for ESC.
pub(super) fn picture(c: char) -> char {
    let code = if c == '\x7f' { 0x2421 } else { 0x2400 + u32::from(c) };
    char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER)
}
