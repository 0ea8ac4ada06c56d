//! The coordinator over a store in this process.
