//! Rules about keys that require each other or exclude each other.

use std::ops::Range;

use toml::de::DeTable;

use super::experiment::How;
use super::problem::Problems;

/// Reports problems with the keys of each table, regardless of their values.
pub(super) fn rules(root: &DeTable<'_>, problems: &Problems) {
    for (name, input, span) in named(root, "inputs") {
        let contents = ["text", "hex", "file", "generate"];
        let count = contents
            .iter()
            .filter(|key| input.contains_key(**key))
            .count();
        if count != 1 {
            let count = if count == 0 {
                "no".to_owned()
            } else {
                count.to_string()
            };
            problems.add(
                span,
                format!("the input `{name}` must have exactly one source for its content, but has {count}"),
                "give it exactly one of text, hex, file and generate",
            );
        }
    }
    for (claim, span) in listed(root, "claims") {
        let needs = || problems.missing(span.clone(), "a claim", "holds", HOLDS);
        if !claim.contains_key("holds") && !claim.contains_key("needs") {
            needs();
        }
        let Some(place) = claim.get("published") else {
            continue;
        };
        let published = place.get_ref().as_table();
        if published.is_some_and(|published| {
            is_true(published, "limit") && !published.contains_key("value")
        }) {
            let advice = "write the limit as value = 0.1, with its unit";
            problems.missing(place.span(), "`published`", "value", advice);
        }
    }
    for (answer, span) in listed(root, "answers") {
        let has = |key| answer.contains_key(key);
        let advice = match word(answer, "status") {
            Some("answered") => "write answer = \"…\"",
            _ if has("tried") => continue,
            _ => "write answer = \"…\", or status = \"open\" and tried = \"…\"",
        };
        if !has("answer") {
            problems.missing(span, "an answer", "answer", advice);
        }
    }
    for (picture, span) in listed(root, "pictures") {
        let over = picture
            .get("over")
            .and_then(|over| over.get_ref().as_array());
        if over.is_some_and(|over| over.len() < 2) {
            problems.missing(
                span,
                "a picture",
                "over",
                "over needs two subjects or more, such as over = [\"a\", \"b\"]",
            );
        }
    }
    for (measure, span) in listed(root, "measure") {
        let how = word(measure, "how");
        let how = How::ALL.iter().find(|(_, name)| Some(*name) == how);
        if let Some((how, _)) = how {
            fitting_keys(measure, span, *how, problems);
        }
    }
}

const HOLDS: &str =
    "write holds = \"ratio(wall.a, wall.b) >= 10\", or name the missing tool in `needs`";

/// Reports keys that the measure can't use, and keys that it lacks.
fn fitting_keys(measure: &DeTable<'_>, span: Range<usize>, how: How, problems: &Problems) {
    let has = |key| measure.contains_key(key);
    let missing = |key, advice| problems.missing(span.clone(), "a measure", key, advice);
    match how {
        How::Value if !has("values") => missing(
            "values",
            "write values.NAME = { pattern = \"took ([0-9.]+) us\", unit = \"us\" }",
        ),
        How::Pipe if !has("stages") => {
            missing(
                "stages",
                "write stages = [\"first command\", \"second command\"]",
            );
        }
        How::Static if !has("files") && !has("counts") => missing(
            "files",
            "write files.NAME = \"{work}/program\", or counts.NAME = { command = \"…\", pattern = \"…\" }",
        ),
        _ => {}
    }
    let only_of: [(&str, &[How]); 15] = [
        ("values", &[How::Value]),
        ("stages", &[How::Pipe]),
        ("names", &[How::Pipe]),
        ("files", &[How::Static]),
        ("counts", &[How::Static]),
        ("cache", &[How::Startup, How::Serve]),
        ("load", &[How::Serve]),
        ("path", &[How::Serve]),
        ("deflate", &[How::Serve]),
        ("step", &[How::Serve]),
        ("full", &[How::Machine]),
        ("needs", &[How::Pipe, How::Static]),
        (
            "subjects",
            &[How::Bench, How::Why, How::Startup, How::Serve, How::Value],
        ),
        ("warmup", &[How::Bench, How::Value]),
        ("metrics", &[How::Bench]),
    ];
    for (key, ways) in only_of {
        let Some(value) = measure.get(key) else {
            continue;
        };
        if !ways.contains(&how) {
            let names: Vec<&str> = ways.iter().map(|how| how.name()).collect();
            problems.add(
                value.span(),
                format!("`{key}` does not apply to how = \"{}\"", how.name()),
                format!("it belongs to {}", names.join(", ")),
            );
        }
    }
}

fn word<'t>(table: &'t DeTable<'_>, key: &str) -> Option<&'t str> {
    table.get(key)?.get_ref().as_str()
}

fn is_true(table: &DeTable<'_>, key: &str) -> bool {
    table
        .get(key)
        .is_some_and(|value| value.get_ref().as_bool() == Some(true))
}

/// Returns the tables of `[[key]]`, and the position where each begins.
fn listed<'t>(
    root: &'t DeTable<'t>,
    key: &str,
) -> impl Iterator<Item = (&'t DeTable<'t>, Range<usize>)> {
    let items = root.get(key).and_then(|value| value.get_ref().as_array());
    let tables = items.into_iter().flat_map(|items| items.iter());
    tables.filter_map(|item| Some((item.get_ref().as_table()?, item.span())))
}

/// Returns the tables of `[key.NAME]`, and the position of each name.
fn named<'t>(
    root: &'t DeTable<'t>,
    key: &str,
) -> impl Iterator<Item = (&'t str, &'t DeTable<'t>, Range<usize>)> {
    let tables = root.get(key).and_then(|value| value.get_ref().as_table());
    tables.into_iter().flatten().filter_map(|(name, value)| {
        let table = value.get_ref().as_table()?;
        Some((name.get_ref().as_ref(), table, name.span()))
    })
}
