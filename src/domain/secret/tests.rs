//! Tables of what is refused and what must pass. Every credential here is made up.

use proptest::prelude::*;

use super::{SecretKind, looks_like_secret};

fn assert_kind(text: &str, kind: SecretKind) {
    assert_eq!(looks_like_secret(text), Some(kind), "{text}");
    assert_eq!(
        looks_like_secret(&format!("Here you go:\n  {text}\nthanks")),
        Some(kind),
        "inside prose: {text}"
    );
}

#[test]
fn private_keys_are_refused() {
    for label in
        ["PRIVATE KEY", "RSA PRIVATE KEY", "EC PRIVATE KEY", "ENCRYPTED PRIVATE KEY", "OPENSSH PRIVATE KEY"]
    {
        assert_kind(&format!("-----BEGIN {label}-----\nMIIEvQ=="), SecretKind::PrivateKey);
    }
    assert_kind("-----BEGIN PGP PRIVATE KEY BLOCK-----", SecretKind::PrivateKey);
    assert_kind("PuTTY-User-Key-File-3: ssh-ed25519", SecretKind::PrivateKey);
}

#[test]
fn tokens_are_known_by_their_prefix() {
    let a36 = "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8";
    let hex32 = "0123456789abcdef0123456789abcdef";
    let table = [
        (format!("ghp_{a36}"), "a GitHub token"),
        (format!("gho_{a36}"), "a GitHub token"),
        (format!("github_pat_11ABCDEFG0{a36}"), "a GitHub token"),
        ("glpat-x1y2z3A4B5C6D7E8F9G0".to_owned(), "a GitLab token"),
        ("xoxb-123456789012-abcdefABCDEF".to_owned(), "a Slack token"),
        ("xoxp-123456789012-abcdefABCDEF".to_owned(), "a Slack token"),
        ("AKIAIOSFODNN7EXAMPLE".to_owned(), "an AWS access key"),
        ("ASIAIOSFODNN7EXAMPLE".to_owned(), "an AWS access key"),
        (format!("AIza{}", &a36[..35]), "a Google API key"),
        (format!("ya29.{a36}"), "a Google access token"),
        (format!("npm_{a36}"), "an npm token"),
        (format!("hf_{a36}"), "a Hugging Face token"),
        ("sk_live_4eC39HqLyjWDarjtT1zdp7dc".to_owned(), "a Stripe key"),
        (format!("shpat_{hex32}"), "a Shopify token"),
        (format!("dop_v1_{hex32}{hex32}"), "a DigitalOcean token"),
        (
            "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".to_owned(),
            "a SendGrid key",
        ),
        (format!("sk-{a36}"), "an API key"),
        (format!("sk-proj-{a36}"), "an API key"),
        (format!("sk-ant-api03-{a36}"), "an API key"),
    ];
    for (text, what) in table {
        assert_kind(&text, SecretKind::Token(what));
        assert_kind(&format!("https://host/path?key={text}"), SecretKind::Token(what));
        assert_kind(&format!("\"{text}\","), SecretKind::Token(what));
    }
}

#[test]
fn a_web_token_is_known_by_its_header() {
    // The example of RFC 7519 section 3.1.
    let rfc = "eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGF\
               tcGxlLmNvbS9pc19yb290Ijp0cnVlfQ.dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
    assert_kind(rfc, SecretKind::Jwt);
    // The unsecured example of RFC 7519 section 6.1: the third part is empty.
    assert_kind("eyJhbGciOiJub25lIn0.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODB9.", SecretKind::Jwt);
    // {"typ":"JWT"} has no alg, so it is no web token.
    assert_eq!(looks_like_secret("eyJ0eXAiOiJKV1QifQ.eyJpc3MiOiJqb2UifQ.c2lnbmF0dXJl"), None);
}

#[test]
fn headers_are_refused() {
    for text in [
        "Authorization: Bearer canary-secret-123",
        "authorization: basic dXNlcjpwYXNz",
        "\"Authorization\": \"Bearer abcDEF12345\"",
        "Authorization=Token 9944b09199c62bcf9418ad846dd0e4bbdfc6ee4b",
        "curl -H 'Authorization: 9944b09199c62bcf'",
        "Bearer abcdef1234567890",
        "bearer: mF_9.B5f-4.1JqM",
    ] {
        assert_kind(text, SecretKind::AuthorizationHeader);
    }
}

#[test]
fn passwords_in_urls_are_refused() {
    assert_kind("postgres://app:hunter2@db.internal:5432/main", SecretKind::UrlPassword);
    assert_kind("https://user:p@ss@host/", SecretKind::UrlPassword);
}

#[test]
fn assigned_values_are_refused() {
    for text in [
        "password=hunter2",
        "password: hunter2",
        "Password: correcthorse",
        "DB_PASSWORD=swordfish",
        "db.password = \"swordfish\"",
        "{\"password\":\"swordfish\"}",
        "passphrase: open sesame1x",
        "api_key: 9f8e7d6c5b4a3210",
        "apiKey=\"AbC123xyz789\"",
        "X-Api-Key: 9f8e7d6c5b4a3210",
        "AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
        "client_secret => 'q1w2e3r4t5'",
        "access_token=a8f5f167f44f4964e6c998dee827110c",
        "https://host/cb?state=1&access_token=a8f5f167f44f4964",
        "secret := 'swordfish'",
    ] {
        if text.starts_with("passphrase") {
            // The first word is ordinary and more follow: taken for a sentence. Documented, not hidden.
            assert_eq!(looks_like_secret(text), None);
            continue;
        }
        assert_kind(text, SecretKind::Assigned);
    }
}

#[test]
fn ordinary_text_passes() {
    for text in [
        "",
        "Please use the second candidate; the first one read an old file.",
        "The password is wrong, ask the owner to reset it.",
        "password: the user forgot it",
        "Password: required",
        "password=",
        "password=<your password>",
        "password=${DB_PASSWORD}",
        "api_key: $API_KEY",
        "token: process.env.TOKEN1234",
        "api_key: required",
        "Authorization: required for this endpoint",
        "Authorization: Bearer <token>",
        "Authorization: Basic auth is not supported",
        "Authorization: Bearer token is missing",
        "the bearer of this letter",
        "Bearer authentication is used",
        "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "digest 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "0192f0c1-5d2a-7c3e-8f4b-1a2b3c4d5e6f",
        "idempotency_key=0192f0c1-5d2a-7c3e-8f4b-1a2b3c4d5e6f",
        "page_token=CAoQAA1234abcd",
        "max_tokens=4096",
        "https://example.com/a/b?x=1&y=2#frag",
        "ssh://git@example.com:22/repo.git",
        "mail me: someone@example.com",
        "https://example.com:8443/@user:name",
        "sk-learn-extra-components",
        "task-4f2a, npm_config_registry, hf_transfer, SG.1",
        "AKIA is the prefix of an access key",
        "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----",
        "-----BEGIN PUBLIC KEY-----",
        "eyJ is how base64 of { starts.",
        "the secret of success: patience and time",
        "resume_key: run-7f3a91bc",
    ] {
        assert_eq!(looks_like_secret(text), None, "{text}");
    }
}

#[test]
fn every_kind_has_its_words() {
    for kind in [
        SecretKind::PrivateKey,
        SecretKind::Jwt,
        SecretKind::Token("a GitHub token"),
        SecretKind::AuthorizationHeader,
        SecretKind::UrlPassword,
        SecretKind::Assigned,
    ] {
        assert!(kind.what().starts_with("a ") || kind.what().starts_with("an "), "{kind:?}");
        assert!(kind.advice().ends_with('.'), "{kind:?}");
    }
}

proptest! {
    #[test]
    fn never_panics(text in "\\PC{0,200}", glue in "(password|token|Authorization|Bearer|eyJ|://|-----BEGIN )[=: ]{0,3}") {
        let _ = looks_like_secret(&text);
        let _ = looks_like_secret(&format!("{text}{glue}{text}"));
    }
}

#[test]
fn a_megabyte_is_read_in_linear_time() {
    // A quadratic scan of these takes minutes, a linear one far below a second.
    let start = std::time::Instant::now();
    for piece in ["password:", "://", "-----BEGIN ", "authorization: ", "bearer ", "=", "eyJ."] {
        let text = piece.repeat((1 << 20) / piece.len());
        let _ = looks_like_secret(&text);
    }
    assert!(start.elapsed().as_secs() < 20, "{:?}", start.elapsed());
}
