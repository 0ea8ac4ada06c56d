//! Digest schemes, pinned and versioned (contract section 3): strict on the bytes received, exact to the byte.
//!
//! Two walks over the text, no tree. `scan` checks every rule of the grammar and notes which
//! objects are out of order; `print` then writes the canonical form straight into the hash, copying whole
//! runs of text that are canonical already and visiting the members of a noted object in their sorted order.
//! So the memory needed besides the input is a few bytes per member out of order, whatever the size.

mod members;
mod number;
mod order;
mod print;
mod problem;
mod scan;
mod string;

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use sha2::Digest as _;
use sha2::Sha256;

pub use members::{Member, elements, members};
pub use problem::{Problem, Rejection};
pub use scan::scan;

/// How many arrays and objects may be open at once (contract section 2).
pub const MAX_DEPTH: usize = 100;

/// A rule by which a payload becomes 32 bytes: name and version, stored with every digest (contract section 3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub enum Scheme {
    /// RFC 8785 canonical JSON, with the extra rule that no number may lose its value.
    #[default]
    JcsSha256V1,
    /// What CPython's `json.dumps(json.loads(text), sort_keys=True)` writes.
    PythonSortedJsonV1,
    /// The same with `separators=(",", ":")`.
    PythonSortedJsonCompactV1,
    /// The bytes exactly as received.
    RawSha256V1,
}

impl Scheme {
    /// Every scheme, in the order of the contract.
    pub const ALL: [Self; 4] =
        [Self::JcsSha256V1, Self::PythonSortedJsonV1, Self::PythonSortedJsonCompactV1, Self::RawSha256V1];

    /// The scheme of exactly this `name/version`; nothing else is guessed.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|scheme| scheme.as_str() == name)
    }

    /// The `name/version` that travels in an envelope.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::JcsSha256V1 => "jcs-sha256/1",
            Self::PythonSortedJsonV1 => "python-sorted-json/1",
            Self::PythonSortedJsonCompactV1 => "python-sorted-json-compact/1",
            Self::RawSha256V1 => "raw-sha256/1",
        }
    }

    fn style(self) -> Option<print::Style> {
        match self {
            Self::JcsSha256V1 => Some(print::Style::JCS),
            Self::PythonSortedJsonV1 => Some(print::Style::PYTHON),
            Self::PythonSortedJsonCompactV1 => Some(print::Style::PYTHON_COMPACT),
            Self::RawSha256V1 => None,
        }
    }
}

impl fmt::Display for Scheme {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl Serialize for Scheme {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for Scheme {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        Self::parse(&name).ok_or_else(|| de::Error::custom("unknown digest scheme"))
    }
}

/// A SHA-256 value, written `sha256:` and 64 lowercase hex digits (contract section 2).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest([u8; 32]);

/// Text that is not exactly `sha256:` and 64 lowercase hex digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a digest is written `sha256:` and 64 lowercase hex digits")]
pub struct NotADigest;

impl Digest {
    /// The SHA-256 of these bytes, whatever they are.
    pub fn of_bytes(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// The SHA-256 of these bytes, one after another.
    pub fn of_parts(parts: &[&[u8]]) -> Self {
        let mut hash = Sha256::new();
        for part in parts {
            hash.update(part);
        }
        Self(hash.finalize().into())
    }

    /// `sha256:` and 64 hexadecimal digits.
    fn text(&self) -> [u8; 71] {
        let mut text = *b"sha256:0000000000000000000000000000000000000000000000000000000000000000";
        let (pairs, _) = text.split_at_mut(7).1.as_chunks_mut::<2>();
        for (pair, byte) in pairs.iter_mut().zip(self.0) {
            *pair = [byte >> 4, byte & 15].map(|n| if n < 10 { b'0' + n } else { b'a' + n - 10 });
        }
        text
    }

    /// The digest with this value.
    pub fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The value, for storage.
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// Reads exactly the written form; upper case, a missing prefix or white space is `None`.
    pub fn parse(text: &str) -> Option<Self> {
        let hex = text.strip_prefix("sha256:")?.as_bytes();
        let nibble = |digit: u8| match digit {
            b'0'..=b'9' => Some(digit - b'0'),
            b'a'..=b'f' => Some(digit - b'a' + 10),
            _ => None,
        };
        let (pairs, odd) = hex.as_chunks::<2>();
        if pairs.len() != 32 || !odd.is_empty() {
            return None;
        }
        let mut value = [0; 32];
        for (byte, &[high, low]) in value.iter_mut().zip(pairs) {
            *byte = nibble(high)? << 4 | nibble(low)?;
        }
        Some(Self(value))
    }

    /// The 64 lowercase hex digits without the prefix.
    pub fn hex(&self) -> String {
        self.to_string().split_off("sha256:".len())
    }

    /// The first `digits` hex digits (at most 64), for a column too narrow for all of them.
    pub fn hex_prefix(&self, digits: usize) -> String {
        let mut hex = self.hex();
        hex.truncate(digits);
        hex
    }

    /// The first six hex digits, to be shown beside the whole and never instead of it.
    pub fn short(&self) -> String {
        self.hex_prefix(6)
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(std::str::from_utf8(&self.text()).unwrap_or_default())
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Digest {
    type Err = NotADigest;

    fn from_str(text: &str) -> Result<Self, NotADigest> {
        Self::parse(text).ok_or(NotADigest)
    }
}

impl Serialize for Digest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(std::str::from_utf8(&self.text()).unwrap_or_default())
    }
}

impl<'de> Deserialize<'de> for Digest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

/// The digest of a payload under a scheme, or the reason there is none (contract section 3).
pub fn digest(scheme: Scheme, payload: &[u8]) -> Result<Digest, Rejection> {
    match scheme.style() {
        None => Ok(Digest::of_bytes(payload)),
        Some(style) => Ok(Digest(print::print(payload, style, print::Hash::new())?.finish())),
    }
}

/// The bytes that [`digest`] hashes; for `raw-sha256/1` the payload itself.
pub fn canonical(scheme: Scheme, payload: &[u8]) -> Result<Vec<u8>, Rejection> {
    match scheme.style() {
        None => Ok(payload.to_vec()),
        Some(style) => print::print(payload, style, Vec::with_capacity(payload.len())),
    }
}

/// Why one of our own values has no `jcs-sha256/1` digest.
#[derive(Debug, thiserror::Error)]
pub enum Unprintable {
    /// The value has no JSON form at all, such as a map whose keys are not strings.
    #[error("the value cannot be written as JSON")]
    Serialize(#[from] serde_json::Error),
    /// Its JSON form breaks a rule of the scheme, such as an integer beyond exact floating point.
    #[error(transparent)]
    Rejected(#[from] Rejection),
}

/// The canonical `jcs-sha256/1` bytes of a value; what an approval record is stored and signed as.
pub fn jcs_bytes_of<T: Serialize + ?Sized>(value: &T) -> Result<Vec<u8>, Unprintable> {
    Ok(canonical(Scheme::JcsSha256V1, &serde_json::to_vec(value)?)?)
}

/// The `jcs-sha256/1` digest of a value (contract section 6, `record_digest` and `candidate_set_digest`).
pub fn jcs_of<T: Serialize + ?Sized>(value: &T) -> Result<Digest, Unprintable> {
    Ok(digest(Scheme::JcsSha256V1, &serde_json::to_vec(value)?)?)
}
