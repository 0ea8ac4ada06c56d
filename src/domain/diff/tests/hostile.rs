//! Input made to hurt: depth, size, repetition, look-alike names, and the ways to stop.

use std::cell::RefCell;
use std::fmt::Write;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::model::{parse, patch};
use super::{attempt, diff, shown};
use crate::domain::diff::{Cancel, Diff, DiffError, Kind, Limit, Limits, Phase, Side};

fn nested(depth: usize, core: &str) -> String {
    format!("{}{core}{}", "[".repeat(depth), "]".repeat(depth))
}

#[test]
fn a_hundred_levels_and_not_one_more() {
    let diff = diff(&nested(100, "1"), &nested(100, "2"));
    let row = &diff.rows()[0];
    assert_eq!((row.kind, row.depth, diff.pointer(row)), (Kind::Changed, 100, "/0".repeat(100)));
    let deep = attempt(b"1", nested(101, "").as_bytes());
    assert_eq!(deep.unwrap_err(), DiffError::Invalid { side: Side::B, offset: 100 });
    assert!(attempt("[".repeat(1_000_000).as_bytes(), b"1").is_err());
}

#[test]
fn refuses_with_the_offset() {
    // (text, offset of the first byte that cannot stand there)
    let table: [(&[u8], usize); 22] = [
        (b"", 0),
        (b" ", 1),
        (b"{", 1),
        (b"[1,]", 3),
        (b"{\"a\":1,}", 7),
        (b"{\"a\" 1}", 5),
        (b"{1:1}", 1),
        (b"[1 2]", 3),
        (b"[1}", 2),
        (b"1]", 1),
        (b"01", 1),
        (b"1.", 2),
        (b"-", 1),
        (b"1e", 2),
        (b".5", 0),
        (b"NaN", 0),
        (b"nul", 0),
        (b"\"a", 2),
        (b"\"\t\"", 1),
        (b"\"\\x\"", 1),
        (b"\"\xff\"", 1),
        (b"\xef\xbb\xbf1", 0),
    ];
    for (text, offset) in table {
        let error = attempt(text, b"1").unwrap_err();
        assert_eq!(error, DiffError::Invalid { side: Side::A, offset }, "{}", text.escape_ascii());
    }
    for lone in [r#""\ud800""#, r#""\udc00""#, r#""\ud800\u0041""#, r#""\ud83d😀""#, r#""\u12g4""#] {
        assert!(attempt(lone.as_bytes(), b"1").is_err(), "{lone}");
    }
}

#[test]
fn one_name_twice_is_refused_and_look_alikes_are_not() {
    let twice = attempt(br#"{"a":1,"b":2,"\u0061":3}"#, b"1").unwrap_err();
    assert_eq!(twice, DiffError::Invalid { side: Side::A, offset: 13 });
    assert!(attempt(br#"[{"x":{"":1,"":2}}]"#, b"1").is_err());
    let alike = "{\"a\":1,\"A\":2,\"a \":3,\"\u{430}\":4,\"a\u{200b}\":5,\"\\u0000a\":6,\"\":7}";
    let rows = shown(alike, &alike.replace(":5", ":9"));
    assert_eq!(rows, ["= 6 under ", "changed /a\u{200b} /a\u{200b}: 5 -> 9"]);
}

#[test]
fn many_names_in_another_order() {
    let object = |order: &mut dyn Iterator<Item = u32>| {
        let members: Vec<_> = order.map(|n| format!("\"k{n}\":{}", n % 7)).collect();
        format!("{{{}}}", members.join(","))
    };
    let diff = diff(&object(&mut (0..20_000)), &object(&mut (1..20_001).rev()));
    let kinds: Vec<_> = diff.rows().iter().map(|row| (row.kind, row.fold, diff.pointer(row))).collect();
    let expected = [
        (Kind::Equal, 19_999, String::new()),
        (Kind::Added, 0, "/k20000".to_owned()),
        (Kind::Removed, 0, "/k0".to_owned()),
    ];
    assert_eq!(kinds, expected);
    assert!(diff.spellings().order);
}

#[test]
fn one_element_against_a_hundred_thousand() {
    let many: Vec<_> = (0..100_000).map(|n| n.to_string()).collect();
    let many = format!("[{}]", many.join(","));
    let found = diff("[70000]", &many);
    assert_eq!(found.counts().added, 99_999);
    assert_eq!(found.counts().changed, 0);
    let found = diff(&many, "[-5]");
    assert_eq!((found.counts().changed, found.counts().removed), (1, 99_999));
}

#[test]
fn one_insertion_among_repeated_elements_is_one_row() {
    // Nothing here occurs once, so there is no anchor.
    let list: Vec<_> = (0u64..60_000).map(|n| (n * n % 97 % 10).to_string()).collect();
    let a = format!("[{}]", list.join(","));
    let mut longer = list;
    longer.insert(30_000, "3".to_owned());
    longer.insert(0, "4".to_owned());
    let b = format!("[{}]", longer.join(","));
    let diff = diff(&a, &b);
    assert_eq!(diff.counts().added, 2);
    assert_eq!(diff.differences().len(), 2);
    assert_eq!(patch(&a, &diff), parse(&b));
}

#[test]
fn rising_runs_do_not_exhaust_the_stack() {
    // The longest common run stands last in every rest: the worst order for a histogram that recurses leftwards.
    let (mut a, mut b, mut next) = (String::from("["), String::from("["), 0u32);
    for length in 1..350 {
        for _ in 0..length {
            write!(a, "{next},").unwrap();
            write!(b, "{next},").unwrap();
            next += 1;
        }
        write!(a, "\"a{length}\",").unwrap();
        write!(b, "\"b{length}\",\"c{length}\",").unwrap();
    }
    let (a, b) = (format!("{a}0]"), format!("{b}0]"));
    let small = std::thread::Builder::new().stack_size(512 * 1024);
    let counts = small.spawn(move || diff(&a, &b).counts()).unwrap().join().unwrap();
    assert_eq!((counts.changed, counts.added), (349, 349));
}

/// Stops at one of the times it is asked in one phase, and remembers every time it was asked.
struct StopAt {
    phase: Phase,
    nth: usize,
    asked: RefCell<Vec<Phase>>,
}

impl Cancel for StopAt {
    fn is_cancelled(&self, phase: Phase) -> bool {
        self.asked.borrow_mut().push(phase);
        phase == self.phase && self.asked.borrow().iter().filter(|own| **own == phase).count() == self.nth
    }
}

/// Two texts of which every phase takes long: lists with nothing in common at their ends, objects, rows.
fn laborious() -> (Arc<[u8]>, Arc<[u8]>) {
    let text = |odd: usize| {
        let elements: Vec<String> =
            (0..6000).map(|n| format!("[{}]", n * 7 % 5000 + odd * (n % 3))).collect();
        let members: Vec<String> = (0..6000).map(|n| format!("\"{}\":{odd}", n * (odd + 1))).collect();
        Arc::from(format!("{{\"l\":[{}],\"o\":{{{}}}}}", elements.join(","), members.join(",")).into_bytes())
    };
    (text(0), text(1))
}

#[test]
fn stops_in_every_phase_at_once_when_asked() {
    let (a, b) = laborious();
    let run = |stop: &StopAt| Diff::new(a.clone(), b.clone(), stop, Limits::default());
    let stop = |phase, nth| StopAt { phase, nth, asked: RefCell::default() };
    let never = stop(Phase::Parse, usize::MAX);
    run(&never).unwrap();
    let asked = never.asked.into_inner();
    // Of 48,000 tokens each 4096th asks, of 24,000 elements and members each 1024th.
    for (phase, least) in [(Phase::Parse, 8), (Phase::Gather, 10), (Phase::Align, 1), (Phase::Walk, 5)] {
        let times = asked.iter().filter(|own| **own == phase).count();
        assert!(times >= least, "{phase:?} asked {times} times");
        for nth in [1, times] {
            let stop = stop(phase, nth);
            assert_eq!(run(&stop).unwrap_err(), DiffError::Cancelled, "{phase:?} {nth}");
            // It was not asked again: nothing was done after it said so.
            assert_eq!(stop.asked.into_inner().last(), Some(&phase));
        }
    }
}

#[test]
fn every_limit_is_named() {
    let wide = Limits::default();
    let table = [
        (Limits { bytes: 6, ..wide }, Limit::Bytes),
        (Limits { containers: 1, ..wide }, Limit::Containers),
        (Limits { items: 1, ..wide }, Limit::Items),
        (Limits { rows: 1, ..wide }, Limit::Rows),
    ];
    for (limits, limit) in table {
        let (a, b) = (Arc::from(b"[[1],2]".as_slice()), Arc::from(b"[[3],4]".as_slice()));
        let error = Diff::new(a, b, &AtomicBool::new(false), limits).unwrap_err();
        assert_eq!(error, DiffError::TooLarge { limit });
    }
}
