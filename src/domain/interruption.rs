//! A question to a person: who may answer, until when, in which form (contract section 8).
