//! The terminal interface: the loop that turns keys and news into state, and state into frames.
//!
//! key → `input` → `Event` → `App::update` → `Vec<Effect>` → `runtime` → `Event`; then one frame. State changes
//! only on events and never while drawing; the loop waits for nothing but events. Everything that is there
//! already is taken before a frame is drawn, frames come at most every 16 ms, and when nothing on the screen
//! changes with time nothing wakes and nothing is written.

pub mod action;
pub mod app;
pub mod draft;
pub mod effect;
pub mod event;
mod input;
pub mod keymap;
pub mod model;
pub mod picture;
pub mod runtime;
pub mod screens;
pub mod terminal;
#[doc(hidden)]
pub mod testing;
pub mod theme;
pub mod widgets;

use std::collections::VecDeque;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use ratatui::Terminal;
use tokio::sync::mpsc::Receiver;
use tokio::time::{Instant, sleep_until, timeout_at};

use crate::coordinator::Coordinator;
use app::{App, Look};
use effect::Effect;
use event::Event;
use input::Input;
use model::{Model, Now};
use runtime::Runtime;
use screens::Layer;
use terminal::{End, Ends, EnterError, Guard, Pause, Pauses, Screen, panicked};

/// The shortest time between two frames.
const FRAME: Duration = Duration::from_millis(16);
/// How long leaving waits for an answer of the terminal that would otherwise be typed into the shell.
const LATE_ANSWER: Duration = Duration::from_millis(100);
/// News taken in one go, so that a busy feed cannot keep the screen from being drawn.
const NEWS: usize = 1024;

/// How the program ended when nothing broke.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// The person left.
    Quit,
    /// Something outside ended it.
    By(End),
}

/// Why the interface could not start or go on.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The terminal could not be taken; exit 2 when it is none.
    #[error(transparent)]
    Enter(#[from] EnterError),
    /// The terminal failed.
    #[error("the terminal failed")]
    Terminal(#[from] io::Error),
    /// A part of the program panicked; the hook has told how.
    #[error("a part of tribunal failed")]
    Panicked,
}

/// What `run` needs to start.
pub struct Start {
    /// The name of the store, revealed.
    pub store: String,
    /// Who will be recorded, revealed.
    pub who: String,
    /// How a shell reaches this store: the beginning of a command, quoted.
    pub command: String,
    /// Theme, depth and keys.
    pub look: Look,
    /// Where a report goes when the program breaks.
    pub reports: PathBuf,
    /// Where what is written and not sent is kept, and which columns were chosen.
    pub drafts: PathBuf,
}

/// The clock of the loop.
struct Clock {
    start: Instant,
}

impl Clock {
    fn now(&self) -> Now {
        Now { run: self.start.elapsed(), wall: jiff::Timestamp::now() }
    }
}

/// Takes the terminal, shows `first` and lives until the person leaves or something ends it. The terminal is
/// given back before this returns.
///
/// # Errors
/// No terminal, a terminal that fails, or a panic elsewhere in the program.
pub async fn run(
    start: Start,
    coordinator: Arc<dyn Coordinator>,
    first: Box<dyn Layer>,
) -> Result<Ended, Error> {
    terminal::check()?;
    let (ends, pauses) = (Ends::listen()?, Pauses::listen()?);
    let (guard, screen) = Guard::enter(start.reports)?;
    let clock = Clock { start: Instant::now() };
    let mut model = Model::new(start.store, start.who, clock.now());
    model.command = start.command;
    model.zone = jiff::tz::TimeZone::system();
    let size = ratatui::backend::Backend::size(&screen)?;
    let (columns, unread) = runtime::recall_columns(&start.drafts);
    model.columns = columns;
    let mut app = App::new(model, start.look, first, size.width, size.height);
    if let Some(why) = unread {
        app.say(why, true);
    }
    let (mut runtime, answers) = Runtime::new(coordinator, start.drafts);
    runtime.follow();
    let terminal = Terminal::new(screen)?;
    let mut session = Session { app, terminal, runtime, clock, queue: VecDeque::new() };
    let ended = session.live(ends, pauses, answers).await;
    // The terminal first: writing the last drafts may take a moment.
    let Session { terminal, runtime, .. } = session;
    drop(terminal);
    guard.leave();
    drop(runtime);
    match ended {
        // Only a panic elsewhere takes the terminal from under the loop.
        Err(Error::Terminal(error)) if error.kind() == io::ErrorKind::NotConnected => Err(Error::Panicked),
        Err(Error::Terminal(error)) if terminal::is_gone(&error) => Ok(Ended::By(End::HungUp)),
        ended => ended,
    }
}

/// What one life of the interface holds.
struct Session {
    app: App,
    terminal: Terminal<Screen>,
    runtime: Runtime,
    clock: Clock,
    queue: VecDeque<Event>,
}

impl Session {
    async fn live(
        &mut self,
        mut ends: Ends,
        mut pauses: Pauses,
        mut answers: Receiver<Event>,
    ) -> Result<Ended, Error> {
        let mut drawn = self.draw()?;
        // When the last two frames were written that changed anything.
        let mut written = [drawn; 2];
        for effect in self.app.opening() {
            self.runtime.carry_out(effect);
        }
        let mut input = Input::open()?;
        if self.terminal.backend_mut().ask_background()? {
            input.expect_background();
        }
        let ended = loop {
            let due = self.app.wake().and_then(|wait| drawn.checked_add(wait.max(FRAME)));
            tokio::select! {
                biased;
                end = ends.next() => break Ended::By(end),
                () = panicked() => return Err(Error::Panicked),
                pause = pauses.next() => self.pause(pause)?,
                taken = input.take(&mut self.queue) => taken?,
                Some(event) = answers.recv() => self.queue.push_back(event),
                () = sleep_until(due.unwrap_or(drawn)), if due.is_some() => self.queue.push_back(Event::Tick),
            }
            while self.queue.len() < NEWS
                && let Ok(event) = answers.try_recv()
            {
                self.queue.push_back(event);
            }
            if self.take()? {
                break Ended::Quit;
            }
            // After a rest two frames may come close together: a key that comes just after something else was painted
            // is answered at once. Over any two frames' time there are still no more than two.
            let [earlier, last] = written;
            if last.elapsed() < FRAME && earlier.elapsed() < 2 * FRAME {
                // Rather than a frame for each of many events, one for those of the next few milliseconds.
                self.gather(&mut input, &mut answers, last + FRAME).await?;
                if self.take()? {
                    break Ended::Quit;
                }
            }
            let frames = self.terminal.backend().frames();
            drawn = self.draw()?;
            if self.terminal.backend().frames() != frames {
                written = [last, drawn];
            }
        };
        self.await_late_answer(&mut input).await;
        Ok(ended)
    }

    /// Stops, or goes on after a stop, with everything as it was.
    fn pause(&mut self, pause: Pause) -> io::Result<()> {
        let (width, height) = self.terminal.backend_mut().pause(pause)?;
        self.queue.push_back(Event::Resize { width, height });
        self.terminal.clear()
    }

    /// Collects what happens until `until`.
    async fn gather(
        &mut self,
        input: &mut Input,
        answers: &mut Receiver<Event>,
        until: Instant,
    ) -> io::Result<()> {
        while self.queue.len() < NEWS {
            tokio::select! {
                biased;
                () = sleep_until(until) => break,
                taken = input.take(&mut self.queue) => taken?,
                Some(event) = answers.recv() => self.queue.push_back(event),
            }
        }
        Ok(())
    }

    /// Updates the state with everything queued. Returns whether the person leaves.
    fn take(&mut self) -> io::Result<bool> {
        while let Some(event) = self.queue.pop_front() {
            if let Event::Resize { width, height } = event {
                self.terminal.backend_mut().resize(width, height);
            }
            for effect in self.app.update(event, self.clock.now()) {
                match self.runtime.carry_out(effect) {
                    Some(Effect::Quit) => {
                        let lost = self.runtime.settle();
                        if lost.is_none_or(|why| self.app.warned_of_loss(&why)) {
                            return Ok(true);
                        }
                    }
                    Some(Effect::Redraw) => self.terminal.clear()?,
                    Some(Effect::Copy(text)) => {
                        let sent = self.terminal.backend_mut().copy(&text)?;
                        self.app.notify(if sent {
                            "copied through the terminal (OSC 52)"
                        } else {
                            "too long to copy"
                        });
                    }
                    Some(_) | None => {}
                }
            }
        }
        Ok(false)
    }

    /// Paints a frame; only what changed is written. Returns when.
    fn draw(&mut self) -> io::Result<Instant> {
        self.terminal.draw(|frame| self.app.view(frame))?;
        self.app.painted(self.clock.now().run);
        Ok(Instant::now())
    }

    /// Takes an answer that is still out, so that it does not end up in the shell.
    async fn await_late_answer(&mut self, input: &mut Input) {
        let until = Instant::now() + LATE_ANSWER;
        while input.expects_answer() && self.clock.start.elapsed() < Duration::from_secs(2) {
            match timeout_at(until, input.take(&mut self.queue)).await {
                Ok(Ok(())) => {}
                Ok(Err(_)) | Err(_) => break,
            }
        }
    }
}
