//! Numbers by their literal: the exact decimal value of a JSON number, without a float in between.
//!
//! `1`, `1.0` and `1e0` have one value and three spellings; 9007199254740993 and 9007199254740992 are two
//! values although one double stands for both.

use super::hash;

/// The exact value of a literal: (-1)^negative × digits × 10^exponent, digits without zeros at either end.
struct Normal<'t> {
    negative: bool,
    /// The significant part of the literal: digits, perhaps with the decimal point among them.
    significant: &'t [u8],
    exponent: i64,
}

impl<'t> Normal<'t> {
    /// `None` where the exponent itself is absurdly long; such literals are compared as text.
    fn of(literal: &'t [u8]) -> Option<Self> {
        let (negative, rest) = match literal.split_first() {
            Some((b'-', rest)) => (true, rest),
            _ => (false, literal),
        };
        let split = rest.iter().position(|b| matches!(b, b'e' | b'E')).unwrap_or(rest.len());
        let (mantissa, power) = rest.split_at_checked(split)?;
        let nonzero = |b: &u8| matches!(b, b'1'..=b'9');
        let Some(first) = mantissa.iter().position(nonzero) else {
            return Some(Self { negative: false, significant: &[], exponent: 0 });
        };
        let last = mantissa.iter().rposition(nonzero)?;
        let point = mantissa.iter().position(|&b| b == b'.').unwrap_or(mantissa.len());
        // Digits between the last significant one and the point count up, those behind the point count down.
        let last_place = i64::try_from(last).ok()?;
        let point = i64::try_from(point).ok()?;
        let shift = if last_place < point { point - last_place - 1 } else { point - last_place };
        let exponent = parse_power(power.get(1..).unwrap_or_default())?.checked_add(shift)?;
        Some(Self { negative, significant: mantissa.get(first..=last)?, exponent })
    }

    fn digits(&self) -> impl Iterator<Item = u8> {
        self.significant.iter().copied().filter(|&b| b != b'.')
    }
}

fn parse_power(text: &[u8]) -> Option<i64> {
    let (negative, digits) = match text.split_first() {
        Some((b'-', rest)) => (true, rest),
        Some((b'+', rest)) => (false, rest),
        _ => (false, text),
    };
    let size = digits.iter().try_fold(0i64, |sum, b| {
        sum.checked_mul(10)?.checked_add(i64::from(b.wrapping_sub(b'0'))).filter(|&n| n < 1 << 60)
    })?;
    Some(if negative { -size } else { size })
}

/// Whether two literals have exactly the same decimal value.
pub(crate) fn same_value(a: &[u8], b: &[u8]) -> bool {
    if a == b {
        return true;
    }
    match (Normal::of(a), Normal::of(b)) {
        (Some(a), Some(b)) => {
            a.negative == b.negative && a.exponent == b.exponent && a.digits().eq(b.digits())
        }
        _ => false,
    }
}

/// A hash that is equal for literals of equal value.
pub(crate) fn hash_value(literal: &[u8]) -> u64 {
    let Some(normal) = Normal::of(literal) else { return hash::bytes(hash::NUMBER, literal) };
    let start = hash::mix(hash::NUMBER ^ normal.exponent.cast_unsigned(), u64::from(normal.negative));
    let folded = normal.digits().fold((start, 1u64), |(sum, word), digit| {
        let word = word * 10 + u64::from(digit - b'0');
        if word >= 1_000_000_000_000_000_000 { (hash::mix(sum, word), 1) } else { (sum, word) }
    });
    hash::mix(folded.0, folded.1)
}
