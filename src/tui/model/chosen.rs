//! Which columns of the docket a person chose to see, and how the choice is written down.

/// The columns that can be left out, by their headings, with what stands in them. The task is always there.
pub const COLUMNS: [(&str, &str); 7] = [
    ("why", "why it waits"),
    ("asks", "what it asks"),
    ("age", "for how long it waits"),
    ("deadline", "when it must be done by"),
    ("prio", "its priority, where it is not 0"),
    ("trace", "the trace it is part of"),
    ("worker", "who has it"),
];

/// The first line of the file.
const HEAD: &str = "docket columns 1";
/// The most bytes of the file.
pub const LIMIT: usize = 1024;

/// The columns to show; all of them where nothing was chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Chosen {
    hidden: [bool; COLUMNS.len()],
}

impl Chosen {
    /// Whether the column with this heading is to be shown.
    pub fn shows(&self, title: &str) -> bool {
        !COLUMNS.iter().zip(self.hidden).any(|((name, _), hidden)| hidden && *name == title)
    }

    /// Shows the column at this place of [`COLUMNS`], or no longer.
    pub fn toggle(&mut self, at: usize) {
        if let Some(hidden) = self.hidden.get_mut(at) {
            *hidden = !*hidden;
        }
    }

    /// As it is kept: a line of what it is, then the shown columns, a line each.
    pub fn to_text(self) -> String {
        let shown = COLUMNS.iter().map(|(name, _)| *name).filter(|name| self.shows(name));
        std::iter::once(HEAD).chain(shown).map(|line| format!("{line}\n")).collect()
    }

    /// Reads what was kept. The file may be anybody's.
    ///
    /// # Errors
    /// What is wrong with it, a sentence fragment without any of its text.
    pub fn parse(bytes: &[u8]) -> Result<Chosen, &'static str> {
        if bytes.len() > LIMIT {
            return Err("it is too long");
        }
        let text = std::str::from_utf8(bytes).map_err(|_| "it is no text")?;
        let mut lines = text.lines();
        if lines.next() != Some(HEAD) {
            return Err("it is no choice of columns");
        }
        let mut chosen = Chosen { hidden: [true; COLUMNS.len()] };
        for line in lines {
            let at =
                COLUMNS.iter().position(|(name, _)| *name == line).ok_or("it names an unknown column")?;
            match chosen.hidden.get_mut(at) {
                Some(hidden) if *hidden => *hidden = false,
                _ => return Err("it names a column twice"),
            }
        }
        Ok(chosen)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_choice_comes_back_as_it_was_kept() {
        for bits in 0..1_u32 << COLUMNS.len() {
            let mut chosen = Chosen::default();
            (0..COLUMNS.len()).filter(|at| bits >> at & 1 == 1).for_each(|at| chosen.toggle(at));
            assert_eq!(Chosen::parse(chosen.to_text().as_bytes()), Ok(chosen));
        }
        let mut chosen = Chosen::default();
        (0..4).for_each(|at| chosen.toggle(at));
        assert_eq!(chosen.to_text(), "docket columns 1\nprio\ntrace\nworker\n");
        assert!(chosen.shows("task") && chosen.shows("trace") && !chosen.shows("age"));
    }

    #[test]
    fn what_is_damaged_is_told() {
        let long = vec![b'x'; LIMIT + 1];
        for (bytes, why) in [
            (&b""[..], "it is no choice of columns"),
            (b"docket columns 2\nage\n", "it is no choice of columns"),
            (b"docket columns 1\nage\nag", "it names an unknown column"),
            (b"docket columns 1\nage\nage\n", "it names a column twice"),
            (b"docket columns 1\n\xff\n", "it is no text"),
            (&long, "it is too long"),
        ] {
            assert_eq!(Chosen::parse(bytes), Err(why));
        }
    }
}
