//! From what was entered to the answer.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::domain::secret::looks_like_secret;
use crate::domain::text::reveal;

use super::{Choice, Entry, Field, FieldError, Form, Kind, check, number, step};

pub(super) fn collect(form: &Form, entries: &BTreeMap<String, Entry>) -> Result<Value, Vec<FieldError>> {
    let mut answer = Map::new();
    let mut errors = Vec::new();
    for field in &form.fields {
        let entry = entries.get(field.name.raw()).unwrap_or(&Entry::Absent);
        match value(field, entry) {
            Ok(Some(value)) => {
                answer.insert(field.name.raw().to_owned(), value);
            }
            Ok(None) if field.required => {
                errors.push(FieldError::new(step("", field.name.raw()), "an answer is required"));
            }
            Ok(None) => {}
            Err(message) => errors.push(FieldError::new(step("", field.name.raw()), message)),
        }
    }
    for name in entries.keys() {
        if !form.fields.iter().any(|field| field.name.raw() == name) {
            errors.push(FieldError::new(step("", name), "the form has no such field"));
        }
    }
    if !errors.is_empty() {
        return Err(errors);
    }
    let answer = Value::Object(answer);
    check::validate(&form.schema, &answer)?;
    Ok(answer)
}

/// The value of one field; nothing where it is left out.
fn value(field: &Field, entry: &Entry) -> Result<Option<Value>, String> {
    let value = match (&field.kind, entry) {
        (_, Entry::Absent) => return Ok(None),
        // An empty string is an answer; an empty number is none.
        (Kind::Text { .. }, Entry::Text(text)) => {
            no_secret(field, text)?;
            Value::from(text.as_str())
        }
        (_, Entry::Text(text)) if text.trim().is_empty() => return Ok(None),
        (Kind::Number(_), Entry::Text(text)) => number::number(text.trim())?,
        (Kind::Integer(_), Entry::Text(text)) => number::integer(text.trim())?,
        (Kind::Boolean, Entry::Flag(flag)) => Value::Bool(*flag),
        (Kind::Boolean, Entry::Text(text)) => match text.trim().to_ascii_lowercase().as_str() {
            "yes" | "true" => Value::Bool(true),
            "no" | "false" => Value::Bool(false),
            _ => return Err("write yes or no".to_owned()),
        },
        (Kind::One(choices), Entry::One(index)) => chosen(choices, *index)?,
        (Kind::One(choices), Entry::Text(text)) => named(choices, text)?,
        (Kind::Many { choices, .. }, Entry::Many(indexes)) => {
            if indexes.len() > choices.len() {
                return Err("each choice can be made once".to_owned());
            }
            Value::Array(indexes.iter().map(|&index| chosen(choices, index)).collect::<Result<_, _>>()?)
        }
        _ => return Err("this kind of field is not filled in like that".to_owned()),
    };
    Ok(Some(value))
}

/// Refuses what looks like a credential by itself, or would as the value of a field with this name.
fn no_secret(field: &Field, text: &str) -> Result<(), String> {
    let found =
        looks_like_secret(text).or_else(|| looks_like_secret(&format!("{}: {text}", field.name.raw())));
    match found {
        Some(kind) => Err(format!("looks like {} and is refused. {}", kind.what(), kind.advice())),
        None => Ok(()),
    }
}

fn chosen(choices: &[Choice], index: usize) -> Result<Value, String> {
    let choice = choices.get(index).ok_or_else(|| format!("there are only {} choices", choices.len()))?;
    Ok(choice.value.clone())
}

/// The choice whose value, or else whose title, was typed.
fn named(choices: &[Choice], text: &str) -> Result<Value, String> {
    let by_value: Vec<_> = choices.iter().filter(|choice| choice.value.as_str() == Some(text)).collect();
    let found = if by_value.is_empty() {
        choices.iter().filter(|choice| choice.title.raw() == text).collect()
    } else {
        by_value
    };
    match found.as_slice() {
        [] => Err("is none of the choices".to_owned()),
        [one] => Ok(one.value.clone()),
        _ => Err(format!("{} choices are called {}; pick one from the list", found.len(), reveal(text))),
    }
}
