//! Words that mix scripts to look like other words.

use std::fmt;

use super::clip;

/// A script whose letters are mistaken for each other's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Script {
    /// Latin.
    Latin,
    /// Cyrillic.
    Cyrillic,
    /// Greek letters that look Latin; `µ`, `Ω`, `Δ` and their like are units and symbols, not disguises.
    Greek,
}

impl Script {
    fn name(self) -> &'static str {
        match self {
            Self::Latin => "Latin",
            Self::Cyrillic => "Cyrillic",
            Self::Greek => "Greek",
        }
    }

    fn of(c: char) -> Option<Self> {
        match c {
            'A'..='Z' | 'a'..='z' | '\u{C0}'..='\u{D6}' | '\u{D8}'..='\u{F6}' | '\u{F8}'..='\u{24F}' => {
                Some(Self::Latin)
            }
            '\u{1E00}'..='\u{1EFF}' | '\u{2C60}'..='\u{2C7F}' | '\u{A722}'..='\u{A7FF}' => Some(Self::Latin),
            '\u{FF21}'..='\u{FF3A}' | '\u{FF41}'..='\u{FF5A}' => Some(Self::Latin),
            '\u{400}'..='\u{52F}'
            | '\u{1C80}'..='\u{1C8F}'
            | '\u{2DE0}'..='\u{2DFF}'
            | '\u{A640}'..='\u{A69F}' => Some(Self::Cyrillic),
            'Α' | 'Β' | 'Ε' | 'Ζ' | 'Η' | 'Ι' | 'Κ' | 'Μ' | 'Ν' | 'Ο' | 'Ρ' | 'Τ' | 'Υ' | 'Χ' => {
                Some(Self::Greek)
            }
            'α' | 'γ' | 'ι' | 'κ' | 'ν' | 'ο' | 'ρ' | 'τ' | 'υ' | 'χ' | 'ω' => Some(Self::Greek),
            'ά' | 'ί' | 'ό' | 'ύ' | 'ώ' | 'ϊ' | 'ϋ' | 'ϲ' | 'ϳ' | 'Ϲ' | 'Ϻ' => Some(Self::Greek),
            _ => None,
        }
    }
}

/// A word that is not made of one script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MixedScript {
    /// The word, revealed and at most 40 cells.
    pub word: String,
    /// The script its first letter belongs to.
    pub first: Script,
    /// The script that does not belong.
    pub other: Script,
    /// The first letter that does not belong.
    pub letter: char,
}

impl fmt::Display for MixedScript {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { word, first, other, letter } = self;
        let (code, first, other) = (u32::from(*letter), first.name(), other.name());
        write!(f, "\"{word}\" mixes {first} and {other} letters: {letter} is U+{code:04X}")
    }
}

/// The first word in which Latin meets Cyrillic or Greek letters, if there is one.
///
/// A word is a run of letters, digits and `_`.
#[must_use]
pub fn mixed_script_warning(text: &str) -> Option<MixedScript> {
    if text.is_ascii() {
        return None;
    }
    text.split(|c: char| !c.is_alphanumeric() && c != '_').find_map(mixed_word)
}

fn mixed_word(word: &str) -> Option<MixedScript> {
    if word.is_ascii() {
        return None;
    }
    let mut scripts = word.chars().filter_map(|c| Script::of(c).map(|script| (c, script)));
    let (_, first) = scripts.next()?;
    let (letter, other) = scripts.find(|&(_, script)| script != first)?;
    let word = clip(word, 40).text.into_cow().into_owned();
    Some(MixedScript { word, first, other, letter })
}
