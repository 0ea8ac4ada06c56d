//! Keeps drafts in a directory of the user: written a second after the first key that is not on disk yet, at once when
//! asked to, and when the program ends, however it ends.
//!
//! What is not on disk, whole, stays in memory and is found there, so that closing a form loses nothing even where
//! nothing can be written. A file that cannot be read is never written over: the next free name is taken.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, SystemTime};

use tokio::sync::mpsc::Sender;
use tokio::task::JoinHandle;

use super::files::{read, replace};
use super::sweep;
use crate::coordinator::Coordinator;
use crate::domain::digest::Digest;
use crate::domain::ids::TaskId;
use crate::domain::text::reveal;
use crate::tui::draft::{Draft, Kind, LIMIT};
use crate::tui::event::{Change, Event, Found};

/// How long what is typed may be in memory alone.
const LATEST: Duration = Duration::from_secs(1);
/// Names for one draft: where a file cannot be read, the next is taken.
const NAMES: usize = 4;

/// Which draft.
type Key = (TaskId, Kind);

/// What is to be done on disk, and why it is not done.
#[derive(Debug)]
struct Slot {
    /// The draft; `None` where it is to go.
    draft: Option<Box<Draft>>,
    /// Counts the changes, so that what is put while it is written is not taken for written.
    change: u64,
    /// Why it is not on disk, or not whole, since the last try.
    why: Option<String>,
}

/// The drafts of one store.
#[derive(Debug)]
struct Shelf {
    dir: PathBuf,
    /// The store's id, once it is known.
    store: OnceLock<String>,
    slots: Mutex<BTreeMap<Key, Slot>>,
    /// Held while something is written, so that what is older cannot overtake what is newer.
    disk: Mutex<()>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Shelf {
    fn new(dir: PathBuf) -> Shelf {
        Shelf { dir, store: OnceLock::new(), slots: Mutex::default(), disk: Mutex::default() }
    }

    fn put(&self, key: Key, draft: Option<Box<Draft>>) {
        let mut slots = lock(&self.slots);
        let before = slots.remove(&key);
        let change = before.as_ref().map_or(0, |slot| slot.change + 1);
        slots.insert(key, Slot { draft, change, why: before.and_then(|slot| slot.why) });
    }

    /// The file of a draft: the first one that is a draft of this, or else the first name that is free; with why those
    /// before it cannot be read.
    fn find(&self, store: &str, (task, kind): &Key) -> Result<(PathBuf, Found), String> {
        let name = format!("{store}\0{kind:?}\0{}", task.as_str());
        let name = Digest::of_bytes(name.as_bytes()).hex();
        let (mut free, mut problem) = (None, None);
        for number in 0..NAMES {
            let path = match number {
                0 => self.dir.join(format!("{name}.json")),
                number => self.dir.join(format!("{name}-{number}.json")),
            };
            match read(&path, LIMIT) {
                Ok(None) => free = free.or(Some(path)),
                Ok(Some(bytes)) => match Draft::from_bytes(&bytes, store, task, *kind) {
                    Ok(draft) => return Ok((path, Found { draft: Some(Box::new(draft)), problem })),
                    Err(why) => problem = problem.or(Some(format!("{}: {why}", path.display()))),
                },
                Err(error) => problem = problem.or(Some(format!("{}: {error}", path.display()))),
            }
        }
        let full = || problem.clone().unwrap_or_else(|| "there is no name left".to_owned());
        let path = free.ok_or_else(full)?;
        Ok((path, Found { draft: None, problem }))
    }

    /// What is known of a draft: what is not written yet, else what is on disk.
    fn recall(&self, key: &Key) -> Found {
        if let Some(slot) = lock(&self.slots).get(key) {
            return Found { draft: slot.draft.clone(), problem: None };
        }
        let Some(store) = self.store.get() else {
            return Found { draft: None, problem: Some("the store did not say which one it is".to_owned()) };
        };
        match self.find(store, key) {
            Ok((_, found)) => found,
            Err(problem) => Found { draft: None, problem: Some(problem) },
        }
    }

    /// Writes one draft, or takes it away. Returns why it is not written, or not whole.
    fn write(&self, key: &Key, draft: Option<Draft>) -> Option<String> {
        let Some(store) = self.store.get() else {
            return Some("the store did not say which one it is".into());
        };
        let (path, found) = match self.find(store, key) {
            Ok(place) => place,
            Err(why) => return Some(why),
        };
        let gone = || found.draft.as_ref().and_then(|_| fs::remove_file(&path).err()).map(|e| e.to_string());
        let Some(mut draft) = draft else { return gone() };
        let (written, secret) = draft.written.without_secrets();
        draft.written = written;
        let why = secret.map(|(place, kind)| format!("the {place} holds {}", kind.what()));
        if draft.written.is_blank() {
            return gone().or(why);
        }
        match draft.to_bytes(store) {
            Ok(bytes) => replace(&path, &bytes).err().map(|error| error.to_string()).or(why),
            Err(why) => Some(why),
        }
    }

    /// Writes everything that is not written. Returns why something is not, where something is not.
    fn flush(&self) -> Option<String> {
        let _one_at_a_time = lock(&self.disk);
        let keys: Vec<Key> = lock(&self.slots).keys().cloned().collect();
        for key in keys {
            let Some((draft, change)) = lock(&self.slots).get(&key).map(|s| (s.draft.clone(), s.change))
            else {
                continue;
            };
            let why = self.write(&key, draft.map(|draft| *draft));
            let mut slots = lock(&self.slots);
            match slots.get_mut(&key) {
                Some(slot) if slot.change == change && why.is_none() => drop(slots.remove(&key)),
                Some(slot) => slot.why = why,
                None => {}
            }
        }
        let slots = lock(&self.slots);
        slots.iter().find_map(|((task, _), slot)| {
            let why = slot.why.as_deref().filter(|_| slot.draft.is_some())?;
            Some(reveal(&format!("{}: {why}", task.as_str())).to_string())
        })
    }
}

/// See the module.
pub(super) struct Drafts {
    coordinator: Arc<dyn Coordinator>,
    events: Sender<Event>,
    shelf: Arc<Shelf>,
    due: Option<JoinHandle<()>>,
    told: Arc<Mutex<Option<String>>>,
    /// Keeps others from sweeping while this process runs.
    _open: Option<File>,
}

impl Drafts {
    pub(super) fn new(dir: PathBuf, coordinator: Arc<dyn Coordinator>, events: Sender<Event>) -> Drafts {
        let open = sweep::open(&dir, SystemTime::now());
        let shelf = Arc::new(Shelf::new(dir));
        Drafts { coordinator, events, shelf, due: None, told: Arc::default(), _open: open }
    }

    /// Takes a draft, or that one is to go, and has it written: at once, or within a second.
    pub(super) fn put(&mut self, key: Key, draft: Option<Box<Draft>>, now: bool) {
        self.shelf.put(key, draft);
        if now {
            drop(tokio::spawn(self.keep()));
        } else if self.due.as_ref().is_none_or(JoinHandle::is_finished) {
            let keep = self.keep();
            self.due = Some(tokio::spawn(async move {
                tokio::time::sleep(LATEST).await;
                // What comes from now on is written a second later; this goes on by itself.
                drop(tokio::spawn(keep));
            }));
        }
    }

    /// Writes everything away from the loop, and tells when something is not written any more, or is again.
    fn keep(&self) -> impl Future<Output = ()> + Send + 'static {
        let (coordinator, shelf) = (self.coordinator.clone(), self.shelf.clone());
        let (events, told) = (self.events.clone(), self.told.clone());
        async move {
            identify(&*coordinator, &shelf).await;
            let flushed = tokio::task::spawn_blocking(move || shelf.flush()).await;
            let why = flushed.unwrap_or_else(|_| Some("writing it broke off".to_owned()));
            if std::mem::replace(&mut *lock(&told), why.clone()) != why {
                // The loop has ended when nobody takes it.
                let _ = events.send(Event::Feed(Change::Unkept(why))).await;
            }
        }
    }

    /// The draft of this.
    pub(super) fn recall(&self, key: Key) -> impl Future<Output = Found> + Send + 'static {
        let (coordinator, shelf) = (self.coordinator.clone(), self.shelf.clone());
        async move {
            identify(&*coordinator, &shelf).await;
            let broke = |_| Found { draft: None, problem: Some("reading it broke off".to_owned()) };
            tokio::task::spawn_blocking(move || shelf.recall(&key)).await.unwrap_or_else(broke)
        }
    }

    /// Writes everything now. Returns why something would be lost, where something would.
    pub(super) fn settle(&self) -> Option<String> {
        self.shelf.flush()
    }
}

impl Drop for Drafts {
    /// Whatever ends the program, also a panic that unwinds through the loop, what was typed is written first.
    fn drop(&mut self) {
        if self.shelf.flush().is_some() {
            // Why may name what is not ours, which is not logged.
            tracing::warn!("a draft was not kept, or not whole");
        }
    }
}

/// Finds out which store it is, if that is not known yet.
async fn identify(coordinator: &dyn Coordinator, shelf: &Shelf) {
    if shelf.store.get().is_none()
        && let Ok(status) = coordinator.status().await
    {
        // Another may have been quicker, with the same answer.
        let _ = shelf.store.set(status.store_id);
    }
}

#[cfg(test)]
mod tests;
