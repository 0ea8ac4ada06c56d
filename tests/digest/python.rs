//! The Python schemes against CPython itself, where there is one.

use std::io::Write as _;
use std::process::Stdio;

use super::generate::Maker;
use super::*;

/// Reads one JSON text per line as hex, answers with the two forms as hex or `-` where CPython fails.
const PROGRAM: &str = r#"
import json, sys
for line in sys.stdin:
    try:
        value = json.loads(bytes.fromhex(line).decode())
        for separators in (None, (",", ":")):
            print(json.dumps(value, sort_keys=True, separators=separators, allow_nan=False).encode().hex())
    except ValueError:
        print("-\n-")
"#;

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn cpython_writes_the_same_bytes() {
    let child =
        Command::new("python3").args(["-c", PROGRAM]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
    let Ok(mut child) = child else {
        eprintln!("NOTICE: no python3 here; the Python schemes were not compared with CPython");
        return;
    };
    let mut maker = Maker(20_261_130);
    let mut texts: Vec<String> = (0..4000).map(|_| maker.text()).collect();
    texts.extend((0..20_000).map(|_| {
        let double = maker.double();
        format!("[{double:e},{:.16e},{}]", maker.double(), (maker.next() >> 11) as f64 / 1000.0)
    }));
    let input: String = texts.iter().map(|text| hex(text.as_bytes()) + "\n").collect();
    let mut stdin = child.stdin.take().unwrap();
    let writer = std::thread::spawn(move || stdin.write_all(input.as_bytes()));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    assert!(output.status.success());
    let output = String::from_utf8(output.stdout).unwrap();
    let mut lines = output.lines();
    let mut accepted = 0;
    for text in &texts {
        for scheme in [Scheme::PythonSortedJsonV1, Scheme::PythonSortedJsonCompactV1] {
            let expected = lines.next().unwrap();
            match canonical(scheme, text.as_bytes()) {
                Ok(bytes) => assert_eq!(hex(&bytes), expected, "{text}"),
                Err(rejection) => assert_eq!(expected, "-", "{rejection} {text}"),
            }
            accepted += u32::from(expected != "-");
        }
    }
    assert_eq!(lines.next(), None);
    assert!(accepted > 40_000, "only {accepted} texts were valid");
}
