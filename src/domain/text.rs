//! Text that is not ours: revealed before anybody sees it.
