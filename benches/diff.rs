//! Times the diff of two large result payloads against parsing both into `serde_json::Value`s, in one run.
//!
//! `cargo bench --bench diff [-- --quick]`. Each case runs in a process of its own, so that its peak memory is
//! its own. "model" is what a diff on values has to do before it starts: parse both texts and clone both; the
//! ratio is CPU time over that of the model on the same texts. "members" are two objects of 600,000 members,
//! "reordered" the same with B's members in the opposite order.

#![expect(clippy::print_stdout, reason = "a bench reports on standard output")]
#![expect(clippy::unwrap_used, reason = "a bench may stop at once")]

use std::fmt::Write;
use std::hint::black_box;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use tribunal::domain::diff::{Diff, Limits, Lines, Side};

/// Results in a payload of 50 MB.
const RESULTS: usize = 127_000;

/// Members of the objects.
const MEMBERS: usize = 600_000;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if let [case, megabytes, rounds] = args.as_slice()
        && let (Ok(megabytes), Ok(rounds)) = (megabytes.parse(), rounds.parse())
    {
        return run(case, megabytes, rounds);
    }
    let quick = args.iter().any(|arg| arg == "--quick");
    let rounds = if quick { "2" } else { "5" };
    println!(
        "{:<18} {:>7} {:>9} {:>9} {:>6} {:>8} {:>7} {:>8} {:>10}",
        "case", "texts", "CPU ms", "wall ms", "ratio", "rows", "diffs", "peak MB", "over texts"
    );
    let results = ["model", "parse", "same", "shift", "reformatted", "lines"];
    let objects = ["members-model", "members", "reordered"];
    let sizes: &[&str] = if quick { &["10"] } else { &["10", "50"] };
    let runs = sizes.iter().flat_map(|size| results.map(|case| (case, *size)));
    let mut model = f64::NAN;
    for (case, size) in runs.chain(objects.map(|case| (case, "0"))) {
        let exe = std::env::current_exe().unwrap();
        let told = Command::new(exe).args([case, size, rounds]).output().unwrap();
        assert!(told.status.success(), "{case} failed");
        let told = String::from_utf8(told.stdout).unwrap();
        let figures: Vec<f64> = told.split_whitespace().map(|figure| figure.parse().unwrap()).collect();
        let [texts, cpu, wall, rows, diffs, peak, over]: [f64; 7] = figures.try_into().unwrap();
        if case.ends_with("model") {
            model = cpu;
        }
        let name = if size == "0" { case.to_owned() } else { format!("{case} {size} MB") };
        println!(
            "{name:<18} {texts:>7.1} {cpu:>9.1} {wall:>9.1} {:>6.2} {rows:>8} {diffs:>7} {peak:>8} {over:>10}",
            cpu / model
        );
    }
}

fn run(case: &str, megabytes: usize, rounds: usize) {
    let (a, b) = match case {
        "members-model" | "members" | "reordered" => objects(case == "reordered"),
        _ => payloads(RESULTS * megabytes / 50, case == "shift", case == "reformatted"),
    };
    let texts = a.len() + b.len();
    // The peak counts from here, not from the making of the texts.
    let _ = std::fs::write("/proc/self/clear_refs", "5");
    let before = memory("VmRSS:");
    let mut best = (Duration::MAX, Duration::MAX);
    let mut note = (0, 0);
    for _ in 0..rounds {
        let start = (Instant::now(), cpu());
        match case {
            "parse" | "model" | "members-model" => {
                let parse = |text: &[u8]| serde_json::from_slice::<serde_json::Value>(text).unwrap();
                let values = (parse(&a), parse(&b));
                let copies = (case != "parse").then(|| values.clone());
                best = best.min(since(start));
                black_box((values, copies));
            }
            "lines" => {
                let lines = Lines::pretty(Arc::clone(&a)).unwrap();
                best = best.min(since(start));
                note.0 = lines.len();
            }
            _ => {
                let (a, b) = (Arc::clone(&a), Arc::clone(&b));
                let diff = Diff::new(a, b, &AtomicBool::new(false), Limits::default()).unwrap();
                best = best.min(since(start));
                note = (diff.rows().len(), diff.differences().len());
                let shown = diff.rows().iter().map(|row| diff.text(row, Side::A, 80));
                black_box(shown.flatten().count());
            }
        }
    }
    let peak = memory("VmHWM:");
    println!(
        "{} {} {} {} {} {} {}",
        texts as f64 / 1e6,
        best.0.as_secs_f64() * 1e3,
        best.1.as_secs_f64() * 1e3,
        note.0,
        note.1,
        peak / 1024,
        (peak.saturating_sub(before)) / 1024,
    );
}

/// Two objects of which 200 members differ; with `turned` B names its members in the opposite order.
fn objects(turned: bool) -> (Arc<[u8]>, Arc<[u8]>) {
    let text = |other: bool| {
        let member = |n: usize| {
            let changed = other && n.is_multiple_of(MEMBERS / 200);
            format!(
                r#""member-{:08x}":{}"#,
                n.wrapping_mul(0x9e37_79b1) as u32,
                if changed { n + 1 } else { n }
            )
        };
        let members: Vec<String> = match other && turned {
            true => (0..MEMBERS).rev().map(member).collect(),
            false => (0..MEMBERS).map(member).collect(),
        };
        Arc::from(format!("{{{}}}", members.join(",")).into_bytes())
    };
    (text(false), text(true))
}

/// Two payloads: 200 scores changed, one key added, one removed; with `shift` one more element in front.
fn payloads(results: usize, shift: bool, spaced: bool) -> (Arc<[u8]>, Arc<[u8]>) {
    let every = (results / 200).max(1);
    let text = |other: bool| {
        let mut out = String::with_capacity(results * 400 + 400);
        out.push_str(r#"{"run":"R-7","model":"m-1","results":["#);
        if other && shift {
            out.push_str(r#"{"id":"first","score":0.5},"#);
        }
        for n in 0..results {
            let changed = other && n % every == 0 && n / every < 200;
            let score = (n * 7919 % 100_000) as f64 / 1e5 + if changed { 1.0 } else { 0.0 };
            let comma = if n == 0 { "" } else { "," };
            let gap = if other && spaced { " " } else { "" };
            write!(
                out,
                r#"{comma}{gap}{{"id":"case-{n:07}","score":{score},"latency_ms":{},"passed":{},"tags":["t{}","t{}"],"usage":{{"in":{},"out":{}}},"answer":"The filing for fiscal year {} reports revenue of {} million, \"as restated\", up from the prior period.","note":"checked against the register entry {n} and the second source; no deviation found in the figures","#,
                n * 31 % 5000,
                n % 3 != 0,
                n % 17,
                n % 29,
                n % 4096,
                n % 1024,
                1990 + n % 36,
                n * 13 % 90_000,
            )
            .unwrap();
            if n == results / 3 && other {
                out.push_str(r#""added":true,"#);
            }
            if n == results / 2 && !other {
                out.push_str(r#""removed":null,"#);
            }
            write!(out, r#""hash":"{:016x}"}}"#, (n as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15)).unwrap();
        }
        out.push_str(r#"],"schema":1}"#);
        Arc::from(out.into_bytes())
    };
    (text(false), text(true))
}

/// CPU time and wall time since a start; the CPU time is what other work on the machine does not change much.
fn since((wall, cpu_then): (Instant, Duration)) -> (Duration, Duration) {
    (cpu().saturating_sub(cpu_then), wall.elapsed())
}

/// CPU time of this thread; zero where the system does not tell.
fn cpu() -> Duration {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    Duration::from_nanos(text.split(' ').next().and_then(|ns| ns.parse().ok()).unwrap_or(0))
}

/// A line of /proc/self/status in KiB; 0 where there is none.
fn memory(name: &str) -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(name));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok()).unwrap_or(0)
}
