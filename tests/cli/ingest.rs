//! Taking messages in: layouts, repeats, memory, interruption.

use crate::common;
use crate::house::{Home, lines};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};

#[test]
fn one_line_for_each_in_order() {
    let home = Home::new();
    let input =
        [&lines(&[common::asks("T-1")])[..], b"\nnonsense\n", &lines(&[common::asks("T-2")])].concat();
    let said = home.feed(&["ingest", "-", "--json"], &input).code(6);
    let found: Vec<_> = said
        .lines()
        .iter()
        .map(|l| (l["line"].as_u64().unwrap(), l["outcome"].as_str().unwrap().to_owned()))
        .collect();
    let expected = [(1, "accepted"), (3, "quarantined"), (4, "accepted")];
    assert_eq!(found, expected.map(|(n, o)| (n, o.to_owned())));
    let first = &said.lines()[0];
    assert_eq!(
        (
            &first["message_id"],
            &first["task_id"],
            &first["arrival"],
            &first["state"],
            &first["state_version"]
        ),
        (&json!("T-1-ask"), &json!("T-1"), &json!(1), &json!("pending"), &json!(1))
    );
    assert!(first.get("reason").is_some());
}

/// RFC 3339 sets no limit to the digits of a second; what it cannot write is put aside with a reason.
#[test]
fn times_of_any_precision_and_up_to_the_last_year() {
    let home = Home::new();
    let at = |n: usize, time: &str| {
        let task = format!("T-{n}");
        common::envelope(json!({"type": "task_request", "task_id": task, "created_at": time,
            "payload": {"goal": "x", "deadline": time}}))
    };
    let good = [
        "2026-11-30T12:00:00.123456789123456789Z",
        "9999-12-31T23:59:59Z",
        "9999-12-31T23:59:59.9999999999-00:00",
    ];
    let kept = ["2026-11-30T12:00:00.123Z", "9999-12-31T23:59:59.000Z", "9999-12-31T23:59:59.999Z"];
    for (n, (time, kept)) in good.iter().zip(kept).enumerate() {
        assert_eq!(home.ingest(&[at(n, time)])[0]["outcome"], "accepted", "{time}");
        let task = format!("T-{n}");
        assert_eq!(home.show(&task)["deadline"], kept);
        home.run(&["show", &task, "--timeline"]).code(0);
        let whole = home.run(&["show", &task, "--payload", "1", "--json"]).code(0).one();
        assert_eq!(whole["payload"]["deadline"], *time, "the original keeps every digit");
    }
    for time in
        ["10000-01-01T00:00:00Z", "9999-12-31T23:59:59-00:01", "-0001-12-31T23:59:59Z", "2026-11-30T12:00:00"]
    {
        assert_eq!(home.ingest(&[at(9, time)])[0]["outcome"], "quarantined", "{time}");
    }
    let entries = home.run(&["quarantine", "list", "--json"]).code(0).lines();
    assert_eq!(entries.len(), 4);
    for entry in entries {
        assert_eq!(entry["reason"], "malformed");
        assert!(
            entry["detail"].as_str().unwrap().contains("RFC 3339 date-time of the years 0000 to 9999"),
            "{entry}"
        );
    }
}

#[test]
fn arrays_values_and_files() {
    let home = Home::new();
    let value = |task: &str| serde_json::from_slice::<Value>(&common::asks(task)).unwrap();
    std::fs::write(
        home.path("array.json"),
        serde_json::to_vec_pretty(&json!([value("A-1"), value("A-2")])).unwrap(),
    )
    .unwrap();
    std::fs::write(home.path("one.json"), serde_json::to_vec_pretty(&value("O-1")).unwrap()).unwrap();
    let said = home.run(&["ingest", "array.json", "one.json", "--json"]).code(0);
    let files: Vec<_> = said.lines().iter().map(|l| l["file"].as_str().unwrap().to_owned()).collect();
    assert_eq!(files, ["array.json", "array.json", "one.json"]);
    assert!(said.lines().iter().all(|l| l["outcome"] == "accepted"));
    std::fs::write(home.path("cut.json"), b"[").unwrap();
    assert_eq!(home.run(&["ingest", "cut.json"]).code, 6);
    assert_eq!(home.run(&["ingest", "absent.json", "--json"]).code(6).refusal()["error"], "file_not_found");
    home.feed(&["ingest"], b"").code(0);
}

/// Killed in the middle and run again, every message is there once.
#[test]
fn broken_off_and_run_again() {
    const MESSAGES: usize = 3000;
    let home = Home::new();
    home.running("T-1");
    let progress = |n: usize| {
        common::envelope(json!({"type": "task_progress", "message_id": format!("p{n}"),
            "idempotency_key": format!("p{n}"), "payload": {"n": n}}))
    };
    let all: Vec<Vec<u8>> = (0..MESSAGES).map(progress).collect();
    let mut child = home.spawn(&["ingest", "--json"]);
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(&lines(&all[..2500])).unwrap();
    // Once a batch was told as recorded, it is durable: whatever comes then must find it.
    let told = next(&mut BufReader::new(child.stdout.take().unwrap()));
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(told["outcome"], "accepted");
    let again = home.feed(&["ingest", "--json"], &lines(&all)).code(0).lines();
    assert_eq!(again.len(), MESSAGES);
    assert_eq!(again[0]["outcome"], "duplicate");
    assert_eq!(again[MESSAGES - 1]["outcome"], "accepted");
    assert_eq!(home.show("T-1")["submissions"], MESSAGES + 1);
}

/// Whoever read the output is gone; the messages still go in, and the end is quiet.
#[test]
fn broken_pipe() {
    let home = Home::new();
    let tasks: Vec<Vec<u8>> = (0..2000).map(|n| common::asks(&format!("T-{n}"))).collect();
    let mut child = home.spawn(&["ingest", "--json"]);
    drop(child.stdout.take());
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(&lines(&tasks)).unwrap();
    drop(stdin);
    let ended = child.wait_with_output().unwrap();
    assert_eq!((ended.status.code(), ended.stderr.as_slice()), (Some(0), &b""[..]));
    let mut list = home.command(&["list", "--all", "--limit", "5000", "--json"]).spawn().unwrap();
    drop(list.stdout.take());
    let ended = list.wait_with_output().unwrap();
    assert_eq!((ended.status.code(), ended.stderr.as_slice()), (Some(0), &b""[..]));
    assert_eq!(home.run(&["list", "--all", "--limit", "5000", "--json"]).code(0).lines().len(), 2000);
}

fn next(out: &mut impl BufRead) -> Value {
    let mut line = String::new();
    out.read_line(&mut line).unwrap();
    serde_json::from_str(&line).unwrap_or_else(|e| panic!("{e}: {line}"))
}

/// What comes through a pipe is admitted as it comes, not when a batch is full or the pipe is closed.
#[test]
fn a_stream_is_admitted_as_it_comes() {
    let home = Home::new();
    let mut child = home.spawn(&["ingest", "--json"]);
    let mut stdin = child.stdin.take().unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    for n in 0..3 {
        let task = format!("T-{n}");
        stdin.write_all(&lines(&[common::asks(&task)])).unwrap();
        let told = next(&mut out);
        assert_eq!((&told["task_id"], &told["outcome"]), (&json!(task), &json!("accepted")));
    }
    drop(stdin);
    assert!(child.wait().unwrap().success());
}

/// The most memory a process that reads from `stdin` has had so far, in KiB.
#[cfg(target_os = "linux")]
fn peak(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find(|l| l.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

/// Fault 36: what is past the limit costs no more memory than what is just below it, however long it is.
#[test]
#[cfg(target_os = "linux")]
fn payload_100mb() {
    let fed = |megabytes: usize| {
        let home = Home::new();
        let mut child = home.spawn(&["ingest", "--json"]);
        let mut stdin = child.stdin.take().unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        stdin.write_all(&lines(&[common::asks("T-before")])).unwrap();
        assert_eq!(next(&mut out)["outcome"], "accepted");
        stdin.write_all(b"{\"payload\":\"").unwrap();
        let chunk = vec![b'x'; 1 << 20];
        for _ in 0..megabytes {
            stdin.write_all(&chunk).unwrap();
        }
        let most = peak(child.id());
        stdin.write_all(b"\"}\n").unwrap();
        stdin.write_all(&lines(&[common::asks("T-after")])).unwrap();
        drop(stdin);
        assert_eq!(next(&mut out)["outcome"], "quarantined");
        assert_eq!(next(&mut out)["outcome"], "accepted", "what follows it goes in");
        assert_eq!(child.wait().unwrap().code(), Some(6));
        let entry = home.run(&["quarantine", "list", "--json"]).code(0).one();
        assert_eq!(entry["reason"], if megabytes > 16 { "limit_exceeded" } else { "missing_member" });
        (most, entry["size"].as_u64().unwrap())
    };
    let (small, _) = fed(0);
    let (below, _) = fed(15);
    let (above, kept) = fed(100);
    println!("peak: {small} KiB idle, {below} KiB at 15 MiB, {above} KiB at 100 MiB");
    assert_eq!(kept, 1 << 20, "its beginning is kept");
    assert!(above < below + (4 << 10), "flat above the limit: {below} → {above} KiB");
    assert!(above < small + (17 << 10), "and not much above it: {small} → {above} KiB");
}
