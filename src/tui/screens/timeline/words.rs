//! One event in words: its kind, who did it, what happened, and what is odd about it.

use crate::domain::decision::{Input, Part};
use crate::domain::envelope::Class;
use crate::domain::event::{Closing, Delivery, Event, Message, Outcome, What};
use crate::domain::ids::Timestamp;
use crate::domain::task::TaskState;
use crate::domain::text::clip;

/// Cells of an answer that are told; the whole of it is in the event itself.
const ANSWER: usize = 4000;

/// What kind of event it is, for filters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Kind {
    /// Something was sent.
    Message,
    /// The state changed.
    Move,
    /// A lease was given, prolonged or taken.
    Lease,
    /// A question, an answer, a decision.
    Decision,
    /// A side effect.
    Effect,
}

impl Kind {
    /// Every kind.
    pub(in super::super) const ALL: [Kind; 5] =
        [Kind::Message, Kind::Move, Kind::Lease, Kind::Decision, Kind::Effect];

    /// The word for it.
    pub(in super::super) fn word(self) -> &'static str {
        match self {
            Kind::Message => "messages",
            Kind::Move => "transitions",
            Kind::Lease => "leases",
            Kind::Decision => "questions and decisions",
            Kind::Effect => "effects",
        }
    }
}

/// An event in words; all of it anybody's text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in super::super) struct Words {
    pub(in super::super) kind: Kind,
    /// What happened, one or two words.
    pub(in super::super) what: String,
    /// Who did it.
    pub(in super::super) who: String,
    /// The rest.
    pub(in super::super) about: String,
}

/// An event in words.
pub(in super::super) fn words(event: &Event) -> Words {
    let say = |kind, what: &str, who: &str, about: String| Words {
        kind,
        what: what.to_owned(),
        who: who.to_owned(),
        about,
    };
    let lease = |version: &Option<u64>| version.map(|v| format!(", lease {v}")).unwrap_or_default();
    match &event.what {
        What::Created { request, trace_id, .. } => {
            let goal = request.goal.as_deref().unwrap_or("its content is behind a reference");
            say(Kind::Move, "created", "", format!("trace {trace_id}: {goal}"))
        }
        What::Delivered(delivery) => delivered(delivery),
        What::Moved { from, to, reason, executor, lease_version, retry_at } => {
            let at = retry_at.map(|at| format!(", again at {at}")).unwrap_or_default();
            let about = format!("{from} → {to}: {reason}{}{at}", lease(lease_version));
            say(Kind::Move, "moved", executor, about)
        }
        What::Failed(failure) => {
            let said = failure.message.as_deref().map(|m| format!(": {m}")).unwrap_or_default();
            say(Kind::Move, "failure", "", format!("{}{said}", failure.kind.as_str()))
        }
        What::Claimed { worker, lease_version, expires_at } => {
            say(Kind::Lease, "claimed", worker, format!("lease {lease_version} until {expires_at}"))
        }
        What::Renewed { lease_version, expires_at } => {
            say(Kind::Lease, "renewed", "", format!("lease {lease_version} until {expires_at}"))
        }
        What::Released { lease_version, executor, reason } => {
            say(Kind::Lease, "released", executor, format!("lease {lease_version}: {reason}"))
        }
        What::Asked(asked) => {
            let need = asked.question.need.as_str();
            let about = format!("question {} ({need}): {}", asked.id, asked.question.prompt);
            say(Kind::Decision, "asked", &asked.asked_by, about)
        }
        What::Closed { interruption, how } => {
            let how = match how {
                Closing::Answered => "answered",
                Closing::Canceled => "canceled",
                Closing::Replaced => "replaced by a newer question",
                Closing::Interrupted => "interrupted by a conflict",
            };
            say(Kind::Decision, "closed", "", format!("question {interruption}: {how}"))
        }
        What::Applied { arrival, class } => {
            say(Kind::Message, "applied", "", format!("held #{arrival} ({}) took effect", class.as_str()))
        }
        What::Reserved { effect, lease_version, executor } => {
            let about = format!("{} on {}{}", effect.key, effect.target, lease(lease_version));
            say(Kind::Effect, "reserved", executor, about)
        }
        What::Voided { effect, executor, reason } => {
            say(Kind::Effect, "not done", executor, format!("{} on {}: {reason}", effect.key, effect.target))
        }
        What::Committed { effect, digest, arrival, .. } => {
            let by = arrival.map(|arrival| format!(" by #{arrival}")).unwrap_or_default();
            let about = format!("{} on {}{by}, {}", effect.key, effect.target, digest.hex_prefix(12));
            say(Kind::Effect, "committed", "", about)
        }
        What::Contradicted { effect, conflict, .. } => {
            let about = format!("{} on {}: {}", effect.key, effect.target, conflict.why);
            say(Kind::Effect, "CONTRADICTED", "", about)
        }
        What::Decided(d) => {
            let upheld: Vec<String> = d.upheld.iter().map(|arrival| format!("#{arrival}")).collect();
            let upheld = if upheld.is_empty() { "none".to_owned() } else { upheld.join(" ") };
            let old = d.supersedes.as_deref().map(|old| format!(", supersedes {old}")).unwrap_or_default();
            let answer = d.input.as_ref().map(|input| format!("; {}", said(input))).unwrap_or_default();
            let about = format!(
                "{} in {} (record {}), upheld {upheld}{old}: {}{answer}",
                d.decision, d.approval_id, d.sequence, d.reason
            );
            say(Kind::Decision, "DECIDED", &d.principal.subject, about)
        }
        What::GateFailed { executor, reason } => say(Kind::Move, "gate failed", executor, reason.clone()),
    }
}

/// An answer in words, as much of it as a line or two can hold: `approved`, `denied`, or its content.
pub(in super::super) fn said(input: &Input) -> String {
    let verdict = input.approved.map(|yes| if yes { "approved" } else { "DENIED" }.to_owned());
    let parts = input.parts.iter().map(|part| match part {
        Part::Text(text) => format!("answered {text}"),
        Part::Data(value) => format!("answered {value}"),
    });
    let all: Vec<String> = verdict.into_iter().chain(parts).collect();
    clip(&all.join("; "), ANSWER).text.to_string()
}

fn delivered(d: &Delivery) -> Words {
    let plain = matches!(d.outcome, Outcome::Accepted | Outcome::Duplicate);
    let outcome = d.outcome.as_str();
    let outcome = if plain { outcome.to_owned() } else { outcome.to_uppercase() };
    let mut about = format!("{outcome} {}", d.message.message_id());
    let what = match &d.message {
        Message::New(s) => {
            about.push_str(&format!(", {}", s.payload_digest.hex_prefix(12)));
            if let Some(lease) = s.lease_version {
                about.push_str(&format!(", lease {lease}"));
            }
            if let Some(attempt) = s.attempt {
                about.push_str(&format!(", attempt {attempt}"));
            }
            s.kind.as_str()
        }
        Message::Repeat(r) => {
            about.push_str(&format!(", repeats #{}", r.of));
            "repeat"
        }
    };
    if d.submitted_by != d.message.sender() {
        about.push_str(&format!(", via {}", d.submitted_by));
    }
    if let Some(change) = d.message.repeat().and_then(|r| r.scheme_change) {
        about.push_str(&format!(", scheme {} for {}", change.to.as_str(), change.from.as_str()));
    }
    if let Some(conflict) = &d.conflict {
        about.push_str(&format!(": {}", conflict.why));
    }
    Words { kind: Kind::Message, what: what.to_owned(), who: d.message.sender().to_owned(), about }
}

/// What was seen in front of an event, as far as one has read.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Before {
    at: Option<Timestamp>,
    claimed: Option<Timestamp>,
}

impl Before {
    /// What is odd about an event, given what came before it; then counts it in.
    pub(super) fn oddities(&mut self, event: &Event) -> Vec<&'static str> {
        let mut odd = Vec::new();
        if self.at.is_some_and(|before| event.at < before) {
            odd.push("the clock ran backwards");
        }
        self.at = Some(event.at);
        match &event.what {
            What::Delivered(d) => {
                if let Some(s) = d.message.submission() {
                    if self.claimed.is_some_and(|before| s.created_at < before)
                        || s.created_at > s.received_at
                    {
                        odd.push("claimed time contradicts arrival");
                    }
                    self.claimed = self.claimed.max(Some(s.created_at));
                    if s.class == Class::Outcome && s.lease_version.is_none() {
                        odd.push("no lease");
                    }
                }
                if d.message.repeat().is_some_and(|r| r.differs.is_some()) {
                    odd.push("not all of it as the first time");
                }
                if d.id_reused {
                    odd.push("another sender used this id");
                }
            }
            What::Moved { from: TaskState::Running, to, lease_version: None, .. }
                if !matches!(to, TaskState::NeedsReview | TaskState::Canceled) =>
            {
                odd.push("no lease");
            }
            _ => {}
        }
        odd
    }
}
