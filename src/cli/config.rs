//! `config`: the defaults, what is in force, whether the file is right, where everything is.

use super::failure::Failure;
use super::output::Out;
use super::{Global, connect};
use crate::config::Config;
use clap::Subcommand;
use serde_json::json;

#[derive(Debug, Subcommand)]
pub enum ConfigVerb {
    /// Print every setting with its default
    Defaults,
    /// Check the configuration file
    Check,
    /// Print what is in force: the file, under environment and flags
    Print,
    /// Print where configuration, stores, logs and remembered heads are, and which store is used
    Paths,
}

impl ConfigVerb {
    pub fn run(self, global: &Global, out: &mut Out) -> Result<(), Failure> {
        let paths = connect::paths()?;
        let file = paths.config_file();
        match self {
            ConfigVerb::Defaults => print(&Config::default(), out),
            ConfigVerb::Check => {
                Config::read(&file)?;
                let there = file.exists();
                if out.is_json() {
                    return out.json(&json!({ "ok": true, "file": file, "exists": there }));
                }
                let what = if there { "is right" } else { "is not there: the defaults are in force" };
                out.say(format!("{} {what}", file.display()))
            }
            ConfigVerb::Print => {
                let mut config = Config::read(&file)?;
                config.store = global.store.clone().or(config.store).map(|named| without_secrets(&named));
                print(&config, out)
            }
            ConfigVerb::Paths => {
                let (store, source) =
                    connect::place(global.named(), &paths, || Ok(Config::read(&file)?.store))?;
                let store = std::path::absolute(&store).unwrap_or(store);
                if out.is_json() {
                    return out.json(&json!({
                        "config": file, "data": paths.data, "state": paths.state,
                        "store": store, "store_from": source.as_str(),
                    }));
                }
                out.table(&[
                    vec!["config".into(), file.display().to_string()],
                    vec!["data".into(), paths.data.display().to_string()],
                    vec!["state".into(), paths.state.display().to_string()],
                    vec!["store".into(), format!("{} ({})", store.display(), source.told())],
                ])
            }
        }
    }
}

/// The address of a store without what lets one in: user, password and parameters. A path stays as it is.
fn without_secrets(named: &str) -> String {
    let Some((scheme, rest)) = named.split_once("://") else { return named.to_owned() };
    let place = rest.split(['?', '#']).next().unwrap_or_default();
    let hidden = if place.len() < rest.len() { "?…" } else { "" };
    match place.rsplit_once('@') {
        Some((_, host)) => format!("{scheme}://[redacted]@{host}{hidden}"),
        None => format!("{scheme}://{place}{hidden}"),
    }
}

fn print(config: &Config, out: &mut Out) -> Result<(), Failure> {
    if out.is_json() {
        return out.json(config);
    }
    let text = toml::to_string(config).map_err(|e| Failure::Broken(e.into()))?;
    out.say_lines("", text.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_printed_without_what_lets_one_in() {
        for (named, printed) in [
            ("sqlite:/a/b@c.db?x", "sqlite:/a/b@c.db?x"),
            ("postgres://u:p@ss@h:1,h:2/db", "postgres://[redacted]@h:1,h:2/db"),
            ("postgres://h/db?password=p#f", "postgres://h/db?…"),
            ("https://h", "https://h"),
            ("://", "://"),
        ] {
            assert_eq!(without_secrets(named), printed);
        }
    }
}
