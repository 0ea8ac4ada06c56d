//! `ingest`: admits envelopes from files or standard input, streaming, in batches.
//!
//! It can be broken off and run again: what was recorded is recognised as a repeat.

mod split;

use super::failure::Failure;
use super::ledger::looks_like_record;
use super::output::{Out, note};
use crate::coordinator::{Coordinator, Incoming};
use crate::domain::command::Admitted;
use crate::domain::envelope::Limits;
use crate::domain::text::reveal;
use clap::Args;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde::Serialize;
use split::Split;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufReader, IsTerminal, Read};
use std::sync::Arc;
use tokio::sync::mpsc;

/// Messages, and bytes, that go to the store together. Three batches exist at once: one being cut, one waiting, one
/// being admitted.
const BATCH: usize = 1000;
const BATCH_BYTES: usize = 2 << 20;

/// Bytes read at once.
const BUFFER: usize = 256 << 10;

#[derive(Debug, Args)]
pub struct Ingest {
    /// The files; `-`, or none at all, is standard input
    #[arg(value_name = "FILE")]
    files: Vec<String>,
}

/// Messages of one file, in order.
struct Batch {
    lines: Vec<u64>,
    messages: Vec<Incoming>,
    file: Arc<str>,
    bytes: usize,
    read: u64,
}

impl Batch {
    fn of(file: &Arc<str>) -> Self {
        Batch { lines: Vec::new(), messages: Vec::new(), file: Arc::clone(file), bytes: 0, read: 0 }
    }
}

/// What a reader hands over: a batch, or why it could not go on.
type Handed = Result<Batch, Failure>;

/// One line of `--json`.
#[derive(Serialize)]
struct Told<'a> {
    line: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<&'a str>,
    #[serde(flatten)]
    admitted: &'a Admitted,
}

impl Ingest {
    pub async fn run(self, c: Arc<dyn Coordinator>, limits: &Limits, out: &mut Out) -> Result<(), Failure> {
        let files = if self.files.is_empty() { vec!["-".to_owned()] } else { self.files };
        let bar = progress(&files);
        let several = files.len() > 1;
        let limit = limits.envelope_bytes;
        let (hand, mut handed) = mpsc::channel::<Handed>(1);
        let reader = tokio::task::spawn_blocking(move || read_files(&files, limit, &hand));
        let mut run = Run { out, counts: BTreeMap::new(), gone: false, several };
        let mut ended = Ok(());
        while let Some(batch) = handed.recv().await {
            ended = match batch {
                Ok(batch) => run.admit(c.as_ref(), batch, &bar).await,
                Err(failure) => Err(failure),
            };
            if ended.is_err() {
                break;
            }
        }
        // Lets a reader go that still waits to hand something over.
        drop(handed);
        bar.finish_and_clear();
        if reader.await.is_err() {
            return Err(Failure::Broken(anyhow::anyhow!("the reader of the input broke")));
        }
        run.close(ended)
    }
}

fn progress(files: &[String]) -> ProgressBar {
    let sizes: Option<u64> = files
        .iter()
        .map(|f| std::fs::metadata(f).ok().filter(std::fs::Metadata::is_file).map(|m| m.len()))
        .sum();
    let (Some(total), true) = (sizes, io::stderr().is_terminal()) else { return ProgressBar::hidden() };
    let style =
        ProgressStyle::with_template("{bar:30} {bytes} of {total_bytes}, {bytes_per_sec}, {eta} left");
    let bar = ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::stderr());
    match style {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}

/// Reads the files one after the other; returns when all is handed over, or when nobody takes any more.
fn read_files(files: &[String], limit: usize, hand: &mpsc::Sender<Handed>) {
    for file in files {
        let opened: Result<Box<dyn Read>, io::Error> = match file.as_str() {
            "-" => Ok(Box::new(io::stdin())),
            path => File::open(path).map(|f| Box::new(f) as Box<dyn Read>),
        };
        let read = match opened {
            Ok(input) => read_one(file, input, limit, hand),
            Err(e) => Err(Failure::file(file, &e)),
        };
        match read {
            Ok(true) => {}
            Ok(false) => return,
            Err(failure) => {
                // Whoever is gone does not need to be told.
                _ = hand.blocking_send(Err(failure));
                return;
            }
        }
    }
}

/// Reads one input; false where nobody takes any more.
fn read_one(
    file: &str,
    input: Box<dyn Read>,
    limit: usize,
    hand: &mpsc::Sender<Handed>,
) -> Result<bool, Failure> {
    let name: Arc<str> = Arc::from(file);
    let mut split = Split::new(BufReader::with_capacity(BUFFER, input), limit);
    let mut batch = Batch::of(&name);
    let mut before = 0;
    loop {
        let piece = split.next_piece();
        batch.read = split.read - before;
        let done = !matches!(piece, Ok(Some(_)));
        if let Ok(Some(piece)) = &piece
            && batch.bytes > 0
            && batch.bytes + piece.raw.len() > BATCH_BYTES
        {
            before = split.read;
            if hand.blocking_send(Ok(std::mem::replace(&mut batch, Batch::of(&name)))).is_err() {
                return Ok(false);
            }
        }
        match piece {
            Ok(Some(piece)) => {
                batch.bytes += piece.raw.len();
                batch.lines.push(piece.line);
                let source = format!("{file}:{}", piece.line);
                batch.messages.push(Incoming { raw: piece.raw.into(), source, whole: piece.whole });
            }
            Ok(None) => {}
            Err(e) => {
                let sent = batch.messages.is_empty() || hand.blocking_send(Ok(batch)).is_ok();
                let code =
                    if e.kind() == io::ErrorKind::InvalidData { "malformed" } else { "file_unreadable" };
                return if sent { Err(Failure::invalid(code, format!("{file}: {e}"))) } else { Ok(false) };
            }
        }
        // What came through a pipe goes in as it comes: the next read may wait for ever.
        let waits = file == "-" && split.drained();
        if done || waits || batch.messages.len() >= BATCH {
            before = split.read;
            let full = std::mem::replace(&mut batch, Batch::of(&name));
            if !full.messages.is_empty() && hand.blocking_send(Ok(full)).is_err() {
                return Ok(false);
            }
        }
        if done {
            return Ok(true);
        }
    }
}

/// What became of the messages so far, and where it is told.
struct Run<'o> {
    out: &'o mut Out,
    counts: BTreeMap<String, u64>,
    /// Whoever read the output is gone; the messages still go in.
    gone: bool,
    several: bool,
}

impl Run<'_> {
    async fn admit(&mut self, c: &dyn Coordinator, batch: Batch, bar: &ProgressBar) -> Result<(), Failure> {
        let Batch { lines, messages, file, read, .. } = batch;
        // A file is one kind of thing or the other: its first line tells.
        let first = messages.first().filter(|_| lines.first() == Some(&1));
        let ledger = first.is_some_and(|m| m.whole.is_none() && looks_like_record(&m.raw));
        let answers = c.admit(messages).await?;
        if ledger && !self.out.is_json() {
            let why = format!("{file}: this is an approval record, not a message: `verify FILE` reads it");
            note(reveal(&why).as_str());
        }
        for admitted in &answers {
            *self.counts.entry(admitted.outcome.clone()).or_default() += 1;
        }
        if !self.gone {
            match bar.suspend(|| self.tell(&file, &lines, &answers)) {
                Err(Failure::Pipe) => self.gone = true,
                told => told?,
            }
        }
        bar.inc(read);
        Ok(())
    }

    fn tell(&mut self, file: &str, lines: &[u64], answers: &[Admitted]) -> Result<(), Failure> {
        for (line, admitted) in lines.iter().zip(answers) {
            if self.out.is_json() {
                let file = self.several.then_some(file);
                self.out.json(&Told { line: *line, file, admitted })?;
            } else if matches!(
                admitted.outcome.as_str(),
                "quarantined" | "conflict" | "late_conflict" | "refused"
            ) {
                self.out.say(sentence(file, *line, admitted))?;
            }
        }
        self.out.flush()
    }

    fn close(self, ended: Result<(), Failure>) -> Result<(), Failure> {
        if !self.gone && !self.out.is_json() {
            let counts: Vec<String> = self.counts.iter().map(|(word, n)| format!("{n} {word}")).collect();
            let all = if counts.is_empty() { "nothing to admit".to_owned() } else { counts.join(", ") };
            match self.out.say(all) {
                Ok(()) | Err(Failure::Pipe) => {}
                Err(e) => return Err(e),
            }
        }
        ended?;
        if self.counts.contains_key("quarantined") {
            return Err(Failure::Told(6));
        }
        if self.counts.contains_key("refused") {
            return Err(Failure::Told(5));
        }
        Ok(())
    }
}

fn sentence(file: &str, line: u64, a: &Admitted) -> String {
    let name = |text: &Option<String>| text.clone().unwrap_or_else(|| "-".into());
    let arrival = a.arrival.map(|n| format!(" #{n}")).unwrap_or_default();
    let entry = a.quarantine.as_ref().map(|q| format!(" ({q})")).unwrap_or_default();
    let why = a.reason.as_deref().unwrap_or_default();
    format!(
        "{file}:{line}  {}{entry}  {}  {}{arrival}  {why}",
        a.outcome,
        name(&a.task_id),
        name(&a.message_id)
    )
}
