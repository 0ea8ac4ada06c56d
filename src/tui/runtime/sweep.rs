//! Takes away drafts that nobody came back to, and what writing one left behind when it was killed.
//!
//! Never while another process has drafts open: each holds a shared lock for as long as it runs, which the system takes
//! away with the process, and only whoever can hold it alone sweeps. What somebody else decided meanwhile leaves a draft
//! to be copied, so only age counts.

use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::Path;
use std::time::{Duration, SystemTime};

/// How long a draft is kept after its last change.
const KEPT: Duration = Duration::from_secs(30 * 24 * 3600);

/// Sweeps where nobody else has drafts open. Gives the lock that keeps others from sweeping, to be held while this
/// process runs; `None` where none can be had, and then nothing is swept.
pub(super) fn open(dir: &Path, now: SystemTime) -> Option<File> {
    let lock = locked(dir, now);
    if lock.is_err() {
        // The path is the user's own and is not logged.
        tracing::warn!("old drafts are not swept: their directory cannot be locked");
    }
    lock.ok()
}

fn locked(dir: &Path, now: SystemTime) -> io::Result<File> {
    DirBuilder::new().recursive(true).mode(0o700).create(dir)?;
    // The directory itself is what is locked: no other file is to be kept.
    let lock = File::open(dir)?;
    if lock.try_lock().is_ok() {
        sweep(dir, now)?;
        lock.unlock()?;
    }
    // Whoever sweeps holds it for a moment only; waiting for that would hold up the start.
    lock.try_lock_shared()?;
    Ok(lock)
}

fn sweep(dir: &Path, now: SystemTime) -> io::Result<()> {
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        let name = entry.file_name();
        let what = entry.metadata()?;
        let age = what.modified().ok().and_then(|then| now.duration_since(then).ok()).unwrap_or_default();
        let goes = match kind(&name.to_string_lossy()) {
            Some(Kind::Draft) => age > KEPT,
            // Nobody who could still be writing it is open.
            Some(Kind::Half) => true,
            None => false,
        };
        if goes && what.is_file() {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

#[derive(Debug, PartialEq)]
enum Kind {
    Draft,
    Half,
}

/// What a file is by its name; `None` for one that is not ours to take away.
fn kind(name: &str) -> Option<Kind> {
    let (stem, end) = name.split_once('.')?;
    let (digest, number) = stem.split_once('-').unwrap_or((stem, "0"));
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let named = digest.len() == 64 && digest.bytes().all(|b| b.is_ascii_hexdigit()) && digits(number);
    match end {
        _ if !named => None,
        "json" => Some(Kind::Draft),
        _ => end.strip_prefix("tmp-").filter(|id| digits(id)).map(|_| Kind::Half),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: Duration = Duration::from_secs(24 * 3600);

    /// A directory with a draft, its second name, a half-written one, and two files that are somebody else's.
    fn filled() -> (tempfile::TempDir, [String; 5]) {
        let dir = tempfile::tempdir().unwrap();
        let hex = "a".repeat(64);
        let names = [
            format!("{hex}.json"),
            format!("{hex}-1.json"),
            format!("{hex}.tmp-77"),
            "notes.json".to_owned(),
            format!("{hex}.txt"),
        ];
        names.iter().for_each(|name| fs::write(dir.path().join(name), "x").unwrap());
        (dir, names)
    }

    fn left(dir: &Path, names: &[String; 5]) -> [bool; 5] {
        names.each_ref().map(|name| dir.join(name).exists())
    }

    #[test]
    fn drafts_go_after_thirty_days_and_half_written_ones_at_once() {
        let (dir, names) = filled();
        let lock = open(dir.path(), SystemTime::now() + 29 * DAY).unwrap();
        assert_eq!(left(dir.path(), &names), [true, true, false, true, true]);
        drop(lock);
        open(dir.path(), SystemTime::now() + 31 * DAY).unwrap();
        assert_eq!(left(dir.path(), &names), [false, false, false, true, true], "only what is ours");
    }

    #[test]
    fn nothing_goes_while_another_has_drafts_open() {
        let (dir, names) = filled();
        let other = open(dir.path(), SystemTime::now()).unwrap();
        fs::write(dir.path().join(&names[2]), "x").unwrap();
        let mine = open(dir.path(), SystemTime::now() + 31 * DAY).unwrap();
        assert_eq!(left(dir.path(), &names), [true; 5]);
        drop(other);
        let third = open(dir.path(), SystemTime::now() + 31 * DAY).unwrap();
        assert_eq!(left(dir.path(), &names), [true; 5], "the second one is still open");
        drop((mine, third));
        open(dir.path(), SystemTime::now() + 31 * DAY).unwrap();
        assert_eq!(left(dir.path(), &names), [false, false, false, true, true]);
    }

    #[test]
    fn a_directory_that_cannot_be_made_stops_nothing() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("file"), "x").unwrap();
        assert!(open(&dir.path().join("file"), SystemTime::now()).is_none());
    }
}
