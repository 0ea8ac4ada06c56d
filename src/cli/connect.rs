//! Finds the store and opens it: flag, then environment, then configuration, then the data directory.

use super::Global;
use super::failure::Failure;
use crate::config::{Config, Paths};
use crate::coordinator::local::Local;
use crate::coordinator::{Coordinator, StoreError};
use crate::store::sqlite::{Options, SqliteStore};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What is configured, and where this user's directories are.
#[derive(Debug)]
pub struct Settings {
    /// The configuration.
    pub config: Config,
    /// The directories.
    pub paths: Paths,
    store: Option<(String, Source)>,
}

/// Who named a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    Flag,
    Environment,
    Configuration,
    Default,
}

impl Source {
    /// The word for programs.
    pub fn as_str(self) -> &'static str {
        match self {
            Source::Flag => "flag",
            Source::Environment => "environment",
            Source::Configuration => "configuration",
            Source::Default => "default",
        }
    }

    /// What to look for, for people.
    pub fn told(self) -> &'static str {
        match self {
            Source::Flag => "named by --store",
            Source::Environment => "named by TRIBUNAL_STORE",
            Source::Configuration => "named by the configuration",
            Source::Default => "the default",
        }
    }
}

impl Global {
    /// The store that the command line or the environment names.
    pub fn named(&self) -> Option<(String, Source)> {
        let source = if self.by_flag { Source::Flag } else { Source::Environment };
        self.store.clone().map(|named| (named, source))
    }
}

/// The store that would be used, and who named it. The configuration is looked at only where nobody did before.
pub fn place(
    named: Option<(String, Source)>,
    paths: &Paths,
    configured: impl FnOnce() -> Result<Option<String>, Failure>,
) -> Result<(PathBuf, Source), Failure> {
    let named = match named {
        None => configured()?.map(|named| (named, Source::Configuration)),
        named => named,
    };
    match named {
        Some((named, source)) => Ok((store_path(&named)?, source)),
        None => Ok((paths.default_store(), Source::Default)),
    }
}

impl Settings {
    /// Reads the configuration and starts logging.
    pub fn read(store: Option<(String, Source)>) -> Result<Self, Failure> {
        let paths = paths()?;
        let config = Config::read(&paths.config_file())?;
        crate::logging::start(&paths.state);
        Ok(Settings { config, paths, store })
    }

    /// Where the store is, and who named it.
    pub fn place(&self) -> Result<(PathBuf, Source), Failure> {
        place(self.store.clone(), &self.paths, || Ok(self.config.store.clone()))
    }
}

/// The user's directories.
pub fn paths() -> Result<Paths, Failure> {
    let why = "there is no home directory: set TRIBUNAL_CONFIG_DIR, TRIBUNAL_DATA_DIR and TRIBUNAL_STATE_DIR";
    Paths::of_user().ok_or_else(|| Failure::Usage(why.into()))
}

/// The file that `sqlite:PATH` or a path names.
fn store_path(named: &str) -> Result<PathBuf, Failure> {
    let path = named.strip_prefix("sqlite:").unwrap_or(named);
    if let Some((scheme, _)) = path.split_once("://") {
        // The address may hold a password, so it is not repeated.
        return Err(Failure::Usage(format!(
            "this build speaks sqlite only: a store is sqlite:PATH or a path, not {scheme}://…"
        )));
    }
    if path.trim().is_empty() {
        return Err(Failure::Usage("the store has no path".into()));
    }
    Ok(PathBuf::from(path))
}

/// Opens the store as its owner. Only what brings something in `makes` a store where there is none: a reading verb
/// on a mistyped path must not answer from a new, empty one.
pub async fn open(settings: &Settings, makes: bool) -> Result<Arc<dyn Coordinator>, Failure> {
    let (path, source) = settings.place()?;
    if !makes && source == Source::Default && !path.exists() {
        return Err(StoreError::Unreachable(format!(
            "{} does not exist: run `tribunal demo`, ingest something, or name a store with --store",
            path.display()
        ))
        .into());
    }
    open_at(&settings.config, &path, &settings.paths.state, makes).await
}

/// Opens the store at a path, its head remembered under `state`.
pub async fn open_at(
    config: &Config,
    path: &Path,
    state: &Path,
    makes: bool,
) -> Result<Arc<dyn Coordinator>, Failure> {
    Ok(Arc::new(owned(config, open_store(config, path, state, makes).await?)))
}

/// Opens the store alone.
pub async fn open_store(
    config: &Config,
    path: &Path,
    state: &Path,
    makes: bool,
) -> Result<Arc<SqliteStore>, Failure> {
    let options = Options { rules: config.rules(), create: makes, ..Options::new(state) };
    let place = path.to_owned();
    let opened = tokio::task::spawn_blocking(move || SqliteStore::open(&place, options));
    let broke = |_| Failure::Broken(anyhow::anyhow!("opening the store broke"));
    Ok(Arc::new(opened.await.map_err(broke)??))
}

/// The store as its owner sees it.
pub fn owned(config: &Config, store: Arc<SqliteStore>) -> Local<SqliteStore> {
    owned_by(&user_name(), config, store)
}

/// The store as this user, its owner, sees it.
pub fn owned_by(user: &str, config: &Config, store: Arc<SqliteStore>) -> Local<SqliteStore> {
    Local::embedded(store, Arc::new(config.rules()), config.owner(user)).with_redaction(config.redact.clone())
}

/// The name under which decisions are recorded: that of the user this process runs as, from the system's own list,
/// not from an environment variable anybody can set.
pub fn user_name() -> String {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        if let Ok(me) = std::fs::metadata("/proc/self") {
            let users = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
            return name_of(me.uid(), &users).unwrap_or_else(|| format!("uid-{}", me.uid()));
        }
    }
    let named = ["USER", "LOGNAME", "USERNAME"].into_iter().find_map(|name| std::env::var(name).ok());
    named.filter(|name| !name.is_empty()).unwrap_or_else(|| "owner".into())
}

#[cfg(unix)]
fn name_of(uid: u32, users: &str) -> Option<String> {
    let fields = users.lines().map(|line| line.split(':').collect::<Vec<_>>());
    let mut named = fields.filter(|f| f.get(2).and_then(|id| id.parse().ok()) == Some(uid));
    named.find_map(|f| f.first().filter(|n| !n.is_empty() && !n.contains('*')).map(|n| (*n).to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_store_is_a_path() {
        for (named, path) in [("sqlite:/a/b.db", "/a/b.db"), ("/a/b.db", "/a/b.db"), ("sqlite:b.db", "b.db")]
        {
            assert_eq!(store_path(named).unwrap(), PathBuf::from(path));
        }
        for other in ["postgres://u:secret@h/db", "https://h", "http://h", "", "sqlite:"] {
            let failure = store_path(other).unwrap_err();
            assert_eq!(failure.exit(), 2, "{other}");
            assert!(!failure.message().unwrap().contains("secret"));
        }
    }

    #[test]
    fn users_by_number() {
        let users = "root:x:0:0::/root:/bin/sh\nann:x:1000:1000::/home/ann:/bin/sh\n";
        assert_eq!(name_of(1000, users).as_deref(), Some("ann"));
        assert_eq!(name_of(7, users), None);
    }
}
