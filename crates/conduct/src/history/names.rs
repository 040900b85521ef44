//! Finds the benchmarks that a word names.

use std::collections::HashSet;

use fathom_model::{escape, listed, with_parameters};
use fathom_store::{Series, SeriesFilter, Store};

use crate::ConductError;

/// The number of similar names to suggest if nothing matches.
const OFFERED: usize = 5;

/// Returns the series of the benchmarks that `words` name, or all series if there are no words. A word is a
/// current or former name, in which `*` matches any characters. If no benchmark has that name, the word
/// matches parts of names.
///
/// # Errors
/// A word that matches nothing; the message suggests similar names.
pub(crate) fn matching(
    store: &mut Store,
    all: &[Series],
    words: &[String],
) -> Result<Vec<Series>, ConductError> {
    if words.is_empty() {
        return Ok(all.to_vec());
    }
    let mut wanted: HashSet<i64> = HashSet::new();
    for word in words {
        let filter = SeriesFilter {
            benchmarks: vec![word.clone()],
            metric: None,
        };
        let mut numbers: Vec<i64> = store
            .series(&filter, 0)?
            .iter()
            .map(|one| one.number)
            .collect();
        if numbers.is_empty() {
            let part = word.to_lowercase();
            let has = |one: &&Series| shown(one).to_lowercase().contains(&part);
            numbers = all.iter().filter(has).map(|one| one.number).collect();
        }
        if numbers.is_empty() {
            return Err(nothing(word, all, store.name()));
        }
        wanted.extend(numbers);
    }
    let wanted = |one: &&Series| wanted.contains(&one.number);
    Ok(all.iter().filter(wanted).cloned().collect())
}

/// Formats a name with its parameters, for display.
pub(crate) fn shown(one: &Series) -> String {
    with_parameters(&one.benchmark, listed(&one.parameters))
}

/// Reports whether a metric matches the pattern; `*` matches any characters.
pub(crate) fn fits(pattern: &str, metric: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == metric,
        Some((before, after)) => {
            let rest = metric.strip_prefix(before);
            rest.is_some_and(|rest| {
                (0..=rest.len())
                    .filter(|at| rest.is_char_boundary(*at))
                    .any(|at| fits(after, &rest[at..]))
            })
        }
    }
}

fn nothing(word: &str, all: &[Series], store: &str) -> ConductError {
    let mut names: Vec<&str> = all.iter().map(|one| one.benchmark.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    let near = nearest(word, &names);
    ConductError::Refused(match near.is_empty() {
        true => format!("{store} has no series yet; `fathom bench --save COMMAND` creates one"),
        false => format!(
            "no benchmark is named {word:?}; similar names: {}; `fathom history` lists all",
            near.join(", ")
        ),
    })
}

pub(super) fn no_metric(metric: &str, named: &[Series]) -> ConductError {
    let mut metrics: Vec<&str> = named.iter().map(|one| one.metric.as_str()).collect();
    metrics.sort_unstable();
    metrics.dedup();
    let near = nearest(metric, &metrics);
    ConductError::Refused(format!(
        "--metric {metric:?} is unknown; these benchmarks have {}{}",
        near.join(", "),
        match metrics.len() > near.len() {
            true => format!(" and {} more", metrics.len() - near.len()),
            false => String::new(),
        }
    ))
}

/// Returns the names most similar to a word, for a message. Names may come from untrusted files.
fn nearest(word: &str, names: &[&str]) -> Vec<String> {
    let mut by_likeness: Vec<(f64, &str)> = names
        .iter()
        .map(|name| (strsim::jaro_winkler(word, name), *name))
        .collect();
    by_likeness.sort_by(|one, other| other.0.total_cmp(&one.0).then(one.1.cmp(other.1)));
    let names = by_likeness.into_iter().take(OFFERED);
    names.map(|(_, name)| escape(name)).collect()
}

#[cfg(test)]
mod tests {
    use super::{fits, nearest};

    #[test]
    fn stars_stand_for_any_letters() {
        for (pattern, metric, expected) in [
            ("wall", "wall", true),
            ("wall", "wall_time", false),
            ("*", "", true),
            ("peak*", "peak_memory", true),
            ("*_calls", "read_calls", true),
            ("r*d*s", "read_calls", true),
            ("r*d*x", "read_calls", false),
        ] {
            assert_eq!(fits(pattern, metric), expected, "{pattern} {metric}");
        }
    }

    #[test]
    fn the_nearest_names_come_first() {
        assert_eq!(nearest("prase", &["zip", "parse", "sort"])[0], "parse");
    }
}
