//! A filter as conditions in SQL: the same rows as `Query::matches` picks, values always bound, never pasted.

use crate::domain::attention::{Reason, Stuck};
use crate::domain::failure::FailureKind;
use crate::domain::query::{Glob, Op, Query, Test};
use crate::domain::task::TaskState;
use crate::store::rows::code;
use rusqlite::types::Value;

/// A statement being written: its text is ours, its values are bound.
#[derive(Debug, Default)]
pub(super) struct Sql {
    pub text: String,
    pub values: Vec<Value>,
}

impl Sql {
    pub(super) fn push(&mut self, text: &str) {
        self.text.push_str(text);
    }

    pub(super) fn bind(&mut self, value: impl Into<Value>) {
        self.text.push('?');
        self.values.push(value.into());
    }
}

/// What a row source calls the columns that depend on whether a row waits.
#[derive(Clone, Copy, Debug)]
pub(super) struct Names {
    /// Since when it waits, or stands.
    pub since: &'static str,
    /// Whether rows of the docket are joined as `d`.
    pub docket: bool,
    /// Whether quarantine entries are joined as `q`.
    pub entries: bool,
}

/// Adds ` AND …` for each term.
pub(super) fn conditions(sql: &mut Sql, query: &Query, names: Names, now: i64, me: &str) {
    for term in &query.terms {
        // A comparison with nothing there is unknown in SQL; here it does not hold, so that its negation does.
        sql.push(if term.negated { " AND NOT coalesce((" } else { " AND coalesce((" });
        condition(sql, &term.what, names, now, me);
        sql.push("), 0)");
    }
    for term in query.terms.iter().filter(|t| !t.negated) {
        anchor(sql, &term.what, names);
    }
}

/// Says again, in the form an index can be used for, that rows are of one trace or one task: what waits may be a
/// million rows, what one trace holds is few.
fn anchor(sql: &mut Sql, test: &Test, names: Names) {
    let (column, globs) = match test {
        Test::Trace(globs) => (" AND t.trace_id = ", globs),
        Test::Task(globs) if !names.entries => (" AND t.task_id = ", globs),
        _ => return,
    };
    // No text at all is what an entry without a trace shows; it is no task's.
    if let [glob] = globs.as_slice()
        && let Some(text) = glob.as_exact().filter(|t| !t.is_empty())
    {
        sql.push(column);
        sql.bind(text.to_owned());
    }
}

fn condition(sql: &mut Sql, test: &Test, names: Names, now: i64, me: &str) {
    match test {
        Test::Text(text) => {
            sql.push("SELECT instr(w.text, ");
            sql.bind(text.to_lowercase());
            sql.push(if names.entries {
                ") > 0 FROM words w WHERE w.item = d.item"
            } else {
                ") > 0 FROM words w WHERE w.item = t.id"
            });
        }
        Test::State(states) => one_of(sql, "t.state", states.iter().map(|s| state_code(s))),
        Test::Reason(reasons) if names.docket => {
            any_of(sql, reasons, &|sql, reason| match Reason::parse(reason) {
                Some(reason) => equals(sql, "d.reason", code(&Reason::ALL, &reason)),
                None => equals(sql, "d.stuck", code(&Stuck::ALL, &Stuck::Quarantined)),
            });
        }
        Test::Reason(_) => sql.push("0"),
        Test::Trace(globs) => matching(sql, "coalesce(t.trace_id, '')", globs),
        Test::Task(globs) if names.entries => matching(sql, "coalesce(t.task_id, q.task_id, '')", globs),
        Test::Task(globs) => matching(sql, "t.task_id", globs),
        Test::Agent(globs) if names.entries => matching(sql, "coalesce(t.agent, q.sender)", globs),
        Test::Agent(globs) => matching(sql, "t.agent", globs),
        Test::Label { key, values } => {
            sql.push("EXISTS (SELECT 1 FROM label l WHERE l.task = t.id AND l.key = ");
            sql.bind(key.clone());
            if !values.is_empty() {
                sql.push(" AND ");
                matching(sql, "l.value", values);
            }
            sql.push(")");
        }
        Test::Age { op, millis } => {
            sql.bind(now);
            sql.push(" - ");
            sql.push(names.since);
            compare(sql, *op, *millis);
        }
        Test::Since(when) => {
            sql.push(names.since);
            compare(sql, Op::AtLeast, when.resolve(now));
        }
        Test::Until(when) => {
            sql.push(names.since);
            compare(sql, Op::AtMost, when.resolve(now));
        }
        Test::Candidates { op, n } => {
            sql.push("coalesce(t.candidates, 0)");
            compare(sql, *op, i64::from(*n));
        }
        Test::Failure(kinds) => one_of(sql, "t.failure", kinds.iter().map(|k| failure_code(k))),
        Test::Mine => {
            sql.push("EXISTS (SELECT 1 FROM json_each(t.assigned) j WHERE j.value = ");
            sql.bind(me.to_owned());
            sql.push(")");
        }
    }
}

fn state_code(word: &str) -> i64 {
    TaskState::parse(word).map_or(-1, |s| code(&TaskState::ALL, &s))
}

fn failure_code(word: &str) -> i64 {
    FailureKind::parse(word).map_or(-1, |k| code(&FailureKind::ALL, &k))
}

fn equals(sql: &mut Sql, column: &str, value: i64) {
    sql.push(column);
    sql.push(" = ");
    sql.bind(value);
}

fn compare(sql: &mut Sql, op: Op, value: i64) {
    sql.push(match op {
        Op::Over => " > ",
        Op::AtLeast => " >= ",
        Op::Under => " < ",
        Op::AtMost => " <= ",
        Op::Exactly => " = ",
    });
    sql.bind(value);
}

fn one_of(sql: &mut Sql, column: &str, codes: impl Iterator<Item = i64>) {
    sql.push(column);
    sql.push(" IN (");
    for (n, code) in codes.enumerate() {
        sql.push(if n == 0 { "" } else { ", " });
        sql.bind(code);
    }
    sql.push(")");
}

fn matching(sql: &mut Sql, column: &str, globs: &[Glob]) {
    any_of(sql, globs, &|sql, glob| {
        sql.push(column);
        match glob.as_exact() {
            Some(text) => {
                sql.push(" = ");
                sql.bind(text.to_owned());
            }
            None => {
                sql.push(" GLOB ");
                sql.bind(pattern(glob));
            }
        }
    });
}

/// The pattern as SQLite's GLOB writes it: what is special there stands in brackets.
fn pattern(glob: &Glob) -> String {
    let mut text = String::new();
    for (n, piece) in glob.pieces().iter().enumerate() {
        if n > 0 {
            text.push('*');
        }
        for c in piece.chars() {
            if matches!(c, '*' | '?' | '[') {
                text.extend(['[', c, ']']);
            } else {
                text.push(c);
            }
        }
    }
    text
}

/// Joins alternatives by OR, halved again and again: the engine bounds how deep an expression may nest, and a list of
/// a thousand values in a row would be a thousand deep.
fn any_of<T>(sql: &mut Sql, all: &[T], write: &impl Fn(&mut Sql, &T)) {
    match all {
        [] => sql.push("0"),
        [one] => write(sql, one),
        _ => {
            let (left, right) = all.split_at(all.len() / 2);
            sql.push("(");
            any_of(sql, left, write);
            sql.push(" OR ");
            any_of(sql, right, write);
            sql.push(")");
        }
    }
}
