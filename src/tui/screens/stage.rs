//! A coordinator for the tests of screens: the real rules on a store in memory, answering what a script asks.

mod ledger;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use serde_json::{Value, json};

use crate::coordinator::{
    Approval, Entry, EntryState, Link as Way, Page, PayloadView, Quarantined, Row, Shown, Status, Submitted,
    Tallies, Tally,
};
use crate::domain::actor::Principal;
use crate::domain::attention::{Reason, Stuck};
use crate::domain::command::{self, Command};
use crate::domain::diff::{Diff, Limits, Lines};
use crate::domain::digest::{Digest, Scheme};
use crate::domain::envelope::{Named, QuarantineReason, parse};
use crate::domain::ids::{TaskId, Timestamp};
use crate::domain::ledger::{Head, Report};
use crate::domain::task::TaskState;
use crate::domain::testing::{World, message, owner};
use crate::tui::draft::{Draft, Kind};
use crate::tui::effect::{Ask, Effect, Source};
use crate::tui::event::{Change, Event, Found, Reply, Text};
use crate::tui::model::Link;
use crate::tui::screens::Layer;
use crate::tui::testing::Script;
use crate::tui::theme::Depth;
pub(super) use ledger::ledger;

/// The sizes every screen is drawn at.
pub(super) const SIZES: [(&str, u16, u16); 5] =
    [("120x40", 120, 40), ("80x24", 80, 24), ("40x12", 40, 12), ("20x5", 20, 5), ("1x1", 1, 1)];

/// The depths every screen is drawn in, with the theme for each.
pub(super) const DEPTHS: [(&str, &str, Depth); 3] = [
    ("true_colour", "default-dark", Depth::True),
    ("16_colours", "ansi16", Depth::Sixteen),
    ("mono", "mono", Depth::Mono),
];

/// How long keys do not count after a dialog was painted.
pub(super) const GUARD: Duration = Duration::from_millis(300);

/// Answers what a script asks until it asks nothing any more; what has no reply is never answered. Returns what else
/// was wanted.
pub(super) fn serve(script: &mut Script, mut reply: impl FnMut(Ask) -> Option<Reply>) -> Vec<Effect> {
    let mut others = Vec::new();
    loop {
        let effects = script.effects();
        if effects.is_empty() {
            return others;
        }
        for effect in effects {
            match effect {
                Effect::Ask(request, ask) => {
                    if let Some(reply) = reply(*ask) {
                        script.event(Event::Reply { request, reply });
                    }
                }
                other => others.push(other),
            }
        }
    }
}

/// See the module.
pub(super) struct Stage {
    pub(super) world: World,
    raws: Vec<Arc<[u8]>>,
    /// What the person may do; everything where nothing is said.
    pub(super) may: BTreeMap<&'static str, bool>,
    pub(super) own: Vec<u64>,
    pub(super) stuck: Option<Stuck>,
    /// Replies to decisions are lost after they were written.
    pub(super) loses: bool,
    /// Payloads that are not there.
    pub(super) missing: Vec<u64>,
    /// Every question that was put.
    pub(super) log: Vec<Ask>,
    /// The drafts that are kept.
    pub(super) drafts: BTreeMap<(TaskId, Kind), Draft>,
}

impl Stage {
    /// A task that runs under lease 1 of `researcher-a`.
    pub(super) fn running() -> Stage {
        let mut stage = Stage {
            world: World::new(),
            raws: Vec::new(),
            may: BTreeMap::new(),
            own: Vec::new(),
            stuck: None,
            loses: false,
            missing: Vec::new(),
            log: Vec::new(),
            drafts: BTreeMap::new(),
        };
        stage.say(
            "task_request",
            "M-0",
            "req",
            json!({"goal": "Collect the revenue figures of 2025"}),
            json!({}),
        );
        stage.world.go(TaskState::Ready).unwrap();
        stage.world.claim("researcher-a").unwrap();
        stage
    }

    /// Two results in conflict, one of them delivered twice more.
    pub(super) fn conflicted() -> Stage {
        let mut stage = Stage::running();
        stage.result(
            "M-1",
            "researcher-a",
            "2026-11-30T11:59:58Z",
            facts(1_204_000, "10-K p. 31"),
            json!(["file:filings.csv"]),
        );
        stage.again("M-1");
        stage.again("M-2");
        let refs = json!([{"uri": "file:filings.csv", "digest": format!("sha256:{}", "ab".repeat(32)), "size": 4096}]);
        stage.result("M-3", "researcher-b", "2026-11-30T11:59:40Z", facts(1_240_000, "press release"), refs);
        stage
    }

    /// A task that waits for a person.
    pub(super) fn waiting(question: Value) -> Stage {
        let mut stage = Stage::running();
        stage.say("human_request", "M-1", "q", question, json!({"sender": "researcher-a"}));
        assert_eq!(stage.world.task().state, TaskState::WaitingHuman);
        stage
    }

    /// A message about the task.
    pub(super) fn say(&mut self, kind: &str, id: &str, key: &str, payload: Value, change: Value) {
        self.put(message(kind, id, key, payload, change));
    }

    /// A result under the one key of the conflict.
    pub(super) fn result(&mut self, id: &str, sender: &str, created: &str, payload: Value, refs: Value) {
        let change = json!({"sender": sender, "created_at": created, "evidence_refs": refs, "lease_version": 1, "attempt": 1});
        self.say("task_result", id, "R-7:T:attempt-1", payload, change);
    }

    fn again(&mut self, id: &str) {
        let refs = json!(["file:filings.csv"]);
        self.result(id, "researcher-a", "2026-11-30T11:59:58Z", facts(1_204_000, "10-K p. 31"), refs);
    }

    fn put(&mut self, raw: Vec<u8>) {
        let admitted = self.world.admit(&raw);
        assert!(admitted.arrival.is_some(), "{admitted:?}");
        self.raws.push(raw.into());
    }

    /// The task as the coordinator shows it.
    pub(super) fn shown(&self) -> Shown {
        let task = self.world.task().clone();
        let set = self.world.set();
        let fits = |arrivals: &[u64]| -> Vec<Submitted> {
            let stored = &self.world.log().stored;
            let own = stored.iter().filter(|one| arrivals.contains(&one.submission.arrival));
            own.cloned().map(Submitted::from).collect()
        };
        let reason = match task.state {
            TaskState::NeedsReview => Some(Reason::NeedsReview),
            TaskState::WaitingHuman => Some(Reason::WaitingHuman),
            _ => self.stuck.map(|_| Reason::Stuck),
        };
        let waits = task.state.waits_for_a_record();
        let correctable = task.state == TaskState::Ready && task.judged.is_some();
        let mut may = BTreeMap::from([
            ("decide", task.state == TaskState::NeedsReview),
            ("answer", task.state == TaskState::WaitingHuman),
            ("cancel", !task.state.is_terminal()),
            ("supersede", correctable),
            ("supersede_ready", correctable),
            ("supersede_cancel", correctable),
        ]);
        may.extend(self.may.iter().map(|(name, may)| (*name, *may)));
        let candidates = task.review.as_ref().map(|review| review.candidates()).unwrap_or_default();
        Shown {
            reason,
            stuck: self.stuck,
            since: reason.map(|_| task.entered_at),
            candidates: fits(&candidates),
            held_messages: fits(&task.held),
            candidate_set_digest: (waits || task.judged.is_some()).then(|| set.digest().unwrap()),
            candidate_set: set,
            may,
            own: self.own.clone(),
            task,
        }
    }

    fn row(&self) -> Row {
        let shown = self.shown();
        let task = shown.task;
        Row {
            task_id: Some(task.task_id.0),
            trace_id: Some(task.trace_id),
            state: Some(task.state),
            reason: shown.reason,
            stuck: shown.stuck,
            since: task.entered_at,
            messages: task.arrivals,
            goal: task.request.goal,
            ..blank()
        }
    }

    fn payload(&self, arrival: u64) -> PayloadView {
        if self.missing.contains(&arrival) {
            let problem = Some("the content is behind a reference and was not fetched".to_owned());
            return PayloadView { bytes: None, masked: false, verified: false, problem };
        }
        let raw = self.raws[usize::try_from(arrival).unwrap() - 1].clone();
        let envelope = parse(raw, &self.world.rules.limits, Scheme::default()).unwrap();
        let bytes = envelope.payload_bytes().map(Arc::from);
        PayloadView { bytes, masked: false, verified: true, problem: None }
    }

    fn text(&self, arrival: u64, source: Source) -> Text {
        let view = match source {
            Source::Payload => self.payload(arrival),
            Source::Envelope => {
                let bytes = Some(self.raws[usize::try_from(arrival).unwrap() - 1].clone());
                PayloadView { bytes, masked: false, verified: false, problem: None }
            }
        };
        let lines = |index: fn(Arc<[u8]>) -> Result<Lines, crate::domain::diff::DiffError>| {
            let bytes = view.bytes.clone().ok_or("not here")?;
            index(bytes).map_err(|error| error.to_string())
        };
        let (pretty, raw) = (lines(Lines::pretty), lines(Lines::raw));
        Text { view, pretty, raw }
    }

    /// The reply to a question.
    pub(super) fn reply(&mut self, ask: &Ask) -> Reply {
        match ask {
            Ask::Show(_) => Reply::Show(Box::new(self.shown())),
            Ask::Compare(a, b) => {
                let never = AtomicBool::new(false);
                let diff = Diff::new(a.0.clone(), b.0.clone(), &never, Limits::default());
                Reply::Compare(diff.map(Arc::new).map_err(|error| error.to_string()))
            }
            Ask::Approvals(request) => {
                let records = &self.world.records;
                let told = |number: u64| {
                    let record = records[usize::try_from(number).unwrap() - 1].clone();
                    Approval { record: Box::new(record), bytes: Vec::new() }
                };
                Reply::Approvals(ledger(records.len() as u64, told, request))
            }
            Ask::Payload(_, arrival) => Reply::Payload(self.payload(*arrival)),
            Ask::Text(_, arrival, source) => Reply::Text(Arc::new(self.text(*arrival, *source))),
            Ask::Timeline(_, after, limit) => {
                let events = self.world.log().events.iter();
                Reply::Timeline(
                    events.filter(|event| event.revision > *after).take(*limit).cloned().collect(),
                )
            }
            Ask::Submissions(_, after, limit) => {
                let stored = self.world.log().stored.iter().filter(|one| one.submission.arrival > *after);
                Reply::Submissions(stored.take(*limit).cloned().map(Submitted::from).collect())
            }
            Ask::Decide(decision) => {
                let mut decision = decision.clone();
                decision.approval_id = format!("A-{}", self.world.records.len() + 1);
                match self.world.submit(Command::Decide(decision), owner()) {
                    Ok(_) if self.loses => Reply::Failed("the connection broke".to_owned()),
                    Ok(command::Reply::Decided { outcome, record }) => Reply::Decide(outcome, record),
                    Ok(other) => panic!("{other:?}"),
                    Err(refusal) => Reply::Refused(Box::new(refusal)),
                }
            }
            Ask::List(_) => Reply::List(Page { rows: vec![self.row()], more: false }),
            Ask::Tallies => {
                let all = Tally { count: 1, capped: false };
                Reply::Tallies(Tallies { all, ..Tallies::default() })
            }
            Ask::Status => Reply::Status(Box::new(status(self.world.records.len() as u64))),
            Ask::Verify => {
                let (records, head) = (self.world.records.len() as u64, None);
                Reply::Verify(Report { ok: true, records, head, problem: None, log: None })
            }
            Ask::Quarantine(after, ..) => Reply::Quarantine((*after..1).map(|_| entry(1)).collect()),
            Ask::Entry(_) => {
                Reply::Entry(Box::new(Quarantined { entry: entry(1), bytes: BYTES.as_bytes().into() }))
            }
            Ask::Draft(task, kind) => {
                let draft = self.drafts.get(&(task.clone(), *kind)).cloned().map(Box::new);
                Reply::Draft(Found { draft, problem: None })
            }
            other => panic!("nobody asks this here: {other:?}"),
        }
    }

    /// Answers until nothing is asked any more. Returns what else was wanted.
    pub(super) fn serve(&mut self, script: &mut Script) -> Vec<Effect> {
        self.serve_but(script, |_| false)
    }

    /// A screen on this world, current, and on the screen for long enough that keys count.
    pub(super) fn open(&mut self, first: impl Layer + 'static, width: u16, height: u16) -> Script {
        let mut script = Script::new(first, width, height);
        script.event(live());
        self.serve(&mut script);
        script.wait(GUARD);
        self.serve(&mut script);
        script
    }

    /// The same in a theme, as it is first seen.
    pub(super) fn styles(
        &mut self,
        first: impl Layer + 'static,
        size: (u16, u16),
        keys: &str,
        theme: &str,
        depth: Depth,
    ) -> String {
        let mut script = Script::themed(first, size.0, size.1, theme, depth);
        script.event(live());
        self.serve(&mut script);
        self.press(&mut script, keys);
        script.styles()
    }

    /// Types keys and answers what they ask.
    pub(super) fn press(&mut self, script: &mut Script, keys: &str) {
        script.keys(keys);
        self.serve(script);
    }

    /// Answers what a script asks, but leaves some questions without an answer, and gives them back too.
    pub(super) fn serve_but(&mut self, script: &mut Script, withheld: fn(&Ask) -> bool) -> Vec<Effect> {
        let mut others = Vec::new();
        loop {
            let effects = script.effects();
            if effects.is_empty() {
                return others;
            }
            for effect in effects {
                match effect {
                    Effect::Ask(request, ask) if !withheld(&ask) => {
                        let reply = self.reply(&ask);
                        self.log.push(*ask);
                        script.event(Event::Reply { request, reply });
                    }
                    Effect::Keep { draft, .. } => {
                        self.drafts.insert((draft.task.clone(), draft.kind), *draft);
                    }
                    Effect::Forget(task, kind) => {
                        self.drafts.remove(&(task, kind));
                    }
                    other => others.push(other),
                }
            }
        }
    }

    /// The decisions that were put.
    pub(super) fn decisions(&self) -> Vec<&crate::domain::decision::Decision> {
        let asks = self.log.iter();
        asks.filter_map(|ask| if let Ask::Decide(decision) = ask { Some(decision.as_ref()) } else { None })
            .collect()
    }
}

/// A row of the docket with nothing in it.
pub(super) fn blank() -> Row {
    Row {
        task_id: None,
        trace_id: None,
        state: None,
        state_version: None,
        reason: None,
        stuck: None,
        since: Timestamp(0),
        candidates: 0,
        messages: 0,
        held: 0,
        interruption: None,
        goal: None,
        priority: 0,
        deadline: None,
        failure: None,
        worker: None,
        labels: BTreeMap::new(),
        approval_id: None,
        quarantine: None,
        detail: None,
        cursor: "1".into(),
    }
}

/// A store called `store.db` with this many records, seen by its owner.
pub(super) fn status(records: u64) -> Status {
    Status {
        name: "store.db".into(),
        store_id: "S-1".into(),
        principal: Principal::owner("ann"),
        link: Way::Live,
        head: Head { store_id: "S-1".into(), sequence: records, record_digest: None },
        events: 9,
        mismatch: None,
        read_only: None,
        write_failure: None,
    }
}

/// The bytes of every entry of the quarantine.
pub(super) const BYTES: &str =
    "{\"message_id\":\"M-\u{202e}1\",\"payload\":{\"a\":1,\"a\":2}}\n\u{1b}[2J second line";

/// An entry of the quarantine, open.
pub(super) fn entry(number: u64) -> Entry {
    let named = Named {
        task_id: Some("T-20".into()),
        sender: Some("researcher\u{200b}-c".into()),
        ..Named::default()
    };
    Entry {
        id: format!("Q-{number}"),
        number,
        reason: QuarantineReason::Malformed,
        detail: "duplicate-key at byte 59: this object already has a member of that name".into(),
        named,
        source: "inbox.jsonl:6".into(),
        submitted_by: "local-worker".into(),
        received_at: Timestamp(1_796_040_000_000),
        last_received_at: Timestamp(1_796_040_100_000),
        count: number,
        size: BYTES.len() as u64,
        bytes_digest: Digest::of_bytes(BYTES.as_bytes()),
        state: EntryState::Open,
    }
}

/// Says that the task changed.
pub(super) fn news() -> Event {
    Event::Feed(Change::News(vec![Some(TaskId::from("T"))]))
}

/// Says that the data is current.
pub(super) fn live() -> Event {
    Event::Feed(Change::Link(Link::Live))
}

/// A payload with many equal facts and a few that differ.
pub(super) fn facts(revenue: i64, source: &str) -> Value {
    let quarters: Vec<Value> = (1..=41).map(|q| json!({"quarter": q, "revenue": 300_000 + q})).collect();
    json!({
        "facts": quarters,
        "total": revenue,
        "source": source,
        "note": format!("The figures were read from the {source} and added up by hand, twice, before they were sent here."),
        "empty": if revenue > 1_220_000 { json!(null) } else { json!("") },
        "currency": "EUR",
    })
}

/// Text that would drive or fool a terminal.
pub(super) const HOSTILE: &str = "\u{1b}]0;x\u{7}\u{1b}[2J\u{202e}drowssap\u{200b}\u{e0041}\u{9b}31m\r\n";

/// Whether a buffer holds nothing that could drive or fool a terminal.
pub(super) fn is_clean(script: &Script) -> bool {
    let bad = |char: char| char.is_control() || crate::domain::text::is_hidden(char);
    script.buffer().content.iter().all(|cell| !cell.symbol().contains(bad))
}
