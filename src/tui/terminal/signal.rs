//! What ends the program from outside, signals and a terminal that is gone, and what stops it for a while.

use std::io;

use rustix::process::Signal as Sent;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// What ended the program from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// SIGTERM.
    Terminated,
    /// SIGHUP, or the terminal is gone.
    HungUp,
    /// SIGINT sent as a signal; the key is `quit`.
    Interrupted,
    /// SIGQUIT.
    Quit,
}

impl End {
    /// The exit code a shell expects after this: 128 and the signal's number.
    pub fn code(self) -> u8 {
        match self {
            End::HungUp => 129,
            End::Interrupted => 130,
            End::Quit => 131,
            End::Terminated => 143,
        }
    }
}

/// Listens for them.
pub struct Ends {
    term: Signal,
    hup: Signal,
    int: Signal,
    quit: Signal,
    #[cfg(target_os = "linux")]
    terminal: tokio::io::unix::AsyncFd<std::os::fd::OwnedFd>,
}

impl Ends {
    /// Starts listening; from now on the signals no longer kill.
    ///
    /// # Errors
    /// The system refused a handler.
    pub fn listen() -> io::Result<Ends> {
        Ok(Ends {
            term: signal(SignalKind::terminate())?,
            hup: signal(SignalKind::hangup())?,
            int: signal(SignalKind::interrupt())?,
            quit: signal(SignalKind::quit())?,
            #[cfg(target_os = "linux")]
            terminal: Self::watch()?,
        })
    }

    /// Priority data never comes from a terminal, so this wakes for a hang-up and for nothing else.
    #[cfg(target_os = "linux")]
    #[expect(
        deprecated,
        reason = "its successor is unsafe code; an OwnedFd stays open as long as its AsyncFd"
    )]
    fn watch() -> io::Result<tokio::io::unix::AsyncFd<std::os::fd::OwnedFd>> {
        use std::os::fd::AsFd as _;
        let stdin = io::stdin().as_fd().try_clone_to_owned()?;
        tokio::io::unix::AsyncFd::with_interest(stdin, tokio::io::Interest::PRIORITY)
    }

    /// The next thing that ends the program.
    pub async fn next(&mut self) -> End {
        tokio::select! {
            _ = self.term.recv() => End::Terminated,
            _ = self.hup.recv() => End::HungUp,
            _ = self.int.recv() => End::Interrupted,
            _ = self.quit.recv() => End::Quit,
            () = Self::gone(
                #[cfg(target_os = "linux")]
                &self.terminal,
            ) => End::HungUp,
        }
    }

    /// Completes when the terminal is gone. crossterm reads on at full speed then and never says so.
    #[cfg(target_os = "linux")]
    async fn gone(terminal: &tokio::io::unix::AsyncFd<std::os::fd::OwnedFd>) {
        loop {
            match terminal.ready(tokio::io::Interest::PRIORITY).await {
                Ok(ready) if ready.ready().is_read_closed() || ready.ready().is_error() => return,
                Ok(mut ready) => ready.clear_ready(),
                Err(_) => return,
            }
        }
    }

    /// Elsewhere SIGHUP and the first failed write tell it.
    #[cfg(not(target_os = "linux"))]
    async fn gone() {
        std::future::pending().await
    }
}

/// What happens to a program that is stopped and continued from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pause {
    /// SIGTSTP: it is to stop.
    Asked,
    /// SIGCONT: it was stopped, and whoever had the terminal meanwhile may have left it otherwise.
    Over,
}

/// Listens for them. In raw mode no key sends them; a shell or another terminal does.
pub struct Pauses {
    stop: Signal,
    resume: Signal,
}

impl Pauses {
    /// Starts listening; from now on SIGTSTP no longer stops the program by itself.
    ///
    /// # Errors
    /// The system refused a handler.
    pub fn listen() -> io::Result<Pauses> {
        let on = |which: Sent| signal(SignalKind::from_raw(which.as_raw()));
        Ok(Pauses { stop: on(Sent::TSTP)?, resume: on(Sent::CONT)? })
    }

    /// The next of them.
    pub async fn next(&mut self) -> Pause {
        tokio::select! {
            _ = self.stop.recv() => Pause::Asked,
            _ = self.resume.recv() => Pause::Over,
        }
    }
}

/// Stops this process until somebody continues it.
pub(super) fn stop() -> io::Result<()> {
    Ok(rustix::process::kill_process(rustix::process::getpid(), Sent::STOP)?)
}

/// Whether the terminal is lent to this process and still in raw mode, as far as can be seen. A shell's own line editor
/// leaves it in something like raw mode, too.
pub(super) fn is_as_left() -> io::Result<bool> {
    use rustix::termios::{LocalModes, tcgetattr, tcgetpgrp};
    let foreground = tcgetpgrp(io::stdin())? == rustix::process::getpgrp();
    Ok(foreground && !tcgetattr(io::stdin())?.local_modes.intersects(LocalModes::ICANON | LocalModes::ECHO))
}
