//! Small value types: identifiers, times and versions.
