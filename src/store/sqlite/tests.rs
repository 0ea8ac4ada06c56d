//! Tests of what only SQLite has: plans, cursors, pragmas.
