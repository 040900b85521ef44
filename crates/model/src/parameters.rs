//! How parameters are written: one way, whatever they are kept in.

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
