//! `demo`: a scratch store, filled by admitting the bundled stories through the real admission path.

mod shift;
mod story;

use super::connect::{Settings, open_store, owned, owned_by, user_name};
use super::failure::Failure;
use super::output::{Out, note};
use super::{Global, terminal};
use crate::config::Config;
use crate::coordinator::Coordinator;
use crate::domain::ids::Timestamp;
use crate::domain::shell::word;
use crate::store::sqlite::SqliteStore;
use clap::Args;
use futures_util::{StreamExt as _, stream};
use serde_json::json;
use shift::Shift;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use story::Teller;
use uuid::Uuid;

/// The stories, told in this order; every line is an envelope or a step.
const STORIES: &[(&str, &str)] = &[
    ("01-research.jsonl", include_str!("../../examples/demo/01-research.jsonl")),
    ("02-payments.jsonl", include_str!("../../examples/demo/02-payments.jsonl")),
    ("03-questions.jsonl", include_str!("../../examples/demo/03-questions.jsonl")),
    ("04-trouble.jsonl", include_str!("../../examples/demo/04-trouble.jsonl")),
    ("05-hostile.jsonl", include_str!("../../examples/demo/05-hostile.jsonl")),
    ("06-decided.jsonl", include_str!("../../examples/demo/06-decided.jsonl")),
    ("07-quarantine.jsonl", include_str!("../../examples/demo/07-quarantine.jsonl")),
];

/// Tasks that run by themselves, none of which has to do with another.
const QUIET: (&str, &str) = ("08-quiet.jsonl", include_str!("../../examples/demo/08-quiet.jsonl"));

/// Quiet tasks told at once: their writes share commits.
const AT_ONCE: usize = 64;

#[derive(Debug, Args)]
pub struct Demo {
    /// Say where the store is in place of showing it
    #[arg(long)]
    no_tui: bool,
}

impl Demo {
    pub async fn run(self, global: &Global, out: &mut Out) -> Result<(), Failure> {
        if global.by_flag {
            return Err(Failure::Usage(
                "the demo makes its own scratch store and says where: leave --store out".into(),
            ));
        }
        let settings = &Settings::read(None)?;
        let shows = !self.no_tui && !out.is_json();
        let tells = self.no_tui && !out.is_json();
        // Either may be set for other calls, so it stops nothing.
        for (is_set, name) in [
            (global.store.is_some(), "TRIBUNAL_STORE"),
            (settings.config.store.is_some(), "`store` of the configuration"),
        ] {
            if tells && is_set {
                note(&format!("{name} is not used: the demo makes its own scratch store"));
            }
        }
        if shows {
            terminal::check()?;
        }
        let place = scratch()?;
        // The demonstration follows the default rules, and remembers its head beside itself: nothing of it stays.
        let config = Config { ui: settings.config.ui.clone(), ..Config::default() };
        let path = place.join("demo.db");
        let now = Timestamp(jiff::Timestamp::now().as_millisecond());
        let (store, messages) = fill(&user_name(), &config, &place, now).await?;
        if shows {
            let state = place.join("state");
            let named = word(&state.to_string_lossy());
            let command = format!("TRIBUNAL_STATE_DIR={named} {}", terminal::command(&path));
            let left = terminal::show(settings, Arc::new(owned(&config, store)), command, &state).await;
            // Where the terminal is gone nothing can be said, and why it went is what counts.
            let told = whereabouts(&place, messages, out);
            return left.and(told);
        }
        drop(store);
        if out.is_json() {
            return out.json(&json!({ "store": path, "state": place.join("state"), "messages": messages }));
        }
        whereabouts(&place, messages, out)
    }
}

/// Says where the store is, which stays, and how to look at it.
fn whereabouts(place: &Path, messages: usize, out: &mut Out) -> Result<(), Failure> {
    let path = place.join("demo.db");
    out.say(format!("{messages} messages admitted to {}", path.display()))?;
    out.say("look at it with:")?;
    out.say(format!(
        "  TRIBUNAL_STATE_DIR={} tribunal --store {} list",
        place.join("state").display(),
        path.display()
    ))
}

/// Makes a store in `place` and tells it the stories so that they end at `now`. Gives how many messages that were.
async fn fill(
    user: &str,
    config: &Config,
    place: &Path,
    now: Timestamp,
) -> Result<(Arc<SqliteStore>, usize), Failure> {
    let store = open_store(config, &place.join("demo.db"), &place.join("state"), true).await?;
    let stage = Stage { user, config, store: &store, now };
    let mut messages = 0;
    for (name, story) in STORIES {
        messages += stage.tell(name, &story::lines(story)).await?;
    }
    let quiet = story::by_task(QUIET.1);
    let telling = quiet.iter().map(|lines| stage.tell(QUIET.0, lines));
    let mut telling = stream::iter(telling).buffer_unordered(AT_ONCE);
    while let Some(told) = telling.next().await {
        messages += told?;
    }
    drop(telling);
    Ok((store, messages))
}

/// Where stories are told.
struct Stage<'a> {
    user: &'a str,
    config: &'a Config,
    store: &'a Arc<SqliteStore>,
    now: Timestamp,
}

impl Stage<'_> {
    /// Tells lines to the store, in their own time. Returns how many messages there were.
    async fn tell(&self, name: &str, lines: &[(usize, &str)]) -> Result<usize, Failure> {
        let clock = Arc::new(AtomicI64::new(self.now.0));
        let told = Arc::clone(&clock);
        let listens = owned_by(self.user, self.config, Arc::clone(self.store))
            .with_clock(Arc::new(move || Timestamp(told.load(Ordering::Relaxed))));
        let mut teller = Teller::new(&listens, clock, Shift::to(self.now));
        teller.tell(name, lines).await?;
        Ok(teller.finish())
    }
}

/// The stories as they stand at `now`, in a store in `place`, by a coordinator whose clock stays there: for pictures
/// and tests that must come out the same every time.
///
/// # Errors
/// A sentence, where the store cannot be made or a story does not come out.
#[doc(hidden)]
pub async fn stage(place: &Path, now: Timestamp) -> anyhow::Result<Arc<dyn Coordinator>> {
    let config = Config::default();
    let broke = |failure: Failure| anyhow::anyhow!("{}", failure.message().unwrap_or_default());
    let (store, _) = fill("ana", &config, place, now).await.map_err(broke)?;
    Ok(Arc::new(owned_by("ana", &config, store).with_clock(Arc::new(move || now))))
}

/// A new directory for its owner alone.
fn scratch() -> Result<PathBuf, Failure> {
    let place = std::env::temp_dir().join(format!("tribunal-demo-{}", Uuid::now_v7().simple()));
    let made = {
        #[cfg(unix)]
        {
            use std::os::unix::fs::DirBuilderExt;
            std::fs::DirBuilder::new().mode(0o700).create(&place)
        }
        #[cfg(not(unix))]
        {
            std::fs::create_dir(&place)
        }
    };
    made.map_err(|e| Failure::Broken(anyhow::Error::new(e).context(format!("making {}", place.display()))))?;
    Ok(place)
}
