//! The terminal: entered, written and given back here and nowhere else. The sole writer of escapes.
//!
//! `enter` takes the terminal, dropping the guard gives it back exactly as it was found: also on error, on
//! panic in any thread (with a readable text and a report file), on a signal that ends the loop, and while the
//! program is stopped. A frame is collected in memory and leaves in one write between the marks of synchronized output, so no half frame
//! is seen; a frame that changes nothing writes nothing.

mod frame;
mod panic;
mod signal;

use std::fs::File;
use std::io::{self, IsTerminal as _, Write as _};
use std::os::fd::AsFd as _;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crossterm::Command as _;
use crossterm::clipboard::CopyToClipboard;

pub use frame::Screen;
pub use panic::panicked;
pub use signal::{End, Ends, Pause, Pauses};

/// Alternate screen, bracketed paste, focus reports, hidden cursor.
const ENTER: &str = "\x1b[?1049h\x1b[?2004h\x1b[?1004h\x1b[?25l";
/// The reverse, safe to send at any moment of a frame.
const LEAVE: &str = "\x1b[?2026l\x1b[0m\x1b[?1004l\x1b[?2004l\x1b[?25h\x1b[?1049l";
/// Asks for the background colour (OSC 11). The answer arrives as input and `input` takes it out, so nothing
/// waits for it and no key typed meanwhile is lost.
const ASK_BACKGROUND: &str = "\x1b]11;?\x1b\\";

/// The most that is put on the clipboard: terminals cut or refuse more than about this.
pub const COPY_LIMIT: usize = 74_000;

/// Whether the terminal is ours now. Held during every write, so that nothing is written after it was given back.
static OURS: Mutex<bool> = Mutex::new(false);

fn ours() -> MutexGuard<'static, bool> {
    OURS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Why the terminal could not be taken.
#[derive(Debug, thiserror::Error)]
pub enum EnterError {
    /// Standard input or output is not a terminal.
    #[error("standard input and output must be a terminal; see `tribunal list` for plain output")]
    NotATerminal,
    /// The terminal is taken already, by this process.
    #[error("the terminal is taken already")]
    Taken,
    /// The terminal refused.
    #[error("the terminal cannot be set up")]
    Io(#[from] io::Error),
}

/// Whether there is a terminal to take.
///
/// # Errors
/// Standard input or output is none.
pub fn check() -> Result<(), EnterError> {
    let both = io::stdin().is_terminal() && io::stdout().is_terminal();
    if both { Ok(()) } else { Err(EnterError::NotATerminal) }
}

/// Whether this error means that the terminal is gone, rather than that something is wrong with us.
pub fn is_gone(error: &io::Error) -> bool {
    const EIO: i32 = 5;
    error.raw_os_error() == Some(EIO)
        || matches!(error.kind(), io::ErrorKind::UnexpectedEof | io::ErrorKind::BrokenPipe)
        || check().is_err()
}

/// Holds the terminal; dropping it gives the terminal back.
#[derive(Debug)]
pub struct Guard {
    _private: (),
}

impl Guard {
    /// Takes the terminal. A panic from now on gives it back, prints what happened and writes a report into
    /// `reports`.
    ///
    /// # Errors
    /// Not a terminal, taken already, or the terminal refused; nothing is changed then.
    pub fn enter(reports: PathBuf) -> Result<(Guard, Screen), EnterError> {
        check()?;
        let file = File::from(io::stdout().as_fd().try_clone_to_owned()?);
        let (width, height) = crossterm::terminal::size()?;
        panic::install(reports);
        {
            let mut ours = ours();
            if *ours {
                return Err(EnterError::Taken);
            }
            crossterm::terminal::enable_raw_mode()?;
            *ours = true;
        }
        let guard = Guard { _private: () };
        write_raw(&file, ENTER.as_bytes())?;
        Ok((guard, Screen::new(file, width, height)))
    }

    /// Gives the terminal back. Safe to repeat.
    pub fn leave(self) {
        drop(self);
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        give_back();
    }
}

/// Gives the terminal back if it is ours; says whether it was.
fn give_back() -> bool {
    let mut ours = ours();
    if !*ours {
        return false;
    }
    *ours = false;
    // A terminal that is gone cannot be restored; there is nobody left to tell.
    let mut out = io::stdout();
    let _ = out.write_all(LEAVE.as_bytes()).and_then(|()| out.flush());
    let _ = crossterm::terminal::disable_raw_mode();
    true
}

/// Writes all of `bytes`, unless the terminal is no longer ours.
fn write_raw(mut file: &File, bytes: &[u8]) -> io::Result<()> {
    let ours = ours();
    if !*ours {
        return Err(io::Error::new(io::ErrorKind::NotConnected, "the terminal was given back"));
    }
    file.write_all(bytes)
}

impl Screen {
    /// Does what a pause asks for: gives the terminal back and stops, where it is to stop; takes the terminal again,
    /// where it goes on. Returns the size it has now. What is on it is lost: the next frame must paint everything.
    ///
    /// # Errors
    /// The terminal is gone, or the process cannot be stopped.
    pub fn pause(&mut self, pause: Pause) -> io::Result<(u16, u16)> {
        if pause == Pause::Asked {
            give_back();
            signal::stop()?;
        }
        {
            let mut ours = ours();
            // Where it is as it was left it stays so: between the two calls, what is typed would be echoed. In the
            // background they stop this process until the terminal is lent to it again.
            if pause == Pause::Asked || !signal::is_as_left()? {
                crossterm::terminal::disable_raw_mode()?;
                crossterm::terminal::enable_raw_mode()?;
            }
            *ours = true;
        }
        self.write(ENTER.as_bytes())?;
        self.forget();
        crossterm::terminal::size()
    }

    /// Asks the terminal whether its background is light. Returns whether it was asked: some would print the
    /// question.
    ///
    /// # Errors
    /// The terminal is gone.
    pub fn ask_background(&mut self) -> io::Result<bool> {
        let term = std::env::var("TERM").unwrap_or_default();
        if term.is_empty() || term == "linux" || term == "dumb" {
            return Ok(false);
        }
        self.write(ASK_BACKGROUND.as_bytes())?;
        Ok(true)
    }

    /// Puts text on the clipboard of the terminal's own machine (OSC 52); works over ssh. Returns whether it
    /// was small enough to send. No terminal answers whether it took it.
    ///
    /// # Errors
    /// The terminal is gone.
    pub fn copy(&mut self, text: &str) -> io::Result<bool> {
        if text.len() > COPY_LIMIT {
            return Ok(false);
        }
        let mut sequence = String::new();
        CopyToClipboard::to_clipboard_from(text).write_ansi(&mut sequence).map_err(io::Error::other)?;
        self.write(sequence.as_bytes())?;
        Ok(true)
    }
}
