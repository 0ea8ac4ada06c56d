//! The digest schemes against outside references: the vectors, RFC 8785, CPython and another implementation.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test that fails should stop")]
#![expect(clippy::print_stderr, reason = "a comparison left out must be seen")]

#[path = "digest/generate.rs"]
mod generate;
#[path = "digest/properties.rs"]
mod properties;
#[path = "digest/python.rs"]
mod python;

use std::process::Command;

use serde_json::{Value, json};
use tribunal::domain::digest::{
    Digest, MAX_DEPTH, Problem, Rejection, Scheme, canonical, digest, elements, jcs_bytes_of, jcs_of,
    members, scan,
};

const JSON_SCHEMES: [Scheme; 3] =
    [Scheme::JcsSha256V1, Scheme::PythonSortedJsonV1, Scheme::PythonSortedJsonCompactV1];

fn jcs(text: &str) -> String {
    String::from_utf8(canonical(Scheme::JcsSha256V1, text.as_bytes()).unwrap()).unwrap()
}

fn problem(scheme: Scheme, text: &[u8]) -> Option<(Problem, usize)> {
    let rejection = digest(scheme, text).err();
    assert_eq!(rejection, canonical(scheme, text).err(), "both ways refuse alike");
    rejection.map(|Rejection { problem, offset }| (problem, offset))
}

fn base64(text: &str) -> Vec<u8> {
    const ALPHABET: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let (mut bytes, mut bits, mut held) = (Vec::new(), 0_u32, 0);
    for char in text.trim_end_matches('=').chars() {
        bits = bits << 6 | ALPHABET.find(char).unwrap() as u32;
        held += 6;
        if held >= 8 {
            held -= 8;
            bytes.push((bits >> held) as u8);
        }
    }
    bytes
}

#[test]
fn every_vector_under_every_scheme() {
    let vectors: Value = serde_json::from_str(include_str!("data/digest-vectors/vectors.json")).unwrap();
    let vectors = vectors.as_array().unwrap();
    assert_eq!(vectors.len(), 360);
    let mut wrong = Vec::new();
    for vector in vectors {
        let input = base64(vector["input_b64"].as_str().unwrap());
        for (name, expected) in vector["expect"].as_object().unwrap() {
            let scheme = Scheme::parse(name).unwrap();
            let got = match (digest(scheme, &input), canonical(scheme, &input)) {
                (Err(rejection), Err(_)) => json!({"reject": rejection.problem.code()}),
                (Ok(digest), Ok(_)) if scheme == Scheme::RawSha256V1 => json!({"sha256": digest.hex()}),
                (Ok(digest), Ok(bytes)) => {
                    assert_eq!(digest, Digest::of_bytes(&bytes));
                    // The vectors leave out canonical forms that are very long.
                    let shown = !expected["canonical"].is_null();
                    let canonical = shown.then(|| String::from_utf8(bytes).unwrap());
                    json!({"sha256": digest.hex(), "canonical": canonical})
                }
                (digest, canonical) => json!(format!("{digest:?} but {canonical:?}")),
            };
            if got != *expected {
                wrong.push(format!("{} {name}: {got:.300} instead of {expected:.300}", vector["id"]));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// RFC 8785, appendix B: the bits of a double and its only spelling.
#[test]
fn numbers_of_rfc_8785_appendix_b() {
    let table: [(u64, &str); 24] = [
        (0x0000000000000000, "0"),
        (0x8000000000000000, "0"),
        (0x0000000000000001, "5e-324"),
        (0x8000000000000001, "-5e-324"),
        (0x7fefffffffffffff, "1.7976931348623157e+308"),
        (0xffefffffffffffff, "-1.7976931348623157e+308"),
        (0x4340000000000000, "9007199254740992"),
        (0xc340000000000000, "-9007199254740992"),
        (0x4430000000000000, "295147905179352830000"),
        (0x44b52d02c7e14af5, "9.999999999999997e+22"),
        (0x44b52d02c7e14af6, "1e+23"),
        (0x44b52d02c7e14af7, "1.0000000000000001e+23"),
        (0x444b1ae4d6e2ef4e, "999999999999999700000"),
        (0x444b1ae4d6e2ef4f, "999999999999999900000"),
        (0x444b1ae4d6e2ef50, "1e+21"),
        (0x3eb0c6f7a0b5ed8c, "9.999999999999997e-7"),
        (0x3eb0c6f7a0b5ed8d, "0.000001"),
        (0x41b3de4355555553, "333333333.3333332"),
        (0x41b3de4355555554, "333333333.33333325"),
        (0x41b3de4355555555, "333333333.3333333"),
        (0x41b3de4355555556, "333333333.3333334"),
        (0x41b3de4355555557, "333333333.33333343"),
        (0xbecbf647612f3696, "-0.0000033333333333333333"),
        (0x43143ff3c1cb0959, "1424953923781206.2"),
    ];
    for (bits, expected) in table {
        let value = f64::from_bits(bits);
        assert_eq!(jcs(&format!("{value:e}")), expected, "{bits:x}");
        assert_eq!(jcs(expected), expected);
    }
}

#[test]
fn example_of_rfc_8785_section_3_2_2() {
    let input = r#"{
      "numbers": [333333333.33333329, 1E30, 4.50,
                  2e-3, 0.000000000000000000000000001],
      "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
      "literals": [null, true, false]
    }"#;
    let expected = r#"{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"#
        .to_owned()
        + r#""string":"€$\u000f\nA'B\"\\\\\"/"}"#;
    assert_eq!(jcs(input), expected);
}

#[test]
fn sorting_of_rfc_8785_section_3_2_3() {
    let input = r#"{"\u20ac": "Euro Sign", "\r": "Carriage Return", "\ufb33": "Hebrew Letter Dalet With Dagesh",
        "1": "One", "\ud83d\ude00": "Emoji: Grinning Face", "\u0080": "Control",
        "\u00f6": "Latin Small Letter O With Diaeresis"}"#;
    let order = ["Carriage", "One", "Control", "Latin", "Euro", "Emoji", "Hebrew"];
    let output = jcs(input);
    let places: Vec<_> = order.iter().map(|word| output.find(word).unwrap()).collect();
    assert!(places.is_sorted(), "{output}");
    let raw: Value = serde_json::from_str(input).unwrap();
    assert_eq!(jcs(&raw.to_string()), output, "sorted alike without escapes");
    let python = canonical(Scheme::PythonSortedJsonV1, input.as_bytes()).unwrap();
    let python = String::from_utf8(python).unwrap();
    assert!(python.find("Hebrew") < python.find("Emoji"), "code points put the astral plane last");
}

#[test]
fn objects_out_of_order_inside_each_other() {
    let input = r#" { "b" : [ {"z":1 , "y":{"d":1,"c":[{"q":1,"p":2}]}}, {"a":{},"b":2} ] , "a" : {"l":0,"k":1}, "c":{"n":{"s":1,"r":2},"m":3} } "#;
    let expected = r#"{"a":{"k":1,"l":0},"b":[{"y":{"c":[{"p":2,"q":1}],"d":1},"z":1},{"a":{},"b":2}],"c":{"m":3,"n":{"r":2,"s":1}}}"#;
    assert_eq!(jcs(input), expected);
    let spaced = canonical(Scheme::PythonSortedJsonV1, input.as_bytes()).unwrap();
    let expected: String = expected.replace(',', ", ").replace(':', ": ");
    assert_eq!(String::from_utf8(spaced).unwrap(), expected);
}

/// Fault 37.
#[test]
fn deep_nesting() {
    let million = 1_000_000;
    for (open, close) in [("[", "]"), ("{\"a\":", "}"), ("[{\"a\":", "}]")] {
        let deep = format!("{}0{}", open.repeat(million), close.repeat(million));
        let per_level = open.len() / open.matches(['[', '{']).count();
        let rejection = scan(deep.as_bytes(), MAX_DEPTH).unwrap_err();
        assert_eq!(rejection.problem, Problem::Depth);
        assert!(rejection.offset.abs_diff(100 * per_level) <= per_level);
        for scheme in JSON_SCHEMES {
            assert_eq!(digest(scheme, deep.as_bytes()), Err(rejection));
        }
        let unknown = format!("{{\"known\":1,\"unknown\":{deep}}}");
        assert_eq!(members(unknown.as_bytes(), MAX_DEPTH).unwrap_err().problem, Problem::Depth);
        assert_eq!(elements(deep.as_bytes(), MAX_DEPTH).unwrap_err().problem, Problem::Depth);
        assert_eq!(scan(deep.as_bytes(), usize::MAX), Ok(()), "no recursion, whatever the limit");
    }
    let at_limit = format!("{}{}", "[".repeat(100), "]".repeat(100));
    assert_eq!(scan(at_limit.as_bytes(), 100), Ok(()));
    assert_eq!(scan(at_limit.as_bytes(), 99), Err(Rejection { problem: Problem::Depth, offset: 99 }));
    assert_eq!(scan(b"1", 0), Ok(()));
    assert_eq!(scan(b"[]", 0).unwrap_err().problem, Problem::Depth);
}

/// Fault 38.
#[test]
fn duplicate_keys() {
    let cases = [
        (r#"{"a":1,"a":1}"#, 7),
        (r#"{"a":1,"\u0061":2}"#, 7),
        (r#"{"\u0061":1,"b":2,"a":3}"#, 18),
        (r#"{"b":1,"a":2,"b":3}"#, 13),
        (r#"{"c":1,"b":1,"b":2,"a":3,"a":4,"c":5}"#, 13),
        (r#"[[{"x":{"":1,"":2}}]]"#, 13),
        (r#"{"":{},"":{}}"#, 7),
        (r#"{"é":1,"\u00e9":2}"#, 8),
        (r#"{"😀":1,"\ud83d\ude00":2}"#, 10),
    ];
    for (text, offset) in cases {
        for scheme in JSON_SCHEMES {
            assert_eq!(problem(scheme, text.as_bytes()), Some((Problem::DuplicateKey, offset)), "{text}");
        }
        let expected = Rejection { problem: Problem::DuplicateKey, offset };
        assert_eq!(scan(text.as_bytes(), MAX_DEPTH), Err(expected));
        assert_eq!(members(text.as_bytes(), MAX_DEPTH), Err(expected));
        assert!(digest(Scheme::RawSha256V1, text.as_bytes()).is_ok());
    }
    assert_eq!(jcs(r#"[{"a":1},{"a":{"a":2}}]"#), r#"[{"a":1},{"a":{"a":2}}]"#);
    assert_eq!(
        jcs("{\"\u{e9}\":1,\"e\u{301}\":2}"),
        "{\"e\u{301}\":2,\"\u{e9}\":1}",
        "no Unicode normalization"
    );
}

/// Fault 39.
#[test]
fn integer_precision() {
    let refused = [
        ("9007199254740993", Problem::Precision),
        ("-9007199254740993", Problem::Precision),
        ("9223372036854775807", Problem::Precision),
        ("18446744073709551616", Problem::Precision),
        ("1152921504606846976", Problem::Precision),
        ("3.14159265358979323846264338327950", Problem::Precision),
        ("0.1000000000000000055511151231257827", Problem::Precision),
        ("1e400", Problem::Overflow),
        ("-1.8e308", Problem::Overflow),
        ("1e99999999999999999999999", Problem::Overflow),
        ("1e-400", Problem::Underflow),
        ("-2e-324", Problem::Underflow),
        ("1e-99999999999999999999999", Problem::Underflow),
    ];
    for (literal, expected) in refused {
        let text = format!("[0, {literal}]");
        assert_eq!(problem(Scheme::JcsSha256V1, text.as_bytes()), Some((expected, 4)), "{literal}");
        assert_eq!(digest(Scheme::RawSha256V1, text.as_bytes()), Ok(Digest::of_bytes(text.as_bytes())));
    }
    let printed = [
        ("9007199254740992", "9007199254740992"),
        ("9007199254740994", "9007199254740994"),
        ("1e17", "100000000000000000"),
        ("100000000000000000", "100000000000000000"),
        ("0.10000000000000001", "0.1"),
        ("-0", "0"),
        ("-0.0e5", "0"),
        ("0e999999999999", "0"),
        ("1E2", "100"),
        ("0.00000100", "0.000001"),
        ("0.0000001", "1e-7"),
        ("1.50", "1.5"),
        ("5e-324", "5e-324"),
    ];
    for (literal, expected) in printed {
        assert_eq!(jcs(literal), expected);
    }
    let long = format!("0.{}1e{}", "0".repeat(5000), 5001);
    assert_eq!(jcs(&long), "1", "exponent and zeros may cancel out");
    let python = |text: &str| canonical(Scheme::PythonSortedJsonV1, text.as_bytes());
    assert_eq!(python("18446744073709551616").unwrap(), b"18446744073709551616");
    assert_eq!(python("-0").unwrap(), b"0");
    assert_eq!(python("-0.0").unwrap(), b"-0.0");
    assert_eq!(python("1e-400").unwrap(), b"0.0");
    assert_eq!(python("1E400").unwrap_err().problem, Problem::Overflow);
    assert_eq!(python(&"9".repeat(4300)).unwrap().len(), 4300);
    assert_eq!(python(&format!("-{}", "9".repeat(4301))).unwrap_err().problem, Problem::IntegerRange);
}

/// Fault 40.
#[test]
fn malformed_json() {
    let sample = "{\"ключ\": [1, -2.5e+10, \"a\\u00e9\\ud83d\\ude00\\n😀\", true, false, null, {}], \"b\": {\"a\": []}}";
    assert_eq!(scan(sample.as_bytes(), MAX_DEPTH), Ok(()));
    for end in 0..sample.len() {
        let cut = sample.as_bytes().get(..end).unwrap();
        let rejection = scan(cut, MAX_DEPTH).unwrap_err();
        assert!(rejection.offset <= end);
        for scheme in JSON_SCHEMES {
            assert_eq!(digest(scheme, cut), Err(rejection));
        }
        assert_eq!(members(cut, MAX_DEPTH).unwrap_err(), rejection);
    }
    let cases: [(&[u8], Problem, usize); 22] = [
        (b"", Problem::Syntax, 0),
        (b" \n", Problem::Syntax, 2),
        (b"\xef\xbb\xbf{}", Problem::Syntax, 0),
        (b"\xff\xfe[\0]\0", Problem::Utf8, 0),
        (b"[1]\0", Problem::Syntax, 3),
        (b"\"a\0b\"", Problem::Syntax, 2),
        (b"\"a\tb\"", Problem::Syntax, 2),
        (b"\"\xc0\xaf\"", Problem::Utf8, 1),
        (b"[\"ok\", \"\xed\xa0\x80\"]", Problem::Utf8, 8),
        (br#""\ud800""#, Problem::LoneSurrogate, 1),
        (br#""ab\udc00""#, Problem::LoneSurrogate, 3),
        (br#"{"\ud800x":1}"#, Problem::LoneSurrogate, 2),
        (br#""\ud83d\ud83d""#, Problem::LoneSurrogate, 1),
        (br#""\u12g4""#, Problem::Syntax, 1),
        (br#""\x41""#, Problem::Syntax, 1),
        (b"[01]", Problem::Syntax, 2),
        (b"[1.]", Problem::Syntax, 3),
        (b"[1,]", Problem::Syntax, 3),
        (b"[NaN]", Problem::Syntax, 1),
        (b"[1}", Problem::Syntax, 2),
        (b"{\"a\":1]", Problem::Syntax, 6),
        (b"1\x0c", Problem::Syntax, 1),
    ];
    for (text, expected, offset) in cases {
        let shown = String::from_utf8_lossy(text);
        assert_eq!(scan(text, MAX_DEPTH), Err(Rejection { problem: expected, offset }), "{shown}");
        assert!(members(text, MAX_DEPTH).is_err() && elements(text, MAX_DEPTH).is_err());
        for scheme in JSON_SCHEMES {
            assert_eq!(problem(scheme, text), Some((expected, offset)), "{shown}");
        }
    }
    assert_eq!(jcs("\"a\\u0000b\""), "\"a\\u0000b\"", "an escaped NUL is valid JSON");
    let shown = scan(b"[1,]", MAX_DEPTH).unwrap_err().to_string();
    assert_eq!(shown, "syntax at byte 3: the text is not JSON here");
}

#[test]
fn children_are_the_exact_bytes_sent() {
    let text = br#" { "a" : 1.0 , "p\u0061yload":{ "x" : [ 1 ] } ,"s":"\u0041" , "":null } "#;
    let found = members(text, MAX_DEPTH).unwrap().unwrap();
    let shown: Vec<(&str, usize, &[u8])> =
        found.iter().map(|m| (&*m.key, m.key_offset, &text[m.value.clone()])).collect();
    let expected: [(&str, usize, &[u8]); 4] = [
        ("a", 3, b"1.0"),
        ("payload", 15, br#"{ "x" : [ 1 ] }"#),
        ("s", 47, br#""\u0041""#),
        ("", 62, b"null"),
    ];
    assert_eq!(shown, expected);
    assert_eq!(elements(text, MAX_DEPTH), Ok(None));
    let text = b"\n[ 1 , [2,[3]],{ } ,\"x\" ]";
    let found = elements(text, MAX_DEPTH).unwrap().unwrap();
    let shown: Vec<&[u8]> = found.into_iter().map(|range| &text[range]).collect();
    let expected: [&[u8]; 4] = [b"1", b"[2,[3]]", b"{ }", b"\"x\""];
    assert_eq!(shown, expected);
    assert_eq!(members(text, MAX_DEPTH), Ok(None));
    assert_eq!(members(b"{}", MAX_DEPTH), Ok(Some(vec![])));
    assert_eq!(elements(b" [ ] ", MAX_DEPTH), Ok(Some(vec![])));
    assert_eq!(members(b"\"{\"", MAX_DEPTH), Ok(None));
}

#[test]
fn our_own_values_are_digested_like_the_text_they_print() {
    let record = json!({"z": 1.0, "a": "é\u{7f}", "n": [3, null]});
    assert_eq!(jcs_bytes_of(&record).unwrap(), "{\"a\":\"é\u{7f}\",\"n\":[3,null],\"z\":1}".as_bytes());
    assert_eq!(jcs_of(&record).unwrap(), Digest::of_bytes(&jcs_bytes_of(&record).unwrap()));
    assert!(jcs_of(&u64::MAX).is_err(), "never silently rounded");
    assert!(jcs_of(&std::collections::HashMap::from([((1, 2), 3)])).is_err(), "no JSON form");
}

/// Names and digests in the form they have in envelopes, tested with the digest of "abc" of FIPS 180-4.
#[test]
fn names_and_digests_as_text() {
    let text = "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    let abc = Digest::of_bytes(b"abc");
    assert_eq!(abc.to_string(), text);
    assert_eq!(text.parse(), Ok(abc));
    assert_eq!(Digest::from_bytes(*abc.as_bytes()), abc);
    assert_eq!((abc.short().as_str(), abc.hex_prefix(99).len()), ("ba7816", 64));
    assert_eq!(serde_json::to_string(&abc).unwrap(), format!("\"{text}\""));
    assert_eq!(serde_json::from_str::<Digest>(&format!("\"{text}\"")).unwrap(), abc);
    let wrong =
        [&text[..70], &text[7..], &text.to_uppercase(), &text.replace("ba", "BA"), &format!("{text}0"), ""];
    for wrong in wrong {
        assert_eq!(Digest::parse(wrong), None, "{wrong}");
        assert!(serde_json::from_str::<Digest>(&format!("\"{wrong}\"")).is_err());
    }
    for scheme in Scheme::ALL {
        assert_eq!(Scheme::parse(scheme.as_str()), Some(scheme));
        assert_eq!(serde_json::to_value(scheme).unwrap(), scheme.to_string());
        assert_eq!(serde_json::from_value::<Scheme>(json!(scheme.as_str())).unwrap(), scheme);
    }
    assert_eq!(Scheme::default().as_str(), "jcs-sha256/1");
    assert_eq!(Scheme::parse("jcs-sha256/2"), None);
    assert!(serde_json::from_str::<Scheme>("\"JCS-sha256/1\"").is_err());
}
