//! Bounds of a schema and of the work an answer makes of it.

use std::collections::HashMap;
use std::io;

use serde_json::{Map, Value};

use super::{MAX_ANSWER, MAX_DEPTH, MAX_SCHEMA, step};

/// Most patterns in one schema: each is compiled, the worst of them for milliseconds.
const MAX_PATTERNS: usize = 64;

/// Most values in one answer.
const MAX_NODES: usize = 10_000;

/// Most steps of applying subschemas to values, counted before any is taken.
const MAX_WORK: u64 = 20_000_000;

/// Deepest nesting of subschemas and references while one value is checked.
const MAX_LEVEL: usize = 256;

/// Drafts whose keywords are understood here, without the trailing `#`.
const DRAFTS: &[&str] = &[
    "https://json-schema.org/draft/2020-12/schema",
    "https://json-schema.org/draft/2019-09/schema",
    "http://json-schema.org/draft-07/schema",
];

/// Why a schema is refused, and where in it.
#[derive(Debug)]
pub(super) struct Refused {
    pub(super) pointer: String,
    pub(super) message: String,
}

/// Checks a schema by itself: size, depth, references, number of patterns.
pub(super) fn schema(schema: &Value) -> Result<(), Refused> {
    let whole = |message: String| Refused { pointer: String::new(), message };
    bounded(schema, MAX_SCHEMA, "the schema").map_err(whole)?;
    let draft = schema.get("$schema").map_or(Some(""), Value::as_str);
    if !draft.is_some_and(|draft| draft.is_empty() || DRAFTS.contains(&draft.trim_end_matches('#'))) {
        return Err(whole("the schema is written for a draft that is not known here".to_owned()));
    }
    let mut patterns = 0;
    walk(schema, "", &mut |object, pointer| {
        let refused =
            |message: &str| Err(Refused { pointer: pointer.to_owned(), message: message.to_owned() });
        patterns += usize::from(object.get("pattern").is_some_and(Value::is_string));
        patterns += object.get("patternProperties").and_then(Value::as_object).map_or(0, Map::len);
        if patterns > MAX_PATTERNS {
            return refused("the schema has more than 64 patterns");
        }
        if !pointer.is_empty()
            && ["$id", "$schema"].iter().any(|key| object.get(*key).is_some_and(Value::is_string))
        {
            return refused("the schema contains another schema with its own address");
        }
        let dynamic = ["$dynamicRef", "$recursiveRef"];
        if dynamic.iter().any(|key| object.get(*key).is_some_and(Value::is_string)) {
            return refused("dynamic references are not followed");
        }
        match object.get("$ref").and_then(Value::as_str) {
            Some(reference) if target(schema, reference).is_none() => {
                refused("a reference leads to no place in the schema itself; nothing is fetched")
            }
            _ => Ok(()),
        }
    })
}

/// Checks an answer by itself, and with a checked schema how much work it would make.
pub(super) fn answer(schema: &Value, instance: &Value) -> Result<(), String> {
    bounded(instance, MAX_ANSWER, "the answer")?;
    let (nodes, depth) = measure(instance);
    if nodes > MAX_NODES {
        return Err(format!("the answer has more than {MAX_NODES} values"));
    }
    let mut work = Work { root: schema, known: HashMap::new(), steps: 0 };
    let cost = work.of(schema, depth, 0)?;
    let nodes = u64::try_from(nodes).unwrap_or(u64::MAX);
    if cost.saturating_mul(nodes) > MAX_WORK { Err(TOO_MUCH.to_owned()) } else { Ok(()) }
}

const TOO_MUCH: &str = "checking an answer against the schema would take too long";

fn bounded(value: &Value, bytes: usize, what: &str) -> Result<(), String> {
    // Depth first: writing recurses.
    if !shallow(value, MAX_DEPTH) {
        return Err(format!("{what} is nested deeper than {MAX_DEPTH}"));
    }
    if serde_json::to_writer(Room(bytes), value).is_err() {
        return Err(format!("{what} is larger than {} KiB", bytes >> 10));
    }
    Ok(())
}

fn shallow(value: &Value, room: usize) -> bool {
    match value {
        Value::Array(items) => room > 0 && items.iter().all(|item| shallow(item, room - 1)),
        Value::Object(members) => room > 0 && members.values().all(|member| shallow(member, room - 1)),
        _ => true,
    }
}

/// Counts what is written and refuses more than its room.
struct Room(usize);

impl io::Write for Room {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 = self.0.checked_sub(bytes.len()).ok_or(io::ErrorKind::FileTooLarge)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Number of values and depth of nesting; a scalar has depth 0.
fn measure(value: &Value) -> (usize, usize) {
    let children: Vec<(usize, usize)> = match value {
        Value::Array(items) => items.iter().map(measure).collect(),
        Value::Object(members) => members.values().map(measure).collect(),
        _ => return (1, 0),
    };
    let nodes: usize = children.iter().map(|(nodes, _)| nodes).sum();
    (nodes + 1, children.iter().map(|(_, depth)| depth + 1).max().unwrap_or(0))
}

/// Visits every object, whether it is a schema or not: a hidden reference must not slip through.
fn walk<'a>(
    value: &'a Value,
    pointer: &str,
    visit: &mut impl FnMut(&'a Map<String, Value>, &str) -> Result<(), Refused>,
) -> Result<(), Refused> {
    match value {
        Value::Object(members) => {
            visit(members, pointer)?;
            members.iter().try_for_each(|(name, member)| walk(member, &step(pointer, name), visit))
        }
        Value::Array(items) => {
            items.iter().enumerate().try_for_each(|(at, item)| walk(item, &format!("{pointer}/{at}"), visit))
        }
        _ => Ok(()),
    }
}

/// What a reference leads to: `#` or `#/…`, written plainly, in the same schema.
pub(super) fn target<'a>(root: &'a Value, reference: &str) -> Option<&'a Value> {
    let fragment = reference.strip_prefix('#')?;
    if fragment.contains('%') { None } else { root.pointer(fragment) }
}

/// Counts how many subschemas are applied to one value and the values below it, following references.
struct Work<'a> {
    root: &'a Value,
    /// By place of the referenced schema and depth of the value; nothing while it is being counted.
    known: HashMap<(usize, usize), Option<u64>>,
    steps: u64,
}

impl<'a> Work<'a> {
    fn of(&mut self, schema: &'a Value, depth: usize, level: usize) -> Result<u64, String> {
        self.steps += 1;
        if level > MAX_LEVEL || self.steps > 1_000_000 {
            return Err(TOO_MUCH.to_owned());
        }
        let Value::Object(keywords) = schema else { return Ok(1) };
        let mut cost = 1u64;
        for (keyword, value) in keywords {
            cost = cost.saturating_add(self.keyword(keyword, value, depth, level + 1)?);
        }
        Ok(cost)
    }

    fn keyword(
        &mut self,
        keyword: &str,
        value: &'a Value,
        depth: usize,
        level: usize,
    ) -> Result<u64, String> {
        match keyword {
            "$ref" => self.reference(value, depth, level),
            "allOf" | "anyOf" | "oneOf" | "not" | "if" | "then" | "else" | "dependentSchemas"
            | "dependencies" => self.all(keyword, value, depth, level),
            "properties"
            | "patternProperties"
            | "additionalProperties"
            | "propertyNames"
            | "unevaluatedProperties"
            | "items"
            | "prefixItems"
            | "additionalItems"
            | "contains"
            | "unevaluatedItems" => {
                if depth == 0 {
                    Ok(1)
                } else {
                    self.all(keyword, value, depth - 1, level)
                }
            }
            "enum" | "required" => {
                Ok(value.as_array().map_or(1, |all| u64::try_from(all.len()).unwrap_or(u64::MAX)))
            }
            _ => Ok(1),
        }
    }

    /// One schema, a list of them or a map of them, as the keyword has it.
    fn all(&mut self, keyword: &str, value: &'a Value, depth: usize, level: usize) -> Result<u64, String> {
        let maps = ["properties", "patternProperties", "dependentSchemas", "dependencies"];
        let mut cost = 0u64;
        match value {
            Value::Array(schemas) => {
                for schema in schemas {
                    cost = cost.saturating_add(self.of(schema, depth, level)?);
                }
            }
            Value::Object(schemas) if maps.contains(&keyword) => {
                for schema in schemas.values() {
                    cost = cost.saturating_add(self.of(schema, depth, level)?);
                }
            }
            schema => cost = self.of(schema, depth, level)?,
        }
        Ok(cost)
    }

    fn reference(&mut self, value: &'a Value, depth: usize, level: usize) -> Result<u64, String> {
        let target = value.as_str().and_then(|reference| target(self.root, reference));
        let Some(target) = target else { return Ok(1) };
        let place = (std::ptr::from_ref(target).addr(), depth);
        match self.known.get(&place) {
            Some(Some(cost)) => return Ok(*cost),
            Some(None) => return Err("the schema refers to itself without an end".to_owned()),
            None => {}
        }
        self.known.insert(place, None);
        let cost = self.of(target, depth, level)?;
        self.known.insert(place, Some(cost));
        Ok(cost)
    }
}
