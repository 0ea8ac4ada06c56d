//! Help: the actions valid in the scope below, with their keys, searchable by name, words or key.

use super::palette::{Palette, entries};
use crate::tui::action::Scope;
use crate::tui::keymap::Keymap;

/// What `?` shows over a layer with these scopes.
pub fn help(keymap: &Keymap, scopes: &'static [Scope]) -> Palette {
    let mut here = entries(keymap, scopes);
    here.retain(|entry| entry.here);
    Palette::new("Keys here", here)
}
