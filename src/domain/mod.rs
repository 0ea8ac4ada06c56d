//! The rules, pure: no clock, no I/O, nothing of the other modules.

pub mod actor;
pub mod admission;
pub mod attention;
pub mod command;
pub mod decision;
pub mod diff;
pub mod digest;
pub mod envelope;
pub mod event;
pub mod evidence;
pub mod failure;
pub mod form;
pub mod ids;
pub mod interruption;
pub mod ledger;
pub mod query;
pub mod redact;
pub mod refusal;
pub mod runtime;
pub mod secret;
pub mod shell;
pub mod task;
#[cfg(test)]
pub(crate) mod testing;
pub mod text;
