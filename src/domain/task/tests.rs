//! Tests of `task`.
