//! Reads one envelope from raw bytes; says exactly what is wrong, and keeps what could be read of a bad one.

use super::{Body, EffectName, Envelope, Limits, MessageType, Payload, Request};
use crate::domain::digest::{self, Digest, Member, Problem, Scheme};
use crate::domain::evidence::EvidenceRef;
use crate::domain::failure::FailureKind;
use crate::domain::ids::{TaskId, Timestamp};
use crate::domain::interruption::Question;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// Why a message was put aside (contract section 4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum QuarantineReason {
    /// Not strict JSON, or a member of the wrong shape.
    Malformed,
    /// A required member is not there.
    MissingMember,
    /// A schema version this coordinator does not speak.
    UnsupportedSchema,
    /// Past a limit, which is named.
    LimitExceeded,
    /// The payload is not what its digest says.
    DigestMismatch,
    /// A digest scheme that is not known here.
    UnknownDigestScheme,
    /// The payload has no digest under its scheme.
    Undigestable,
    /// The sender is not one the delivering principal speaks for.
    SenderMismatch,
    /// The trace is not the task's.
    TraceMismatch,
    /// No request for the task has arrived yet.
    MissingTask,
}

impl QuarantineReason {
    /// The word on every surface.
    pub fn as_str(self) -> &'static str {
        match self {
            QuarantineReason::Malformed => "malformed",
            QuarantineReason::MissingMember => "missing_member",
            QuarantineReason::UnsupportedSchema => "unsupported_schema",
            QuarantineReason::LimitExceeded => "limit_exceeded",
            QuarantineReason::DigestMismatch => "digest_mismatch",
            QuarantineReason::UnknownDigestScheme => "unknown_digest_scheme",
            QuarantineReason::Undigestable => "undigestable",
            QuarantineReason::SenderMismatch => "sender_mismatch",
            QuarantineReason::TraceMismatch => "trace_mismatch",
            QuarantineReason::MissingTask => "missing_task",
        }
    }
}

/// What could be read of a message's name, good or bad; bounded, for lists.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Named {
    /// Its `message_id`, if there was a usable one.
    pub message_id: Option<String>,
    /// Its `task_id`, likewise.
    pub task_id: Option<String>,
    /// Its `sender`, likewise.
    pub sender: Option<String>,
}

/// Why an envelope cannot be admitted, and what was readable of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The reason code.
    pub reason: QuarantineReason,
    /// A sentence that names the member, limit, or byte offset.
    pub detail: String,
    /// What could be read of its names.
    pub named: Named,
}

/// A reason and its sentence, before the names are known.
type Reason = (QuarantineReason, String);

fn fault<T>(reason: QuarantineReason, detail: impl Into<String>) -> Result<T, Reason> {
    Err((reason, detail.into()))
}

/// Reads an envelope. `default_scheme` is the source's configured one, for messages that name none.
///
/// # Errors
/// A [`Fault`] with the quarantine reason; the caller keeps the bytes.
pub fn parse(raw: Arc<[u8]>, limits: &Limits, default_scheme: Scheme) -> Result<Envelope, Box<Fault>> {
    let mut named = Named::default();
    read(&raw, limits, default_scheme, &mut named)
        .map(|e| Envelope { raw, ..e })
        .map_err(|(reason, detail)| Box::new(Fault { reason, detail, named }))
}

fn read(raw: &[u8], limits: &Limits, default: Scheme, named: &mut Named) -> Result<Envelope, Reason> {
    if raw.len() > limits.envelope_bytes {
        return fault(
            QuarantineReason::LimitExceeded,
            format!("envelope has {} bytes, the limit is {}", raw.len(), limits.envelope_bytes),
        );
    }
    let list = match digest::members(raw, limits.depth) {
        Ok(Some(list)) => list,
        Ok(None) => return fault(QuarantineReason::Malformed, "an envelope is a JSON object"),
        Err(r) if r.problem == Problem::Depth => {
            return fault(
                QuarantineReason::LimitExceeded,
                format!("JSON nested deeper than {} at byte {}", limits.depth, r.offset),
            );
        }
        Err(r) => return fault(QuarantineReason::Malformed, r.to_string()),
    };
    let m = Members { raw, limits, by_name: list.iter().map(|m| (m.key.as_ref(), m)).collect() };
    *named = Named {
        message_id: m.id("message_id").ok(),
        task_id: m.id("task_id").ok(),
        sender: m.id("sender").ok(),
    };
    match m.string("schema_version")?.as_str() {
        "1" => {}
        other => {
            let shown: String = other.chars().take(40).collect();
            return fault(
                QuarantineReason::UnsupportedSchema,
                format!("schema_version {shown:?} is not spoken here; \"1\" is"),
            );
        }
    }
    assemble(&m, default)
}

fn assemble(m: &Members<'_>, default: Scheme) -> Result<Envelope, Reason> {
    let word = m.string("type")?;
    let Some(kind) = MessageType::parse(&word) else {
        let shown: String = word.chars().take(40).collect();
        return fault(QuarantineReason::Malformed, format!("type {shown:?} is not a message type"));
    };
    let (message_id, trace_id, task_id) = (m.id("message_id")?, m.id("trace_id")?, TaskId(m.id("task_id")?));
    let (sender, recipient) = (m.id("sender")?, m.id("recipient")?);
    let created_at = m.time("created_at")?.ok_or_else(|| missing("created_at"))?;
    let idempotency_key = m.id("idempotency_key")?;
    let digest_text = m.string("payload_digest")?;
    let Some(claimed) = Digest::parse(&digest_text) else {
        return fault(
            QuarantineReason::Malformed,
            "payload_digest is not `sha256:` and 64 lowercase hex digits",
        );
    };
    let scheme = match m.optional("digest_scheme") {
        None => default,
        Some(_) => {
            let name = m.string("digest_scheme")?;
            let shown: String = name.chars().take(80).collect();
            Scheme::parse(&name).ok_or_else(|| {
                (QuarantineReason::UnknownDigestScheme, format!("digest_scheme {shown:?} is not known here"))
            })?
        }
    };
    let payload = m.payload()?;
    let evidence_refs = m.evidence()?;
    let lease_version = m.integer("lease_version")?;
    let attempt = m.integer("attempt")?;
    let effect = m.effect()?;
    let labels = m.labels()?;
    if kind == MessageType::Receipt && effect.is_none() {
        return Err(missing("effect"));
    }
    let common = check_digest(m.raw, &payload, scheme, claimed)?;
    let body = m.body(kind, &payload)?;
    Ok(Envelope {
        raw: Arc::from([]),
        message_id,
        trace_id,
        task_id,
        sender,
        recipient,
        kind,
        created_at,
        idempotency_key,
        digest: claimed,
        scheme,
        common,
        payload,
        evidence_refs,
        lease_version,
        attempt,
        effect,
        labels,
        body,
    })
}

/// Recomputes the digest under the declared scheme; gives the common digest for comparing across schemes.
fn check_digest(
    raw: &[u8],
    payload: &Payload,
    scheme: Scheme,
    claimed: Digest,
) -> Result<Option<Digest>, Reason> {
    let Payload::Inline(range) = payload else {
        // Content that is not here cannot be re-digested: under another scheme it compares as different.
        return Ok(None);
    };
    let bytes = raw.get(range.clone()).unwrap_or_default();
    let found = digest::digest(scheme, bytes).map_err(|r| {
        let detail = format!("{} at byte {} of the envelope: {r}", r.problem.code(), range.start + r.offset);
        (QuarantineReason::Undigestable, detail)
    })?;
    if found != claimed {
        return fault(
            QuarantineReason::DigestMismatch,
            format!("payload_digest says {claimed}, the payload under {scheme} has {found}"),
        );
    }
    if scheme == Scheme::JcsSha256V1 {
        return Ok(Some(found));
    }
    Ok(digest::digest(Scheme::JcsSha256V1, bytes).ok())
}

fn missing(name: &str) -> Reason {
    (QuarantineReason::MissingMember, format!("required member {name} is missing"))
}

fn wrong(name: &str, expected: &str) -> Reason {
    (QuarantineReason::Malformed, format!("{name} must be {expected}"))
}

fn too_many(name: &str, found: usize, limit: usize, unit: &str) -> Reason {
    (QuarantineReason::LimitExceeded, format!("{name} has {found} {unit}, the limit is {limit}"))
}

/// The top-level members, by name, with the readers that bound them.
struct Members<'a> {
    raw: &'a [u8],
    limits: &'a Limits,
    by_name: HashMap<&'a str, &'a Member<'a>>,
}

impl<'a> Members<'a> {
    fn optional(&self, name: &str) -> Option<&'a [u8]> {
        self.by_name.get(name).and_then(|m| self.raw.get(m.value.clone()))
    }

    fn required(&self, name: &str) -> Result<&'a [u8], Reason> {
        self.optional(name).ok_or_else(|| missing(name))
    }

    fn string(&self, name: &str) -> Result<String, Reason> {
        serde_json::from_slice(self.required(name)?).map_err(|_| wrong(name, "a string"))
    }

    fn id(&self, name: &str) -> Result<String, Reason> {
        self.bounded_id(name, self.string(name)?)
    }

    /// An id is 1 to `id_bytes` bytes and holds no NUL, which not every engine can store.
    fn bounded_id(&self, name: &str, text: String) -> Result<String, Reason> {
        match text.len() {
            0 => Err(wrong(name, "a non-empty string")),
            n if n > self.limits.id_bytes => Err(too_many(name, n, self.limits.id_bytes, "bytes")),
            _ if text.contains('\0') => Err(wrong(name, "a string without NUL")),
            _ => Ok(text),
        }
    }

    fn time(&self, name: &str) -> Result<Option<Timestamp>, Reason> {
        if self.optional(name).is_none() {
            return Ok(None);
        }
        let read = Timestamp::parse(&self.string(name)?);
        read.map(Some).ok_or_else(|| wrong(name, "an RFC 3339 date-time of the years 0000 to 9999"))
    }

    fn integer(&self, name: &str) -> Result<Option<u64>, Reason> {
        let Some(text) = self.optional(name) else { return Ok(None) };
        // Kept inside i64, which every engine's integers hold.
        match serde_json::from_slice::<u64>(text) {
            Ok(n) if i64::try_from(n).is_ok() => Ok(Some(n)),
            _ => Err(wrong(name, "an integer from 0 to 9223372036854775807")),
        }
    }

    fn payload(&self) -> Result<Payload, Reason> {
        match (self.by_name.get("payload"), self.optional("payload_ref")) {
            (Some(_), Some(_)) => {
                fault(QuarantineReason::Malformed, "payload and payload_ref exclude each other")
            }
            (None, None) => Err(missing("payload (or payload_ref)")),
            (Some(member), None) => Ok(Payload::Inline(member.value.clone())),
            (None, Some(text)) => {
                let reference: EvidenceRef = serde_json::from_slice(text)
                    .map_err(|_| wrong("payload_ref", "a URI string or an object with uri"))?;
                self.bounded_uri("payload_ref", &reference)?;
                Ok(Payload::Ref(reference))
            }
        }
    }

    fn bounded_uri(&self, name: &str, reference: &EvidenceRef) -> Result<(), Reason> {
        let long = |n: usize| n > self.limits.text_bytes;
        match reference.uri().len() {
            0 => return Err(wrong(name, "a non-empty URI")),
            n if long(n) => return Err(too_many(name, n, self.limits.text_bytes, "bytes")),
            _ => {}
        }
        if let EvidenceRef::Described(d) = reference {
            // A record keeps references in canonical JSON, which holds integers exactly up to here.
            if d.size.is_some_and(|n| n > 1 << 53) {
                return Err(wrong(&format!("{name}.size"), "at most 9007199254740992"));
            }
            for (part, text) in [("title", &d.title), ("media_type", &d.media_type)] {
                if let Some(text) = text.as_ref().filter(|t| long(t.len())) {
                    return Err(too_many(
                        &format!("{name}.{part}"),
                        text.len(),
                        self.limits.text_bytes,
                        "bytes",
                    ));
                }
            }
        }
        Ok(())
    }

    fn evidence(&self) -> Result<Vec<EvidenceRef>, Reason> {
        let text = self.required("evidence_refs")?;
        let refs: Vec<EvidenceRef> = serde_json::from_slice(text)
            .map_err(|_| wrong("evidence_refs", "an array of URI strings or objects with uri"))?;
        if refs.len() > self.limits.evidence_refs {
            return Err(too_many("evidence_refs", refs.len(), self.limits.evidence_refs, "entries"));
        }
        for reference in &refs {
            self.bounded_uri("evidence_refs", reference)?;
        }
        Ok(refs)
    }

    fn effect(&self) -> Result<Option<EffectName>, Reason> {
        let Some(text) = self.optional("effect") else { return Ok(None) };
        let effect: EffectName = serde_json::from_slice(text)
            .map_err(|_| wrong("effect", "an object with strings key and target"))?;
        Ok(Some(EffectName {
            key: self.bounded_id("effect.key", effect.key)?,
            target: self.bounded_id("effect.target", effect.target)?,
        }))
    }

    fn labels(&self) -> Result<BTreeMap<String, String>, Reason> {
        let Some(text) = self.optional("labels") else { return Ok(BTreeMap::new()) };
        let labels: BTreeMap<String, String> =
            serde_json::from_slice(text).map_err(|_| wrong("labels", "a flat object of strings"))?;
        if labels.len() > self.limits.labels {
            return Err(too_many("labels", labels.len(), self.limits.labels, "entries"));
        }
        for (key, value) in &labels {
            self.bounded_id("labels (a name)", key.clone())?;
            if !value.is_empty() {
                self.bounded_id("labels (a value)", value.clone())?;
            }
        }
        Ok(labels)
    }

    fn body(&self, kind: MessageType, payload: &Payload) -> Result<Body, Reason> {
        let Payload::Inline(range) = payload else { return self.body_behind_reference(kind) };
        let text = self.raw.get(range.clone()).unwrap_or_default();
        match kind {
            MessageType::TaskProgress => Ok(Body::Progress),
            MessageType::TaskResult => Ok(Body::Result),
            MessageType::Receipt => Ok(Body::Receipt),
            MessageType::TaskRequest => self.request(text).map(Body::Request),
            MessageType::TaskFailure => self.failure(text),
            MessageType::TaskDenied => {
                let said: Said = lenient(text);
                Ok(Body::Denied(said.message.or(said.reason).map(cut)))
            }
            MessageType::HumanRequest => {
                let question: Question = serde_json::from_slice(text)
                    .map_err(|e| wrong("payload", &format!("an interruption (prompt, need, …): {e}")))?;
                question.check(self.limits).map_err(|e| (QuarantineReason::LimitExceeded, e))?;
                Ok(Body::Question(Box::new(question)))
            }
        }
    }

    /// A payload behind a reference cannot be read here: the least is assumed of it.
    fn body_behind_reference(&self, kind: MessageType) -> Result<Body, Reason> {
        Ok(match kind {
            MessageType::TaskRequest => Body::Request(Request::default()),
            MessageType::TaskProgress => Body::Progress,
            MessageType::TaskResult => Body::Result,
            MessageType::TaskFailure => {
                Body::Failure { kind: FailureKind::Failed, message: None, retryable: false, retry_at: None }
            }
            MessageType::TaskDenied => Body::Denied(None),
            MessageType::Receipt => Body::Receipt,
            MessageType::HumanRequest => {
                return fault(
                    QuarantineReason::Malformed,
                    "a human_request needs its question inline, in payload",
                );
            }
        })
    }

    fn request(&self, text: &[u8]) -> Result<Request, Reason> {
        let asked: Asked = serde_json::from_slice(text)
            .map_err(|e| wrong("payload", &format!("a request (goal, priority, deadline): {e}")))?;
        let goal = asked.goal.ok_or_else(|| missing("payload.goal"))?;
        if goal.len() > self.limits.text_bytes {
            return Err(too_many("payload.goal", goal.len(), self.limits.text_bytes, "bytes"));
        }
        let goal = Some(cut(goal));
        Ok(Request { goal, priority: asked.priority.unwrap_or(0), deadline: asked.deadline })
    }

    fn failure(&self, text: &[u8]) -> Result<Body, Reason> {
        let said: Said = serde_json::from_slice(text)
            .map_err(|e| wrong("payload", &format!("a failure (retryable, retry_at, category): {e}")))?;
        Ok(Body::Failure {
            kind: said.category.unwrap_or(FailureKind::Failed),
            message: said.message.or(said.reason).map(cut),
            retryable: said.retryable.unwrap_or(false),
            retry_at: said.retry_at,
        })
    }
}

/// The members of a request's payload that are read.
#[derive(Deserialize)]
struct Asked {
    goal: Option<String>,
    priority: Option<i64>,
    deadline: Option<Timestamp>,
}

/// The members of a failure's or denial's payload that are read.
#[derive(Deserialize, Default)]
struct Said {
    category: Option<FailureKind>,
    message: Option<String>,
    reason: Option<String>,
    retryable: Option<bool>,
    retry_at: Option<Timestamp>,
}

fn lenient(text: &[u8]) -> Said {
    serde_json::from_slice(text).unwrap_or_default()
}

/// Cuts text for the state's own copy at 1 KiB; the whole stays in the stored message.
fn cut(text: String) -> String {
    if text.len() <= 1024 {
        return text;
    }
    let mut end = 1021;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    format!("{}…", text.get(..end).unwrap_or_default())
}
