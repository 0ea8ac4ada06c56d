//! Text that is not ours: revealed before anybody sees it.
//!
//! Whatever an agent, a file or a server wrote is held as [`Untrusted`], which cannot be printed. The only
//! way to a screen, a log or a pipe is [`Revealed`], whose characters can neither drive a terminal nor
//! reorder, hide or overlap what stands beside them (screens.md law 3, faults 43 and 44). Stored bytes are
//! never touched.

use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Serialize};
use unicode_width::UnicodeWidthChar;

mod classes;
mod clip;
mod script;
#[cfg(test)]
mod tests;

pub use classes::is_hidden;
pub use clip::{Clipped, cells, clip};
pub use script::{MixedScript, Script, mixed_script_warning};

/// Combining marks allowed on one base character; further ones are written as `<U+0301>`.
///
/// Living scripts stack about four; more is used to paint over neighbouring lines.
pub const MAX_MARKS: usize = 8;

/// Columns between tab stops in [`reveal_lines`].
pub const TAB: usize = 8;

/// Text that came from outside and may not be shown as it is.
///
/// Has neither `Display` nor `AsRef<str>`; `Debug` prints it revealed. Serializes as the plain string, so
/// that what is stored stays what was received.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Untrusted(String);

impl Untrusted {
    /// Takes text from outside, unchanged.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The exact text, for storage, digests and comparison; never for a person's eyes.
    #[must_use]
    pub fn raw(&self) -> &str {
        &self.0
    }

    /// The text as it may be shown on one line.
    #[must_use]
    pub fn reveal(&self) -> Revealed<'_> {
        reveal(&self.0)
    }
}

impl fmt::Debug for Untrusted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Untrusted({:?})", self.reveal().as_str())
    }
}

/// Text that is safe to show: made only by this module.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Revealed<'a> {
    text: Cow<'a, str>,
    hidden: usize,
}

impl<'a> Revealed<'a> {
    /// The text to draw.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// How many characters were not what they looked like and are now written out. Newlines and tabs are
    /// layout and do not count.
    #[must_use]
    pub fn hidden(&self) -> usize {
        self.hidden
    }

    /// The text to draw, still borrowed when nothing had to be revealed.
    #[must_use]
    pub fn into_cow(self) -> Cow<'a, str> {
        self.text
    }

    /// The same text, owned.
    #[must_use]
    pub fn into_owned(self) -> Revealed<'static> {
        Revealed { text: Cow::Owned(self.text.into_owned()), hidden: self.hidden }
    }
}

impl fmt::Display for Revealed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.text)
    }
}

/// Reveals borrowed text for one line: newline and tab become `␊` and `␉`.
///
/// Allocates nothing when there is nothing to reveal. Stable: revealing the result changes nothing.
#[must_use]
pub fn reveal(text: &str) -> Revealed<'_> {
    if is_plain(text) {
        return Revealed { text: Cow::Borrowed(text), hidden: 0 };
    }
    let mut scan = Scan::new();
    let first = text.char_indices().find(|&(_, c)| scan.judge(c) != Verdict::Keep);
    let Some((clean, _)) = first else {
        return Revealed { text: Cow::Borrowed(text), hidden: 0 };
    };
    let (head, tail) = text.split_at(clean);
    let mut writer = Writer::after(head);
    for c in tail.chars() {
        writer.push(c);
    }
    writer.finish()
}

/// Whether a text is nothing but visible ASCII and spaces: one cell a byte, nothing to reveal.
#[must_use]
pub fn is_plain(text: &str) -> bool {
    text.bytes().all(|byte| (b' '..=b'~').contains(&byte))
}

/// Splits at `\n` and reveals each line when it is asked for; tabs become spaces up to the next multiple of
/// [`TAB`] columns. A `\r` before `\n` is shown as `␍`.
pub fn reveal_lines(text: &str) -> impl Iterator<Item = Revealed<'_>> {
    text.split('\n').map(|line| if line.contains('\t') { expand(line) } else { reveal(line) })
}

fn expand(line: &str) -> Revealed<'static> {
    let mut writer = Writer::after("");
    for c in line.chars() {
        if c == '\t' {
            writer.tab();
        } else {
            writer.push(c);
        }
    }
    writer.finish()
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Keep,
    Picture,
    Code,
}

/// Walks text and judges each character by what stands before it.
#[derive(Debug, Clone)]
struct Scan {
    /// Zero-width marks on the current base; full at the start of a line, where there is no base to carry one.
    marks: usize,
}

impl Scan {
    fn new() -> Self {
        Self { marks: MAX_MARKS }
    }

    fn judge(&mut self, c: char) -> Verdict {
        let verdict = match c {
            ' '..='~' => Verdict::Keep,
            '\0'..='\x1f' | '\x7f' => Verdict::Picture,
            _ if is_hidden(c) => Verdict::Code,
            _ if c.width() == Some(0) => {
                self.marks = self.marks.saturating_add(1);
                return if self.marks > MAX_MARKS { Verdict::Code } else { Verdict::Keep };
            }
            _ => Verdict::Keep,
        };
        self.marks = 0;
        verdict
    }
}

/// Builds revealed text and knows the column it has reached.
#[derive(Debug)]
struct Writer {
    out: String,
    scan: Scan,
    hidden: usize,
    column: usize,
}

impl Writer {
    /// Starts behind `head`, in which there is nothing to reveal.
    fn after(head: &str) -> Self {
        let mut writer =
            Self { out: String::with_capacity(head.len() + 16), scan: Scan::new(), hidden: 0, column: 0 };
        for c in head.chars() {
            writer.push(c);
        }
        writer
    }

    fn push(&mut self, c: char) {
        match self.scan.judge(c) {
            Verdict::Keep => self.put(c),
            Verdict::Picture => {
                self.put(classes::picture(c));
                self.hidden += usize::from(c != '\n' && c != '\t');
            }
            Verdict::Code => {
                let code = format!("<U+{:04X}>", u32::from(c));
                self.column += code.len();
                self.out.push_str(&code);
                self.hidden += 1;
            }
        }
    }

    fn put(&mut self, c: char) {
        self.column += c.width().unwrap_or(0);
        self.out.push(c);
    }

    fn tab(&mut self) {
        self.scan.marks = 0;
        for _ in 0..TAB - self.column % TAB {
            self.put(' ');
        }
    }

    fn finish(self) -> Revealed<'static> {
        Revealed { text: Cow::Owned(self.out), hidden: self.hidden }
    }
}
