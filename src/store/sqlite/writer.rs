//! The one thread that writes: takes what is queued, commits it together, notes the head, and only then answers.

use super::checkpoint::Checkpoints;
use super::connect;
use super::held::Tasks;
use super::quarantine;
use super::queue::Queued;
use super::shared::Shared;
use super::transaction::Tables;
use super::write::Counters;
use crate::domain::command::{Request, Rules};
use crate::domain::ids::{TaskId, Timestamp};
use crate::domain::refusal::Refusal;
use crate::store::remembered::{HeadFile, Shelf};
use crate::store::{Acceptance, Answer, StoreError};
use rusqlite::Connection;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};
use tokio::sync::oneshot;

/// The most requests that share a commit.
pub(super) const GROUP: usize = 2048;

/// Tasks kept in memory between commits.
pub(super) const KEPT: usize = 8192;

/// Requests in one commit from which on the tables of tasks may follow later: this many at once come from a crowd, and
/// what they say of one task is then written once for several.
const CROWD: usize = 8;

/// How long a commit goes on taking requests: others wait for the lock, and for their answers.
const LONGEST: Duration = Duration::from_millis(250);

/// How long nobody may ask for anything before the tables are brought up.
const PAUSE: Duration = Duration::from_millis(5);

/// Something to write, and where the answer goes.
#[derive(Debug)]
pub(super) enum Job {
    Submit { requests: Vec<Request>, reply: oneshot::Sender<Result<Vec<Answer>, StoreError>> },
    Drop { number: i64, by: String, reason: String, now: Timestamp, reply: Reply<Result<(), Refusal>> },
    Accept { acceptance: Acceptance, reply: Reply<()> },
    BringUp { reply: Reply<()> },
}

type Reply<T> = oneshot::Sender<Result<T, StoreError>>;

/// The writer's side of an open store.
pub(super) struct Writer {
    pub shared: Arc<Shared>,
    pub rules: Rules,
    pub busy: Duration,
    pub memory: HeadFile,
    pub shelf: Shelf,
    pub checkpoints: Checkpoints,
    /// None after a failure, until it is opened again.
    pub conn: Option<Connection>,
    pub counters: Counters,
    pub tasks: Tasks,
    /// What the engine said last about commits of others.
    pub data_version: Option<i64>,
    /// A task whose waiting messages cannot be admitted by themselves: something it rests on is damaged.
    pub unadmittable: Option<TaskId>,
    /// Whether a process that ended in the middle left some.
    pub left_waiting: bool,
}

/// A job under way.
struct Open {
    requests: std::vec::IntoIter<Request>,
    answers: Vec<Answer>,
    failure: Option<StoreError>,
    reply: oneshot::Sender<Result<Vec<Answer>, StoreError>>,
}

impl Writer {
    /// Works until nobody can ask any more.
    pub(super) fn run(mut self, jobs: &Receiver<Queued>) {
        if self.left_waiting {
            // Whoever writes next tries again, and hears why it cannot be done.
            _ = self.readmit_waiting();
        }
        while let Some(first) = self.next(jobs) {
            let mut queue = vec![first.job];
            let mut size = queue.iter().map(Job::size).sum::<usize>();
            while size < GROUP {
                let Ok(next) = jobs.try_recv() else { break };
                size += next.job.size();
                queue.push(next.job);
            }
            self.serve(queue);
            if let Some(conn) = &self.conn {
                self.checkpoints.after_commit(conn, &self.shared, self.busy);
            }
        }
    }

    /// The next job. Where nobody asks for a while, and at the end, the tables are brought up to the log.
    fn next(&mut self, jobs: &Receiver<Queued>) -> Option<Queued> {
        if self.tasks.pending() > 0 {
            match jobs.recv_timeout(PAUSE) {
                Ok(job) => return Some(job),
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {}
            }
            // Whoever reads asks again, and hears why it cannot be done.
            _ = self.bring_up();
        }
        jobs.recv().ok()
    }

    /// Brings the tables of tasks up to the log.
    fn bring_up(&mut self) -> Result<(), StoreError> {
        self.transaction(Tables::Alone, |_| Ok(())).map(|_| ())
    }

    /// Admits what is left of messages that waited for their task: every commit begins with it.
    fn readmit_waiting(&mut self) -> Result<(), StoreError> {
        self.transaction(Tables::UpToTheLog, |_| Ok(())).map(|_| ())
    }

    fn serve(&mut self, queue: Vec<Job>) {
        let mut open = Vec::new();
        for job in queue {
            match job {
                Job::Submit { requests, reply } => {
                    let answers = Vec::with_capacity(requests.len());
                    open.push(Open { requests: requests.into_iter(), answers, failure: None, reply });
                }
                Job::Drop { number, by, reason, now, reply } => {
                    self.submit(std::mem::take(&mut open));
                    // Who asked may be gone; what was done is done.
                    _ = reply.send(self.drop_entry(number, &by, &reason, now));
                }
                Job::Accept { acceptance, reply } => {
                    self.submit(std::mem::take(&mut open));
                    _ = reply.send(self.accept(&acceptance));
                }
                Job::BringUp { reply } => {
                    self.submit(std::mem::take(&mut open));
                    _ = reply.send(self.bring_up());
                }
            }
        }
        self.submit(open);
    }

    /// Runs all requests in order, in as few commits as the requests allow, and answers each job.
    fn submit(&mut self, mut open: Vec<Open>) {
        let mut group: Vec<(usize, Request)> = Vec::new();
        for at in 0..open.len() {
            while let Some(request) = open.get_mut(at).and_then(|o| o.requests.next()) {
                let alone = request.command.wants_own_commit();
                if alone || group.len() >= GROUP {
                    self.commit_group(&mut group, &mut open);
                }
                group.push((at, request));
                if alone {
                    self.commit_group(&mut group, &mut open);
                }
            }
        }
        self.commit_group(&mut group, &mut open);
        for job in open {
            _ = job.reply.send(job.failure.map_or(Ok(job.answers), Err));
        }
    }

    fn commit_group(&mut self, group: &mut Vec<(usize, Request)>, open: &mut [Open]) {
        let mut group = std::mem::take(group);
        // What follows a failure of the same caller is not tried: it may rest on what failed.
        group.retain(|(at, _)| open.get(*at).is_some_and(|o| o.failure.is_none()));
        if group.is_empty() {
            return;
        }
        let mut rest = group.as_slice();
        while !rest.is_empty() {
            let done = self.commit_some(rest, open);
            rest = rest.get(done..).unwrap_or_default();
        }
        if self.counters.readmitting.is_some() {
            // The requests are done; why this is not, status tells.
            _ = self.readmit_waiting();
        }
    }

    /// One commit of the first of these: all, unless more must be admitted before the others than a commit takes. Gives
    /// how many were answered.
    fn commit_some(&mut self, group: &[(usize, Request)], open: &mut [Open]) -> usize {
        // A few that come between two crowds do not end it: quiet does, a reader, or a decision, whose record would stand
        // beside tables that do not speak of it.
        let decides = group.iter().any(|(_, request)| request.command.wants_own_commit());
        let crowd = group.len() >= CROWD || (self.counters.behind_from > 0 && !decides);
        let tables = if crowd { Tables::Later } else { Tables::UpToTheLog };
        let mut reached = false;
        let began = Instant::now();
        let together = self.transaction(tables, |batch| {
            reached = true;
            let mut answers = Vec::with_capacity(group.len());
            for (_, request) in group {
                answers.push(batch.run(request)?);
                if !batch.has_readmitted() || began.elapsed() > LONGEST {
                    break;
                }
            }
            Ok(answers)
        });
        let done: Vec<Result<Answer, StoreError>> = match together {
            // Something about one of them does not fit what is stored: it must not fail the others.
            Err(StoreError::Damaged(_)) if reached && group.len() > 1 => {
                for (at, request) in group {
                    if let Some(job) = open.get_mut(*at).filter(|job| job.failure.is_none()) {
                        job.take(self.alone(request));
                    }
                }
                return group.len();
            }
            Err(e) => group.iter().map(|_| Err(e.clone())).collect(),
            Ok(Ok(answers)) => answers.into_iter().map(Ok).collect(),
            Ok(Err(refusal)) => group.iter().map(|_| Ok(Err(refusal.clone()))).collect(),
        };
        let count = done.len();
        for ((at, _), done) in group.iter().zip(done) {
            if let Some(job) = open.get_mut(*at) {
                job.take(done);
            }
        }
        count
    }

    fn alone(&mut self, request: &Request) -> Result<Answer, StoreError> {
        match self.transaction(Tables::UpToTheLog, |batch| batch.run(request))? {
            Ok(answer) => Ok(answer),
            Err(refusal) => Ok(Err(refusal)),
        }
    }

    fn drop_entry(
        &mut self,
        number: i64,
        by: &str,
        reason: &str,
        now: Timestamp,
    ) -> Result<Result<(), Refusal>, StoreError> {
        let done = self.transaction(Tables::UpToTheLog, |batch| {
            if !quarantine::is_open(batch.conn, number)? {
                return Ok(Err(Refusal::EntryNotFound { id: quarantine::name(number.unsigned_abs()) }));
            }
            batch.settle(number, by, now, Some(reason)).map(Ok)
        })?;
        Ok(done.and_then(|dropped| dropped))
    }
}

impl Open {
    fn take(&mut self, done: Result<Answer, StoreError>) {
        match done {
            Ok(answer) => self.answers.push(answer),
            Err(e) => self.failure = self.failure.take().or(Some(e)),
        }
    }
}

impl Job {
    fn size(&self) -> usize {
        match self {
            Job::Submit { requests, .. } => requests.len().max(1),
            Job::Drop { .. } | Job::Accept { .. } | Job::BringUp { .. } => 1,
        }
    }

    /// Answers that it cannot be done.
    pub(super) fn refuse(self, e: StoreError) {
        // Who asked may be gone.
        _ = match self {
            Job::Submit { reply, .. } => reply.send(Err(e)).is_ok(),
            Job::Drop { reply, .. } => reply.send(Err(e)).is_ok(),
            Job::Accept { reply, .. } | Job::BringUp { reply } => reply.send(Err(e)).is_ok(),
        };
    }
}

/// The writer needs a connection; see [`connect`].
impl std::fmt::Debug for Writer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Writer").field("path", &self.shared.path).finish_non_exhaustive()
    }
}

/// Opens the connection that writes.
pub(super) fn open(shared: &Shared, busy: Duration) -> Result<Connection, StoreError> {
    connect::for_writing(&shared.path, busy)
}
