//! The parts of a top-level object or array, as the exact bytes they were sent in.

use std::borrow::Cow;
use std::ops::Range;

use super::order::{Key, Order};
use super::problem::Rejection;
use super::scan::{Witness, read};
use super::string::unescape;

/// One member of a top-level object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member<'a> {
    /// The name, escapes resolved.
    pub key: Cow<'a, str>,
    /// The byte offset of the name's opening quote.
    pub key_offset: usize,
    /// The bytes of the value, without white space around it.
    pub value: Range<usize>,
}

/// Collects the children of the top-level value.
#[derive(Default)]
struct Children(Vec<(Option<Key>, Range<usize>)>);

impl Witness for Children {
    fn child(&mut self, key: Option<Key>, value: Range<usize>) {
        self.0.push((key, value));
    }
}

/// The members of a top-level object in the order sent, the whole text checked as [`scan`](super::scan()) does;
/// `None` when the text is valid but no object.
pub fn members(bytes: &[u8], max_depth: usize) -> Result<Option<Vec<Member<'_>>>, Rejection> {
    let Some((text, children)) = children(bytes, max_depth, '{')? else { return Ok(None) };
    let member = |(key, value): (Option<Key>, _)| {
        let key = key?;
        Some(Member { key: unescape(key.raw(text)), key_offset: key.start - 1, value })
    };
    Ok(Some(children.into_iter().filter_map(member).collect()))
}

/// The bytes of each element of a top-level array, the whole text checked as [`scan`](super::scan()) does;
/// `None` when the text is valid but no array.
pub fn elements(bytes: &[u8], max_depth: usize) -> Result<Option<Vec<Range<usize>>>, Rejection> {
    let Some((_, children)) = children(bytes, max_depth, '[')? else { return Ok(None) };
    Ok(Some(children.into_iter().map(|(_, value)| value).collect()))
}

type Found<'a> = (&'a str, Vec<(Option<Key>, Range<usize>)>);

fn children(bytes: &[u8], max_depth: usize, open: char) -> Result<Option<Found<'_>>, Rejection> {
    let mut children = Children::default();
    let text = read(bytes, max_depth, Order::CodePoint, &mut children)?;
    let found = text.trim_ascii_start().starts_with(open);
    Ok(found.then_some((text, children.0)))
}
