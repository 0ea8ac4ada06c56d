//! `demo`: a scratch store, filled by admitting the bundled stories through the real admission path.

mod story;

use super::connect::{Settings, open_at};
use super::failure::Failure;
use super::output::Out;
use crate::config::Config;
use clap::Args;
use serde_json::json;
use std::path::PathBuf;
use story::Teller;
use uuid::Uuid;

/// The stories, told in this order; every line is an envelope or a step.
const STORIES: &[(&str, &str)] = &[
    ("01-conflict.jsonl", include_str!("../../examples/demo/01-conflict.jsonl")),
    ("02-question.jsonl", include_str!("../../examples/demo/02-question.jsonl")),
];

#[derive(Debug, Args)]
pub struct Demo {
    /// Say where the store is, and leave it there
    #[arg(long)]
    no_tui: bool,
}

impl Demo {
    pub async fn run(self, settings: &Settings, out: &mut Out) -> Result<(), Failure> {
        // Until the terminal has a screen to show, both ways say where the store is.
        let Demo { no_tui: _ } = self;
        let place = scratch()?;
        // The demonstration follows the default rules, and remembers its head beside itself: nothing of it stays.
        let config = Config { ui: settings.config.ui.clone(), ..Config::default() };
        let path = place.join("store.db");
        let coordinator = open_at(&config, &path, &place.join("state"), true).await?;
        let mut teller = Teller::new(coordinator.as_ref());
        for (name, story) in STORIES {
            teller.tell(name, story).await?;
        }
        let messages = teller.finish();
        drop(coordinator);
        if out.is_json() {
            return out.json(&json!({ "store": path, "state": place.join("state"), "messages": messages }));
        }
        out.say(format!("{messages} messages admitted to {}", path.display()))?;
        out.say("look at it with:")?;
        out.say(format!(
            "  TRIBUNAL_STATE_DIR={} tribunal --store {} list",
            place.join("state").display(),
            path.display()
        ))
    }
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
