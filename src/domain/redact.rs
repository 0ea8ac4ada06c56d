//! Masks what a role may not read (contract section 12).
