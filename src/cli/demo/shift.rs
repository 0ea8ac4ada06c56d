//! Moves a story in time, so that it ends now: the times of its messages, and the digests of payloads that hold one.

use crate::domain::digest::{self, Scheme};
use crate::domain::ids::Timestamp;
use anyhow::{Context as _, anyhow};
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// When every story ends as it is written.
const END: &str = "2026-11-30T12:00:00Z";

/// Members of a payload that hold a time.
const TIMES: [&str; 3] = ["expires_at", "retry_at", "deadline"];

/// How far a story is moved.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shift {
    ms: i64,
}

impl Shift {
    /// Such that it ends at `now`.
    pub(super) fn to(now: Timestamp) -> Shift {
        Shift { ms: Timestamp::parse(END).map_or(0, |end| now.since(end)) }
    }

    /// A moment of the story, moved.
    pub(super) fn moment(self, at: Timestamp) -> Timestamp {
        at.plus(self.ms)
    }

    /// A message of the story, moved. Where its payload holds no time, payload and digest stay byte for byte.
    pub(super) fn message(self, line: &str) -> anyhow::Result<String> {
        let mut members: BTreeMap<String, Box<RawValue>> = serde_json::from_str(line)?;
        if let Some(created) = members.get("created_at").and_then(|raw| serde_json::from_str(raw.get()).ok())
        {
            members.insert("created_at".into(), to_raw_value(&self.moment(created))?);
        }
        let payload =
            members.get("payload").and_then(|raw| serde_json::from_str::<Map<String, Value>>(raw.get()).ok());
        if let Some(moved) = payload.and_then(|payload| self.payload(payload)) {
            let scheme = match members.get("digest_scheme") {
                Some(named) => serde_json::from_str(named.get())?,
                None => Scheme::default(),
            };
            let payload = to_raw_value(&moved)?;
            let digest = digest::digest(scheme, payload.get().as_bytes()).map_err(|e| anyhow!("{e:?}"))?;
            members.insert("payload_digest".into(), to_raw_value(&digest)?);
            members.insert("payload".into(), payload);
        }
        serde_json::to_string(&members).context("writing a message")
    }

    /// The payload moved, where it holds a time.
    fn payload(self, mut payload: Map<String, Value>) -> Option<Map<String, Value>> {
        let mut moved = false;
        for name in TIMES {
            let time = payload.get(name).and_then(Value::as_str).and_then(Timestamp::parse);
            if let Some(time) = time {
                payload.insert(name.to_owned(), Value::String(self.moment(time).to_string()));
                moved = true;
            }
        }
        moved.then_some(payload)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_payload_with_a_time_gets_another_digest() {
        let shift = Shift::to(Timestamp::parse("2026-12-01T12:00:00Z").unwrap());
        let plain =
            r#"{"created_at":"2026-11-30T11:00:00Z","payload":{ "n": 1.50 },"payload_digest":"wrong"}"#;
        assert_eq!(
            shift.message(plain).unwrap(),
            r#"{"created_at":"2026-12-01T11:00:00.000Z","payload":{ "n": 1.50 },"payload_digest":"wrong"}"#
        );
        let timed =
            r#"{"created_at":"x","payload":{"deadline":"2026-11-30T18:00:00Z"},"payload_digest":"wrong"}"#;
        let moved: Value = serde_json::from_str(&shift.message(timed).unwrap()).unwrap();
        assert_eq!(moved["payload"]["deadline"], "2026-12-01T18:00:00.000Z");
        let digest =
            digest::digest(Scheme::JcsSha256V1, br#"{"deadline":"2026-12-01T18:00:00.000Z"}"#).unwrap();
        assert_eq!(moved["payload_digest"], digest.to_string());
        assert_eq!(moved["created_at"], "x");
    }
}
