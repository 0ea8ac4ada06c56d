//! Tests of the diff.
