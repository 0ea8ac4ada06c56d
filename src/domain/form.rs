//! The answer form: a flat JSON Schema as fields a person can fill in.

/// placeholder until merge
pub struct FieldError {
    /// f
    pub field: String,
    /// m
    pub message: String,
}
/// v
pub fn validate(_s: &serde_json::Value, _v: &serde_json::Value) -> Result<(), Vec<FieldError>> {
    Ok(())
}
