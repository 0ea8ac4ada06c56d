//! Key scripts on docket.
