//! What is kept is found again, nothing that cannot be read is written over, and nothing is lost without a word.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use serde_json::json;

use super::*;
use crate::coordinator::local::Local;
use crate::domain::actor::Principal;
use crate::domain::command::Rules;
use crate::domain::ids::Timestamp;
use crate::store::sqlite::{Options, SqliteStore};
use crate::tui::draft::{Basis, Written};
use tokio::sync::mpsc;

fn shelf(dir: &Path) -> Shelf {
    let shelf = Shelf::new(dir.join("drafts"));
    shelf.store.set("S-1".into()).unwrap();
    shelf
}

fn key() -> Key {
    ("T-1".into(), Kind::Decision)
}

fn draft(reason: &str) -> Box<Draft> {
    let written = Written { reason: reason.into(), ..Written::default() };
    let (task, kind) = key();
    Box::new(Draft { task, kind, at: Timestamp(1), basis: Basis { version: 6, ..Basis::default() }, written })
}

fn files(dir: &Path) -> Vec<PathBuf> {
    let mut files: Vec<_> =
        fs::read_dir(dir.join("drafts")).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

#[test]
fn a_draft_is_one_private_file_that_another_process_finds_and_goes_when_it_is_forgotten() {
    let dir = tempfile::tempdir().unwrap();
    let shelf = shelf(dir.path());
    for reason in ["half", "half a reason"] {
        shelf.put(key(), Some(draft(reason)));
        assert_eq!(shelf.recall(&key()).draft, Some(draft(reason)), "before it is on disk");
        assert_eq!(shelf.flush(), None);
    }
    assert!(lock(&shelf.slots).is_empty());
    let [file] = &files(dir.path())[..] else { panic!("one file") };
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(file), mode(&dir.path().join("drafts"))), (0o600, 0o700));
    let other = self::shelf(dir.path());
    assert_eq!(other.recall(&key()).draft, Some(draft("half a reason")));
    assert_eq!(other.recall(&("T-1".into(), Kind::Answer)).draft, None);
    assert_eq!(other.recall(&("T-2".into(), Kind::Decision)).draft, None);
    other.put(key(), None);
    assert_eq!(other.recall(&key()).draft, None, "also before it is gone from the disk");
    assert_eq!(other.flush(), None);
    assert_eq!(files(dir.path()), Vec::<PathBuf>::new());
}

#[test]
fn what_cannot_be_read_is_told_and_left_in_place_and_the_next_name_is_taken() {
    let dir = tempfile::tempdir().unwrap();
    let shelf = shelf(dir.path());
    shelf.put(key(), Some(draft("first")));
    shelf.flush();
    let file = files(dir.path()).remove(0);
    let too_big = vec![b'x'; LIMIT + 1];
    for (bytes, why) in [
        (&b"{\"format\":1,"[..], "it is damaged"),
        (br#"{"format":2}"#, "its format is 2, and this program reads 1"),
        (&too_big, "it is longer than 1048576 bytes"),
    ] {
        fs::write(&file, bytes).unwrap();
        let found = shelf.recall(&key());
        assert_eq!(found.draft, None);
        assert_eq!(found.problem, Some(format!("{}: {why}", file.display())));
        shelf.put(key(), Some(draft("second")));
        assert_eq!(shelf.flush(), None);
        let found = shelf.recall(&key());
        assert_eq!((found.draft, found.problem.is_some()), (Some(draft("second")), true));
        shelf.put(key(), None);
        assert_eq!(shelf.flush(), None);
        assert_eq!(fs::read(&file).unwrap(), bytes, "left as it is");
        assert_eq!(files(dir.path()), std::slice::from_ref(&file));
    }
}

#[test]
fn a_credential_is_never_on_disk_but_is_not_lost_while_the_program_runs() {
    let dir = tempfile::tempdir().unwrap();
    let shelf = shelf(dir.path());
    let mut with = draft("password: hunter");
    with.written.fields.insert("region".into(), json!("eu"));
    // As far as it was harmless it may have been written.
    shelf.put(key(), Some(draft("passw")));
    assert_eq!(shelf.flush(), None);
    with.written.reason = "password: hunter2hunter2".into();
    shelf.put(key(), Some(with.clone()));
    assert_eq!(shelf.flush(), Some("T-1: the reason holds a password or key with its value".into()));
    let text = fs::read_to_string(files(dir.path()).remove(0)).unwrap();
    assert!(text.contains(r#""region":"eu""#) && !text.contains("passw"), "{text}");
    assert_eq!(shelf.recall(&key()).draft, Some(with));
    // With nothing else in it there is no file at all.
    shelf.put(key(), Some(draft("password: hunter2hunter2")));
    assert!(shelf.flush().is_some());
    assert_eq!(files(dir.path()), Vec::<PathBuf>::new());
}

#[test]
fn where_nothing_can_be_written_it_is_told_and_stays_until_it_can() {
    let dir = tempfile::tempdir().unwrap();
    let shelf = shelf(dir.path());
    // A file where the directory should be.
    fs::write(dir.path().join("drafts"), b"").unwrap();
    shelf.put(key(), Some(draft("kept")));
    let why = shelf.flush().unwrap();
    assert!(why.starts_with("T-1: "), "{why}");
    assert_eq!(shelf.recall(&key()).draft, Some(draft("kept")));
    fs::remove_file(dir.path().join("drafts")).unwrap();
    assert_eq!(shelf.flush(), None);
    assert_eq!(self::shelf(dir.path()).recall(&key()).draft, Some(draft("kept")));
}

fn coordinator(dir: &Path) -> Arc<dyn Coordinator> {
    let options = Options { create: true, ..Options::new(dir.join("state")) };
    let store = SqliteStore::open(&dir.join("store.db"), options).unwrap();
    Arc::new(Local::embedded(Arc::new(store), Arc::new(Rules::default()), Principal::owner("you")))
}

/// Fault 59: leaving writes what is not written yet, and so does a panic that unwinds through the loop.
#[test]
fn draft_survives_panic() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(leave_twice());
}

async fn leave_twice() {
    let dir = tempfile::tempdir().unwrap();
    let coordinator = coordinator(dir.path());
    let (events, _answers) = mpsc::channel(4);
    let started = || Drafts::new(dir.path().join("drafts"), coordinator.clone(), events.clone());
    for panics in [false, true] {
        let mut drafts = started();
        assert_eq!(drafts.recall(key()).await.draft, panics.then(|| draft("false")));
        drafts.put(key(), Some(draft(&panics.to_string())), false);
        let left = std::panic::catch_unwind(std::panic::AssertUnwindSafe(move || {
            let _drafts = drafts;
            assert!(!panics, "a mistake of ours, for a test");
        }));
        assert_eq!(left.is_err(), panics);
        assert_eq!(started().recall(key()).await.draft, Some(draft(&panics.to_string())));
    }
}

#[tokio::test]
async fn many_keys_in_a_row_are_one_write_and_what_goes_wrong_is_told_once() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("drafts"), b"").unwrap();
    let coordinator = coordinator(dir.path());
    let (events, mut answers) = mpsc::channel(4);
    let mut drafts = Drafts::new(dir.path().join("drafts"), coordinator, events);
    drafts.recall(key()).await;
    let began = std::time::Instant::now();
    drafts.put(key(), Some(draft("x")), false);
    let timer = drafts.due.as_ref().map(JoinHandle::id);
    for typed in 0..50 {
        drafts.put(key(), Some(draft(&"x".repeat(typed + 1))), false);
        assert_eq!(drafts.due.as_ref().map(JoinHandle::id), timer, "one timer for all of them");
    }
    let Some(Event::Feed(Change::Unkept(Some(why)))) = answers.recv().await else { panic!() };
    assert!(began.elapsed() >= LATEST && why.starts_with("T-1: "), "{why}");
    drafts.keep().await;
    fs::remove_file(dir.path().join("drafts")).unwrap();
    drafts.put(key(), Some(draft("at last")), true);
    assert!(matches!(answers.recv().await, Some(Event::Feed(Change::Unkept(None)))));
    assert!(answers.try_recv().is_err());
    let file = files(dir.path()).remove(0);
    assert!(fs::read_to_string(file).unwrap().contains("at last"));
}
