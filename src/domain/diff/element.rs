//! What an element of an array is called: by the members that tell it from its siblings, not by its number alone.
//!
//! Which members those are is decided once for an array in which something differs, from a sample of its
//! elements. Their values are read from the text when a row is shown, and only those that both sides agree on.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use super::scan::{Place, Scanner, Token};
use super::tree::{Child, Tree};
use super::walk::{Path, Step};
use super::{Diff, Row, Side, text};

/// Elements looked at in one array: the first ones, and as many more spread over the rest.
const SAMPLE: usize = 64;
/// Members looked at in one element.
const MEMBERS: usize = 24;
/// Members a name is made of, at most.
const MOST: usize = 3;
/// Bytes of a literal that may be part of a name.
const LITERAL: usize = 96;
/// Characters of one value that are shown.
const SHOWN: usize = 24;
/// Bytes of an element in which the members are looked for when it is shown.
const REACH: usize = 16 * 1024;
/// Members looked at in all arrays of one diff together; what comes after has its number only.
pub(super) const BUDGET: usize = 1 << 20;

/// Names of the members that tell the elements of an array apart, by the path of the array.
pub(super) type Namings = BTreeMap<u32, Vec<Box<[u8]>>>;

/// Where a row stands, with the innermost element it is in called by name. Nothing of it is ours: reveal it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Element {
    /// The pointer of the element.
    pub pointer: String,
    /// What it is called: `Acme, 2024`.
    pub name: String,
    /// The row's pointer within the element, without the first slash; none where the row is the element.
    pub inside: Option<String>,
}

impl Element {
    /// The row within the element as it is shown: a member may have an empty name.
    pub fn within(&self) -> Option<&str> {
        self.inside.as_deref().map(|inside| if inside.is_empty() { "\"\"" } else { inside })
    }
}

/// How likely a member of this name identifies what it is in: 0 best, 3 only if nothing else tells.
fn rank(name: &[u8]) -> u8 {
    const IDS: &[&str] = &["id", "key", "uuid", "guid", "code", "ref", "slug", "sku", "isin", "ticker"];
    const NAMES: &[&str] =
        &["name", "title", "label", "company", "organization", "country", "product", "metric", "path", "url"];
    const TIMES: &[&str] = &["year", "quarter", "month", "date", "period"];
    let name = String::from_utf8_lossy(name);
    let lower = name.to_ascii_lowercase();
    let is = |words: &[&str]| {
        words.iter().any(|word| {
            let Some(front) = lower.strip_suffix(word) else { return false };
            // `case_id` and `caseId`, but not `paid`.
            let camel = name.get(front.len()..).is_some_and(|tail| tail.starts_with(char::is_uppercase));
            front.is_empty() || front.ends_with(['_', '-', '.', ' ']) || camel
        })
    };
    if is(IDS) {
        0
    } else if is(NAMES) {
        1
    } else if is(TIMES) {
        2
    } else {
        3
    }
}

/// Whether a literal can be part of a name: a short string that is not empty, or an integer.
fn can_name(literal: &[u8]) -> bool {
    let digits = literal.strip_prefix(b"-").unwrap_or(literal);
    match literal.first() {
        Some(b'"') => literal.len() > 2 && literal.len() <= LITERAL,
        _ => !digits.is_empty() && digits.len() <= 20 && digits.iter().all(u8::is_ascii_digit),
    }
}

type Member<'t> = (Cow<'t, [u8]>, &'t [u8]);

/// The names of the members that tell the elements of `array` apart, as far as a sample shows; none where its
/// elements are no objects. `changing` are names of members that are known to differ between the sides: they
/// name nothing unless they are made for it. Takes what it looks at from `budget`.
pub(super) fn choose(
    tree: &Tree<'_>,
    array: Child,
    changing: &BTreeSet<Cow<'_, [u8]>>,
    budget: &mut usize,
) -> Vec<Box<[u8]>> {
    let is_object = |child: &Child| tree.first(*child) == b'{';
    if !tree.children(array).next().is_some_and(|first| is_object(&first)) || *budget == 0 {
        return Vec::new();
    }
    let stride = tree.count(array).div_ceil(SAMPLE / 2).max(1);
    let chosen = |at: usize| at < SAMPLE / 2 || at.is_multiple_of(stride);
    let elements = tree.children(array).enumerate().filter(|(at, child)| chosen(*at) && is_object(child));
    let sample: Vec<Vec<Member<'_>>> = elements.map(|(_, element)| members(tree, element, budget)).collect();
    let mut names: Vec<(u8, &[u8])> = Vec::new();
    for (name, _) in sample.iter().flatten() {
        let rank = rank(name);
        let stable = rank < 3 || !changing.contains(name.as_ref());
        if stable && names.len() < 2 * MEMBERS && !names.iter().any(|(_, known)| *known == name.as_ref()) {
            names.push((rank, name));
        }
    }
    // Stable: of one rank, what the sender wrote first comes first.
    names.sort_by_key(|(rank, _)| *rank);
    let told = tell_apart(&sample, &names);
    let known = names.iter().filter(|(rank, _)| *rank < 3).map(|(_, name)| *name).take(2);
    let told: Vec<&[u8]> = if told.is_empty() { known.collect() } else { told };
    told.into_iter().map(Box::from).collect()
}

fn members<'t>(tree: &Tree<'t>, element: Child, budget: &mut usize) -> Vec<Member<'t>> {
    let some = tree.children(element).take(MEMBERS.min(*budget));
    let all: Vec<Child> = some.collect();
    *budget = budget.saturating_sub(all.len());
    let nameable = all.into_iter().map(|child| (tree.name(child), tree.bytes(child.value)));
    nameable.filter(|(_, value)| can_name(value)).collect()
}

/// Takes names, best first, as long as each tells apart what those before it do not.
fn tell_apart<'n>(sample: &[Vec<Member<'_>>], names: &[(u8, &'n [u8])]) -> Vec<&'n [u8]> {
    let mut groups = vec![0usize; sample.len()];
    let (mut many, mut told) = (1, Vec::new());
    for (_, name) in names {
        if many >= sample.len() || told.len() >= MOST {
            break;
        }
        let mut known: BTreeMap<(usize, Option<&[u8]>), usize> = BTreeMap::new();
        let mut finer = Vec::with_capacity(groups.len());
        for (element, group) in sample.iter().zip(&groups) {
            let value = element.iter().find(|(own, _)| own.as_ref() == *name).map(|(_, value)| *value);
            let next = known.len();
            finer.push(*known.entry((*group, value)).or_insert(next));
        }
        if known.len() > many {
            (many, groups) = (known.len(), finer);
            told.push(*name);
        }
    }
    told
}

impl Diff {
    /// Where the row stands on one side (or on the other, where it has none there), the innermost element that
    /// has a name called by it. `None` where no element on the way has one: see [`Diff::pointer`].
    pub fn element(&self, row: &Row, side: Side) -> Option<Element> {
        let side = if self.climb(row, side).is_some() { side } else { side.other() };
        let mut at = self.first_step(row)?;
        let mut inner = Vec::new();
        loop {
            let path = self.paths.get(at as usize)?;
            let named = self.namings.get(&path.parent).map(|names| self.name(path, side, names));
            if let Some(name) = named.filter(|name| !name.is_empty()) {
                let pointer = self.pointer_to(at, side)?;
                let inside = self.written(&inner, side);
                return Some(Element { pointer, name, inside: inside.strip_prefix('/').map(str::to_owned) });
            }
            match path.step(side) {
                Step::Root | Step::Missing => return None,
                step => inner.push(step),
            }
            at = path.parent;
        }
    }

    fn name(&self, path: &Path, side: Side, names: &[Box<[u8]>]) -> String {
        let values = |side: Side| match path.step(side) {
            Step::Index { start, .. } => Some(read(self.source(side), start as usize, names)),
            _ => None,
        };
        let Some(own) = values(side) else { return String::new() };
        let other = values(side.other());
        let agreed = |at: usize, value: &[u8]| match &other {
            Some(other) => {
                other.get(at).copied().flatten().is_some_and(|other| text::same_content(other, value))
            }
            None => true,
        };
        let mut told = Vec::new();
        for (at, (name, value)) in names.iter().zip(own).enumerate() {
            if let Some(value) = value.filter(|value| agreed(at, value)) {
                told.push(one(name, value));
            }
        }
        told.join(", ")
    }
}

/// The literals of the members with these names in the object that starts at `start`.
fn read<'t>(text: &'t [u8], start: usize, names: &[Box<[u8]>]) -> Vec<Option<&'t [u8]>> {
    let mut found = vec![None; names.len()];
    // Cut there, the text ends in an error at worst, and what was found until then stands.
    let window = text.get(..start.saturating_add(REACH)).unwrap_or(text);
    let mut scanner = Scanner::resume(window, Place::at(start));
    let mut place: Option<usize> = None;
    while let Ok(Some(token)) = scanner.next() {
        match token {
            Token::Key(span) if scanner.depth() == 1 => {
                let name = text::unescape(span.of(window));
                place = names.iter().position(|wanted| wanted.as_ref() == name.as_ref());
            }
            Token::Scalar(span) if scanner.depth() == 1 => {
                let literal = text.get(span.start as usize..span.end as usize).filter(|own| can_name(own));
                if let Some(slot) = place.take().and_then(|at| found.get_mut(at)) {
                    *slot = literal;
                }
            }
            Token::Open(..) if scanner.depth() > 1 => place = None,
            Token::Close(_) if scanner.depth() == 0 => break,
            _ => {}
        }
    }
    found
}

/// A value that speaks for itself alone, any other with its name: `Acme`, `2024`, `quarter 3`.
fn one(name: &[u8], literal: &[u8]) -> String {
    let name = String::from_utf8_lossy(name);
    if literal.first() == Some(&b'"') {
        return quoted(&String::from_utf8_lossy(&text::unescape(literal)));
    }
    let number = String::from_utf8_lossy(literal);
    match name.to_ascii_lowercase().ends_with("year") {
        true => number.into_owned(),
        false => format!("{} {number}", quoted(&name)),
    }
}

/// Plain words as they are; everything else in quotes, so that no value passes for the text around it.
fn quoted(text: &str) -> String {
    let cut = text.char_indices().nth(SHOWN).map_or(text.len(), |(at, _)| at);
    let short = text.get(..cut).unwrap_or_default();
    let more = if cut < text.len() { "…" } else { "" };
    let plain = |char: char| char.is_alphanumeric() || " -_.:/#&+@'()%?!".contains(char);
    if short.chars().all(plain) && short.trim() == short && !short.contains("  ") {
        return format!("{short}{more}");
    }
    let literal = serde_json::to_string(short).unwrap_or_default();
    format!("{}{more}\"", literal.strip_suffix('"').unwrap_or(&literal))
}
