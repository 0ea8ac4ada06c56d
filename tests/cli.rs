//! The command line as people and scripts use it: the real binary on a real store.

mod common;

#[path = "cli/faults.rs"]
mod faults;
#[path = "cli/hostile.rs"]
mod hostile;
#[path = "cli/house.rs"]
mod house;
#[path = "cli/ingest.rs"]
mod ingest;
#[path = "cli/verbs.rs"]
mod verbs;
