//! The filter language of docket, command line and HTTP.
