//! Pages of tasks by keyset: each goes on from the last row's own key, so that its cost does not grow with the list.

use super::clock::{self, Clock};
use super::connect::failed;
use super::filter::{self, Names, Sql};
use super::log::{self, PAGE};
use super::quarantine;
use crate::domain::attention::{Attention, Reason};
use crate::domain::ids::Timestamp;
use crate::store::rows::{self, NEVER, order_letter, reason_code, urgency};
use crate::store::{DocketRow, OrderKey, Page, PageRequest, Scope, StoreError, Tallies, Tally};
use rusqlite::types::Value;
use rusqlite::{Connection, Row, params, params_from_iter};
use std::cmp::Ordering;

/// The longest cursor that is looked at.
const LONGEST_CURSOR: usize = 16 << 10;

/// A tab is counted up to here; past it the list is long, and how long exactly changes nothing.
const COUNTED: u64 = 10_000;

/// Where rows are taken from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Source {
    /// What waits: tasks and entries, for one reason or any.
    Waiting(Option<Reason>),
    /// Every task (or those decided), with its docket row where it waits now.
    Tasks { decided: bool, part: Part },
    /// Tasks that wait now.
    TasksWaiting { decided: bool },
    /// Tasks that do not.
    TasksQuiet { decided: bool },
}

/// Which tasks of an order by priority or deadline. Most have none, and no index holds those.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// All of them.
    All,
    /// Those before the ones that have none.
    Before,
    /// Those that have none: ordered by number.
    Without,
    /// Those after them.
    After,
}

impl Part {
    /// What a task that has none is ordered by.
    fn of_none(order: OrderKey) -> i64 {
        if order == OrderKey::Priority { urgency(0) } else { NEVER }
    }

    /// The conditions, in the very words of the partial indexes.
    fn conditions(self, order: OrderKey) -> &'static str {
        match (self, order) {
            (Part::Before, OrderKey::Priority) => " AND t.urgency <> -1 AND t.urgency < -1",
            (Part::Without, OrderKey::Priority) => " AND t.urgency = -1",
            (Part::After, OrderKey::Priority) => " AND t.urgency <> -1 AND t.urgency > -1",
            (Part::Before, OrderKey::Deadline) => " AND t.deadline <> 9223372036854775807",
            (Part::Without, OrderKey::Deadline) => " AND t.deadline = 9223372036854775807",
            _ => "",
        }
    }
}

/// A key as a row has it: by what is ordered, then the item.
#[derive(Clone, Debug, PartialEq)]
struct Key(Vec<Value>);

impl Key {
    fn cmp(&self, other: &Key) -> Ordering {
        let pairs = self.0.iter().zip(&other.0);
        pairs.map(|(a, b)| compare(a, b)).find(|o| o.is_ne()).unwrap_or(Ordering::Equal)
    }

    /// The opaque text: the order's letter, then integers as they are and text in hex.
    fn print(&self, order: OrderKey) -> String {
        let mut text = String::from(order_letter(order));
        for value in &self.0 {
            match value {
                Value::Integer(n) => text.push_str(&format!(".{n}")),
                Value::Text(t) => {
                    text.push_str(".x");
                    t.bytes().for_each(|b| text.push_str(&format!("{b:02x}")));
                }
                _ => {}
            }
        }
        text
    }

    fn parse(text: &str, order: OrderKey) -> Option<Self> {
        let rest = text.strip_prefix(order_letter(order)).filter(|_| text.len() <= LONGEST_CURSOR)?;
        let values: Option<Vec<Value>> = rest.strip_prefix('.')?.split('.').map(parse_value).collect();
        let values = values?;
        let is_text = |v: &Value| matches!(v, Value::Text(_));
        let fits = match order {
            OrderKey::Task | OrderKey::Trace => values.len() == 2 && values.first().is_some_and(is_text),
            OrderKey::Reason => values.len() == 3 && !values.first().is_some_and(is_text),
            _ => values.len() == 2 && !values.first().is_some_and(is_text),
        };
        (fits && !values.iter().skip(1).any(is_text)).then_some(Key(values))
    }
}

fn parse_value(word: &str) -> Option<Value> {
    let Some(hex) = word.strip_prefix('x') else { return word.parse().ok().map(Value::Integer) };
    let (pairs, odd) = hex.as_bytes().as_chunks::<2>();
    if !odd.is_empty() {
        return None;
    }
    let byte = |pair: &[u8; 2]| std::str::from_utf8(pair).ok().and_then(|p| u8::from_str_radix(p, 16).ok());
    let bytes: Option<Vec<u8>> = pairs.iter().map(byte).collect();
    String::from_utf8(bytes?).ok().map(Value::Text)
}

fn compare(a: &Value, b: &Value) -> Ordering {
    match (a, b) {
        (Value::Integer(a), Value::Integer(b)) => a.cmp(b),
        (Value::Text(a), Value::Text(b)) => a.cmp(b),
        _ => Ordering::Equal,
    }
}

/// One row of the index, before what it stands for is read.
struct Found {
    item: i64,
    attention: Option<Attention>,
    key: Key,
}

impl Source {
    fn names(self) -> Names {
        match self {
            Source::Waiting(_) => Names { since: "d.since", docket: true, entries: true },
            Source::TasksWaiting { .. } => Names { since: "d.since", docket: true, entries: false },
            Source::Tasks { .. } => {
                Names { since: "coalesce(d.since, t.entered_at)", docket: true, entries: false }
            }
            Source::TasksQuiet { .. } => Names { since: "t.entered_at", docket: false, entries: false },
        }
    }

    fn item(self) -> &'static str {
        if matches!(self, Source::Waiting(_) | Source::TasksWaiting { .. }) { "d.item" } else { "t.id" }
    }

    fn key(self, order: OrderKey) -> Vec<&'static str> {
        let entries = self.names().entries;
        let first = match order {
            OrderKey::Since => self.names().since,
            // An entry has no priority: it stands where a task without one stands.
            OrderKey::Priority if entries => "d.urgency",
            OrderKey::Priority => "t.urgency",
            OrderKey::Deadline if entries => "coalesce(d.deadline, 9223372036854775807)",
            OrderKey::Deadline => "t.deadline",
            OrderKey::Task if entries => "coalesce(t.task_id, q.task_id, '')",
            OrderKey::Task => "t.task_id",
            OrderKey::Trace if entries => "coalesce(t.trace_id, '')",
            OrderKey::Trace => "t.trace_id",
            OrderKey::Reason if self.names().docket && !matches!(self, Source::Tasks { .. }) => "d.reason",
            OrderKey::Reason => "coalesce(d.reason, 5)",
        };
        match order {
            OrderKey::Reason => vec![first, self.names().since, self.item()],
            _ => vec![first, self.item()],
        }
    }

    /// With `by_cursor`, the bound by `now` is kept from the range that the engine takes from an index.
    fn from(self, sql: &mut Sql, clock: Clock, by_cursor: bool) {
        let now = |sql: &mut Sql, text: &str| {
            sql.push(text);
            sql.push(if by_cursor { "+d.since <= " } else { "d.since <= " });
            sql.bind(clock.latest);
            sql.push(" AND d.until > ");
            sql.bind(clock.now);
            if clock.was_set_back() {
                sql.push(" AND (d.since <= ");
                sql.bind(clock.now);
                sql.push(&format!(" OR d.stuck IN ({}))", clock::at_once()));
            }
        };
        match self {
            Source::Waiting(reason) => {
                sql.push(" FROM docket d LEFT JOIN task t ON t.id = d.item LEFT JOIN quarantine q ON q.number = -d.item");
                now(sql, " WHERE ");
                if let Some(reason) = reason {
                    sql.push(" AND d.reason = ");
                    sql.bind(reason_code(Some(reason)));
                }
            }
            Source::TasksWaiting { .. } => now(sql, " FROM docket d JOIN task t ON t.id = d.item WHERE "),
            Source::Tasks { .. } => {
                now(sql, " FROM task t LEFT JOIN docket d ON d.item = t.id AND ");
                sql.push(" WHERE 1");
            }
            Source::TasksQuiet { .. } => {
                now(sql, " FROM task t WHERE NOT EXISTS (SELECT 1 FROM docket d WHERE d.item = t.id AND ");
                sql.push(")");
            }
        }
        sql.push(match self {
            Source::TasksWaiting { decided: true } => " AND d.decided = 1",
            Source::Tasks { decided: true, .. } | Source::TasksQuiet { decided: true } => {
                " AND t.decided = 1"
            }
            _ => "",
        });
    }
}

/// The statement for a page from one source; one row more than asked for tells whether there are more.
pub(super) fn statement(source: Source, request: &PageRequest, clock: Clock) -> Result<Sql, StoreError> {
    let key = source.key(request.order.key);
    let mut sql = Sql::default();
    let waits = source.names().docket;
    sql.push(&format!("SELECT {}", source.item()));
    sql.push(if waits { ", d.reason, d.stuck, d.since, d.until, " } else { ", NULL, NULL, NULL, NULL, " });
    sql.push(&key.join(", "));
    let down = request.order.descending != request.backwards;
    let after = request
        .after
        .as_ref()
        .map(|cursor| Key::parse(cursor, request.order.key).ok_or(StoreError::BadCursor));
    let after = after.transpose()?;
    // Going down in time, the engine would take the bound by `now` for its range and walk to the cursor from there.
    let by_cursor = down && after.is_some() && by_docket_time(source, request.order.key);
    source.from(&mut sql, clock, by_cursor);
    let part = if let Source::Tasks { part, .. } = source { part } else { Part::All };
    sql.push(part.conditions(request.order.key));
    if let (Part::Without, Some(at)) = (part, &after) {
        go_on_without(&mut sql, at, request.order.key, down);
    } else if let Some(at) = after {
        sql.push(&format!(" AND ({}) {} (", key.join(", "), if down { "<" } else { ">" }));
        for (n, value) in at.0.into_iter().enumerate() {
            sql.push(if n == 0 { "" } else { ", " });
            sql.bind(value);
        }
        sql.push(")");
    }
    filter::conditions(&mut sql, &request.query, source.names(), request.now.0, &request.me);
    let direction = if down { " DESC" } else { "" };
    sql.push(&format!(" ORDER BY {}{direction}", key.join(&format!("{direction}, "))));
    sql.push(" LIMIT ");
    sql.bind(i64::try_from(request.limit.min(PAGE) + 1).unwrap_or(i64::MAX));
    Ok(sql)
}

/// Goes on after a cursor among tasks that have no priority or deadline: by number alone, so that it is one range.
fn go_on_without(sql: &mut Sql, at: &Key, order: OrderKey, down: bool) {
    let [Value::Integer(value), Value::Integer(item)] = at.0.as_slice() else { return sql.push(" AND 0") };
    match value.cmp(&Part::of_none(order)) {
        Ordering::Equal => {
            sql.push(if down { " AND t.id < " } else { " AND t.id > " });
            sql.bind(*item);
        }
        // The cursor is past all of them.
        order if order.is_gt() != down => sql.push(" AND 0"),
        _ => {}
    }
}

/// Whether the first part of a row's key is when its docket row begins.
fn by_docket_time(source: Source, order: OrderKey) -> bool {
    order == OrderKey::Since && matches!(source, Source::Waiting(_) | Source::TasksWaiting { .. })
}

/// The sources of a scope. Where an order mixes what waits with what does not by time, each has an index of its own
/// and the two are merged here; other sources follow each other, ascending.
pub(super) fn sources(scope: Scope, order: OrderKey) -> Vec<Source> {
    let by_time = order == OrderKey::Since;
    match scope {
        Scope::Waiting => vec![Source::Waiting(None)],
        Scope::Reason(reason) => vec![Source::Waiting(Some(reason))],
        Scope::Decided | Scope::Everything => {
            let decided = scope == Scope::Decided;
            let parts: &[Part] = match order {
                _ if by_time => {
                    return vec![Source::TasksWaiting { decided }, Source::TasksQuiet { decided }];
                }
                OrderKey::Priority if !decided => &[Part::Before, Part::Without, Part::After],
                OrderKey::Deadline if !decided => &[Part::Before, Part::Without],
                _ => &[Part::All],
            };
            parts.iter().map(|part| Source::Tasks { decided, part: *part }).collect()
        }
    }
}

/// Reads a page.
pub(super) fn page(conn: &Connection, request: &PageRequest) -> Result<Page<DocketRow>, StoreError> {
    let mut found = Vec::new();
    let limit = request.limit.min(PAGE);
    let down = request.order.descending != request.backwards;
    let clock = Clock::read(conn, request.now)?;
    let mut all = sources(request.scope, request.order.key);
    if down {
        all.reverse();
    }
    for source in all {
        if found.len() > limit && matches!(source, Source::Tasks { .. }) {
            break;
        }
        let sql = statement(source, request, clock)?;
        let mut find = conn.prepare_cached(&sql.text).map_err(failed)?;
        let mut rows = find.query(params_from_iter(sql.values)).map_err(failed)?;
        while let Some(row) = rows.next().map_err(failed)? {
            found.push(found_in(row)?);
        }
    }
    found.sort_by(|a, b| if down { b.key.cmp(&a.key) } else { a.key.cmp(&b.key) });
    let more = found.len() > limit;
    found.truncate(limit);
    if request.backwards {
        found.reverse();
    }
    let rows: Result<Vec<DocketRow>, StoreError> =
        found.into_iter().map(|f| whole(conn, f, request.order.key)).collect();
    Ok(Page { rows: rows?, more })
}

fn found_in(row: &Row<'_>) -> Result<Found, StoreError> {
    let columns = row.as_ref().column_count();
    let key: Result<Vec<Value>, _> = (5..columns).map(|n| row.get(n)).collect();
    let column = |at: usize| row.get(at).map_err(failed);
    let attention = match row.get(1).map_err(failed)? {
        None => None,
        Some(reason) => rows::attention(reason, column(2)?, column(3)?, column(4)?),
    };
    Ok(Found { item: row.get(0).map_err(failed)?, attention, key: Key(key.map_err(failed)?) })
}

fn whole(conn: &Connection, found: Found, order: OrderKey) -> Result<DocketRow, StoreError> {
    let Found { item, attention, key } = found;
    let cursor = key.print(order);
    if item > 0 {
        let task = log::task_numbered(conn, item)?;
        let task = task.ok_or_else(|| super::connect::damaged("task", item, "has no snapshot"))?;
        return Ok(DocketRow { task: Some(task), entry: None, attention, cursor });
    }
    let entry = quarantine::entry(conn, -item)?;
    let entry = entry.ok_or_else(|| super::connect::damaged("quarantine entry", -item, "is not there"))?;
    Ok(DocketRow { task: None, entry: Some(entry), attention, cursor })
}

/// Counts every tab.
pub(super) fn tallies(conn: &Connection, now: Timestamp) -> Result<Tallies, StoreError> {
    let (sql, Clock { now, latest }) = (by_reason(), Clock::read(conn, now)?);
    let of = |reason| count(conn, &sql, params![reason_code(Some(reason)), latest, now, COUNTED_SQL]);
    let mut tallies = Tallies {
        needs_review: of(Reason::NeedsReview)?,
        waiting: of(Reason::WaitingHuman)?,
        input: of(Reason::InputRequired)?,
        auth: of(Reason::AuthRequired)?,
        stuck: of(Reason::Stuck)?,
        quarantine: count(
            conn,
            "SELECT count(*) FROM (SELECT 1 FROM quarantine WHERE settled = 0 LIMIT ?1)",
            params![COUNTED_SQL],
        )?,
        decided: count(
            conn,
            "SELECT count(*) FROM (SELECT 1 FROM task WHERE decided = 1 LIMIT ?1)",
            params![COUNTED_SQL],
        )?,
        all: Tally::default(),
    };
    let reasons = [tallies.needs_review, tallies.waiting, tallies.input, tallies.auth, tallies.stuck];
    let sum: u64 = reasons.iter().map(|t| t.count).sum();
    let capped = sum > COUNTED || reasons.iter().any(|t| t.capped);
    tallies.all = Tally { count: sum.min(COUNTED), capped };
    Ok(tallies)
}

/// One more than is counted, to tell whether there are more.
const COUNTED_SQL: i64 = 10_001;

/// The statement that counts what waits for a reason.
pub(super) fn by_reason() -> String {
    format!(
        "SELECT count(*) FROM (SELECT 1 FROM docket WHERE reason = ?1 AND since <= ?2 AND until > ?3 \
         AND (since <= ?3 OR stuck IN ({})) LIMIT ?4)",
        clock::at_once()
    )
}

fn count(conn: &Connection, sql: &str, values: impl rusqlite::Params) -> Result<Tally, StoreError> {
    let found: i64 =
        conn.prepare_cached(sql).and_then(|mut s| s.query_row(values, |r| r.get(0))).map_err(failed)?;
    let found = found.unsigned_abs();
    Ok(Tally { count: found.min(COUNTED), capped: found > COUNTED })
}
