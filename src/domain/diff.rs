//! Structural diff of two JSON texts by JSON Pointer, without loss.
