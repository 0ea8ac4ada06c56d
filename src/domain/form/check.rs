//! An answer against its schema, by the JSON Schema engine, within bounds.

use jsonschema::error::ValidationErrorKind;
use jsonschema::{PatternOptions, ValidationError, Validator};
use serde_json::Value;

use crate::domain::text::clip;

use super::{FieldError, guard, step};

/// Most errors reported at once.
const MAX_ERRORS: usize = 64;

/// Longest message, in cells: schemas put their own text into it.
const MAX_MESSAGE: usize = 300;

/// Memory one compiled pattern may take.
const PATTERN_BYTES: usize = 256 << 10;

/// Validates an answer against a schema: JSON Schema 2020-12 unless `$schema` names draft 7 or 2019-09, formats
/// asserted, patterns matched in linear time, nothing fetched.
///
/// # Errors
/// Each violation with the JSON Pointer of the instance, at most 64; or one error at the whole when the schema
/// cannot be used: too large or deep, a `$ref` that does not lead to a place in the same schema, a pattern with
/// look-around or back-references, recursion whose cost explodes.
pub fn validate(schema: &Value, instance: &Value) -> Result<(), Vec<FieldError>> {
    guard::schema(schema).map_err(|error| vec![whole(&error.message)])?;
    guard::answer(schema, instance).map_err(|message| vec![whole(&message)])?;
    let validator = compile(schema).map_err(|message| vec![whole(&message)])?;
    let errors: Vec<_> = validator.iter_errors(instance).take(MAX_ERRORS).map(|error| told(&error)).collect();
    if errors.is_empty() { Ok(()) } else { Err(errors) }
}

/// Compiles a schema that [`guard::schema`] let pass.
pub(super) fn compile(schema: &Value) -> Result<Validator, String> {
    let patterns = PatternOptions::regex().size_limit(PATTERN_BYTES).dfa_size_limit(PATTERN_BYTES);
    jsonschema::options()
        .offline()
        .should_validate_formats(true)
        .with_pattern_options(patterns)
        .build(schema)
        .map_err(|error| {
            safe(&format!("the schema cannot be used: {} at {}", error.masked(), error.instance_path()))
        })
}

fn whole(message: &str) -> FieldError {
    FieldError::new("", message)
}

fn told(error: &ValidationError<'_>) -> FieldError {
    let at = error.instance_path().as_str();
    match error.kind() {
        ValidationErrorKind::Required { property } => {
            FieldError::new(step(at, property.as_str().unwrap_or_default()), "an answer is required")
        }
        ValidationErrorKind::AdditionalProperties { unexpected } if unexpected.len() == 1 => FieldError::new(
            step(at, unexpected.first().map_or("", String::as_str)),
            "the schema has no such field",
        ),
        // The answer itself stays out of the message: it may be logged.
        _ => FieldError::new(at, safe(&error.masked_with("this").to_string())),
    }
}

fn safe(message: &str) -> String {
    clip(message, MAX_MESSAGE).text.into_cow().into_owned()
}
