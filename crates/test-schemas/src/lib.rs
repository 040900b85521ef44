//! The schemas of `docs/json-schema`, generated from types and their comments.

use std::path::PathBuf;

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

/// A schema and the name of its file.
pub struct Schema {
    file: &'static str,
    schema: Value,
}

impl Schema {
    /// Returns the schema of written data: a key that is always present is required, even if its value may be
    /// null.
    pub fn of_output<T: JsonSchema>(file: &'static str, title: &str) -> Schema {
        let settings = SchemaSettings::draft2020_12().for_serialize();
        Schema::new::<T>(file, title, settings)
    }

    /// Returns the schema of data that is read: a key with a default isn't required.
    pub fn of_input<T: JsonSchema>(file: &'static str, title: &str) -> Schema {
        let settings = SchemaSettings::draft2020_12().for_deserialize();
        Schema::new::<T>(file, title, settings)
    }

    fn new<T: JsonSchema>(file: &'static str, title: &str, settings: SchemaSettings) -> Schema {
        let schema = settings.into_generator().into_root_schema_for::<T>();
        let mut schema = schema.to_value();
        schema["$id"] = json!(format!("{file}.schema.json"));
        schema["title"] = json!(title);
        tighten(&mut schema);
        Schema { file, schema }
    }
}

/// Fails if a committed file differs from the schema of the types; with `FATHOM_WRITE_SCHEMAS=1`, writes the
/// files instead.
pub fn assert_committed(all: &[Schema]) {
    let write = std::env::var_os("FATHOM_WRITE_SCHEMAS").is_some();
    let mut differ = Vec::new();
    for Schema { file, schema } in all {
        let mut text = serde_json::to_string_pretty(schema).expect("it is JSON");
        text.push('\n');
        if write {
            std::fs::write(path(file), text).expect("it can be written");
        } else if std::fs::read_to_string(path(file)).unwrap_or_default() != text {
            differ.push(*file);
        }
    }
    let none = Vec::<&str>::new();
    assert_eq!(differ, none, "FATHOM_WRITE_SCHEMAS=1 writes them");
}

/// Fails if a key has no description.
pub fn assert_described(all: &[Schema]) {
    let mut found = Vec::new();
    for Schema { file, schema } in all {
        undescribed(schema, file, &mut found);
    }
    // The field of a variant needs no description, because the variant has one.
    found.retain(|path| !path.contains("/oneOf"));
    assert_eq!(found, Vec::<String>::new());
}

fn undescribed(schema: &Value, path: &str, found: &mut Vec<String>) {
    let Value::Object(keywords) = schema else {
        return;
    };
    for (key, inner) in keywords {
        let path = format!("{path}/{key}");
        if let (true, Value::Object(properties)) = (key == "properties", inner) {
            let bare = |(_, property): &(&String, &Value)| property.get("description").is_none();
            let bare = properties.iter().filter(bare);
            found.extend(bare.map(|(name, _)| format!("{path}/{name}")));
        }
        undescribed(inner, &path, found);
    }
}

/// Adds the rules that hold for all records: no unknown keys, and no null for a key that can be omitted.
fn tighten(schema: &mut Value) {
    match schema {
        Value::Array(alternatives) => alternatives.iter_mut().for_each(tighten),
        Value::Object(keywords) => {
            keywords.remove("format");
            keywords.remove("default");
            if let Some(Value::String(text)) = keywords.get_mut("description") {
                *text = plain(text);
            }
            if keywords.contains_key("properties") {
                leave_out_null(keywords);
                // The keys of a flattened enum are those of one of its variants.
                let variants = ["oneOf", "anyOf", "allOf"];
                let flattened = variants.iter().any(|key| keywords.contains_key(*key));
                let closed = if flattened {
                    for key in variants {
                        for variant in keywords
                            .get_mut(key)
                            .into_iter()
                            .filter_map(Value::as_array_mut)
                            .flatten()
                        {
                            variant["additionalProperties"] = json!(true);
                        }
                    }
                    "unevaluatedProperties"
                } else {
                    "additionalProperties"
                };
                keywords.entry(closed).or_insert(json!(false));
            }
            keywords.values_mut().for_each(tighten);
            if keywords.get("additionalProperties") == Some(&json!(true)) {
                keywords.remove("additionalProperties");
            }
        }
        _ => {}
    }
}

/// A key that isn't required is omitted if there is no value: it is never null.
fn leave_out_null(keywords: &mut Map<String, Value>) {
    let required = keywords.get("required").cloned().unwrap_or(json!([]));
    let required = required.as_array().expect("a list");
    let properties = keywords["properties"].as_object_mut().expect("an object");
    for (name, property) in properties {
        if required.iter().any(|required| required == name) {
            continue;
        }
        if let Some(Value::Array(types)) = property.get_mut("type") {
            types.retain(|name| name != "null");
            if let [one] = types.as_slice() {
                property["type"] = one.clone();
            }
        }
        if let Some(Value::Array(alternatives)) = property.get_mut("anyOf") {
            alternatives.retain(|one| one != &json!({"type": "null"}));
        }
    }
}

/// Returns a comment as a paragraph, without link markup.
fn plain(text: &str) -> String {
    let paragraphs = text.split("\n\n").map(|text| text.replace('\n', " "));
    let text = paragraphs.collect::<Vec<_>>().join("\n\n");
    text.replace("[`crate::", "`")
        .replace("[`", "`")
        .replace("`]", "`")
}

fn path(file: &str) -> PathBuf {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/json-schema");
    PathBuf::from(folder).join(format!("{file}.schema.json"))
}
