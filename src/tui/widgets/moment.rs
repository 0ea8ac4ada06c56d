//! Moments and spans of time in few cells.

use std::time::Duration;

use jiff::tz::TimeZone;

use crate::domain::ids::Timestamp;
use crate::tui::model::Model;

/// How a moment is told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Told {
    /// As `12:01:07Z`.
    #[default]
    Utc,
    /// As `13:01:07`, in the zone of the terminal.
    Local,
    /// As `2h14m ago`.
    Relative,
}

impl Told {
    /// The next way, in a circle.
    #[must_use]
    pub fn next(self) -> Told {
        match self {
            Told::Utc => Told::Local,
            Told::Local => Told::Relative,
            Told::Relative => Told::Utc,
        }
    }

    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Told::Utc => "UTC",
            Told::Local => "local time",
            Told::Relative => "relative",
        }
    }
}

/// The present moment as the coordinator counts it.
pub fn now(model: &Model) -> Timestamp {
    Timestamp(model.now.wall.as_millisecond())
}

/// A moment, with its date where that is not today's.
pub fn moment(at: Timestamp, told: Told, model: &Model) -> String {
    let Ok(then) = jiff::Timestamp::from_millisecond(at.0) else { return at.to_string() };
    let (zone, mark) = match told {
        Told::Utc => (TimeZone::UTC, "Z"),
        Told::Local => (model.zone.clone(), ""),
        Told::Relative => {
            let ms = now(model).since(at);
            let word = if ms < 0 { "ahead" } else { "ago" };
            return format!("{} {word}", span(ms.saturating_abs()));
        }
    };
    let today = model.now.wall.to_zoned_datetime(zone.clone());
    let then = then.to_zoned_datetime(zone);
    let form = if then.date() == today.date() { "%H:%M:%S" } else { "%Y-%m-%d %H:%M:%S" };
    format!("{}{mark}", then.strftime(form))
}

/// A moment in a column: local, with its date where that is not today's, and then to the minute.
pub fn minute(at: Timestamp, model: &Model) -> String {
    let told = moment(at, Told::Local, model);
    told.get(..16).map_or_else(|| told.clone(), str::to_owned)
}

/// A span of milliseconds: `9s`, `41m`, `2h14m`, `3d04h`.
pub fn span(ms: i64) -> String {
    let seconds = ms.max(0) / 1000;
    match seconds {
        0..60 => format!("{seconds}s"),
        60..3600 => format!("{}m", seconds / 60),
        3600..86_400 => format!("{}h{:02}m", seconds / 3600, seconds / 60 % 60),
        _ => format!("{}d{:02}h", seconds / 86_400, seconds / 3600 % 24),
    }
}

/// When a countdown to `at` changes next.
pub fn countdown(at: Timestamp, model: &Model) -> Option<Duration> {
    match at.since(now(model)) {
        ..=0 => None,
        1..120_000 => Some(Duration::from_secs(1)),
        _ => Some(Duration::from_secs(30)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::model::Now;

    #[test]
    fn a_date_is_told_only_where_it_is_not_today_and_a_future_is_no_past() {
        let wall = "2026-11-30T12:04:31Z".parse().unwrap();
        let mut model = Model::new("", "", Now { run: Duration::ZERO, wall });
        model.zone = TimeZone::fixed(jiff::tz::offset(1));
        let at = |text| Timestamp::parse(text).unwrap();
        assert_eq!(moment(at("2026-11-30T12:01:07Z"), Told::Utc, &model), "12:01:07Z");
        assert_eq!(moment(at("2026-11-30T12:01:07Z"), Told::Local, &model), "13:01:07");
        assert_eq!(moment(at("2026-11-29T23:01:07Z"), Told::Utc, &model), "2026-11-29 23:01:07Z");
        assert_eq!(moment(at("2026-11-30T09:50:31Z"), Told::Relative, &model), "2h14m ago");
        assert_eq!(moment(at("2026-11-30T12:05:31Z"), Told::Relative, &model), "1m ahead");
        assert_eq!((span(59_999), span(90_000_000)), ("59s".into(), "1d01h".into()));
        assert_eq!(countdown(at("2026-11-30T12:04:00Z"), &model), None);
    }
}
