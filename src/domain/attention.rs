//! What waits for a person, since when and why (contract section 7).
