//! What counts as one message, whichever way it was laid out, and at every size of read.

use super::*;
use std::io::{BufReader, Read};

fn pieces(input: &[u8], limit: usize, buffer: usize) -> (Vec<(u64, String)>, Option<String>) {
    let mut split = Split::new(BufReader::with_capacity(buffer, input), limit);
    let mut found = Vec::new();
    loop {
        match split.next_piece() {
            Ok(Some(p)) => {
                let over = p.whole.map(|w| format!("…{}", w.size)).unwrap_or_default();
                found.push((p.line, format!("{}{over}", String::from_utf8_lossy(&p.raw))));
            }
            Ok(None) => return (found, None),
            Err(e) => return (found, Some(e.to_string())),
        }
    }
}

fn owned(list: &[(u64, &str)]) -> Vec<(u64, String)> {
    list.iter().map(|(line, text)| (*line, (*text).to_owned())).collect()
}

#[test]
fn layouts() {
    let cases: &[(&str, &[(u64, &str)])] = &[
        ("", &[]),
        (" \n\n ", &[]),
        ("{\"a\":1}\n{\"a\":2}\n", &[(1, "{\"a\":1}"), (2, "{\"a\":2}")]),
        ("{\"a\":1}\r\n\r\n{\"a\":2}", &[(1, "{\"a\":1}"), (3, "{\"a\":2}")]),
        ("nonsense\n{\"a\":1}\n", &[(1, "nonsense"), (2, "{\"a\":1}")]),
        ("{\"a\":1\n{\"a\":2}\n", &[(1, "{\"a\":1"), (2, "{\"a\":2}")]),
        ("{\n  \"a\": {\n    \"b\": 1\n  }\n}\n", &[(1, "{\n  \"a\": {\n    \"b\": 1\n  }\n}")]),
        ("{\n \"a\": 1\n}\n{\n \"a\": 2\n}\n", &[(1, "{\n \"a\": 1\n}"), (4, "{\n \"a\": 2\n}")]),
        ("[]", &[]),
        ("[ ]\n", &[]),
        ("[{\"a\":1},{\"a\":2}]", &[(1, "{\"a\":1}"), (1, "{\"a\":2}")]),
        (
            "[\n {\"a\":[1,2]},\n {\"b\":\"],[\\\"\"}\n]\n",
            &[(2, "{\"a\":[1,2]}"), (3, "{\"b\":\"],[\\\"\"}")],
        ),
        ("\u{feff}{\"a\":1}\n", &[(1, "\u{feff}{\"a\":1}")]),
        ("{\"a\":\"}\"}\n{\"b\":1}", &[(1, "{\"a\":\"}\"}"), (2, "{\"b\":1}")]),
    ];
    for (input, expected) in cases {
        for buffer in [1, 2, 3, 7, 4096] {
            assert_eq!(
                pieces(input.as_bytes(), 1000, buffer),
                (owned(expected), None),
                "{input:?} by {buffer}"
            );
        }
    }
}

#[test]
fn an_array_that_is_cut_short_or_followed_says_so() {
    for buffer in [1, 3, 4096] {
        let (found, problem) = pieces(b"[{\"a\":1},", 1000, buffer);
        assert_eq!(found, owned(&[(1, "{\"a\":1}")]));
        assert!(problem.unwrap().contains("does not end"));
        let (found, problem) = pieces(b"[{\"a\":1},{\"b\":", 1000, buffer);
        assert_eq!(found, owned(&[(1, "{\"a\":1}"), (1, "{\"b\":")]));
        assert!(problem.is_some());
        let (found, problem) = pieces(b"[{\"a\":1}]\n\n{\"b\":1}", 1000, buffer);
        assert_eq!(found, owned(&[(1, "{\"a\":1}")]));
        assert!(problem.unwrap().contains("line 3"));
    }
}

#[test]
fn past_the_limit_the_rest_is_counted_and_hashed_and_the_next_line_is_read() {
    let long = "x".repeat(5000);
    let input = format!("{long}\n{{\"a\":1}}\n");
    let mut split = Split::new(BufReader::with_capacity(64, input.as_bytes()), 100);
    let piece = split.next_piece().unwrap().unwrap();
    let whole = piece.whole.unwrap();
    assert_eq!(whole.size, 5001);
    assert_eq!(whole.digest, Digest::of_bytes(format!("{long}\n").as_bytes()));
    assert!(long.as_bytes().starts_with(&piece.raw) && piece.raw.len() <= KEPT);
    assert_eq!(split.next_piece().unwrap().unwrap().raw, b"{\"a\":1}");
    assert_eq!(split.next_piece().unwrap(), None);
    assert_eq!(split.read, input.len() as u64);
}

#[test]
fn exactly_the_limit_is_not_past_it() {
    let exact = format!("\"{}\"", "x".repeat(98));
    let (found, _) = pieces(format!("{exact}\n{exact}\r\n").as_bytes(), 100, 16);
    assert_eq!(found, owned(&[(1, exact.as_str()), (2, exact.as_str())]));
}

#[test]
fn a_hundred_megabytes_on_one_line_leave_a_megabyte() {
    let input = BufReader::new(io::repeat(b'x').take(100 << 20));
    let mut split = Split::new(input, 16 << 20);
    let piece = split.next_piece().unwrap().unwrap();
    assert_eq!(piece.raw.len(), KEPT);
    assert_eq!(piece.whole.unwrap().size, 100 << 20);
}
