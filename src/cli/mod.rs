//! The command line: one file per group of verbs; each asks the coordinator and prints what it said (product.md).

mod answer;
mod config;
mod connect;
mod decide;
mod decided;
mod demo;
mod digest;
mod ended;
mod failure;
mod ingest;
mod ledger;
mod may;
mod output;
mod quarantine;
mod question;
mod read;
mod runtime;
mod show;
mod terminal;
mod timeline;

#[doc(hidden)]
pub use demo::stage;

use crate::coordinator::Coordinator;
use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{Args, CommandFactory as _, FromArgMatches as _, Parser, Subcommand};
use failure::Failure;
use output::Out;
use std::ffi::OsString;
use std::process::ExitCode;

/// The terminal where people settle what agents cannot.
#[derive(Debug, Parser)]
#[command(name = "tribunal", version, about, disable_help_subcommand = true, max_term_width = 100)]
struct Line {
    #[command(flatten)]
    global: Global,
    #[command(subcommand)]
    verb: Option<Verb>,
}

/// What every verb takes.
#[derive(Debug, Args)]
struct Global {
    /// The store: `sqlite:PATH` or a path
    #[arg(long, global = true, env = "TRIBUNAL_STORE", hide_env_values = true, value_name = "STORE")]
    store: Option<String>,
    /// Whether the flag named the store, not the environment
    #[arg(skip)]
    by_flag: bool,
    /// Print JSON for programs
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Fill a scratch store with the bundled stories
    Demo(demo::Demo),
    /// Admit envelopes: JSON Lines, one JSON value, or one array
    Ingest(ingest::Ingest),
    /// List what waits for a person
    List(read::List),
    /// Show a task, its sides, its timeline or one payload
    Show(show::Show),
    /// Compare two sides of a task
    Diff(read::Compare),
    /// Judge a conflict
    Decide(decide::Decide),
    /// Answer an interrupted task
    Answer(answer::Answer),
    /// Move a task
    Transition(runtime::Move),
    /// Take a ready task
    Claim(runtime::Claim),
    /// Prolong a lease
    Renew(runtime::Renew),
    /// Take a lease away
    Release(runtime::Release),
    /// Announce a side effect
    ReserveEffect(runtime::Reserve),
    /// Report a side effect as done
    CommitEffect(runtime::Commit),
    /// Record that an announced side effect did not happen
    ///
    /// For a task that is stuck as `effect_unknown`: its effect was announced, and whoever announced it is gone. Find out
    /// at the target first. Where it happened, `commit-effect` records that, with the digest of the receipt. Where it did
    /// not, this does, with how that is known; then it may be announced again. It is refused while the lease that it
    /// was announced under is held, since that worker may still act, and while the task waits for a decision.
    VoidEffect(runtime::Void),
    /// Record that an artifact does not pass
    ///
    /// A gate is a check of what a task has produced, made outside of it: quality, security, licences. Where one fails,
    /// this records a failure of kind `unacceptable` with its reason, which `list failure:unacceptable` and `show` tell.
    /// It makes sense once there is something to check. It moves nothing: `transition` does.
    Gate(runtime::Gate),
    /// Look after the store
    #[command(subcommand)]
    Store(ledger::StoreVerb),
    /// List approval records
    Approvals(ledger::Approvals),
    /// Verify the ledger, here or in an exported file
    Verify(ledger::Verify),
    /// Print the ledger, byte for byte
    Export(ledger::Export),
    /// Look after messages that were put aside
    #[command(subcommand)]
    Quarantine(quarantine::Quarantine),
    /// Print the digest of a JSON value
    Digest(digest::Digest),
    /// Print or check the configuration
    #[command(subcommand)]
    Config(config::ConfigVerb),
}

impl Line {
    fn read(args: &[OsString]) -> Result<Self, clap::Error> {
        let matches = Line::command().try_get_matches_from(args)?;
        let mut line = Line::from_arg_matches(&matches).map_err(|e| e.format(&mut Line::command()))?;
        line.global.by_flag = matches.value_source("store") == Some(ValueSource::CommandLine);
        Ok(line)
    }
}

/// Runs the program on these arguments and says how it ended.
pub fn main(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    let args: Vec<OsString> = args.into_iter().collect();
    let line = match Line::read(&args) {
        Ok(line) => line,
        Err(e) => return wrong_line(&e, &args),
    };
    let json = line.global.json;
    let mut out = Out::stdout(json);
    let ended = run(line, &mut out).and_then(|()| out.flush());
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            // What was printed before it failed still counts; should that fail too, there is nobody to tell.
            _ = out.flush();
            tracing::warn!(exit = failure.exit(), "a verb failed");
            output::tell(&failure, json);
            ExitCode::from(failure.exit())
        }
    }
}

fn wrong_line(e: &clap::Error, args: &[OsString]) -> ExitCode {
    let json = args.iter().any(|a| a == "--json");
    if !e.use_stderr() {
        // Help and version are our own words; where they cannot be printed there is nobody to tell.
        _ = e.print();
        return ExitCode::SUCCESS;
    }
    // What is wrong is repeated in it, so it is revealed like everything that came from outside.
    let mut message = e.to_string();
    let term =
        |a: &OsString| a.len() > 2 && a.to_str().is_some_and(|a| a.starts_with('-') && !a.starts_with("--"));
    if e.kind() == ErrorKind::UnknownArgument && args.iter().any(|a| a == "list") && args.iter().any(term) {
        // What clap advises, for one letter of the term, would not be taken.
        message = format!("{}\n{}", message.lines().next().unwrap_or_default(), read::DASH);
    }
    let failure = Failure::Usage(message.trim().trim_start_matches("error: ").to_owned());
    output::tell(&failure, json);
    ExitCode::from(failure.exit())
}

fn run(line: Line, out: &mut Out) -> Result<(), Failure> {
    let Line { global, verb } = line;
    clock_is_sane()?;
    let Some(verb) = verb else { return terminal::run(global) };
    match verb {
        Verb::Digest(digest) => return digest.run(out),
        Verb::Config(verb) => return verb.run(&global, out),
        Verb::Verify(ledger::Verify { file: Some(file), head, .. }) => {
            return ledger::verify_file(&file, &head, out);
        }
        _ => {}
    }
    threads()?.block_on(with_store(global, verb, out))
}

/// Times are kept as the years 1970 to 9999.
fn clock_is_sane() -> Result<(), Failure> {
    const END: u64 = 253_402_300_800;
    match std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH) {
        Ok(since) if since.as_secs() < END => Ok(()),
        _ => Err(Failure::Usage("the clock of this machine is not between 1970 and 9999: set it".into())),
    }
}

/// What waits for files, timers and signals.
fn threads() -> Result<tokio::runtime::Runtime, Failure> {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .map_err(|e| Failure::Broken(anyhow::Error::new(e).context("starting the runtime")))
}

impl Verb {
    /// Whether it answers from the store as it is, and says nothing of the store itself.
    fn only_reads(&self) -> bool {
        matches!(self, Verb::List(_) | Verb::Show(_) | Verb::Diff(_) | Verb::Approvals(_) | Verb::Export(_))
    }
}

/// A store that is not as it is remembered can be read; whoever reads it must know.
async fn warn_of_a_mismatch(c: &dyn Coordinator) -> Result<(), Failure> {
    if let Some(why) = c.status().await?.mismatch {
        ended::warn(&format!("the store is not as it was ({why}): what was recorded may be missing here"));
    }
    Ok(())
}

async fn with_store(global: Global, verb: Verb, out: &mut Out) -> Result<(), Failure> {
    if let Verb::Demo(demo) = verb {
        return demo.run(&global, out).await;
    }
    let settings = connect::Settings::read(global.named())?;
    let makes = matches!(verb, Verb::Ingest(_));
    let coordinator = connect::open(&settings, makes).await?;
    let c = coordinator.as_ref();
    if verb.only_reads() {
        warn_of_a_mismatch(c).await?;
    }
    match verb {
        Verb::Ingest(v) => v.run(coordinator, &settings.config.limits, out).await,
        Verb::List(v) => v.run(c, out).await,
        Verb::Show(v) => v.run(c, out).await,
        Verb::Diff(v) => v.run(c, out).await,
        Verb::Decide(v) => v.run(c, out).await,
        Verb::Answer(v) => v.run(c, out).await,
        Verb::Transition(v) => v.run(c, out).await,
        Verb::Claim(v) => v.run(c, out).await,
        Verb::Renew(v) => v.run(c, out).await,
        Verb::Release(v) => v.run(c, out).await,
        Verb::ReserveEffect(v) => v.run(c, out).await,
        Verb::CommitEffect(v) => v.run(c, out).await,
        Verb::VoidEffect(v) => v.run(c, out).await,
        Verb::Gate(v) => v.run(c, out).await,
        Verb::Store(v) => v.run(c, out).await,
        Verb::Approvals(v) => v.run(c, out).await,
        Verb::Verify(v) => v.run(c, out).await,
        Verb::Export(v) => v.run(c, out).await,
        Verb::Quarantine(v) => v.run(c, out).await,
        Verb::Demo(_) | Verb::Digest(_) | Verb::Config(_) => Ok(()),
    }
}
