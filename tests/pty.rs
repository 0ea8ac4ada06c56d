//! A real terminal: taken, drawn on, and given back exactly as it was, whatever ends the program.
//!
//! The test binary runs itself on a pseudo-terminal as the program under test (`child`). The child tells how it
//! ended through a socket; the parent waits for what it sees, never for time.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test fails by panicking, also in its tools"
)]

#[cfg(test)]
mod common;
mod million;

#[cfg(test)]
#[path = "pty/faults.rs"]
mod faults;

use std::io::{Read as _, Write as _};
use std::num::NonZeroU16;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};
use tribunal::coordinator::Coordinator;
use tribunal::coordinator::local::Local;
use tribunal::domain::actor::Principal;
use tribunal::domain::command::Rules;
use tribunal::store::sqlite::{Options, SqliteStore};
use tribunal::tui::app::Look;
use tribunal::tui::keymap::Keymap;
use tribunal::tui::theme::Depth;
use tribunal::tui::{Start, run};

const SOCKET: &str = "TRIBUNAL_TEST_SOCKET";
const PATIENCE: Duration = Duration::from_secs(30);

/// The program under test. Does nothing when it is run as a test.
#[test]
fn child() {
    let Some(socket) = std::env::var_os(SOCKET) else { return };
    let mut told = UnixStream::connect(&socket).unwrap();
    let start = Start {
        command: "tribunal".into(),
        store: "test".into(),
        who: "you".into(),
        look: Look { theme: None, depth: Depth::detect(), keymap: Keymap::default() },
        reports: Path::new(&socket).with_file_name("reports"),
        drafts: Path::new(&socket).with_file_name("drafts"),
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let coordinator = store_beside(Path::new(&socket));
    let ended = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        runtime.block_on(run(start, coordinator, Box::new(million::Million::new())))
    }));
    write!(told, "{}", ended.map_or("panicked".into(), |ended| format!("{ended:?}"))).unwrap();
}

/// A new, empty store in the test's directory.
fn store_beside(socket: &Path) -> Arc<dyn Coordinator> {
    let options = Options { create: true, ..Options::new(socket.with_file_name("state")) };
    let store = SqliteStore::open(&socket.with_file_name("store.db"), options).unwrap();
    Arc::new(Local::embedded(Arc::new(store), Arc::new(Rules::default()), Principal::owner("you")))
}

/// Where the program keeps its things, all below a test's directory.
fn own_directories(dir: &Path) -> [(&'static str, PathBuf); 4] {
    let below = |name: &str| dir.join(name);
    [
        ("TMPDIR", dir.to_owned()),
        ("TRIBUNAL_CONFIG_DIR", below("config")),
        ("TRIBUNAL_DATA_DIR", below("data")),
        ("TRIBUNAL_STATE_DIR", below("state")),
    ]
}

struct Seen {
    parser: vt100::Parser,
    bytes: Vec<u8>,
    closed: bool,
    /// Set to have the reader let go of the terminal after the next bytes.
    stop: bool,
}

fn cells(count: u16) -> NonZeroU16 {
    NonZeroU16::new(count).unwrap()
}

/// The program on its terminal.
struct Play {
    dir: tempfile::TempDir,
    reports: PathBuf,
    /// Where the test binary tells how it ended; the program itself tells by its exit code.
    told: Option<UnixStream>,
    master: Option<Box<dyn MasterPty + Send>>,
    child: Box<dyn Child + Send + Sync>,
    keys: Option<Box<dyn std::io::Write + Send>>,
    seen: Arc<(Mutex<Seen>, Condvar)>,
    found: String,
}

/// The terminal's settings, as text.
fn settings(master: &dyn MasterPty) -> String {
    format!("{:?}", master.get_termios().unwrap())
}

impl Play {
    fn start(env: &[(&str, &str)], before: &[&str]) -> Play {
        let dir = tempfile::tempdir().unwrap();
        let socket = dir.path().join("socket");
        let listener = UnixListener::bind(&socket).unwrap();
        let mut argv: Vec<String> = before.iter().map(ToString::to_string).collect();
        argv.push(std::env::current_exe().unwrap().to_str().unwrap().to_owned());
        argv.extend(["child", "--exact", "--nocapture"].map(String::from));
        let mut command = CommandBuilder::from_argv(argv.iter().map(Into::into).collect());
        command.env(SOCKET, &socket);
        for (name, value) in env {
            command.env(name, value);
        }
        let mut play = Play::on_a_terminal(command, dir);
        let (told, _) = listener.accept().unwrap();
        told.set_read_timeout(Some(PATIENCE)).unwrap();
        play.told = Some(told);
        play
    }

    /// The program itself, with these arguments and directories of its own.
    fn program(args: &[&str]) -> Play {
        Play::program_in(tempfile::tempdir().unwrap(), args)
    }

    /// The same in a directory in which something is already.
    fn program_in(dir: tempfile::TempDir, args: &[&str]) -> Play {
        let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_tribunal"));
        command.args(args);
        for (name, value) in own_directories(dir.path()) {
            command.env(name, value);
        }
        Play::on_a_terminal(command, dir)
    }

    fn on_a_terminal(mut command: CommandBuilder, dir: tempfile::TempDir) -> Play {
        for name in ["NO_COLOR", "TRIBUNAL_STORE"] {
            if command.get_env(name) == std::env::var_os(name).as_deref() {
                command.env_remove(name);
            }
        }
        command.env("TERM", "xterm-256color");
        command.env("COLORTERM", "truecolor");
        let size = PtySize { rows: 24, cols: 80, pixel_width: 0, pixel_height: 0 };
        let pair = native_pty_system().openpty(size).unwrap();
        let found = settings(pair.master.as_ref());
        let child = pair.slave.spawn_command(command).unwrap();
        drop(pair.slave);
        let seen = Arc::new((
            Mutex::new(Seen {
                parser: vt100::Parser::new(cells(24), cells(80), 0),
                bytes: Vec::new(),
                closed: false,
                stop: false,
            }),
            Condvar::new(),
        ));
        let mut reader = pair.master.try_clone_reader().unwrap();
        let theirs = Arc::clone(&seen);
        std::thread::spawn(move || {
            let mut buffer = [0; 65536];
            loop {
                let read = reader.read(&mut buffer).unwrap_or(0);
                let mut seen = theirs.0.lock().unwrap();
                seen.parser.process(&buffer[..read]);
                seen.bytes.extend_from_slice(&buffer[..read]);
                if read == 0 || seen.stop {
                    drop(reader);
                    seen.closed = true;
                    theirs.1.notify_all();
                    return;
                }
                theirs.1.notify_all();
            }
        });
        let keys = pair.master.take_writer().unwrap();
        let reports = dir.path().join("reports");
        Play { dir, reports, told: None, master: Some(pair.master), child, keys: Some(keys), seen, found }
    }

    /// Waits until what is seen is so.
    fn until(&self, what: &str, so: impl Fn(&Seen) -> bool) {
        let (seen, wait) = (self.seen.0.lock().unwrap(), PATIENCE);
        let (seen, late) = self.seen.1.wait_timeout_while(seen, wait, |seen| !so(seen)).unwrap();
        assert!(!late.timed_out(), "never saw: {what}\n{}", seen.parser.screen().contents());
    }

    fn until_text(&self, text: &str) {
        self.until(text, |seen| seen.parser.screen().contents().contains(text));
    }

    fn ready() -> Play {
        let play = Play::start(&[], &[]);
        play.until_text("▌T-0");
        // Asked when keys are read already and the first frame is whole.
        play.until("the question", |seen| String::from_utf8_lossy(&seen.bytes).contains("\x1b]11;?\x1b\\"));
        play
    }

    fn keys(&mut self, keys: &str) {
        let writer = self.keys.as_mut().unwrap();
        writer.write_all(keys.as_bytes()).unwrap();
        writer.flush().unwrap();
    }

    fn signal(&self, name: &str) {
        let pid = self.child.process_id().unwrap().to_string();
        assert!(std::process::Command::new("kill").args([name, &pid]).status().unwrap().success());
    }

    /// Lets the 300 ms pass in which a dialog takes no key.
    fn after_the_guard(&self) {
        let seen = self.seen.0.lock().unwrap();
        drop(self.seen.1.wait_timeout_while(seen, Duration::from_millis(600), |_| true).unwrap());
    }

    /// The first whole digest on the screen.
    fn digest_on_screen(&self) -> String {
        let contents = self.seen.0.lock().unwrap().parser.screen().contents();
        let at = contents.find("sha256:").unwrap();
        contents[at..at + 71].to_owned()
    }

    /// How the program says it ended.
    fn ended(&mut self) -> String {
        let mut text = String::new();
        self.told.as_mut().unwrap().read_to_string(&mut text).unwrap();
        text
    }

    /// The terminal is as it was found: screen, cursor, modes, settings.
    fn given_back(&mut self) {
        self.child.wait().unwrap();
        self.until("the end", |seen| seen.closed);
        let seen = self.seen.0.lock().unwrap();
        let screen = seen.parser.screen();
        assert!(!screen.alternate_screen() && !screen.hide_cursor() && !screen.bracketed_paste());
        if self.told.is_some() {
            assert!(screen.contents().contains("running 1 test"), "{}", screen.contents());
        }
        let bytes = String::from_utf8_lossy(&seen.bytes);
        for (on, off) in
            [("\x1b[?1004h", "\x1b[?1004l"), ("\x1b[?1049h", "\x1b[?1049l"), ("\x1b[?2004h", "\x1b[?2004l")]
        {
            assert!(bytes.rfind(on).unwrap() < bytes.rfind(off).unwrap());
        }
        drop(seen);
        assert_eq!(settings(self.master.as_ref().unwrap().as_ref()), self.found);
    }
}

#[test]
fn quitting_gives_the_terminal_back() {
    let mut play = Play::ready();
    assert_ne!(settings(play.master.as_ref().unwrap().as_ref()), play.found);
    play.keys("jj");
    play.until_text("▌T-2");
    play.keys("q");
    assert_eq!(play.ended(), "Ok(Quit)");
    play.given_back();
}

#[test]
fn signals_end_it_and_give_the_terminal_back() {
    for (signal, ended) in
        [("-TERM", "Terminated"), ("-HUP", "HungUp"), ("-INT", "Interrupted"), ("-QUIT", "Quit")]
    {
        let mut play = Play::ready();
        play.signal(signal);
        assert_eq!(play.ended(), format!("Ok(By({ended}))"));
        play.given_back();
    }
}

/// Fault 59: a panic in any thread gives the terminal back, says what happened and leaves a report.
#[test]
fn panic() {
    for (key, thread, message, ended) in [
        ("d", "thread child at", "asked to  [2Jpanic", "panicked"),
        ("r", "thread without a name at", "elsewhere", "Err(Panicked)"),
    ] {
        let mut play = Play::start(&[("TRIBUNAL_TOKEN", "canary-4711")], &[]);
        play.until_text("▌T-0");
        play.keys(key);
        assert_eq!(play.ended(), ended);
        play.given_back();
        let reports: Vec<_> =
            std::fs::read_dir(&play.reports).unwrap().map(|entry| entry.unwrap().path()).collect();
        assert_eq!(reports.len(), 1);
        let report = std::fs::read_to_string(&reports[0]).unwrap();
        assert!(report.contains(message) && report.contains("tribunal 0.1.0"), "{report}");
        assert!(!report.contains("canary-4711"), "nothing of the environment is in it");
        let seen = play.seen.0.lock().unwrap();
        let shown = seen.parser.screen().contents().replace('\n', "");
        assert!(shown.contains(thread) && shown.contains(message), "{shown}");
        assert!(shown.contains(reports[0].file_name().unwrap().to_str().unwrap()), "{shown}");
    }
}

#[test]
fn a_terminal_that_is_gone_ends_it_even_without_a_signal() {
    // In a session of its own no SIGHUP comes; reading then fails for ever. The shell keeps the terminal open.
    let mut play = Play::start(&[], &["sh", "-c", "setsid \"$@\"; :", "sh"]);
    play.until_text("▌T-0");
    play.seen.0.lock().unwrap().stop = true;
    play.keys("j");
    play.until("the reader gone", |seen| seen.closed);
    play.keys = None;
    play.master = None;
    assert_eq!(play.ended(), "Ok(By(HungUp))");
}

#[test]
fn a_flood_of_keys_is_taken_whole_and_painted_in_few_frames() {
    let mut play = Play::ready();
    let before = play.seen.0.lock().unwrap().bytes.len();
    play.keys(&"j".repeat(200));
    play.until_text("▌T-200");
    let seen = play.seen.0.lock().unwrap();
    let frames = String::from_utf8_lossy(&seen.bytes[before..]).matches("\x1b[?2026h").count();
    assert!((1..=20).contains(&frames), "{frames} frames");
}

#[test]
fn one_movement_writes_less_than_a_kilobyte_and_nothing_is_written_when_nothing_happens() {
    let mut play = Play::ready();
    let before = play.seen.0.lock().unwrap().bytes.len();
    play.keys("j");
    play.until("the whole frame", |seen| {
        seen.parser.screen().contents().contains("▌T-1") && seen.bytes.ends_with(b"\x1b[?2026l")
    });
    let seen = play.seen.0.lock().unwrap();
    let written = seen.bytes.len() - before;
    assert!(written < 1024, "{written} bytes");
    let at_rest = seen.bytes.len();
    let (seen, _) = play.seen.1.wait_timeout_while(seen, Duration::from_millis(700), |_| true).unwrap();
    assert_eq!(seen.bytes.len(), at_rest);
}

#[test]
fn no_color_means_no_colour_code_and_reverse_survives() {
    let mut play = Play::start(&[("NO_COLOR", "1")], &[]);
    play.until_text("▌T-0");
    play.keys("jG");
    play.until_text("▌T-999999");
    let seen = play.seen.0.lock().unwrap();
    let bytes = String::from_utf8_lossy(&seen.bytes).into_owned();
    let mut reverse = false;
    for sequence in bytes.split("\x1b[").skip(1) {
        let end = sequence.find(|char: char| char.is_ascii_alphabetic()).unwrap();
        if sequence[end..].starts_with('m') {
            let codes: Vec<&str> = sequence[..end].split(';').collect();
            assert!(codes.iter().all(|code| ["0", "1", "2", "3", "4", "7"].contains(code)), "{codes:?}");
            reverse |= codes.contains(&"7");
        }
    }
    assert!(reverse);
    let row =
        (0..24).find(|row| seen.parser.screen().contents_between(*row, 0, *row, 10).contains("▌")).unwrap();
    assert!(seen.parser.screen().cell(row, 5).unwrap().inverse());
}

#[test]
fn the_background_is_asked_and_its_answer_eats_no_key_and_runs_none() {
    let mut play = Play::ready();
    // Unfiltered, the answer would type `d`, which panics here.
    play.keys("j\x1b]11;rgb:ffff/ffff/dddd\x1b\\j");
    play.until_text("▌T-2");
    // The selection of the light theme, #dce0e8.
    play.until("the light theme", |seen| {
        (0..24).any(|row| {
            let cell = seen.parser.screen().cell(row, 5).unwrap();
            cell.bgcolor() == vt100::Color::Rgb(0xdc, 0xe0, 0xe8)
        })
    });
    play.keys("q");
    assert_eq!(play.ended(), "Ok(Quit)");
}

#[test]
fn copying_goes_through_the_terminal_and_says_so() {
    let mut play = Play::ready();
    play.keys("y");
    play.until_text("copied through the terminal (OSC 52)");
    let seen = play.seen.0.lock().unwrap();
    // base64 of `T-0`
    assert!(String::from_utf8_lossy(&seen.bytes).contains("\x1b]52;c;VC0w\x1b\\"));
}

#[test]
fn a_resize_is_followed() {
    // As early as may be, also before the program listens for it.
    let play = Play::start(&[], &[]);
    play.until_text("▌T-0");
    let small = PtySize { rows: 10, cols: 39, pixel_width: 0, pixel_height: 0 };
    play.seen.0.lock().unwrap().parser.screen_mut().set_size(cells(10), cells(39));
    play.master.as_ref().unwrap().resize(small).unwrap();
    play.until_text("needs 40×12");
}

#[test]
fn without_a_terminal_it_says_so_and_writes_no_escape() {
    let dir = tempfile::tempdir().unwrap();
    let socket = dir.path().join("socket");
    let listener = UnixListener::bind(&socket).unwrap();
    let output = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["child", "--exact", "--nocapture"])
        .env(SOCKET, &socket)
        .stdin(std::process::Stdio::null())
        .output()
        .unwrap();
    let mut ended = String::new();
    listener.accept().unwrap().0.read_to_string(&mut ended).unwrap();
    assert!(ended.contains("NotATerminal"), "{ended}");
    assert!(!output.stdout.contains(&0x1b));
}

/// The whole way: from the queue through both sides to a decision, and from the record to a verified ledger.
#[test]
fn a_conflict_is_found_read_decided_and_verified() {
    let mut play = Play::program(&["demo"]);
    play.until_text("[All 18]");
    play.keys("/state:needs_review");
    play.until_text("/ state:needs_review");
    play.keys("\r");
    play.until_text("5 found");
    play.keys("j");
    play.until_text("▌! needs review  T-20");
    play.keys("\r");
    play.until_text("difference 1 of 6");
    for (key, at) in [("n", 2), ("n", 3), ("N", 2), ("G", 6)] {
        play.keys(key);
        play.until_text(&format!("difference {at} of 6"));
    }
    // Keys typed before the dialog is there, and for 300 ms after, decide nothing.
    play.keys("djj \x13");
    play.until_text("Decide T-20");
    play.until_text("nothing is chosen");
    play.after_the_guard();
    play.keys("jj ");
    play.until_text("[x] A  sha256:7618cc");
    play.keys("\tThe filing says so.");
    play.until_text("The filing says so.");
    // Neither enter nor a confirmation that is not the digest decides.
    play.keys("\t\tready\r\x13");
    play.until_text("not sent:");
    play.keys("\x7f\x7f\x7f\x7f\x7f7618cc\x13");
    play.until_text("RECORDED: needs_review → ready");
    let record = play.digest_on_screen();
    play.keys("\x1b");
    play.until_text("decided in record 4: ready, upheld A");
    play.keys("\x1b");
    play.until_text("4 found");
    play.keys("A");
    play.until_text("Approvals · 4 records");
    play.keys("V");
    play.until_text(&format!("verified 4 records, head 4:{}", &record[..30]));
    play.keys("q");
    assert!(play.child.wait().unwrap().success());
    play.given_back();
    let demo = std::fs::read_dir(play.dir.path()).unwrap().map(|entry| entry.unwrap().path());
    let demo = demo.into_iter().find(|path| path.join("demo.db").exists()).unwrap();
    let verified = std::process::Command::new(env!("CARGO_BIN_EXE_tribunal"))
        .args(["--store", demo.join("demo.db").to_str().unwrap(), "--json", "verify"])
        .envs(own_directories(play.dir.path()))
        .env("TRIBUNAL_STATE_DIR", demo.join("state"))
        .output()
        .unwrap();
    let verified = String::from_utf8(verified.stdout).unwrap();
    assert!(verified.contains("\"ok\":true") && verified.contains(&record), "{verified}");
}

/// The columns somebody chose are still chosen when the program starts again; a damaged choice is told and left.
#[test]
fn the_choice_of_columns_is_remembered() {
    let mut play = Play::program_in(faults::one_conflict(), &[]);
    let head = |seen: &Seen| seen.parser.screen().rows(0, 80).nth(2).unwrap_or_default();
    play.until_text("▌! needs review  T-1");
    assert_eq!(head(&play.seen.0.lock().unwrap()).split_whitespace().collect::<Vec<_>>()[0], "why");
    play.keys("c");
    play.until_text("Columns beside the task");
    play.keys(" ");
    play.until_text("▌[ ] why");
    play.keys("\x03");
    assert!(play.child.wait().unwrap().success());
    let mut play = play.again();
    play.until_text("▌T-1");
    assert_eq!(head(&play.seen.0.lock().unwrap()).split_whitespace().collect::<Vec<_>>()[0], "task");
    play.keys("\x03");
    assert!(play.child.wait().unwrap().success());
    std::fs::write(play.dir.path().join("state/drafts/columns"), b"\x1b]0;x\x07").unwrap();
    let mut play = play.again();
    play.until_text("▌! needs review  T-1");
    play.until_text("all columns are shown, the choice in");
    play.keys("\x03");
    assert!(play.child.wait().unwrap().success());
}
