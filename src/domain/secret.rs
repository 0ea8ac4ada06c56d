//! Text that looks like a credential: refused in every field a person can type in (contract section 8).
//!
//! A guess, tuned to catch what is pasted by mistake and to let prose, digests, identifiers and plain URLs
//! pass. It never keeps or repeats what it found.

mod assigned;
#[cfg(test)]
mod tests;
mod tokens;

/// What a text seems to contain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SecretKind {
    /// A private key in PEM, OpenSSH, PGP, PuTTY or age form.
    PrivateKey,
    /// A JSON web token.
    Jwt,
    /// A token whose prefix names its issuer; holds the words for it, as in "a GitHub token".
    Token(&'static str),
    /// An `Authorization` header or a `Bearer` credential.
    AuthorizationHeader,
    /// A URL with a password before its host.
    UrlPassword,
    /// A value given to a name such as `password` or `api_key`.
    Assigned,
}

impl SecretKind {
    /// What it looks like, as the end of "This looks like …".
    #[must_use]
    pub fn what(self) -> &'static str {
        match self {
            Self::PrivateKey => "a private key",
            Self::Jwt => "a JSON web token",
            Self::Token(what) => what,
            Self::AuthorizationHeader => "an authorization header",
            Self::UrlPassword => "a URL that contains a password",
            Self::Assigned => "a password or key with its value",
        }
    }

    /// What to do instead, one sentence.
    #[must_use]
    pub fn advice(self) -> &'static str {
        match self {
            Self::PrivateKey => {
                "Keep the key where it is and tell the agent the name under which its own secret store holds it."
            }
            Self::Jwt | Self::AuthorizationHeader => {
                "Authorize the agent at the host that asks for it, through the link on the Authorization screen."
            }
            Self::Token(_) => {
                "Put the token in the agent's own secret store and answer with the name it has there; \
                 if it was shown to anybody, revoke it."
            }
            Self::UrlPassword => {
                "Write the URL without the part before the @ and name the stored credential to use."
            }
            Self::Assigned => "Answer with the name of the stored secret, not with its value.",
        }
    }
}

/// The first thing in `text` that looks like a credential.
///
/// Reads the text a bounded number of times and never panics.
#[must_use]
pub fn looks_like_secret(text: &str) -> Option<SecretKind> {
    tokens::private_key(text)
        .or_else(|| tokens::authorization(text))
        .or_else(|| tokens::prefixed(text))
        .or_else(|| tokens::url_password(text))
        .or_else(|| assigned::assignment(text))
}

/// The text from byte `at` on, at most [`WINDOW`] bytes: a match looks no further, so that a text is read in
/// linear time.
fn window(text: &str, at: usize) -> &str {
    let rest = text.get(at..).unwrap_or_default();
    rest.get(..rest.floor_char_boundary(WINDOW)).unwrap_or_default()
}

const WINDOW: usize = 512;
