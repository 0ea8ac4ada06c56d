//! What somebody meets who uses the program for the first time: it says what it will not do, and what to do then.

use crate::common;
use crate::house::{Home, Said};
use serde_json::{Value, json};

#[test]
fn the_demonstration_takes_no_store() {
    let home = Home::new();
    let scratch = home.path("tmp");
    std::fs::create_dir(&scratch).unwrap();
    for args in [&["--store", "own.db", "demo", "--no-tui"][..], &["demo", "--no-tui", "--store", "own.db"]] {
        let refused = home.run(args).code(2);
        assert!(refused.err.contains("its own scratch store"), "{refused:?}");
    }
    let mut command = home.command(&["demo", "--no-tui"]);
    command.env("TMPDIR", &scratch).env("TRIBUNAL_STORE", "own.db");
    let made = Said::of(command.output().unwrap()).code(0);
    assert!(made.err.contains("TRIBUNAL_STORE is not used"), "{made:?}");
    assert!(made.out.contains(scratch.to_str().unwrap()), "{made:?}");
    assert!(!made.err.contains("of the configuration"), "{made:?}");
    assert!(!home.path("own.db").exists());
    home.configure("store = \"own.db\"\n");
    let mut command = home.command(&["demo", "--no-tui"]);
    let made = Said::of(command.env("TMPDIR", &scratch).output().unwrap()).code(0);
    assert!(made.err.contains("`store` of the configuration is not used"), "{made:?}");
    assert!(!home.path("own.db").exists());
}

/// Flag above environment above file above the default.
#[test]
fn the_paths_say_which_store_is_used_and_why() {
    let home = Home::new();
    let place = |flag: &[&str], env: Option<&str>| {
        let mut command = home.command(&[&["config", "paths", "--json"], flag].concat());
        if let Some(env) = env {
            command.env("TRIBUNAL_STORE", env);
        }
        let paths = Said::of(command.output().unwrap()).code(0).one();
        (paths["store"].clone(), paths["store_from"].clone())
    };
    let at = |name: &str, from: &str| (json!(home.path(name)), json!(from));
    assert_eq!(place(&[], None), at("data/store.db", "default"));
    home.configure("store = \"sqlite:file.db\"\n");
    assert_eq!(place(&[], None), at("file.db", "configuration"));
    assert_eq!(place(&[], Some("sqlite:env.db")), at("env.db", "environment"));
    assert_eq!(place(&["--store", "flag.db"], Some("env.db")), at("flag.db", "flag"));
    let told = home.run(&["--store", "flag.db", "config", "paths"]).code(0).out;
    assert!(told.contains("flag.db (named by --store)"), "{told}");
    let refused = home.run(&["config", "paths", "--store", "postgres://u:p4ss@h/db"]).code(2);
    assert!(!refused.err.contains("p4ss"));
}

#[test]
fn verifying_a_file_says_what_it_cannot_know() {
    let home = Home::new();
    let version = home.conflict("T-1");
    home.decide("T-1", version, &["--uphold", "2"]).code(0);
    let exported = home.run(&["export"]).code(0);
    let head = exported.err.split_whitespace().nth(1).unwrap().trim_end_matches(':').to_owned();
    let verify = |bytes: &str, more: &[&str]| {
        std::fs::write(home.path("file"), bytes).unwrap();
        home.run(&[&["verify", "file"], more].concat())
    };
    let unknown = "that nothing was cut off its end is not known without --head";
    assert_eq!(verify(&exported.out, &[]).code(0).out.lines().last(), Some(unknown));
    assert!(!verify(&exported.out, &["--head", &head]).code(0).out.contains(unknown));
    let altered = exported.out.replacen("read both sides", "read both SIDES", 1);
    assert!(!verify(&altered, &[]).code(8).out.contains(unknown));
    assert_eq!(verify("\n", &[]).code(0).out, format!("file holds no record\n{unknown}\n"));
    assert_eq!(verify("", &["--json"]).code(0).one()["records"], 0);
    verify("", &["--head", &head]).code(8);
    for other in ["nonsense\n", "[1]\n", "{\"message_id\":\"M-1\"}\n"] {
        let refused = verify(other, &["--json"]).code(6).refusal();
        assert_eq!(refused["error"], "not_a_ledger", "{other}");
        assert!(refused["message"].as_str().unwrap().contains("not an exported ledger"));
    }
    std::fs::write(home.path("file"), &exported.out).unwrap();
    let mistaken = home.run(&["ingest", "file"]).code(6);
    assert!(
        mistaken.err.contains("this is an approval record, not a message: `verify FILE`"),
        "{mistaken:?}"
    );
}

#[test]
fn a_list_that_finds_nothing_says_what_would() {
    let home = Home::new();
    let version = home.conflict("T-1");
    home.decide("T-1", version, &["--uphold", "2"]).code(0);
    let decided = home.run(&["list", "task:T-1"]).code(0);
    assert!(decided.out.is_empty() && decided.err.contains("--all lists what does not wait"), "{decided:?}");
    assert_eq!(home.run(&["list", "task:T-1", "--json"]).code(0).err, "");
    assert_eq!(home.run(&["list", "task:T-9"]).code(0).err, "", "--all would find nothing either");
    let dashed = home.run(&["list", "-reason:stuck"]).code(2);
    assert!(dashed.err.contains("tribunal list -- -reason:stuck"), "{dashed:?}");
    assert!(!home.run(&["list", "--nonsense"]).code(2).err.contains("-reason:stuck"));
    assert!(home.run(&["list", "--help"]).code(0).out.contains("tribunal list -- -reason:stuck"));
}

#[test]
fn messages_and_help_say_what_to_write() {
    let home = Home::new();
    let version = home.conflict("T-1");
    let listed = home.decide("T-1", version, &["--uphold", "2,3"]).code(2).refusal();
    assert!(listed["message"].as_str().unwrap().contains("--uphold 2 --uphold 3"), "{listed}");
    let version = version.to_string();
    let blank = ["decide", "T-1", "--ready", "--expect-version", &version, "--reason", " "];
    assert!(home.run(&blank).code(6).err.contains("1 or more characters"));
    let states = home.run(&["transition", "--help"]).code(0).out;
    assert!(states.contains("pending, ready, running, retry_wait"), "{states}");
    assert!(home.run(&["gate", "--help"]).code(0).out.contains("unacceptable"));
}

/// An element that shifted is named, and its place in both sides told.
#[test]
fn differences_tell_where_they_stand_in_both_sides() {
    let home = Home::new();
    home.running("T-1");
    let fact = |company: &str, revenue: u64| json!({"company": company, "revenue": revenue});
    let side = |id: &str, sender: &str, facts: Value| {
        common::envelope(json!({"message_id": id, "sender": sender, "payload": {"facts": facts}}))
    };
    let one = json!([fact("Aldren", 1), fact("Birkholm", 2), fact("Castelnau", 3)]);
    let two = json!([fact("Zorn", 9), fact("Aldren", 1), fact("Birkholm", 7), fact("Castelnau", 3)]);
    home.ingest(&[side("M-a", "a", one), side("M-b", "b", two)]);
    let rows = home.run(&["diff", "T-1", "--json"]).code(0).lines();
    let changed = json!({"pointer": "/facts/1/revenue", "pointer_b": "/facts/2/revenue", "kind": "changed",
        "a": 2, "b": 7});
    assert!(rows.contains(&changed), "{rows:?}");
    let added = rows.iter().find(|r| r["kind"] == "added").unwrap();
    assert_eq!((&added["pointer"], added.get("pointer_b")), (&json!("/facts/0"), None));
    let told = home.run(&["diff", "T-1"]).code(0).out;
    assert!(told.contains("/facts/1 · Birkholm · revenue (b: /facts/2/revenue)  2  →  7"), "{told}");
}

/// The walk in README.md, exactly as it is written there.
#[test]
#[cfg(unix)]
fn the_walk_of_the_readme_works_as_written() {
    let home = Home::new();
    let readme = include_str!("../../README.md");
    let walk = readme.split("```sh\n").find(|block| block.starts_with("export TRIBUNAL_STORE=")).unwrap();
    let walk = walk.split("```").next().unwrap();
    let programs = std::path::Path::new(env!("CARGO_BIN_EXE_tribunal")).parent().unwrap();
    let found = std::env::var("PATH").unwrap();
    let mut shell = std::process::Command::new("sh");
    shell.args(["-ec", walk]).current_dir(home.path(""));
    shell.env("PATH", format!("{}:{found}", programs.display()));
    for name in ["CONFIG", "DATA", "STATE"] {
        shell.env(format!("TRIBUNAL_{name}_DIR"), home.path(name));
    }
    let said = Said::of(shell.output().unwrap()).code(0);
    for told in ["1 accepted, 1 conflict, 1 duplicate", "needs_review, version 5", "decided: T-1 is ready"] {
        assert!(said.out.contains(told), "{told}: {}", said.out);
    }
    assert!(said.out.contains("1 record, every one as it was written"), "{}", said.out);
}
