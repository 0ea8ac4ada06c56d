//! Processes that die: by kill -9 at any moment, at every named point, by a disk that fails; and two that live at once.

use crate::common::invariants::check_invariants;
use crate::common::{Place, admit, admitted, asks, block_on, conflict, decide, moves, result, run};
use serde_json::json;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
#[cfg(feature = "failpoints")]
use tribunal::domain::command::{DecisionOutcome, Reply};
use tribunal::domain::ids::TaskId;
use tribunal::domain::refusal::Refusal;
use tribunal::domain::task::TaskState;
use tribunal::store::sqlite::{Options, SqliteStore};
use tribunal::store::{Store, StoreError};

const ROLE: &str = "TRIBUNAL_TEST_CHILD";
const DIR: &str = "TRIBUNAL_TEST_DIR";

fn say(line: &str) {
    let mut out = std::io::stdout().lock();
    writeln!(out, "\n>{line}").and_then(|()| out.flush()).unwrap();
}

/// This test program again, in a role; what it says comes line by line.
pub fn child(role: &str, dir: &Path, before: &[&str]) -> Child {
    let own = std::env::current_exe().unwrap();
    let mut line: Vec<&std::ffi::OsStr> = before.iter().map(std::ffi::OsStr::new).collect();
    line.push(own.as_os_str());
    Command::new(line[0])
        .args(&line[1..])
        .args(["--exact", "crashes::in_a_role", "--ignored", "--nocapture", "--test-threads=1"])
        .env(ROLE, role)
        .env(DIR, dir)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

pub fn lines(child: &mut Child) -> impl Iterator<Item = String> + use<> {
    let out = BufReader::new(child.stdout.take().unwrap());
    out.lines().map_while(Result::ok).filter_map(|l| l.strip_prefix('>').map(str::to_owned))
}

/// The other side of [`child`].
#[test]
#[ignore = "started by the tests that need another process"]
fn in_a_role() {
    let (Ok(role), Ok(dir)) = (std::env::var(ROLE), std::env::var(DIR)) else { return };
    let dir = Path::new(&dir);
    #[cfg(feature = "failpoints")]
    if let Some((point, after)) = role.strip_prefix("dies:").and_then(|r| r.split_once(':')) {
        let after = after.split(':').next().unwrap_or(after);
        let left = std::sync::atomic::AtomicI64::new(after.parse().unwrap());
        let die = move || {
            if left.fetch_sub(1, std::sync::atomic::Ordering::SeqCst) == 0 {
                std::process::abort();
            }
        };
        fail::cfg_callback(point.to_owned(), die).unwrap();
    }
    if role == "makes" {
        say("ready");
        // The other end is closed when everybody is ready.
        std::io::stdin().read_line(&mut String::new()).unwrap();
    }
    let store = SqliteStore::open(&dir.join("data/store.db"), Options::new(dir.join("state"))).unwrap();
    say("open");
    block_on(async {
        match role.as_str() {
            "claims" => claims(&store, "child").await,
            "fails" => fails(&store).await,
            "holds" => {
                store.submit(vec![admit(asks("T-1"))]).await.unwrap().remove(0).unwrap();
                say("holding");
                for task in ["T-2", "T-3"] {
                    std::io::stdin().read_line(&mut String::new()).unwrap();
                    store.submit(vec![admit(asks(task))]).await.unwrap().remove(0).unwrap();
                    say(task);
                }
            }
            "makes" => say(&store.status().await.unwrap().store_id),
            "writes" => {
                for _ in 0..3 {
                    works(&store, true).await;
                }
            }
            #[cfg(feature = "failpoints")]
            role if role.ends_with(":waits") => waits(&store).await,
            role if role.ends_with(":decides") => works(&store, false).await,
            _ => works(&store, true).await,
        }
    });
    say("done");
}

/// Admits and decides, and says what was acknowledged: `message task id`, `record id`, `aside id`. In a crowd it also
/// leaves tables behind.
async fn works(store: &SqliteStore, crowded: bool) {
    let start = store.feed_end().await.unwrap().position;
    for n in 0..40 {
        let task = format!("T-{start}-{n}");
        let early = admit(result(&task, "early", json!(0)));
        let batch = vec![early, admit(asks(&task)), moves(&task, TaskState::Ready, 1)];
        for answer in store.submit(batch).await.unwrap() {
            answer.unwrap();
        }
        say(&format!("message {task} early"));
        say(&format!("message {task} {task}-ask"));
        let crowd: Vec<_> = (0..4).filter(|_| crowded).map(|c| format!("{task}-crowd-{c}")).collect();
        // A move or a repeat brings a task's own tables up; of the last there are only messages that are news.
        let says = |task: &String| {
            let result = || admit(result(task, "r", json!(7)));
            match task.ends_with("-3") {
                true => vec![admit(asks(task)), result()],
                false => vec![admit(asks(task)), moves(task, TaskState::Ready, 1), result(), result()],
            }
        };
        if crowded {
            for answer in store.submit(crowd.iter().flat_map(says).collect()).await.unwrap() {
                answer.unwrap();
            }
        }
        for task in &crowd {
            say(&format!("message {task} r"));
        }
        store.submit(vec![moves(&task, TaskState::Running, 2)]).await.unwrap()[0].as_ref().unwrap();
        let effect = tribunal::domain::envelope::EffectName { key: "e".into(), target: "x".into() };
        let (digest, scheme) = (tribunal::domain::digest::Digest::of_bytes(b"r"), Default::default());
        let commit = tribunal::domain::command::Command::Commit {
            task_id: TaskId::from(task.as_str()),
            effect,
            digest,
            scheme,
            lease_version: None,
        };
        let sides =
            vec![admit(result(&task, "b", json!(2))), admit(result(&task, "b", json!(2))), run(commit)];
        let answers = store.submit(sides).await.unwrap();
        say(&format!("message {task} b"));
        let version = admitted(&answers[0]).state_version.unwrap();
        store.submit(vec![admit(format!("junk {task}").into_bytes())]).await.unwrap()[0].as_ref().unwrap();
        let decided = store.submit(vec![decide(&task, TaskState::Ready, version, "d")]).await.unwrap();
        decided[0].as_ref().unwrap();
        say(&format!("record ap-{task}-d"));
    }
}

/// What was acknowledged is there; what is sent again is a duplicate or a replay.
fn acknowledged_is_there(dir: &Path, said: &[String]) {
    let path = dir.join("data/store.db");
    if !path.exists() {
        assert!(said.is_empty(), "{said:?}");
        return;
    }
    block_on(async {
        let store = SqliteStore::open(&path, Options::new(dir.join("state"))).unwrap();
        assert_eq!(store.status().await.unwrap().mismatch, None);
        let mut again = Vec::new();
        for line in said {
            let words: Vec<&str> = line.split(' ').collect();
            match words[..] {
                ["message", task, id] => {
                    let found = store.arrivals_of(&TaskId::from(task), id).await.unwrap();
                    assert_eq!(found.len(), 1, "{line}");
                    again.push((task.to_owned(), id.to_owned()));
                }
                ["record", id] => assert!(store.record(id).await.unwrap().is_some(), "{line}"),
                _ => {}
            }
        }
        if let Some((task, id)) = again.last() {
            let raw = match id.as_str() {
                "early" => result(task, "early", json!(0)),
                "b" => result(task, "b", json!(2)),
                "r" => result(task, "r", json!(7)),
                _ => asks(task),
            };
            let answers = store.submit(vec![admit(raw)]).await.unwrap();
            assert_eq!(admitted(&answers[0]).outcome, "duplicate");
        }
    });
    check_invariants(&path);
}

/// I1, I5, I6 over at least 200 random moments of death.
#[test]
fn kill_9_at_random_points() {
    let mut random = 88_172_645_463_325_252_u64;
    let mut place = Place::new();
    for round in 0..200 {
        if round % 20 == 0 {
            place = Place::new();
        }
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        let mut process = child("works", place.dir.path(), &[]);
        let mut reader = lines(&mut process);
        // The process runs on while we count, so the moment falls anywhere in its next commits.
        let said: Vec<String> = reader.by_ref().take((random % 12) as usize).collect();
        process.kill().unwrap();
        process.wait().unwrap();
        let said: Vec<String> = said.into_iter().chain(reader).collect();
        acknowledged_is_there(place.dir.path(), &said);
    }
}

#[cfg(feature = "failpoints")]
const POINTS: [&str; 16] = [
    "store-migrating",
    "store-before-migration-commit",
    "store-migrated",
    "store-wrote-event",
    "store-wrote-thread",
    "store-counted-duplicate",
    "store-wrote-effect",
    "store-wrote-approval",
    "store-wrote-quarantine",
    "store-wrote-snapshot",
    "store-wrote-projections",
    "store-left-behind",
    "store-bringing-up",
    "store-before-commit",
    "store-after-commit-before-reply",
    "store-head-write",
];

#[cfg(feature = "failpoints")]
#[test]
fn crash_at_every_failpoint() {
    for point in POINTS {
        for after in [0, 1, 3, 7] {
            let place = Place::new();
            let mut process = child(&format!("dies:{point}:{after}"), place.dir.path(), &[]);
            let said: Vec<String> = lines(&mut process).collect();
            let died = !process.wait().unwrap().success();
            assert!(
                died || (after > 0 && point.contains("migrat")),
                "{point} was never reached {after} times"
            );
            acknowledged_is_there(place.dir.path(), &said);
            // The migration of a file left half made is finished by whoever comes next.
            let store = place.open();
            let answers = block_on(store.submit(vec![admit(asks("T-after"))])).unwrap();
            assert_eq!(admitted(&answers[0]).outcome, "accepted", "{point}");
        }
    }
}

#[cfg(feature = "failpoints")]
fn dies_deciding(point: &str) -> (Place, u64) {
    let place = Place::new();
    // Each task takes five commits; the sixth decision's commit is the 30th.
    let mut process = child(&format!("dies:{point}:29:decides"), place.dir.path(), &[]);
    let said: Vec<String> = lines(&mut process).collect();
    process.wait().unwrap();
    let records = said.iter().filter(|l| l.starts_with("record")).count() as u64;
    (place, records)
}

#[cfg(feature = "failpoints")]
#[test]
fn kill9_between_commit_and_reply() {
    let (place, heard) = dies_deciding("store-after-commit-before-reply");
    let store = place.open();
    block_on(async {
        let records = store.records(None, 0, 100).await.unwrap();
        assert_eq!((heard, records.len() as u64), (5, 6), "committed, and nobody heard of it");
        let task = "T-0-5";
        let found = store.task(&TaskId::from(task)).await.unwrap().unwrap();
        let again = decide(task, TaskState::Ready, found.state_version - 1, "d");
        let answer = store.submit(vec![again]).await.unwrap().remove(0);
        let Ok(Reply::Decided { outcome: DecisionOutcome::Replayed, record }) = answer else {
            panic!("{answer:?}")
        };
        assert_eq!(record.sequence, 6);
        assert_eq!(store.records(None, 0, 100).await.unwrap(), records);
    });
}

#[cfg(feature = "failpoints")]
#[test]
fn kill9_before_commit() {
    let (place, heard) = dies_deciding("store-before-commit");
    let store = place.open();
    block_on(async {
        assert_eq!((heard, store.records(None, 0, 100).await.unwrap().len()), (5, 5));
        let task = "T-0-5";
        let found = store.task(&TaskId::from(task)).await.unwrap().unwrap();
        let once = || decide(task, TaskState::Ready, found.state_version, "d");
        let answers = store.submit(vec![once(), once()]).await.unwrap();
        assert!(
            matches!(&answers[0], Ok(Reply::Decided { outcome: DecisionOutcome::Decided, .. })),
            "{answers:?}"
        );
        assert!(matches!(&answers[1], Ok(Reply::Decided { outcome: DecisionOutcome::Replayed, .. })));
        assert_eq!(store.records(None, 0, 100).await.unwrap().len(), 6);
    });
}

/// More messages than one commit admits, all before their task, and then the task.
#[cfg(feature = "failpoints")]
const EARLY: usize = 700;

#[cfg(feature = "failpoints")]
async fn waits(store: &SqliteStore) {
    let early = (0..EARLY).map(|n| admit(crate::waiting::progress("T-1", n))).collect();
    store.submit(early).await.unwrap();
    say("put aside");
    store.submit(vec![admit(asks("T-1")), moves("T-1", TaskState::Ready, 1)]).await.unwrap();
}

/// A process that dies when some of what waited is admitted: whoever comes next admits the rest, before anything else.
#[cfg(feature = "failpoints")]
#[test]
fn what_waited_is_admitted_after_a_crash() {
    for (after, admitted_before) in [(0, 0), (300, 256), (600, 512_i64)] {
        let place = Place::new();
        let role = format!("dies:store-readmitted:{after}:waits");
        let mut process = child(&role, place.dir.path(), &[]);
        let said: Vec<String> = lines(&mut process).collect();
        assert!(!process.wait().unwrap().success() && said.contains(&"put aside".to_owned()), "{said:?}");
        let settled = |place: &Place| -> i64 {
            let conn = rusqlite::Connection::open(place.path()).unwrap();
            conn.query_row("SELECT count(*) FROM quarantine WHERE settled = 1", [], |r| r.get(0)).unwrap()
        };
        assert_eq!(settled(&place), admitted_before);
        let store = place.open();
        block_on(async {
            let next =
                if admitted_before == 0 { asks("T-1") } else { crate::waiting::progress("T-1", EARLY) };
            store.submit(vec![admit(next)]).await.unwrap().remove(0).unwrap();
            let last = (admitted_before > 0).then_some(EARLY);
            crate::waiting::came_in_order(&store, "T-1", (0..EARLY).chain(last)).await;
        });
        drop(store);
        assert_eq!(settled(&place), EARLY as i64);
        check_invariants(&place.path());
    }
}

/// Two processes that make one new file at the same moment: one store comes of it, for both.
#[test]
fn two_processes_make_one_store() {
    for _ in 0..12 {
        let place = Place::new();
        std::fs::create_dir_all(place.path().parent().unwrap()).unwrap();
        let mut all: Vec<Child> = (0..3).map(|_| child("makes", place.dir.path(), &[])).collect();
        let mut said: Vec<_> = all.iter_mut().map(lines).collect();
        for reader in &mut said {
            assert_eq!(reader.next().as_deref(), Some("ready"));
        }
        all.iter_mut().for_each(|process| drop(process.stdin.take()));
        let said: Vec<Vec<String>> = said.into_iter().map(Iterator::collect).collect();
        assert!(all.iter_mut().all(|process| process.wait().unwrap().success()), "{said:?}");
        assert_eq!(said[0].len(), 3, "{said:?}");
        assert!(said.iter().all(|s| *s == said[0]), "{said:?}");
        assert_eq!(said[0][1], block_on(place.open().status()).unwrap().store_id);
        check_invariants(&place.path());
    }
}

/// A store is checked while another process writes to it: what is written meanwhile is no damage.
#[test]
fn a_check_beside_another_writer() {
    let place = Place::new();
    let store = place.open();
    let mut process = child("writes", place.dir.path(), &[]);
    let mut reader = lines(&mut process);
    assert_eq!(reader.next().as_deref(), Some("open"));
    let mut checks = 0;
    block_on(async {
        while process.try_wait().unwrap().is_none() {
            let (found, through) = crate::check::check(&store).await;
            assert_eq!((found.findings, found.events), (Vec::new(), through));
            checks += 1;
        }
    });
    assert!(reader.last().as_deref() == Some("done") && checks > 1, "{checks}");
}

const RACES: usize = 150;

async fn claims(store: &SqliteStore, who: &str) {
    for n in 0..RACES {
        let task = format!("T-{n}");
        let claim = tribunal::domain::command::Command::Claim {
            task_id: TaskId::from(task.as_str()),
            worker: who.into(),
            ttl_ms: 60_000,
        };
        match store.submit(vec![run(claim)]).await.unwrap().remove(0) {
            Ok(_) => say(&format!("won {task}")),
            Err(Refusal::AlreadyClaimed { .. }) => say(&format!("lost {task}")),
            Err(other) => panic!("{other}"),
        }
    }
}

/// Faults 16 and 32: two processes claim the same tasks; each is claimed once, nothing is lost, each hears of the other.
#[test]
fn two_processes_one_sqlite() {
    let place = Place::new();
    let store = place.open();
    let said = block_on(async {
        for n in 0..RACES {
            let task = format!("T-{n}");
            let steps = vec![admit(asks(&task)), moves(&task, TaskState::Ready, 1)];
            store.submit(steps).await.unwrap();
        }
        let mut process = child("claims", place.dir.path(), &[]);
        let mut reader = lines(&mut process);
        assert_eq!(reader.next().as_deref(), Some("open"));
        let changed = store.changed();
        let first = reader.next().unwrap();
        tokio::time::timeout(std::time::Duration::from_secs(3), changed)
            .await
            .expect("woken by another process");
        let collect = tokio::task::spawn_blocking(move || reader.collect::<Vec<_>>());
        claims(&store, "parent").await;
        let mut said = collect.await.unwrap();
        said.insert(0, first);
        assert!(process.wait().unwrap().success());
        said
    });
    let theirs = said.iter().filter(|l| l.starts_with("won")).count();
    assert_eq!(said.last().map(String::as_str), Some("done"));
    drop(store);
    let found = check_invariants(&place.path());
    let by = |who: &str| {
        found.tasks.values().filter(|t| t.lease.as_ref().is_some_and(|l| l.worker == who)).count()
    };
    assert_eq!((by("child"), by("child") + by("parent")), (theirs, RACES));
    assert!(found.tasks.values().all(|t| t.lease_version == 1));
}

/// Keeps asking until something fails, then says what.
async fn fails(store: &SqliteStore) {
    for n in 0..200 {
        let task = format!("T-{n}");
        match store.submit(vec![admit(asks(&task))]).await {
            Ok(answers) => {
                answers[0].as_ref().unwrap();
                say(&format!("message {task} {task}-ask"));
            }
            Err(e) => {
                say(&format!("failed {}", matches!(e, StoreError::Failed(_))));
                say(&format!("told {}", store.status().await.unwrap().write_failure.is_some()));
                return;
            }
        }
    }
}

#[test]
fn sqlite_eio_fsync() {
    let place = Place::new();
    let inject =
        ["strace", "-f", "-qq", "-o", "/dev/null", "-e", "inject=fdatasync,fsync:error=EIO:when=60+"];
    let there =
        Command::new("strace").args(["-qq", "-o", "/dev/null", "true"]).stderr(Stdio::null()).status();
    if !there.is_ok_and(|s| s.success()) {
        writeln!(std::io::stderr(), "skipped: strace cannot trace here").unwrap();
        return;
    }
    let mut process = child("fails", place.dir.path(), &inject);
    let said: Vec<String> = lines(&mut process).collect();
    process.wait().unwrap();
    assert!(said.contains(&"failed true".to_owned()) && said.contains(&"told true".to_owned()), "{said:?}");
    assert!(said.iter().filter(|l| l.starts_with("message")).count() > 10, "{said:?}");
    acknowledged_is_there(place.dir.path(), &said);
    block_on(async { _ = conflict(&place.open(), "T-x").await });
}
