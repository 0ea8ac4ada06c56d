//! The header, the tabs, the footer with the keys valid now, and the sign that something is being waited for.

use std::time::Duration;

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget as _;
use unicode_width::UnicodeWidthStr as _;

use crate::domain::text::clip;
use crate::tui::model::{Link, Model};
use crate::tui::theme::{Role, Theme};

/// The connection in words and a glyph, and how it looks.
pub fn link(model: &Model) -> (String, Role) {
    match model.link {
        Link::Connecting => ("◌ connecting".into(), Role::Muted),
        Link::Live => ("● live".into(), Role::Success),
        Link::Reconnecting { since } => {
            (format!("◌ reconnecting {}s", model.now.run.saturating_sub(since).as_secs()), Role::Warning)
        }
        Link::Offline { data_of } => {
            let then = data_of.to_zoned_datetime(model.zone.clone());
            (format!("○ offline, data of {}", then.strftime("%H:%M")), Role::Danger)
        }
    }
}

/// Draws the line at the top: what this is, which store, how fresh, who.
pub fn header(frame: &mut Frame<'_>, area: Rect, theme: &Theme, model: &Model) {
    let (link, role) = link(model);
    let who = clip(&model.who, usize::from(area.width / 3)).text.to_string();
    // Where there is little room, which store it is matters more than which program.
    let name = if area.width < 70 { "" } else { " tribunal " };
    let room = usize::from(area.width).saturating_sub(name.width() + link.width() + who.width() + 5);
    let left = Line::from(vec![
        Span::styled(name, theme.style(Role::Title)),
        Span::raw(" "),
        Span::styled(clip(&model.store, room).text.to_string(), theme.style(Role::Header)),
        Span::raw("  "),
        Span::styled(link, theme.style(role)),
    ]);
    left.render(area, frame.buffer_mut());
    let width = u16::try_from(who.width() + 1).unwrap_or(area.width).min(area.width);
    let place = Rect { x: area.right().saturating_sub(width), width, ..area };
    Line::styled(who, theme.style(Role::Header)).render(place, frame.buffer_mut());
}

/// A count as it is shown: `10,000+` where there are more than were counted.
pub fn counted(count: u64, capped: bool) -> String {
    let digits = count.to_string();
    let mut text = String::new();
    for (at, digit) in digits.char_indices() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    if capped {
        text.push('+');
    }
    text
}

/// Draws tabs, each with the length of the list it names. Where they do not all fit, the chosen one is among those
/// that are seen, and `‹` and `›` say that there are more.
pub fn tabs(
    frame: &mut Frame<'_>,
    area: Rect,
    theme: &Theme,
    tabs: &[(&str, Option<String>)],
    chosen: usize,
) {
    let texts: Vec<String> = tabs
        .iter()
        .enumerate()
        .map(|(at, (name, count))| {
            // Brackets, because a colour alone says nothing.
            let (open, close) = if at == chosen { ("[", "]") } else { (" ", " ") };
            let count = count.as_ref().map(|count| format!(" {count}")).unwrap_or_default();
            format!("{open}{name}{count}{close}")
        })
        .collect();
    let width = |from: usize| {
        texts.iter().skip(from).take(chosen + 1 - from.min(chosen)).map(|t| t.width()).sum::<usize>()
    };
    let room = usize::from(area.width).saturating_sub(2);
    let first = (0..chosen).find(|from| width(*from) <= room).unwrap_or(chosen);
    let mut spans = vec![Span::styled(if first > 0 { "‹" } else { " " }, theme.style(Role::Muted))];
    let mut used = 0;
    for (at, text) in texts.iter().enumerate().skip(first) {
        used += text.width();
        if used > room && at > chosen {
            spans.push(Span::styled("›", theme.style(Role::Muted)));
            break;
        }
        let style = theme.style(if at == chosen { Role::Selected } else { Role::Muted });
        spans.push(Span::styled(text.clone(), style));
    }
    Line::from(spans).render(area, frame.buffer_mut());
}

/// Draws the keys valid now, best first, as many as fit whole; for the last, which leads to all, there is
/// always room.
pub fn footer(frame: &mut Frame<'_>, area: Rect, theme: &Theme, keys: &[(String, &str)]) {
    let width = |(key, word): &(String, &str)| key.width() + word.width() + 3;
    let mut left = usize::from(area.width).saturating_sub(keys.last().map_or(0, width));
    let mut spans = Vec::new();
    for (at, entry) in keys.iter().enumerate() {
        let (key, word) = entry;
        if at + 1 < keys.len() {
            if width(entry) > left {
                continue;
            }
            left -= width(entry);
        }
        spans.push(Span::styled(format!(" {key}"), theme.style(Role::Key)));
        spans.push(Span::styled(format!(" {word} "), theme.style(Role::Footer)));
    }
    Line::from(spans).render(area, frame.buffer_mut());
}

/// One line in place of rows; the text is revealed and cut here.
pub fn say(frame: &mut Frame<'_>, rows: Rect, theme: &Theme, text: &str, role: Role) {
    let (x, width) = (rows.x.saturating_add(1), rows.width.saturating_sub(2));
    let text = clip(text, usize::from(width)).text.to_string();
    let place = Rect { x, width, height: rows.height.min(1), ..rows };
    Line::styled(text, theme.style(role)).render(place, frame.buffer_mut());
}

/// Something that is being waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// `Now::run` when it began.
    pub since: Duration,
}

const SPINNER: [&str; 8] = ["⠋", "⠙", "⠸", "⠴", "⠦", "⠇", "⠏", "⠛"];
/// What is answered sooner shows no spinner.
const QUIET: Duration = Duration::from_millis(150);
/// What takes longer shows how long.
const LONG: Duration = Duration::from_secs(2);
/// How long one picture of the spinner stays.
const TURN: Duration = Duration::from_millis(120);

impl Waiting {
    /// What is shown: nothing at first, then a spinner, then how long it takes.
    pub fn mark(self, run: Duration) -> String {
        let elapsed = run.saturating_sub(self.since);
        if elapsed < QUIET {
            return String::new();
        }
        let turn = usize::try_from(elapsed.as_millis() / TURN.as_millis()).unwrap_or(0) % SPINNER.len();
        let picture = SPINNER.get(turn).copied().unwrap_or("…");
        if elapsed < LONG { picture.to_owned() } else { format!("{picture} {}s", elapsed.as_secs()) }
    }

    /// When the mark changes next, from `run`.
    pub fn wake(self, run: Duration) -> Duration {
        QUIET.saturating_sub(run.saturating_sub(self.since)).max(TURN)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::model::Now;

    fn model(link: Link) -> Model {
        let now = Now { run: Duration::from_secs(10), wall: "2026-11-30T12:04:31Z".parse().unwrap() };
        Model { link, ..Model::new("payments", "you", now) }
    }

    #[test]
    fn the_connection_is_told_in_words() {
        assert_eq!(link(&model(Link::Live)).0, "● live");
        assert_eq!(link(&model(Link::Reconnecting { since: Duration::from_secs(7) })).0, "◌ reconnecting 3s");
        let data_of = "2026-11-30T12:04:00Z".parse().unwrap();
        assert_eq!(link(&model(Link::Offline { data_of })).0, "○ offline, data of 12:04");
        assert!(model(Link::Live).fresh() && !model(Link::Offline { data_of }).fresh());
    }

    #[test]
    fn counts_are_grouped_and_a_cap_shows() {
        assert_eq!(counted(0, false), "0");
        assert_eq!(counted(999, false), "999");
        assert_eq!(counted(1_234_567, false), "1,234,567");
        assert_eq!(counted(10_000, true), "10,000+");
    }

    #[test]
    fn a_wait_is_silent_then_turns_then_counts() {
        let wait = Waiting { since: Duration::ZERO };
        assert_eq!(wait.mark(Duration::from_millis(149)), "");
        assert_eq!(wait.mark(Duration::from_millis(150)), "⠙");
        assert_eq!(wait.mark(Duration::from_millis(2000)), "⠋ 2s");
        assert_eq!(wait.wake(Duration::ZERO), Duration::from_millis(150));
        assert_eq!(wait.wake(Duration::from_secs(1)), TURN);
    }
}
