//! What ends the program from outside: signals, and a terminal that is gone.

use std::io;

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
}

impl End {
    /// The exit code a shell expects after this: 128 and the signal's number.
    pub fn code(self) -> u8 {
        match self {
            End::HungUp => 129,
            End::Interrupted => 130,
            End::Terminated => 143,
        }
    }
}

/// Listens for them.
pub struct Ends {
    term: Signal,
    hup: Signal,
    int: Signal,
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
