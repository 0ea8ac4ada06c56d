//! Tests of the masks.
