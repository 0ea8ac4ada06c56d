//! Values given to names such as `password` and `api_key`.

use super::{SecretKind, window};

/// Names whose value is a secret whatever it looks like.
const WORDS: &[&str] = &["password", "passwd", "passphrase", "pwd", "secret"];

/// Names whose value is a secret when it looks generated.
const KEYS: &[&str] = &[
    "apikey",
    "accesskey",
    "accesstoken",
    "authtoken",
    "bearertoken",
    "refreshtoken",
    "idtoken",
    "sessiontoken",
    "privatekey",
    "secretkey",
    "clientsecret",
    "secretaccesskey",
    "signingkey",
    "encryptionkey",
    "accountkey",
    "credential",
    "credentials",
    "token",
];

/// Names that end like a secret's and are none.
const HARMLESS: &[&str] = &["pagetoken", "nexttoken", "continuationtoken", "synctoken", "maxtoken"];

/// What people write about a password instead of one.
const STATES: &[&str] = &[
    "required",
    "missing",
    "expired",
    "wrong",
    "invalid",
    "none",
    "null",
    "nil",
    "unchanged",
    "reset",
    "yes",
    "no",
    "true",
    "false",
    "unknown",
    "hidden",
    "redacted",
    "masked",
    "empty",
    "unset",
    "undefined",
    "optional",
    "string",
    "prompt",
    "see",
    "stored",
    "rotated",
    "changed",
    "ok",
];

/// Whether a value only stands for one: a reference, a mask or a blank to fill in.
pub(super) fn placeholder(value: &str) -> bool {
    let lower = value.to_ascii_lowercase();
    let reference =
        ["$", "<", "{", "%", "[", "*", "xxx", "…", "...", "env.", "process.env", "os.environ", "vault:"];
    lower.trim_matches(['.', ',', ';', '-', '_']).is_empty()
        || reference.iter().any(|start| lower.starts_with(start))
        || STATES.contains(&lower.trim_end_matches(['.', ',', ';', '!', '?', ')']))
}

pub(super) fn assignment(text: &str) -> Option<SecretKind> {
    let found = text.match_indices(['=', ':']).any(|(at, sign)| {
        let name =
            name_before(text.get(text.floor_char_boundary(at.saturating_sub(80))..at).unwrap_or_default());
        let rest = window(text, at + sign.len());
        // `==`, `:=`, `=>` and `://` are code and addresses; the sign that ends them is looked at by itself.
        !name.is_empty() && secret_value(&name, rest, sign == "=")
    });
    found.then_some(SecretKind::Assigned)
}

/// The identifier that ends `before`, without case, dashes and underscores.
fn name_before(before: &str) -> String {
    let before = before.trim_end_matches([' ', '\t', '"', '\'', ':', '`']);
    let letters = before.chars().rev().take_while(|&c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'));
    let mut name: Vec<char> =
        letters.filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect();
    name.reverse();
    name.into_iter().collect()
}

fn secret_value(name: &str, rest: &str, equals: bool) -> bool {
    let word = WORDS.iter().any(|known| name.ends_with(known));
    let key = KEYS.iter().any(|known| name.ends_with(known));
    if !(word || key) || HARMLESS.iter().any(|known| name.ends_with(known)) {
        return false;
    }
    let value = rest.trim_start_matches([' ', '\t', '=', '>']);
    let quoted = value.starts_with(['"', '\'', '`']);
    let value = value.trim_start_matches(['"', '\'', '`']);
    let end = value.find(|c: char| c.is_whitespace() || "\"'`,;&".contains(c)).unwrap_or(value.len());
    let (value, after) = value.split_at(end);
    if placeholder(value) {
        return false;
    }
    if word && value.len() >= 4 {
        let tight = equals && !rest.starts_with([' ', '\t']);
        return quoted || tight || !prose(value, after);
    }
    key && generated(value)
}

/// An ordinary word with more words behind it: a sentence about a password.
fn prose(value: &str, after: &str) -> bool {
    let plain = value.trim_end_matches(['.', '?', '!', ')']);
    let ordinary = plain.chars().skip(1).all(|c| c.is_lowercase() || matches!(c, '-' | '\''));
    let more = after.trim_start_matches([' ', '\t', ',', ';']).starts_with(char::is_alphanumeric);
    ordinary && plain.chars().all(|c| !c.is_ascii_digit()) && more
}

/// At least eight characters with letters and digits, not many of them twice.
fn generated(value: &str) -> bool {
    let letters = value.bytes().any(|b| b.is_ascii_alphabetic());
    let digits = value.bytes().any(|b| b.is_ascii_digit());
    let mixed =
        value.bytes().any(|b| b.is_ascii_uppercase()) && value.bytes().any(|b| b.is_ascii_lowercase());
    let long_mixed = value.len() >= 20 && mixed;
    value.len() >= 8 && letters && (digits || long_mixed) && entropy(value) >= 2.5
}

/// Shannon entropy in bits per byte.
fn entropy(value: &str) -> f64 {
    let mut counts = [0u32; 256];
    for b in value.bytes() {
        if let Some(count) = counts.get_mut(usize::from(b)) {
            *count += 1;
        }
    }
    let total: f64 = counts.iter().copied().map(f64::from).sum();
    let part = |count: u32| {
        let share = f64::from(count) / total;
        -share * share.log2()
    };
    counts.iter().copied().filter(|&count| count > 0).map(part).sum()
}
