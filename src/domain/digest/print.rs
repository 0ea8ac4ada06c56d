//! Writes the canonical form of a JSON text, copying what is canonical already in runs as long as they come.

use sha2::{Digest as _, Sha256};

use super::MAX_DEPTH;
use super::number::Literal;
use super::order::{Key, Order};
use super::problem::Rejection;
use super::scan::{Witness, read};
use super::string;

/// What distinguishes the JSON schemes from each other.
#[derive(Debug, Clone, Copy)]
pub(super) struct Style {
    order: Order,
    /// Python's numbers, and escapes for all that is not ASCII.
    python: bool,
    /// What follows a comma or colon.
    gap: &'static str,
}

impl Style {
    pub(super) const JCS: Self = Self { order: Order::Utf16, python: false, gap: "" };
    pub(super) const PYTHON: Self = Self { order: Order::CodePoint, python: true, gap: " " };
    pub(super) const PYTHON_COMPACT: Self = Self { gap: "", ..Self::PYTHON };
}

/// Where canonical bytes go.
pub(super) trait Sink {
    fn put(&mut self, bytes: &[u8]);
}

impl Sink for Vec<u8> {
    fn put(&mut self, bytes: &[u8]) {
        self.extend_from_slice(bytes);
    }
}

/// A hash that gathers small pieces, because feeding them one by one costs more than hashing them.
pub(super) struct Hash {
    hasher: Sha256,
    pending: Vec<u8>,
}

impl Hash {
    const PENDING: usize = 4096;

    pub(super) fn new() -> Self {
        Self { hasher: Sha256::new(), pending: Vec::with_capacity(Self::PENDING) }
    }

    pub(super) fn finish(mut self) -> [u8; 32] {
        self.hasher.update(&self.pending);
        self.hasher.finalize().into()
    }
}

impl Sink for Hash {
    fn put(&mut self, bytes: &[u8]) {
        if self.pending.len() + bytes.len() > Self::PENDING {
            self.hasher.update(&self.pending);
            self.pending.clear();
        }
        if bytes.len() < Self::PENDING {
            self.pending.extend_from_slice(bytes);
        } else {
            self.hasher.update(bytes);
        }
    }
}

/// Checks the text and writes its canonical form; problems of the grammar come before those of numbers.
pub(super) fn print<S: Sink>(payload: &[u8], style: Style, sink: S) -> Result<S, Rejection> {
    let mut shuffles = Shuffles::default();
    let text = read(payload, MAX_DEPTH, style.order, &mut shuffles)?;
    shuffles.objects.sort_unstable_by_key(|object| object.open);
    let mut printer = Printer { text, at: 0, from: 0, style, sink, shuffles, piece: Vec::new() };
    printer.print()?;
    Ok(printer.sink)
}

/// The objects that are out of order, and the way through each.
#[derive(Default)]
struct Shuffles {
    objects: Vec<Shuffled>,
    /// Per object the offsets of its names in sorted order, then that of its closing brace.
    stops: Vec<usize>,
    /// The first object that does not open before the place where printing is.
    next: usize,
}

struct Shuffled {
    open: usize,
    first_stop: usize,
}

impl Witness for Shuffles {
    fn shuffled(&mut self, open: usize, sorted: &[Key], close: usize) {
        self.objects.push(Shuffled { open, first_stop: self.stops.len() });
        self.stops.extend(sorted.iter().map(|key| key.start - 1).chain([close]));
    }
}

impl Shuffles {
    /// The first stop of the object that opens here, if it is out of order.
    fn enter(&mut self, open: usize) -> Option<usize> {
        let object = self.objects.get(self.next).filter(|object| object.open == open)?;
        self.next += 1;
        Some(object.first_stop)
    }

    /// Follows a jump to `at`; a search only when it passed an object.
    fn seek(&mut self, at: usize) {
        let opens_before = |index: usize| self.objects.get(index).is_some_and(|object| object.open < at);
        let passed = opens_before(self.next);
        let returned = self.next.checked_sub(1).is_some_and(|last| !opens_before(last));
        if passed || returned {
            self.next = self.objects.partition_point(|object| object.open < at);
        }
    }
}

/// A walk through an object out of order: its depth, and the index of its next stop.
struct Detour {
    depth: usize,
    stop: usize,
}

struct Printer<'a, S> {
    text: &'a str,
    at: usize,
    /// The text from here to `at` is canonical and not yet written.
    from: usize,
    style: Style,
    sink: S,
    shuffles: Shuffles,
    /// Room for one number or character that is written otherwise than it was sent.
    piece: Vec<u8>,
}

impl<S: Sink> Printer<'_, S> {
    fn print(&mut self) -> Result<(), Rejection> {
        let mut depth = 0;
        let mut detours: Vec<Detour> = Vec::new();
        self.space("");
        while let Some(byte) = self.peek() {
            let mut gap = "";
            match byte {
                b'"' => self.string(),
                b'-' | b'0'..=b'9' => self.number()?,
                b',' | b'}' if detours.last().is_some_and(|detour| detour.depth == depth) => {
                    let separate = detours.last_mut().is_some_and(|detour| self.turn(detour));
                    if !separate {
                        detours.pop();
                        depth -= 1;
                        self.at += 1;
                    }
                }
                b'{' => {
                    depth += 1;
                    let shuffled = self.shuffles.enter(self.at);
                    self.at += 1;
                    if let Some(stop) = shuffled {
                        detours.push(Detour { depth, stop: stop + 1 });
                        self.jump(stop);
                    }
                }
                b'[' => {
                    depth += 1;
                    self.at += 1;
                }
                b']' | b'}' => {
                    depth -= 1;
                    self.at += 1;
                }
                b',' | b':' => {
                    gap = self.style.gap;
                    self.at += 1;
                }
                b'f' => self.at += 5,
                _ => self.at += 4,
            }
            self.space(gap);
        }
        self.flush();
        Ok(())
    }

    /// Goes on from the end of a member to the next stop; true when that is another member.
    fn turn(&mut self, detour: &mut Detour) -> bool {
        self.jump(detour.stop);
        detour.stop += 1;
        let member = self.peek() == Some(b'"');
        if member {
            self.sink.put(b",");
            self.sink.put(self.style.gap.as_bytes());
        }
        member
    }

    fn jump(&mut self, stop: usize) {
        self.flush();
        self.at = self.shuffles.stops.get(stop).copied().unwrap_or(self.text.len());
        self.from = self.at;
        self.shuffles.seek(self.at);
    }

    /// Passes white space, which canonically is exactly `gap`.
    fn space(&mut self, gap: &str) {
        let start = self.at;
        while let Some(b' ' | b'\n' | b'\r' | b'\t') = self.peek() {
            self.at += 1;
        }
        let plain = self.at == start && gap.is_empty();
        if !plain && self.text.get(start..self.at) != Some(gap) {
            self.replace(start, gap.as_bytes());
        }
    }

    fn string(&mut self) {
        let bytes = self.text.as_bytes();
        self.at += 1;
        loop {
            self.at += match self.style.python {
                true => string::run::<true>(bytes, self.at),
                false => string::run::<false>(bytes, self.at),
            };
            let start = self.at;
            let rest = self.text.get(start..).unwrap_or_default();
            let (char, length) = match rest.chars().next() {
                None | Some('"') => break,
                Some('\\') => string::escape(rest.as_bytes()).unwrap_or(('\\', 1)),
                Some(char) => (char, char.len_utf8()),
            };
            self.at += length;
            self.piece.clear();
            string::spell(char, self.style.python, &mut self.piece);
            self.replace_by_piece(start);
        }
        self.at += 1;
    }

    fn number(&mut self) -> Result<(), Rejection> {
        let start = self.at;
        let literal = Literal::at_start_of(self.text.get(start..).unwrap_or_default());
        self.at += literal.len();
        if literal.is_printed() {
            return Ok(());
        }
        self.piece.clear();
        let printed = match self.style.python {
            true => literal.print_python(&mut self.piece),
            false => literal.print_jcs(&mut self.piece),
        };
        printed.map_err(|problem| problem.at(start))?;
        self.replace_by_piece(start);
        Ok(())
    }

    /// Writes `piece` for the text from `start` on, unless that is what the text says.
    fn replace_by_piece(&mut self, start: usize) {
        if self.text.as_bytes().get(start..self.at) != Some(&self.piece) {
            let piece = std::mem::take(&mut self.piece);
            self.replace(start, &piece);
            self.piece = piece;
        }
    }

    /// Writes `bytes` for the text from `start` on.
    fn replace(&mut self, start: usize, bytes: &[u8]) {
        self.sink.put(self.text.as_bytes().get(self.from..start).unwrap_or_default());
        self.sink.put(bytes);
        self.from = self.at;
    }

    fn flush(&mut self) {
        self.sink.put(self.text.as_bytes().get(self.from..self.at).unwrap_or_default());
        self.from = self.at;
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }
}
