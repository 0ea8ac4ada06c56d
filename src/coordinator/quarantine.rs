//! Messages that were put aside: read, admitted again, dropped.

use super::local::Local;
use super::{Entry, EntryState, Error, Incoming, Quarantined, StoreError, admit, decide, mask};
use crate::domain::actor::{Grant, Operation, Pattern, Principal, Role};
use crate::domain::command::{Admitted, Command, Reply};
use crate::domain::envelope::QuarantineReason;
use crate::domain::ids::TaskId;
use crate::domain::refusal::Refusal;
use crate::domain::task::Task;
use crate::store::Store;
use std::sync::Arc;

impl<S: Store> Local<S> {
    pub(super) async fn entries(
        &self,
        after: u64,
        limit: usize,
        settled_too: bool,
    ) -> Result<Vec<Entry>, Error> {
        self.sight.require(Operation::Inspect)?;
        let limit = limit.clamp(1, 1000);
        let mut seen = Vec::new();
        let mut after = after;
        loop {
            let page = self.store.quarantine(after, limit, settled_too).await?;
            let Some(last) = page.last().map(|e| e.number) else { return Ok(seen) };
            after = last;
            let full = page.len() >= limit;
            for entry in page {
                if self.knows(&entry).await? {
                    seen.push(entry);
                }
                if seen.len() == limit {
                    return Ok(seen);
                }
            }
            if !full {
                return Ok(seen);
            }
        }
    }

    /// Whether the principal may know of an entry: through the task it names, or because it sees everything.
    pub(super) async fn knows(&self, entry: &Entry) -> Result<bool, Error> {
        if self.sight.sees_all() {
            return Ok(true);
        }
        Ok(self.task_of(entry).await?.is_some_and(|task| self.sight.sees(&task)))
    }

    pub(super) async fn sees_entry(&self, id: Option<&str>) -> Result<bool, Error> {
        match id {
            _ if self.sight.sees_all() => Ok(true),
            Some(id) => match self.store.entry(id).await? {
                Some((entry, _)) => self.knows(&entry).await,
                None => Ok(false),
            },
            None => Ok(false),
        }
    }

    async fn task_of(&self, entry: &Entry) -> Result<Option<Task>, Error> {
        match &entry.named.task_id {
            Some(id) => Ok(self.store.task(&TaskId(id.clone())).await?),
            None => Ok(None),
        }
    }

    /// The entry, where it may be known, and where `operation` is allowed on it.
    async fn known(&self, id: &str, operation: Operation) -> Result<(Entry, Arc<[u8]>, Option<Task>), Error> {
        self.sight.require(operation)?;
        let missing = || Refusal::EntryNotFound { id: id.to_owned() };
        let (entry, bytes) = self.store.entry(id).await?.ok_or_else(missing)?;
        if !self.knows(&entry).await? {
            return Err(missing().into());
        }
        let task = self.task_of(&entry).await?;
        if !self.sight.principal().may(operation, task.as_ref().map(Task::subject)) {
            let why = format!("{:?} may not do this to entry {id}", self.sight.principal().subject);
            return Err(Refusal::Forbidden { why }.into());
        }
        Ok((entry, bytes, task))
    }

    pub(super) async fn one_entry(&self, id: &str) -> Result<Quarantined, Error> {
        let (entry, bytes, task) = self.known(id, Operation::Inspect).await?;
        let p = self.sight.principal();
        let sent = entry.named.sender.as_deref().is_some_and(|s| p.speaks_for(s));
        if !p.may(Operation::ReadPayloads, task.as_ref().map(Task::subject)) && !sent {
            let why = format!("{:?} reads only what it sent or received", p.subject);
            return Err(Refusal::Forbidden { why }.into());
        }
        let masked = self.sight.mask(task.as_ref().map(Task::subject));
        let bytes = if masked.is_empty() { bytes } else { mask::envelope(&masked, &bytes).into() };
        Ok(Quarantined { entry, bytes })
    }

    pub(super) async fn admit_again(&self, id: &str, repaired: Option<Vec<u8>>) -> Result<Admitted, Error> {
        let (entry, bytes, _) = self.known(id, Operation::Quarantine).await?;
        if entry.state != EntryState::Open {
            return Err(Refusal::EntryNotFound { id: id.to_owned() }.into());
        }
        let raw = repaired.map_or(bytes, Arc::from);
        let (rules, scheme) = (Arc::clone(&self.rules), self.rules.default_scheme);
        let incoming = Incoming { raw, source: format!("re-admitted from {id}"), whole: None };
        let read = tokio::task::spawn_blocking(move || admit::read(incoming, &rules.limits, scheme));
        let broke = |_| StoreError::Failed("the message could not be read: the reader broke".into());
        let mut admit = read.await.map_err(broke)?;
        if let Ok(envelope) = &admit.message
            && entry.named.message_id.as_ref() != Some(&envelope.message_id)
            && !self.store.arrivals_of(&envelope.task_id, &envelope.message_id).await?.is_empty()
        {
            let why =
                format!("message {:?} is admitted already: it does not repair {id}", envelope.message_id);
            return Err(Refusal::Invalid { why }.into());
        }
        admit.readmits = Some(id.to_owned());
        match self.one(Command::Admit(Box::new(admit)), self.carrier(&entry)).await? {
            Reply::Admitted(admitted) => Ok(admitted),
            _ => Err(StoreError::Failed("it gave another answer than asked for".into()).into()),
        }
    }

    /// Whoever re-admits carries somebody's message in, and may do so only for the sender it named when it was put
    /// aside, or for senders of their own. A message whose sender was not believed then is not believed now.
    fn carrier(&self, entry: &Entry) -> Principal {
        let mut p = self.sight.principal().clone();
        let may = |g: &Grant| matches!(g.role, Role::Operator | Role::Admin);
        let workers: Vec<Grant> = p
            .grants
            .iter()
            .filter(|g| may(g))
            .map(|g| Grant { role: Role::Worker, scope: g.scope.clone() })
            .collect();
        p.grants.extend(workers);
        if self.embedded {
            p.senders = self.runtime.senders.clone();
        } else if entry.reason != QuarantineReason::SenderMismatch {
            // A name with a star in it would be a pattern that stands for others.
            let named = entry.named.sender.clone().filter(|s| !s.contains('*'));
            p.senders.extend(named.map(Pattern));
        }
        p
    }

    pub(super) async fn drop_with_reason(&self, id: &str, reason: &str) -> Result<(), Error> {
        self.known(id, Operation::Quarantine).await?;
        let reason = decide::checked_reason(reason)?;
        let by = &self.sight.principal().subject;
        Ok(self.store.drop_entry(id, by, &reason, self.now()).await??)
    }
}
