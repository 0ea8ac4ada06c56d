//! tribunal: the terminal where people settle what agents cannot.
//!
//! Small rooms, one direction, no circles: `domain` holds the rules and knows nobody; `store` keeps the log;
//! `coordinator` is where rules, authority and storage meet; everything above speaks to `trait Coordinator` only.

pub mod cli;
pub mod config;
pub mod coordinator;
pub mod domain;
pub mod logging;
pub mod store;
pub mod tui;
