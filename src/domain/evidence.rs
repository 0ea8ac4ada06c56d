//! Evidence references as senders give them (contract section 2): untrusted names of things a side rests on.

use super::digest::{Digest, Scheme};
use serde::{Deserialize, Serialize};

/// One reference: a bare URI, or a URI with what its sender claims about the content behind it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum EvidenceRef {
    /// A URI string.
    Uri(String),
    /// A URI and claims about it; nothing here is verified by being written down.
    Described(Described),
}

/// The long form of a reference.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Described {
    /// Where the content is.
    pub uri: String,
    /// The claimed digest of the content.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<Digest>,
    /// The scheme of `digest`; `raw-sha256/1` where it is left out, since evidence is bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest_scheme: Option<Scheme>,
    /// The claimed media type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub media_type: Option<String>,
    /// The claimed size in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
    /// A title for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Whether the content is protected: never opened without authority.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub protected: Option<bool>,
}

impl EvidenceRef {
    /// The URI of either form.
    pub fn uri(&self) -> &str {
        match self {
            EvidenceRef::Uri(uri) => uri,
            EvidenceRef::Described(d) => &d.uri,
        }
    }

    /// The claimed digest and the scheme it is under.
    pub fn digest(&self) -> Option<(Digest, Scheme)> {
        match self {
            EvidenceRef::Uri(_) => None,
            EvidenceRef::Described(d) => Some((d.digest?, d.digest_scheme.unwrap_or(Scheme::RawSha256V1))),
        }
    }
}
