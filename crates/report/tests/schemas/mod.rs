//! Validates JSON against the schemas of `docs/json-schema`.

use jsonschema::Validator;
use serde_json::Value;

/// The schema `docs/json-schema/NAME.schema.json`.
fn validator(name: &str) -> Validator {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/json-schema");
    let text = std::fs::read_to_string(format!("{folder}/{name}.schema.json"));
    let schema: Value = serde_json::from_str(&text.expect("the schema is there")).expect("JSON");
    jsonschema::validator_for(&schema).expect("a valid schema")
}

/// Fails if one of `values` doesn't match the schema, and reports where. An unknown key must be refused in
/// each of them.
pub(crate) fn assert_fits(name: &str, values: impl IntoIterator<Item = Value>) {
    let schema = validator(name);
    for mut value in values {
        let errors: Vec<String> = schema
            .iter_errors(&value)
            .map(|error| format!("{}: {error}", error.instance_path()))
            .collect();
        assert_eq!(errors, Vec::<String>::new(), "{name}");
        value["extra"] = Value::Bool(true);
        assert!(!schema.is_valid(&value), "the schema of {name} is open");
    }
}

/// Fails if the schema accepts `value` after one of the changes in `spoil`.
#[allow(dead_code, reason = "some tests spoil no record")]
pub(crate) fn assert_refused(name: &str, value: &Value, spoil: &[&dyn Fn(&mut Value)]) {
    let schema = validator(name);
    for spoil in spoil {
        let mut value = value.clone();
        spoil(&mut value);
        assert!(!schema.is_valid(&value), "{name} takes {value}");
    }
}
