//! How each question is put to the coordinator, and how its changes are followed.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use tokio::sync::mpsc::Sender;
use tokio::time::{Instant, sleep};

use crate::coordinator::{Coordinator, Error, PayloadView, StoreError};
use crate::domain::command::Reply as Answered;
use crate::domain::diff::{Diff, DiffError, Limits, Lines};
use crate::domain::ids::TaskId;
use crate::domain::refusal::Refusal;
use crate::domain::text::reveal;
use crate::tui::effect::{Ask, Content, Source};
use crate::tui::event::{Change, Event, Found, Reply, Text};
use crate::tui::model::Link;

/// How long to wait before a lost feed is tried again, at most.
const LONGEST_WAIT: Duration = Duration::from_secs(5);

/// Puts a question and gives its reply.
pub(in crate::tui) async fn answer(coordinator: Arc<dyn Coordinator>, ask: Ask) -> Reply {
    match put(&coordinator, ask).await {
        Ok(reply) => reply,
        Err(Error::Refused(refusal)) => Reply::Refused(Box::new(refusal)),
        // Where it is certain that nothing was stored, a person must not be told that it may have been.
        Err(Error::Store(
            error @ (StoreError::Full | StoreError::Busy | StoreError::Closed | StoreError::ReadOnly(_)),
        )) => Reply::Refused(Box::new(Refusal::Unavailable { why: error.to_string() })),
        Err(Error::Store(error)) => Reply::Failed(reveal(&error.to_string()).to_string()),
    }
}

async fn put(c: &Arc<dyn Coordinator>, ask: Ask) -> Result<Reply, Error> {
    Ok(match ask {
        Ask::List(request) => Reply::List(c.list(request).await?),
        Ask::Tallies => Reply::Tallies(c.tallies().await?),
        Ask::Status => Reply::Status(Box::new(c.status().await?)),
        Ask::Show(id) => Reply::Show(Box::new(c.show(&id).await?)),
        Ask::Submissions(id, after, limit) => Reply::Submissions(c.submissions(&id, after, limit).await?),
        Ask::Payload(id, arrival) => Reply::Payload(c.payload(&id, arrival).await?),
        Ask::Compare(a, b) => Reply::Compare(compare(a, b).await),
        Ask::Text(id, arrival, source) => Reply::Text(Arc::new(text(c, &id, arrival, source).await?)),
        Ask::Envelope(id, arrival) => Reply::Envelope(c.envelope(&id, arrival).await?),
        Ask::Timeline(id, after, limit) => Reply::Timeline(c.timeline(&id, after, limit).await?),
        Ask::Decide(decision) => match c.decide(*decision).await? {
            Answered::Decided { outcome, record } => Reply::Decide(outcome, record),
            _ => Reply::Failed("the coordinator answered something else".into()),
        },
        Ask::Approvals(request) => Reply::Approvals(c.approvals(request).await?),
        Ask::Verify => Reply::Verify(c.verify(Vec::new()).await?),
        Ask::Quarantine(after, limit, settled) => {
            Reply::Quarantine(c.quarantine(after, limit, settled).await?)
        }
        Ask::Entry(id) => Reply::Entry(Box::new(c.entry(&id).await?)),
        Ask::Readmit(id) => Reply::Readmit(Box::new(c.readmit(&id, None).await?)),
        Ask::Drop(id, reason) => {
            c.drop_entry(&id, &reason).await?;
            Reply::Drop
        }
        // Where nobody keeps drafts there is none.
        Ask::Draft(..) => Reply::Draft(Found::default()),
    })
}

/// Sets the flag when it goes.
struct CancelOnDrop(Arc<AtomicBool>);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.store(true, std::sync::atomic::Ordering::Relaxed);
    }
}

/// Works on another thread. Where nobody waits for it any more, it is told to stop; `None` where it broke off.
pub(super) async fn aside<T: Send + 'static>(
    work: impl FnOnce(&AtomicBool) -> T + Send + 'static,
) -> Option<T> {
    let cancel = CancelOnDrop(Arc::new(AtomicBool::new(false)));
    let flag = cancel.0.clone();
    let done = tokio::task::spawn_blocking(move || work(&flag)).await;
    drop(cancel);
    done.ok()
}

async fn compare(a: Content, b: Content) -> Result<Arc<Diff>, String> {
    match aside(move |cancel| Diff::new(a.0, b.0, cancel, Limits::default())).await {
        Some(Ok(diff)) => Ok(Arc::new(diff)),
        Some(Err(error)) => Err(error.to_string()),
        None => Err("the comparison broke off".to_owned()),
    }
}

/// Reads a text and finds its lines, on another thread: tens of megabytes take a while.
async fn text(c: &Arc<dyn Coordinator>, id: &TaskId, arrival: u64, source: Source) -> Result<Text, Error> {
    let view = match source {
        Source::Payload => c.payload(id, arrival).await?,
        Source::Envelope => {
            let bytes = Some(c.envelope(id, arrival).await?);
            PayloadView { bytes, masked: false, verified: false, problem: None }
        }
    };
    let Some(bytes) = view.bytes.clone() else {
        let none = "the content is behind a reference and is not here";
        return Ok(Text { view, pretty: Err(none.to_owned()), raw: Err(none.to_owned()) });
    };
    let lines = aside(move |_| (Lines::pretty(bytes.clone()), Lines::raw(bytes))).await;
    let told = |lines: Result<Lines, DiffError>| lines.map_err(|error| error.to_string());
    let broke = || Err("reading its lines broke off".to_owned());
    let (pretty, raw) = lines.map_or_else(|| (broke(), broke()), |(pretty, raw)| (told(pretty), told(raw)));
    Ok(Text { view, pretty, raw })
}

/// Follows the coordinator's changes for ever; says when the way there is lost and found.
pub(super) async fn follow(coordinator: Arc<dyn Coordinator>, events: Sender<Event>) {
    let start = Instant::now();
    let mut cursor = None;
    let mut wait = Duration::from_millis(250);
    let mut lost = false;
    loop {
        let news = match cursor {
            None => coordinator.feed_end().await.map(|end| (end, Vec::new())),
            Some(from) => coordinator.follow(from).await.map(|changes| {
                let end = changes.last().map_or(from, |c| c.cursor);
                (end, changes)
            }),
        };
        let event = match news {
            Ok((end, changes)) => {
                wait = Duration::from_millis(250);
                let first = cursor.replace(end).is_none();
                let found = std::mem::take(&mut lost) || first;
                if found && events.send(Event::Feed(Change::Link(Link::Live))).await.is_err() {
                    return;
                }
                let mut tasks: Vec<Option<TaskId>> = changes.into_iter().map(|c| c.task_id).collect();
                tasks.sort();
                tasks.dedup();
                if tasks.is_empty() {
                    continue;
                }
                Event::Feed(Change::News(tasks))
            }
            Err(error) => {
                tracing::warn!(%error, "the feed was lost");
                sleep(wait).await;
                wait = (wait * 2).min(LONGEST_WAIT);
                if std::mem::replace(&mut lost, true) {
                    continue;
                }
                // Where it was left is known: nothing is missed when it comes back.
                Event::Feed(Change::Link(Link::Reconnecting { since: start.elapsed() }))
            }
        };
        if events.send(event).await.is_err() {
            return;
        }
    }
}
