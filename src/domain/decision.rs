//! Checks a decision or an answer and turns it into events and a record (contract section 6).
