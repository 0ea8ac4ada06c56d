//! Durations and dates as people write them.

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;

use super::When;

const UNITS: &[(&str, i64)] =
    &[("w", 604_800_000), ("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1000), ("ms", 1)];

/// Longest duration: a hundred years, so that no arithmetic with it can overflow.
const MAX_MILLIS: i64 = 36_525 * 86_400_000;

/// Milliseconds of `90s`, `15m`, `2h`, `3d`, `1w`, `1h30m`.
pub(super) fn duration(text: &str) -> Option<i64> {
    let mut total = 0i64;
    let mut rest = text;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit())?;
        let (number, tail) = rest.split_at(digits);
        let end = tail.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(tail.len());
        let (unit, after) = tail.split_at(end);
        let (_, millis) = UNITS.iter().find(|(name, _)| name.eq_ignore_ascii_case(unit))?;
        total = number.parse::<i64>().ok()?.checked_mul(*millis)?.checked_add(total)?;
        rest = after;
    }
    (!text.is_empty() && total <= MAX_MILLIS).then_some(total)
}

/// The duration in the largest units that lose nothing.
pub(super) fn show_duration(millis: i64) -> String {
    let mut rest = millis.max(0);
    let mut out = String::new();
    for &(unit, size) in UNITS {
        if rest >= size {
            out.push_str(&(rest / size).to_string());
            out.push_str(unit);
            rest %= size;
        }
    }
    if out.is_empty() { "0s".to_owned() } else { out }
}

/// Which moment of a day a date without a time means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Edge {
    Start,
    End,
}

/// RFC 3339, `YYYY-MM-DD` in UTC, or a duration that means that long ago.
pub(super) fn when(text: &str, edge: Edge) -> Option<When> {
    if let Some(millis) = duration(text) {
        return Some(When::Ago(millis));
    }
    // jiff also reads forms of ISO 8601 that RFC 3339 leaves out; only these two are ours.
    if text.len() == 10 {
        let date: Date = text.parse().ok()?;
        let day = match edge {
            Edge::Start => date,
            Edge::End => date.tomorrow().ok()?,
        };
        let start = day.to_zoned_datetime(TimeZone::UTC).ok()?.timestamp().as_millisecond();
        return Some(When::At(start - i64::from(edge == Edge::End)));
    }
    let separated = matches!(text.as_bytes().get(10), Some(b'T' | b't'));
    let whole = separated && text.len() >= 20 && text.is_ascii() && !text.contains('[');
    whole.then(|| text.parse::<Timestamp>().ok()).flatten().map(|at| When::At(at.as_millisecond()))
}

pub(super) fn show_when(when: When) -> String {
    match when {
        When::Ago(millis) => show_duration(millis),
        When::At(at) => match Timestamp::from_millisecond(at) {
            Ok(at) => at.to_string(),
            // Out of the calendar: as far back as the language can say.
            Err(_) => show_duration(MAX_MILLIS),
        },
    }
}
