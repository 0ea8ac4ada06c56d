//! A panic in any thread gives the terminal back first, then says what happened and where the report is.

use std::backtrace::Backtrace;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::panic::PanicHookInfo;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, Once, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use tokio::sync::Notify;

/// Told by the hook: a panic in another thread ends the loop too.
static PANICKED: Notify = Notify::const_new();
/// Where reports go.
static REPORTS: Mutex<Option<PathBuf>> = Mutex::new(None);

/// Completes when a thread of this process panicked while the terminal was ours.
pub async fn panicked() {
    PANICKED.notified().await;
}

/// Puts the hook before the one that was there, which still serves when the terminal is not ours.
pub(super) fn install(reports: PathBuf) {
    static ONCE: Once = Once::new();
    *REPORTS.lock().unwrap_or_else(PoisonError::into_inner) = Some(reports);
    ONCE.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if !super::give_back() {
                return before(info);
            }
            let text = describe(info);
            let report = REPORTS.lock().unwrap_or_else(PoisonError::into_inner).clone();
            let named = match report.map(|dir| write_report(&dir, &text)) {
                Some(Ok(path)) => format!("A report is in {}", path.display()),
                Some(Err(error)) => format!("No report could be written: {error}"),
                None => String::new(),
            };
            // Standard error may be gone with the terminal.
            let _ = writeln!(std::io::stderr(), "tribunal stopped by its own mistake.\n{text}\n{named}");
            PANICKED.notify_one();
        }));
    });
}

/// Where and what, with no character in it that could drive a terminal.
fn describe(info: &PanicHookInfo<'_>) -> String {
    let thread = std::thread::current();
    let place = info.location().map_or_else(|| "an unknown place".to_owned(), ToString::to_string);
    let what = info.payload_as_str().unwrap_or("no message");
    format!("thread {} at {place}: {what}", thread.name().unwrap_or("without a name"))
        .chars()
        .map(|char| if char.is_control() { ' ' } else { char })
        .take(4096)
        .collect()
}

/// Writes the report, readable by its owner only.
fn write_report(dir: &Path, text: &str) -> std::io::Result<PathBuf> {
    std::fs::create_dir_all(dir)?;
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let path = dir.join(format!("tribunal-panic-{seconds}-{}.txt", std::process::id()));
    let mut file = OpenOptions::new().create(true).append(true).mode(0o600).open(&path)?;
    writeln!(
        file,
        "tribunal {} on {} {}\n{text}\n\n{}",
        env!("CARGO_PKG_VERSION"),
        std::env::consts::OS,
        std::env::consts::ARCH,
        Backtrace::force_capture()
    )?;
    Ok(path)
}
