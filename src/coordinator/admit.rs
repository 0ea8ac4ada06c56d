//! Takes messages in: reads and digests them away from the store's writer, then hands them over in order.

use super::local::Local;
use super::{Error, Incoming, StoreError};
use crate::domain::actor::{Operation, Principal, Subject};
use crate::domain::command::{Admit, Admitted, BadMessage, Command, Reply, Request};
use crate::domain::digest::Scheme;
use crate::domain::envelope::{Body, Envelope, Fault, Limits, Named, QuarantineReason, parse};
use crate::domain::refusal::{Refusal, RefusalClass};
use crate::store::Store;
use std::sync::Arc;

/// Messages up to this many bytes together are read by one thread.
const CHUNK: usize = 256 << 10;

/// Reads one message as the door sees it.
pub(super) fn read(incoming: Incoming, limits: &Limits, scheme: Scheme) -> Admit {
    let Incoming { raw, source, whole } = incoming;
    let message = match whole {
        None => parse(raw.clone(), limits, scheme).map_err(|fault| BadMessage { raw, fault }),
        Some(whole) => {
            let detail = format!(
                "envelope has {} bytes ({}), the limit is {}; its first {} bytes are kept",
                whole.size,
                whole.digest,
                limits.envelope_bytes,
                raw.len()
            );
            let reason = QuarantineReason::LimitExceeded;
            let fault = Box::new(Fault { reason, detail, named: Named::default() });
            Err(BadMessage { raw, fault })
        }
    };
    Admit { message, source, readmits: None }
}

impl<S: Store> Local<S> {
    pub(super) async fn admit_batch(&self, messages: Vec<Incoming>) -> Result<Vec<Admitted>, Error> {
        if self.runtime.subject.is_empty() {
            return Err(Refusal::Unauthenticated.into());
        }
        if !self.runtime.may(Operation::Submit, None) {
            let why = format!("{:?} needs the role worker to deliver messages", self.runtime.subject);
            return Err(Refusal::Forbidden { why }.into());
        }
        let now = self.now();
        let mut requests = Vec::with_capacity(messages.len());
        // What is refused at the door keeps its place among the answers.
        let mut refused: Vec<Option<Admitted>> = Vec::with_capacity(messages.len());
        for admit in self.read_all(messages).await? {
            let no = admit.message.as_ref().ok().and_then(|e| out_of_scope(&self.runtime, e));
            if no.is_none() {
                let command = Command::Admit(Box::new(admit));
                requests.push(Request { command, principal: self.runtime.clone(), now });
            }
            refused.push(no);
        }
        let names: Vec<_> = requests.iter().map(|r| named(&r.command)).collect();
        let mut answers = self.store.submit(requests).await?.into_iter().zip(names);
        let mut admitted = Vec::with_capacity(refused.len());
        for no in refused {
            let answer = match no {
                Some(no) => no,
                None => match answers.next() {
                    Some((Ok(Reply::Admitted(a)), _)) => a,
                    Some((Err(refusal), _)) if refusal.class() == RefusalClass::Stale => {
                        return Err(refusal.into());
                    }
                    Some((Err(refusal), (message_id, task_id))) => turned_away(message_id, task_id, &refusal),
                    _ => return Err(StoreError::Failed("it gave no answer for a message".into()).into()),
                },
            };
            admitted.push(answer);
        }
        Ok(admitted)
    }

    /// Reads messages on threads of their own, in chunks; the order stays.
    async fn read_all(&self, messages: Vec<Incoming>) -> Result<Vec<Admit>, Error> {
        let total = messages.len();
        let mut chunks: Vec<Vec<Incoming>> = Vec::new();
        let mut bytes = usize::MAX;
        for message in messages {
            bytes = bytes.saturating_add(message.raw.len());
            match chunks.last_mut() {
                Some(chunk) if bytes <= CHUNK => chunk.push(message),
                _ => {
                    bytes = message.raw.len();
                    chunks.push(vec![message]);
                }
            }
        }
        let tasks: Vec<_> = chunks
            .into_iter()
            .map(|chunk| {
                let (rules, scheme) = (Arc::clone(&self.rules), self.rules.default_scheme);
                tokio::task::spawn_blocking(move || {
                    chunk.into_iter().map(|m| read(m, &rules.limits, scheme)).collect::<Vec<_>>()
                })
            })
            .collect();
        let mut read = Vec::with_capacity(total);
        for task in tasks {
            let broke = |_| StoreError::Failed("a message could not be read: the reader broke".into());
            read.extend(task.await.map_err(broke)?);
        }
        Ok(read)
    }
}

fn named(command: &Command) -> (Option<String>, Option<String>) {
    match command {
        Command::Admit(admit) => match &admit.message {
            Ok(e) => (Some(e.message_id.clone()), Some(e.task_id.0.clone())),
            Err(bad) => (bad.fault.named.message_id.clone(), bad.fault.named.task_id.clone()),
        },
        _ => (None, None),
    }
}

/// A request begins a task, so its own trace and labels say whether it lies within the sender's scope.
fn out_of_scope(principal: &Principal, envelope: &Envelope) -> Option<Admitted> {
    let Body::Request(_) = &envelope.body else { return None };
    let (task_id, labels) = (&envelope.task_id, &envelope.labels);
    let subject = Subject { task_id, trace_id: &envelope.trace_id, labels };
    if principal.may(Operation::Submit, Some(subject)) {
        return None;
    }
    let why = format!("{:?} may not begin a task of this trace and labels", principal.subject);
    let refusal = Refusal::Forbidden { why };
    Some(turned_away(Some(envelope.message_id.clone()), Some(task_id.0.clone()), &refusal))
}

/// The answer to a message that was not recorded, because its sender may not deliver it.
fn turned_away(message_id: Option<String>, task_id: Option<String>, refusal: &Refusal) -> Admitted {
    Admitted {
        message_id,
        task_id,
        outcome: "refused".into(),
        arrival: None,
        duplicate_of: None,
        state: None,
        state_version: None,
        reason: Some(format!("{}: {refusal}", refusal.code())),
        quarantine: None,
    }
}
