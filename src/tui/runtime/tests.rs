//! Work that nobody waits for stops, and what is short does not wait behind what is long.

use std::sync::atomic::Ordering;
use std::sync::mpsc as plain;

use super::asking::aside;
use super::*;

/// Work on another thread that goes on until it is told to stop: says when it began and when it was told.
async fn endless(said: plain::SyncSender<&'static str>) -> Reply {
    aside(move |cancel| {
        said.send("began").unwrap();
        while !cancel.load(Ordering::Relaxed) {
            std::thread::yield_now();
        }
        said.send("stopped").unwrap();
    })
    .await;
    Reply::Drop
}

fn jobs() -> (Jobs, Receiver<Event>) {
    let (events, answers) = mpsc::channel(4);
    (Jobs { events, running: HashMap::new() }, answers)
}

#[tokio::test]
async fn a_cancelled_job_is_told_to_stop_and_answers_nothing_while_others_do() {
    let (mut jobs, mut answers) = jobs();
    let (said, heard) = plain::sync_channel(2);
    jobs.start(1, endless(said));
    // The long one is under way, and a short one is answered beside it.
    jobs.start(2, async { Reply::Compare(Err("short".to_owned())) });
    assert!(matches!(answers.recv().await, Some(Event::Reply { request: 2, .. })));
    assert_eq!(heard.recv(), Ok("began"));
    jobs.cancel(1);
    // Lets the aborted task be dropped on this thread.
    tokio::task::yield_now().await;
    assert_eq!(heard.recv(), Ok("stopped"));
    drop(jobs);
    assert!(answers.recv().await.is_none(), "nobody is told of what was cancelled");
}

#[tokio::test]
async fn leaving_stops_everything() {
    let (mut jobs, _answers) = jobs();
    let (said, heard) = plain::sync_channel(2);
    jobs.start(1, endless(said));
    tokio::task::yield_now().await;
    assert_eq!(heard.recv(), Ok("began"));
    drop(jobs);
    tokio::task::yield_now().await;
    assert_eq!(heard.recv(), Ok("stopped"));
}
