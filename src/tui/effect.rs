//! What the screens want done: I/O as data, run by `runtime` and by the loop, never by a screen.

/// One wish. Wishes are carried out in order.
#[derive(Debug, PartialEq, Eq)]
pub enum Effect {
    /// Leave the program.
    Quit,
    /// Put this text on the clipboard.
    Copy(String),
    /// Draw the whole screen anew.
    Redraw,
    /// Nobody waits for the answer to this request any more.
    Cancel(u64),
}
