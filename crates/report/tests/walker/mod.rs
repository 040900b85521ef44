//! Checks JSON against the schemas of `docs/json-schema`.
//!
//! It knows the few keywords that the schemas use and refuses all others, so a schema can't say
//! something that nobody checks.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

/// A value against the schema, remembering which parts of the schema were needed.
pub(crate) struct Walker<'a> {
    root: &'a Value,
    /// Schema paths of the properties and alternatives that a value used.
    pub used: BTreeSet<String>,
}

impl<'a> Walker<'a> {
    pub(crate) fn new(root: &'a Value) -> Walker<'a> {
        Walker {
            root,
            used: BTreeSet::new(),
        }
    }

    /// An error names the place at which `value` doesn't fit.
    pub(crate) fn check(
        &mut self,
        value: &Value,
        schema: &'a Value,
        path: &str,
    ) -> Result<(), String> {
        let Value::Object(keywords) = schema else {
            return if schema == &Value::Bool(true) {
                Ok(())
            } else {
                Err(format!("{path}: nothing is allowed here"))
            };
        };
        for (keyword, wanted) in keywords {
            match keyword.as_str() {
                "$schema"
                | "$id"
                | "$defs"
                | "title"
                | "description"
                | "required"
                | "additionalProperties" => {}
                "$ref" => {
                    let wanted = wanted.as_str().expect("a reference is a text");
                    match wanted.split_once('#').unwrap_or((wanted, "")) {
                        ("", place) => {
                            let name = place.strip_prefix("/$defs/");
                            let target = name.and_then(|name| self.root["$defs"].get(name));
                            let target =
                                target.ok_or_else(|| format!("{path}: no definition {wanted}"))?;
                            self.check(value, target, name.unwrap_or_default())?;
                        }
                        // That all of it is used, its own test shows.
                        (file, place) => check_elsewhere(value, file, place)
                            .map_err(|error| format!("{path}: {error}"))?,
                    }
                }
                "type" => check_type(value, wanted, path)?,
                "const" if value != wanted => {
                    return Err(format!("{path}: {value} is not {wanted}"));
                }
                "const" => {}
                "minimum" | "maximum" => check_bound(value, keyword, wanted, path)?,
                "properties" => self.check_object(value, keywords, path)?,
                "items" | "prefixItems" => self.check_array(value, keywords, path)?,
                "oneOf" => self.check_alternatives(value, wanted, path)?,
                other => {
                    return Err(format!(
                        "{path}: the test does not know the keyword {other}"
                    ));
                }
            }
        }
        Ok(())
    }

    fn check_object(
        &mut self,
        value: &Value,
        keywords: &'a Map<String, Value>,
        path: &str,
    ) -> Result<(), String> {
        let Value::Object(object) = value else {
            return Ok(());
        };
        let properties = keywords["properties"]
            .as_object()
            .expect("properties are an object");
        assert_eq!(
            keywords.get("additionalProperties"),
            Some(&Value::Bool(false)),
            "{path} must be closed"
        );
        for required in keywords["required"].as_array().expect("required is a list") {
            let name = required.as_str().expect("a name");
            if !object.contains_key(name) {
                return Err(format!("{path}: the key {name} is missing"));
            }
        }
        for (name, value) in object {
            let inner = properties
                .get(name)
                .ok_or_else(|| format!("{path}: the key {name} is not in the schema"))?;
            let path = format!("{path}.{name}");
            self.check(value, inner, &path)?;
            self.used.insert(path);
        }
        Ok(())
    }

    fn check_array(
        &mut self,
        value: &Value,
        keywords: &'a Map<String, Value>,
        path: &str,
    ) -> Result<(), String> {
        let Value::Array(values) = value else {
            return Ok(());
        };
        let first = keywords.get("prefixItems").and_then(Value::as_array);
        for (index, value) in values.iter().enumerate() {
            let inner = first
                .and_then(|first| first.get(index))
                .unwrap_or(&keywords["items"]);
            self.check(value, inner, &format!("{path}[]"))?;
        }
        Ok(())
    }

    fn check_alternatives(
        &mut self,
        value: &Value,
        alternatives: &'a Value,
        path: &str,
    ) -> Result<(), String> {
        let alternatives = alternatives.as_array().expect("oneOf is a list");
        let mut matching = Vec::new();
        for (index, alternative) in alternatives.iter().enumerate() {
            let mut inner = Walker {
                root: self.root,
                used: BTreeSet::new(),
            };
            let path = format!("{path}|{index}");
            if inner.check(value, alternative, &path).is_ok() {
                inner.used.insert(path);
                matching.push(inner.used);
            }
        }
        match matching.len() {
            1 => self.used.extend(matching.remove(0)),
            count => return Err(format!("{path}: {value} fits {count} alternatives")),
        }
        Ok(())
    }
}

/// A value against a part of the schema of another record.
fn check_elsewhere(value: &Value, file: &str, place: &str) -> Result<(), String> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/json-schema");
    let text = std::fs::read_to_string(format!("{folder}/{file}"))
        .map_err(|error| format!("{file}: {error}"))?;
    let root: Value = serde_json::from_str(&text).map_err(|error| format!("{file}: {error}"))?;
    let part = root.pointer(place);
    let part = part.ok_or_else(|| format!("{file} has no {place}"))?;
    Walker::new(&root).check(value, part, file)
}

fn check_type(value: &Value, wanted: &Value, path: &str) -> Result<(), String> {
    let is = |name: &Value| match name.as_str() {
        Some("object") => value.is_object(),
        Some("array") => value.is_array(),
        Some("string") => value.is_string(),
        Some("boolean") => value.is_boolean(),
        Some("null") => value.is_null(),
        Some("number") => value.is_number(),
        Some("integer") => value.is_i64() || value.is_u64(),
        _ => false,
    };
    let fits = match wanted {
        Value::Array(names) => names.iter().any(is),
        name => is(name),
    };
    if fits {
        Ok(())
    } else {
        Err(format!("{path}: {value} is not of type {wanted}"))
    }
}

fn check_bound(value: &Value, keyword: &str, bound: &Value, path: &str) -> Result<(), String> {
    let (Some(value), Some(bound)) = (value.as_f64(), bound.as_f64()) else {
        return Ok(());
    };
    let inside = if keyword == "minimum" {
        value >= bound
    } else {
        value <= bound
    };
    if inside {
        Ok(())
    } else {
        Err(format!("{path}: {value} is beyond the {keyword} {bound}"))
    }
}

/// All properties and alternatives that the schema offers.
fn offered(schema: &Value, path: &str, all: &mut BTreeSet<String>) {
    let Value::Object(keywords) = schema else {
        return;
    };
    for (name, inner) in keywords
        .get("properties")
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
    {
        let path = format!("{path}.{name}");
        offered(inner, &path, all);
        all.insert(path);
    }
    for inner in keywords
        .get("prefixItems")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
    {
        offered(inner, &format!("{path}[]"), all);
    }
    if let Some(inner) = keywords.get("items") {
        offered(inner, &format!("{path}[]"), all);
    }
    for (index, inner) in keywords
        .get("oneOf")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .enumerate()
    {
        let path = format!("{path}|{index}");
        offered(inner, &path, all);
        all.insert(path);
    }
    for (name, inner) in keywords
        .get("$defs")
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
    {
        offered(inner, name, all);
    }
}

/// Every value fits the schema, and between them they use all of it that is `needed`, by its path.
pub(crate) fn assert_covered(
    schema: &Value,
    path: &str,
    values: impl IntoIterator<Item = Value>,
    needed: impl Fn(&str) -> bool,
) {
    let mut walker = Walker::new(schema);
    for value in values {
        if let Err(error) = walker.check(&value, schema, path) {
            panic!("it does not fit the schema: {error}");
        }
    }
    let mut all = BTreeSet::new();
    offered(schema, path, &mut all);
    let idle = all.difference(&walker.used).filter(|path| needed(path));
    let idle: Vec<&String> = idle.collect();
    assert!(idle.is_empty(), "nothing uses {idle:?}");
}

/// Properties and definitions without a description.
pub(crate) fn undescribed(schema: &Value) -> Vec<String> {
    let mut found = Vec::new();
    find_undescribed(schema, "record", &mut found);
    found
}

fn find_undescribed(schema: &Value, path: &str, found: &mut Vec<String>) {
    let Value::Object(keywords) = schema else {
        return;
    };
    for (name, inner) in keywords
        .get("properties")
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
    {
        let path = format!("{path}.{name}");
        if inner.get("description").is_none() && inner.get("$ref").is_none() {
            found.push(path.clone());
        }
        find_undescribed(inner, &path, found);
    }
    for (name, inner) in keywords
        .get("$defs")
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
    {
        if inner.get("description").is_none() {
            found.push(name.clone());
        }
        find_undescribed(inner, name, found);
    }
}
