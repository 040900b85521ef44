//! Parses the text of a file into its parts.

use std::path::Path;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::experiment::{Experiment, Measure, Parameter, Registry, Tool};
use super::leaf::Given;
use super::problem::{FileError, Located, Problem, Problems, plain};
use super::rules::rules;
use super::tree;

/// The load of `serve` that isn't a number of connections.
pub const WEBSOCKET: &str = "websocket";

/// Parses the text of a file, without checking that its parts fit together; see [`crate::check`].
///
/// # Errors
/// All problems, with their positions.
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
    rules(tree.get_ref(), &problems);
    let root = Spanned::new(0..1, DeValue::Table(tree.into_inner()));
    let experiment: Option<Experiment> = tree::read(&root, text, &problems);
    let experiment = experiment.map(|experiment| complete(experiment, path, text, &problems));
    let problems = problems.into_sorted();
    match experiment {
        Some(experiment) if problems.is_empty() => Ok(experiment),
        _ => Err(failed(problems)),
    }
}

/// Fills in names, and values that several keys determine together.
fn complete(
    mut experiment: Experiment,
    path: &Path,
    text: &str,
    problems: &Problems,
) -> Experiment {
    experiment.path = path.to_path_buf();
    experiment.text = text.to_string();
    experiment.gate = experiment.gate_keys.settings(problems);
    experiment.parameters = parameters(&experiment.given, problems);
    let names = (experiment.tools.iter().map(|part| ("tool", &part.name)))
        .chain(experiment.inputs.iter().map(|part| ("input", &part.name)))
        .chain(experiment.builds.iter().map(|part| ("build", &part.name)))
        .chain(
            experiment
                .subjects
                .iter()
                .map(|part| ("subject", &part.name)),
        )
        .chain(
            experiment
                .parameters
                .iter()
                .map(|part| ("parameter", &part.name)),
        );
    names.for_each(|(what, part)| name(part, what, problems));
    for tool in &mut experiment.tools {
        tool.packages = packages(tool, problems);
    }
    for part in &experiment.measures {
        measure(part, problems);
    }
    twice(
        "measures",
        experiment.measures.iter().map(|part| &part.id),
        problems,
    );
    twice(
        "claims",
        experiment.claims.iter().map(|part| &part.id),
        problems,
    );
    experiment
}

/// Checks a name. Names are restricted because they are used in expressions, placeholders and file names.
fn name(name: &Located<String>, what: &str, problems: &Problems) {
    let starts = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    let legal = |c: char| c.is_ascii_alphanumeric() || "_-.".contains(c);
    let ends = name.ends_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
    if !starts || !ends || !name.chars().all(legal) || name.len() > 60 {
        problems.add(
            name.span.clone(),
            format!("{:?} can't be the name of a {what}", name.value),
            "begin with a letter, then use letters and digits, with _ - . only between them",
        );
    }
}

fn twice<'a>(what: &str, ids: impl Iterator<Item = &'a Located<String>>, problems: &Problems) {
    let mut known = Vec::new();
    for id in ids.filter(|id| !id.value.is_empty()) {
        if known.contains(&&id.value) {
            problems.add(
                id.span.clone(),
                format!("two {what} are named `{}`", id.value),
                "give each an `id` of its own",
            );
        }
        known.push(&id.value);
    }
}

fn parameters(given: &[(Located<String>, Given)], problems: &Problems) -> Vec<Parameter> {
    let (mut all, mut quick) = (Vec::<Parameter>::new(), Vec::new());
    for (name, given) in given {
        let values = match given {
            Given::Values(values) => values,
            Given::Lists(lists) => {
                quick.extend(lists);
                continue;
            }
        };
        for (index, value) in values.iter().enumerate() {
            if values[..index]
                .iter()
                .any(|other| other.value == value.value)
            {
                problems.add(
                    value.span.clone(),
                    format!("the value {:?} appears twice", value.value),
                    "each value once",
                );
            }
        }
        all.push(Parameter {
            name: name.clone(),
            values: plain(values.clone()),
            quick: None,
        });
    }
    for (name, values) in quick {
        match all
            .iter_mut()
            .find(|parameter| parameter.name.value == name.value)
        {
            Some(parameter) => parameter.quick = Some(plain(values.clone())),
            None => {
                let known = all.iter().map(|parameter| parameter.name.value.as_str());
                problems.unknown(name, "parameter", &known.collect::<Vec<_>>());
            }
        }
    }
    all
}

fn packages(tool: &Tool, problems: &Problems) -> Option<(Registry, Vec<String>)> {
    let all = [&tool.apt, &tool.cargo, &tool.npm, &tool.pypi, &tool.go];
    let mut given = Registry::ALL
        .iter()
        .zip(all)
        .filter(|(_, given)| !given.is_empty());
    let ((registry, first), texts) = given.next()?;
    let mut names = Vec::new();
    for text in texts {
        for package in text.split_whitespace() {
            if !is_package(package) && !is_own_crate(*registry, package) {
                problems.add(
                    text.span.clone(),
                    format!("{package:?} is not the name of a package"),
                    "write \"package@version\"",
                );
            }
            names.push(package.to_owned());
        }
    }
    for ((_, key), texts) in given {
        problems.add(
            texts[0].span.clone(),
            format!("the tool has both `{first}` and `{key}`"),
            "choose one source for it, and mention other ways to install it in `hint`",
        );
    }
    Some((*registry, names))
}

fn measure(measure: &Measure, problems: &Problems) {
    name(&measure.id, "measure", problems);
    measure
        .values
        .iter()
        .for_each(|value| name(&value.name, "value", problems));
    measure
        .counts
        .iter()
        .for_each(|count| name(&count.name, "count", problems));
    for cache in measure
        .cache
        .iter()
        .filter(|cache| !["warm", "cold"].contains(&cache.as_str()))
    {
        problems.unknown(cache, "cache", &["warm", "cold"]);
    }
    for load in &measure.load {
        let is_number = load.parse::<u32>().is_ok_and(|number| number > 0);
        if !is_number && load.value != WEBSOCKET {
            problems.add(
                load.span.clone(),
                format!("`{}` is not a load", load.value),
                "write connection counts, as in load = [1, 16, 64], or load = \"websocket\"",
            );
        }
    }
    let has_websocket = measure.load.iter().any(|load| load.value == WEBSOCKET);
    if has_websocket && measure.load.len() > 1 {
        problems.add(
            measure.span.clone(),
            "`load` takes either \"websocket\" or connection counts, not both",
            "write two measures",
        );
    }
    if measure.deflate && !has_websocket {
        problems.add(
            measure.span.clone(),
            "`deflate` is a WebSocket extension",
            "add load = \"websocket\"",
        );
    }
}

/// Returns whether this is `./FOLDER`, which means a crate in the experiment's folder. Paths that lead above
/// that folder are not allowed.
fn is_own_crate(registry: Registry, package: &str) -> bool {
    let inner = package.strip_prefix("./");
    registry == Registry::Cargo
        && inner.is_some_and(|inner| is_package(inner) && !inner.contains(['/', '@', '=']))
}

/// Returns whether a text names a package. It is passed to a package manager as a word, so it must not be an
/// option or a path.
fn is_package(text: &str) -> bool {
    let first = text.chars().next().unwrap_or('-');
    (first.is_ascii_alphanumeric() || first == '@')
        && text.len() <= 200
        && !text.contains("..")
        && text
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "@/._+-=:~".contains(c))
}
