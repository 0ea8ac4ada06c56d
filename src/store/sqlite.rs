//! The embedded store: SQLite, one file, several processes.

mod accept;
mod check;
mod checkpoint;
mod clock;
mod connect;
mod filter;
mod held;
mod load;
mod log;
mod page;
mod project;
mod quarantine;
mod queue;
mod readers;
mod reading;
mod readmit;
mod schema;
mod shared;
#[cfg(test)]
mod tests;
mod thread;
mod transaction;
mod watching;
mod write;
mod writer;

use super::remembered::{Memory, Shelf, is_store_id};
use super::{
    Acceptance, Answer, Change, CheckPage, Cursor, DocketRow, Entry, Page, PageRequest, Sequenced, Store,
    StoreError, StoreStatus, Tallies,
};
use crate::domain::attention::Thresholds;
use crate::domain::command::{Request, Rules, Stored};
use crate::domain::event::Event;
use crate::domain::ids::{TaskId, Timestamp};
use crate::domain::refusal::Refusal;
use crate::domain::task::Task;
use async_trait::async_trait;
use connect::{damaged, failed};
use queue::{Queue, Queued};
use readers::Readers;
use rusqlite::{Connection, params};
use shared::{Shared, lock};
use std::future::Future;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::mpsc::Receiver;
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;
use watching::Watch;
use writer::{Job, Writer};

/// How a store is opened.
#[derive(Clone, Debug)]
pub struct Options {
    /// The rules its commands are decided by.
    pub rules: Rules,
    /// Where heads are remembered; outside the directory that is backed up with the store.
    pub state_dir: PathBuf,
    /// Whether a store is made where there is none. One that was there and is gone is never made anew.
    pub create: bool,
    /// How long to wait for another process to finish writing.
    pub busy: Duration,
}

impl Options {
    /// Makes what is not there, and waits for others for five seconds.
    pub fn new(state_dir: impl Into<PathBuf>) -> Self {
        let busy = Duration::from_secs(5);
        Options { rules: Rules::default(), state_dir: state_dir.into(), create: true, busy }
    }
}

/// An open SQLite store. Dropping it waits until what was queued is written.
#[derive(Debug)]
pub struct SqliteStore {
    shared: Arc<Shared>,
    readers: Arc<Readers>,
    watch: Watch,
    queue: Arc<Queue>,
    thresholds: Thresholds,
    /// Why the file can only be read here, where it can only be read.
    read_only: Option<String>,
    writer: Mutex<Option<JoinHandle<()>>>,
}

impl SqliteStore {
    /// Opens the store at `path`, or makes one. Blocks for as long as the disk does.
    ///
    /// # Errors
    /// [`StoreError::Unreachable`] where there is none (or it is gone), [`StoreError::Incompatible`] where the file is
    /// not ours or newer. A head that is not the remembered one is no error: reads work, writes are refused. So it is with
    /// a file that may only be read, where that is safe; where it is not, [`StoreError::ReadOnly`].
    pub fn open(path: &Path, options: Options) -> Result<Self, StoreError> {
        connect::check_engine()?;
        let path = connect::canonical(path, options.create)?;
        let shelf = Shelf::new(&options.state_dir);
        prepare(&path, &shelf, options.create)?;
        if let Some(why) = connect::unwritable(&path)? {
            return Self::open_to_read(path, &shelf, options, why);
        }
        let conn = connect::for_writing(&path, options.busy)?;
        if conn.is_readonly("main").map_err(failed)? {
            return Err(StoreError::Unreachable(format!("{} is read-only", path.display())));
        }
        let blank = schema::is_blank(&conn)?;
        if blank && !options.create {
            return Err(StoreError::Incompatible(format!("{} is not a tribunal store", path.display())));
        }
        if !blank {
            schema::check(&conn, &path)?;
        }
        schema::migrate(&conn, options.busy)?;
        let failure = transaction::prepare(&conn, &options.rules);
        Self::start(path, conn, &shelf, options, failure)
    }

    /// Starts its threads; `failure` is why tables could not be made ready.
    fn start(
        path: PathBuf,
        conn: Connection,
        shelf: &Shelf,
        options: Options,
        failure: Option<StoreError>,
    ) -> Result<Self, StoreError> {
        let unremembered =
            |e: std::io::Error| StoreError::Unreachable(format!("heads cannot be remembered: {e}"));
        let store_id = store_id(&conn, &path)?;
        let memory = shelf.head_of(&store_id).map_err(unremembered)?;
        let mut mismatch = accept::mismatch(&conn, &memory)?;
        match shelf.store_at(&path).map_err(unremembered)? {
            Some(other) if other != store_id && remembers(shelf, &other) => {
                let why = "another store stands where the remembered one stood";
                mismatch = mismatch.or_else(|| Some(format!("{why} ({store_id}, not {other})")));
            }
            _ => shelf.put_store_at(&path, &store_id).map_err(unremembered)?,
        }
        let failure = failure.map(|e| e.to_string());
        let shared = Arc::new(Shared::new(path, store_id, mismatch, failure)?);
        let checkpoints = checkpoint::Checkpoints::start(&shared, options.busy)?;
        let thresholds = options.rules.thresholds.clone();
        let writer = Writer {
            conn: Some(checkpoints.connect(&shared, options.busy)?),
            shared: Arc::clone(&shared),
            rules: options.rules,
            busy: options.busy,
            memory,
            shelf: shelf.clone(),
            checkpoints,
            counters: write::Counters { epoch: schema::epoch(&conn)?, ..write::Counters::default() },
            tasks: held::Tasks::default(),
            data_version: None,
            unadmittable: None,
            left_waiting: readmit::Readmitting::read(&conn)?.is_some(),
        };
        Self::around(shared, thresholds, "store-writer", move |jobs| writer.run(&jobs))
    }

    /// The store whose jobs `work` does, on a thread of that name.
    fn around(
        shared: Arc<Shared>,
        thresholds: Thresholds,
        name: &str,
        work: impl FnOnce(Receiver<Queued>) + Send + 'static,
    ) -> Result<Self, StoreError> {
        let (queue, jobs) = Queue::new();
        let thread = std::thread::Builder::new()
            .name(name.into())
            .spawn(move || work(jobs))
            .map_err(|e| StoreError::Unreachable(format!("no thread: {e}")))?;
        Ok(SqliteStore {
            readers: Arc::new(Readers::new(Arc::clone(&shared), Arc::clone(&queue))?),
            watch: Watch::start(Arc::clone(&shared))?,
            shared,
            queue,
            thresholds,
            read_only: None,
            writer: Mutex::new(Some(thread)),
        })
    }

    /// Closes the store once what was queued is written. Calls after it fail as [`StoreError::Closed`].
    pub fn close(&self) {
        self.watch.stop();
        self.readers.close();
        self.queue.close();
        let writer = lock(&self.writer).take();
        if let Some(writer) = writer {
            // A writer that panicked has answered nobody; whoever waits hears that the store is closed.
            _ = writer.join();
        }
    }

    /// Reads about one task by its number; `missing` where there is no such task.
    async fn read_task<T, F>(&self, id: &TaskId, missing: T, read: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnOnce(&Connection, i64) -> Result<T, StoreError> + Send + 'static,
    {
        let id = id.clone();
        self.readers
            .read(move |conn| match log::number_of(conn, &id)? {
                Some(task) => read(conn, task),
                None => Ok(missing),
            })
            .await
    }
}

impl Drop for SqliteStore {
    fn drop(&mut self) {
        self.close();
    }
}

/// The id that a store was given when it was made.
fn store_id(conn: &Connection, path: &Path) -> Result<String, StoreError> {
    let id = schema::meta_text(conn, "store_id")?.filter(|id| is_store_id(id));
    id.ok_or_else(|| damaged("store", path.display(), "has no id"))
}

/// Sees to it that there is a file to open, and that it is not a new one in place of one that is gone.
fn prepare(path: &Path, shelf: &Shelf, create: bool) -> Result<(), StoreError> {
    let shown = path.display();
    let there = match std::fs::symlink_metadata(path) {
        Ok(_) => !connect::is_empty(path)?,
        Err(_) => false,
    };
    if there {
        return Ok(());
    }
    if !create {
        return Err(StoreError::Unreachable(format!("{shown} does not exist")));
    }
    let before = shelf
        .store_at(path)
        .map_err(|e| StoreError::Unreachable(format!("remembered heads cannot be read: {e}")))?;
    if let Some(id) = before.filter(|id| remembers(shelf, id)) {
        return Err(StoreError::Unreachable(format!(
            "{shown} is gone or empty, and store {id} with a history was there: put it back, or choose another path"
        )));
    }
    connect::make_file(path)
}

/// Whether anything worth missing is remembered of a store.
fn remembers(shelf: &Shelf, store_id: &str) -> bool {
    match shelf.peek(store_id) {
        Ok(Memory::Nothing) => false,
        Ok(Memory::Of(known)) => known.head.events > 0,
        Ok(Memory::Unreadable) | Err(_) => true,
    }
}

#[async_trait]
impl Store for SqliteStore {
    async fn status(&self) -> Result<StoreStatus, StoreError> {
        if self.shared.mismatch().is_some() {
            // Somebody may have accepted it elsewhere; where that cannot be seen now, it is not accepted yet.
            _ = self.queue.ask(|reply| Job::BringUp { reply }).await;
        }
        let (shared, read_only) = (Arc::clone(&self.shared), self.read_only.clone());
        self.readers
            .read(move |conn| {
                let name = shared.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
                Ok(StoreStatus {
                    store_id: shared.store_id.clone(),
                    name,
                    epoch: schema::epoch(conn)?,
                    head: log::head(conn, &shared.store_id)?,
                    mismatch: shared.mismatch(),
                    read_only,
                    write_failure: shared.misplaced().or_else(|| shared.write_failure()),
                })
            })
            .await
    }

    async fn submit(&self, requests: Vec<Request>) -> Result<Vec<Answer>, StoreError> {
        self.queue.ask(|reply| Job::Submit { requests, reply }).await
    }

    async fn task(&self, id: &TaskId) -> Result<Option<Task>, StoreError> {
        let id = id.clone();
        self.readers.read(move |conn| Ok(log::task(conn, &id)?.map(|(_, task)| task))).await
    }

    async fn page(&self, request: &PageRequest) -> Result<Page<DocketRow>, StoreError> {
        let request = request.clone();
        self.readers.read(move |conn| page::page(conn, &request)).await
    }

    async fn tallies(&self, now: Timestamp) -> Result<Tallies, StoreError> {
        self.readers.read(move |conn| page::tallies(conn, now)).await
    }

    async fn submissions_of(&self, id: &TaskId, arrivals: &[u64]) -> Result<Vec<Stored>, StoreError> {
        let arrivals: Vec<u64> = arrivals.to_vec();
        self.read_task(id, Vec::new(), move |conn, task| log::submissions_of(conn, task, &arrivals)).await
    }

    async fn submissions(&self, id: &TaskId, after: u64, limit: usize) -> Result<Vec<Stored>, StoreError> {
        self.read_task(id, Vec::new(), move |conn, task| log::submissions(conn, task, after, limit)).await
    }

    async fn arrivals_of(&self, id: &TaskId, message_id: &str) -> Result<Vec<u64>, StoreError> {
        let message_id = message_id.to_owned();
        self.read_task(id, Vec::new(), move |conn, task| log::arrivals_of(conn, task, &message_id)).await
    }

    async fn envelope(&self, id: &TaskId, arrival: u64) -> Result<Option<Arc<[u8]>>, StoreError> {
        self.read_task(id, None, move |conn, task| log::envelope(conn, task, arrival)).await
    }

    async fn events(&self, id: &TaskId, after: u64, limit: usize) -> Result<Vec<Event>, StoreError> {
        self.read_task(id, Vec::new(), move |conn, task| log::events(conn, task, after, limit)).await
    }

    async fn since(&self, cursor: Cursor, limit: usize) -> Result<Vec<Change>, StoreError> {
        // Who follows must learn that the file is gone: what is still readable is of a file nobody else has.
        if let Some(why) = self.shared.misplaced() {
            return Err(StoreError::Unreachable(why));
        }
        self.readers.read(move |conn| since(conn, cursor, limit)).await
    }

    async fn feed_end(&self) -> Result<Cursor, StoreError> {
        self.readers
            .read(|conn| Ok(Cursor { epoch: schema::epoch(conn)?, position: tables_end(conn)? }))
            .await
    }

    fn changed(&self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        self.watch.changed()
    }

    async fn records(
        &self,
        task: Option<&TaskId>,
        after: u64,
        limit: usize,
    ) -> Result<Vec<Sequenced>, StoreError> {
        match task {
            None => self.readers.read(move |conn| log::records(conn, None, after, limit)).await,
            Some(id) => {
                let read = move |conn: &Connection, task| log::records(conn, Some(task), after, limit);
                self.read_task(id, Vec::new(), read).await
            }
        }
    }

    async fn record(&self, approval_id: &str) -> Result<Option<Sequenced>, StoreError> {
        let approval_id = approval_id.to_owned();
        self.readers.read(move |conn| log::record(conn, &approval_id)).await
    }

    async fn quarantine(
        &self,
        after: u64,
        limit: usize,
        settled_too: bool,
    ) -> Result<Vec<Entry>, StoreError> {
        self.readers.read(move |conn| quarantine::page(conn, after, limit, settled_too)).await
    }

    async fn entry(&self, id: &str) -> Result<Option<(Entry, Arc<[u8]>)>, StoreError> {
        let Some(number) = quarantine::number(id) else { return Ok(None) };
        self.readers
            .read(move |conn| {
                let found = quarantine::entry(conn, number)?;
                Ok(found.zip(quarantine::bytes(conn, number)?))
            })
            .await
    }

    async fn drop_entry(
        &self,
        id: &str,
        by: &str,
        reason: &str,
        now: Timestamp,
    ) -> Result<Result<(), Refusal>, StoreError> {
        let Some(number) = quarantine::number(id) else {
            return Ok(Err(Refusal::EntryNotFound { id: id.to_owned() }));
        };
        let (by, reason) = (by.to_owned(), reason.to_owned());
        self.queue.ask(|reply| Job::Drop { number, by, reason, now, reply }).await
    }

    async fn check(&self, after: u64, through: u64, limit: usize) -> Result<CheckPage, StoreError> {
        let thresholds = self.thresholds.clone();
        // Reading brings the tables up. Where that failed for want of room or of the lock, what lags behind proves nothing
        // against the store: it is not checked, and why is said.
        if after == 0 && self.readers.read(schema::behind_from).await? > 0 {
            let done = self.queue.ask(|reply| Job::BringUp { reply }).await;
            done.or_else(|e| if matches!(e, StoreError::Damaged(_)) { Ok(()) } else { Err(e) })?;
        }
        self.readers.read(move |conn| check::page(conn, &thresholds, after, through, limit)).await
    }

    async fn accept_head(&self, acceptance: &Acceptance) -> Result<(), StoreError> {
        let acceptance = acceptance.clone();
        self.queue.ask(|reply| Job::Accept { acceptance, reply }).await
    }
}

/// The last event that every table of its task is up to.
fn tables_end(conn: &Connection) -> Result<u64, StoreError> {
    match schema::behind_from(conn)? {
        0 => log::last_seq(conn),
        first => Ok(first.saturating_sub(1)),
    }
}

/// Changes after a cursor. One of another epoch starts anew: what it counted is not what is stored now.
fn since(conn: &Connection, cursor: Cursor, limit: usize) -> Result<Vec<Change>, StoreError> {
    let epoch = schema::epoch(conn)?;
    let after = if cursor.epoch == epoch { cursor.position } else { 0 };
    let mut find = conn
        .prepare_cached(
            "SELECT e.seq, e.item, t.task_id, e.body FROM event e LEFT JOIN task t ON t.id = e.item \
             WHERE e.seq > ?1 AND e.seq <= ?3 ORDER BY e.seq LIMIT ?2",
        )
        .map_err(failed)?;
    let end = log::int(tables_end(conn)?);
    let mut rows = find.query(params![log::int(after), log::bound(limit), end]).map_err(failed)?;
    let mut changes = Vec::new();
    while let Some(row) = rows.next().map_err(failed)? {
        let (seq, item): (i64, i64) = row.get(0).and_then(|s| Ok((s, row.get(1)?))).map_err(failed)?;
        let cursor = Cursor { epoch, position: seq.unsigned_abs() };
        if item < 0 {
            let entry = Some(quarantine::name(item.unsigned_abs()));
            changes.push(Change { cursor, task_id: None, event: None, entry });
            continue;
        }
        let task: String = row.get(2).map_err(failed)?;
        let body = row.get_ref(3).and_then(|b| Ok(b.as_blob()?)).map_err(failed)?;
        let event = serde_json::from_slice(body).map_err(|e| damaged("event", seq, e))?;
        changes.push(Change { cursor, task_id: Some(TaskId(task)), event: Some(event), entry: None });
    }
    Ok(changes)
}
