//! Runs what the screens asked for, away from the loop, and brings the answers back as events.

use std::collections::HashMap;

use tokio::sync::mpsc::{self, Receiver, Sender};
use tokio::task::AbortHandle;

use super::effect::Effect;
use super::event::{Event, Reply};

/// Answers that may wait to be taken; who answers faster than the loop takes waits.
const QUEUE: usize = 256;

/// The work under way.
pub struct Runtime {
    events: Sender<Event>,
    running: HashMap<u64, AbortHandle>,
}

impl Runtime {
    /// A runtime with nothing to do, and where its answers come out. Must be made inside tokio.
    pub fn new() -> (Runtime, Receiver<Event>) {
        let (events, answers) = mpsc::channel(QUEUE);
        (Runtime { events, running: HashMap::new() }, answers)
    }

    /// Where others may put what happened, as the change feed does.
    pub fn events(&self) -> Sender<Event> {
        self.events.clone()
    }

    /// Starts the work that answers `request`. A panic in it answers nothing and ends the program.
    pub fn start(&mut self, request: u64, work: impl Future<Output = Reply> + Send + 'static) {
        let events = self.events.clone();
        let task = tokio::spawn(async move {
            let reply = work.await;
            // The loop has ended when nobody takes it.
            let _ = events.send(Event::Reply { request, reply }).await;
        });
        self.running.retain(|_, running| !running.is_finished());
        self.running.insert(request, task.abort_handle());
    }

    /// Carries out an effect that needs no terminal; gives back one that does.
    pub fn carry_out(&mut self, effect: Effect) -> Option<Effect> {
        match effect {
            Effect::Cancel(request) => {
                if let Some(running) = self.running.remove(&request) {
                    running.abort();
                }
                None
            }
            Effect::Quit | Effect::Copy(_) | Effect::Redraw => Some(effect),
        }
    }
}

impl Drop for Runtime {
    fn drop(&mut self) {
        for running in self.running.values() {
            running.abort();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn an_answer_carries_its_request_and_a_cancelled_one_never_comes() {
        let (mut runtime, mut answers) = Runtime::new();
        let (gone, seen) = tokio::sync::oneshot::channel::<()>();
        runtime.start(1, async move {
            let _gone = gone;
            std::future::pending().await
        });
        runtime.start(2, async { Reply::Failed("no".into()) });
        assert_eq!(runtime.carry_out(Effect::Cancel(1)), None);
        // The work is dropped, not only its answer.
        assert!(seen.await.is_err());
        assert!(matches!(answers.recv().await, Some(Event::Reply { request: 2, reply: Reply::Failed(_) })));
        drop(runtime);
        assert!(answers.recv().await.is_none());
    }
}
