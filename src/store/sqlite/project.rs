//! Brings a task's rows up to the task, each guarded by the revision it was read at, writing only what differs.

use super::connect::{damaged, failed};
use super::log::int;
use super::schema;
use super::write::Batch;
use crate::domain::attention::{self, Attention};
use crate::domain::command::Rules;
use crate::domain::ids::TaskId;
use crate::domain::task::Task;
use crate::store::StoreError;
use crate::store::rows::{self, Columns};
use rusqlite::{Connection, params};

/// How a task's projections stand before a transaction changes them.
#[derive(Debug)]
pub(super) struct Before {
    columns: Option<Columns>,
    attention: Vec<Attention>,
    question: Option<String>,
}

impl Batch<'_> {
    pub(super) fn project(&mut self, id: &TaskId) -> Result<(), StoreError> {
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
        if attention != self.attention {
            if self.columns.is_some() {
                conn.prepare_cached("DELETE FROM docket WHERE item = ?1")
                    .and_then(|mut s| s.execute([item]))
                    .map_err(failed)?;
            }
            schema::put_attention(conn, item, &attention)?;
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
