//! Key scripts on quarantine.
