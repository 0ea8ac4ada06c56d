//! Tests of `decision`.
