//! What a question asks for, and what is said about it.

use crate::domain::form::Form;
use crate::domain::interruption::{Interruption, Need};
use crate::domain::text::{is_hidden, mixed_script_warning};
use crate::tui::model::Model;
use crate::tui::theme::Role;
use crate::tui::widgets::form::Fields;
use crate::tui::widgets::moment::{self, Told, moment};

/// How a question is answered.
pub(super) enum Content {
    /// The fields of its schema.
    Fields(Box<Fields>),
    /// Free text.
    Text,
    /// Its schema is more than a form: why.
    Elsewhere(String),
    /// Nothing is typed.
    None,
}

impl Content {
    /// What this question takes.
    pub(super) fn of(asked: &Interruption) -> Content {
        match (asked.question.need, &asked.question.schema) {
            (Need::HumanApproval | Need::MachineCredentials, _) => Content::None,
            (Need::BusinessInput, None) => Content::Text,
            (Need::BusinessInput, Some(schema)) => match Form::from_schema(schema) {
                Ok(form) => Content::Fields(Box::new(Fields::new(form))),
                Err(why) => Content::Elsewhere(why.to_string()),
            },
        }
    }
}

/// What is known of the question, line by line, its prompt apart; anybody's text.
pub(super) fn facts(asked: &Interruption, model: &Model) -> Vec<(String, Role)> {
    let question = &asked.question;
    let mut facts = vec![(
        format!(
            "{} asks for {}, question {} (version {})",
            asked.asked_by,
            question.need.as_str(),
            asked.id,
            asked.version
        ),
        Role::Untrusted,
    )];
    if let Some(action) = &question.action {
        facts.push((format!("interrupted: {action}"), Role::Text));
    }
    if let Some(scope) = &question.scope {
        facts.push((format!("scope: {scope}"), Role::Text));
    }
    let who = &question.satisfiers;
    if !who.principals.is_empty() || !who.roles.is_empty() {
        let named: Vec<&str> = who.principals.iter().chain(&who.roles).map(String::as_str).collect();
        facts.push((format!("may be answered by: {}", named.join(", ")), Role::Text));
    }
    facts.push(expiry(asked, model));
    if let Some(link) = &question.link {
        facts.push((format!("at: {link}"), Role::Link));
        facts.push(match host(link).filter(|_| is_safe(link)) {
            Some(host) => (format!("host: {host} (copy takes the link)"), Role::Title),
            None => {
                ("the link is NOT plain http(s): it is not opened or copied here".to_owned(), Role::Danger)
            }
        });
        if let Some(found) = host(link).and_then(mixed_script_warning) {
            facts.push((format!("the host mixes scripts and may imitate another: {found}"), Role::Danger));
        }
    }
    if let Some(resume) = &question.resume {
        facts.push((format!("work resumes from {resume}"), Role::Muted));
    }
    facts
}

fn expiry(asked: &Interruption, model: &Model) -> (String, Role) {
    let Some(at) = asked.question.expires_at else {
        return ("does not expire".to_owned(), Role::Muted);
    };
    let told = moment(at, Told::Utc, model);
    match at.since(moment::now(model)) {
        ..=0 => (format!("EXPIRED at {told}: it can only be canceled or asked anew"), Role::Danger),
        left if left < 600_000 => {
            let (minutes, seconds) = (left / 60_000, left / 1000 % 60);
            (format!("expires in {minutes}:{seconds:02} ({told})"), Role::Danger)
        }
        left => (format!("expires in {} ({told})", moment::span(left)), Role::Warning),
    }
}

/// The host of a link, without a name or a password in front of it.
fn host(link: &str) -> Option<&str> {
    let (_, rest) = link.split_once("://")?;
    let authority = rest.split(['/', '?', '#', '\\']).next()?;
    let host = authority.rsplit('@').next()?;
    (!host.is_empty()).then_some(host)
}

/// Whether a link is plain enough to be handed on: http(s), nothing hidden, no blanks, no name before the host.
pub(super) fn is_safe(link: &str) -> bool {
    let scheme = link.starts_with("https://") || link.starts_with("http://");
    let odd = |char: char| char.is_control() || char.is_whitespace() || is_hidden(char) || char == '\\';
    let authority = link.split_once("://").and_then(|(_, rest)| rest.split(['/', '?', '#']).next());
    scheme
        && !link.contains(odd)
        && authority.is_some_and(|authority| !authority.contains('@'))
        && host(link).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_links_are_handed_on_and_the_host_is_the_real_one() {
        assert!(is_safe("https://auth.example.org/device?code=1"));
        for bad in [
            "javascript:alert(1)",
            "file:///etc/passwd",
            "https://bank.example@evil.example/",
            "https://a\u{202e}b.example/",
            "https://a b.example/",
            "https://a.example\\@b.example",
            "https:///x",
            "",
        ] {
            assert!(!is_safe(bad), "{bad:?}");
        }
        assert_eq!(host("https://bank.example@evil.example/x"), Some("evil.example"));
    }
}
