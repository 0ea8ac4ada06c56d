//! Prints for people or for programs. Nothing reaches a terminal from here that could drive it or lie: human text is
//! revealed, JSON is written so that every hidden character is a `\u` escape, which loses nothing.

use super::failure::Failure;
use crate::domain::ids::Timestamp;
use crate::domain::text::{Revealed, cells, is_hidden, mixed_script_warning, reveal, reveal_lines};
use serde::Serialize;
use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::{self, BufWriter, IsTerminal, Write};

/// Where a verb's results go.
pub struct Out {
    to: BufWriter<Box<dyn Write>>,
    json: bool,
}

fn written(result: io::Result<()>) -> Result<(), Failure> {
    result.map_err(|e| match e.kind() {
        io::ErrorKind::BrokenPipe => Failure::Pipe,
        _ => Failure::Broken(anyhow::Error::new(e).context("writing the output")),
    })
}

impl Out {
    /// Standard output.
    pub fn stdout(json: bool) -> Self {
        Self::to(Box::new(io::stdout()), json)
    }

    fn to(to: Box<dyn Write>, json: bool) -> Self {
        Out { to: BufWriter::with_capacity(64 << 10, to), json }
    }

    /// Whether programs read it.
    pub fn is_json(&self) -> bool {
        self.json
    }

    /// One value on one line.
    pub fn json(&mut self, value: &(impl Serialize + ?Sized)) -> Result<(), Failure> {
        let text = serde_json::to_string(value).map_err(|e| Failure::Broken(e.into()))?;
        written(writeln!(self.to, "{}", json_safe(&text)))
    }

    /// JSON that is already written, on one line: byte for byte into a pipe or a file, escaped on a terminal.
    pub fn exact(&mut self, json: &[u8]) -> Result<(), Failure> {
        if io::stdout().is_terminal() {
            return written(writeln!(self.to, "{}", json_safe(&String::from_utf8_lossy(json))));
        }
        written(self.to.write_all(json).and_then(|()| self.to.write_all(b"\n")))
    }

    /// One line for people.
    pub fn say(&mut self, line: impl AsRef<str>) -> Result<(), Failure> {
        written(writeln!(self.to, "{}", reveal(line.as_ref()).as_str().trim_end()))
    }

    /// Text of several lines for people, each indented.
    pub fn say_lines(&mut self, indent: &str, text: &str) -> Result<(), Failure> {
        for line in reveal_lines(text) {
            written(writeln!(self.to, "{indent}{line}"))?;
        }
        Ok(())
    }

    /// A page of rows: an object a line for programs, a table of `cells` for people.
    pub fn rows<T: Serialize>(
        &mut self,
        page: &[T],
        cells: impl Fn(&T) -> Vec<String>,
    ) -> Result<(), Failure> {
        if self.is_json() {
            return page.iter().try_for_each(|row| self.json(row));
        }
        self.table(&page.iter().map(cells).collect::<Vec<_>>())
    }

    /// Rows for people, their columns aligned; the last one is as wide as it is.
    pub fn table(&mut self, rows: &[Vec<String>]) -> Result<(), Failure> {
        let rows: Vec<Vec<Revealed<'_>>> =
            rows.iter().map(|row| row.iter().map(|c| reveal(c)).collect()).collect();
        let mut widths: Vec<usize> = Vec::new();
        for row in &rows {
            for (at, cell) in row.iter().enumerate() {
                let width = cells(cell);
                match widths.get_mut(at) {
                    Some(widest) => *widest = width.max(*widest),
                    None => widths.push(width),
                }
            }
        }
        for row in &rows {
            let mut line = String::new();
            for (at, cell) in row.iter().enumerate() {
                line.push_str(cell.as_str());
                if at + 1 < row.len() {
                    let gap = widths.get(at).copied().unwrap_or(0).saturating_sub(cells(cell)) + 2;
                    line.extend(std::iter::repeat_n(' ', gap));
                }
            }
            written(writeln!(self.to, "{}", line.trim_end()))?;
        }
        Ok(())
    }

    /// Sends out what is still kept back.
    pub fn flush(&mut self) -> Result<(), Failure> {
        written(self.to.flush())
    }
}

/// Tells on standard error why a verb failed.
pub fn tell(failure: &Failure, json: bool) {
    let line = match (json, failure.json(), failure.message()) {
        (true, Some(value), _) => json_safe(&value.to_string()).into_owned(),
        (false, _, Some(message)) => {
            let lines: Vec<String> = reveal_lines(&message).map(|l| l.as_str().to_owned()).collect();
            format!("tribunal: {}", lines.join("\n"))
        }
        _ => return,
    };
    note(&line);
}

/// Says something beside the results, on standard error; the text must be safe to show.
pub fn note(line: &str) {
    // Nobody is left to tell where even this fails.
    _ = writeln!(io::stderr(), "{line}");
}

/// JSON text on one line in which no character hides or drives anything. Outside of strings only white space can
/// be a control character, and inside a string an escape means the same as the character.
pub fn json_safe(text: &str) -> Cow<'_, str> {
    let drives = |c: char| c.is_control() || is_hidden(c);
    if !text.contains(drives) {
        return Cow::Borrowed(text);
    }
    let mut safe = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            '\n' | '\r' | '\t' => safe.push(' '),
            c if drives(c) => {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    // Writing into a String cannot fail.
                    _ = write!(safe, "\\u{unit:04x}");
                }
            }
            c => safe.push(c),
        }
    }
    Cow::Owned(safe)
}

/// The name of somebody who is not trusted, or a link; says so where letters of several scripts stand side by side, as
/// in one that imitates another.
pub fn named(name: &str) -> String {
    match mixed_script_warning(name) {
        Some(found) => format!("{name} (mixed scripts! {found})"),
        None => name.to_owned(),
    }
}

/// A count with its noun, in the singular where it is one.
pub fn counted(n: u64, noun: &str) -> String {
    format!("{n} {noun}{}", if n == 1 { "" } else { "s" })
}

/// How long ago, in the largest two units that say something.
pub fn age(since: Timestamp, now: Timestamp) -> String {
    let seconds = now.since(since) / 1000;
    match seconds {
        ..0 => "in the future".into(),
        0..60 => format!("{seconds}s"),
        60..3600 => format!("{}m", seconds / 60),
        3600..86_400 => format!("{}h{:02}m", seconds / 3600, seconds / 60 % 60),
        _ => format!("{}d{:02}h", seconds / 86_400, seconds / 3600 % 24),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_keeps_its_value_and_hides_nothing() {
        let hostile = "a\u{1b}[31m\u{9b}31m\u{202e}\u{200b}\u{e0041}\u{7f}\n\u{0}é漢";
        let text = serde_json::to_string(&hostile).unwrap();
        let safe = json_safe(&text);
        assert!(!safe.contains(|c: char| c.is_control() || is_hidden(c)), "{safe}");
        assert_eq!(serde_json::from_str::<String>(&safe).unwrap(), hostile);
        assert!(safe.contains("é漢"), "what hides nothing stays as it is: {safe}");
    }

    #[test]
    fn pretty_json_becomes_one_line() {
        assert_eq!(json_safe("{\n\t\"a\": 1\r\n}"), "{  \"a\": 1  }");
    }

    #[test]
    fn counts() {
        assert_eq!(counted(1, "message"), "1 message");
        assert_eq!(counted(0, "message"), "0 messages");
        assert_eq!(counted(2, "message"), "2 messages");
    }

    #[test]
    fn ages() {
        for (seconds, shown) in
            [(0, "0s"), (59, "59s"), (60, "1m"), (3600, "1h00m"), (90_000, "1d01h"), (-1, "in the future")]
        {
            assert_eq!(age(Timestamp(0), Timestamp(seconds * 1000)), shown);
        }
    }
}
