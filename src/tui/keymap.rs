//! From a key to an action: the defaults of the table, what the user rebinds, and the spelling of keys.

#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::fmt;
use std::str::FromStr;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::tui::action::{ACTIONS, Action, Scope};
use crate::tui::event::{Code, Key};

/// Which key means what, in which scope.
#[derive(Clone, Debug)]
pub struct Keymap {
    bound: HashMap<(Scope, Key), Action>,
    /// The keys of each action in the order they were bound, for help and footer.
    keys: HashMap<Action, Vec<(Scope, Key)>>,
}

impl Default for Keymap {
    fn default() -> Keymap {
        let mut map = Keymap { bound: HashMap::new(), keys: HashMap::new() };
        for entry in ACTIONS {
            for (scope, keys) in entry.keys {
                for key in keys.iter().filter_map(|spec| spec.parse().ok()) {
                    map.bind(*scope, key, entry.action);
                }
            }
        }
        map
    }
}

impl Keymap {
    /// The first action that one of `scopes` binds to `key`.
    pub fn resolve(&self, scopes: &[Scope], key: Key) -> Option<Action> {
        scopes.iter().find_map(|scope| self.bound.get(&(*scope, key)).copied())
    }

    /// The keys of `action` that are valid in `scopes`, best first.
    pub fn keys(&self, scopes: &[Scope], action: Action) -> impl Iterator<Item = Key> {
        let own = self.keys.get(&action).map(Vec::as_slice).unwrap_or_default();
        own.iter().filter(move |(scope, _)| scopes.contains(scope)).map(|(_, key)| *key)
    }

    /// Every key of `action`, in whatever scope.
    pub fn all_keys(&self, action: Action) -> impl Iterator<Item = Key> {
        let own = self.keys.get(&action).map(Vec::as_slice).unwrap_or_default();
        own.iter()
            .enumerate()
            .filter(|(at, (_, key))| !own.iter().take(*at).any(|(_, k)| k == key))
            .map(|(_, (_, key))| *key)
    }

    fn bind(&mut self, scope: Scope, key: Key, action: Action) {
        self.bound.insert((scope, key), action);
        self.keys.entry(action).or_default().push((scope, key));
    }

    fn unbind_all(&mut self, action: Action) {
        self.bound.retain(|_, bound| *bound != action);
        self.keys.remove(&action);
    }

    /// Keys that mean two things at once: the key and both actions.
    pub fn conflicts(&self) -> Vec<(Key, Action, Action)> {
        let mut found = Vec::new();
        for live in Scope::LIVE {
            for (at, scope) in live.iter().enumerate() {
                for (&(_, key), &action) in self.bound.iter().filter(|((own, _), _)| own == scope) {
                    let other = live.iter().skip(at + 1).find_map(|scope| self.bound.get(&(*scope, key)));
                    match other {
                        Some(&other) if other != action && !found.contains(&(key, action, other)) => {
                            found.push((key, action, other));
                        }
                        _ => {}
                    }
                }
            }
        }
        found.sort_by_key(|(key, action, _)| (key.to_string(), action.entry().name));
        found
    }

    /// The defaults with a user's `action-name = ["key", …]` table laid over them. An action named there loses
    /// its default keys and gets the new ones in every scope it is valid in. Returns the map and its warnings,
    /// each `FILE:LINE: what is odd`; what is odd is left out.
    ///
    /// # Errors
    /// The text is not TOML; the message names file and line.
    pub fn parse(text: &str, file: &str) -> Result<(Keymap, Vec<String>), String> {
        let line = |at: usize| text.bytes().take(at).filter(|byte| *byte == b'\n').count().saturating_add(1);
        let document = DeTable::parse(text).map_err(|error| {
            format!("{file}:{}: {}", line(error.span().map_or(0, |span| span.start)), error.message())
        })?;
        let mut map = Keymap::default();
        let mut warnings = Vec::new();
        let mut lines = HashMap::new();
        for (name, _) in document.get_ref() {
            let at = line(name.span().start);
            match Action::named(name.get_ref()) {
                Some(action) => {
                    map.unbind_all(action);
                    lines.insert(action, at);
                }
                None => warnings.push(format!("{file}:{at}: no action is called `{}`", name.get_ref())),
            }
        }
        for (name, value) in document.get_ref() {
            let Some(action) = Action::named(name.get_ref()) else { continue };
            for (at, spec) in specs(value) {
                let at = format!("{file}:{}", line(at));
                match spec.and_then(|spec| spec.parse::<Key>().ok()) {
                    Some(key) => {
                        warnings.extend(map.rebind(key, action, &lines).iter().map(|w| format!("{at}: {w}")))
                    }
                    None => warnings.push(format!("{at}: this is no key")),
                }
            }
        }
        for (key, action, other) in map.conflicts() {
            let at = lines.get(&action).or(lines.get(&other)).copied().unwrap_or(1);
            warnings.push(format!(
                "{file}:{at}: {key} means {} and {}",
                action.entry().name,
                other.entry().name
            ));
        }
        warnings.sort_by_key(|warning| warning.split(':').nth(1).and_then(|n| n.parse::<usize>().ok()));
        Ok((map, warnings))
    }

    /// Binds in every scope of the action, and says so when another action had the key: the file wins over a
    /// default, the earlier line over the later.
    fn rebind(&mut self, key: Key, action: Action, named: &HashMap<Action, usize>) -> Vec<String> {
        let mut warnings = Vec::new();
        for (scope, _) in action.entry().keys {
            // A character in a text field is text; it can only be bound elsewhere.
            if matches!(scope, Scope::Always | Scope::Field | Scope::Line) && key.typed().is_some() {
                continue;
            }
            if let Some(&other) = self.bound.get(&(*scope, key)).filter(|other| **other != action) {
                warnings.push(format!("{key} means {} and {}", action.entry().name, other.entry().name));
                if named.contains_key(&other) {
                    continue;
                }
                if let Some(keys) = self.keys.get_mut(&other) {
                    keys.retain(|own| *own != (*scope, key));
                }
            }
            self.bind(*scope, key, action);
        }
        warnings
    }
}

/// The strings of a value that is a string or an array of them, each with its offset.
fn specs<'a>(value: &'a Spanned<DeValue<'a>>) -> Vec<(usize, Option<&'a str>)> {
    match value.get_ref() {
        DeValue::Array(many) => many.iter().map(|one| (one.span().start, one.get_ref().as_str())).collect(),
        one => vec![(value.span().start, one.as_str())],
    }
}

/// The names of the keys that are not characters.
const NAMES: &[(&str, Code)] = &[
    ("enter", Code::Enter),
    ("esc", Code::Esc),
    ("tab", Code::Tab),
    ("backtab", Code::BackTab),
    ("shift-tab", Code::BackTab),
    ("backspace", Code::Backspace),
    ("delete", Code::Delete),
    ("insert", Code::Insert),
    ("left", Code::Left),
    ("right", Code::Right),
    ("up", Code::Up),
    ("down", Code::Down),
    ("home", Code::Home),
    ("end", Code::End),
    ("pgup", Code::PageUp),
    ("pgdn", Code::PageDown),
    ("space", Code::Char(' ')),
    ("lt", Code::Char('<')),
    ("gt", Code::Char('>')),
];

/// A spelling that is no key.
#[derive(Debug, PartialEq, Eq)]
pub struct NotAKey;

impl FromStr for Key {
    type Err = NotAKey;

    /// Reads `G`, `ctrl-d`, `alt-x`, `pgdn`, `f5`, each also in angle brackets.
    fn from_str(text: &str) -> Result<Key, NotAKey> {
        let inner =
            text.strip_prefix('<').and_then(|rest| rest.strip_suffix('>')).filter(|rest| !rest.is_empty());
        let mut rest = inner.unwrap_or(text);
        let mut key = Key::plain(Code::Esc);
        loop {
            if let Some((_, code)) = NAMES.iter().find(|(name, _)| rest.eq_ignore_ascii_case(name)) {
                key.code = *code;
                break;
            }
            let mut chars = rest.chars();
            if let (Some(char), None) = (chars.next(), chars.next()) {
                // Terminals send the same code for ctrl-d and ctrl-D.
                key.code = Code::Char(if key.ctrl { char.to_ascii_lowercase() } else { char });
                break;
            }
            if let Some(number) = rest.strip_prefix(['f', 'F']).and_then(|digits| digits.parse::<u8>().ok()) {
                key.code = Code::F(number);
                break;
            }
            let (modifier, after) = rest.split_once('-').ok_or(NotAKey)?;
            match modifier.to_ascii_lowercase().as_str() {
                "ctrl" | "c" => key.ctrl = true,
                "alt" | "a" | "m" => key.alt = true,
                "shift" | "s" => key.shift = true,
                _ => return Err(NotAKey),
            }
            rest = after;
        }
        match key.code {
            Code::Char(char) if key.shift => {
                key.code = Code::Char(char.to_ascii_uppercase());
                key.shift = false;
            }
            Code::BackTab => key.shift = false,
            Code::Char(char) if char.is_control() => return Err(NotAKey),
            Code::F(number) if number == 0 || number > 24 => return Err(NotAKey),
            _ => {}
        }
        Ok(key)
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (held, word) in [(self.ctrl, "ctrl-"), (self.alt, "alt-"), (self.shift, "shift-")] {
            if held {
                f.write_str(word)?;
            }
        }
        match self.code {
            Code::Char(char) if char != ' ' => write!(f, "{char}"),
            Code::F(number) => write!(f, "f{number}"),
            code => f.write_str(NAMES.iter().find(|(_, own)| *own == code).map_or("?", |(name, _)| name)),
        }
    }
}
