//! Faults that need a terminal and a store with something in it: the program itself, as a person would run it.

use super::*;
use crate::common::mount::small;
use serde_json::{Value, json};

/// Runs the program beside the one on the terminal, in the same directories.
fn beside(dir: &Path, args: &[&str], input: &[u8]) -> (i32, String) {
    let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_tribunal"))
        .args(args)
        .envs(own_directories(dir))
        .env_remove("TRIBUNAL_STORE")
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_vec();
    let writer = std::thread::spawn(move || stdin.write_all(&input).unwrap());
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    (output.status.code().unwrap(), String::from_utf8(output.stdout).unwrap())
}

fn ingest(dir: &Path, envelopes: &[Vec<u8>]) -> Vec<Value> {
    let input: Vec<u8> = envelopes.iter().flat_map(|e| [e.as_slice(), b"\n"].concat()).collect();
    let (_, out) = beside(dir, &["ingest", "--json"], &input);
    out.lines().map(|l| serde_json::from_str(l).unwrap()).collect()
}

/// A request and two results that contradict each other, which freeze it.
fn conflict(task: &str, a: Value, b: Value) -> Vec<Vec<u8>> {
    let side = |id: &str, payload: Value| {
        common::envelope(
            json!({"task_id": task, "message_id": id, "sender": format!("agent-{id}"), "payload": payload}),
        )
    };
    vec![common::asks(task), side("a", a), side("b", b)]
}

fn records(dir: &Path) -> Vec<Value> {
    let (code, out) = beside(dir, &["approvals", "--json"], b"");
    assert_eq!(code, 0);
    out.lines().map(|l| serde_json::from_str(l).unwrap()).collect()
}

/// A store in which one task, `T-1`, waits to be judged.
pub fn one_conflict() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let said = ingest(dir.path(), &conflict("T-1", json!({"n": 1}), json!({"n": 2})));
    assert_eq!(said[2]["outcome"], "conflict");
    dir
}

impl Play {
    fn screen(&self) -> String {
        self.seen.0.lock().unwrap().parser.screen().contents()
    }

    /// Lets time pass while whatever comes is taken in.
    fn rest(&self, time: Duration) {
        let seen = self.seen.0.lock().unwrap();
        drop(self.seen.1.wait_timeout_while(seen, time, |_| true).unwrap());
    }

    fn resize(&self, cols: u16, rows: u16) {
        self.seen.0.lock().unwrap().parser.screen_mut().set_size(cells(rows), cells(cols));
        let size = PtySize { rows, cols, pixel_width: 0, pixel_height: 0 };
        self.master.as_ref().unwrap().resize(size).unwrap();
    }

    /// Opens the case of the one task and its decision, and lets the time pass in which no key counts.
    fn open_decision(&mut self) {
        self.until_text("▌! needs review  T-1");
        self.keys("\r");
        self.until_text("difference 1 of 1");
        self.keys("d");
        self.until_text("nothing is chosen");
        self.after_the_guard();
    }

    /// The letter that `ps` gives to the state of the process.
    fn process_state(&self) -> String {
        let stat =
            std::fs::read_to_string(format!("/proc/{}/stat", self.child.process_id().unwrap())).unwrap();
        stat[stat.rfind(')').unwrap() + 2..][..1].to_owned()
    }
}

/// Every byte for the terminal is a printed character or a sequence of our own: no other escape, no control, nothing
/// that hides or turns text.
fn own_sequences_only(what: &str, bytes: &[u8]) {
    let text = std::str::from_utf8(bytes).unwrap_or_else(|e| panic!("{what}: {e}"));
    let mut rest = text;
    while let Some(char) = rest.chars().next() {
        rest = &rest[char.len_utf8()..];
        if char != '\u{1b}' {
            let plain = !char.is_control() || char == '\r' || char == '\n';
            assert!(
                plain && !tribunal::domain::text::is_hidden(char),
                "{what}: {char:?} before {:.60?}",
                rest
            );
            continue;
        }
        if let Some(after) = rest.strip_prefix("]11;?\u{1b}\\") {
            rest = after;
            continue;
        }
        let sequence =
            rest.strip_prefix('[').unwrap_or_else(|| panic!("{what}: an escape before {rest:.60?}"));
        let end = sequence.find(|c: char| ('@'..='~').contains(&c)).unwrap();
        let (parameters, last) = (&sequence[..end], &sequence[end..=end]);
        let ours = match last {
            "m" | "H" | "J" | "K" => parameters.chars().all(|c| c.is_ascii_digit() || c == ';' || c == ':'),
            "h" | "l" => ["?1049", "?2004", "?1004", "?25", "?2026"].contains(&parameters),
            _ => false,
        };
        assert!(ours, "{what}: \\e[{parameters}{last}");
        rest = &sequence[end + 1..];
    }
}

/// Fault 43 on a terminal: on every screen, and for the verbs that print to one.
#[test]
fn ansi_injection() {
    let controls: String = ('\u{1}'..='\u{1f}').chain('\u{7f}'..='\u{9f}').collect();
    let hostile = format!(
        "x{controls}\u{1b}[2J\u{1b}]52;c;QUFB\u{7}\u{1b}]8;;http://evil\u{1b}\\\u{1b}Pq\u{1b}\\\u{202e}\u{200b}\u{e0041}y"
    );
    let mut dir = tempfile::tempdir().unwrap();
    let with = |more: Value| {
        let mut all = json!({"task_id": hostile, "trace_id": hostile, "recipient": hostile, "sender": hostile,
            "idempotency_key": hostile, "labels": {&hostile: hostile}});
        all.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        common::envelope(all)
    };
    let refs = json!([hostile, {"uri": hostile, "title": hostile, "media_type": hostile}]);
    let side = |id: &str| {
        with(json!({"message_id": format!("{id}{hostile}"), "evidence_refs": refs,
        "payload": {&hostile: hostile, "id": id}}))
    };
    let question = json!({"prompt": hostile, "action": hostile, "scope": hostile, "link": hostile,
        "schema": {"type": "object", "title": hostile, "properties": {&hostile: {"type": "string", "title": hostile}}}});
    let request = json!({"type": "task_request", "message_id": "ask", "payload": {"goal": hostile}});
    let bad = json!({"message_id": hostile, "payload_digest": hostile});
    let asked = json!({"task_id": "T-2", "type": "human_request", "message_id": "q", "trace_id": "R-1",
        "payload": question});
    let said = ingest(
        dir.path(),
        &[with(request), side("a"), side("b"), with(bad), common::asks("T-2"), with(asked)],
    );
    assert_eq!(said[2]["outcome"], "conflict", "{said:?}");
    for to in [("ready", "1"), ("running", "2")] {
        let args = ["transition", "T-2", "--to", to.0, "--expect-version", to.1, "--reason", &hostile];
        assert_eq!(beside(dir.path(), &args, b"").0, 0);
    }
    let task = hostile.as_str();
    for args in [
        vec!["list", "--all"],
        vec!["list", "--all", "--json"],
        vec!["show", task],
        vec!["show", task, "--json"],
        vec!["show", task, "--timeline"],
        vec!["show", task, "--payload", "2"],
        vec!["show", task, "--payload", "2", "--json"],
        vec!["diff", task],
        vec!["show", "T-2"],
        vec!["quarantine", "list"],
        vec!["quarantine", "show", "Q-1"],
        vec!["show", "--payload", task, task],
    ] {
        let mut play = Play::program_in(dir, &args);
        play.child.wait().unwrap();
        play.until("the end", |seen| seen.closed);
        own_sequences_only(&format!("{args:?}"), &play.seen.0.lock().unwrap().bytes);
        dir = play.dir;
    }
    let mut play = Play::program_in(dir, &[]);
    play.until_text("needs review");
    play.keys("/state:needs_review\r");
    play.until_text("1 found");
    for (keys, then) in [
        ("\r", "difference 1 of"),
        ("n", "no difference after this"),
        ("v", "whole"),
        ("\x1b", "1 found"),
        ("t", "! no lease: CONFLIC"),
        ("j", "▌     2"),
        ("\r", "envelope #1"),
        ("\x1b", "rev  time"),
        ("\x1b", "1 found"),
        ("\r", "difference 1 of"),
        ("d", "nothing is chosen"),
        ("\x1b", "difference 1 of"),
        ("\x1b", "1 found"),
        ("Q", "what is wrong"),
        ("\r", "as it came"),
        ("\x1b", "what is wrong"),
        ("\x1b", "1 found"),
        ("\x1b", "? waits"),
        ("/state:waiting_human\r", "1 found"),
        ("a", "Answer T-2"),
        ("\x1b", "1 found"),
        ("A", "newest first"),
    ] {
        play.keys(keys);
        play.until_text(then);
    }
    own_sequences_only("the screens", &play.seen.0.lock().unwrap().bytes);
}

/// Fault 7 on the screen: ten thousand repeats of one message are one row with a count, read for news a few times a
/// second and not once for each.
#[test]
fn ten_thousand_duplicates() {
    let dir = one_conflict();
    let once = conflict("T-1", json!({"n": 1}), json!({"n": 2})).remove(1);
    let play = Play::program_in(dir, &[]);
    play.until_text("2 sides · 3 msgs");
    let before = play.seen.0.lock().unwrap().bytes.len();
    let started = std::time::Instant::now();
    let again = [once.as_slice(), b"\n"].concat().repeat(10_000);
    assert_eq!(beside(play.dir.path(), &["ingest"], &again).0, 0);
    play.until_text("2 sides · 10003 msgs");
    let seconds = started.elapsed().as_secs_f64();
    let seen = play.seen.0.lock().unwrap();
    let frames = String::from_utf8_lossy(&seen.bytes[before..]).matches("\x1b[?2026h").count();
    // Each reading of news changes the row and may change the preview beside it.
    assert!(frames as f64 <= 4.0 + 12.0 * seconds, "{frames} frames in {seconds} s");
    assert!(seen.parser.screen().contents().contains("[All 1]"), "still one row");
}

/// Fault 45: nothing is judged whose end could not be reached, and what is recorded is what was shown.
#[test]
fn truncated_display() {
    // What matters stands behind 200 harmless facts, and at the end of a long text.
    let content = |end: &str| {
        let facts: Vec<Value> = (0..200).map(|n| json!({"fact": n, "is": "harmless"})).collect();
        let plan = format!("{}and then {end}", "first nothing at all, ".repeat(200));
        json!({"facts": facts, "plan": plan})
    };
    let (a, b) = (content("STOP-HERE"), content("DELETE-ALL"));
    let digest_of = |content: &Value| {
        let bytes = serde_json::to_vec(content).unwrap();
        tribunal::domain::digest::digest(tribunal::domain::digest::Scheme::default(), &bytes)
            .unwrap()
            .to_string()
    };
    let dir = tempfile::tempdir().unwrap();
    ingest(dir.path(), &conflict("T-1", a, b.clone()));
    let mut play = Play::program_in(dir, &[]);
    play.until_text("▌! needs review  T-1");
    // From the timeline too the sides come before the dialog.
    play.keys("t");
    play.until_text("task_request");
    play.keys("d");
    play.until_text("difference 1 of 1");
    assert!(!play.screen().contains("Decide T-1"), "{}", play.screen());
    play.keys("\x1b");
    play.until_text("task_request");
    play.keys("\x1b");
    play.until_text("▌! needs review  T-1");
    play.keys("\r");
    play.until_text("difference 1 of 1");
    play.until_text("DELETE-ALL");
    play.until_text("STOP-HERE");
    play.keys("d");
    play.until_text("nothing is chosen");
    play.after_the_guard();
    let (_, shown) = beside(play.dir.path(), &["show", "T-1", "--json"], b"");
    let set = serde_json::from_str::<Value>(&shown).unwrap()["candidate_set_digest"].clone();
    let digest = digest_of(&b);
    let short = &digest["sha256:".len()..][..6];
    play.keys("jjj ");
    play.until_text(&format!("[x] B  sha256:{short}"));
    play.keys(&format!("\tread to its end\t\t{short}\x13"));
    play.until_text("RECORDED: needs_review → ready");
    let record = records(play.dir.path()).remove(0);
    assert_eq!(play.digest_on_screen(), record["record_digest"].as_str().unwrap());
    assert_eq!(
        (&record["upheld"], &record["candidates"][1]["payload_digest"]),
        (&json!([3]), &json!(digest))
    );
    assert_eq!((&record["candidate_set_digest"], &record["set_seen"]), (&set, &json!("digest")));
    let (_, kept) = beside(play.dir.path(), &["show", "T-1", "--payload", "3", "--json"], b"");
    let kept = serde_json::from_str::<Value>(&kept).unwrap();
    assert_eq!((digest_of(&kept["payload"]), kept["payload"].clone()), (digest, b));
}

/// Fault 58: keys held down, at once and as fast as a keyboard repeats, leave no queue and decide nothing.
#[test]
fn hold_key_flood() {
    let tasks = std::env::var("TRIBUNAL_TEST_TASKS").ok().and_then(|n| n.parse().ok()).unwrap_or(2_000);
    let dir = tempfile::tempdir().unwrap();
    let all: Vec<Vec<u8>> =
        (0..tasks).flat_map(|n| conflict(&format!("T-{n}"), json!({"n": 1}), json!({"n": 2}))).collect();
    assert_eq!(ingest(dir.path(), &all).len(), 3 * tasks);
    let mut play = Play::program_in(dir, &[]);
    play.until_text("▌! needs review  T-0");
    // 200 of each at once, on whatever each opens.
    for key in ["j", "d", " ", "\r", "\x13", "y", "a", "\t"] {
        play.keys(&key.repeat(200));
        play.rest(Duration::from_millis(50));
    }
    play.keys(&"\x1b".repeat(8));
    play.rest(Duration::from_millis(200));
    play.keys("\x1b");
    play.until_text("▌! needs review  T-");
    assert_eq!(records(play.dir.path()), Vec::<Value>::new());
    // 30 a second for two seconds: when the last one is typed, the screen is where it leads, at once.
    play.keys("g");
    play.until_text("▌! needs review  T-0 ");
    for _ in 0..60 {
        play.keys("j");
        play.rest(Duration::from_millis(33));
    }
    let last = std::time::Instant::now();
    play.until_text("▌! needs review  T-60 ");
    assert!(last.elapsed() < Duration::from_secs(1), "a queue of {:?}", last.elapsed());
    // Everything that decides, typed before its dialog was painted, and again before it takes keys.
    play.keys("\r");
    play.until_text("difference 1 of 1");
    let content = serde_json::to_vec(&json!({"n": 2})).unwrap();
    let digest = tribunal::domain::digest::digest(Default::default(), &content).unwrap().to_string();
    let short = &digest["sha256:".len()..][..6];
    let decides = format!("jjj \tseen\t\t{short}\x13");
    play.keys(&format!("d{decides}"));
    play.until_text("nothing is chosen");
    play.keys(&decides);
    play.after_the_guard();
    play.until_text("nothing is chosen");
    assert_eq!(records(play.dir.path()), Vec::<Value>::new());
    // Typed when it counts, and sent 200 times: one record.
    play.keys(&decides);
    play.keys(&"\x13".repeat(200));
    play.until_text("RECORDED: needs_review → ready");
    let made = records(play.dir.path());
    assert_eq!((made.len(), &made[0]["task_id"]), (1, &json!("T-60")));
    play.keys("\x1b\x1b");
    play.rest(Duration::from_millis(200));
    assert_eq!(records(play.dir.path()).len(), 1, "nothing of it was left in a queue");
    let found = common::invariants::check_invariants(&play.dir.path().join("data/store.db"));
    assert_eq!((found.records.len(), found.tasks.len()), (1, tasks));
}

/// Fault 59: two hundred sizes in a row, from nothing to very large, leave the draft and the terminal whole.
#[test]
fn resize_storm() {
    let mut play = Play::program_in(one_conflict(), &[]);
    play.open_decision();
    play.keys("\t\tkept through the storm");
    play.until_text("kept through the storm");
    for n in 0..200_u16 {
        play.resize(1 + n * 37 % 300, 1 + n * 13 % 100);
    }
    play.resize(39, 11);
    play.until_text("needs 40×12");
    play.resize(80, 24);
    play.until_text("kept through the storm");
    assert_eq!(records(play.dir.path()), Vec::<Value>::new());
    play.keys("\x03");
    assert!(play.child.wait().unwrap().success());
    play.given_back();
}

/// Fault 59: the line goes down in the middle of a decision. The terminal is given back, the exit code says what
/// happened, and nothing was decided.
#[test]
fn sighup() {
    let mut play = Play::program_in(one_conflict(), &[]);
    play.open_decision();
    play.keys("\t\thalf a reason");
    play.until_text("half a reason");
    play.signal("-HUP");
    assert_eq!(play.child.wait().unwrap().exit_code(), 129);
    play.given_back();
    assert_eq!(records(play.dir.path()), Vec::<Value>::new());
    assert_eq!(beside(play.dir.path(), &["verify"], b"").0, 0);
}

impl Play {
    /// Waits until a draft that holds this text is on disk.
    fn until_kept(&self, text: &str) {
        let holds = || {
            let files = std::fs::read_dir(self.dir.path().join("state/drafts")).into_iter().flatten();
            let texts = files.map(|file| std::fs::read_to_string(file.unwrap().path()).unwrap_or_default());
            texts.into_iter().any(|kept| kept.contains(text))
        };
        for _ in 0..600 {
            if holds() {
                return;
            }
            self.rest(Duration::from_millis(10));
        }
        panic!("never on disk: {text}");
    }

    /// Starts the program again in the same directories, once it has ended.
    pub fn again(self) -> Play {
        Play::program_in(self.dir, &[])
    }
}

/// Fault 59: what was typed is there again, to the last key, after the line went down or somebody ended the program.
#[test]
fn draft_survives_sighup() {
    let mut play = Play::program_in(one_conflict(), &[]);
    let mut reason = String::new();
    for (signal, code) in [("-HUP", 129), ("-TERM", 143), ("-QUIT", 131)] {
        play.open_decision();
        play.keys("\t\t");
        if !reason.is_empty() {
            play.until_text("made against v");
            play.until_text(reason.trim_end());
        }
        let more = format!("before{signal}. ");
        reason.push_str(&more);
        play.keys(&more);
        play.until_text(reason.trim_end());
        play.signal(signal);
        assert_eq!(play.child.wait().unwrap().exit_code(), code);
        play.given_back();
        play = play.again();
    }
    // By itself it decides nothing; what confirms is typed anew, and then nothing of it is left.
    play.open_decision();
    play.keys("\x13");
    play.until_text("not sent: choose ready or cancel");
    assert_eq!(records(play.dir.path()), Vec::<Value>::new());
    play.keys(" \t\t\t\tready\x13");
    play.until_text("RECORDED: needs_review → ready");
    assert_eq!(records(play.dir.path())[0]["reason"], json!(reason.trim_end()));
    play.keys("\x03");
    assert!(play.child.wait().unwrap().success());
    assert_eq!(std::fs::read_dir(play.dir.path().join("state/drafts")).unwrap().count(), 0);
}

/// Fault 59: what was on disk before `kill -9` is there again.
#[test]
fn draft_survives_kill9() {
    let mut play = Play::program_in(one_conflict(), &[]);
    play.open_decision();
    play.keys("\t\tkept by itself");
    play.until_kept("kept by itself");
    play.signal("-KILL");
    play.child.wait().unwrap();
    let mut play = play.again();
    play.open_decision();
    play.until_text("made against v");
    play.keys("\t\t");
    play.until_text("kept by itself");
    assert_eq!(records(play.dir.path()), Vec::<Value>::new());
}

/// Fault 59: where a draft cannot be kept, quitting says so and asks; the same key again leaves.
#[test]
fn quitting_asks_where_a_draft_would_be_lost() {
    let dir = one_conflict();
    std::fs::write(dir.path().join("state/drafts"), b"a file where the directory should be").unwrap();
    let mut play = Play::program_in(dir, &[]);
    play.open_decision();
    play.keys("\t\tnowhere to go");
    play.until_text("not kept on disk: T-1: ");
    // Closed and opened again it is there as long as the program runs.
    play.keys("\x1b");
    play.until("the dialog closed", |seen| !seen.parser.screen().contents().contains("Decide T-1"));
    play.keys("d");
    play.until_text("made against v");
    play.after_the_guard();
    play.keys("\t\t");
    play.until_text("nowhere to go");
    play.keys("\x03");
    play.until_text("quitting again loses what you wrote: T-1: ");
    play.keys("\x03");
    assert!(play.child.wait().unwrap().success());
    play.given_back();
}

/// Whatever signal ends it, a shell sees which one.
#[test]
fn the_exit_code_tells_the_signal() {
    for (signal, code) in [("-TERM", 143), ("-INT", 130), ("-QUIT", 131)] {
        let mut play = Play::program_in(one_conflict(), &[]);
        play.until_text("▌! needs review  T-1");
        play.signal(signal);
        assert_eq!(play.child.wait().unwrap().exit_code(), code, "{signal}");
        play.given_back();
    }
}

/// Fault 59: stopped from outside, the terminal is as it was found; continued, everything is there, the draft too.
#[test]
#[cfg(target_os = "linux")]
fn sigtstp() {
    let mut play = Play::program_in(one_conflict(), &[]);
    play.open_decision();
    play.keys("\t\tkept while it slept");
    play.until_text("kept while it slept");
    for round in 0..2 {
        let stopped_at = play.seen.0.lock().unwrap().bytes.len();
        play.signal("-TSTP");
        play.until("the terminal given back", |seen| !seen.parser.screen().alternate_screen());
        for _ in 0..600 {
            if play.process_state() == "T" {
                break;
            }
            play.rest(Duration::from_millis(10));
        }
        assert_eq!(play.process_state(), "T", "stopped");
        {
            let seen = play.seen.0.lock().unwrap();
            let screen = seen.parser.screen();
            assert!(!screen.hide_cursor() && !screen.bracketed_paste());
            let bytes = String::from_utf8_lossy(&seen.bytes[stopped_at..]).into_owned();
            assert!(bytes.contains("\x1b[?1004l"), "{bytes:?}");
        }
        assert_eq!(settings(play.master.as_ref().unwrap().as_ref()), play.found);
        if round == 1 {
            play.resize(100, 30);
        }
        play.signal("-CONT");
        play.until("the screen again", |seen| seen.parser.screen().alternate_screen());
        play.until_text("kept while it slept");
        assert_ne!(settings(play.master.as_ref().unwrap().as_ref()), play.found);
    }
    play.keys(", and after");
    play.until_text("kept while it slept, and after");
    // Stopped in a way that nobody can catch, it paints itself anew when it goes on.
    let before = play.seen.0.lock().unwrap().bytes.len();
    play.signal("-STOP");
    for _ in 0..600 {
        if play.process_state() == "T" {
            break;
        }
        play.rest(Duration::from_millis(10));
    }
    play.signal("-CONT");
    play.until("a whole frame", |seen| String::from_utf8_lossy(&seen.bytes[before..]).contains("Decide T-1"));
    play.keys("\x03");
    assert!(play.child.wait().unwrap().success());
    play.given_back();
}

/// Fault 26 on the screen: with a full disk a decision is refused and says why, nothing is half stored, and when there
/// is room again it goes through from the same dialog.
#[test]
#[cfg(target_os = "linux")]
fn sqlite_disk_full() {
    let dir = tempfile::tempdir().unwrap();
    let at = dir.path().join("data");
    let Some(_mounted) = small(&at) else {
        writeln!(std::io::stderr(), "skipped: a small file system needs root").unwrap();
        return;
    };
    ingest(dir.path(), &conflict("T-1", json!({"n": 1}), json!({"n": 2})));
    let ballast = at.join("ballast");
    let mut play = Play::program_in(dir, &[]);
    play.open_decision();
    // Whatever room there is, to the last page.
    let mut file = std::fs::File::create(&ballast).unwrap();
    while file.write_all(&[1; 4096]).is_ok() {}
    while file.write_all(&[1; 1]).is_ok() {}
    let content = serde_json::to_vec(&json!({"n": 2})).unwrap();
    let digest = tribunal::domain::digest::digest(Default::default(), &content).unwrap().to_string();
    let confirms = &digest["sha256:".len()..][..6];
    play.keys(&format!("jjj \tthe disk was full\t\t{confirms}\x13"));
    play.until_text("REFUSED, nothing was written: the disk is full");
    assert_eq!(records(play.dir.path()), Vec::<Value>::new());
    play.keys("\x1b");
    play.until_text("difference 1 of 1");
    play.keys("\x1b");
    play.until_text("▌! needs review  T-1");
    play.keys("r");
    play.until_text("the last write failed: the disk is full");
    std::fs::remove_file(&ballast).unwrap();
    drop(file);
    // The warning goes with the first write that succeeds; nobody has to start again for it.
    play.keys("\r");
    play.until_text("difference 1 of 1");
    play.keys("d");
    play.until_text("made against v");
    play.after_the_guard();
    // What was written and chosen before is still there; what confirms is not.
    play.keys(&format!("\t\t, then not\t\t{confirms}\x13"));
    play.until_text("RECORDED: needs_review → ready");
    assert!(!play.screen().contains("the last write failed"), "{}", play.screen());
    let made = records(play.dir.path());
    assert_eq!((made.len(), made[0]["reason"].as_str().unwrap()), (1, "the disk was full, then not"));
    assert_eq!(beside(play.dir.path(), &["verify"], b"").0, 0);
    play.keys("\x03");
    assert!(play.child.wait().unwrap().success());
}
