//! Hashes of canonical content: fast, not secret, and never trusted for equality.
//!
//! A sender can make two values collide. That may spoil which elements are paired, never what is reported:
//! whatever the hashes call equal is compared again byte by byte (see `walk`).

pub(crate) const STRING: u64 = 0x243f_6a88_85a3_08d3;
pub(crate) const NUMBER: u64 = 0x1319_8a2e_0370_7344;
pub(crate) const WORD: u64 = 0xa409_3822_299f_31d0;
pub(crate) const ARRAY: u64 = 0x082e_fa98_ec4e_6c89;
pub(crate) const OBJECT: u64 = 0x4528_21e6_38d0_1377;
const STEP: u64 = 0xbe54_66cf_34e9_0c6c;

/// Folds two words into one by a 128-bit product.
pub(crate) fn mix(a: u64, b: u64) -> u64 {
    let product = u128::from(a ^ STEP) * u128::from(b ^ ARRAY.rotate_left(17));
    (product as u64) ^ ((product >> 64) as u64)
}

/// Hashes the content of a member's name.
pub(crate) fn name(content: &[u8]) -> u64 {
    bytes(STRING, content)
}

/// Hashes bytes, eight at a time.
pub(crate) fn bytes(seed: u64, text: &[u8]) -> u64 {
    let (words, rest) = text.as_chunks::<8>();
    let body = words.iter().fold(seed ^ text.len() as u64, |sum, word| mix(sum, u64::from_le_bytes(*word)));
    let tail = rest.iter().fold(0u64, |sum, &b| (sum << 8) | u64::from(b));
    mix(body, tail)
}
