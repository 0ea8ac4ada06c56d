//! The terminal interface, started from the command line: its look from the configuration, the store it shows.

use super::connect::{self, Settings};
use super::failure::Failure;
use super::{Global, threads};
use crate::coordinator::Coordinator;
use crate::domain::shell::word;
use crate::domain::text::reveal;
use crate::tui::app::Look;
use crate::tui::keymap::Keymap;
use crate::tui::screens::docket::Docket;
use crate::tui::theme::{Depth, Theme};
use crate::tui::{self, Start};
use std::path::Path;
use std::sync::Arc;

/// Shows the configured store; makes the default one where it is not there yet.
pub fn run(global: Global) -> Result<(), Failure> {
    if global.json {
        return Err(Failure::Usage("--json needs a verb: see `tribunal --help`".into()));
    }
    check()?;
    threads()?.block_on(async {
        let settings = Settings::read(global.named())?;
        let (path, _) = settings.place()?;
        // A store that was named must be there: a mistyped path must not show a new, empty one.
        let makes = path == settings.paths.default_store();
        if makes {
            let made = std::fs::create_dir_all(&settings.paths.data);
            made.map_err(|e| Failure::file(&settings.paths.data.to_string_lossy(), &e))?;
        }
        let coordinator = connect::open(&settings, makes).await?;
        let state = settings.paths.state.clone();
        show(&settings, coordinator, command(&path), &state).await
    })
}

/// The beginning of a command that reaches the store at a path, from whatever directory.
pub fn command(store: &Path) -> String {
    let path = std::path::absolute(store).unwrap_or_else(|_| store.to_owned());
    format!("tribunal --store {}", word(&path.to_string_lossy()))
}

/// Whether there is a terminal to show anything on.
pub fn check() -> Result<(), Failure> {
    tui::terminal::check().map_err(|e| Failure::Usage(e.to_string()))
}

/// Shows a coordinator's docket until the person leaves; `command` is how a shell reaches the same store, and drafts are
/// kept below `state`.
pub async fn show(
    settings: &Settings,
    coordinator: Arc<dyn Coordinator>,
    command: String,
    state: &Path,
) -> Result<(), Failure> {
    let principal = coordinator.principal();
    let start = Start {
        store: "…".into(),
        who: reveal(&principal.subject).to_string(),
        command,
        look: look(settings)?,
        reports: settings.paths.state.join("reports"),
        drafts: state.join("drafts"),
    };
    match tui::run(start, coordinator, Box::new(Docket::new())).await {
        Ok(tui::Ended::Quit) => Ok(()),
        // What a shell expects after a signal.
        Ok(tui::Ended::By(end)) => Err(Failure::Told(end.code())),
        Err(tui::Error::Enter(e)) => Err(Failure::Usage(e.to_string())),
        // The hook has told what happened and where the report is.
        Err(tui::Error::Panicked) => Err(Failure::Told(1)),
        Err(e) => Err(Failure::Broken(anyhow::Error::new(e).context("showing the terminal"))),
    }
}

/// Theme and keys: those of the user's directory, else the embedded ones.
fn look(settings: &Settings) -> Result<Look, Failure> {
    let depth = Depth::detect();
    let name = settings.config.ui.theme.as_str();
    let theme = match name {
        "auto" => None,
        name => Some(theme(&settings.paths.config, name)?),
    };
    let keys = settings.paths.config.join("keys.toml");
    let keymap = match std::fs::read_to_string(&keys) {
        Ok(text) => warned(Keymap::parse(&text, &keys.to_string_lossy()))?,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => Keymap::default(),
        Err(e) => return Err(Failure::file(&keys.to_string_lossy(), &e)),
    };
    Ok(Look { theme, depth, keymap })
}

fn theme(config: &Path, name: &str) -> Result<Theme, Failure> {
    if name.contains(['/', '\\']) {
        return Err(Failure::Usage(format!("a theme is a name, not a path: {name:?}")));
    }
    let file = config.join("themes").join(format!("{name}.toml"));
    match std::fs::read_to_string(&file) {
        Ok(text) => warned(Theme::parse(&text, &file.to_string_lossy())),
        Err(_) => Theme::embedded(name).ok_or_else(|| {
            Failure::Usage(format!("no theme is called {name:?}, and {} is not there", file.display()))
        }),
    }
}

/// What is odd in a file is logged and left out; what cannot be read at all is an error.
fn warned<T>(parsed: Result<(T, Vec<String>), String>) -> Result<T, Failure> {
    let (value, warnings) = parsed.map_err(Failure::Usage)?;
    for warning in warnings {
        tracing::warn!("{}", reveal(&warning));
    }
    Ok(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_that_reaches_a_store_is_one_a_shell_takes_from_anywhere() {
        assert_eq!(command(Path::new("/data/a.db")), "tribunal --store /data/a.db");
        assert_eq!(command(Path::new("/it's here/$a.db")), r"tribunal --store '/it'\''s here/$a.db'");
        let here = std::env::current_dir().unwrap_or_default().join("a.db");
        assert_eq!(command(Path::new("a.db")), command(&here));
    }
}
