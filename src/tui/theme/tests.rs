//! Themes are complete, warn with file and line, and lose colour without losing meaning.

use super::*;

#[test]
fn every_embedded_theme_reads_without_a_warning_and_sets_every_role_that_must_stand_out() {
    for (name, text) in EMBEDDED {
        let (theme, warnings) = Theme::parse(text, name).unwrap();
        assert_eq!(theme.name, *name);
        assert_eq!(warnings, Vec::<String>::new());
        for role in [Role::Selected, Role::Danger, Role::Changed, Role::Added, Role::Removed, Role::Untrusted]
        {
            assert_ne!(theme.style(role), Style::new(), "{name}: {role:?}");
        }
    }
}

#[test]
fn an_unknown_key_is_a_warning_with_file_and_line() {
    let text = "name = \"x\"\n[roles]\ndanger = \"red\"\ndangre = \"red\"\ntext = { fg = \"nosuch\", blink = true }\n";
    let (theme, warnings) = Theme::parse(text, "x.toml").unwrap();
    assert_eq!(theme.style(Role::Danger).fg, Some(Color::Red));
    assert_eq!(
        warnings,
        [
            "x.toml:4: no role is called `dangre`",
            "x.toml:5: no property is called `blink`",
            "x.toml:5: this is no colour",
        ]
        .map(String::from)
        .iter()
        .map(String::as_str)
        .collect::<Vec<_>>(),
    );
}

#[test]
fn broken_toml_is_an_error_with_file_and_line() {
    let error = Theme::parse("name = \"x\"\n[roles\n", "x.toml").unwrap_err();
    assert!(error.starts_with("x.toml:2: "), "{error}");
}

#[test]
fn mono_and_every_theme_at_mono_set_no_colour() {
    for (name, _) in EMBEDDED {
        let theme = Theme::embedded(name).unwrap().at(Depth::Mono);
        for (role, ..) in Role::ALL {
            let style = theme.style(*role);
            assert_eq!((style.fg, style.bg, style.underline_color), (None, None, None), "{name}: {role:?}");
        }
        assert!(theme.style(Role::Selected).add_modifier.contains(Modifier::REVERSED), "{name}");
    }
    let mono = Theme::embedded("mono").unwrap();
    assert_eq!(mono, mono.clone().at(Depth::Mono));
    assert!(mono.style(Role::Selected).add_modifier.contains(Modifier::REVERSED));
}

#[test]
fn colours_fit_the_depth() {
    // The xterm cube: 196 is pure red, 16 black, 231 white; 244 is #808080.
    assert_eq!(Depth::Indexed.fit(Color::Rgb(255, 0, 0)), Some(Color::Indexed(196)));
    assert_eq!(Depth::Indexed.fit(Color::Rgb(128, 128, 128)), Some(Color::Indexed(244)));
    assert_eq!(Depth::Sixteen.fit(Color::Rgb(250, 10, 10)), Some(Color::LightRed));
    assert_eq!(Depth::Sixteen.fit(Color::Indexed(231)), Some(Color::White));
    assert_eq!(Depth::True.fit(Color::Rgb(1, 2, 3)), Some(Color::Rgb(1, 2, 3)));
    assert_eq!(Depth::Mono.fit(Color::Red), None);
}

#[test]
fn the_automatic_theme_follows_background_and_depth() {
    assert_eq!(Theme::automatic(false, Depth::True).name, "default-dark");
    assert_eq!(Theme::automatic(true, Depth::True).name, "default-light");
    assert_eq!(Theme::automatic(true, Depth::Sixteen).name, "ansi16");
    assert_eq!(Theme::automatic(true, Depth::Mono).name, "mono");
}
