//! Digest schemes, pinned and versioned (contract section 3).
