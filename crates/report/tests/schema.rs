//! `docs/json-schema/bench.schema.json` and the JSON that is written say the same.
//!
//! The walker below knows the few keywords that the schema uses and refuses all others, so the
//! schema can't say something that nobody checks.

mod support;

use std::collections::BTreeSet;

use fathom_model::{
    BenchRecord, Exit, InputFrom, Metric, MoreRounds, OutputTo, StopReason, Verdict,
};
use serde_json::{Map, Value};
use support::program::Program;
use support::{outcome_of, session, warning};

fn schema() -> Value {
    let text = include_str!("../../../docs/json-schema/bench.schema.json");
    serde_json::from_str(text).expect("the schema is JSON")
}

/// A value against the schema, remembering which parts of the schema were needed.
struct Walker<'a> {
    root: &'a Value,
    /// Schema paths of the properties and alternatives that a value used.
    used: BTreeSet<String>,
}

impl<'a> Walker<'a> {
    fn check(&mut self, value: &Value, schema: &'a Value, path: &str) -> Result<(), String> {
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
                    let name = wanted
                        .as_str()
                        .and_then(|name| name.strip_prefix("#/$defs/"));
                    let name =
                        name.ok_or_else(|| format!("{path}: a reference that is not local"))?;
                    let target = self.root["$defs"]
                        .get(name)
                        .ok_or_else(|| format!("{path}: no definition {name}"))?;
                    self.check(value, target, name)?;
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

/// Records that use every key and every alternative between them.
fn records() -> Vec<BenchRecord> {
    let failing = vec![(1, Exit::Signal(9)), (2, Exit::TimedOut)];
    let program = Program {
        failing,
        ..Program::new("seq 1000", 0.002)
    };
    let mut full = session(
        &[
            program,
            Program::new("seq 2000", 0.004),
            Program::new("seq 2001", 0.004),
        ],
        8,
    );
    full.conditions.pinned_cpus = Some(vec![1]);
    full.benchmarks[0].parameters = vec![("n".into(), "1000".into())];
    full.benchmarks[0].environment_variables = vec![("A".into(), "1".into())];
    full.benchmarks[0].input = InputFrom::File("in".into());
    full.benchmarks[0].output = OutputTo::File("out".into());
    full.benchmarks[1].output = OutputTo::Pipe;
    full.benchmarks[2].output = OutputTo::Inherit;
    full.runs[0].io = None;
    outcome_of(&mut full).warnings = vec![warning(Some(0), "two_modes", "two modes")];
    let mut records = Vec::new();
    for verdict in [
        Verdict::Faster,
        Verdict::Slower,
        Verdict::Same,
        Verdict::Undecided,
    ] {
        let mut record = full.clone();
        let comparison = &mut outcome_of(&mut record).comparisons[0];
        comparison.verdict = verdict;
        comparison.more_rounds = (verdict == Verdict::Undecided).then_some(MoreRounds(12));
        records.push(record);
    }
    for stop in [
        StopReason::RunCount,
        StopReason::Decided,
        StopReason::Precise,
        StopReason::TimeBudget,
        StopReason::MaximumRounds,
        StopReason::Interrupted,
        StopReason::Failed,
    ] {
        let mut record = full.clone();
        outcome_of(&mut record).stop = stop;
        outcome_of(&mut record).floor = None;
        records.push(record);
    }
    let mut unfinished = session(&[Program::new("true", 0.001)], 1);
    unfinished.benchmarks[0].output = OutputTo::Null;
    unfinished.outcome = None;
    unfinished.complete = false;
    records.push(unfinished);
    records
}

#[test]
fn every_record_fits_the_schema_and_nothing_in_the_schema_is_idle() {
    let schema = schema();
    let mut walker = Walker {
        root: &schema,
        used: BTreeSet::new(),
    };
    for record in records() {
        let value = serde_json::to_value(&record).expect("a record is JSON");
        walker
            .check(&value, &schema, "record")
            .expect("the record fits the schema");
    }
    let mut all = BTreeSet::new();
    offered(&schema, "record", &mut all);
    let idle: Vec<&String> = all.difference(&walker.used).collect();
    assert!(idle.is_empty(), "no record uses {idle:?}");
}

#[test]
fn the_metrics_of_the_schema_are_those_of_the_program() {
    let schema = schema();
    let named: Vec<&str> = schema["$defs"]["metric"]["oneOf"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|alternative| alternative["const"].as_str())
        .collect();
    let metrics: Vec<&str> = Metric::ALL.into_iter().map(Metric::name).collect();
    assert_eq!(named, metrics);
}

#[test]
fn what_does_not_fit_is_refused() {
    let schema = schema();
    let value = serde_json::to_value(&records()[0]).expect("a record is JSON");
    let spoil: [&dyn Fn(&mut Value); 4] = [
        &|value| value["extra"] = Value::Bool(true),
        &|value| value["runs"][0]["wall_ns"] = Value::from(-1),
        &|value| value["outcome"]["comparisons"][0]["verdict"] = Value::from("better"),
        &|value| {
            drop(
                value
                    .as_object_mut()
                    .and_then(|object| object.remove("complete")),
            )
        },
    ];
    for spoil in spoil {
        let mut value = value.clone();
        spoil(&mut value);
        let mut walker = Walker {
            root: &schema,
            used: BTreeSet::new(),
        };
        assert!(walker.check(&value, &schema, "record").is_err());
    }
}

#[test]
fn everything_is_described() {
    fn undescribed(schema: &Value, path: &str, found: &mut Vec<String>) {
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
            undescribed(inner, &path, found);
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
            undescribed(inner, name, found);
        }
    }
    let mut found = Vec::new();
    undescribed(&schema(), "record", &mut found);
    assert!(found.is_empty(), "without description: {found:?}");
}
