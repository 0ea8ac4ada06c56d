//! The command line as people and scripts use it: the real binary on a real store.
#![expect(clippy::print_stdout, reason = "what was measured is worth a line")]

#[cfg(test)]
mod common;

#[cfg(test)]
#[path = "cli/answers.rs"]
mod answers;
#[cfg(test)]
#[path = "cli/chain.rs"]
mod chain;
#[cfg(test)]
#[path = "cli/faults.rs"]
mod faults;
#[cfg(test)]
#[path = "cli/hostile.rs"]
mod hostile;
#[cfg(test)]
#[path = "cli/house.rs"]
mod house;
#[cfg(test)]
#[path = "cli/ingest.rs"]
mod ingest;
#[cfg(test)]
#[path = "cli/newcomer.rs"]
mod newcomer;
#[cfg(test)]
#[path = "cli/repeats.rs"]
mod repeats;
#[cfg(test)]
#[path = "cli/secrets.rs"]
mod secrets;
#[cfg(test)]
#[path = "cli/verbs.rs"]
mod verbs;
