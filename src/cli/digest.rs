//! `digest`: the digest of the input's exact bytes as one JSON value.

use super::failure::Failure;
use super::output::{Out, note};
use crate::domain::digest::{self, Scheme};
use clap::Args;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Map, json};
use std::fs::File;
use std::io::{self, Read};

/// The largest input, in bytes: it is read whole.
const MOST: u64 = 1 << 30;

#[derive(Debug, Args)]
pub struct Digest {
    /// The scheme
    #[arg(long, default_value = "jcs-sha256/1", value_parser = scheme)]
    scheme: Scheme,
    /// The file; standard input where left out or `-`
    #[arg(value_name = "FILE")]
    file: Option<String>,
}

/// Reads a scheme's name.
pub fn scheme(name: &str) -> Result<Scheme, String> {
    Scheme::parse(name).ok_or_else(|| {
        let known: Vec<&str> = Scheme::ALL.iter().map(|s| s.as_str()).collect();
        format!("not a scheme; there are {}", known.join(", "))
    })
}

impl Digest {
    pub fn run(self, out: &mut Out) -> Result<(), Failure> {
        let bytes = read_input(self.file.as_deref(), MOST)?;
        if !out.is_json() && is_envelope(&bytes) {
            note("note: this looks like an envelope; payload_digest is the digest of its payload alone");
        }
        match digest::digest(self.scheme, &bytes) {
            Ok(found) if out.is_json() => {
                out.json(&json!({ "digest": found, "digest_scheme": self.scheme, "size": bytes.len() }))
            }
            Ok(found) => out.say(found.to_string()),
            Err(rejection) => {
                let mut data = Map::new();
                data.insert("problem".into(), rejection.problem.code().into());
                data.insert("offset".into(), rejection.offset.into());
                Err(Failure::Invalid { code: "undigestable", message: rejection.to_string(), data })
            }
        }
    }
}

/// Whether this is a whole message, of which only the payload is digested for `payload_digest`.
fn is_envelope(bytes: &[u8]) -> bool {
    #[derive(Deserialize)]
    struct Envelope {
        #[serde(rename = "payload")]
        _payload: IgnoredAny,
        #[serde(rename = "payload_digest")]
        _payload_digest: IgnoredAny,
    }
    bytes.trim_ascii_start().starts_with(b"{") && serde_json::from_slice::<Envelope>(bytes).is_ok()
}

/// Reads a file, or standard input where there is none or it is `-`, of at most `most` bytes.
pub fn read_input(file: Option<&str>, most: u64) -> Result<Vec<u8>, Failure> {
    let name = file.unwrap_or("-");
    let wrong = |e: io::Error| Failure::file(name, &e);
    let from: Box<dyn Read> = match file {
        None | Some("-") => Box::new(io::stdin().lock()),
        Some(path) => Box::new(File::open(path).map_err(wrong)?),
    };
    let mut bytes = Vec::new();
    from.take(most + 1).read_to_end(&mut bytes).map_err(wrong)?;
    if bytes.len() as u64 > most {
        return Err(Failure::invalid("limit_exceeded", format!("{name} has more than {most} bytes")));
    }
    Ok(bytes)
}
