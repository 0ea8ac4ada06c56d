//! From a schema to the fields of a form, or to the reason why not.

use serde_json::{Map, Number, Value};

use crate::domain::text::{Untrusted, reveal};

use super::{
    Choice, Entry, Field, Form, Kind, Limits, MAX_CHOICES, MAX_FIELDS, NotFlat, check, guard, number, step,
};

type Keywords = Map<String, Value>;

/// Keywords that say something to the reader and nothing about the answer.
const NOTES: &[&str] = &["title", "description", "$comment", "examples", "default", "deprecated", "type"];

const ROOT: &[&str] = &[
    "$schema",
    "$id",
    "$comment",
    "$defs",
    "definitions",
    "title",
    "description",
    "examples",
    "type",
    "properties",
    "required",
    "additionalProperties",
];

/// Longest chain of local references from one field.
const MAX_HOPS: usize = 8;

pub(super) fn form(schema: &Value) -> Result<Form, NotFlat> {
    guard::schema(schema).map_err(|refused| NotFlat { pointer: refused.pointer, reason: refused.message })?;
    check::compile(schema).map_err(|reason| not_flat("", reason))?;
    let root = schema.as_object().ok_or_else(|| not_flat("", "the schema is not an object"))?;
    only(root, &[ROOT], "")?;
    if root.get("type").and_then(Value::as_str) != Some("object") {
        return Err(not_flat("/type", "the answer is not an object"));
    }
    if root.get("additionalProperties").is_some_and(|more| !more.is_boolean()) {
        return Err(not_flat("/additionalProperties", "fields with names of your choice are allowed"));
    }
    let none = Map::new();
    let properties = root.get("properties").and_then(Value::as_object).unwrap_or(&none);
    if properties.len() > MAX_FIELDS {
        return Err(not_flat("/properties", format!("there are more than {MAX_FIELDS} fields")));
    }
    let required: Vec<&str> = root
        .get("required")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    if let Some(name) = required.iter().find(|name| !properties.contains_key(**name)) {
        return Err(not_flat("/required", format!("{} is required but not described", reveal(name))));
    }
    // The order in which properties were written is lost in parsing; that of `required` is kept.
    let others = properties.keys().map(String::as_str).filter(|name| !required.contains(name));
    let names = required.iter().copied().chain(others);
    let fields = names
        .filter_map(|name| properties.get(name).map(|property| (name, property)))
        .map(|(name, property)| field(schema, name, property, required.contains(&name)))
        .collect::<Result<_, _>>()?;
    Ok(Form {
        title: note(root, "title"),
        description: note(root, "description"),
        fields,
        schema: schema.clone(),
    })
}

fn not_flat(pointer: &str, reason: impl Into<String>) -> NotFlat {
    NotFlat { pointer: pointer.to_owned(), reason: reason.into() }
}

fn note(keywords: &Keywords, name: &str) -> Option<Untrusted> {
    keywords.get(name).and_then(Value::as_str).map(Untrusted::new)
}

/// Refuses any keyword that is not listed: what is not understood may change what an answer must be.
fn only(keywords: &Keywords, lists: &[&[&str]], pointer: &str) -> Result<(), NotFlat> {
    match keywords.keys().find(|name| !lists.iter().any(|list| list.contains(&name.as_str()))) {
        Some(name) => Err(not_flat(&step(pointer, name), format!("the form cannot show {}", reveal(name)))),
        None => Ok(()),
    }
}

fn field(root: &Value, name: &str, property: &Value, required: bool) -> Result<Field, NotFlat> {
    let pointer = step("/properties", name);
    let written = object(property, &pointer)?;
    let keywords = &resolve(root, written, &pointer)?;
    let kind = kind(root, keywords, &pointer)?;
    let default = match keywords.get("default") {
        None => None,
        Some(value) => match entry(&kind, value) {
            None => return Err(not_flat(&step(&pointer, "default"), "the default is no value of its field")),
            some => some,
        },
    };
    let title = note(keywords, "title");
    Ok(Field {
        name: Untrusted::new(name),
        title,
        description: note(keywords, "description"),
        required,
        kind,
        default,
    })
}

fn object<'a>(schema: &'a Value, pointer: &str) -> Result<&'a Keywords, NotFlat> {
    schema.as_object().ok_or_else(|| not_flat(pointer, "anything or nothing is allowed here"))
}

/// Follows local references; what is written beside one may only be notes, and goes before those of its target.
fn resolve(root: &Value, keywords: &Keywords, pointer: &str) -> Result<Keywords, NotFlat> {
    let mut merged = keywords.clone();
    for _ in 0..MAX_HOPS {
        let Some(reference) = merged.remove("$ref") else { return Ok(merged) };
        only(&merged, &[NOTES], pointer)?;
        let target = reference.as_str().and_then(|reference| guard::target(root, reference));
        let target = target.ok_or_else(|| not_flat(pointer, "a reference leads nowhere"))?;
        if merged.contains_key("type") {
            return Err(not_flat(&step(pointer, "type"), "a type stands beside a reference"));
        }
        for (name, value) in object(target, pointer)? {
            merged.entry(name.as_str()).or_insert_with(|| value.clone());
        }
    }
    Err(not_flat(pointer, "references lead on and on"))
}

fn kind(root: &Value, keywords: &Keywords, pointer: &str) -> Result<Kind, NotFlat> {
    let kind = keywords.get("type").map(|kind| kind.as_str().unwrap_or("several types"));
    if ["enum", "const", "oneOf", "anyOf"].iter().any(|name| keywords.contains_key(*name)) {
        return Ok(Kind::One(choices(keywords, kind, pointer)?));
    }
    let allow = |names: &[&str]| only(keywords, &[NOTES, names], pointer);
    match kind {
        Some("string") => {
            allow(&["format", "minLength", "maxLength", "pattern"])?;
            Ok(Kind::Text {
                format: note(keywords, "format"),
                min_length: count(keywords, "minLength"),
                max_length: count(keywords, "maxLength"),
                pattern: note(keywords, "pattern"),
            })
        }
        Some(kind @ ("number" | "integer")) => {
            allow(&["minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum", "multipleOf", "format"])?;
            let limits = Box::new(limits(keywords));
            Ok(if kind == "number" { Kind::Number(limits) } else { Kind::Integer(limits) })
        }
        Some("boolean") => allow(&[]).map(|()| Kind::Boolean),
        Some("array") => {
            allow(&["items", "minItems", "maxItems", "uniqueItems"])?;
            let at = step(pointer, "items");
            let items =
                keywords.get("items").ok_or_else(|| not_flat(pointer, "a list of anything is allowed"))?;
            let items = resolve(root, object(items, &at)?, &at)?;
            let kind = items.get("type").map(|kind| kind.as_str().unwrap_or("several types"));
            let choices = choices(&items, kind, &at)?;
            let (min_items, max_items) = (count(keywords, "minItems"), count(keywords, "maxItems"));
            Ok(Kind::Many { choices, min_items, max_items })
        }
        Some("object") => Err(not_flat(pointer, "it contains fields of its own")),
        Some(_) => Err(not_flat(&step(pointer, "type"), "the form has no field for this type")),
        None => Err(not_flat(pointer, "its type is not given")),
    }
}

fn count(keywords: &Keywords, name: &str) -> Option<u64> {
    let value = keywords.get(name)?;
    // 2.0 is as good as 2 (JSON Schema Core 4.2.3).
    value.as_u64().or_else(|| value.as_f64().and_then(|float| format!("{float:.0}").parse().ok()))
}

fn limits(keywords: &Keywords) -> Limits {
    let limit = |name: &str| match keywords.get(name) {
        Some(Value::Number(limit)) => Some(Number::clone(limit)),
        _ => None,
    };
    Limits {
        minimum: limit("minimum"),
        exclusive_minimum: limit("exclusiveMinimum"),
        maximum: limit("maximum"),
        exclusive_maximum: limit("exclusiveMaximum"),
        multiple_of: limit("multipleOf"),
    }
}

/// The choices of `enum` (with or without `enumNames`), `const`, or `oneOf`/`anyOf` over constants with titles.
fn choices(keywords: &Keywords, kind: Option<&str>, pointer: &str) -> Result<Vec<Choice>, NotFlat> {
    let ways = ["enum", "const", "oneOf", "anyOf"];
    let mut present = ways.into_iter().filter(|name| keywords.contains_key(*name));
    let (Some(way), None) = (present.next(), present.next()) else {
        return Err(not_flat(pointer, "the values it takes are not listed, or listed twice"));
    };
    let at = step(pointer, way);
    only(keywords, &[NOTES, &[way], if way == "enum" { &["enumNames"] } else { &[] }], pointer)?;
    let listed = keywords.get(way).into_iter();
    let choices: Vec<Choice> = match way {
        "const" => listed.map(|value| choice(value, None, None)).collect(),
        "enum" => {
            let names = keywords.get("enumNames").and_then(Value::as_array);
            let name = |index: usize| names.and_then(|names| names.get(index)).and_then(Value::as_str);
            let values = listed.filter_map(Value::as_array).flatten();
            values.enumerate().map(|(index, value)| choice(value, name(index), None)).collect()
        }
        _ => {
            let branches = listed.filter_map(Value::as_array).flatten();
            branches
                .enumerate()
                .map(|(index, branch)| branch_choice(branch, &format!("{at}/{index}")))
                .collect::<Result<_, _>>()?
        }
    };
    if choices.is_empty() || choices.len() > MAX_CHOICES {
        return Err(not_flat(&at, format!("there are no choices, or more than {MAX_CHOICES}")));
    }
    if choices.iter().any(|choice| choice.value.is_array() || choice.value.is_object()) {
        return Err(not_flat(&at, "a choice is more than one value"));
    }
    if choices.iter().any(|choice| !fits(kind, &choice.value)) {
        return Err(not_flat(&at, "a choice is not of the type that is asked for"));
    }
    Ok(choices)
}

fn branch_choice(branch: &Value, pointer: &str) -> Result<Choice, NotFlat> {
    let branch = object(branch, pointer)?;
    only(branch, &[&["const", "title", "description", "$comment", "type"]], pointer)?;
    let value = branch.get("const").ok_or_else(|| not_flat(pointer, "a choice is not one value"))?;
    if !fits(branch.get("type").map(|kind| kind.as_str().unwrap_or("several types")), value) {
        return Err(not_flat(pointer, "a choice is not of the type that is asked for"));
    }
    Ok(choice(value, branch.get("title").and_then(Value::as_str), note(branch, "description")))
}

fn choice(value: &Value, title: Option<&str>, description: Option<Untrusted>) -> Choice {
    let title = title
        .map(str::to_owned)
        .or_else(|| value.as_str().map(str::to_owned))
        .unwrap_or_else(|| value.to_string());
    Choice { value: value.clone(), title: Untrusted::new(title), description }
}

fn fits(kind: Option<&str>, value: &Value) -> bool {
    match kind {
        None => true,
        Some("string") => value.is_string(),
        Some("number") => value.is_number(),
        Some("integer") => value.as_f64().is_some_and(|number| number.fract() == 0.0),
        Some("boolean") => value.is_boolean(),
        Some("null") => value.is_null(),
        Some(_) => false,
    }
}

/// The entry that stands for a value, if the kind of field can hold exactly that value.
pub(super) fn entry(kind: &Kind, value: &Value) -> Option<Entry> {
    let position =
        |choices: &[Choice], value: &Value| choices.iter().position(|choice| choice.value == *value);
    match (kind, value) {
        (Kind::Text { .. }, Value::String(text)) => Some(Entry::Text(text.clone())),
        (Kind::Number(_), Value::Number(typed)) => {
            let typed = typed.to_string();
            number::number(&typed).ok().map(|_| Entry::Text(typed))
        }
        (Kind::Integer(_), Value::Number(typed)) => {
            let typed = typed.to_string();
            let whole = typed.strip_suffix(".0").unwrap_or(&typed);
            number::integer(whole).ok().map(|_| Entry::Text(whole.to_owned()))
        }
        (Kind::Boolean, Value::Bool(flag)) => Some(Entry::Flag(*flag)),
        (Kind::One(choices), value) => position(choices, value).map(Entry::One),
        (Kind::Many { choices, .. }, Value::Array(values)) => {
            values.iter().map(|value| position(choices, value)).collect::<Option<_>>().map(Entry::Many)
        }
        _ => None,
    }
}
