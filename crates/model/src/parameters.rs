//! The single text format of parameters, wherever they are stored.

use std::collections::HashMap;
use std::fmt::Display;

/// Formats `sink=null, size=10`, with `between` in place of the comma; empty for no parameters.
pub fn pairs<N: Display, V: Display>(
    parameters: impl IntoIterator<Item = (N, V)>,
    between: &str,
) -> String {
    let each = parameters.into_iter();
    let each: Vec<String> = each
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    each.join(between)
}

/// Formats a name with its parameters: `seq 10 [threads=2]`.
pub fn with_parameters<N: Display, V: Display>(
    name: &str,
    parameters: impl IntoIterator<Item = (N, V)>,
) -> String {
    match pairs(parameters, ", ") {
        none if none.is_empty() => name.to_owned(),
        pairs => format!("{name} [{pairs}]"),
    }
}

/// Returns the items of a list of pairs for [`pairs`].
pub fn listed(parameters: &[(String, String)]) -> impl Iterator<Item = (&str, &str)> {
    parameters
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_str()))
}

/// The name of the parameter that distinguishes equal names within a session or file, from the second on.
pub const PLACE: &str = "place";

/// Distinguishes series that would otherwise be equal: the same command twice in one session (a comparison
/// with itself) makes two series. A series is a name, its parameters, and a metric. From the second of
/// several equal ones on, the place becomes an additional parameter.
pub fn distinguish<'p>(
    all: impl IntoIterator<Item = (&'p str, &'p mut Vec<(String, String)>, &'p str)>,
) {
    let mut seen = HashMap::new();
    for (name, parameters, metric) in all {
        let key = (name, parameters.clone(), metric);
        let place = seen.entry(key).and_modify(|n| *n += 1).or_insert(1);
        if *place > 1 {
            parameters.push((PLACE.to_owned(), place.to_string()));
        }
    }
}
