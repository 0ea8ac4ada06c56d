//! The configuration: one TOML file, below it the defaults, above it environment variables and flags.
//!
//! Every section is the type its consumer declares, so a bound exists once. A name that is not known is an error with
//! file and line: a misspelt redaction rule or limit must never be a silent absence.

use crate::domain::actor::{Pattern, Principal, Role};
use crate::domain::attention::Thresholds;
use crate::domain::command::Rules;
use crate::domain::decision::Policy;
use crate::domain::digest::Scheme;
use crate::domain::envelope::Limits;
use crate::domain::redact::Rule;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use thiserror::Error;

/// Everything that can be configured.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Where the store is; the data directory where left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub store: Option<String>,
    /// Bounds on messages.
    pub limits: Limits,
    /// When a quiet task counts as stuck.
    pub thresholds: Thresholds,
    /// How decisions are made.
    pub policy: Policy,
    /// The owner of an embedded store.
    pub owner: Owner,
    /// How messages are taken in.
    pub ingest: Ingest,
    /// The terminal.
    pub ui: Ui,
    /// What is masked, and for roles below which one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub redact: Vec<Rule>,
}

/// The owner of an embedded store.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Owner {
    /// Senders that are the owner's own work, beside the user name: the owner may not judge what they sent.
    pub senders: Vec<Pattern>,
}

/// How messages are taken in.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Ingest {
    /// The digest scheme of messages that name none.
    pub digest_scheme: Scheme,
}

/// The terminal.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Ui {
    /// The name of a theme; `auto` follows the terminal.
    pub theme: String,
}

impl Default for Ui {
    fn default() -> Self {
        Ui { theme: "auto".into() }
    }
}

/// What is wrong with a configuration, and where.
#[derive(Debug, Error)]
#[error("{}{}: {message}", .file.display(), .line.map(|l| format!(":{l}")).unwrap_or_default())]
pub struct ConfigError {
    /// The file.
    pub file: PathBuf,
    /// The line, from 1, where it is known.
    pub line: Option<usize>,
    /// What is wrong.
    pub message: String,
}

/// The most a bound can be raised to: beyond it memory, not policy, decides.
const MOST_BYTES: usize = 1 << 30;
const MOST_DEPTH: usize = 10_000;

impl Config {
    /// Reads the file; one that is not there is an empty one.
    ///
    /// # Errors
    /// A file that cannot be read, is no TOML, or names or holds what is not known.
    pub fn read(file: &Path) -> Result<Self, ConfigError> {
        let wrong = |line, message: String| ConfigError { file: file.to_owned(), line, message };
        let text = match std::fs::read_to_string(file) {
            Ok(text) => text,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(Config::default()),
            Err(e) => return Err(wrong(None, e.to_string())),
        };
        Self::parse(&text).map_err(|(line, message)| wrong(line, message))
    }

    /// Reads the text of a configuration; the error names the line, where it is known.
    fn parse(text: &str) -> Result<Self, (Option<usize>, String)> {
        let config: Config = toml::from_str(text).map_err(|e| {
            let line = e.span().map(|s| text.get(..s.start).unwrap_or_default().matches('\n').count() + 1);
            (line, e.message().to_owned())
        })?;
        config.check().map_err(|message| (None, message))?;
        Ok(config)
    }

    fn check(&self) -> Result<(), String> {
        let l = &self.limits;
        let bounds = [
            ("limits.envelope_bytes", l.envelope_bytes, MOST_BYTES),
            ("limits.depth", l.depth, MOST_DEPTH),
            ("limits.id_bytes", l.id_bytes, 4096),
            ("limits.evidence_refs", l.evidence_refs, 1_000_000),
            ("limits.text_bytes", l.text_bytes, MOST_BYTES),
            ("limits.labels", l.labels, 100_000),
            ("limits.schema_bytes", l.schema_bytes, MOST_BYTES),
            ("limits.open_per_task", l.open_per_task, 1_000_000),
        ];
        for (name, value, most) in bounds {
            if !(1..=most).contains(&value) {
                return Err(format!("{name} is {value}; it may be 1 to {most}"));
            }
        }
        if self.thresholds.ready_ms < 1 || self.thresholds.pending_ms < 1 {
            return Err("a threshold is at least 1 millisecond".into());
        }
        for (at, rule) in self.redact.iter().enumerate() {
            if Role::parse(&rule.below).is_none() {
                let roles: Vec<&str> = Role::ALL.iter().map(|r| r.as_str()).collect();
                let (n, roles) = (at + 1, roles.join(", "));
                return Err(format!("redact number {n}: below is {:?}; it may be {roles}", rule.below));
            }
        }
        Ok(())
    }

    /// The rules a store and its coordinator follow.
    pub fn rules(&self) -> Rules {
        Rules {
            limits: self.limits.clone(),
            policy: self.policy.clone(),
            thresholds: self.thresholds.clone(),
            default_scheme: self.ingest.digest_scheme,
        }
    }

    /// The owner of an embedded store, with the senders that are their own work.
    pub fn owner(&self, user: &str) -> Principal {
        let mut owner = Principal::owner(user);
        owner.senders.extend(self.owner.senders.iter().cloned());
        owner
    }
}

/// The directories of this user.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Paths {
    /// `config.toml` and themes.
    pub config: PathBuf,
    /// Stores.
    pub data: PathBuf,
    /// Logs and remembered heads.
    pub state: PathBuf,
}

impl Paths {
    /// The platform's directories, or those that `TRIBUNAL_CONFIG_DIR`, `TRIBUNAL_DATA_DIR` and `TRIBUNAL_STATE_DIR`
    /// name; `None` where there is no home.
    pub fn of_user() -> Option<Self> {
        let named = |name| std::env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from);
        let (config, data, state) =
            (named("TRIBUNAL_CONFIG_DIR"), named("TRIBUNAL_DATA_DIR"), named("TRIBUNAL_STATE_DIR"));
        let platform = directories::ProjectDirs::from("", "", "tribunal");
        let of = |named: Option<PathBuf>, platform: Option<PathBuf>| named.or(platform);
        Some(Paths {
            config: of(config, platform.as_ref().map(|p| p.config_dir().to_owned()))?,
            data: of(data, platform.as_ref().map(|p| p.data_dir().to_owned()))?,
            state: of(
                state,
                platform
                    .as_ref()
                    .map(|p| p.state_dir().map_or_else(|| p.data_local_dir().join("state"), Path::to_owned)),
            )?,
        })
    }

    /// The configuration file.
    pub fn config_file(&self) -> PathBuf {
        self.config.join("config.toml")
    }

    /// The store where nothing else is said.
    pub fn default_store(&self) -> PathBuf {
        self.data.join("store.db")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_are_what_they_print() {
        let printed = toml::to_string(&Config::default()).unwrap();
        let read = Config::parse(&printed).unwrap();
        assert_eq!(toml::to_string(&read).unwrap(), printed);
        assert_eq!(read.limits.envelope_bytes, 16 << 20);
        assert_eq!(read.policy.minimum_reason, 1);
    }

    #[test]
    fn what_is_not_known_is_refused_with_its_line() {
        for (text, line, word) in [
            ("store = \"a\"\nstoer = \"b\"\n", Some(2), "stoer"),
            ("[limits]\ndepth = 3\nwidth = 4\n", Some(3), "width"),
            ("[limits]\ndepth = \"deep\"\n", Some(2), "invalid type"),
            ("[policy\n", Some(1), ""),
            ("[[redact]]\npointer = \"/a\"\nbelow = \"boss\"\n", None, "boss"),
            ("[[redact]]\npointer = \"a\"\nbelow = \"reviewer\"\n", Some(1), "Pointer"),
            ("[limits]\nenvelope_bytes = 0\n", None, "envelope_bytes"),
            ("[ingest]\ndigest_scheme = \"md5/1\"\n", Some(2), "scheme"),
        ] {
            let (found, message) = Config::parse(text).unwrap_err();
            assert_eq!(found, line, "{text}: {message}");
            assert!(message.contains(word), "{text}: {message}");
        }
    }

    #[test]
    fn owner_senders_are_the_owners_own_work() {
        let config = Config::parse("[owner]\nsenders = [\"mine-*\"]\n").unwrap();
        let owner = config.owner("ann");
        assert!(owner.speaks_for("ann") && owner.speaks_for("mine-1") && !owner.speaks_for("bob"));
    }
}
