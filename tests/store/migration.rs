//! A program that dies while it makes or changes the schema leaves the old one or the new one, and whoever comes next
//! finishes (fault 34).

use crate::common::invariants::check_invariants;
use crate::common::{Place, admit, admitted, asks, block_on};
use rusqlite::Connection;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tribunal::store::sqlite::SqliteStore;
use tribunal::store::{Store, StoreError};

const DIR: &str = "TRIBUNAL_TEST_MIGRATES";
const POINT: &str = "TRIBUNAL_TEST_POINT";

/// The other side of [`opens`]: opens the store and says so.
#[test]
#[ignore = "started by the tests that need another process"]
fn in_another_process() {
    let Ok(dir) = std::env::var(DIR) else { return };
    #[cfg(feature = "failpoints")]
    if let Ok(point) = std::env::var(POINT) {
        fail::cfg_callback(point, || std::process::abort()).unwrap();
    }
    let mut out = std::io::stdout().lock();
    writeln!(out, "\n>starts").and_then(|()| out.flush()).unwrap();
    let dir = Path::new(&dir);
    let options = tribunal::store::sqlite::Options::new(dir.join("state"));
    let store = SqliteStore::open(&dir.join("data/store.db"), options).unwrap();
    writeln!(out, "\n>open").and_then(|()| out.flush()).unwrap();
    drop(store);
}

/// A process that opens the store of a place, and dies at `point` where one is named.
fn opens(place: &Place, point: &str) -> (Child, impl Iterator<Item = String> + use<>) {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "migration::in_another_process", "--ignored", "--nocapture", "--test-threads=1"])
        .env(DIR, place.dir.path())
        .env(POINT, point)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let out = BufReader::new(child.stdout.take().unwrap());
    let said = out.lines().map_while(Result::ok).filter_map(|l| l.strip_prefix('>').map(str::to_owned));
    (child, said)
}

/// The schema's version, and its tables.
fn schema(path: &Path) -> (i64, Vec<String>) {
    let conn = Connection::open(path).unwrap();
    let ok: String = conn.query_row("PRAGMA integrity_check", [], |r| r.get(0)).unwrap();
    assert_eq!(ok, "ok");
    let version = conn.pragma_query_value(None, "user_version", |r| r.get(0)).unwrap();
    let mut stmt = conn.prepare("SELECT name FROM sqlite_schema ORDER BY name").unwrap();
    let names = stmt.query_map([], |r| r.get(0)).unwrap().collect::<Result<_, _>>().unwrap();
    (version, names)
}

/// Whatever was left is nothing yet or the whole schema; whoever comes next finishes and works.
fn old_or_new(place: &Place, whole: &(i64, Vec<String>)) -> bool {
    let path = place.path();
    let mut finished = false;
    if path.exists() {
        let found = schema(&path);
        finished = found == *whole;
        assert!(finished || found == (0, Vec::new()), "half made: {found:?}");
    }
    let store = place.open();
    let answers = block_on(store.submit(vec![admit(asks("T-1"))])).unwrap();
    assert_eq!(admitted(&answers[0]).outcome, "accepted");
    assert_eq!(block_on(store.status()).unwrap().mismatch, None);
    drop(store);
    assert_eq!(schema(&path), *whole);
    check_invariants(&path);
    finished
}

fn whole() -> (i64, Vec<String>) {
    let place = Place::new();
    drop(place.open());
    let whole = schema(&place.path());
    assert!(whole.0 > 0 && whole.1.contains(&"event".to_owned()));
    whole
}

#[test]
fn migration_crash() {
    let whole = whole();
    // How long it takes when nothing happens.
    let took = {
        let place = Place::new();
        let (mut child, mut said) = opens(&place, "");
        assert_eq!(said.next().as_deref(), Some("starts"));
        let started = Instant::now();
        assert_eq!(said.next().as_deref(), Some("open"));
        child.wait().unwrap();
        started.elapsed()
    };
    const ROUNDS: u32 = 60;
    let mut finished = 0;
    for round in 0..ROUNDS {
        let place = Place::new();
        let (mut child, mut said) = opens(&place, "");
        assert_eq!(said.next().as_deref(), Some("starts"));
        // The moment moves through the whole of it, and a little beyond.
        let (started, until) = (Instant::now(), took.mul_f64(f64::from(round) * 1.2 / f64::from(ROUNDS)));
        while started.elapsed() < until.max(Duration::from_micros(50)) {
            std::hint::spin_loop();
        }
        child.kill().unwrap();
        child.wait().unwrap();
        finished += u32::from(old_or_new(&place, &whole));
    }
    assert!((1..ROUNDS).contains(&finished), "killed before and after: {finished} of {ROUNDS} were finished");
    // A newer schema is refused, and the file stays as it is.
    let place = Place::new();
    drop(place.open());
    let conn = Connection::open(place.path()).unwrap();
    conn.pragma_update(None, "user_version", whole.0 + 1).unwrap();
    drop(conn);
    let before = std::fs::read(place.path()).unwrap();
    let error = SqliteStore::open(&place.path(), place.options()).expect_err("refused");
    assert!(matches!(&error, StoreError::Incompatible(why) if why.contains("newer tribunal")), "{error}");
    assert_eq!(std::fs::read(place.path()).unwrap(), before);
}

#[cfg(feature = "failpoints")]
#[test]
fn migration_crash_at_each_step() {
    let whole = whole();
    for (point, new) in
        [("store-migrating", false), ("store-before-migration-commit", false), ("store-migrated", true)]
    {
        let place = Place::new();
        let (mut child, said) = opens(&place, point);
        assert_eq!(said.collect::<Vec<_>>(), ["starts"], "{point}");
        assert!(!child.wait().unwrap().success());
        assert_eq!(old_or_new(&place, &whole), new, "{point}");
    }
}
