//! What a store promises, whichever engine is under it, and what only SQLite can break.

mod common;

#[path = "store/conformance.rs"]
mod conformance;
