//! The binary in a home of its own.

use crate::common;
use serde_json::{Value, json};
use std::io::Write;
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};

/// A home with directories for configuration, data and state.
pub struct Home {
    pub dir: tempfile::TempDir,
}

/// What a run of the binary said.
#[derive(Debug)]
pub struct Said {
    pub code: i32,
    pub out: String,
    pub err: String,
}

impl Said {
    pub fn of(output: Output) -> Self {
        Said {
            code: output.status.code().expect("it was not killed"),
            out: String::from_utf8(output.stdout).expect("output is UTF-8"),
            err: String::from_utf8(output.stderr).expect("errors are UTF-8"),
        }
    }

    /// Its lines as JSON.
    pub fn lines(&self) -> Vec<Value> {
        self.out.lines().map(|l| serde_json::from_str(l).unwrap_or_else(|e| panic!("{e}: {l}"))).collect()
    }

    /// Its only line as JSON.
    pub fn one(&self) -> Value {
        let mut lines = self.lines();
        assert_eq!(lines.len(), 1, "{self:?}");
        lines.remove(0)
    }

    /// The refusal on standard error.
    pub fn refusal(&self) -> Value {
        assert_eq!(self.out, "", "a refusal prints nothing else: {self:?}");
        serde_json::from_str(self.err.trim()).unwrap_or_else(|e| panic!("{e}: {self:?}"))
    }

    #[track_caller]
    pub fn code(self, code: i32) -> Self {
        assert_eq!(self.code, code, "{self:?}");
        self
    }
}

impl Home {
    pub fn new() -> Self {
        Home { dir: tempfile::tempdir().unwrap() }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tribunal"));
        command.args(args).env_clear().current_dir(self.dir.path());
        for (name, dir) in [
            ("TRIBUNAL_CONFIG_DIR", "config"),
            ("TRIBUNAL_DATA_DIR", "data"),
            ("TRIBUNAL_STATE_DIR", "state"),
        ] {
            command.env(name, self.path(dir));
        }
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    pub fn run(&self, args: &[&str]) -> Said {
        Said::of(self.command(args).output().unwrap())
    }

    pub fn spawn(&self, args: &[&str]) -> Child {
        self.command(args).stdin(Stdio::piped()).spawn().unwrap()
    }

    pub fn feed(&self, args: &[&str], input: &[u8]) -> Said {
        let mut child = self.spawn(args);
        let mut stdin = child.stdin.take().unwrap();
        let input = input.to_vec();
        let writer = std::thread::spawn(move || {
            // A program that ends early does not read all of it.
            _ = stdin.write_all(&input);
        });
        let said = Said::of(child.wait_with_output().unwrap());
        writer.join().unwrap();
        said
    }

    /// Everything that was logged.
    pub fn logs(&self) -> String {
        let files = std::fs::read_dir(self.path("state")).unwrap().map(|e| e.unwrap().path());
        let logs = files.filter(|p| p.extension().is_some_and(|x| x == "log"));
        logs.map(|p| std::fs::read_to_string(p).unwrap()).collect()
    }

    pub fn configure(&self, toml: &str) {
        std::fs::create_dir_all(self.path("config")).unwrap();
        std::fs::write(self.path("config/config.toml"), toml).unwrap();
    }

    /// Admits envelopes and gives what became of each.
    pub fn ingest(&self, envelopes: &[Vec<u8>]) -> Vec<Value> {
        self.feed(&["ingest", "--json"], &lines(envelopes)).lines()
    }

    pub fn show(&self, task: &str) -> Value {
        self.run(&["show", task, "--json"]).code(0).one()
    }

    pub fn version(&self, task: &str) -> u64 {
        self.show(task)["state_version"].as_u64().unwrap()
    }

    pub fn transition(&self, task: &str, to: &str) {
        let version = self.version(task).to_string();
        self.run(&["transition", task, "--to", to, "--expect-version", &version, "--reason", "test"]).code(0);
    }

    pub fn running(&self, task: &str) {
        assert_eq!(self.ingest(&[common::asks(task)])[0]["outcome"], "accepted");
        self.transition(task, "ready");
        self.transition(task, "running");
    }

    /// A task with sides #2 and #3; gives its version.
    pub fn conflict(&self, task: &str) -> u64 {
        self.running(task);
        let said = self.ingest(&sides(task));
        assert_eq!(said[1]["outcome"], "conflict");
        said[1]["state_version"].as_u64().unwrap()
    }

    /// A task with an open question; gives its version.
    pub fn question(&self, task: &str, payload: Value) -> u64 {
        self.running(task);
        let asked = common::envelope(json!({"task_id": task, "type": "human_request", "message_id": "q",
            "idempotency_key": "q", "payload": payload}));
        self.ingest(&[asked])[0]["state_version"].as_u64().unwrap()
    }

    pub fn decide(&self, task: &str, version: u64, more: &[&str]) -> Said {
        let version = version.to_string();
        let mut args =
            vec!["decide", task, "--expect-version", &version, "--reason", "read both sides", "--json"];
        if !more.contains(&"--cancel") {
            args.push("--ready");
        }
        args.extend(more);
        self.run(&args)
    }
}

/// The two sides of a conflict.
pub fn sides(task: &str) -> Vec<Vec<u8>> {
    let side = |id: &str, sender: &str, n: u64| {
        common::envelope(json!({"task_id": task, "message_id": id, "sender": sender, "payload":
            {"facts": [1, 2, 3], "revenue": n}, "evidence_refs": ["file:filings.csv"]}))
    };
    vec![side("M-a", "researcher-a", 1_204_000), side("M-b", "researcher-b", 1_240_000)]
}

/// Envelopes as JSON Lines.
pub fn lines(envelopes: &[Vec<u8>]) -> Vec<u8> {
    envelopes.iter().flat_map(|e| e.iter().copied().chain([b'\n'])).collect()
}
