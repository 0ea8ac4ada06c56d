//! One task: its states, the allow-list of transitions, and the fold of its events (contract section 5).
