//! The way to the writer: a queue with room for so many jobs, whose askers wait for room without blocking a thread.

use super::readers::READERS;
use super::shared::lock;
use super::writer::Job;
use crate::store::StoreError;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};

/// Jobs that may wait for the writer before callers are made to wait.
const ROOM: usize = 1024;

/// A job and the room it takes up until the writer takes it.
#[derive(Debug)]
pub(super) struct Queued {
    pub job: Job,
    _room: Option<OwnedSemaphorePermit>,
}

/// The askers' end.
#[derive(Debug)]
pub(super) struct Queue {
    jobs: Mutex<Option<SyncSender<Queued>>>,
    room: Arc<Semaphore>,
}

impl Queue {
    /// Both ends.
    pub(super) fn new() -> (Arc<Self>, Receiver<Queued>) {
        // As long as there is room for, and one job of each reader: putting a job there never blocks.
        let (jobs, taken) = sync_channel(ROOM + READERS);
        (Arc::new(Queue { jobs: Mutex::new(Some(jobs)), room: Arc::new(Semaphore::new(ROOM)) }), taken)
    }

    /// Takes no more jobs; the writer ends once those it has are done.
    pub(super) fn close(&self) {
        lock(&self.jobs).take();
        self.room.close();
    }

    /// Has a job done and waits for the answer.
    pub(super) async fn ask<T>(
        &self,
        job: impl FnOnce(oneshot::Sender<Result<T, StoreError>>) -> Job,
    ) -> Result<T, StoreError> {
        let room = Arc::clone(&self.room).acquire_owned().await.map_err(|_| StoreError::Closed)?;
        let (reply, answer) = oneshot::channel();
        self.put(Queued { job: job(reply), _room: Some(room) })?;
        answer.await.map_err(|_| StoreError::Closed)?
    }

    /// Has a job of a reader done and waits for the answer, on a thread that may block. It does not wait for room: what
    /// was answered before must be seen, however long the queue is.
    pub(super) fn ask_blocking<T>(
        &self,
        job: impl FnOnce(oneshot::Sender<Result<T, StoreError>>) -> Job,
    ) -> Result<T, StoreError> {
        let (reply, answer) = oneshot::channel();
        self.put(Queued { job: job(reply), _room: None })?;
        answer.blocking_recv().map_err(|_| StoreError::Closed)?
    }

    fn put(&self, queued: Queued) -> Result<(), StoreError> {
        let jobs = lock(&self.jobs);
        jobs.as_ref().ok_or(StoreError::Closed)?.send(queued).map_err(|_| StoreError::Closed)
    }
}
