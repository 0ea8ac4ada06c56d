//! Runs what the screens asked for, away from the loop, and brings the answers back as events.

mod asking;
mod columns;
mod drafts;
mod files;
mod sweep;
#[cfg(test)]
mod tests;

pub(super) use asking::answer;
pub(super) use columns::recall as recall_columns;

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use tokio::sync::mpsc::{self, Receiver, Sender};
use tokio::task::{AbortHandle, JoinHandle};

use crate::coordinator::Coordinator;
use crate::tui::effect::{Ask, Effect};
use crate::tui::event::{Event, Reply};
use columns::Columns;
use drafts::Drafts;

/// Answers that may wait to be taken; who answers faster than the loop takes waits.
const QUEUE: usize = 256;

/// Runs what was asked for, and follows what happens.
pub struct Runtime {
    coordinator: Arc<dyn Coordinator>,
    jobs: Jobs,
    drafts: Drafts,
    columns: Columns,
    feed: Option<JoinHandle<()>>,
}

/// The work under way, by the number of the request that it answers.
struct Jobs {
    events: Sender<Event>,
    running: HashMap<u64, AbortHandle>,
}

impl Jobs {
    /// Starts the work that answers `request`. A panic in it answers nothing and ends the program.
    fn start(&mut self, request: u64, work: impl Future<Output = Reply> + Send + 'static) {
        let events = self.events.clone();
        let task = tokio::spawn(async move {
            let reply = work.await;
            // The loop has ended when nobody takes it.
            let _ = events.send(Event::Reply { request, reply }).await;
        });
        self.running.retain(|_, running| !running.is_finished());
        self.running.insert(request, task.abort_handle());
    }

    /// Ends the work that answers `request`, if it is not done.
    fn cancel(&mut self, request: u64) {
        if let Some(running) = self.running.remove(&request) {
            running.abort();
        }
    }
}

impl Drop for Jobs {
    fn drop(&mut self) {
        self.running.values().for_each(AbortHandle::abort);
    }
}

impl Runtime {
    /// A runtime with nothing to do that keeps drafts and the choice of columns in this directory, and where its answers come out. Must be made
    /// inside tokio.
    pub fn new(coordinator: Arc<dyn Coordinator>, drafts: PathBuf) -> (Runtime, Receiver<Event>) {
        let (events, answers) = mpsc::channel(QUEUE);
        let columns = Columns::new(&drafts, events.clone());
        let drafts = Drafts::new(drafts, coordinator.clone(), events.clone());
        let jobs = Jobs { events, running: HashMap::new() };
        (Runtime { coordinator, jobs, drafts, columns, feed: None }, answers)
    }

    /// Follows the coordinator's changes from now on, until this is dropped.
    pub fn follow(&mut self) {
        let (coordinator, events) = (self.coordinator.clone(), self.jobs.events.clone());
        self.feed = Some(tokio::spawn(asking::follow(coordinator, events)));
    }

    /// Carries out an effect that needs no terminal; gives back one that does.
    pub fn carry_out(&mut self, effect: Effect) -> Option<Effect> {
        match effect {
            Effect::Cancel(request) => {
                self.jobs.cancel(request);
                None
            }
            Effect::Ask(request, ask) => {
                match *ask {
                    Ask::Draft(task, kind) => {
                        let found = self.drafts.recall((task, kind));
                        self.jobs.start(request, async { Reply::Draft(found.await) });
                    }
                    ask => self.jobs.start(request, asking::answer(self.coordinator.clone(), ask)),
                }
                None
            }
            Effect::Keep { draft, now } => {
                self.drafts.put((draft.task.clone(), draft.kind), Some(draft), now);
                None
            }
            Effect::Forget(task, kind) => {
                self.drafts.put((task, kind), None, true);
                None
            }
            Effect::KeepColumns(chosen) => {
                self.columns.put(chosen);
                None
            }
            Effect::Quit | Effect::Copy(_) | Effect::Redraw => Some(effect),
        }
    }

    /// Writes every draft now, before the program ends. Returns why something would be lost, revealed, where something
    /// would.
    pub fn settle(&self) -> Option<String> {
        self.drafts.settle()
    }
}

impl Drop for Runtime {
    fn drop(&mut self) {
        if let Some(feed) = &self.feed {
            feed.abort();
        }
    }
}
