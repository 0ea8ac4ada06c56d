//! What the store's threads and callers share: how writing does, and that something was committed.

use super::connect::Identity;
use crate::store::StoreError;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio::sync::watch;

/// State behind every handle of one open store.
#[derive(Debug)]
pub(super) struct Shared {
    /// The store's file.
    pub path: PathBuf,
    /// Its id.
    pub store_id: String,
    /// Which file it is.
    pub identity: Identity,
    /// Why writes are refused until a person accepts the head.
    mismatch: Mutex<Option<String>>,
    /// Why the last write failed.
    write_failure: Mutex<Option<String>>,
    /// Counts commits seen, by this process or another.
    commits: watch::Sender<u64>,
    /// Pages in the write-ahead log after the last commit of ours.
    pub wal_pages: AtomicI32,
    /// Nothing may be written to the file any more.
    pub lost: AtomicBool,
}

/// Locks what no holder can leave half-changed: each only assigns.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Shared {
    /// The file at `path` as it is now; `mismatch` and `failure` are why it may not or cannot be written.
    pub(super) fn new(
        path: PathBuf,
        store_id: String,
        mismatch: Option<String>,
        failure: Option<String>,
    ) -> Result<Self, StoreError> {
        let identity = Identity::of(&path).ok().flatten();
        let identity =
            identity.ok_or_else(|| StoreError::Unreachable(format!("{} is gone", path.display())))?;
        Ok(Shared {
            path,
            store_id,
            identity,
            mismatch: Mutex::new(mismatch),
            write_failure: Mutex::new(failure),
            commits: watch::Sender::new(0),
            wal_pages: AtomicI32::new(0),
            lost: AtomicBool::new(false),
        })
    }

    pub(super) fn mismatch(&self) -> Option<String> {
        lock(&self.mismatch).clone()
    }

    pub(super) fn set_mismatch(&self, why: Option<String>) {
        *lock(&self.mismatch) = why;
    }

    pub(super) fn write_failure(&self) -> Option<String> {
        lock(&self.write_failure).clone()
    }

    pub(super) fn set_write_failure(&self, why: Option<String>) {
        *lock(&self.write_failure) = why;
    }

    /// Tells everybody who waits that something may have been committed.
    pub(super) fn committed(&self) {
        self.commits.send_modify(|n| *n = n.wrapping_add(1));
    }

    pub(super) fn commits(&self) -> watch::Receiver<u64> {
        self.commits.subscribe()
    }

    /// What is wrong with the file under our feet: gone, or another one in its place. Writing on would write to a file
    /// that nobody will ever open again.
    pub(super) fn misplaced(&self) -> Option<String> {
        let path = self.path.display();
        let why = match Identity::of(&self.path) {
            Ok(Some(now)) if now == self.identity => return None,
            Ok(Some(_)) => format!("{path} was replaced by another file while it was open"),
            Ok(None) => format!("{path} was removed while it was open"),
            Err(e) => format!("{path} cannot be looked at: {e}"),
        };
        Some(format!("{why}; put it back, or close this program and look"))
    }

    pub(super) fn is_lost(&self) -> bool {
        self.lost.load(Ordering::Acquire)
    }
}
