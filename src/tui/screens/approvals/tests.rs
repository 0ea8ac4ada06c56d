//! Key scripts on approvals.
