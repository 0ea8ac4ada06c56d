//! Small value types: task ids and times. Bounds are checked where outside text enters (`envelope`).

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use std::fmt;

/// The name of a task, unique in a store; at most 256 bytes, as given by whoever requested it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TaskId(pub String);

impl TaskId {
    /// The id as stored. It is outside text: reveal it before showing it.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for TaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.0)
    }
}

impl From<&str> for TaskId {
    fn from(s: &str) -> Self {
        TaskId(s.to_owned())
    }
}

/// A moment in milliseconds since 1970-01-01T00:00:00Z; printed and serialised as RFC 3339 in UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(pub i64);

/// The years RFC 3339 can print: 0000 to 9999, both whole in UTC.
const EARLIEST: i64 = -62_167_219_200_000;
const LATEST: i64 = 253_402_300_799_999;
/// Digits of a fraction of a second that `jiff` reads; RFC 3339 allows any number.
const FRACTION: usize = 9;

impl Timestamp {
    /// Reads an RFC 3339 date-time with an offset, from 0000-01-01T00:00:00Z to 9999-12-31T23:59:59.999Z; digits below
    /// a millisecond are dropped, however many there are.
    pub fn parse(text: &str) -> Option<Self> {
        let text = without_excess(text);
        let ms = match text.parse::<jiff::Timestamp>() {
            Ok(at) => at.as_millisecond(),
            Err(_) => at_the_end(&text)?,
        };
        (EARLIEST..=LATEST).contains(&ms).then_some(Timestamp(ms))
    }

    /// This moment moved by `ms`, kept inside what can be printed.
    pub fn plus(self, ms: i64) -> Self {
        Timestamp(self.0.saturating_add(ms).clamp(EARLIEST, LATEST))
    }

    /// Milliseconds from `earlier` to this moment; negative when a clock ran backwards.
    pub fn since(self, earlier: Timestamp) -> i64 {
        self.0.saturating_sub(earlier.0)
    }
}

/// The text without the digits of a fraction that are past what is kept anyway.
fn without_excess(text: &str) -> Cow<'_, str> {
    let Some((whole, rest)) = text.split_once('.') else { return Cow::Borrowed(text) };
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    match (rest.get(..FRACTION), rest.get(digits..)) {
        (Some(kept), Some(offset)) if digits > FRACTION => Cow::Owned(format!("{whole}.{kept}{offset}")),
        _ => Cow::Borrowed(text),
    }
}

/// Milliseconds of a moment in the last hours of year 9999, where `jiff`'s moments end before its calendar does.
fn at_the_end(text: &str) -> Option<i64> {
    let pieces = jiff::fmt::temporal::Pieces::parse(text).ok()?;
    let offset = pieces.to_numeric_offset()?;
    let local = pieces.date().to_datetime(pieces.time()?);
    (pieces.date().year() == 9999 && pieces.time_zone_annotation().is_none()).then_some(())?;
    let since = local.duration_since(jiff::civil::date(1970, 1, 1).at(0, 0, 0, 0));
    let ms = i64::try_from(since.as_millis()).ok()?;
    Some(ms - i64::from(offset.seconds()) * 1000)
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Civil-from-days (proleptic Gregorian), in integers: this runs once per stored event.
        let ms = self.0.clamp(EARLIEST, LATEST);
        let (days, of_day) = (ms.div_euclid(86_400_000), ms.rem_euclid(86_400_000));
        let z = days + 719_468;
        let (era, doe) = (z.div_euclid(146_097), z.rem_euclid(146_097));
        let yoe = (doe - doe / 1460 + doe / 36_524 - doe / 146_096) / 365;
        let doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
        let mp = (5 * doy + 2) / 153;
        let (day, month) = (doy - (153 * mp + 2) / 5 + 1, if mp < 10 { mp + 3 } else { mp - 9 });
        let year = yoe + era * 400 + i64::from(month <= 2);
        let (h, m, s, milli) = (of_day / 3_600_000, of_day / 60_000 % 60, of_day / 1000 % 60, of_day % 1000);
        let mut text = *b"0000-00-00T00:00:00.000Z";
        for (end, mut n) in [(4, year), (7, month), (10, day), (13, h), (16, m), (19, s), (23, milli)] {
            for digit in text.iter_mut().take(end).rev().take_while(|c| c.is_ascii_digit()) {
                *digit = b'0' + u8::try_from(n % 10).unwrap_or_default();
                n /= 10;
            }
        }
        f.write_str(std::str::from_utf8(&text).unwrap_or_default())
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        let text = Cow::<'de, str>::deserialize(d)?;
        Timestamp::parse(&text)
            .ok_or_else(|| serde::de::Error::custom("not an RFC 3339 date-time of the years 0000 to 9999"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prints_what_jiff_prints() {
        for ms in [
            0,
            1,
            -1,
            951_782_400_000,
            951_868_799_999,
            1_796_058_000_123,
            EARLIEST,
            253_402_207_200_000,
            -62_135_596_800_000,
        ] {
            let ours = Timestamp(ms).to_string();
            let theirs = jiff::Timestamp::from_millisecond(ms).unwrap();
            assert_eq!(ours, format!("{theirs:.3}"), "{ms}");
            assert_eq!(Timestamp::parse(&ours), Some(Timestamp(ms)));
        }
    }

    #[test]
    fn refuses_what_has_no_offset() {
        for bad in ["2026-11-30T12:00:00", "2026-11-30", "yesterday", "", "2026-13-01T00:00:00Z"] {
            assert_eq!(Timestamp::parse(bad), None, "{bad}");
        }
        assert_eq!(Timestamp::parse("2026-11-30T12:00:00+02:00"), Timestamp::parse("2026-11-30T10:00:00Z"));
    }

    #[test]
    fn a_fraction_may_have_any_number_of_digits() {
        let noon = Timestamp::parse("2026-11-30T12:00:00.123Z");
        assert_eq!(noon, Some(Timestamp(1_796_040_000_123)));
        for digits in ["123", "1230", "123999999", "1239999999", &format!("123{}", "9".repeat(10_000))] {
            for (local, offset) in [("12", "Z"), ("14", "+02:00"), ("06", "-06:00")] {
                let text = format!("2026-11-30T{local}:00:00.{digits}{offset}");
                assert_eq!(Timestamp::parse(&text), noon, "{text}");
            }
        }
        for bad in
            ["2026-11-30T12:00:00.Z", "2026-11-30T12:00:00.1234567890", "2026-11-30T12:00:00.12345678901x"]
        {
            assert_eq!(Timestamp::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn the_last_year_is_read_to_its_last_second() {
        for (text, ms) in [
            ("9999-12-30T21:59:59Z", 253_402_207_199_000),
            ("9999-12-30T22:00:01Z", 253_402_207_201_000),
            ("9999-12-31T23:59:59Z", 253_402_300_799_000),
            ("9999-12-31T23:59:59.9999999999Z", LATEST),
            ("9999-12-31T23:59:59+00:00", 253_402_300_799_000),
            ("9999-12-31T22:59:59-01:00", 253_402_300_799_000),
        ] {
            let read = Timestamp::parse(text);
            assert_eq!(read, Some(Timestamp(ms)), "{text}");
            assert_eq!(Timestamp::parse(&Timestamp(ms).to_string()), read, "{text}");
        }
        assert_eq!(Timestamp(LATEST).to_string(), "9999-12-31T23:59:59.999Z");
        for bad in [
            "9999-12-31T23:59:59-00:01",
            "10000-01-01T00:00:00Z",
            "9999-12-31T23:59:59",
            "9999-12-31T24:00:00Z",
        ] {
            assert_eq!(Timestamp::parse(bad), None, "{bad}");
        }
        assert_eq!(Timestamp(LATEST).plus(1), Timestamp(LATEST));
    }
}
