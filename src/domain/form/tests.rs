//! Schemas that are forms and schemas that are not; answers against the semantics of JSON Schema 2020-12.

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

fn property(schema: Value) -> Value {
    json!({"type": "object", "properties": {"x": schema}})
}

fn field(schema: Value) -> Field {
    let schema = property(schema);
    Form::from_schema(&schema).unwrap_or_else(|error| panic!("{schema}: {error}")).fields.remove(0)
}

fn kind(schema: Value) -> Kind {
    field(schema).kind
}

fn titles(choices: &[Choice]) -> Vec<&str> {
    choices.iter().map(|choice| choice.title.raw()).collect()
}

fn entries<const N: usize>(pairs: [(&str, Entry); N]) -> BTreeMap<String, Entry> {
    pairs.into_iter().map(|(name, entry)| (name.to_owned(), entry)).collect()
}

fn typed(schema: Value, text: &str) -> Result<Value, String> {
    let form = Form::from_schema(&property(schema)).unwrap();
    let answer = form.collect(&entries([("x", Entry::Text(text.to_owned()))]));
    answer.map(|answer| answer.get("x").cloned().unwrap_or(Value::Null)).map_err(|errors| {
        assert_eq!(errors.len(), 1, "{errors:?}");
        assert_eq!(errors[0].field().as_deref(), Some("x"), "{errors:?}");
        errors[0].message.clone()
    })
}

#[test]
fn a_whole_form_is_read() {
    let schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Release",
        "description": "Which build goes out?",
        "type": "object",
        "properties": {
            "when": {"type": "string", "format": "date", "title": "Day"},
            "build": {"type": "integer", "minimum": 1, "default": 7},
            "notify": {"type": "boolean", "description": "Tell the team"},
        },
        "required": ["when", "build"],
        "additionalProperties": false,
    });
    let form = Form::from_schema(&schema).unwrap();
    assert_eq!(form.title.as_ref().map(Untrusted::raw), Some("Release"));
    assert_eq!(form.description.as_ref().map(Untrusted::raw), Some("Which build goes out?"));
    let fields: Vec<_> = form.fields.iter().map(|field| (field.name.raw(), field.required)).collect();
    assert_eq!(fields, [("when", true), ("build", true), ("notify", false)]);
    assert_eq!(form.fields[0].title.as_ref().map(Untrusted::raw), Some("Day"));
    assert_eq!(form.fields[1].default, Some(Entry::Text("7".into())));
    assert_eq!(form.fields[2].description.as_ref().map(Untrusted::raw), Some("Tell the team"));
    let answer = form.collect(&entries([
        ("when", Entry::Text("2026-02-28".into())),
        ("build", Entry::Text("12".into())),
        ("notify", Entry::Absent),
    ]));
    assert_eq!(answer, Ok(json!({"when": "2026-02-28", "build": 12})));
}

#[test]
fn kinds_are_read() {
    let Kind::Text { format, min_length, max_length, pattern } =
        kind(json!({"type": "string", "format": "email", "minLength": 2.0, "maxLength": 9, "pattern": "^a"}))
    else {
        panic!("no text")
    };
    assert_eq!(
        (format.unwrap().raw(), min_length, max_length, pattern.unwrap().raw()),
        ("email", Some(2), Some(9), "^a")
    );
    let Kind::Number(limits) = kind(json!({"type": "number", "exclusiveMaximum": 0.5, "multipleOf": 0.1}))
    else {
        panic!("no number")
    };
    assert_eq!(limits.exclusive_maximum, Number::from_f64(0.5));
    assert_eq!(limits.multiple_of, Number::from_f64(0.1));
    assert_eq!(kind(json!({"type": "boolean"})), Kind::Boolean);
    let ones = [
        (json!({"type": "string", "enum": ["a", "b"]}), vec!["a", "b"]),
        (json!({"enum": ["1", 1, null, true]}), vec!["1", "1", "null", "true"]),
        (json!({"type": "string", "enum": ["a", "b"], "enumNames": ["A", "B"]}), vec!["A", "B"]),
        (json!({"const": "only"}), vec!["only"]),
        (json!({"oneOf": [{"const": 1, "title": "One"}, {"const": 2}]}), vec!["One", "2"]),
        (json!({"type": "string", "anyOf": [{"const": "r", "title": "Red"}]}), vec!["Red"]),
    ];
    for (schema, expected) in ones {
        let Kind::One(choices) = kind(schema.clone()) else { panic!("{schema}") };
        assert_eq!(titles(&choices), expected, "{schema}");
    }
    let many = json!({"type": "array", "items": {"type": "string", "enum": ["a", "b"]}, "minItems": 1, "maxItems": 2,
                      "uniqueItems": true, "default": ["b"]});
    let field = field(many);
    let Kind::Many { choices, min_items, max_items } = &field.kind else { panic!("not many") };
    assert_eq!((titles(choices), *min_items, *max_items), (vec!["a", "b"], Some(1), Some(2)));
    assert_eq!(field.default, Some(Entry::Many(vec![1])));
}

#[test]
fn local_references_are_followed() {
    let schema = json!({
        "type": "object",
        "properties": {"x": {"$ref": "#/$defs/alias", "title": "Mine"}},
        "$defs": {"alias": {"$ref": "#/$defs/colour"}, "colour": {"title": "Theirs", "enum": ["red"]}},
    });
    let form = Form::from_schema(&schema).unwrap();
    assert_eq!(form.fields[0].title.as_ref().map(Untrusted::raw), Some("Mine"));
    assert!(matches!(&form.fields[0].kind, Kind::One(choices) if titles(choices) == ["red"]));
}

#[test]
fn choices_keep_their_descriptions() {
    let schema =
        json!({"oneOf": [{"const": "a", "title": "A", "description": "goes \u{7}first"}, {"const": "b"}]});
    let Kind::One(choices) = kind(schema) else { panic!("no choices") };
    assert_eq!(
        choices[0].description.as_ref().map(|text| text.reveal().to_string()).as_deref(),
        Some("goes ␇first")
    );
    assert_eq!(choices[1].description, None);
}

#[test]
fn credentials_are_refused_wherever_text_is_typed() {
    let token = "ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8";
    let refused = typed(json!({"type": "string"}), &format!("use {token}")).unwrap_err();
    assert!(refused.starts_with("looks like a GitHub token"), "{refused}");
    assert!(!refused.contains(token));
    let asks = json!({"type": "object", "properties": {"db_password": {"type": "string"}}});
    let answer = |text: &str| {
        Form::from_schema(&asks).unwrap().collect(&entries([("db_password", Entry::Text(text.to_owned()))]))
    };
    assert!(answer("swordfish").unwrap_err()[0].message.contains("a password or key"));
    assert!(answer("").is_ok());
    assert!(answer("ask the owner, it was rotated").is_ok());
}

#[test]
fn richer_schemas_are_not_flat() {
    let table = [
        (json!(true), ""),
        (json!([]), ""),
        (json!({"type": "string"}), "/type"),
        (json!({"properties": {}}), "/type"),
        (json!({"type": "object", "required": ["y"]}), "/required"),
        (json!({"type": "object", "additionalProperties": {"type": "string"}}), "/additionalProperties"),
        (json!({"type": "object", "patternProperties": {"^x": {}}}), "/patternProperties"),
        (json!({"type": "object", "if": {}, "then": {}}), "/if"),
        (json!({"type": "object", "minProperties": 1}), "/minProperties"),
        (json!({"type": "object", "made-up": 1}), "/made-up"),
        (property(json!(true)), "/properties/x"),
        (property(json!({})), "/properties/x"),
        (property(json!({"type": "object"})), "/properties/x"),
        (property(json!({"type": "null"})), "/properties/x/type"),
        (property(json!({"type": ["string", "null"]})), "/properties/x/type"),
        (property(json!({"type": "string", "not": {}})), "/properties/x/not"),
        (property(json!({"type": "string", "contentEncoding": "base64"})), "/properties/x/contentEncoding"),
        (property(json!({"type": "array"})), "/properties/x"),
        (property(json!({"type": "array", "items": {"type": "string"}})), "/properties/x/items"),
        (property(json!({"type": "array", "items": {"type": "object"}})), "/properties/x/items"),
        (property(json!({"anyOf": [{"type": "string"}, {"type": "null"}]})), "/properties/x/anyOf/0"),
        (property(json!({"oneOf": [{"title": "A"}]})), "/properties/x/oneOf/0"),
        (property(json!({"enum": ["a"], "const": "a"})), "/properties/x"),
        (property(json!({"enum": [{"a": 1}]})), "/properties/x/enum"),
        (property(json!({"type": "string", "enum": [1]})), "/properties/x/enum"),
        (property(json!({"type": "string", "enum": ["abc"], "minLength": 1})), "/properties/x/minLength"),
        (property(json!({"type": "integer", "default": "a"})), "/properties/x/default"),
        (property(json!({"type": "integer", "default": 9_007_199_254_740_993_i64})), "/properties/x/default"),
        (property(json!({"enum": ["a"], "default": "b"})), "/properties/x/default"),
        (property(json!({"$ref": "#/properties/x"})), "/properties/x"),
        (property(json!({"$ref": "https://example.com/s.json"})), "/properties/x"),
        (property(json!({"$ref": "#/$defs/none"})), "/properties/x"),
        (property(json!({"$ref": "other.json"})), "/properties/x"),
        (property(json!({"$id": "https://e.com/y", "type": "string"})), "/properties/x"),
        (property(json!({"$dynamicRef": "#x"})), "/properties/x"),
        (property(json!({"type": "string", "pattern": "("})), ""),
        (property(json!({"type": "string", "pattern": "(?=a)a"})), ""),
        (property(json!({"type": "string", "minLength": -1})), ""),
        (json!({"$schema": "https://example.com/meta", "type": "object"}), ""),
        (json!({"$schema": "http://json-schema.org/draft-04/schema#", "type": "object"}), ""),
    ];
    for (schema, pointer) in table {
        let error = Form::from_schema(&schema).expect_err(&schema.to_string());
        assert_eq!(error.pointer, pointer, "{schema}: {error}");
    }
}

#[test]
fn typed_numbers_lose_nothing() {
    let integers = [
        ("0", Ok(json!(0))),
        ("-0", Ok(json!(0))),
        (" 42 ", Ok(json!(42))),
        ("9007199254740991", Ok(json!(9_007_199_254_740_991_i64))),
        ("-9007199254740991", Ok(json!(-9_007_199_254_740_991_i64))),
        ("9007199254740992", Err("beyond 9007199254740991")),
        ("9007199254740993", Err("beyond")),
        ("-9223372036854775808", Err("beyond")),
        ("99999999999999999999", Err("beyond")),
        ("1.0", Err("without point")),
        ("1e3", Err("without point")),
        ("007", Err("is no whole number")),
        ("+1", Err("is no whole number")),
        ("١", Err("is no whole number")),
        ("1,000", Err("is no whole number")),
        ("0x10", Err("is no whole number")),
    ];
    for (text, expected) in integers {
        compare(typed(json!({"type": "integer"}), text), expected, text);
    }
    let numbers = [
        ("5", Ok(json!(5))),
        ("0.1", Ok(json!(0.1))),
        ("-0.50", Ok(json!(-0.5))),
        ("6.02E+23", Ok(json!(6.02e23))),
        ("1e300", Ok(json!(1e300))),
        ("5e-324", Ok(json!(5e-324))),
        ("9007199254740992", Ok(json!(9_007_199_254_740_992.0))),
        ("9007199254740993", Err("it would become 9.007199254740992e15")),
        ("0.1000000000000000055", Err("it would become 1e-1")),
        ("1e400", Err("too large")),
        ("1e-400", Err("it would become 0e0")),
        ("1e99999999999999999999", Err("is no number")),
        ("NaN", Err("is no number")),
        ("inf", Err("is no number")),
        (".5", Err("is no number")),
        ("5.", Err("is no number")),
        ("1e", Err("is no number")),
        ("--1", Err("is no number")),
    ];
    for (text, expected) in numbers {
        compare(typed(json!({"type": "number"}), text), expected, text);
    }
}

fn compare(got: Result<Value, String>, expected: Result<Value, &str>, text: &str) {
    match (&got, expected) {
        (Ok(got), Ok(expected)) => assert_eq!(*got, expected, "{text}"),
        (Err(message), Err(part)) => assert!(message.contains(part), "{text}: {message}"),
        (_, expected) => panic!("{text}: {got:?}, expected {expected:?}"),
    }
}

#[test]
fn entries_become_values() {
    assert_eq!(typed(json!({"type": "string"}), ""), Ok(json!("")));
    assert_eq!(typed(json!({"type": "integer"}), " "), Ok(Value::Null), "a blank number is left out");
    assert_eq!(typed(json!({"type": "boolean"}), "Yes"), Ok(json!(true)));
    assert_eq!(typed(json!({"type": "boolean"}), "maybe"), Err("write yes or no".into()));
    let one = json!({"oneOf": [{"const": 1, "title": "One"}, {"const": "One", "title": "x"}, {"const": 3, "title": "x"}]});
    assert_eq!(typed(one.clone(), "One"), Ok(json!("One")), "a value goes before a title");
    assert!(typed(one.clone(), "x").unwrap_err().contains("2 choices"));
    assert_eq!(typed(one.clone(), "none"), Err("is none of the choices".into()));
    let form = Form::from_schema(&property(one)).unwrap();
    assert_eq!(form.collect(&entries([("x", Entry::One(0))])), Ok(json!({"x": 1})));
    assert!(form.collect(&entries([("x", Entry::One(3))])).is_err());
    assert!(form.collect(&entries([("x", Entry::Flag(true))])).is_err());
    let many = json!({"type": "array", "items": {"enum": ["a", "b"]}, "uniqueItems": true, "minItems": 1});
    let form = Form::from_schema(&property(many)).unwrap();
    assert_eq!(form.collect(&entries([("x", Entry::Many(vec![1, 0]))])), Ok(json!({"x": ["b", "a"]})));
    assert!(form.collect(&entries([("x", Entry::Many(vec![0, 0]))])).is_err());
    assert!(form.collect(&entries([("x", Entry::Many(vec![]))])).is_err());
    assert_eq!(form.collect(&BTreeMap::new()), Ok(json!({})));
}

#[test]
fn nothing_is_dropped_silently() {
    let form = Form::from_schema(
        &json!({"type": "object", "properties": {"a/b": {"type": "string"}}, "required": ["a/b"]}),
    );
    let errors = form.unwrap().collect(&entries([("c", Entry::Text("x".into()))])).unwrap_err();
    let told: Vec<_> = errors.iter().map(|error| (error.at.as_str(), error.message.as_str())).collect();
    assert_eq!(told, [("/a~1b", "an answer is required"), ("/c", "the form has no such field")]);
    assert_eq!(errors[0].field().as_deref(), Some("a/b"));
}

/// Assertions of JSON Schema Validation 2020-12, section 6, and of the applicators of Core, section 10.
#[test]
fn answers_are_validated_by_the_specification() {
    let table = [
        (json!({"type": "integer"}), json!(1.0), true),
        (json!({"type": "integer"}), json!(1.5), false),
        (json!({"type": "number"}), json!("1"), false),
        (json!({"minLength": 2}), json!("💩💩"), true),
        (json!({"minLength": 2}), json!("💩"), false),
        (json!({"maxLength": 2}), json!("abc"), false),
        (json!({"minLength": 2}), json!(1), true),
        (json!({"pattern": "a"}), json!("xxaxx"), true),
        (json!({"pattern": "^a$"}), json!("xxaxx"), false),
        (json!({"minimum": 1.1}), json!(1.1), true),
        (json!({"exclusiveMinimum": 1.1}), json!(1.1), false),
        (json!({"multipleOf": 0.01}), json!(0.0075), false),
        (json!({"multipleOf": 0.0001}), json!(0.0075), true),
        (json!({"enum": [0]}), json!(false), false),
        (json!({"const": 1}), json!(1.0), true),
        (json!({"uniqueItems": true}), json!([1, 1.0]), false),
        (json!({"uniqueItems": true}), json!([1, true]), true),
        (json!({"required": ["a"]}), json!({}), false),
        (json!({"required": ["a"]}), json!({"a": null}), true),
        (json!({"prefixItems": [{"type": "string"}], "items": false}), json!(["a", 1]), false),
        (json!({"contains": {"const": 5}, "maxContains": 1}), json!([5, 5]), false),
        (json!({"oneOf": [{"type": "integer"}, {"minimum": 2}]}), json!(3), false),
        (json!({"if": {"const": 1}, "then": false}), json!(1), false),
        (json!({"dependentRequired": {"a": ["b"]}}), json!({"a": 1}), false),
        (
            json!({"$ref": "#/$defs/a", "$defs": {"a": {"type": "string"}}, "maxLength": 1}),
            json!("ab"),
            false,
        ),
        (
            json!({"allOf": [{"properties": {"a": true}}], "unevaluatedProperties": false}),
            json!({"b": 1}),
            false,
        ),
        (json!({"format": "date"}), json!("2026-02-29"), false),
        (json!({"format": "date"}), json!("2028-02-29"), true),
        (json!({"format": "date-time"}), json!("2026-02-28T10:00:00Z"), true),
        (json!({"format": "email"}), json!("nobody"), false),
        (json!({"format": "uri"}), json!("https://example.com/"), true),
        (json!({"format": "uri"}), json!("not a uri"), false),
        (json!({"format": "made-up"}), json!("anything"), true),
        (json!(true), json!(null), true),
        (json!(false), json!(null), false),
    ];
    for (schema, instance, valid) in table {
        assert_eq!(validate(&schema, &instance).is_ok(), valid, "{schema} on {instance}");
    }
}

#[test]
fn errors_say_where_and_do_not_repeat_the_answer() {
    let schema = json!({
        "type": "object",
        "properties": {"a": {"type": "array", "items": {"maxLength": 3}}, "b": {"type": "integer"}},
        "required": ["c~d"],
        "additionalProperties": false,
    });
    let errors =
        validate(&schema, &json!({"a": ["ok", "canary-secret"], "b": "canary-secret", "e": 1})).unwrap_err();
    let mut at: Vec<_> = errors.iter().map(|error| error.at.as_str()).collect();
    at.sort_unstable();
    assert_eq!(at, ["/a/1", "/b", "/c~0d", "/e"]);
    assert!(errors.iter().all(|error| !error.to_string().contains("canary")), "{errors:?}");
    let hostile = json!({"pattern": "^\u{202e}\u{7}$"});
    let errors = validate(&hostile, &json!("x")).unwrap_err();
    assert!(!errors[0].message.contains(['\u{202e}', '\u{7}']), "{errors:?}");
}

#[test]
fn size_and_depth_are_bounded() {
    let refused =
        |schema: &Value, instance: &Value| validate(schema, instance).unwrap_err().remove(0).message;
    let large = json!({"description": "x".repeat(MAX_SCHEMA)});
    assert!(refused(&large, &json!(1)).contains("schema is larger than 256 KiB"));
    assert!(refused(&json!({}), &json!("x".repeat(MAX_ANSWER))).contains("answer is larger than 256 KiB"));
    assert!(refused(&json!({}), &json!(vec![0; 10_000])).contains("more than 10000 values"));
    let nested = |levels: usize| (0..levels).fold(json!(1), |inner, _| json!([inner]));
    assert!(validate(&json!({}), &nested(MAX_DEPTH)).is_ok());
    assert!(refused(&json!({}), &nested(MAX_DEPTH + 1)).contains("deeper than 32"));
    assert!(refused(&json!({"const": nested(MAX_DEPTH)}), &json!(1)).contains("deeper than 32"));
    let patterns: Vec<Value> = (0..65).map(|n| json!({"pattern": n.to_string()})).collect();
    assert!(refused(&json!({"allOf": patterns}), &json!("x")).contains("more than 64 patterns"));
}

#[test]
fn references_stay_at_home() {
    for reference in
        ["https://example.com/s", "file:///etc/passwd", "s.json", "#anchor", "#/$defs/%61", "//host/x"]
    {
        let schema = json!({"$ref": reference, "$defs": {"a": true}});
        let errors = validate(&schema, &json!(1)).unwrap_err();
        assert!(errors[0].message.contains("nothing is fetched"), "{reference}: {errors:?}");
    }
    let tree = json!({"type": "object", "properties": {"left": {"$ref": "#"}, "right": {"$ref": "#"}}});
    assert!(validate(&tree, &json!({"left": {"left": {}}, "right": {}})).is_ok());
    assert_eq!(validate(&tree, &json!({"left": {"right": 1}})).unwrap_err()[0].at, "/left/right");
}

#[test]
fn work_is_bounded_before_it_is_done() {
    assert!(validate(&json!({"$ref": "#"}), &json!(1)).unwrap_err()[0].message.contains("without an end"));
    // Doubling at each of 60 steps: 2^60 applications to one value.
    let defs: serde_json::Map<String, Value> = (0..60)
        .map(|n| {
            let next = json!({"$ref": format!("#/$defs/d{}", n + 1)});
            (format!("d{n}"), json!({"allOf": [next.clone(), next]}))
        })
        .chain([("d60".to_owned(), json!(true))])
        .collect();
    let bomb = json!({"$ref": "#/$defs/d0", "$defs": defs});
    assert!(validate(&bomb, &json!(1)).unwrap_err()[0].message.contains("would take too long"));
    // Doubling at each level of the answer.
    let level = json!({"properties": {"x": {"$ref": "#"}}, "patternProperties": {"^x": {"$ref": "#"}}});
    let deep = (0..30).fold(json!({}), |inner, _| json!({"x": inner}));
    assert!(validate(&level, &deep).unwrap_err()[0].message.contains("would take too long"));
    // A pattern that makes a backtracking engine try 2^n ways.
    let pattern = json!({"pattern": "^(a+)+$"});
    let text = format!("{}!", "a".repeat(100_000));
    assert!(validate(&pattern, &json!(text)).is_err());
    let huge = json!({"pattern": "((a{1000}){1000}){1000}"});
    assert!(validate(&huge, &json!("a")).unwrap_err()[0].message.contains("cannot be used"));
}

fn any_json() -> impl Strategy<Value = Value> {
    let keyword = proptest::sample::select(vec![
        "type",
        "properties",
        "required",
        "enum",
        "const",
        "oneOf",
        "anyOf",
        "items",
        "default",
        "title",
        "pattern",
        "minLength",
        "$ref",
        "$defs",
        "maximum",
        "format",
        "x",
        "~/",
        "additionalProperties",
        "minItems",
    ]);
    let leaf = prop_oneof![
        Just(json!(null)),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".{0,6}".prop_map(Value::from),
        proptest::sample::select(vec!["object", "string", "integer", "array", "#", "#/$defs/x", "date"])
            .prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 40, 6, move |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::btree_map(keyword.clone(), inner, 0..5).prop_map(|map| Value::Object(
                map.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
            )),
        ]
    })
}

proptest! {
    #[test]
    fn no_schema_and_no_answer_panics(schema in any_json(), instance in any_json()) {
        let _ = validate(&schema, &instance);
        let wrapped = json!({"type": "object", "properties": {"x": schema}});
        if let Ok(form) = Form::from_schema(&wrapped) {
            let defaults: BTreeMap<String, Entry> = form
                .fields
                .iter()
                .filter_map(|field| Some((field.name.raw().to_owned(), field.default.clone()?)))
                .collect();
            if let Ok(answer) = form.collect(&defaults) {
                prop_assert_eq!(validate(&wrapped, &answer), Ok(()));
            }
        }
    }

    #[test]
    fn an_accepted_number_reads_back_as_typed(number in any::<f64>().prop_filter("finite", |n| n.is_finite())) {
        let text = format!("{number:?}");
        let value = typed(json!({"type": "number"}), &text).unwrap();
        prop_assert_eq!(value.to_string().parse::<f64>().unwrap(), number);
    }

    #[test]
    fn any_typed_text_is_taken_or_refused(text in "[-+0-9.eE]{0,24}|.{0,12}") {
        for kind in ["string", "number", "integer", "boolean"] {
            let form = Form::from_schema(&property(json!({"type": kind}))).unwrap();
            if let Ok(answer) = form.collect(&entries([("x", Entry::Text(text.clone()))])) {
                let back = form.fields[0].entry(answer.get("x").unwrap_or(&Value::Null));
                prop_assert!(back.is_some() || text.trim().is_empty(), "{answer}");
            }
        }
    }
}
