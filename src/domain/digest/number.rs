//! Numbers: when a literal is canonical as it stands, and how it is written when it is not.

use super::problem::Problem;

/// CPython reads no longer integer than this (`sys.int_info.default_max_str_digits`).
const PYTHON_DIGITS: usize = 4300;
/// Any decimal of so few digits comes back unchanged from the double nearest to it.
const EXACT_DIGITS: usize = 15;
/// No double needs more digits than this to be told from its neighbours.
const DOUBLE_DIGITS: usize = 17;

/// A valid JSON number, taken apart.
#[derive(Debug, Clone, Copy)]
pub(super) struct Literal<'a> {
    text: &'a str,
    whole: &'a [u8],
    fraction: &'a [u8],
    exponent: &'a [u8],
}

impl<'a> Literal<'a> {
    /// The number that `rest`, a valid text, starts with.
    pub(super) fn at_start_of(rest: &'a str) -> Self {
        let bytes = rest.as_bytes();
        let digits = |from: usize| {
            let run = bytes.get(from..).unwrap_or_default();
            let length = run.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(run.len());
            run.get(..length).unwrap_or_default()
        };
        let sign = usize::from(bytes.first() == Some(&b'-'));
        let whole = digits(sign);
        let mut end = sign + whole.len();
        let (mut fraction, mut exponent) = (&[][..], &[][..]);
        if bytes.get(end) == Some(&b'.') {
            fraction = digits(end + 1);
            end += 1 + fraction.len();
        }
        if let Some(b'e' | b'E') = bytes.get(end) {
            let signed = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
            let start = end + 1;
            end = start + signed + digits(start + signed).len();
            exponent = bytes.get(start..end).unwrap_or_default();
        }
        Self { text: rest.get(..end).unwrap_or_default(), whole, fraction, exponent }
    }

    /// The length in bytes.
    pub(super) fn len(self) -> usize {
        self.text.len()
    }

    /// True when the literal is surely in printed form under both notations, found without reading its value:
    /// short, no exponent, no zero that printing would drop.
    pub(super) fn is_printed(self) -> bool {
        if !self.exponent.is_empty() {
            return false;
        }
        match (self.fraction.first(), self.fraction.last()) {
            (Some(first), Some(last)) => {
                let small = self.whole == b"0";
                let digits = self.whole.len() + self.fraction.len() - usize::from(small);
                digits <= EXACT_DIGITS && *last != b'0' && !(small && *first == b'0')
            }
            _ => self.whole.len() <= EXACT_DIGITS && self.text != "-0",
        }
    }

    /// Writes the number as `Number.prototype.toString` does; refuses it when its value would change.
    pub(super) fn print_jcs(self, into: &mut Vec<u8>) -> Result<(), Problem> {
        let value = self.value()?;
        if value == 0.0 {
            into.push(b'0');
            return if self.digits().next().is_some() { Err(Problem::Underflow) } else { Ok(()) };
        }
        let shortest = Shortest::of(value);
        shortest.write(&ECMASCRIPT, into);
        let exact = self.is_integer() || self.digits().count() > DOUBLE_DIGITS;
        if exact && !self.equals(&shortest) { Err(Problem::Precision) } else { Ok(()) }
    }

    /// Writes the number as CPython's `repr` does.
    pub(super) fn print_python(self, into: &mut Vec<u8>) -> Result<(), Problem> {
        if self.is_integer() {
            let text = if self.text == "-0" { "0" } else { self.text };
            into.extend_from_slice(text.as_bytes());
            return if self.whole.len() > PYTHON_DIGITS { Err(Problem::IntegerRange) } else { Ok(()) };
        }
        Shortest::of(self.value()?).write(&PYTHON, into);
        Ok(())
    }

    fn is_integer(self) -> bool {
        self.fraction.is_empty() && self.exponent.is_empty()
    }

    fn value(self) -> Result<f64, Problem> {
        self.text.parse().ok().filter(|value: &f64| value.is_finite()).ok_or(Problem::Overflow)
    }

    /// The significant digits as written, from the first that is not zero.
    fn digits(self) -> impl Iterator<Item = u8> + 'a {
        self.whole.iter().chain(self.fraction).copied().skip_while(|&digit| digit == b'0')
    }

    /// Whether the two are the same decimal number: digit by digit, no floating point.
    fn equals(self, other: &Shortest) -> bool {
        let mut digits = self.digits();
        let same = other.digits().iter().all(|&digit| digits.next() == Some(digit));
        same && digits.all(|digit| digit == b'0') && self.point() == i64::from(other.point)
    }

    /// The power of ten before the first significant digit: 1 for `5`, 0 for `0.5`, -1 for `0.05`.
    fn point(self) -> i64 {
        let written = self.whole.len() + self.fraction.len();
        let zeros = written - self.digits().count();
        let exponent = self
            .exponent
            .iter()
            .filter(|byte| byte.is_ascii_digit())
            .fold(0_i64, |sum, &digit| sum.saturating_mul(10).saturating_add(i64::from(digit - b'0')));
        let signed = if self.exponent.first() == Some(&b'-') { -exponent } else { exponent };
        signed.saturating_add_unsigned(self.whole.len() as u64).saturating_sub_unsigned(zeros as u64)
    }
}

/// A way of writing a double.
struct Notation {
    /// Fixed notation is used while `low < point <= high`.
    low: i32,
    high: i32,
    /// What follows a whole number in fixed notation.
    whole: &'static [u8],
    /// The least number of digits of an exponent.
    exponent_digits: usize,
}

/// ECMA-262, Number::toString.
const ECMASCRIPT: Notation = Notation { low: -6, high: 21, whole: b"", exponent_digits: 1 };
/// CPython, `float_repr_style` "short", format code `r`.
const PYTHON: Notation = Notation { low: -4, high: 16, whole: b".0", exponent_digits: 2 };

/// The fewest digits that name a double: `0.DIGITS` times ten to the `point`, no zero at either end.
struct Shortest {
    negative: bool,
    digits: [u8; DOUBLE_DIGITS],
    count: usize,
    point: i32,
}

impl Shortest {
    fn of(value: f64) -> Self {
        let mut shortest = Self { negative: value.is_sign_negative(), digits: [0; _], count: 0, point: 0 };
        let mut buffer = zmij::Buffer::new();
        let printed = buffer.format_finite(value);
        let (mantissa, exponent) = printed.split_once('e').unwrap_or((printed, "0"));
        let mut fraction = 0;
        for byte in mantissa.trim_start_matches('-').bytes() {
            if byte == b'.' {
                fraction = 1;
                continue;
            }
            // Zeros before the first digit move the point and are not kept; those after the last go below.
            if shortest.count > 0 || byte != b'0' {
                if let Some(digit) = shortest.digits.get_mut(shortest.count) {
                    *digit = byte;
                }
                shortest.count += 1;
                shortest.point += 1 - fraction;
            } else {
                shortest.point -= fraction;
            }
        }
        shortest.point += exponent.parse().unwrap_or(0);
        shortest.count = shortest.count.min(DOUBLE_DIGITS);
        while shortest.digits().last() == Some(&b'0') {
            shortest.count -= 1;
        }
        if shortest.count == 0 {
            (shortest.digits, shortest.count, shortest.point) = ([b'0'; _], 1, 1);
        }
        shortest
    }

    fn digits(&self) -> &[u8] {
        self.digits.get(..self.count).unwrap_or_default()
    }

    fn write(&self, notation: &Notation, into: &mut Vec<u8>) {
        if self.negative {
            into.push(b'-');
        }
        let digits = self.digits();
        if self.point <= notation.low || self.point > notation.high {
            return self.write_exponent(notation, into);
        }
        let before = usize::try_from(self.point).unwrap_or(0);
        match digits.split_at_checked(before) {
            Some((whole, fraction)) if !fraction.is_empty() => {
                let zeros = usize::try_from(-self.point).unwrap_or(0);
                into.extend_from_slice(if whole.is_empty() { b"0" } else { whole });
                into.push(b'.');
                into.resize(into.len() + zeros, b'0');
                into.extend_from_slice(fraction);
            }
            _ => {
                into.extend_from_slice(digits);
                into.resize(into.len() + before - digits.len(), b'0');
                into.extend_from_slice(notation.whole);
            }
        }
    }

    fn write_exponent(&self, notation: &Notation, into: &mut Vec<u8>) {
        if let Some((first, rest)) = self.digits().split_first() {
            into.push(*first);
            if !rest.is_empty() {
                into.push(b'.');
                into.extend_from_slice(rest);
            }
        }
        let exponent = self.point - 1;
        into.extend_from_slice(if exponent < 0 { b"e-" } else { b"e+" });
        let width = notation.exponent_digits;
        into.extend_from_slice(format!("{:0width$}", exponent.unsigned_abs()).as_bytes());
    }
}
