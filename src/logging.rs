//! Logs to a file in the state directory, never to the terminal. What is logged are outcomes, ids and counts of our
//! own making: no payloads, no reasons, no credentials.

use std::path::Path;
use tracing_appender::rolling::{Builder, Rotation};
use tracing_subscriber::EnvFilter;

/// Days of logs that are kept.
const KEPT: usize = 7;

/// Starts logging into `dir`, at the level that `TRIBUNAL_LOG` names (`warn` where it names none). Where nothing can be
/// written there are no logs: a log must never be the reason why somebody cannot decide.
pub fn start(dir: &Path) {
    let level = std::env::var("TRIBUNAL_LOG").unwrap_or_default();
    let wanted = if level.trim().is_empty() { "warn" } else { level.trim() };
    if wanted == "off" || make_private(dir).is_err() {
        return;
    }
    let appender = Builder::new()
        .rotation(Rotation::DAILY)
        .filename_prefix("tribunal")
        .filename_suffix("log")
        .max_log_files(KEPT)
        .build(dir);
    let Ok(appender) = appender else { return };
    let filter = EnvFilter::try_new(wanted).unwrap_or_else(|_| EnvFilter::new("warn"));
    let subscriber = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_ansi(false)
        .with_writer(std::sync::Mutex::new(appender))
        .finish();
    // Only the first one counts; a second start in one process changes nothing.
    _ = tracing::subscriber::set_global_default(subscriber);
}

#[cfg(unix)]
fn make_private(dir: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(dir)
}

#[cfg(not(unix))]
fn make_private(dir: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(dir)
}
