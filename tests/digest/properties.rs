//! Properties that hold for every text, and agreement with `serde_json_canonicalizer` on what is accepted.

use proptest::prelude::*;

use super::generate::Maker;
use super::*;

/// A text made from a seed, with up to three bytes changed so that refusals are met as well.
fn damaged() -> impl Strategy<Value = Vec<u8>> {
    let change = (any::<prop::sample::Index>(), prop::sample::select(b"\"\\{}[]:,0-.eE \x00\x80ud".to_vec()));
    (any::<u64>(), prop::collection::vec(change, 0..3)).prop_map(|(seed, changes)| {
        let mut text = Maker(seed).text().into_bytes();
        for (place, byte) in changes {
            let place = place.index(text.len());
            text[place] = byte;
        }
        text
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn accepted_texts_are_fixed_points_that_others_read_alike(text in damaged()) {
        for scheme in JSON_SCHEMES {
            match canonical(scheme, &text) {
                Ok(once) => {
                    prop_assert_eq!(digest(scheme, &text), Ok(Digest::of_bytes(&once)));
                    prop_assert_eq!(canonical(scheme, &once), Ok(once), "idempotent");
                    prop_assert!(serde_json::from_slice::<serde::de::IgnoredAny>(&text).is_ok());
                    prop_assert_eq!(scan(&text, MAX_DEPTH), Ok(()));
                }
                Err(rejection) => {
                    prop_assert!(rejection.offset <= text.len());
                    prop_assert_eq!(digest(scheme, &text), Err(rejection));
                }
            }
        }
    }

    #[test]
    fn the_other_implementation_of_rfc_8785_agrees(text in damaged()) {
        if let Ok(ours) = canonical(Scheme::JcsSha256V1, &text) {
            let text = std::str::from_utf8(&text).unwrap();
            prop_assert_eq!(String::from_utf8(ours).unwrap(), serde_json_canonicalizer::pipe(text).unwrap());
        }
    }

    #[test]
    fn children_cover_what_was_sent(seed: u64) {
        let text = Maker(seed).text();
        let Ok(whole) = serde_json::from_str::<Value>(&text) else { return Ok(()) };
        let parse = |range: std::ops::Range<usize>| serde_json::from_str::<Value>(&text[range]).unwrap();
        if let Some(found) = members(text.as_bytes(), MAX_DEPTH).unwrap() {
            let map = found.into_iter().map(|member| (member.key.into_owned(), parse(member.value))).collect();
            prop_assert_eq!(Value::Object(map), whole);
        } else if let Some(found) = elements(text.as_bytes(), MAX_DEPTH).unwrap() {
            prop_assert_eq!(Value::Array(found.into_iter().map(parse).collect()), whole);
        } else {
            prop_assert!(!whole.is_object() && !whole.is_array());
        }
    }

    #[test]
    fn member_order_never_matters(mut names in prop::collection::hash_set("\\PC{0,6}", 0..40).prop_map(Vec::from_iter), seed: u64) {
        let write = |names: &[String]| {
            let members: Vec<_> = names.iter().map(|name| format!("{}:{{\"b\":0,\"a\":{}}}", json!(name), name.len())).collect();
            format!("{{{}}}", members.join(","))
        };
        let mut by_units = names.clone();
        by_units.sort_by(|a, b| a.encode_utf16().cmp(b.encode_utf16()));
        let mut maker = Maker(seed);
        for index in (1..names.len()).rev() {
            names.swap(index, maker.below(index as u64 + 1) as usize);
        }
        let ours = jcs(&write(&names));
        prop_assert_eq!(&ours, &jcs(&write(&by_units)));
        prop_assert_eq!(ours, serde_json_canonicalizer::pipe(&write(&names)).unwrap());
    }
}

/// Doubles by their bits, and the neighbours of every power of two: the digits are made by another library than the oracle's.
#[test]
fn doubles_are_printed_as_the_other_implementation_does() {
    let mut maker = Maker(8785);
    let doubles: Vec<f64> = (0..100_000).map(|_| maker.double()).collect();
    let powers = (-1074..1024).flat_map(|power| {
        let bits = 2_f64.powi(power).to_bits();
        [bits.saturating_sub(1), bits, bits + 1].map(f64::from_bits)
    });
    for value in doubles.into_iter().chain(powers) {
        let literal = format!("{value:e}");
        assert_eq!(jcs(&literal), serde_json_canonicalizer::to_string(&value).unwrap());
    }
}
