//! What was delivered: something new, which is stored, or a repeat of what is.

use super::{ConflictSet, Outcome};
use crate::domain::digest::{Digest, Scheme};
use crate::domain::envelope::{Body, Class, EffectName, Envelope, MessageType, Payload};
use crate::domain::evidence::EvidenceRef;
use crate::domain::ids::Timestamp;
use serde::{Deserialize, Serialize};

/// Whether the payload's digest was recomputed from its bytes here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verification {
    /// Recomputed and equal.
    Verified,
    /// The bytes behind the reference have another digest.
    Mismatch,
    /// The content is behind a reference and was not fetched.
    NotFetched,
}

/// One recorded delivery.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Delivery {
    /// What became of it.
    pub outcome: Outcome,
    /// The principal that delivered it.
    pub submitted_by: String,
    /// Whether another sender used the same id in this task.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub id_reused: bool,
    /// What was delivered.
    pub message: Message,
    /// The conflict this opened or joined.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conflict: Option<ConflictSet>,
}

/// A delivered message.
#[expect(
    clippy::large_enum_variant,
    reason = "most are new, and the event that holds one is on the heap already"
)]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Message {
    /// Says something that nobody said before; it is stored.
    New(Submission),
    /// Says what is stored already.
    Repeat(Repeat),
}

impl Message {
    /// The coordinator's own sequence per task, from 1.
    pub fn arrival(&self) -> u64 {
        match self {
            Message::New(said) => said.arrival,
            Message::Repeat(repeat) => repeat.arrival,
        }
    }

    /// Its id.
    pub fn message_id(&self) -> &str {
        match self {
            Message::New(said) => &said.message_id,
            Message::Repeat(repeat) => &repeat.message_id,
        }
    }

    /// Its sender.
    pub fn sender(&self) -> &str {
        match self {
            Message::New(said) => &said.sender,
            Message::Repeat(repeat) => &repeat.sender,
        }
    }

    /// The arrival of the stored submission that says this: its own, or of what it repeats.
    pub fn stored_as(&self) -> u64 {
        match self {
            Message::New(said) => said.arrival,
            Message::Repeat(repeat) => repeat.of,
        }
    }

    /// What it says, where it is new.
    pub fn submission(&self) -> Option<&Submission> {
        match self {
            Message::New(said) => Some(said),
            Message::Repeat(_) => None,
        }
    }

    /// What it repeats, where it does.
    pub fn repeat(&self) -> Option<&Repeat> {
        match self {
            Message::New(_) => None,
            Message::Repeat(repeat) => Some(repeat),
        }
    }
}

/// A message that was not stored again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Repeat {
    /// Its arrival.
    pub arrival: u64,
    /// Its id.
    pub message_id: String,
    /// Its sender.
    pub sender: String,
    /// The arrival of the stored submission it repeats.
    pub of: u64,
    /// What it said differently.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub differs: Option<Differs>,
    /// The scheme change by which this repeats a submission under another scheme.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scheme_change: Option<SchemeChange>,
}

/// A repeat under another digest scheme.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SchemeChange {
    /// The scheme of the stored one.
    pub from: Scheme,
    /// The scheme of this one.
    pub to: Scheme,
}

/// Members of a repeat that are unlike the first delivery's.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Differs {
    /// Other evidence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evidence_refs: Option<Vec<EvidenceRef>>,
    /// Another claimed time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created_at: Option<Timestamp>,
    /// Another lease.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lease_version: Option<u64>,
    /// Another attempt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attempt: Option<u64>,
    /// Another recipient.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recipient: Option<String>,
}

/// One distinct thing somebody said, with all that identifies it; its payload is in the stored envelope.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Submission {
    /// Its arrival.
    pub arrival: u64,
    /// Its message id.
    pub message_id: String,
    /// Its sender.
    pub sender: String,
    /// For whom.
    pub recipient: String,
    /// Its class.
    pub class: Class,
    /// Its key.
    pub idempotency_key: String,
    /// Its type.
    #[serde(rename = "type")]
    pub kind: MessageType,
    /// Its digest.
    pub payload_digest: Digest,
    /// The scheme of the digest.
    pub digest_scheme: Scheme,
    /// The digest under `jcs-sha256/1`, where there is one and `payload_digest` is under another scheme.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub common_digest: Option<Digest>,
    /// The protected reference in place of a payload.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub payload_ref: Option<EvidenceRef>,
    /// Whether the digest was recomputed here.
    pub verification: Verification,
    /// What it rests on.
    pub evidence_refs: Vec<EvidenceRef>,
    /// The lease it was sent under.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lease_version: Option<u64>,
    /// The sender's count of tries.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attempt: Option<u64>,
    /// The effect it reports.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effect: Option<EffectName>,
    /// When the sender says it was made.
    pub created_at: Timestamp,
    /// When it was recorded here.
    pub received_at: Timestamp,
    /// The task's version when it arrived.
    pub state_version_at: u64,
    /// For a held one, what its payload asks for, so that it can take effect later.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held_body: Option<Box<Body>>,
}

impl Submission {
    /// The digest, its scheme, and the one by which it is compared across schemes, where there is one: content behind a
    /// reference was not read, and has none.
    pub fn content(&self) -> (Digest, Scheme, Option<Digest>) {
        let is_common = self.digest_scheme == Scheme::JcsSha256V1 && self.payload_ref.is_none();
        let common = if is_common { Some(self.payload_digest) } else { self.common_digest };
        (self.payload_digest, self.digest_scheme, common)
    }

    /// Whether it says what an envelope says.
    pub fn is_of(&self, e: &Envelope) -> bool {
        let payload_ref = match &e.payload {
            Payload::Inline(_) => None,
            Payload::Ref(r) => Some(r),
        };
        self.message_id == e.message_id
            && self.sender == e.sender
            && self.recipient == e.recipient
            && (self.kind, self.class) == (e.kind, e.kind.class())
            && self.idempotency_key == e.idempotency_key
            && self.content() == (e.digest, e.scheme, e.common)
            && self.payload_ref.as_ref() == payload_ref
            && self.evidence_refs == e.evidence_refs
            && (self.lease_version, self.attempt) == (e.lease_version, e.attempt)
            && self.effect == e.effect
            && self.created_at == e.created_at
    }
}
