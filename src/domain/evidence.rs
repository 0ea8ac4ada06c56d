//! Evidence references as senders give them (contract section 2).
