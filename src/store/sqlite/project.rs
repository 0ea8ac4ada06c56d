//! Brings a task's tables up to the log: right after its events, or a moment later, and then from the log where need be.

use super::connect::{damaged, failed};
use super::log::{self, Place, int};
use super::write::Batch;
use super::{schema, thread};
use crate::domain::attention::{self, Attention};
use crate::domain::command::Rules;
use crate::domain::ids::TaskId;
use crate::domain::task::{Task, evolve};
use crate::store::StoreError;
use crate::store::rows::{self, Columns};
use rusqlite::{Connection, params};
use std::collections::HashMap;

/// How a task's tables stand while they are behind it.
#[derive(Debug)]
pub(super) struct Before {
    columns: Option<Columns>,
    attention: Vec<Attention>,
    question: Option<String>,
}

impl Batch<'_> {
    /// Brings the tables of one task up to the log.
    pub(super) fn project(&mut self, id: &TaskId) -> Result<(), StoreError> {
        let events = self.tasks.take_events(id);
        let item = self.tasks.get(id).map_or(0, |h| h.item);
        for (seq, event) in &events {
            thread::add(self.conn, item, *seq, event)?;
        }
        fail::fail_point!("store-wrote-thread");
        let Some(held) = self.tasks.get_mut(id) else { return Ok(()) };
        let (Some(task), Some(before)) = (held.task.as_ref(), held.before.take()) else { return Ok(()) };
        let (conn, item) = (self.conn, held.item);
        self.buffer.clear();
        serde_json::to_writer(&mut self.buffer, task)
            .map_err(|e| StoreError::Failed(format!("a task cannot be written: {e}")))?;
        let stored = held.stored.map(int);
        let changed = match stored {
            None => conn
                .prepare_cached("INSERT INTO snapshot(id, revision, body) VALUES (?1, ?2, ?3)")
                .and_then(|mut s| s.execute(params![item, int(task.revision), self.buffer])),
            Some(stored) => conn
                .prepare_cached(
                    "UPDATE snapshot SET revision = ?2, body = ?3 WHERE id = ?1 AND revision = ?4",
                )
                .and_then(|mut s| s.execute(params![item, int(task.revision), self.buffer, stored])),
        }
        .map_err(failed)?;
        if changed != 1 {
            return Err(damaged("task", &task.task_id.0, "is not at the revision it was read at"));
        }
        fail::fail_point!("store-wrote-snapshot");
        before.project(conn, item, task, self.rules)?;
        fail::fail_point!("store-wrote-projections");
        held.stored = Some(task.revision);
        Ok(())
    }

    /// Brings the tables of every task up to the log.
    pub(super) fn bring_up(&mut self) -> Result<(), StoreError> {
        for id in self.tasks.take_all_behind() {
            self.project(&id)?;
        }
        if self.counters.behind_from == 0 {
            return Ok(());
        }
        fail::fail_point!("store-bringing-up");
        self.counters.behind_from = 0;
        schema::set_behind_from(self.conn, 0)
    }

    /// Notes from which event on the tables may be behind; the note stands until all are brought up.
    pub(super) fn leave_behind(&mut self) -> Result<(), StoreError> {
        if self.counters.behind_from > 0 {
            return Ok(());
        }
        // Before this transaction all were up to the log.
        self.counters.behind_from = self.began + 1;
        schema::set_behind_from(self.conn, self.counters.behind_from)?;
        fail::fail_point!("store-left-behind");
        Ok(())
    }

    /// Reads from the log what the tables are behind by, where another process or a crash left it so.
    pub(super) fn replay(&mut self) -> Result<(), StoreError> {
        if self.tasks.whole {
            return Ok(());
        }
        self.tasks.whole = true;
        if self.counters.behind_from == 0 {
            return Ok(());
        }
        let mut names = HashMap::new();
        for place in log::places_from(self.conn, self.counters.behind_from)? {
            self.replay_one(place, &mut names)?;
        }
        Ok(())
    }

    fn replay_one(&mut self, place: Place, names: &mut HashMap<i64, TaskId>) -> Result<(), StoreError> {
        let Place { seq, item, task_id, event } = place;
        let id = match (task_id, names.get(&item)) {
            (Some(id), _) => TaskId(id),
            (None, Some(id)) => id.clone(),
            (None, None) => log::name_of(self.conn, item)?
                .ok_or_else(|| damaged("event", seq, "is of a task that has no name"))?,
        };
        names.insert(item, id.clone());
        if self.tasks.get(&id).is_none() {
            self.hold(&id)?;
        }
        let task = self.tasks.get_mut(&id).and_then(|h| h.task.take());
        if task.as_ref().is_some_and(|t| t.revision >= event.revision) {
            // Its tables were brought up to here by themselves.
            self.put_back(Some(id), task);
            return Ok(());
        }
        let before = Before::of(task.as_ref(), self.rules);
        let next = evolve(task, &id, &event).filter(|t| t.revision == event.revision);
        let next = next.ok_or_else(|| damaged("event", seq, "does not go on from its task's last"))?;
        self.counters.tasks = self.counters.tasks.max(item);
        self.tasks.keep(item, next, vec![(seq, event)], || before);
        Ok(())
    }
}

impl Before {
    pub(super) fn of(task: Option<&Task>, rules: &Rules) -> Self {
        Before {
            columns: task.map(Columns::of),
            attention: task.map(|t| attention::of(t, &rules.thresholds)).unwrap_or_default(),
            question: task.and_then(|t| t.interruption.as_ref()).map(|i| i.id.clone()),
        }
    }

    /// Brings the projections of a task up to it, writing only what differs.
    fn project(&self, conn: &Connection, item: i64, task: &Task, rules: &Rules) -> Result<(), StoreError> {
        let columns = Columns::of(task);
        if self.columns.as_ref() != Some(&columns) {
            put_columns(conn, item, task, &columns, self.columns.is_none())?;
        }
        let question = task.interruption.as_ref().map(|i| i.id.as_str());
        if self.columns.is_none() || question != self.question.as_deref() {
            conn.prepare_cached("INSERT OR REPLACE INTO words(item, text) VALUES (?1, ?2)")
                .and_then(|mut s| s.execute(params![item, rows::words_of_task(task)]))
                .map_err(failed)?;
        }
        if self.columns.is_none() {
            for (key, value) in &task.labels {
                conn.prepare_cached("INSERT INTO label(task, key, value) VALUES (?1, ?2, ?3)")
                    .and_then(|mut s| s.execute(params![item, key, value]))
                    .map_err(failed)?;
            }
        }
        let attention = attention::of(task, &rules.thresholds);
        let ordered_by = |c: &Columns| (c.urgency, c.deadline, c.decided);
        if attention != self.attention || self.columns.as_ref().map(ordered_by) != Some(ordered_by(&columns))
        {
            if self.columns.is_some() {
                conn.prepare_cached("DELETE FROM docket WHERE item = ?1")
                    .and_then(|mut s| s.execute([item]))
                    .map_err(failed)?;
            }
            schema::put_attention(conn, item, &attention, Some(&columns))?;
        }
        Ok(())
    }
}

fn put_columns(conn: &Connection, item: i64, task: &Task, c: &Columns, new: bool) -> Result<(), StoreError> {
    let sql = if new {
        "INSERT INTO task(id, state, entered_at, urgency, deadline, candidates, decided, failure, agent, \
         assigned, task_id, trace_id) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)"
    } else {
        "UPDATE task SET state = ?2, entered_at = ?3, urgency = ?4, deadline = ?5, candidates = ?6, \
         decided = ?7, failure = ?8, agent = ?9, assigned = ?10 WHERE id = ?1 AND ?11 = task_id AND ?12 = trace_id"
    };
    let changed = conn
        .prepare_cached(sql)
        .and_then(|mut s| {
            s.execute(params![
                item,
                c.state,
                c.entered_at,
                c.urgency,
                c.deadline,
                c.candidates,
                c.decided,
                c.failure,
                c.agent,
                c.assigned,
                task.task_id.as_str(),
                task.trace_id
            ])
        })
        .map_err(failed)?;
    if changed == 1 { Ok(()) } else { Err(damaged("task", &task.task_id.0, "has another row")) }
}
