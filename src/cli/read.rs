//! `list` and `diff`: the docket, and what differs between two sides.

use super::failure::Failure;
use super::output::{Out, age, counted, note};
use super::question::{number, one_of};
use crate::coordinator::{Coordinator, ListRequest, Order, OrderKey, Row, Scope, Shown};
use crate::domain::diff::{self, Diff, DiffError, JsonRow, Kind, Limits, Side};
use crate::domain::ids::{TaskId, Timestamp};
use crate::domain::query::{Query, QueryError, Test};
use crate::domain::shell;
use clap::Args;
use serde::Serialize;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

#[derive(Debug, Args)]
#[command(after_help = keys())]
pub struct List {
    /// Which tasks, in the filter language: `state:needs_review age>1h label:team=pay`; a state widens it to all tasks
    #[arg(value_name = "FILTER")]
    filter: Vec<String>,
    /// How many rows at most
    #[arg(long, default_value_t = 100, value_name = "N")]
    limit: usize,
    /// Go on after the row with this cursor
    #[arg(long, value_name = "CURSOR")]
    after: Option<String>,
    /// Every task, not only those that wait
    #[arg(long)]
    all: bool,
    /// Tasks that a person decided, instead of those that wait
    #[arg(long, conflicts_with = "all")]
    decided: bool,
}

#[derive(Debug, Args)]
pub struct Compare {
    /// The task
    task: String,
    /// Two sides, by arrival or message id; the first two of the conflict where left out
    #[arg(value_name = "SIDE", num_args = 2)]
    sides: Vec<String>,
}

/// Rows asked for at once.
const PAGE: usize = 500;

/// Characters of a value that are shown to people.
const SHOWN: usize = 400;

/// How a term that looks like an option is written.
pub const DASH: &str = "A filter that begins with - comes last, after --: `tribunal list -- -reason:stuck`";

/// What a filter may say, for the help.
fn keys() -> String {
    let names = |words: Vec<&str>| words.join(" ");
    format!(
        "Filter keys (a word without a key is looked for in task, goal, question and trace, in any case of letters; \
         a task, trace, agent or label as it is written; - before a term negates it; a comma means or; stuck holds quarantined, too):\n  \
         reason:      {}\n  \
         state:       {}\n  \
         failure:     {}\n  \
         trace: task: agent:   a name, `*` for any part of it\n  \
         label:KEY=VALUE       a label\n  \
         age>2h  since:2026-01-31  until:2d  candidates>1  mine\n\
         {DASH}",
        names(Query::reasons().collect()),
        names(Query::states().collect()),
        names(Query::failures().collect()),
    )
}

/// Where nothing was found for a word that is the name of a reason or a state: the term that was meant.
fn meant(query: &Query) -> Option<String> {
    let mut words = query.terms.iter().filter_map(|t| match &t.what {
        Test::Text(word) if !t.negated => Some(word.as_str()),
        _ => None,
    });
    words.find_map(|word| {
        let reason = Query::reasons().find(|r| *r == word).map(|r| format!("reason:{r}"));
        reason.or_else(|| Query::states().find(|s| *s == word).map(|s| format!("state:{s}")))
    })
}

/// All that is wrong with a filter.
pub fn wrong_filter(errors: &[QueryError]) -> Failure {
    let list: Vec<String> = errors.iter().map(|e| e.to_string()).collect();
    Failure::Usage(format!("the filter: {}", list.join("; ")))
}

fn request(scope: Scope, query: &Query, after: Option<String>, limit: usize) -> ListRequest {
    let order = Order { key: OrderKey::Since, descending: false };
    ListRequest { scope, query: query.clone(), order, after, backwards: false, limit }
}

impl List {
    pub async fn run(self, c: &dyn Coordinator, out: &mut Out) -> Result<(), Failure> {
        let text = self.filter.join(" ");
        let query = Query::parse(&text).map_err(|errors| wrong_filter(&errors))?;
        let mut left = self.limit;
        let mut after = self.after.clone();
        while left > 0 {
            let page = c.list(request(self.scope(), &query, after.clone(), left.min(PAGE))).await?;
            left = left.saturating_sub(page.rows.len());
            print(&page.rows, out)?;
            if page.rows.is_empty() && after.is_none() && !out.is_json() {
                self.hint(c, &query).await?;
            }
            match page.rows.last() {
                Some(last) if page.more => after = Some(last.cursor.clone()),
                _ => return Ok(()),
            }
        }
        if !out.is_json()
            && let Some(cursor) = after
        {
            out.say(format!("there are more: --after {cursor}"))?;
        }
        Ok(())
    }

    fn scope(&self) -> Scope {
        match (self.decided, self.all) {
            (true, _) => Scope::Decided,
            (false, true) => Scope::Everything,
            (false, false) => Scope::Waiting,
        }
    }

    /// Where nothing was found: what would find something.
    async fn hint(&self, c: &dyn Coordinator, query: &Query) -> Result<(), Failure> {
        if let Some(term) = meant(query) {
            note(&format!("nothing found; did you mean {term}?"));
            return Ok(());
        }
        let request = request(Scope::Everything, query, None, 1);
        if self.scope() == Scope::Waiting && !c.list(request).await?.rows.is_empty() {
            note("nothing that waits was found; --all lists what does not wait, too");
        }
        Ok(())
    }
}

fn print(rows: &[Row], out: &mut Out) -> Result<(), Failure> {
    let now = Timestamp(jiff::Timestamp::now().as_millisecond());
    out.rows(rows, |row| cells(row, now))
}

fn cells(row: &Row, now: Timestamp) -> Vec<String> {
    let why = match (row.stuck, row.reason, row.state) {
        (Some(stuck), ..) => format!("stuck: {}", stuck.as_str()),
        (None, Some(reason), _) => reason.as_str().to_owned(),
        (None, None, Some(state)) => state.as_str().to_owned(),
        (None, None, None) => "-".to_owned(),
    };
    let holds = match (row.candidates, &row.interruption, row.held) {
        (n, ..) if n > 0 => counted(n, "side"),
        (_, Some(_), _) => "1 question".into(),
        (.., n) if n > 0 => format!("{n} held"),
        _ => counted(row.messages, "message"),
    };
    let version = row.state_version.map_or_else(|| "-".into(), |v| format!("v{v}"));
    let what = match (&row.interruption, &row.goal, &row.detail) {
        (Some(question), ..) => format!("“{}”", question.prompt),
        (None, Some(goal), _) => goal.clone(),
        (None, None, detail) => detail.clone().unwrap_or_default(),
    };
    let named = |text: &Option<String>| text.clone().unwrap_or_else(|| "-".into());
    let task = row.quarantine.clone().unwrap_or_else(|| named(&row.task_id));
    vec![why, task, version, age(row.since, now), named(&row.trace_id), holds, what]
}

impl Compare {
    pub async fn run(self, c: &dyn Coordinator, out: &mut Out) -> Result<(), Failure> {
        let id = TaskId(self.task);
        let (mut beside, task) = (Vec::new(), shell::word(id.as_str()));
        let (a, b) = match self.sides.as_slice() {
            [a, b] => (arrival(c, &id, a).await?, arrival(c, &id, b).await?),
            _ => {
                let shown = c.show(&id).await?;
                let (a, b) = sides(&shown)?;
                beside.extend(shown.candidate_set.sides().map(|s| s.arrival).filter(|n| ![a, b].contains(n)));
                (a, b)
            }
        };
        let (left, right) = (payload(c, &id, a).await?, payload(c, &id, b).await?);
        let compared = tokio::task::spawn_blocking(move || {
            Diff::new(left, right, &AtomicBool::new(false), Limits::default())
        });
        let broke = |_| Failure::Broken(anyhow::anyhow!("the comparison broke"));
        let diff = compared.await.map_err(broke)?.map_err(|e| no_diff(&e))?;
        if out.is_json() {
            for at in diff.differences().iter().map(|at| *at as usize) {
                if let (Some(told), Some(row)) = (diff.json_row(at), diff.row(at)) {
                    out.json(&Told { told, pointer_b: elsewhere(&diff, row) })?;
                }
            }
            return Ok(());
        }
        out.say(format!("a = #{a}, b = #{b}: {}", counted(diff.differences().len() as u64, "difference")))?;
        if let [first, ..] = beside.as_slice() {
            let beside: Vec<String> = beside.iter().map(|arrival| format!("#{arrival}")).collect();
            out.say(format!(
                "not compared here: {}; `tribunal diff {task} {a} {first}` would",
                beside.join(", ")
            ))?;
        }
        let mut lines = Vec::new();
        for row in diff.rows() {
            let value = |side| match diff.text(row, side, SHOWN) {
                Some(text) => {
                    format!("{}{}", text.text, if text.more { "… (more: show --payload)" } else { "" })
                }
                None => "missing".to_owned(),
            };
            let (mark, text) = match row.kind {
                Kind::Equal => (" ", format!("… {} equal", row.fold)),
                Kind::Changed => ("~", format!("{}  →  {}", value(Side::A), value(Side::B))),
                Kind::Added => ("+", value(Side::B)),
                Kind::Removed => ("-", value(Side::A)),
                Kind::Spelling => ("=", format!("{}  →  {} (spelling)", value(Side::A), value(Side::B))),
            };
            lines.push(vec![mark.to_owned(), place(&diff, row), text]);
        }
        out.table(&lines)
    }
}

/// A difference for programs, with where it stands in B where that is elsewhere.
#[derive(Serialize)]
struct Told {
    #[serde(flatten)]
    told: JsonRow,
    #[serde(skip_serializing_if = "Option::is_none")]
    pointer_b: Option<String>,
}

/// Where a value that both sides have stands in B, if not where it stands in A.
fn elsewhere(diff: &Diff, row: &diff::Row) -> Option<String> {
    let (a, b) = (diff.pointer_a(row)?, diff.pointer_b(row)?);
    (a != b).then_some(b)
}

/// Where a row stands, the element it is in called by name: `/facts/3 · Acme, 2024 · revenue (b: /facts/4/revenue)`.
fn place(diff: &Diff, row: &diff::Row) -> String {
    let mut place = match diff.element(row, Side::A) {
        Some(e) => match e.within() {
            None => format!("{} · {}", e.pointer, e.name),
            Some(inside) => format!("{} · {} · {inside}", e.pointer, e.name),
        },
        None => diff.pointer(row),
    };
    if place.is_empty() {
        place = "(the whole)".into();
    }
    if let Some(b) = elsewhere(diff, row).filter(|_| row.kind != Kind::Equal) {
        place = format!("{place} (b: {b})");
    }
    place
}

fn no_diff(e: &DiffError) -> Failure {
    Failure::invalid("not_comparable", e.to_string())
}

/// The arrival that `#4`, `4` or a message id stands for.
pub async fn arrival(c: &dyn Coordinator, id: &TaskId, name: &str) -> Result<u64, Failure> {
    match number(name) {
        Some(number) => Ok(number),
        None => one_of(id, name, &c.arrivals_of(id, name).await?),
    }
}

/// The first two sides of a conflict that differ.
fn sides(shown: &Shown) -> Result<(u64, u64), Failure> {
    let set = &shown.candidate_set;
    let first = set.sides().next();
    let other = first.and_then(|a| {
        let content = |s: &crate::domain::ledger::Side| (s.payload_digest, s.digest_scheme);
        let unlike = set.sides().skip(1).find(|b| b.intent == a.intent && content(b) != content(a));
        unlike.or_else(|| set.sides().nth(1))
    });
    match (first, other) {
        (Some(a), Some(b)) => Ok((a.arrival, b.arrival)),
        _ => Err(Failure::invalid("nothing_to_compare", "the task has no two sides: name two arrivals")),
    }
}

async fn payload(c: &dyn Coordinator, id: &TaskId, arrival: u64) -> Result<Arc<[u8]>, Failure> {
    let view = c.payload(id, arrival).await?;
    let missing = || {
        let why = view.problem.clone().unwrap_or_else(|| "it has no payload".into());
        Failure::invalid("not_comparable", format!("#{arrival}: {why}"))
    };
    view.bytes.clone().ok_or_else(missing)
}
