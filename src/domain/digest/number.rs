//! Numbers: when a literal is canonical as it stands, and how it is written when it is not.

use super::problem::Problem;
use super::string;

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
        let digits = |from: usize| bytes.get(from..from + string::digits(bytes, from)).unwrap_or_default();
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
        let mut buffer = zmij::Buffer::new();
        let shortest = buffer.format_finite(value);
        ECMASCRIPT.print(shortest, value, into);
        let exact = self.is_integer()
            || self.whole.len() + self.fraction.len() > DOUBLE_DIGITS
                && self.digits().count() > DOUBLE_DIGITS;
        if exact && !self.equals(Literal::at_start_of(shortest)) { Err(Problem::Precision) } else { Ok(()) }
    }

    /// Writes the number as CPython's `repr` does.
    pub(super) fn print_python(self, into: &mut Vec<u8>) -> Result<(), Problem> {
        if self.is_integer() {
            let text = if self.text == "-0" { "0" } else { self.text };
            into.extend_from_slice(text.as_bytes());
            return if self.whole.len() > PYTHON_DIGITS { Err(Problem::IntegerRange) } else { Ok(()) };
        }
        let value = self.value()?;
        PYTHON.print(zmij::Buffer::new().format_finite(value), value, into);
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

    /// Whether the two are the same decimal number, signs apart: digit by digit, no floating point.
    fn equals(self, other: Literal<'_>) -> bool {
        let (mut a, mut b) = (self.digits(), other.digits());
        loop {
            match (a.next(), b.next()) {
                (None, None) => return self.point() == other.point(),
                (a, b) if a.unwrap_or(b'0') != b.unwrap_or(b'0') => return false,
                _ => {}
            }
        }
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

/// Where fixed and scientific notation part, and how either looks.
struct Notation {
    /// Fixed notation is used while `low < point <= high`.
    low: i64,
    high: i64,
    /// Whether a whole number in fixed notation ends in `.0`.
    whole_has_fraction: bool,
    /// The least number of digits of an exponent.
    exponent_digits: usize,
}

/// ECMA-262, Number::toString.
const ECMASCRIPT: Notation = Notation { low: -6, high: 21, whole_has_fraction: false, exponent_digits: 1 };
/// CPython's `float.__repr__`.
const PYTHON: Notation = Notation { low: -4, high: 16, whole_has_fraction: true, exponent_digits: 2 };

impl Notation {
    /// Writes a finite double whose shortest digits are those of `shortest`, in whatever notation that is.
    fn print(&self, shortest: &str, value: f64, into: &mut Vec<u8>) {
        // Where both notations agree with each other and with `shortest`, nothing needs to be laid out.
        let size = value.abs();
        let same =
            if shortest.contains('e') { !(1e-10..1e21).contains(&size) } else { size >= 1e-4 || size == 0.0 };
        if same {
            let whole = if self.whole_has_fraction { None } else { shortest.strip_suffix(".0") };
            return into.extend_from_slice(whole.unwrap_or(shortest).as_bytes());
        }
        if value < 0.0 {
            into.push(b'-');
        }
        // Very small or very large: one digit before the decimal point, or none, or all.
        let literal = Literal::at_start_of(shortest);
        let point = literal.point();
        let mut digits = literal.digits();
        if point <= self.low || point > self.high {
            into.extend(digits.next());
            let start = into.len();
            into.push(b'.');
            into.extend(digits);
            if into.len() == start + 1 {
                into.truncate(start);
            }
            into.extend_from_slice(if point < 1 { b"e-" } else { b"e+" });
            let width = self.exponent_digits;
            into.extend_from_slice(format!("{:0width$}", (point - 1).unsigned_abs()).as_bytes());
        } else if point <= 0 {
            into.extend_from_slice(b"0.");
            into.extend((point..0).map(|_| b'0'));
            into.extend(digits);
        } else {
            let start = into.len();
            into.extend(digits);
            let written = (into.len() - start) as i64;
            into.extend((written..point).map(|_| b'0'));
        }
    }
}
