//! Themes by role: a theme says how danger looks, never how the third column looks.
//!
//! A theme is a small TOML file. A role it does not name keeps the plain text of the terminal, a key nobody
//! knows is a warning with file and line. Colours are fitted once to what the terminal can show, so drawing
//! converts nothing. `mono` and every theme at depth `Mono` set no colour at all: bold, dim, underline and
//! reverse then carry the meaning, together with the words and glyphs that are there in every theme.

mod depth;
#[cfg(test)]
mod tests;

pub use depth::Depth;
pub(in crate::tui) use depth::value_of;

use ratatui::style::{Color, Modifier, Style};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

macro_rules! roles {
    ($( $variant:ident $name:literal $doc:literal )+) => {
        /// What a piece of the screen means.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Role { $( #[doc = $doc] $variant, )+ }

        impl Role {
            /// Every role with its name in the theme file and what it means.
            pub const ALL: &[(Role, &str, &str)] = &[ $( (Role::$variant, $name, $doc), )+ ];
        }
    };
}

roles! {
    Text "text" "Plain text."
    Muted "muted" "Text of less weight."
    Title "title" "Names of screens and panes."
    Accent "accent" "What the eye should find first."
    Border "border" "Lines between parts."
    Focus "focus" "The border of the part that has the focus."
    Selected "selected" "The row or part the keys act on."
    Key "key" "A key that can be pressed."
    Badge "badge" "A count or a small mark."
    Link "link" "Something that can be opened."
    Match "match" "Where a search matched."
    Untrusted "untrusted" "Text that an agent wrote."
    Hidden "hidden" "A character made visible that would have been invisible."
    Fresh "fresh" "Recent or current."
    Warning "warning" "Wants attention soon."
    Danger "danger" "Wants attention now, or cannot be undone."
    Success "success" "Verified, decided, done."
    Changed "changed" "Differs between the sides."
    Added "added" "Only on the right side."
    Removed "removed" "Only on the left side."
    Header "header" "The line at the top."
    Footer "footer" "The line at the bottom."
    Toast "toast" "A short notice."
}

/// How each role looks, fitted to a colour depth.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Theme {
    /// The theme's name.
    pub name: String,
    /// Whether it is made for a light background.
    pub light: bool,
    /// Ink and paper for pictures of the screen; a terminal keeps its own.
    pub page: (Color, Color),
    roles: [Style; Role::ALL.len()],
}

/// The embedded themes, by name. A file of the same name in the user's directory wins; the caller reads it.
pub const EMBEDDED: &[(&str, &str)] = &[
    ("default-dark", include_str!("../../themes/default-dark.toml")),
    ("default-light", include_str!("../../themes/default-light.toml")),
    ("ansi16", include_str!("../../themes/ansi16.toml")),
    ("mono", include_str!("../../themes/mono.toml")),
    ("high-contrast", include_str!("../../themes/high-contrast.toml")),
    ("colour-blind", include_str!("../../themes/colour-blind.toml")),
];

impl Theme {
    /// The embedded theme of this name, at full depth.
    pub fn embedded(name: &str) -> Option<Theme> {
        let (name, text) = EMBEDDED.iter().find(|(known, _)| *known == name)?;
        Theme::parse(text, name).ok().map(|(theme, _)| theme)
    }

    /// The theme to start with when none was asked for.
    pub fn automatic(light: bool, depth: Depth) -> Theme {
        let name = match depth {
            Depth::Mono => "mono",
            Depth::Sixteen => "ansi16",
            Depth::Indexed | Depth::True if light => "default-light",
            Depth::Indexed | Depth::True => "default-dark",
        };
        Theme::embedded(name).unwrap_or_else(Theme::bare).at(depth)
    }

    /// No colours, and reverse for the selection: what is left when a theme cannot be read. Enough to measure by.
    pub(in crate::tui) fn bare() -> Theme {
        let mut roles = [Style::new(); Role::ALL.len()];
        if let Some(selected) = roles.get_mut(Role::Selected as usize) {
            *selected = Style::new().add_modifier(Modifier::REVERSED);
        }
        Theme { name: "bare".into(), light: false, page: (Color::White, Color::Black), roles }
    }

    /// How `role` looks.
    pub fn style(&self, role: Role) -> Style {
        self.roles.get(role as usize).copied().unwrap_or_default()
    }

    /// The same theme with every colour fitted to `depth`. Without colours, a theme that counts on them looks
    /// like `mono`: what they said is then said by weight and reverse.
    pub fn at(mut self, depth: Depth) -> Theme {
        let coloured =
            |style: &Style| style.fg.is_some() || style.bg.is_some() || style.underline_color.is_some();
        if depth == Depth::Mono && self.roles.iter().any(coloured) {
            self.roles = Theme::embedded("mono").unwrap_or_else(Theme::bare).roles;
        }
        for style in &mut self.roles {
            style.fg = style.fg.and_then(|color| depth.fit(color));
            style.bg = style.bg.and_then(|color| depth.fit(color));
            style.underline_color = style.underline_color.and_then(|color| depth.fit(color));
        }
        self
    }

    /// Reads a theme file. Returns the theme and its warnings, each `FILE:LINE: what is odd`.
    ///
    /// # Errors
    /// The text is not TOML; the message names file and line.
    pub fn parse(text: &str, file: &str) -> Result<(Theme, Vec<String>), String> {
        let document = DeTable::parse(text).map_err(|error| {
            format!(
                "{file}:{}: {}",
                line_of(text, error.span().map_or(0, |span| span.start)),
                error.message()
            )
        })?;
        let mut reader = Reader { text, file, warnings: Vec::new(), palette: Vec::new() };
        let mut theme = Theme::bare();
        theme.roles = [Style::new(); Role::ALL.len()];
        theme.name = file.trim_end_matches(".toml").into();
        let table = document.get_ref();
        if let Some(DeValue::Table(palette)) = table.get("palette").map(Spanned::get_ref) {
            for (key, value) in palette {
                if let Some(color) = reader.color(value) {
                    reader.palette.push((key.get_ref().to_string(), color));
                }
            }
        }
        for (key, value) in table {
            match (key.get_ref().as_ref(), value.get_ref()) {
                ("palette", DeValue::Table(_)) => {}
                ("name", DeValue::String(name)) => theme.name = name.to_string(),
                ("light", DeValue::Boolean(light)) => theme.light = *light,
                ("ink", _) => theme.page.0 = reader.color(value).unwrap_or(theme.page.0),
                ("paper", _) => theme.page.1 = reader.color(value).unwrap_or(theme.page.1),
                ("roles", DeValue::Table(roles)) => reader.roles(roles, &mut theme.roles),
                (other, _) => {
                    reader.warn(key.span().start, &format!("nothing is called `{other}`, or not so"))
                }
            }
        }
        Ok((theme, reader.warnings))
    }
}

/// The line, from 1, of a byte offset.
fn line_of(text: &str, offset: usize) -> usize {
    text.bytes().take(offset).filter(|byte| *byte == b'\n').count().saturating_add(1)
}

struct Reader<'a> {
    text: &'a str,
    file: &'a str,
    warnings: Vec<String>,
    palette: Vec<(String, Color)>,
}

impl Reader<'_> {
    fn warn(&mut self, at: usize, what: &str) {
        self.warnings.push(format!("{}:{}: {what}", self.file, line_of(self.text, at)));
    }

    fn roles(&mut self, table: &DeTable<'_>, roles: &mut [Style]) {
        for (key, value) in table {
            let known = Role::ALL.iter().position(|(_, name, _)| *name == key.get_ref().as_ref());
            match known.and_then(|index| roles.get_mut(index)) {
                Some(style) => *style = self.style(value),
                None => self.warn(key.span().start, &format!("no role is called `{}`", key.get_ref())),
            }
        }
    }

    /// A string is a foreground; a table has `fg`, `bg`, and the modifiers set to true.
    fn style(&mut self, value: &Spanned<DeValue<'_>>) -> Style {
        let DeValue::Table(table) = value.get_ref() else {
            return Style { fg: self.color(value), ..Style::new() };
        };
        let mut style = Style::new();
        for (key, value) in table {
            let modifier = match key.get_ref().as_ref() {
                "fg" => {
                    style.fg = self.color(value);
                    continue;
                }
                "bg" => {
                    style.bg = self.color(value);
                    continue;
                }
                "bold" => Modifier::BOLD,
                "dim" => Modifier::DIM,
                "italic" => Modifier::ITALIC,
                "underline" => Modifier::UNDERLINED,
                "reverse" => Modifier::REVERSED,
                other => {
                    self.warn(key.span().start, &format!("no property is called `{other}`"));
                    continue;
                }
            };
            match value.get_ref() {
                DeValue::Boolean(true) => style = style.add_modifier(modifier),
                DeValue::Boolean(false) => {}
                _ => self.warn(value.span().start, "this is true or false"),
            }
        }
        style
    }

    /// A palette name, `#rrggbb`, an ANSI name or an index of the 256.
    fn color(&mut self, value: &Spanned<DeValue<'_>>) -> Option<Color> {
        let found = match value.get_ref() {
            DeValue::String(name) => {
                let own = self.palette.iter().find(|(own, _)| own == name.as_ref()).map(|(_, color)| *color);
                own.or_else(|| name.parse().ok())
            }
            DeValue::Integer(index) => index.as_str().parse().ok().map(Color::Indexed),
            _ => None,
        };
        if found.is_none() {
            self.warn(value.span().start, "this is no colour");
        }
        found
    }
}
