//! The canonical way to write a filter: parses to the same terms.

use std::fmt;

use super::time::{show_duration, show_when};
use super::{Glob, Op, Query, Term, Test};

impl fmt::Display for Query {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, term) in self.terms.iter().enumerate() {
            if at > 0 {
                f.write_str(" ")?;
            }
            write!(f, "{term}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Term {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.negated {
            f.write_str("-")?;
        }
        write!(f, "{}", self.what)
    }
}

impl fmt::Display for Test {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) if text == "mine" => f.write_str("\"mine\""),
            Self::Text(text) => f.write_str(&quoted(text)),
            Self::State(states) => write!(f, "state:{}", states.join(",")),
            Self::Reason(reasons) => write!(f, "reason:{}", reasons.join(",")),
            Self::Trace(globs) => write!(f, "trace:{}", list(globs)),
            Self::Task(globs) => write!(f, "task:{}", list(globs)),
            Self::Agent(globs) => write!(f, "agent:{}", list(globs)),
            Self::Label { key, values } if values.is_empty() => write!(f, "label:{}", quoted(key)),
            Self::Label { key, values } => write!(f, "label:{}={}", quoted(key), list(values)),
            Self::Age { op, millis } => write!(f, "age{op}{}", show_duration(*millis)),
            Self::Since(when) => write!(f, "since:{}", show_when(*when)),
            Self::Until(when) => write!(f, "until:{}", show_when(*when)),
            Self::Candidates { op, n } => write!(f, "candidates{op}{n}"),
            Self::Failure(kinds) => write!(f, "failure:{}", kinds.join(",")),
            Self::Mine => f.write_str("mine"),
        }
    }
}

impl fmt::Display for Op {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Over => ">",
            Self::AtLeast => ">=",
            Self::Under => "<",
            Self::AtMost => "<=",
            Self::Exactly => "=",
        })
    }
}

impl fmt::Display for Glob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.as_exact() == Some("") {
            return f.write_str("\"\"");
        }
        for (at, piece) in self.pieces().iter().enumerate() {
            if at > 0 {
                f.write_str("*")?;
            }
            if !piece.is_empty() {
                f.write_str(&quoted(piece))?;
            }
        }
        Ok(())
    }
}

fn list(globs: &[Glob]) -> String {
    globs.iter().map(Glob::to_string).collect::<Vec<_>>().join(",")
}

/// The text, in quotes unless it means the same without.
fn quoted(text: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "_-./@+#".contains(c);
    if !text.is_empty() && !text.starts_with('-') && text.chars().all(plain) {
        return text.to_owned();
    }
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}
