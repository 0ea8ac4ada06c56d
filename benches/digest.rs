//! Measures our canonical digests against plain SHA-256 and `serde_json_canonicalizer`, all in one run.
//!
//! `cargo bench --bench digest` (`-- --quick` for 5 MB instead of 50 MB). Every variant runs in a child
//! process of its own, so that its peak memory (VmHWM, Linux) is its own; times are the best of the rounds,
//! the input's generation not counted.
#![expect(clippy::print_stdout, reason = "a benchmark reports on standard output")]
#![expect(clippy::expect_used, clippy::indexing_slicing, reason = "a benchmark that fails should stop")]

use std::fmt::Write as _;
use std::hint::black_box;
use std::process::Command;
use std::time::{Duration, Instant};

use sha2::{Digest as _, Sha256};
use tribunal::domain::digest::{Scheme, digest, scan};

const VARIANTS: [&str; 5] = ["sha256", "scan", "ours", "python", "theirs"];
/// Input, and how many times faster than the other implementation it is to be.
const INPUTS: [(&str, f64); 5] =
    [("1kb", 1.8), ("results", 2.0), ("sorted", 2.0), ("floats", 1.3), ("keys", 2.0)];

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let megabytes = if arguments.iter().any(|argument| argument == "--quick") { 5 } else { 50 };
    if let Some(at) = arguments.iter().position(|argument| argument == "--child") {
        return child(&arguments[at + 1], &arguments[at + 2], megabytes);
    }
    println!(
        "input     variant      MB/s   peak MB over input   (floats: random doubles; keys: one object, unsorted)"
    );
    for (input, goal) in INPUTS {
        let measured = VARIANTS.map(|variant| measure(variant, input, megabytes));
        for (variant, (rate, peak)) in VARIANTS.iter().zip(measured) {
            println!("{input:9} {variant:9} {rate:8.0} {peak:12.1}");
        }
        let [.., (ours, our_peak), _, (theirs, their_peak)] = measured;
        println!(
            "{input:9} => {:.2}x as fast (goal {goal}x), {:.2} of the memory besides the input\n",
            ours / theirs,
            our_peak / their_peak
        );
    }
}

/// Runs one variant in a child process: MB/s, and the peak in MB beyond what held the input.
fn measure(variant: &str, input: &str, megabytes: usize) -> (f64, f64) {
    let mut command = Command::new(std::env::current_exe().expect("own path"));
    command.args(["--child", variant, input]);
    if megabytes < 50 {
        command.arg("--quick");
    }
    let output = command.output().expect("the child runs");
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    let mut numbers = text.split_whitespace().map(|word| word.parse().expect("a number"));
    (numbers.next().expect("rate"), numbers.next().expect("peak"))
}

fn child(variant: &str, input: &str, megabytes: usize) {
    let text = make(input, megabytes * 1_000_000);
    let before = peak();
    let (rounds, repeat) = if input == "1kb" { (20, 20_000) } else { (3, 1) };
    let mut best = Duration::MAX;
    for _ in 0..rounds {
        let start = Instant::now();
        for _ in 0..repeat {
            run(variant, black_box(&text));
        }
        best = best.min(start.elapsed() / repeat);
    }
    println!("{} {}", text.len() as f64 / 1e6 / best.as_secs_f64(), peak() - before);
}

fn run(variant: &str, text: &str) {
    match variant {
        "sha256" => _ = black_box(Sha256::digest(text)),
        "scan" => scan(text.as_bytes(), 100).expect("valid"),
        "ours" => _ = black_box(digest(Scheme::JcsSha256V1, text.as_bytes()).expect("valid")),
        "python" => _ = black_box(digest(Scheme::PythonSortedJsonV1, text.as_bytes()).expect("valid")),
        _ => {
            let canonical = serde_json_canonicalizer::pipe(text).expect("valid");
            _ = black_box(Sha256::digest(canonical));
        }
    }
}

/// The greatest resident size so far in MB; 0 where the system does not tell.
fn peak() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.split_whitespace().next()?.parse::<f64>().ok()).unwrap_or(0.0) / 1024.0
}

fn make(input: &str, size: usize) -> String {
    let mut state = 1_u64;
    let mut random = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let mut text = String::with_capacity(size + 2000);
    match input {
        "1kb" => result(&mut text, 7, random(), true),
        "floats" => {
            text.push('[');
            while text.len() < size {
                _ = write!(text, "{:?},", f64::from_bits(random() >> 2 | 0x3000_0000_0000_0000));
            }
            text.push_str("0]");
        }
        "keys" => {
            text.push('{');
            while text.len() < size {
                _ = write!(text, "\"k{:016x}\":{},", random(), text.len() % 10);
            }
            text.push_str("\"\":0}");
        }
        kind => {
            text.push_str("{\"run\":\"2026-11-30\",\"results\":[");
            while text.len() < size {
                let id = text.len();
                result(&mut text, id, random(), kind == "results");
                text.push(',');
            }
            text.push_str("{}]}");
        }
    }
    text
}

/// One task result as agents send it, about 1 KB; members as a program would write them, or sorted.
fn result(text: &mut String, id: usize, random: u64, shuffled: bool) {
    let score = (random >> 40) as f64 / 1000.0;
    let words =
        "The quick brown fox jumps over the lazy dog, naïve café; 雨の日。 Line two follows.\\n".repeat(3);
    let mut members = [
        format!("\"attempt\": {}", id % 5),
        format!(
            "\"evidence\": [{{\"digest\": \"sha256:{random:064x}\", \"size\": {}, \"uri\": \"https://example.org/run/{id}/log.txt\"}}]",
            id * 7
        ),
        format!(
            "\"model\": {{\"name\": \"large-model\", \"temperature\": 0.7, \"tokens\": [{}, {}]}}",
            id % 9000,
            id % 777
        ),
        format!("\"score\": {score}"),
        format!(
            "\"status\": \"succeeded\", \"summary\": \"{words}\", \"tags\": [\"nightly\", \"eu-west\", \"retry\"]"
        ),
        format!(
            "\"task_id\": \"task-{id:08}\", \"trace_id\": \"{random:032x}\", \"valid\": true, \"warnings\": null"
        ),
    ];
    if shuffled {
        members.rotate_left(3);
        members.swap(0, 2);
    }
    _ = write!(text, "{{{}}}", members.join(", "));
}
