//! Typed numbers without loss: what is sent reads back as what was typed, or it is refused.

use serde_json::{Number, Value};

/// The largest whole number every JSON reader keeps exactly: 2^53 − 1 (RFC 8259 section 6, RFC 7493).
pub(super) const MAX_SAFE: i64 = 9_007_199_254_740_991;

/// Longest typed number, in bytes.
const MAX_TYPED: usize = 400;

/// A decimal number in one form only: digits without zeros at either end, times ten to the exponent.
#[derive(Debug, PartialEq, Eq)]
struct Decimal {
    negative: bool,
    digits: String,
    exponent: i64,
}

impl Decimal {
    /// Reads a number by the JSON grammar.
    fn parse(text: &str) -> Option<Self> {
        let (negative, rest) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let (mantissa, exponent) = match rest.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, signed(exponent)?),
            None => (rest, 0),
        };
        let (whole, fraction) = match mantissa.split_once('.') {
            Some((_, "")) => return None,
            Some(parts) => parts,
            None => (mantissa, ""),
        };
        let digits = |part: &str| part.bytes().all(|b| b.is_ascii_digit());
        if whole.is_empty()
            || !digits(whole)
            || !digits(fraction)
            || (whole.len() > 1 && whole.starts_with('0'))
        {
            return None;
        }
        let all = format!("{whole}{fraction}");
        let kept = all.trim_end_matches('0');
        let shift = i64::try_from(all.len() - kept.len()).ok()? - i64::try_from(fraction.len()).ok()?;
        let digits = kept.trim_start_matches('0').to_owned();
        let exponent = if digits.is_empty() { 0 } else { exponent.checked_add(shift)? };
        Some(Self { negative: negative && !digits.is_empty(), digits, exponent })
    }
}

/// A JSON exponent: a sign or none, then digits.
fn signed(text: &str) -> Option<i64> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    text.parse().ok()
}

/// A whole number.
pub(super) fn integer(text: &str) -> Result<Value, String> {
    if Decimal::parse(text).is_none() || text.len() > MAX_TYPED {
        return Err("is no whole number; write digits only, as in 42 or -7".to_owned());
    }
    if text.contains(['.', 'e', 'E']) {
        return Err("must be a whole number, without point or exponent".to_owned());
    }
    match text.parse::<i64>() {
        Ok(number) if (-MAX_SAFE..=MAX_SAFE).contains(&number) => Ok(Value::from(number)),
        _ => Err(format!("is beyond {MAX_SAFE}, the largest whole number every reader keeps exactly")),
    }
}

/// Any number.
pub(super) fn number(text: &str) -> Result<Value, String> {
    let typed = if text.len() <= MAX_TYPED { Decimal::parse(text) } else { None };
    let Some(typed) = typed else {
        return Err("is no number; write it as in 42, -0.5 or 6.02e23".to_owned());
    };
    if !text.contains(['.', 'e', 'E'])
        && let Ok(value) = integer(text)
    {
        return Ok(value);
    }
    let parsed = text.parse::<f64>().ok().filter(|parsed| parsed.is_finite());
    let Some(parsed) = parsed else {
        return Err("is too large to be kept".to_owned());
    };
    // The shortest digits that read back as the same float are what every reader will show.
    let kept = format!("{parsed:e}");
    if Decimal::parse(&kept).as_ref() != Some(&typed) {
        return Err(format!("has more digits than can be kept; it would become {kept}"));
    }
    Number::from_f64(parsed).map(Value::Number).ok_or_else(|| "is too large to be kept".to_owned())
}
