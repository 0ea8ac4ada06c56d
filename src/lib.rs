//! tribunal: the terminal where people settle what agents cannot.
pub mod domain;
pub mod tui;
