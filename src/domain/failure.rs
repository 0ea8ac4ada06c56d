//! Failure is not one string: the kinds of contract section 10.
