//! A file that can only be read here: looked at as it stands, every write refused.
//!
//! The engine itself says whether that is safe: it reads a write-ahead log it may not write to where log and index are
//! beside the file, as they are while a program that may write has it open. Without them it would have to be told that
//! nobody writes, and nobody can know that; then the file is not opened.

use super::queue::{Queue, Queued};
use super::readers::Readers;
use super::shared::Shared;
use super::watching::Watch;
use super::{Options, SqliteStore, accept, connect, schema};
use crate::store::StoreError;
use crate::store::remembered::{Shelf, is_store_id};
use std::path::PathBuf;
use std::sync::mpsc::Receiver;
use std::sync::{Arc, Mutex};

impl SqliteStore {
    /// Opens a file that cannot be written, and says `why` not. What is remembered of it is looked at, never changed.
    pub(super) fn open_to_read(
        path: PathBuf,
        shelf: &Shelf,
        options: Options,
        why: String,
    ) -> Result<Self, StoreError> {
        let alone = |e| match e {
            StoreError::Unreachable(_) => StoreError::ReadOnly(format!(
                "{why}; it can be read where a program that may write has it open, or from a copy that may be written"
            )),
            e => e,
        };
        let conn = connect::for_reading(&path).map_err(alone)?;
        schema::check(&conn, &path).map_err(alone)?;
        schema::check_migrated(&conn, &path)?;
        let id = schema::meta_text(&conn, "store_id")?.filter(|id| is_store_id(id));
        let id = id.ok_or_else(|| connect::damaged("store", path.display(), "has no id"))?;
        let mismatch = accept::differs(&conn, shelf.peek(&id))?;
        let identity = connect::Identity::of(&path).ok().flatten();
        let identity =
            identity.ok_or_else(|| StoreError::Unreachable(format!("{} is gone", path.display())))?;
        let shared = Arc::new(Shared::new(path, id, identity, mismatch));
        let refusal = StoreError::ReadOnly(why);
        shared.set_write_failure(Some(refusal.to_string()));
        let (queue, jobs) = Queue::new();
        let thread = std::thread::Builder::new()
            .name("store-refuser".into())
            .spawn(move || refuse(&jobs, &refusal))
            .map_err(|e| StoreError::Unreachable(format!("no thread: {e}")))?;
        Ok(SqliteStore {
            readers: Arc::new(Readers::new(Arc::clone(&shared), Arc::clone(&queue))?),
            watch: Watch::start(Arc::clone(&shared))?,
            shared,
            queue,
            thresholds: options.rules.thresholds,
            writer: Mutex::new(Some(thread)),
        })
    }
}

fn refuse(jobs: &Receiver<Queued>, why: &StoreError) {
    while let Ok(queued) = jobs.recv() {
        queued.job.refuse(why.clone());
    }
}
