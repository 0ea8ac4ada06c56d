//! The containers of one JSON text in a flat arena, with hashes of their canonical content.
//!
//! Only arrays and objects that hold something get a node (24 bytes). Members and elements are read again
//! from the text where the walk descends, which is rare; so 50 MB of results take a few megabytes.

use std::borrow::Cow;

use super::kin::Kin;
use super::scan::{Scanner, Span, Syntax, Token, scalar_end, skip_space, string_end};
use super::{Cancel, DiffError, Limit, Limits, Phase, Side, hash, heed, number, text};

const NONE: u32 = u32::MAX;

/// One array or object that is not empty.
struct Node {
    span: Span,
    /// The index behind the last node within this one.
    next: u32,
    /// Number of members or elements.
    count: u32,
    /// Equal for equal content: the order of members and the spelling of scalars do not matter.
    hash: u64,
}

/// One member or element of a container, or the root.
#[derive(Clone, Copy, Debug)]
pub(super) struct Child {
    pub(super) key: Option<Span>,
    pub(super) value: Span,
    node: u32,
}

/// A parsed text.
pub(super) struct Tree<'t> {
    text: &'t [u8],
    nodes: Vec<Node>,
    root: Child,
}

struct Frame {
    node: usize,
    object: bool,
    sum: u64,
    count: u32,
    /// Where this object's names start in the shared list.
    names: usize,
}

struct Builder<'t> {
    text: &'t [u8],
    nodes: Vec<Node>,
    open: Vec<Frame>,
    names: Vec<(u64, Span)>,
}

impl<'t> Tree<'t> {
    /// Parses the text once. The text must be UTF-8.
    pub(super) fn parse(
        text: &'t [u8],
        side: Side,
        limits: Limits,
        cancel: &dyn Cancel,
    ) -> Result<Self, DiffError> {
        let invalid = |Syntax(offset)| DiffError::Invalid { side, offset };
        let mut build = Builder { text, nodes: Vec::new(), open: Vec::new(), names: Vec::new() };
        let mut scanner = Scanner::new(text);
        let mut ticks = 0u32;
        let mut root = None;
        while let Some(token) = scanner.next().map_err(invalid)? {
            ticks = ticks.wrapping_add(1);
            if ticks.is_multiple_of(4096) {
                heed(cancel, Phase::Parse)?;
            }
            let done = match token {
                Token::Open(object, at) => {
                    if build.nodes.len() >= limits.containers {
                        return Err(DiffError::TooLarge { limit: Limit::Containers });
                    }
                    build.push(object, at);
                    None
                }
                Token::Key(span) => {
                    let hash = hash::bytes(hash::STRING, &text::unescape(span.of(text)));
                    build.names.push((hash, span));
                    None
                }
                Token::Scalar(span) => Some((span, scalar_hash(span.of(text)))),
                Token::Close(at) => build.pop(at).map_err(invalid)?,
            };
            if let Some((span, hash)) = done
                && !build.add(hash)
            {
                root = Some(span);
            }
        }
        let value = root.ok_or(DiffError::Invalid { side, offset: text.len() })?;
        let node = if build.nodes.is_empty() { NONE } else { 0 };
        build.nodes.shrink_to_fit();
        Ok(Self { text, nodes: build.nodes, root: Child { key: None, value, node } })
    }

    pub(super) fn root(&self) -> Child {
        self.root
    }

    pub(super) fn text(&self) -> &'t [u8] {
        self.text
    }

    pub(super) fn bytes(&self, span: Span) -> &'t [u8] {
        span.of(self.text)
    }

    /// The first byte of a value says what it is.
    pub(super) fn first(&self, child: Child) -> u8 {
        self.bytes(child.value).first().copied().unwrap_or_default()
    }

    /// The number of members or elements; 0 for scalars and empty containers.
    pub(super) fn count(&self, child: Child) -> usize {
        self.node(child).map_or(0, |node| node.count as usize)
    }

    /// The hash of a value's canonical content.
    pub(super) fn hash(&self, child: Child) -> u64 {
        self.node(child).map_or_else(|| scalar_hash(self.bytes(child.value)), |node| node.hash)
    }

    /// What a value is made of, as far as its first few dozen parts tell.
    pub(super) fn kin(&self, child: Child) -> Kin {
        let part = |part: Child| match part.key {
            Some(_) => hash::mix(hash::bytes(hash::STRING, &self.name(part)), self.hash(part)),
            None => self.hash(part),
        };
        let mut parts: Vec<u64> = self.children(child).take(64).map(part).collect();
        parts.sort_unstable();
        Kin { first: self.first(child), parts }
    }

    /// The content of a member's name.
    pub(super) fn name(&self, child: Child) -> Cow<'t, [u8]> {
        child.key.map_or(Cow::Borrowed(&[]), |key| text::unescape(self.bytes(key)))
    }

    /// The members or elements of a container, in the order of the text; nothing for anything else.
    pub(super) fn children(&self, parent: Child) -> Children<'_, 't> {
        let at = if parent.node == NONE { parent.value.end } else { parent.value.start + 1 };
        Children {
            tree: self,
            at: at as usize,
            end: parent.value.end as usize,
            node: parent.node.wrapping_add(1),
            object: self.first(parent) == b'{',
        }
    }

    fn node(&self, child: Child) -> Option<&Node> {
        self.nodes.get(child.node as usize)
    }
}

impl Builder<'_> {
    fn push(&mut self, object: bool, at: usize) {
        let frame = Frame { node: self.nodes.len(), object, sum: 0, count: 0, names: self.names.len() };
        self.open.push(frame);
        self.nodes.push(Node { span: Span::new(at, at), next: 0, count: 0, hash: 0 });
    }

    /// Closes the innermost container: its span and hash. Two members of one name are refused.
    fn pop(&mut self, at: usize) -> Result<Option<(Span, u64)>, Syntax> {
        let Some(frame) = self.open.pop() else { return Err(Syntax(at)) };
        if let Some(names) = self.names.get_mut(frame.names..) {
            refuse_duplicates(self.text, names)?;
        }
        self.names.truncate(frame.names);
        let seed = if frame.object { hash::OBJECT } else { hash::ARRAY };
        let hash = hash::mix(frame.sum ^ seed, u64::from(frame.count));
        let next = u32::try_from(self.nodes.len()).unwrap_or(NONE);
        let Some(node) = self.nodes.get_mut(frame.node) else { return Err(Syntax(at)) };
        let span = Span { start: node.span.start, end: Span::new(at, at + 1).end };
        if frame.count == 0 {
            self.nodes.truncate(frame.node);
            return Ok(Some((span, scalar_hash(if frame.object { b"{}" } else { b"[]" }))));
        }
        *node = Node { span, next, count: frame.count, hash };
        Ok(Some((span, hash)))
    }

    /// Adds a finished value to the container it stands in; false for the root.
    fn add(&mut self, value: u64) -> bool {
        let Some(frame) = self.open.last_mut() else { return false };
        frame.count += 1;
        frame.sum = match self.names.last() {
            Some(&(name, _)) if frame.object => frame.sum.wrapping_add(hash::mix(name, value)),
            _ => hash::mix(frame.sum, value),
        };
        true
    }
}

fn refuse_duplicates(text: &[u8], names: &mut [(u64, Span)]) -> Result<(), Syntax> {
    let content = |span: Span| text::unescape(span.of(text));
    // Ties are broken by content, so that names made to collide cost no more than others.
    let order =
        |a: &(u64, Span), b: &(u64, Span)| a.0.cmp(&b.0).then_with(|| content(a.1).cmp(&content(b.1)));
    names.sort_unstable_by(order);
    for pair in names.windows(2) {
        if let [a, b] = pair
            && order(a, b).is_eq()
        {
            return Err(Syntax(a.1.start.max(b.1.start) as usize));
        }
    }
    Ok(())
}

/// The hash of a scalar, or of an empty container.
fn scalar_hash(literal: &[u8]) -> u64 {
    match literal.first() {
        Some(b'"') => hash::bytes(hash::STRING, &text::unescape(literal)),
        Some(b'-' | b'0'..=b'9') => number::hash_value(literal),
        Some(&open @ (b'[' | b'{')) => hash::bytes(hash::WORD, &[open]),
        _ => hash::bytes(hash::WORD, literal),
    }
}

/// Iterates over the members or elements of one container.
pub(super) struct Children<'a, 't> {
    tree: &'a Tree<'t>,
    at: usize,
    end: usize,
    node: u32,
    object: bool,
}

impl Iterator for Children<'_, '_> {
    type Item = Child;

    fn next(&mut self) -> Option<Child> {
        let text = self.tree.text;
        let mut at = skip_space(text, self.at);
        if text.get(at) == Some(&b',') {
            at = skip_space(text, at + 1);
        }
        if at + 1 >= self.end {
            return None;
        }
        let mut key = None;
        if self.object {
            let end = string_end(text, at).ok()?;
            key = Some(Span::new(at, end));
            at = skip_space(text, skip_space(text, end) + 1);
        }
        let (end, node) = match self.tree.nodes.get(self.node as usize) {
            Some(found) if found.span.start as usize == at => {
                let node = self.node;
                self.node = found.next;
                (found.span.end as usize, node)
            }
            _ if matches!(text.get(at), Some(b'[' | b'{')) => (skip_space(text, at + 1) + 1, NONE),
            _ => (scalar_end(text, at).ok()?, NONE),
        };
        self.at = end;
        Some(Child { key, value: Span::new(at, end), node })
    }
}
