//! The message one participant sent to another, parsed and bounded (contract section 2).
