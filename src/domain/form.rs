//! The answer form: a flat JSON Schema as fields a person can fill in.
