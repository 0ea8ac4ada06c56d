//! A few connections that only read, each used on a thread that may block.

use super::connect::{self, failed};
use super::shared::{Shared, lock};
use crate::store::StoreError;
use rusqlite::Connection;
use std::sync::{Arc, Mutex};
use tokio::sync::Semaphore;

/// How many reads run at once; more would only take the disk from the writer.
const READERS: usize = 4;

/// The pool.
#[derive(Debug)]
pub(super) struct Readers {
    shared: Arc<Shared>,
    idle: Mutex<Vec<Connection>>,
    permits: Semaphore,
}

impl Readers {
    /// Starts with one connection, so that reads go on where the file is taken away later.
    pub(super) fn new(shared: Arc<Shared>) -> Result<Self, StoreError> {
        let first = connect::for_reading(&shared.path)?;
        Ok(Readers { shared, idle: Mutex::new(vec![first]), permits: Semaphore::new(READERS) })
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
        let _permit = self.permits.acquire().await.map_err(|_| StoreError::Closed)?;
        let this = Arc::clone(self);
        tokio::task::spawn_blocking(move || this.run(read)).await.map_err(|_| StoreError::Closed)?
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
        let done = snapshot(&conn, read);
        // A connection that failed may be what failed; the next read opens another.
        let sound = matches!(done, Ok(_) | Err(StoreError::BadCursor));
        if sound && !self.permits.is_closed() {
            lock(&self.idle).push(conn);
        }
        done
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
