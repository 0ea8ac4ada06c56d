//! What a store promises, whichever engine is under it, and what only SQLite can break.

#[cfg(test)]
mod common;

#[cfg(test)]
#[path = "store/conformance.rs"]
mod conformance;

#[cfg(test)]
#[path = "store/pages.rs"]
mod pages;

#[cfg(test)]
#[path = "store/check.rs"]
mod check;

#[cfg(test)]
#[path = "store/crowds.rs"]
mod crowds;

#[cfg(test)]
#[path = "store/behind.rs"]
mod behind;

#[cfg(test)]
#[path = "store/waiting.rs"]
mod waiting;

#[cfg(test)]
#[path = "store/faults.rs"]
mod faults;

#[cfg(test)]
#[path = "store/crashes.rs"]
mod crashes;

#[cfg(test)]
#[path = "store/migration.rs"]
mod migration;
