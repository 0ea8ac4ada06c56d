//! Notices commits of other processes, and only while somebody waits for one: the store's one timer.

use super::connect;
use super::shared::{Shared, lock};
use crate::store::StoreError;
use rusqlite::Connection;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// How often another process' commits are looked for.
const POLL: Duration = Duration::from_millis(450);

/// Who waits is let go after this long in any case, so that no mistake of a caller can make it sleep for ever.
const AT_LATEST: Duration = Duration::from_secs(5);

#[derive(Debug, Default)]
struct Waiting {
    callers: usize,
    closed: bool,
}

/// The watch over one store.
#[derive(Debug)]
pub(super) struct Watch {
    shared: Arc<Shared>,
    waiting: Arc<(Mutex<Waiting>, Condvar)>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl Watch {
    /// Starts it; it sleeps until somebody waits.
    pub(super) fn start(shared: Arc<Shared>) -> Result<Self, StoreError> {
        let conn = connect::for_reading(&shared.path)?;
        let waiting = Arc::new((Mutex::new(Waiting::default()), Condvar::new()));
        let (of, on) = (Arc::clone(&shared), Arc::clone(&waiting));
        let thread = std::thread::Builder::new()
            .name("store-watch".into())
            .spawn(move || poll(&conn, &of, &on))
            .map_err(|e| StoreError::Unreachable(format!("no thread: {e}")))?;
        Ok(Watch { shared, waiting, thread: Mutex::new(Some(thread)) })
    }

    /// Resolves when something may have been committed since this call.
    pub(super) fn changed(&self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        let mut commits = self.shared.commits();
        Box::pin(async move {
            let _waiting = Caller::wait(&self.waiting);
            // Only a store that is gone ends the channel, and then there is nothing to wait for.
            _ = tokio::time::timeout(AT_LATEST, commits.changed()).await;
        })
    }

    /// Ends it.
    pub(super) fn stop(&self) {
        lock(&self.waiting.0).closed = true;
        self.waiting.1.notify_all();
        let thread = lock(&self.thread).take();
        if let Some(thread) = thread {
            // A watch that panicked has nothing left to clean up.
            _ = thread.join();
        }
    }
}

/// Somebody who waits, for as long as it lives.
struct Caller<'a>(&'a (Mutex<Waiting>, Condvar));

impl<'a> Caller<'a> {
    fn wait(waiting: &'a (Mutex<Waiting>, Condvar)) -> Self {
        lock(&waiting.0).callers += 1;
        waiting.1.notify_all();
        Caller(waiting)
    }
}

impl Drop for Caller<'_> {
    fn drop(&mut self) {
        lock(&self.0.0).callers -= 1;
    }
}

fn poll(conn: &Connection, shared: &Shared, (state, wake): &(Mutex<Waiting>, Condvar)) {
    let mut seen = None;
    let mut waiting = lock(state);
    loop {
        waiting =
            wake.wait_while(waiting, |w| w.callers == 0 && !w.closed).unwrap_or_else(PoisonError::into_inner);
        if waiting.closed {
            return;
        }
        drop(waiting);
        let now: Option<i64> = conn.pragma_query_value(None, "data_version", |r| r.get(0)).ok();
        // What cannot be read, or is another file now, is worth a look as well.
        if seen != Some(now) || now.is_none() || shared.misplaced().is_some() {
            seen = Some(now);
            shared.committed();
        }
        waiting = lock(state);
        if waiting.closed {
            return;
        }
        waiting =
            wake.wait_timeout_while(waiting, POLL, |w| !w.closed).unwrap_or_else(PoisonError::into_inner).0;
    }
}
