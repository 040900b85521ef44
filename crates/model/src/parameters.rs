//! How parameters are written: one way, whatever they are kept in.

use std::collections::HashMap;
use std::fmt::Display;

/// `sink=null, size=10`, with `between` in place of the comma; empty for no parameters.
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

/// A name with its parameters: `seq 10 [threads=2]`.
pub fn with_parameters<N: Display, V: Display>(
    name: &str,
    parameters: impl IntoIterator<Item = (N, V)>,
) -> String {
    match pairs(parameters, ", ") {
        none if none.is_empty() => name.to_owned(),
        pairs => format!("{name} [{pairs}]"),
    }
}

/// The items of a list of pairs, as [`pairs`] takes them.
pub fn listed(parameters: &[(String, String)]) -> impl Iterator<Item = (&str, &str)> {
    parameters
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_str()))
}

/// The parameter that tells equal names of a session or file apart, from the second on.
pub const PLACE: &str = "place";

/// The same command twice in one session (a comparison with itself) makes two series. Each is a name,
/// its parameters, and a metric; from the second that is the same on, its place is a parameter.
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
