//! A file that can only be read here: looked at as it stands, every write refused.
//!
//! The engine itself says whether that is safe: it reads a write-ahead log it may not write to where log and index are
//! beside the file, as they are while a program that may write has it open. Without them it would have to be told that
//! nobody writes, and nobody can know that; then the file is not opened.

use super::queue::Queued;
use super::shared::Shared;
use super::{Options, SqliteStore, accept, connect, schema, store_id};
use crate::store::StoreError;
use crate::store::remembered::Shelf;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::Receiver;

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
        let id = store_id(&conn, &path)?;
        let mismatch = accept::differs(&conn, shelf.peek(&id))?;
        let shared = Arc::new(Shared::new(path, id, mismatch, None)?);
        let (thresholds, refusal) = (options.rules.thresholds, StoreError::ReadOnly(why.clone()));
        let mut store =
            Self::around(shared, thresholds, "store-refuser", move |jobs| refuse(&jobs, &refusal))?;
        store.read_only = Some(why);
        Ok(store)
    }
}

fn refuse(jobs: &Receiver<Queued>, why: &StoreError) {
    while let Ok(queued) = jobs.recv() {
        queued.job.refuse(why.clone());
    }
}
