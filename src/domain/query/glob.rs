//! Patterns in which `*` stands for any text.

/// A pattern: pieces of literal text with any text between them. Case matters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Glob {
    /// Never empty; one piece means the exact text.
    pieces: Vec<String>,
}

impl Glob {
    /// The exact text, in which `*` is an ordinary character.
    #[must_use]
    pub fn exact(text: impl Into<String>) -> Self {
        Self { pieces: vec![text.into()] }
    }

    /// A pattern from its literal pieces, with any text between each two: `["a", ""]` is `a*`.
    ///
    /// Neighbouring stars count as one; no pieces at all is the empty text.
    #[must_use]
    pub fn from_pieces(pieces: impl IntoIterator<Item = String>) -> Self {
        let mut all: Vec<String> = pieces.into_iter().collect();
        let last = all.len().saturating_sub(1);
        let mut at = 0;
        all.retain(|piece| {
            let keep = at == 0 || at == last || !piece.is_empty();
            at += 1;
            keep
        });
        if all.is_empty() {
            all.push(String::new());
        }
        Self { pieces: all }
    }

    /// The literal pieces between the stars.
    #[must_use]
    pub fn pieces(&self) -> &[String] {
        &self.pieces
    }

    /// The text, if the pattern is one exact text.
    #[must_use]
    pub fn as_exact(&self) -> Option<&str> {
        match self.pieces.as_slice() {
            [one] => Some(one),
            _ => None,
        }
    }

    /// Whether `text` fits. Linear in the text for each piece.
    #[must_use]
    pub fn matches(&self, text: &str) -> bool {
        let [first, middle @ .., last] = self.pieces.as_slice() else {
            return self.as_exact() == Some(text);
        };
        let Some(mut rest) = text.strip_prefix(first.as_str()) else { return false };
        for piece in middle {
            let Some((_, after)) = rest.split_once(piece.as_str()) else { return false };
            rest = after;
        }
        rest.ends_with(last.as_str())
    }
}
