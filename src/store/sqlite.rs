//! The embedded store: SQLite, one file, several processes.
