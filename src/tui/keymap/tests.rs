//! Spelling of keys, the whole default table without a conflict, and what a user's table may do.

use super::*;

fn key(spec: &str) -> Key {
    spec.parse().unwrap()
}

#[test]
fn keys_are_spelled_and_read_back() {
    for spec in [
        "G", "g", "ctrl-d", "pgdn", "space", "backtab", "f5", "alt-x", "/", ":", "?", "[", "-", "ctrl--", "é",
    ] {
        assert_eq!(key(spec).to_string(), spec);
        assert_eq!(key(&format!("<{spec}>")), key(spec));
    }
    assert_eq!(key("shift-tab"), Key::plain(Code::BackTab));
    assert_eq!(key("Ctrl-D"), key("ctrl-d"));
    assert_eq!(key("shift-g"), key("G"));
    assert_eq!(key("<"), Key::plain(Code::Char('<')));
    assert_eq!(key("<lt>"), Key::plain(Code::Char('<')));
    for wrong in ["", "ctrl-", "hyper-x", "f0", "f99", "nosuch", "<>"] {
        assert_eq!(wrong.parse::<Key>(), Err(NotAKey), "{wrong}");
    }
}

#[test]
fn every_default_key_is_a_key_and_means_one_thing() {
    for entry in ACTIONS {
        for (scope, keys) in entry.keys {
            for spec in *keys {
                let key: Key = spec.parse().unwrap_or_else(|_| panic!("{}: {spec}", entry.name));
                let text = matches!(scope, Scope::Always | Scope::Field | Scope::Line);
                assert!(!(text && key.typed().is_some()), "{}: {spec} is text in a field", entry.name);
                assert_eq!(
                    Keymap::default().resolve(&[*scope], key),
                    Some(entry.action),
                    "{spec} twice in {scope:?}"
                );
            }
        }
    }
    assert_eq!(Keymap::default().conflicts(), []);
}

#[test]
fn the_more_particular_scope_is_asked_first() {
    let map = Keymap::default();
    assert_eq!(map.resolve(&[Scope::Docket, Scope::List], key("j")), Some(Action::Down));
    assert_eq!(map.resolve(&[Scope::Docket, Scope::List], key("d")), Some(Action::Decide));
    assert_eq!(map.resolve(&[Scope::List], key("d")), None);
    assert_eq!(map.resolve(&[Scope::Line, Scope::Field, Scope::Always], key("down")), Some(Action::Down));
    assert_eq!(
        map.keys(&[Scope::List], Action::Down).map(|k| k.to_string()).collect::<Vec<_>>(),
        ["j", "down"]
    );
}

#[test]
fn a_user_rebinds_by_name_and_hears_of_mistakes_with_their_line() {
    let text = "decide = [\"D\", \"nosuchkey\"]\nsort = \"x\"\ndecied = \"z\"\nquit = \"j\"\n";
    let (map, warnings) = Keymap::parse(text, "keys.toml").unwrap();
    let docket = &[Scope::Docket, Scope::List, Scope::Global, Scope::Always];
    assert_eq!(map.resolve(docket, key("D")), Some(Action::Decide));
    assert_eq!(map.resolve(docket, key("d")), None);
    assert_eq!(map.resolve(docket, key("x")), Some(Action::Sort));
    assert_eq!(
        warnings,
        [
            "keys.toml:1: this is no key",
            "keys.toml:3: no action is called `decied`",
            "keys.toml:4: j means down and quit",
        ]
    );
    assert!(Keymap::parse("a = [", "keys.toml").unwrap_err().starts_with("keys.toml:1: "));
}

#[test]
fn taking_a_key_of_the_same_scope_is_said_and_the_file_wins_over_the_default() {
    let (map, warnings) = Keymap::parse("sort = \"p\"\n", "k").unwrap();
    assert_eq!(warnings, ["k:1: p means sort and toggle-preview"]);
    assert_eq!(map.resolve(&[Scope::Docket], key("p")), Some(Action::Sort));
    assert_eq!(map.keys(&[Scope::Docket], Action::TogglePreview).count(), 0);
    let (map, warnings) =
        Keymap::parse("refresh = \"p\"\nsort = \"p\"\ntoggle-preview = \"o\"", "k").unwrap();
    assert_eq!(map.resolve(&[Scope::Docket], key("p")), Some(Action::Refresh));
    assert_eq!(warnings, ["k:2: p means sort and refresh"]);
}
