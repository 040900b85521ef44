//! From the text of a file to its parts.

use std::path::Path;
use std::time::Duration;

use fathom_model::Source;
use toml::de::DeTable;

use super::experiment::{Experiment, Only, Parameter};
use super::keys::Section;
use super::problem::{FileError, Problem, did_you_mean};
use super::table::{Located, Problems, Table};
use crate::unit;

/// The one version of the format.
pub const SCHEMA_VERSION: u64 = 1;

/// Reads the text of a file, without looking whether its parts fit each other; see
/// [`crate::check`].
///
/// # Errors
/// Everything that is wrong, with its place.
pub fn parse(path: &Path, text: &str) -> Result<Experiment, FileError> {
    let failed = |problems| FileError {
        path: path.to_path_buf(),
        text: text.to_string(),
        problems,
    };
    let tree = DeTable::parse(text).map_err(|error| {
        failed(vec![Problem {
            span: error.span().unwrap_or(0..0),
            message: format!("not TOML: {}", error.message().replace('\n', ", ")),
            advice: String::new(),
        }])
    })?;
    let problems = Problems::default();
    let root = Table::new(tree.get_ref(), 0..1, Section::Root, &problems);
    let experiment = Reader {
        problems: &problems,
        text,
    }
    .experiment(path, &root);
    let problems = problems.into_sorted();
    if problems.is_empty() {
        Ok(experiment)
    } else {
        Err(failed(problems))
    }
}

/// Collects what is wrong while it reads.
pub(super) struct Reader<'p> {
    pub(super) problems: &'p Problems,
    pub(super) text: &'p str,
}

impl Reader<'_> {
    fn experiment(&self, path: &Path, root: &Table<'_>) -> Experiment {
        match root.whole("schema_version", 1) {
            Some(SCHEMA_VERSION) => {}
            Some(other) => self.problems.add(
                root.get("schema_version").map_or(0..1, toml::Spanned::span),
                format!("schema_version is {other}"),
                "this Fathom reads version 1: write schema_version = 1",
            ),
            None if root.get("schema_version").is_none() => {
                root.missing("schema_version", "write schema_version = 1");
            }
            None => {}
        }
        Experiment {
            path: path.to_path_buf(),
            text: self.text.to_string(),
            title: root
                .required("title", "write title = \"What it is about\"")
                .value,
            question: root.text("question").map(|t| t.value),
            source: self.source(root),
            time_budget: self.duration(root, "time_budget"),
            tools: self.tools(root),
            inputs: self.inputs(root),
            builds: self.builds(root),
            parameters: self.parameters(root),
            subjects: self.subjects(root),
            measures: self.measures(root),
            claims: self.claims(root),
            answers: self.answers(root),
            pictures: self.pictures(root),
            gate: self.gate(root),
        }
    }

    fn source(&self, root: &Table<'_>) -> Option<Source> {
        let table = root.table("source", Section::Source)?;
        Some(Source {
            title: table.required("title", "write title = \"…\"").value,
            by: table.text("by").map(|t| t.value),
            year: table
                .whole("year", 1900)
                .and_then(|year| i64::try_from(year).ok()),
            url: table.text("url").map(|t| t.value),
            rows: plain(table.texts("rows")),
        })
    }

    fn parameters(&self, root: &Table<'_>) -> Vec<Parameter> {
        let mut all: Vec<Parameter> = Vec::new();
        let mut quick = Vec::new();
        for (name, value) in root.entries_of("parameters") {
            if name.value == "quick" {
                match value.get_ref().as_table() {
                    Some(entries) => {
                        for (key, value) in entries {
                            let key_name = key.get_ref().to_string();
                            if let Some(values) = root.values_of(&key_name, value) {
                                quick.push((key_name, key.span(), values));
                            }
                        }
                    }
                    None => self.problems.add(
                        value.span(),
                        "`quick` in [parameters] is no table",
                        "write quick = { NAME = [\"value\"] }",
                    ),
                }
                continue;
            }
            self.name(&name, "parameter");
            let Some(values) = root.values_of(&name.value, value) else {
                continue;
            };
            for (index, value) in values.iter().enumerate() {
                if values[..index]
                    .iter()
                    .any(|other| other.value == value.value)
                {
                    self.problems.add(
                        value.span.clone(),
                        format!("the value {:?} stands twice", value.value),
                        "each value once",
                    );
                }
            }
            all.push(Parameter {
                name,
                values: plain(values),
                quick: None,
            });
        }
        for (name, span, values) in quick {
            let Some(parameter) = all.iter_mut().find(|p| p.name.value == name) else {
                self.unknown(
                    span,
                    "parameter",
                    &name,
                    all.iter().map(|p| p.name.value.as_str()),
                );
                continue;
            };
            parameter.quick = Some(plain(values));
        }
        all
    }

    pub(super) fn only(&self, table: &Table<'_>) -> Only {
        table.lists("only")
    }

    pub(super) fn duration(&self, table: &Table<'_>, key: &str) -> Option<Duration> {
        let text = table.texts_or_number(key)?;
        match duration(&text) {
            Some(duration) => Some(duration),
            None => {
                self.problems.add(
                    text.span.clone(),
                    format!("{:?} is no time", text.value),
                    "write one such as \"500ms\", \"30s\" or \"2min\"",
                );
                None
            }
        }
    }

    /// Names are used in expressions, placeholders and file names.
    pub(super) fn name(&self, name: &Located<String>, what: &str) {
        let starts = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
        let legal = |c: char| c.is_ascii_alphanumeric() || "_-.".contains(c);
        let ends = name.ends_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
        if !starts || !ends || !name.chars().all(legal) || name.len() > 60 {
            self.problems.add(
                name.span.clone(),
                format!("{:?} can't be the name of a {what}", name.value),
                "begin with a letter; then letters, digits, and _ - . between them",
            );
        }
    }

    pub(super) fn unknown<'k>(
        &self,
        span: std::ops::Range<usize>,
        what: &str,
        word: &str,
        known: impl IntoIterator<Item = &'k str>,
    ) {
        let known: Vec<&str> = known.into_iter().collect();
        let advice = match did_you_mean(word, known.iter().copied()) {
            Some(meant) => format!("did you mean {meant:?}?"),
            None if known.is_empty() => "the file has none".to_string(),
            None => format!("there is {}", known.join(", ")),
        };
        self.problems
            .add(span, format!("there is no {what} {word:?}"), advice);
    }
}

/// The bytes of the file at which a part of a text stands: exact where the text stands in the file
/// as it is, else the whole text.
pub fn inside(
    file: &str,
    text: &Located<String>,
    part: &std::ops::Range<usize>,
) -> std::ops::Range<usize> {
    let written = file.get(text.span.clone()).unwrap_or_default();
    match written.find(text.value.as_str()) {
        Some(start) => {
            let start = text.span.start + start;
            let end = (start + part.end).min(text.span.end);
            (start + part.start).min(end)..end
        }
        None => text.span.clone(),
    }
}

/// Texts without their places.
pub(super) fn plain(list: Vec<Located<String>>) -> Vec<String> {
    list.into_iter().map(|text| text.value).collect()
}

/// `500ms`, `30s`, `2min`, `1h`; a bare number is seconds.
fn duration(text: &str) -> Option<Duration> {
    let text = text.trim();
    let split = text
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(text.len());
    let (number, word) = text.split_at(split);
    let number: f64 = number.parse().ok()?;
    let scale = match word.trim() {
        "" => 1.0,
        "m" => 60.0,
        word => match unit::parse(word) {
            Ok((unit, scale)) if unit == unit::Unit::seconds() => scale,
            _ => return None,
        },
    };
    let seconds = number * scale;
    (seconds > 0.0 && seconds < 1e7).then(|| Duration::from_secs_f64(seconds))
}
