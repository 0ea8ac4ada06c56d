//! A row of the docket: why it waits, what it asks, for how long, in columns that fit.

use ratatui::style::Style;
use ratatui::text::Line;

use crate::coordinator::{Order, OrderKey, Row};
use crate::domain::attention::{Reason, Stuck};
use crate::domain::ids::Timestamp;
use crate::domain::interruption::Need;
use crate::domain::text::{cells, reveal};
use crate::tui::model::chosen::Chosen;
use crate::tui::theme::{Role, Theme};
use crate::tui::widgets::held::Keyed;
use crate::tui::widgets::moment;
use crate::tui::widgets::table::{Column, Layout};

/// The most that is held of a text in a row, in characters.
const TEXT: usize = 2000;
const HOUR: i64 = 3_600_000;

/// A row as it is held.
#[derive(Clone, Debug)]
pub(super) struct Item(pub(super) Row);

/// What a row stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Known {
    Task(String),
    Entry(String),
}

impl Item {
    /// A row with its texts cut to what can be of use here.
    pub(super) fn new(mut row: Row) -> Item {
        let texts = [&mut row.goal, &mut row.detail, &mut row.worker];
        for text in
            texts.into_iter().flatten().chain(row.interruption.as_mut().map(|asked| &mut asked.prompt))
        {
            if let Some((end, _)) = text.char_indices().nth(TEXT) {
                text.truncate(end);
                text.push('…');
                text.shrink_to_fit();
            }
        }
        row.labels.clear();
        Item(row)
    }

    /// What it is called: the task, or the entry.
    pub(super) fn name(&self) -> &str {
        let row = &self.0;
        row.quarantine.as_deref().or(row.task_id.as_deref()).unwrap_or_default()
    }
}

impl Keyed for Item {
    type Id = Known;
    type Cursor = String;
    fn id(&self) -> Known {
        match (&self.0.quarantine, &self.0.task_id) {
            (Some(entry), _) => Known::Entry(entry.clone()),
            (None, task) => Known::Task(task.clone().unwrap_or_default()),
        }
    }
    fn cursor(&self) -> String {
        self.0.cursor.clone()
    }
}

/// The mark and the word for why something waits, a shorter word, and how both look.
pub(super) fn why(row: &Row) -> (&'static str, &'static str, Role) {
    let need = row.interruption.as_ref().map(|asked| asked.need);
    match (row.reason, row.stuck) {
        (Some(Reason::NeedsReview), _) => ("! needs review", "! review", Role::Danger),
        (Some(Reason::AuthRequired), _) => ("k auth", "k auth", Role::Warning),
        (Some(Reason::InputRequired), _) => ("? input", "? input", Role::Warning),
        (Some(Reason::WaitingHuman), _) => match need {
            Some(Need::MachineCredentials) => ("k waits: auth", "k auth", Role::Warning),
            Some(Need::HumanApproval) => ("? approve?", "? yes/no", Role::Warning),
            _ => ("? waits", "? waits", Role::Warning),
        },
        (Some(Reason::Stuck), Some(Stuck::Quarantined)) => ("x quarantined", "x quar.", Role::Danger),
        (Some(Reason::Stuck), _) => ("z stuck", "z stuck", Role::Danger),
        (None, _) => match row.state.map(|state| state.as_str()) {
            Some("canceled") => ("✗ canceled", "✗ cancel", Role::Muted),
            Some("succeeded") => ("✓ succeeded", "✓ done", Role::Success),
            Some(state) => (state, state, Role::Muted),
            None => ("", "", Role::Muted),
        },
    }
}

/// A way of being stuck, in words.
pub(super) fn stuck_words(stuck: Stuck) -> &'static str {
    match stuck {
        Stuck::LeaseExpired => "lease expired",
        Stuck::RetryOverdue => "retry overdue",
        Stuck::ReadyTooLong => "ready, nobody takes it",
        Stuck::PendingTooLong => "pending, nobody starts it",
        Stuck::InterruptionExpired => "its question expired",
        Stuck::EffectUnknown => "effect of unknown fate",
        Stuck::Quarantined => "put aside",
    }
}

/// What it asks of a person, in one line; foreign text in it is not revealed yet.
pub(super) fn asks(row: &Row) -> String {
    let goal = row.goal.as_deref().unwrap_or_default();
    if row.quarantine.is_some() {
        let times = if row.messages > 1 { format!("{}× ", row.messages) } else { String::new() };
        return format!("{times}{}", row.detail.as_deref().unwrap_or_default());
    }
    match (row.reason, row.stuck, &row.interruption) {
        (Some(Reason::NeedsReview), ..) => {
            let held = if row.held > 0 { format!(" · {} held", row.held) } else { String::new() };
            format!("{} sides · {} msgs{held}  {goal}", row.candidates, row.messages)
        }
        (Some(Reason::Stuck), Some(stuck), _) => format!("{}  {goal}", stuck_words(stuck)),
        (Some(_), _, Some(asked)) => format!("“{}”", asked.prompt),
        _ => goal.to_owned(),
    }
}

/// How long it waits, with a glyph that grows with it.
pub(super) fn age(row: &Row, now: Timestamp) -> (String, Role) {
    let age = now.since(row.since).max(0);
    let (glyph, role) = match age {
        0..HOUR => ('▁', Role::Fresh),
        age if age < 4 * HOUR => ('▄', Role::Warning),
        _ => ('█', Role::Danger),
    };
    (format!("{glyph} {}", coarse(age)), role)
}

/// A span in minutes: seconds would draw rows anew with every frame.
fn coarse(ms: i64) -> String {
    if ms < 60_000 { "<1m".to_owned() } else { moment::span(ms) }
}

/// When it must be done by.
pub(super) fn deadline(at: Timestamp, now: Timestamp) -> (String, Role) {
    let left = at.since(now);
    if left < 0 {
        (format!("over {}", coarse(-left)), Role::Danger)
    } else {
        (format!("in {}", coarse(left)), if left < HOUR { Role::Warning } else { Role::Text })
    }
}

const WIDE: &[Column] = &[
    Column { title: "why", least: 14, most: 14, rank: 1, right: false },
    Column { title: "task", least: 7, most: 12, rank: 0, right: false },
    Column { title: "asks", least: 39, most: u16::MAX, rank: 2, right: false },
    Column { title: "age", least: 8, most: 8, rank: 3, right: true },
    Column { title: "deadline", least: 10, most: 10, rank: 4, right: true },
    Column { title: "prio", least: 6, most: 6, rank: 5, right: true },
    Column { title: "trace", least: 7, most: 10, rank: 6, right: false },
    Column { title: "worker", least: 6, most: 14, rank: 7, right: false },
];

const NARROW: &[Column] = &[
    Column { title: "why", least: 8, most: 8, rank: 1, right: false },
    Column { title: "task", least: 6, most: 8, rank: 0, right: false },
    Column { title: "asks", least: 8, most: u16::MAX, rank: 2, right: false },
    Column { title: "age", least: 7, most: 7, rank: 3, right: true },
];

/// Below this width there are only the narrow columns: all of the first four do not fit.
const NARROWER: u16 = 74;
/// Where the task stands.
const TASK: usize = 1;
/// Where the columns begin that a row may have nothing for.
const OPTIONAL: usize = 4;

/// The column a list is ordered by.
fn sorted_by(key: OrderKey) -> &'static str {
    match key {
        OrderKey::Since => "age",
        OrderKey::Priority => "prio",
        OrderKey::Deadline => "deadline",
        OrderKey::Task => "task",
        OrderKey::Trace => "trace",
        OrderKey::Reason => "why",
    }
}

/// The columns that fit a width.
pub(super) struct Columns {
    layout: Layout,
    narrow: bool,
}

impl Columns {
    /// Fits those that were chosen to a width, to the names that are held, and to the rows that are seen: what none of
    /// them has, gives its room to the others, unless the list is ordered by it.
    pub(super) fn fit<'a>(
        width: u16,
        chosen: &Chosen,
        order: OrderKey,
        names: impl Iterator<Item = &'a str>,
        seen: impl Iterator<Item = &'a Item>,
    ) -> Columns {
        let narrow = width < NARROWER;
        let mut columns = if narrow { NARROW } else { WIDE }.to_vec();
        let longest = names.map(|name| cells(&reveal(name))).max().and_then(|most| u16::try_from(most).ok());
        if let (Some(task), Some(longest)) = (columns.get_mut(TASK), longest) {
            task.most = task.most.min(longest).max(task.least);
        }
        let mut empty = [true; WIDE.len()];
        let mut none = true;
        for Item(row) in seen {
            none = false;
            let has =
                [row.deadline.is_some(), row.priority != 0, row.trace_id.is_some(), row.worker.is_some()];
            for (empty, has) in empty.iter_mut().skip(OPTIONAL).zip(has) {
                *empty &= !has;
            }
        }
        let sorted = columns.iter().position(|column| column.title == sorted_by(order));
        if let Some(column) = sorted.and_then(|at| columns.get_mut(at)) {
            column.rank = 0;
        }
        let hidden = |at: usize| columns.get(at).is_some_and(|column| !chosen.shows(column.title));
        let dropped = |at: usize| {
            hidden(at)
                || !none && at >= OPTIONAL && sorted != Some(at) && empty.get(at).copied().unwrap_or(false)
        };
        let layout = Layout::without(&columns, width, dropped);
        Columns { layout, narrow }
    }

    /// The headings, the one the list is ordered by with an arrow.
    pub(super) fn head(&self, order: Order, theme: &Theme) -> Line<'static> {
        let sorted = sorted_by(order.key);
        // The longest wait has the earliest beginning.
        let down = order.descending != (order.key == OrderKey::Since);
        let columns = if self.narrow { NARROW } else { WIDE };
        let titles: Vec<(String, Style)> = columns
            .iter()
            .map(|column| {
                if column.title == sorted {
                    let arrow = if down { '↓' } else { '↑' };
                    (format!("{}{arrow}", column.title), theme.style(Role::Accent))
                } else {
                    (column.title.to_owned(), theme.style(Role::Muted))
                }
            })
            .collect();
        self.layout.row(titles.iter().map(|(title, style)| (title.as_str(), *style)))
    }

    /// One row.
    pub(super) fn row(&self, item: &Item, now: Timestamp, theme: &Theme) -> Line<'static> {
        let row = &item.0;
        let (long, short, role) = why(row);
        let (age, age_role) = age(row, now);
        let asks = asks(row);
        let (due, due_role) = row.deadline.map_or((String::new(), Role::Text), |at| deadline(at, now));
        let priority = if row.priority == 0 { String::new() } else { row.priority.to_string() };
        let quiet = theme.style(Role::Muted);
        self.layout.row([
            (if self.narrow { short } else { long }, theme.style(role)),
            (item.name(), theme.style(Role::Text)),
            (asks.as_str(), theme.style(Role::Untrusted)),
            (age.as_str(), theme.style(age_role)),
            (due.as_str(), theme.style(due_role)),
            (priority.as_str(), theme.style(Role::Text)),
            (row.trace_id.as_deref().unwrap_or_default(), quiet),
            (row.worker.as_deref().unwrap_or_default(), quiet),
        ])
    }
}

/// The next order in the circle.
pub(super) fn next_order(key: OrderKey) -> OrderKey {
    match key {
        OrderKey::Since => OrderKey::Deadline,
        OrderKey::Deadline => OrderKey::Priority,
        OrderKey::Priority => OrderKey::Trace,
        OrderKey::Trace => OrderKey::Reason,
        OrderKey::Reason => OrderKey::Task,
        OrderKey::Task => OrderKey::Since,
    }
}

/// What the list is ordered by, in words.
pub(super) fn order_words(order: Order) -> &'static str {
    match (order.key, order.descending) {
        (OrderKey::Since, false) => "longest wait first",
        (OrderKey::Since, true) => "shortest wait first",
        (OrderKey::Deadline, false) => "nearest deadline first",
        (OrderKey::Deadline, true) => "farthest deadline first",
        (OrderKey::Priority, false) => "most urgent first",
        (OrderKey::Priority, true) => "least urgent first",
        (OrderKey::Trace, _) => "by trace",
        (OrderKey::Reason, _) => "by reason",
        (OrderKey::Task, _) => "by task",
    }
}
