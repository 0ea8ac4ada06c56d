//! Tests of `ledger`.
