//! What happens to files: torn, flipped, deleted, replaced, restored, full, read-only (faults 26 to 34).

use crate::common::invariants::{check_invariants, try_invariants};
use crate::common::mount::{mount, small};
use crate::common::{NOON, Place, admit, admitted, asks, beside, block_on, conflict, decide, result};
use crate::conformance::first_page;
use rusqlite::Connection;
use serde_json::json;
use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;
use tribunal::domain::digest::Digest;
use tribunal::domain::ids::TaskId;
use tribunal::domain::ledger::{Chain, ProblemKind};
use tribunal::domain::refusal::Refusal;
use tribunal::domain::task::TaskState;
use tribunal::store::sqlite::SqliteStore;
use tribunal::store::{Acceptance, Cursor, Scope, Store, StoreError};

fn skip(why: &str) {
    writeln!(std::io::stderr(), "skipped: {why}").unwrap();
}

fn acceptance() -> Acceptance {
    Acceptance { by: "wolf".into(), reason: "looked at it".into(), at: NOON }
}

async fn ask(store: &SqliteStore, task: &str) -> Result<tribunal::store::Answer, StoreError> {
    store.submit(vec![admit(asks(task))]).await.map(|mut a| a.remove(0))
}

/// Decides `count` tasks, then copies the files as a crash would leave them: the log not yet in the database.
fn crash_image(place: &Place, count: usize, image: &Path) {
    block_on(async {
        let store = place.open();
        for n in 0..count {
            let task = format!("T-{n}");
            let version = conflict(&store, &task).await;
            store.submit(vec![decide(&task, TaskState::Ready, version, "d")]).await.unwrap()[0]
                .as_ref()
                .unwrap();
        }
        copy(&place.path(), image);
    });
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to.parent().unwrap()).unwrap();
    for suffix in ["", "-wal"] {
        _ = fs::remove_file(beside(to, suffix));
        if beside(from, suffix).exists() {
            fs::copy(beside(from, suffix), beside(to, suffix)).unwrap();
        }
    }
    _ = fs::remove_file(beside(to, "-shm"));
}

/// Opens a damaged copy. Either nothing is lost, or it is said, writes are refused, and reads go on.
fn opens_honestly(place: &Place, path: &Path, whole: u64) -> bool {
    block_on(async {
        let store = SqliteStore::open(path, place.options()).unwrap();
        let status = store.status().await.unwrap();
        store.page(&first_page(Scope::Everything)).await.unwrap();
        let answer = ask(&store, "T-new").await.unwrap();
        if status.head.events == whole {
            assert_eq!(status.mismatch, None);
            answer.unwrap();
            return false;
        }
        let why = status.mismatch.expect("a loss is noticed");
        assert_eq!(
            why,
            format!("log shorter than remembered head {whole}: it has {} events", status.head.events)
        );
        assert_eq!(answer, Err(Refusal::HeadMismatch { why: why.clone() }));
        let dropped = store.drop_entry("Q-1", "wolf", "x", NOON).await.unwrap();
        assert_eq!(dropped, Err(Refusal::HeadMismatch { why }));
        true
    })
}

#[test]
fn wal_truncated() {
    let place = Place::new();
    let (image, work) = (place.dir.path().join("image/store.db"), place.dir.path().join("work/store.db"));
    crash_image(&place, 6, &image);
    let whole = check_invariants(&image).events;
    let length = fs::metadata(beside(&image, "-wal")).unwrap().len();
    let memory = fs::read(memory_of(&place)).unwrap();
    let mut lost = 0;
    for step in 0..60 {
        fs::write(memory_of(&place), &memory).unwrap();
        copy(&image, &work);
        let file = fs::OpenOptions::new().write(true).open(beside(&work, "-wal")).unwrap();
        file.set_len(length * step / 60 + step).unwrap();
        drop(file);
        if try_invariants(&work).is_err() {
            // Cut before the schema was there: nothing to open, and not made anew either.
            let opened = SqliteStore::open(
                &work,
                tribunal::store::sqlite::Options { create: false, ..place.options() },
            );
            assert!(opened.is_err(), "{step}");
            continue;
        }
        lost += u32::from(opens_honestly(&place, &work, whole));
        check_invariants(&work);
    }
    assert!(lost > 30, "{lost}");
}

fn memory_of(place: &Place) -> std::path::PathBuf {
    let mut heads = fs::read_dir(place.dir.path().join("state/heads")).unwrap();
    heads.next().unwrap().unwrap().path()
}

#[test]
fn wal_bit_flip() {
    let place = Place::new();
    let (image, work) = (place.dir.path().join("image/store.db"), place.dir.path().join("work/store.db"));
    crash_image(&place, 4, &image);
    let whole = check_invariants(&image).events;
    let wal = fs::read(beside(&image, "-wal")).unwrap();
    let memory = fs::read(memory_of(&place)).unwrap();
    let mut lost = 0;
    for round in 0..40_usize {
        fs::write(memory_of(&place), &memory).unwrap();
        copy(&image, &work);
        // Behind the schema's own commit, where a flip takes away only what was acknowledged after it.
        let at = wal.len() / 2 + round * 7919 % (wal.len() / 2);
        let mut flipped = wal.clone();
        flipped[at] ^= 1 << (round % 8);
        fs::write(beside(&work, "-wal"), flipped).unwrap();
        lost += u32::from(opens_honestly(&place, &work, whole));
    }
    assert!(lost > 30, "{lost} of 40 lost something");
}

#[test]
fn a_person_accepts_a_shorter_log() {
    let place = Place::new();
    block_on(async {
        let store = place.open();
        ask(&store, "T-1").await.unwrap().unwrap();
        drop(store);
        let backup = place.dir.path().join("backup.db");
        fs::copy(place.path(), &backup).unwrap();
        let store = place.open();
        ask(&store, "T-2").await.unwrap().unwrap();
        let old = store.feed_end().await.unwrap();
        drop(store);
        fs::copy(&backup, place.path()).unwrap();
        let store = place.open();
        assert!(store.status().await.unwrap().mismatch.is_some());
        store.accept_head(&acceptance()).await.unwrap();
        let status = store.status().await.unwrap();
        assert_eq!((status.mismatch, status.epoch), (None, old.epoch + 1));
        ask(&store, "T-3").await.unwrap().unwrap();
        // What an old reader counted is not what is stored now: it hears everything of the new epoch.
        assert_eq!(store.since(old, 10).await.unwrap().len(), 4);
        drop(store);
        let store = place.open();
        assert_eq!(store.status().await.unwrap().mismatch, None);
        ask(&store, "T-4").await.unwrap().unwrap();
    });
    let conn = Connection::open(place.path()).unwrap();
    let kept: (String, String, i64) = conn
        .query_row("SELECT by, mismatch, events FROM head_acceptance", [], |r| {
            Ok((r.get(0)?, r.get(1)?, r.get(2)?))
        })
        .unwrap();
    assert_eq!(kept, ("wolf".into(), "log shorter than remembered head 4: it has 2 events".into(), 2));
    check_invariants(&place.path());
}

/// What a person accepted in one program holds for another that has the store open.
#[test]
fn a_head_accepted_elsewhere() {
    let place = Place::new();
    block_on(async {
        ask(&place.open(), "T-1").await.unwrap().unwrap();
        let backup = place.dir.path().join("backup.db");
        fs::copy(place.path(), &backup).unwrap();
        ask(&place.open(), "T-2").await.unwrap().unwrap();
        fs::copy(&backup, place.path()).unwrap();
        let (here, elsewhere) = (place.open(), place.open());
        let why = here.status().await.unwrap().mismatch.expect("noticed");
        assert_eq!(ask(&here, "T-3").await.unwrap(), Err(Refusal::HeadMismatch { why }));
        elsewhere.accept_head(&acceptance()).await.unwrap();
        let status = here.status().await.unwrap();
        assert_eq!((status.mismatch, status.epoch), (None, 2));
        ask(&here, "T-3").await.unwrap().unwrap();
        ask(&elsewhere, "T-4").await.unwrap().unwrap();
        assert_eq!(here.status().await.unwrap().mismatch, None);
    });
    check_invariants(&place.path());
}

#[test]
fn backup_restored_older() {
    let place = Place::new();
    block_on(async {
        let store = place.open();
        ask(&store, "T-1").await.unwrap().unwrap();
        drop(store);
        let backup = place.dir.path().join("backup.db");
        fs::copy(place.path(), &backup).unwrap();
        let store = place.open();
        ask(&store, "T-2").await.unwrap().unwrap();
        drop(store);
        // On another machine, without the memory, the backup goes its own way and becomes longer.
        let mut elsewhere = place.options();
        elsewhere.state_dir = place.dir.path().join("elsewhere");
        let store = SqliteStore::open(&backup, elsewhere).unwrap();
        for n in 10..20 {
            ask(&store, &format!("T-{n}")).await.unwrap().unwrap();
        }
        drop(store);
        fs::copy(&backup, place.path()).unwrap();
        let store = place.open();
        let why = store.status().await.unwrap().mismatch.expect("compared by digest, not by count");
        assert_eq!(why, "event 4 is not the one remembered at this place");
        assert_eq!(ask(&store, "T-3").await.unwrap(), Err(Refusal::HeadMismatch { why }));
        assert!(store.task(&TaskId::from("T-10")).await.unwrap().is_some());
    });
}

#[test]
fn another_store_in_place_of_the_remembered_one() {
    let (place, other) = (Place::new(), Place::new());
    block_on(async {
        for p in [&place, &other] {
            let store = p.open();
            ask(&store, "T-1").await.unwrap().unwrap();
        }
        fs::copy(other.path(), place.path()).unwrap();
        let store = place.open();
        let why = store.status().await.unwrap().mismatch.expect("noticed by its id");
        assert!(why.starts_with("another store stands where the remembered one stood"), "{why}");
        assert_eq!(ask(&store, "T-2").await.unwrap(), Err(Refusal::HeadMismatch { why }));
        store.accept_head(&acceptance()).await.unwrap();
        ask(&store, "T-2").await.unwrap().unwrap();
        drop(store);
        assert_eq!(place.open().status().await.unwrap().mismatch, None);
    });
}

#[test]
fn a_vanished_store_is_not_made_anew() {
    let place = Place::new();
    block_on(async {
        drop(place.open());
        fs::remove_file(place.path()).unwrap();
        // Nothing was ever in it: nothing is missed.
        let store = place.open();
        ask(&store, "T-1").await.unwrap().unwrap();
        drop(store);
        for empty in [false, true] {
            fs::remove_file(place.path()).unwrap();
            if empty {
                fs::write(place.path(), b"").unwrap();
            }
            let error = SqliteStore::open(&place.path(), place.options()).expect_err("refused");
            assert!(
                matches!(&error, StoreError::Unreachable(why) if why.contains("with a history was there")),
                "{error}"
            );
            fs::write(place.path(), b"").unwrap();
        }
    });
    let missing = Place::new();
    let never = tribunal::store::sqlite::Options { create: false, ..missing.options() };
    assert!(matches!(SqliteStore::open(&missing.path(), never), Err(StoreError::Unreachable(_))));
    assert!(!missing.path().exists());
}

#[test]
fn file_replaced_while_open() {
    let place = Place::new();
    block_on(async {
        let store = place.open();
        ask(&store, "T-1").await.unwrap().unwrap();
        let aside = place.dir.path().join("aside.db");
        fs::rename(place.path(), &aside).unwrap();
        for other in [false, true] {
            if other {
                fs::write(place.path(), b"SQLite format 3\0").unwrap();
            }
            let error = ask(&store, "T-2").await.expect_err("nothing is written into the void");
            let word = if other { "replaced" } else { "removed" };
            assert!(matches!(&error, StoreError::Failed(why) if why.contains(word)), "{error}");
            assert!(store.status().await.unwrap().write_failure.unwrap().contains(word));
            assert!(store.task(&TaskId::from("T-1")).await.unwrap().is_some());
        }
        assert_eq!(fs::read(place.path()).unwrap(), b"SQLite format 3\0");
        // Put back where it was, it is the file it was.
        fs::rename(&aside, place.path()).unwrap();
        ask(&store, "T-3").await.unwrap().unwrap();
        assert_eq!(store.status().await.unwrap().write_failure, None);
    });
    check_invariants(&place.path());
}

#[test]
fn shm_or_wal_deleted() {
    for suffix in ["-wal", "-shm"] {
        let place = Place::new();
        block_on(async {
            let store = place.open();
            ask(&store, "T-1").await.unwrap().unwrap();
            fs::remove_file(beside(&place.path(), suffix)).unwrap();
            let second = ask(&store, "T-2").await;
            if suffix == "-wal" {
                let error = second.as_ref().expect_err("a commit there would be lost");
                assert!(
                    matches!(error, StoreError::Failed(why) if why.contains("-wal was removed")),
                    "{error}"
                );
            }
            drop(store);
            let store = place.open();
            assert_eq!(store.status().await.unwrap().mismatch, None);
            assert!(
                store.task(&TaskId::from("T-1")).await.unwrap().is_some(),
                "what was acknowledged is there"
            );
            assert_eq!(store.task(&TaskId::from("T-2")).await.unwrap().is_some(), second.is_ok());
            ask(&store, "T-3").await.unwrap().unwrap();
        });
        check_invariants(&place.path());
    }
}

#[test]
fn db_file_bit_flip() {
    let place = Place::new();
    let record = block_on(async {
        let store = place.open();
        for n in 0..3 {
            let task = format!("T-{n}");
            let version = conflict(&store, &task).await;
            store.submit(vec![decide(&task, TaskState::Ready, version, "d")]).await.unwrap()[0]
                .as_ref()
                .unwrap();
        }
        store.records(None, 1, 1).await.unwrap().remove(0)
    });
    let whole = fs::read(place.path()).unwrap();
    let needle = b"\"reason\":\"because\"";
    let start = record.bytes.windows(needle.len()).position(|w| w == needle).unwrap();
    let head = &record.bytes[start..start + needle.len() + 40];
    let mut flipped = whole.clone();
    // A page may still hold the bytes of where the record stood before it was moved.
    let copies: Vec<usize> =
        (0..whole.len() - head.len()).filter(|at| whole[*at..].starts_with(head)).collect();
    assert!(!copies.is_empty(), "the record stands in the file");
    copies.iter().for_each(|at| flipped[at + 11] ^= 1);
    fs::write(place.path(), &flipped).unwrap();
    let report = block_on(async {
        let store = place.open();
        let mut chain = Chain::new([]);
        store.records(None, 0, 100).await.unwrap().iter().for_each(|r| chain.push(&r.bytes));
        chain.finish()
    });
    let problem = report.problem.expect("found");
    assert_eq!((problem.sequence, problem.kind, report.records), (2, ProblemKind::Altered, 1));
    // Anywhere at all: an error, or a difference that the check finds, or a byte that nothing uses. Never a panic.
    let digest_of = |path: &Path| try_invariants(path).map(|f| Digest::of_bytes(format!("{f:?}").as_bytes()));
    fs::write(place.path(), &whole).unwrap();
    let good = digest_of(&place.path()).unwrap();
    for round in 0..120_usize {
        let mut flipped = whole.clone();
        let at = round * 104_729 % whole.len();
        flipped[at] ^= 1 << (round % 8);
        fs::write(place.path(), &flipped).unwrap();
        if let Ok(found) = digest_of(&place.path()) {
            assert_eq!(found, good, "a flip at {at} changed what is read without a word");
        }
        block_on(async {
            if let Ok(store) = SqliteStore::open(&place.path(), place.options()) {
                _ = store.page(&first_page(Scope::Everything)).await;
                _ = store.submissions(&TaskId::from("T-1"), 0, 100).await;
            }
        });
        _ = fs::remove_file(beside(&place.path(), "-wal"));
        _ = fs::remove_file(beside(&place.path(), "-shm"));
    }
}

#[test]
fn newer_schema_and_strange_files() {
    let place = Place::new();
    drop(place.open());
    let conn = Connection::open(place.path()).unwrap();
    conn.pragma_update(None, "user_version", 99).unwrap();
    drop(conn);
    let error = SqliteStore::open(&place.path(), place.options()).expect_err("refused");
    let text = error.to_string();
    assert!(matches!(error, StoreError::Incompatible(_)) && text.contains("newer tribunal"), "{text}");

    let place = Place::new();
    fs::create_dir_all(place.path().parent().unwrap()).unwrap();
    let conn = Connection::open(place.path()).unwrap();
    conn.execute_batch("CREATE TABLE somebody_elses(x)").unwrap();
    drop(conn);
    let before = fs::read(place.path()).unwrap();
    assert!(matches!(SqliteStore::open(&place.path(), place.options()), Err(StoreError::Incompatible(_))));
    assert_eq!(fs::read(place.path()).unwrap(), before, "left as it was");
    fs::write(place.path(), b"just some text, longer than a header").unwrap();
    assert!(matches!(SqliteStore::open(&place.path(), place.options()), Err(StoreError::Incompatible(_))));
    assert!(matches!(SqliteStore::open(place.dir.path(), place.options()), Err(StoreError::Unreachable(_))));
}

#[test]
fn files_are_private() {
    let place = Place::new();
    let store = place.open();
    block_on(ask(&store, "T-1")).unwrap().unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    for suffix in ["", "-wal", "-shm"] {
        assert_eq!(mode(&beside(&place.path(), suffix)), 0o600, "{suffix}");
    }
    assert_eq!(mode(place.path().parent().unwrap()), 0o700);
    assert_eq!(mode(&place.dir.path().join("state/heads")), 0o700);
    assert_eq!(mode(&memory_of(&place)), 0o600);
}

#[test]
fn an_unreadable_memory_is_a_mismatch() {
    let place = Place::new();
    for task in ["T-1", "T-2"] {
        block_on(ask(&place.open(), task)).unwrap().unwrap();
    }
    let memory = memory_of(&place);
    let good = fs::read(&memory).unwrap();
    // One torn slot leaves the other.
    for slot in [0, 512] {
        let mut torn = good.clone();
        torn[slot + 20..slot + 40].fill(b'?');
        fs::write(&memory, &torn).unwrap();
        assert_eq!(block_on(place.open().status()).unwrap().mismatch, None);
    }
    fs::write(&memory, vec![b'?'; 1024]).unwrap();
    let why = block_on(place.open().status()).unwrap().mismatch.expect("not taken for a new store");
    assert_eq!(why, "the remembered head cannot be read");
}

#[test]
fn sqlite_disk_full() {
    let place = Place::new();
    let at = place.dir.path().join("small");
    let Some(_mounted) = small(&at) else {
        return skip("a small file system needs root");
    };
    block_on(async {
        let path = at.join("store.db");
        let store = SqliteStore::open(&path, place.options()).unwrap();
        let ballast = at.join("ballast");
        let mut acknowledged = 0;
        let error = loop {
            let body = json!("x".repeat(20_000));
            if acknowledged == 0 {
                ask(&store, "T-1").await.unwrap().unwrap();
                fs::write(&ballast, vec![1; 900_000]).unwrap();
            }
            match store.submit(vec![admit(result("T-1", &format!("m-{acknowledged}"), body.clone()))]).await {
                Ok(answers) => _ = answers[0].as_ref().unwrap(),
                Err(e) => break e,
            }
            acknowledged += 1;
            assert!(acknowledged < 1000);
        };
        assert_eq!(error, StoreError::Full);
        let status = store.status().await.unwrap();
        assert!(status.write_failure.unwrap().contains("the disk is full"));
        // Reads go on; nothing of what failed is there.
        let task = store.task(&TaskId::from("T-1")).await.unwrap().unwrap();
        assert_eq!(task.arrivals, 1 + acknowledged);
        fs::remove_file(&ballast).unwrap();
        ask(&store, "T-2").await.unwrap().unwrap();
        assert_eq!(store.status().await.unwrap().write_failure, None);
        drop(store);
        check_invariants(&path);
    });
}

/// A disk that is full while tables are behind: what they have is read, feed and all, and it is said why there is no more.
#[test]
fn a_disk_full_while_tables_are_behind() {
    let place = Place::new();
    let at = place.dir.path().join("small");
    let Some(_mounted) = small(&at) else {
        return skip("a small file system needs root");
    };
    block_on(async {
        let path = at.join("store.db");
        let store = SqliteStore::open(&path, place.options()).unwrap();
        ask(&store, "T-1").await.unwrap().unwrap();
        let events = store.feed_end().await.unwrap().position;
        let conn = Connection::open(&path).unwrap();
        conn.execute("UPDATE meta SET value = 2 WHERE key = 'behind_from'", []).unwrap();
        let ballast = at.join("ballast");
        let mut file = fs::File::create(&ballast).unwrap();
        while file.write_all(&[1; 4096]).is_ok() {}
        assert!(store.task(&TaskId::from("T-1")).await.unwrap().is_some());
        let status = store.status().await.unwrap();
        assert!(status.write_failure.unwrap().contains("the disk is full"));
        assert_eq!((store.feed_end().await.unwrap().position, status.head.events), (1, events));
        assert_eq!(ask(&store, "T-2").await, Err(StoreError::Full));
        assert_eq!(store.check(0, events, 10).await, Err(StoreError::Full), "no finding against the store");
        // Somebody who opens it now reads it as well.
        let other = SqliteStore::open(&path, place.options()).unwrap();
        assert!(other.task(&TaskId::from("T-1")).await.unwrap().is_some());
        assert!(other.status().await.unwrap().write_failure.is_some());
        drop(other);
        drop(file);
        fs::remove_file(&ballast).unwrap();
        assert_eq!(store.feed_end().await.unwrap().position, events);
        assert_eq!(store.status().await.unwrap().write_failure, None);
        ask(&store, "T-2").await.unwrap().unwrap();
        drop((store, conn));
        check_invariants(&path);
    });
}

#[test]
fn read_only_file() {
    let place = Place::new();
    block_on(ask(&place.open(), "T-1")).unwrap().unwrap();
    let at = place.path().parent().unwrap().to_owned();
    let bind = at.to_str().unwrap().to_owned();
    let Some(mounted) = mount(&["--bind", &bind], &at) else { return skip("a read-only mount needs root") };
    let remount = Command::new("mount").args(["-o", "remount,ro,bind"]).arg(&at).status().unwrap();
    assert!(remount.success());
    let before = fs::read(place.path()).unwrap();
    let error =
        SqliteStore::open(&place.path(), place.options()).expect_err("nobody can say that nobody writes");
    assert!(error.to_string().contains("read-only") && matches!(error, StoreError::ReadOnly(_)), "{error}");
    assert_eq!(fs::read(place.path()).unwrap(), before);
    drop(mounted);
    let store = place.open();
    assert!(admitted(&block_on(ask(&store, "T-2")).unwrap()).arrival.is_some());
}

/// A file that may only be read, while a process that may write has it open: it is looked at and followed, and every
/// write is refused.
#[test]
fn read_only_beside_a_writer() {
    let place = Place::new();
    let mut writer = crate::crashes::child("holds", place.dir.path(), &[]);
    let mut said = crate::crashes::lines(&mut writer);
    assert_eq!((said.next().as_deref(), said.next().as_deref()), (Some("open"), Some("holding")));
    let at = place.dir.path().join("looked-at");
    let data = place.path().parent().unwrap().to_str().unwrap().to_owned();
    let Some(mounted) = mount(&["--bind", &data], &at) else {
        writer.kill().unwrap();
        return skip("a read-only mount needs root");
    };
    assert!(Command::new("mount").args(["-o", "remount,ro,bind"]).arg(&at).status().unwrap().success());
    let path = at.join("store.db");
    let memory = fs::read(memory_of(&place)).unwrap();
    block_on(async {
        let store = SqliteStore::open(&path, place.options()).unwrap();
        let status = store.status().await.unwrap();
        assert_eq!(status.mismatch, None);
        assert_eq!(status.write_failure, None, "nothing was tried");
        let why = status.read_only.expect("said from the start");
        assert!(why.contains(path.file_name().unwrap().to_str().unwrap()), "{why}");
        let there = async |task: &str| store.task(&TaskId::from(task)).await.unwrap().is_some();
        assert!(there("T-1").await && !there("T-2").await);
        store.page(&first_page(Scope::Everything)).await.unwrap();
        assert_eq!(crate::check::check(&store).await.0.findings, []);
        assert!(matches!(ask(&store, "T-9").await, Err(StoreError::ReadOnly(_))));
        let dropped = store.drop_entry("Q-1", "wolf", "x", NOON).await;
        assert!(matches!(dropped, Err(StoreError::ReadOnly(_))));
        assert!(matches!(store.accept_head(&acceptance()).await, Err(StoreError::ReadOnly(_))));
        let changed = store.changed();
        writer.stdin.as_mut().unwrap().write_all(b"\n").unwrap();
        assert_eq!(said.next().as_deref(), Some("T-2"));
        changed.await;
        assert!(there("T-2").await);
        let end = store.feed_end().await.unwrap();
        assert_eq!(
            store.since(Cursor { epoch: 1, position: 0 }, 100).await.unwrap().len() as u64,
            end.position
        );
        writer.stdin.as_mut().unwrap().write_all(b"\n").unwrap();
        assert!(said.any(|line| line == "done"));
        assert!(writer.wait().unwrap().success());
        // The writer is gone, and nobody may go on; what it wrote is read.
        assert!(there("T-3").await);
    });
    drop(mounted);
    assert_ne!(fs::read(memory_of(&place)).unwrap(), memory, "the writer's own memory went on");
    check_invariants(&place.path());
}
