//! Keeps the write-ahead log short, outside the writer where possible, and notices when it is taken away.

use super::connect::{self, Identity, failed};
use super::schema;
use super::shared::{Shared, lock};
use crate::store::StoreError;
use rusqlite::Connection;
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

/// Bytes by which the log grows from one checkpoint beside the writer to the next. Asking again at every commit past a
/// mark would have one run all the time, and commits wait for its flushes.
const BESIDE: i64 = 8 << 20;

/// Bytes of log from which the writer itself stops for one: with a writer that never pauses, none beside it can end.
const WITHIN: i64 = 64 << 20;

/// How long the writer waits for readers of an old snapshot before it goes on with a long log.
const PATIENCE: Duration = Duration::from_millis(100);

/// The writer's way to checkpoints.
#[derive(Debug)]
pub(super) struct Checkpoints {
    wake: Option<SyncSender<()>>,
    thread: Option<JoinHandle<()>>,
    /// How long the log was when the last one was asked for.
    asked_at: i64,
    /// Bytes of a page.
    page_bytes: i64,
    /// The log and its index, and which files they were after our first commit.
    beside: [(PathBuf, Mutex<Option<Identity>>); 2],
}

impl Checkpoints {
    /// Starts the thread that runs them.
    pub(super) fn start(shared: &Arc<Shared>, busy: Duration) -> Result<Self, StoreError> {
        let conn = connect::for_writing(&shared.path, busy)?;
        // It waited for whoever was closing the file; from here on it waits for nobody.
        conn.busy_timeout(Duration::ZERO).map_err(failed)?;
        let page_bytes = schema::page_bytes(&conn)?;
        let (wake, woken) = sync_channel(1);
        let of = Arc::clone(shared);
        let thread = std::thread::Builder::new()
            .name("store-checkpoint".into())
            .spawn(move || run(&conn, &of, &woken))
            .map_err(|e| StoreError::Unreachable(format!("no thread: {e}")))?;
        let beside = ["-wal", "-shm"].map(|suffix| {
            let mut name = shared.path.clone().into_os_string();
            name.push(suffix);
            (name.into(), Mutex::new(None))
        });
        Ok(Checkpoints { wake: Some(wake), thread: Some(thread), asked_at: 0, page_bytes, beside })
    }

    /// Opens the writer's connection, with the engine telling how long the log is after each commit.
    pub(super) fn connect(&self, shared: &Arc<Shared>, busy: Duration) -> Result<Connection, StoreError> {
        let mut conn = super::writer::open(shared, busy)?;
        let of = Arc::clone(shared);
        conn.wal_hook(Some(move |_: &mut rusqlite::hooks::Wal, pages| {
            of.wal_pages.store(pages, Ordering::Relaxed);
            Ok(())
        }))
        .map_err(failed)?;
        Ok(conn)
    }

    /// Runs or asks for a checkpoint where the log has grown long.
    pub(super) fn after_commit(&mut self, conn: &Connection, shared: &Shared, busy: Duration) {
        let bytes = i64::from(shared.wal_pages.load(Ordering::Relaxed)) * self.page_bytes;
        if bytes < self.asked_at {
            self.asked_at = 0;
        }
        if bytes > WITHIN {
            restart(conn, busy);
            self.asked_at = 0;
        } else if bytes > self.asked_at + BESIDE
            && let Some(wake) = &self.wake
        {
            self.asked_at = bytes;
            // A full channel: one is asked for already.
            _ = wake.try_send(());
        }
    }

    /// Notes which files log and index are, now that something of ours is in them. They stay the same for as long as
    /// any connection of ours is open.
    pub(super) fn note_log(&self) {
        for (path, known) in &self.beside {
            let mut known = lock(known);
            if known.is_none() {
                *known = Identity::of(path).ok().flatten();
            }
        }
    }

    /// Whether somebody took log or index away: a commit would go where nobody can read it again.
    pub(super) fn log_misplaced(&self) -> Option<String> {
        let (path, _) = self.beside.iter().find(|(path, known)| {
            let known = *lock(known);
            known.is_some() && !matches!(Identity::of(path), Ok(now) if now == known)
        })?;
        Some(format!(
            "{} was removed or replaced while the store was open; close this program before anything else: closing \
             saves what the log held",
            path.display()
        ))
    }
}

impl Drop for Checkpoints {
    fn drop(&mut self) {
        self.wake = None;
        if let Some(thread) = self.thread.take() {
            // One that panicked has nothing left to clean up.
            _ = thread.join();
        }
    }
}

fn run(conn: &Connection, shared: &Shared, woken: &Receiver<()>) {
    while woken.recv().is_ok() {
        if !shared.is_lost() {
            // Another one under way, or a full disk: the log stays longer, and the next commit asks again.
            _ = conn.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()));
        }
    }
}

fn restart(conn: &Connection, busy: Duration) {
    // Readers may hold it up; then the log is longer for a while, nothing else.
    _ = conn.busy_timeout(PATIENCE);
    _ = conn.query_row("PRAGMA wal_checkpoint(RESTART)", [], |_| Ok(()));
    _ = conn.busy_timeout(busy);
}
