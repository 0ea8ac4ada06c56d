//! Measures admission through the SQLite store against raw INSERTs of the same bytes (and of the rows that it keeps of
//! them, which is the most that any deciding of its own could reach), and pages and cases, in one run.
//!
//! `cargo bench --bench admission -- [--quick] [--stored N] [--tasks N] [--dir DIR]`. `--stored` admits that many
//! envelopes first, `--tasks` that many further tasks; both through the store itself. Envelopes are 1 KB, five to a
//! task, 2 % exact repeats, 1 % other contents under the same key; they are read and digested inside the measured time.
#![expect(clippy::print_stdout, reason = "a benchmark reports on standard output")]
#![expect(clippy::indexing_slicing, reason = "a benchmark may fail")]
#![expect(clippy::unwrap_used, reason = "a benchmark may fail")]

use serde_json::json;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tribunal::domain::actor::Principal;
use tribunal::domain::command::{Admit, BadMessage, Command, Request};
use tribunal::domain::digest::{Scheme, digest};
use tribunal::domain::envelope::{Limits, parse};
use tribunal::domain::ids::{TaskId, Timestamp};
use tribunal::domain::query::Query;
use tribunal::store::sqlite::{Options, SqliteStore};
use tribunal::store::{Order, PageRequest, Scope, Store};

const NOW: Timestamp = Timestamp(1_796_040_000_000);
const CLIENTS: usize = 64;

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let value = |name: &str| arguments.iter().position(|a| a == name).and_then(|at| arguments.get(at + 1));
    let number = |name: &str| value(name).map_or(0, |n| n.parse().unwrap());
    let quick = arguments.iter().any(|a| a == "--quick");
    let dir = value("--dir").map_or_else(std::env::temp_dir, Into::into);
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let place = dir.join(format!("tribunal-bench-{}", std::process::id()));
    runtime.block_on(measure(&place, number("--stored"), number("--tasks"), quick));
    std::fs::remove_dir_all(&place).unwrap();
}

async fn measure(place: &Path, stored: usize, tasks: usize, quick: bool) {
    let store = SqliteStore::open(&place.join("store.db"), Options::new(place.join("state"))).unwrap();
    let store = Arc::new(store);
    let mut source = Source::new(1);
    fill(&store, &mut source, stored, tasks).await;
    let n = if quick { 10_000 } else { 40_000 };
    println!("{stored} envelopes and {tasks} further tasks stored; {n} envelopes per measurement");
    println!("                       envelopes/s    of raw    CPU us    of raw    p50 ms    p99 ms");
    let messages = Source::new(2).envelopes(n);
    let start = Start::now();
    insert_raw(&place.join("raw.db"), &messages);
    let raw = start.took(n);
    report("raw INSERT, by 1,000", raw, raw, &[]);
    let messages = source.envelopes(n);
    let start = Start::now();
    batches(&store, messages).await;
    report("batches of 1,000", start.took(n), raw, &[]);
    let rows = Rows::of_last(&place.join("store.db"), n / 5);
    let start = Start::now();
    rows.insert(&place.join("rows.db"));
    report("its rows, by 1,000", start.took(rows.messages), raw, &[]);
    for (name, count, n) in [("64 clients", CLIENTS, n), ("1 client", 1, n / 20)] {
        let messages = source.envelopes(n);
        let start = Start::now();
        let times = clients(&store, messages, count).await;
        report(name, start.took(n), raw, &times);
    }
    reads(&store, &source, if quick { 200 } else { 1000 }).await;
}

/// Envelopes a second, and microseconds of processor time for one, all threads together.
#[derive(Clone, Copy)]
struct Rate {
    per_second: f64,
    cpu: f64,
}

struct Start(Instant, f64);

impl Start {
    fn now() -> Self {
        Start(Instant::now(), cpu_seconds())
    }

    fn took(&self, n: usize) -> Rate {
        let n = n as f64;
        Rate { per_second: n / self.0.elapsed().as_secs_f64(), cpu: (cpu_seconds() - self.1) * 1e6 / n }
    }
}

/// Processor time of this process so far, on Linux, in ticks of 10 ms; elsewhere 0.
fn cpu_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
    fields.skip(11).take(2).filter_map(|ticks| ticks.parse::<f64>().ok()).sum::<f64>() / 100.0
}

fn report(name: &str, rate: Rate, raw: Rate, times: &[Duration]) {
    let (speed, cost) = (rate.per_second / raw.per_second, rate.cpu / raw.cpu);
    print!("{name:22} {:11.0} {speed:9.2} {:9.0} {cost:9.1}", rate.per_second, rate.cpu);
    match times {
        [] => println!(),
        _ => println!(" {:9.2} {:9.2}", quantile(times, 0.5), quantile(times, 0.99)),
    }
}

fn quantile(sorted: &[Duration], q: f64) -> f64 {
    sorted[((sorted.len() - 1) as f64 * q) as usize].as_secs_f64() * 1e3
}

async fn fill(store: &SqliteStore, source: &mut Source, stored: usize, tasks: usize) {
    for at in (0..stored).step_by(2000) {
        let batch = source.envelopes(2000.min(stored - at));
        store.submit(batch.into_iter().map(|(_, raw)| admit(raw)).collect()).await.unwrap();
    }
    for at in (0..tasks).step_by(2000) {
        let batch = (0..2000.min(tasks - at)).map(|_| admit(source.request().1)).collect();
        store.submit(batch).await.unwrap();
    }
}

fn admit(raw: Vec<u8>) -> Request {
    let raw: Arc<[u8]> = raw.into();
    let message =
        parse(raw.clone(), &Limits::default(), Scheme::default()).map_err(|fault| BadMessage { raw, fault });
    let admit = Admit { message, source: "bench".into(), readmits: None };
    Request { command: Command::Admit(Box::new(admit)), principal: Principal::local_worker(), now: NOW }
}

/// The same bytes into one table, prepared, 1,000 to a commit, as durable.
fn insert_raw(path: &Path, envelopes: &[(usize, Vec<u8>)]) {
    let conn = rusqlite::Connection::open(path).unwrap();
    conn.execute_batch("PRAGMA journal_mode = wal; PRAGMA synchronous = FULL; CREATE TABLE t(id INTEGER PRIMARY KEY, body BLOB)")
        .unwrap();
    for batch in envelopes.chunks(1000) {
        conn.execute_batch("BEGIN IMMEDIATE").unwrap();
        let mut insert = conn.prepare_cached("INSERT INTO t(body) VALUES (?1)").unwrap();
        for (_, raw) in batch {
            insert.execute([raw]).unwrap();
        }
        conn.execute_batch("COMMIT").unwrap();
    }
}

/// What the store keeps of some tasks, every row of every table as it is at the end.
struct Rows {
    messages: usize,
    tables: Vec<(String, Vec<Vec<rusqlite::types::Value>>)>,
}

impl Rows {
    /// Those of the tasks that began last.
    fn of_last(store: &Path, tasks: usize) -> Self {
        let conn = rusqlite::Connection::open(store).unwrap();
        let number = |sql: &str| conn.query_row(sql, [], |r| r.get::<_, i64>(0)).unwrap();
        let first = number("SELECT max(id) FROM task") - tasks as i64;
        let messages = number(&format!(
            "SELECT count(*) FROM event WHERE item > {first} AND json_extract(body, '$.event') = 'delivered'"
        ));
        let mut tables = Vec::new();
        for (table, key) in [
            ("event", "item"),
            ("thread", "item"),
            ("task", "id"),
            ("snapshot", "id"),
            ("words", "item"),
            ("docket", "item"),
            ("mark", "task"),
        ] {
            let mut find = conn.prepare(&format!("SELECT * FROM {table} WHERE {key} > {first}")).unwrap();
            let columns = find.column_count();
            let row = |r: &rusqlite::Row<'_>| (0..columns).map(|at| r.get(at)).collect();
            let rows = find.query_map([], row).unwrap().map(Result::unwrap).collect();
            let marks = vec!["?"; columns].join(", ");
            tables.push((format!("INSERT INTO {table} VALUES ({marks})"), rows));
        }
        Rows { messages: messages as usize, tables }
    }

    /// The same rows into the same tables, nothing decided and nothing written twice, 1,000 messages to a commit.
    fn insert(&self, path: &Path) {
        let conn = rusqlite::Connection::open(path).unwrap();
        conn.execute_batch("PRAGMA journal_mode = wal; PRAGMA synchronous = FULL").unwrap();
        conn.execute_batch(include_str!("../src/store/migrations/sqlite/0001_begin.sql")).unwrap();
        let batches = self.messages.div_ceil(1000);
        for batch in 0..batches {
            conn.execute_batch("BEGIN IMMEDIATE").unwrap();
            for (sql, rows) in &self.tables {
                let mut insert = conn.prepare_cached(sql).unwrap();
                for row in &rows[rows.len() * batch / batches..rows.len() * (batch + 1) / batches] {
                    insert.execute(rusqlite::params_from_iter(row)).unwrap();
                }
            }
            conn.execute_batch("COMMIT").unwrap();
        }
    }
}

async fn batches(store: &SqliteStore, envelopes: Vec<(usize, Vec<u8>)>) {
    let n = envelopes.len();
    let mut rest = envelopes.into_iter().map(|(_, raw)| raw);
    for _ in 0..n.div_ceil(1000) {
        let batch: Vec<Request> = rest.by_ref().take(1000).map(admit).collect();
        for answer in store.submit(batch).await.unwrap() {
            answer.unwrap();
        }
    }
}

/// Each client sends the messages of its own tasks, one after another.
async fn clients(store: &Arc<SqliteStore>, envelopes: Vec<(usize, Vec<u8>)>, count: usize) -> Vec<Duration> {
    let mut shares: Vec<Vec<Vec<u8>>> = vec![Vec::new(); count];
    for (task, raw) in envelopes {
        shares[task % count].push(raw);
    }
    let mut all = tokio::task::JoinSet::new();
    for share in shares {
        let store = Arc::clone(store);
        all.spawn(async move {
            let mut times = Vec::with_capacity(share.len());
            for raw in share {
                let sent = Instant::now();
                store.submit(vec![admit(raw)]).await.unwrap().remove(0).unwrap();
                times.push(sent.elapsed());
            }
            times
        });
    }
    let mut times = all.join_all().await.concat();
    times.sort_unstable();
    times
}

async fn reads(store: &SqliteStore, source: &Source, rounds: usize) {
    // Two hours later every quiet task waits for a person.
    let mut request = PageRequest {
        scope: Scope::Waiting,
        query: Query::default(),
        order: Order::default(),
        after: None,
        backwards: false,
        limit: 50,
        now: NOW.plus(7_200_000),
        me: "wolf".into(),
    };
    println!("                            p50 ms    p99 ms");
    let (mut first, mut next, mut last, mut case, mut tallies) = (vec![], vec![], vec![], vec![], vec![]);
    for round in 0..rounds {
        (request.after, request.backwards) = (None, false);
        first.push(timed(store.page(&request)).await.1);
        (request.after, request.backwards) = (None, true);
        let (page, took) = timed(store.page(&request)).await;
        last.push(took);
        request.after = page.unwrap().rows.first().map(|r| r.cursor.clone());
        next.push(timed(store.page(&request)).await.1);
        let id = TaskId(source.known[round * 7919 % source.known.len()].clone());
        let load = async {
            store.task(&id).await.unwrap().unwrap();
            store.submissions(&id, 0, 100).await.unwrap();
            store.events(&id, 0, 100).await.unwrap();
        };
        case.push(timed(load).await.1);
        if round % 10 == 0 {
            tallies.push(timed(store.tallies(request.now)).await.1);
        }
    }
    for (name, mut times) in [
        ("page, first", first),
        ("page, last", last),
        ("page, next", next),
        ("case", case),
        ("tallies", tallies),
    ] {
        times.sort_unstable();
        println!("{name:24} {:9.2} {:9.2}", quantile(&times, 0.5), quantile(&times, 0.99));
    }
}

async fn timed<T>(work: impl Future<Output = T>) -> (T, Duration) {
    let start = Instant::now();
    let done = work.await;
    (done, start.elapsed())
}

/// Makes envelopes: a thousand tasks under way, five messages each.
struct Source {
    random: u64,
    flight: Vec<(usize, String, usize, Vec<u8>)>,
    tasks: usize,
    known: Vec<String>,
}

impl Source {
    fn new(seed: u64) -> Self {
        Source { random: seed, flight: Vec::new(), tasks: 0, known: Vec::new() }
    }

    fn next(&mut self) -> u64 {
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.random;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn request(&mut self) -> (String, Vec<u8>) {
        let task = format!("{:016x}{:016x}", self.next(), self.next());
        let raw = self.message(&task, 0, 0);
        self.known.push(task.clone());
        self.tasks += 1;
        (task, raw)
    }

    fn envelopes(&mut self, n: usize) -> Vec<(usize, Vec<u8>)> {
        (0..n).map(|_| self.envelope()).collect()
    }

    fn envelope(&mut self) -> (usize, Vec<u8>) {
        if self.flight.len() < 1000 {
            let (task, raw) = self.request();
            let number = self.tasks;
            self.flight.push((number, task, 1, raw.clone()));
            return (number, raw);
        }
        let (at, luck) = (self.next() as usize % self.flight.len(), self.next() % 100);
        let (number, task, sent, last) = self.flight[at].clone();
        if luck < 2 {
            return (number, last);
        }
        if luck < 3 {
            return (number, self.message(&task, sent - 1, 1));
        }
        let raw = self.message(&task, sent, 0);
        if sent == 4 {
            self.flight.swap_remove(at);
        } else {
            self.flight[at] = (number, task, sent + 1, raw.clone());
        }
        (number, raw)
    }

    fn message(&mut self, task: &str, step: usize, other: u64) -> Vec<u8> {
        let kind = ["task_request", "task_progress", "task_progress", "task_progress", "task_result"][step];
        let text = format!("{:016x}", self.next()).repeat(20);
        let payload = json!({"goal": format!("step {step} of {}", &task[..8]), "text": text, "other": other, "score": 0.25});
        let digest = digest(Scheme::default(), &serde_json::to_vec(&payload).unwrap()).unwrap();
        let raw = json!({
            "message_id": format!("{task}-{step}-{other}"), "trace_id": &task[..12], "task_id": task, "sender": "agent-a",
            "recipient": "coordinator", "type": kind, "schema_version": "1", "created_at": "2026-11-30T11:59:00Z",
            "idempotency_key": format!("step-{step}"), "payload_digest": digest, "payload": payload,
            "evidence_refs": [format!("https://example.org/run/{task}/{step}.log")]
        });
        serde_json::to_vec(&raw).unwrap()
    }
}
