//! The facts the coordinator accepted; State is folded from these alone (contract section 1).
