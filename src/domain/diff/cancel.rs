//! How a comparison is stopped, and what it does meanwhile.

use std::sync::atomic::{AtomicBool, Ordering};

use super::DiffError;

/// What is being done, in this order; the last two by turns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// Both texts are read, and their subtrees hashed.
    Parse,
    /// The hashes of the elements of two arrays, or the names of the members of two objects, are gathered.
    Gather,
    /// Two arrays are aligned.
    Align,
    /// Both trees are walked and rows written.
    Walk,
}

/// Says whether to stop; asked every few thousand tokens, elements or members in every phase.
pub trait Cancel {
    /// Whether to stop now.
    fn is_cancelled(&self, phase: Phase) -> bool;
}

impl Cancel for AtomicBool {
    fn is_cancelled(&self, _: Phase) -> bool {
        self.load(Ordering::Relaxed)
    }
}

/// Stops, if it is asked to.
pub(super) fn heed(cancel: &dyn Cancel, phase: Phase) -> Result<(), DiffError> {
    if cancel.is_cancelled(phase) { Err(DiffError::Cancelled) } else { Ok(()) }
}
