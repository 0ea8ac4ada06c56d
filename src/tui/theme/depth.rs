//! How many colours the terminal shows, and the nearest of them to the one asked for.

use ratatui::style::Color;

/// How many colours the terminal shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Depth {
    /// None: no colour is ever set.
    Mono,
    /// The 16 of the terminal's own palette.
    Sixteen,
    /// 256 by index.
    Indexed,
    /// 24 bits.
    True,
}

/// The usual values of the 16, as xterm has them.
const SIXTEEN: [(u8, u8, u8); 16] = [
    (0, 0, 0),
    (205, 0, 0),
    (0, 205, 0),
    (205, 205, 0),
    (0, 0, 238),
    (205, 0, 205),
    (0, 205, 205),
    (229, 229, 229),
    (127, 127, 127),
    (255, 0, 0),
    (0, 255, 0),
    (255, 255, 0),
    (92, 92, 255),
    (255, 0, 255),
    (0, 255, 255),
    (255, 255, 255),
];

/// The six levels of the colour cube.
const LEVELS: [u8; 6] = [0, 95, 135, 175, 215, 255];

impl Depth {
    /// What the environment says standard output can show. `NO_COLOR`, if set to anything, means `Mono`.
    pub fn detect() -> Depth {
        if std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty()) {
            return Depth::Mono;
        }
        match supports_color::on(supports_color::Stream::Stdout) {
            None => Depth::Mono,
            Some(level) if level.has_16m => Depth::True,
            Some(level) if level.has_256 => Depth::Indexed,
            Some(_) => Depth::Sixteen,
        }
    }

    /// The nearest colour this depth has, or none at `Mono`.
    pub fn fit(self, color: Color) -> Option<Color> {
        match (self, color) {
            (Depth::Mono, _) => None,
            (Depth::True, _) | (_, Color::Reset) => Some(color),
            (Depth::Indexed, Color::Rgb(r, g, b)) => Some(Color::Indexed(nearest_256((r, g, b)))),
            (Depth::Indexed, _) => Some(color),
            (Depth::Sixteen, Color::Rgb(r, g, b)) => Some(ansi(nearest_16((r, g, b)))),
            (Depth::Sixteen, Color::Indexed(index)) => Some(ansi(nearest_16(rgb_of(index)))),
            (Depth::Sixteen, _) => Some(color),
        }
    }
}

/// Squared distance, weighted as the eye weighs.
fn distance(a: (u8, u8, u8), b: (u8, u8, u8)) -> u32 {
    let part = |x: u8, y: u8, weight: u32| u32::from(x.abs_diff(y)).pow(2) * weight;
    part(a.0, b.0, 3) + part(a.1, b.1, 6) + part(a.2, b.2, 1)
}

fn nearest_16(color: (u8, u8, u8)) -> u8 {
    let nearest = (0u8..).zip(SIXTEEN).min_by_key(|(_, known)| distance(color, *known));
    nearest.map_or(7, |(index, _)| index)
}

fn nearest_256(color: (u8, u8, u8)) -> u8 {
    (16u8..=255).min_by_key(|index| distance(color, rgb_of(*index))).unwrap_or(15)
}

/// The usual value of an index of the 256.
fn rgb_of(index: u8) -> (u8, u8, u8) {
    if let Some(known) = SIXTEEN.get(usize::from(index)) {
        return *known;
    }
    if index >= 232 {
        let grey = 8 + (index - 232) * 10;
        return (grey, grey, grey);
    }
    let cube = index - 16;
    let level = |step: u8| LEVELS.get(usize::from(step % 6)).copied().unwrap_or(0);
    (level(cube / 36), level(cube / 6), level(cube))
}

/// The 16 by the names ratatui has for them, which become the classic codes 30–37 and 90–97.
fn ansi(index: u8) -> Color {
    const NAMES: [Color; 16] = [
        Color::Black,
        Color::Red,
        Color::Green,
        Color::Yellow,
        Color::Blue,
        Color::Magenta,
        Color::Cyan,
        Color::Gray,
        Color::DarkGray,
        Color::LightRed,
        Color::LightGreen,
        Color::LightYellow,
        Color::LightBlue,
        Color::LightMagenta,
        Color::LightCyan,
        Color::White,
    ];
    NAMES.get(usize::from(index)).copied().unwrap_or(Color::Reset)
}

/// The usual value of any colour, for pictures; `None` for the terminal's own default.
pub(in crate::tui) fn value_of(color: Color) -> Option<(u8, u8, u8)> {
    match color {
        Color::Reset => None,
        Color::Rgb(r, g, b) => Some((r, g, b)),
        Color::Indexed(index) => Some(rgb_of(index)),
        named => (0u8..16).find(|index| ansi(*index) == named).map(rgb_of),
    }
}
