//! Approval records, the candidate-set digest, the hash chain and its verification (contract section 6).
