//! The change stream as one principal may see it: in commit order, nothing lost, nothing twice within an epoch.

use super::local::Local;
use super::{Change, Cursor, Error, mask};
use crate::domain::actor::Operation;
use crate::domain::ids::TaskId;
use crate::domain::task::Task;
use crate::store::Store;
use std::collections::HashMap;

/// Changes handed out at once.
const BATCH: usize = 500;

impl<S: Store> Local<S> {
    pub(super) async fn changes(&self, cursor: Cursor) -> Result<Vec<Change>, Error> {
        self.sight.require(Operation::Inspect)?;
        let mut cursor = cursor;
        loop {
            // Asked for before reading, so that a commit between the two wakes too.
            let changed = self.store.changed();
            let found = self.store.since(cursor, BATCH).await?;
            let Some(last) = found.last() else {
                changed.await;
                continue;
            };
            cursor = last.cursor;
            let seen = self.seen_changes(found).await?;
            if !seen.is_empty() {
                return Ok(seen);
            }
        }
    }

    async fn seen_changes(&self, found: Vec<Change>) -> Result<Vec<Change>, Error> {
        if self.sight.reads_everything() {
            return Ok(found);
        }
        let mut tasks: HashMap<TaskId, Option<Task>> = HashMap::new();
        let mut seen = Vec::with_capacity(found.len());
        for mut change in found {
            let Some(id) = change.task_id.clone() else {
                if self.sees_entry(change.entry.as_deref()).await? {
                    seen.push(change);
                }
                continue;
            };
            if !tasks.contains_key(&id) {
                tasks.insert(id.clone(), self.store.task(&id).await?);
            }
            let Some(task) = tasks.get(&id).and_then(Option::as_ref).filter(|t| self.sight.sees(t)) else {
                continue;
            };
            if let Some(event) = &mut change.event {
                let masked = self.sight.mask(Some(task.subject()));
                mask::event(&masked, self.sight.reads_all(task), event);
            }
            seen.push(change);
        }
        Ok(seen)
    }
}
