//! Credentials known by their own shape: keys, tokens with prefixes, web tokens, headers, URLs.

use super::{SecretKind, window};

/// Longest web token header that is decoded, in base64url characters.
const MAX_JWT_HEADER: usize = 4096;

#[derive(Debug, Clone, Copy)]
enum Tail {
    /// Letters and digits.
    Alnum,
    /// Letters, digits, `_` and `-`.
    Url,
    /// Capital letters and digits.
    Upper,
    /// Hexadecimal digits.
    Hex,
}

impl Tail {
    fn has(self, c: char) -> bool {
        match self {
            Self::Alnum => c.is_ascii_alphanumeric(),
            Self::Url => c.is_ascii_alphanumeric() || c == '_' || c == '-',
            Self::Upper => c.is_ascii_uppercase() || c.is_ascii_digit(),
            Self::Hex => c.is_ascii_hexdigit(),
        }
    }
}

/// Prefix, alphabet of what follows, its least length, words. From the issuers' own documentation.
const PREFIXES: &[(&str, Tail, usize, &str)] = &[
    ("ghp_", Tail::Alnum, 36, "a GitHub token"),
    ("gho_", Tail::Alnum, 36, "a GitHub token"),
    ("ghu_", Tail::Alnum, 36, "a GitHub token"),
    ("ghs_", Tail::Alnum, 36, "a GitHub token"),
    ("ghr_", Tail::Alnum, 36, "a GitHub token"),
    ("github_pat_", Tail::Url, 40, "a GitHub token"),
    ("glpat-", Tail::Url, 20, "a GitLab token"),
    ("xoxb-", Tail::Url, 16, "a Slack token"),
    ("xoxp-", Tail::Url, 16, "a Slack token"),
    ("xoxa-", Tail::Url, 16, "a Slack token"),
    ("xoxs-", Tail::Url, 16, "a Slack token"),
    ("xapp-", Tail::Url, 16, "a Slack token"),
    ("AKIA", Tail::Upper, 16, "an AWS access key"),
    ("ASIA", Tail::Upper, 16, "an AWS access key"),
    ("AIza", Tail::Url, 35, "a Google API key"),
    ("ya29.", Tail::Url, 20, "a Google access token"),
    ("npm_", Tail::Alnum, 36, "an npm token"),
    ("hf_", Tail::Alnum, 30, "a Hugging Face token"),
    ("sk_live_", Tail::Alnum, 16, "a Stripe key"),
    ("rk_live_", Tail::Alnum, 16, "a Stripe key"),
    ("sk_test_", Tail::Alnum, 16, "a Stripe key"),
    ("whsec_", Tail::Alnum, 16, "a webhook signing secret"),
    ("shpat_", Tail::Hex, 32, "a Shopify token"),
    ("shpss_", Tail::Hex, 32, "a Shopify secret"),
    ("dop_v1_", Tail::Hex, 64, "a DigitalOcean token"),
    ("doo_v1_", Tail::Hex, 64, "a DigitalOcean token"),
    ("dckr_pat_", Tail::Url, 20, "a Docker token"),
    ("pypi-AgE", Tail::Url, 40, "a PyPI token"),
    ("hvs.", Tail::Url, 20, "a Vault token"),
    ("AGE-SECRET-KEY-1", Tail::Upper, 50, "an age secret key"),
];

pub(super) fn private_key(text: &str) -> Option<SecretKind> {
    let begins = |(at, _): (usize, &str)| {
        let label = window(text, at).lines().next().unwrap_or_default();
        label.split("-----").nth(1).is_some_and(|label| label.contains("PRIVATE KEY"))
    };
    let found = text.match_indices("-----BEGIN ").any(begins) || text.contains("PuTTY-User-Key-File-");
    found.then_some(SecretKind::PrivateKey)
}

/// Runs of the characters tokens are made of.
fn runs(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.')))
        .filter(|run| run.len() >= 16)
}

pub(super) fn prefixed(text: &str) -> Option<SecretKind> {
    runs(text).find_map(|run| {
        let run = run.trim_start_matches(['.', '-', '_']);
        if jwt(run) {
            return Some(SecretKind::Jwt);
        }
        if open_ai(run) {
            return Some(SecretKind::Token("an API key"));
        }
        if send_grid(run) {
            return Some(SecretKind::Token("a SendGrid key"));
        }
        PREFIXES.iter().find_map(|&(prefix, tail, least, what)| {
            let rest = run.strip_prefix(prefix)?;
            let length = rest.chars().take_while(|&c| tail.has(c)).count();
            (length >= least && varied(rest)).then_some(SecretKind::Token(what))
        })
    })
}

/// A digit somewhere: generated tokens have one, words joined by dashes seldom do.
fn varied(text: &str) -> bool {
    text.bytes().any(|b| b.is_ascii_digit())
}

/// `sk-…`, `sk-proj-…`, `sk-ant-…`: one long part with letters and digits, unlike the name of a library.
fn open_ai(run: &str) -> bool {
    let Some(rest) = run.strip_prefix("sk-") else { return false };
    rest.split(['-', '_', '.'])
        .any(|part| part.len() >= 16 && varied(part) && part.bytes().any(|b| b.is_ascii_alphabetic()))
}

/// `SG.` with 22 and 43 characters.
fn send_grid(run: &str) -> bool {
    let mut parts = run.split('.');
    let (head, id, key) = (parts.next(), parts.next(), parts.next());
    let long = |part: Option<&str>, least| part.is_some_and(|part| part.len() >= least);
    head == Some("SG") && long(id, 20) && long(key, 32)
}

/// At least three dotted base64url parts of which the first is a JSON object with an `alg`.
fn jwt(run: &str) -> bool {
    if !run.starts_with("eyJ") {
        return false;
    }
    let mut parts = run.split('.');
    let Some(header) = parts.next().filter(|header| header.len() <= MAX_JWT_HEADER) else { return false };
    if parts.next().is_none_or(str::is_empty) || parts.next().is_none() {
        return false;
    }
    let header = decode(header).and_then(|bytes| serde_json::from_slice::<serde_json::Value>(&bytes).ok());
    header.is_some_and(|header| header.get("alg").is_some_and(serde_json::Value::is_string))
}

/// Base64url without padding.
fn decode(text: &str) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(text.len() * 3 / 4);
    let (mut bits, mut held) = (0u32, 0u32);
    for b in text.bytes() {
        let six = match b {
            b'A'..=b'Z' => b - b'A',
            b'a'..=b'z' => b - b'a' + 26,
            b'0'..=b'9' => b - b'0' + 52,
            b'-' => 62,
            b'_' => 63,
            _ => return None,
        };
        bits = (bits << 6) | u32::from(six);
        held += 6;
        if held >= 8 {
            held -= 8;
            out.push(u8::try_from((bits >> held) & 0xFF).ok()?);
        }
        bits &= (1 << held) - 1;
    }
    Some(out)
}

/// `Authorization: …` with a credential behind it, or `Bearer` and a generated token.
pub(super) fn authorization(text: &str) -> Option<SecretKind> {
    let lower = text.to_ascii_lowercase();
    let header = lower.match_indices("authorization").any(|(at, name)| {
        let rest = window(text, at + name.len());
        let rest = rest.trim_start_matches(['"', '\'', ' ', '\t']);
        let Some(value) = rest.strip_prefix([':', '=']) else { return false };
        let value = value.trim_start_matches(['"', '\'', ' ', '\t']);
        header_value(value)
    });
    let bearer = lower.match_indices("bearer").any(|(at, name)| {
        let rest = window(text, at + name.len());
        let token = credential(rest.trim_start_matches([' ', '\t', ':', '=']));
        rest.starts_with([' ', '\t', ':', '=']) && token.len() >= 12 && varied(token) && lettered(token)
    });
    (header || bearer).then_some(SecretKind::AuthorizationHeader)
}

fn header_value(value: &str) -> bool {
    let first = credential(value);
    let schemes =
        ["bearer", "basic", "token", "digest", "negotiate", "apikey", "api-key", "aws4-hmac-sha256"];
    let second = value.get(first.len()..).unwrap_or_default().trim_start_matches([' ', '\t']);
    let token = if schemes.iter().any(|scheme| first.eq_ignore_ascii_case(scheme)) {
        credential(second)
    } else {
        first
    };
    token.len() >= 8 && !token.bytes().all(|b| b.is_ascii_lowercase() || matches!(b, b'-' | b'.' | b','))
}

/// The characters of RFC 7235's token68 and of quoted parameters, from the start of `text`.
fn credential(text: &str) -> &str {
    let end = text.find(|c: char| !(c.is_ascii_alphanumeric() || "-._~+/=".contains(c)));
    text.get(..end.unwrap_or(text.len())).unwrap_or_default()
}

fn lettered(text: &str) -> bool {
    text.bytes().any(|b| b.is_ascii_alphabetic())
}

/// `scheme://user:password@host`.
pub(super) fn url_password(text: &str) -> Option<SecretKind> {
    let found = text.match_indices("://").any(|(at, mark)| {
        let rest = window(text, at + mark.len());
        let end = rest.find(|c: char| c.is_whitespace() || "/?#\"'<>".contains(c)).unwrap_or(rest.len());
        let authority = rest.get(..end).unwrap_or_default();
        let password =
            authority.rsplit_once('@').and_then(|(user, _)| user.split_once(':')).map(|(_, word)| word);
        password.is_some_and(|word| !word.is_empty() && !super::assigned::placeholder(word))
    });
    found.then_some(SecretKind::UrlPassword)
}
