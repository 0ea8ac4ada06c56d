//! A few connections that only read, each used on a thread that may block.

use super::connect::{self, failed};
use super::queue::Queue;
use super::schema;
use super::shared::{Shared, lock};
use super::writer::Job;
use crate::store::StoreError;
use rusqlite::Connection;
use std::sync::{Arc, Mutex};
use tokio::sync::Semaphore;

/// How many reads run at once; more would only take the disk from the writer.
pub(super) const READERS: usize = 4;

/// The pool.
#[derive(Debug)]
pub(super) struct Readers {
    shared: Arc<Shared>,
    writer: Arc<Queue>,
    idle: Mutex<Vec<Connection>>,
    permits: Arc<Semaphore>,
}

impl Readers {
    /// Starts with one connection, so that reads go on where the file is taken away later.
    pub(super) fn new(shared: Arc<Shared>, writer: Arc<Queue>) -> Result<Self, StoreError> {
        let first = connect::for_reading(&shared.path)?;
        Ok(Readers {
            shared,
            writer,
            idle: Mutex::new(vec![first]),
            permits: Arc::new(Semaphore::new(READERS)),
        })
    }

    /// Another connection, to the same file and no other that stands there now.
    fn connect(&self) -> Result<Connection, StoreError> {
        let conn = connect::for_reading(&self.shared.path)?;
        self.shared.misplaced().map_or(Ok(conn), |why| Err(StoreError::Unreachable(why)))
    }

    /// Runs `read` on one snapshot of the store, off the runtime's own threads.
    pub(super) async fn read<T, F>(self: &Arc<Self>, read: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
    {
        // It goes with the thread: a caller that is gone does not end the read that it began.
        let permit = Arc::clone(&self.permits).acquire_owned().await.map_err(|_| StoreError::Closed)?;
        let this = Arc::clone(self);
        let run = move || {
            let done = this.run(read);
            drop(permit);
            done
        };
        tokio::task::spawn_blocking(run).await.map_err(|_| StoreError::Closed)?
    }

    fn run<T>(&self, read: impl FnOnce(&Connection) -> Result<T, StoreError>) -> Result<T, StoreError> {
        if self.permits.is_closed() {
            return Err(StoreError::Closed);
        }
        let idle = lock(&self.idle).pop();
        let conn = match idle {
            Some(conn) => conn,
            None => self.connect()?,
        };
        let done = self.bring_up(&conn).and_then(|()| snapshot(&conn, read));
        // A connection that failed may be what failed; the next read opens another.
        let sound = matches!(done, Ok(_) | Err(StoreError::BadCursor));
        if sound && !self.permits.is_closed() {
            lock(&self.idle).push(conn);
        }
        done
    }

    /// Has the tables brought up to the log where they are behind it, so that all that was acknowledged before this
    /// read is seen by it. Where that cannot be done (a full disk) they are read as they are: status tells that writing
    /// fails.
    fn bring_up(&self, conn: &Connection) -> Result<(), StoreError> {
        if schema::behind_from(conn)? > 0 {
            _ = self.writer.ask_blocking(|reply| Job::BringUp { reply });
        }
        Ok(())
    }

    /// Closes idle connections and refuses further reads.
    pub(super) fn close(&self) {
        self.permits.close();
        lock(&self.idle).clear();
    }
}

fn snapshot<T>(
    conn: &Connection,
    read: impl FnOnce(&Connection) -> Result<T, StoreError>,
) -> Result<T, StoreError> {
    let transaction = conn.unchecked_transaction().map_err(failed)?;
    let done = read(&transaction)?;
    transaction.commit().map_err(failed)?;
    Ok(done)
}
