//! What happens to a message that arrives: every row of contract section 4, in its order.
