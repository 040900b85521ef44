//! Combinations of parameter values.

use std::collections::BTreeSet;

use fathom_model::{Combination, listed, pairs};

use crate::file::experiment::{Experiment, Only};
use crate::file::placeholder;

/// Returns every combination of values. The last parameter varies fastest, and the first combination consists
/// of the first values. If there are no parameters, returns one empty combination.
pub fn combinations(experiment: &Experiment, quick: bool) -> Vec<Combination> {
    let mut all = vec![Vec::new()];
    for parameter in &experiment.parameters {
        let values = match (&parameter.quick, quick) {
            (Some(values), true) => values,
            _ => &parameter.values,
        };
        all = all
            .iter()
            .flat_map(|combination: &Combination| {
                values.iter().map(|value| {
                    let mut longer = combination.clone();
                    longer.push((parameter.name.value.clone(), value.clone()));
                    longer
                })
            })
            .collect();
    }
    all
}

/// Returns the combinations of the full and of the quick set.
pub fn all_combinations(experiment: &Experiment) -> Vec<Combination> {
    let mut all = combinations(experiment, false);
    for combination in combinations(experiment, true) {
        if !all.contains(&combination) {
            all.push(combination);
        }
    }
    all
}

/// Returns whether a restriction allows a combination.
pub fn allowed(only: &Only, combination: &Combination) -> bool {
    only.iter().all(|(name, values)| {
        combination
            .iter()
            .filter(|(parameter, _)| *parameter == name.value)
            .all(|(_, value)| values.iter().any(|allowed| allowed.value == *value))
    })
}

/// Returns the part of a combination that has these names.
pub fn part(combination: &Combination, names: &BTreeSet<String>) -> Combination {
    combination
        .iter()
        .filter(|(name, _)| names.contains(name))
        .cloned()
        .collect()
}

/// Returns the names in some texts, and in the inputs and builds to which they refer. The latter are included
/// because anything that uses an input or build depends on its parameters.
pub fn names_used<'t>(
    experiment: &Experiment,
    texts: impl IntoIterator<Item = &'t str>,
    needs: &[String],
) -> BTreeSet<String> {
    let mut names: BTreeSet<String> = texts.into_iter().flat_map(placeholder::names).collect();
    let mut known: BTreeSet<String> = BTreeSet::new();
    let mut open: Vec<String> = needs.to_vec();
    loop {
        let mentioned = names.iter().filter_map(|name| name.strip_prefix("inputs."));
        open.extend(mentioned.map(str::to_string));
        open.retain(|name| !known.contains(name));
        let Some(need) = open.pop() else {
            return names;
        };
        known.insert(need.clone());
        for build in experiment.builds.iter().filter(|b| b.name.value == need) {
            names.extend(build_texts(build).into_iter().flat_map(placeholder::names));
            open.extend(build.needs.iter().map(|n| n.value.clone()));
        }
        for input in experiment.inputs.iter().filter(|i| i.name.value == need) {
            names.extend(input_text(input).into_iter().flat_map(placeholder::names));
            open.extend(input.needs.iter().map(|n| n.value.clone()));
        }
    }
}

/// Returns all texts of a build that may contain placeholders.
pub fn build_texts(build: &crate::file::experiment::Build) -> Vec<&str> {
    let mut texts = vec![build.command.value.as_str()];
    texts.extend(build.cwd.iter().map(|t| t.value.as_str()));
    texts.extend(build.env.iter().map(|(_, t)| t.value.as_str()));
    texts
}

/// Returns the text of an input that may contain placeholders.
pub fn input_text(input: &crate::file::experiment::Input) -> Option<&str> {
    use crate::file::experiment::Content;
    match &input.content {
        Content::Bytes(_) => None,
        Content::File(text) | Content::Generated(text) => Some(&text.value),
    }
}

/// Returns all texts of a subject that may contain placeholders.
pub fn subject_texts(subject: &crate::file::experiment::Subject) -> Vec<&str> {
    let mut texts = vec![subject.command.value.as_str()];
    texts.extend(subject.input.iter().map(|t| t.value.as_str()));
    texts.extend(subject.output.iter().map(|t| t.value.as_str()));
    texts.extend(subject.cwd.iter().map(|t| t.value.as_str()));
    texts.extend(subject.env.iter().map(|(_, t)| t.value.as_str()));
    texts
}

/// Returns a label such as `sink=null, size=10`; empty if there are no parameters.
pub fn label(combination: &Combination) -> String {
    pairs(listed(combination), ", ")
}

/// Returns a combination as part of a file name.
pub fn file_part(combination: &Combination) -> String {
    combination
        .iter()
        .map(|(name, value)| {
            let value: String = value
                .chars()
                .map(|c| match c {
                    c if c.is_ascii_alphanumeric() || "._-".contains(c) => c,
                    _ => '_',
                })
                .take(40)
                .collect();
            format!("@{name}={value}")
        })
        .collect()
}
