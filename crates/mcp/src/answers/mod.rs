//! The answers: first the sentence that answers the question, then its basis, then the next step; and the
//! same as a bounded structure. All text from outside is escaped, truncated, and appears as a name in quotes
//! or after a marker.

mod bench;
mod compare;
mod difference;
mod explain;
mod failure;
mod history;
mod machine;
mod place;
mod why;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

pub(crate) use bench::bench;
pub(crate) use compare::compare;
pub(crate) use explain::explain;
pub(crate) use failure::failure;
pub(crate) use history::history;
pub(crate) use machine::machine;
pub(crate) use why::why;
#[cfg(test)]
pub(crate) use {
    bench::Bench, compare::Compare, explain::Explain, history::History, machine::Machine, why::Why,
};

use crate::bounded::sentence;

/// Maximum number of warnings in an answer.
const WARNINGS: usize = 5;

/// A text, and the same content as a structure.
#[derive(Debug)]
pub(crate) struct Answer {
    pub text: String,
    pub structured: Value,
}

impl Answer {
    fn new(text: String, structured: &impl Serialize) -> Result<Self, String> {
        let structured = serde_json::to_value(structured);
        Ok(Self {
            text,
            structured: structured.map_err(|error| error.to_string())?,
        })
    }
}

/// A value with its interval, in the unit given by its key.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Interval {
    value: f64,
    low: f64,
    high: f64,
    /// Confidence of the interval, 0 to 1.
    level: f64,
}

impl From<&fathom_model::Estimate> for Interval {
    fn from(estimate: &fathom_model::Estimate) -> Self {
        Self {
            value: estimate.value,
            low: estimate.low,
            high: estimate.high,
            level: estimate.level,
        }
    }
}

/// Parses a record of a verb.
fn record<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, String> {
    serde_json::from_slice(bytes).map_err(unreadable)
}

/// Parses a record that was already read as JSON.
fn read<T: DeserializeOwned>(value: Value) -> Result<T, String> {
    serde_json::from_value(value).map_err(unreadable)
}

fn unreadable(error: serde_json::Error) -> String {
    format!("the record can't be read: {error}")
}

/// Returns warnings as sentences.
fn warnings<'a>(all: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    all.into_iter().take(WARNINGS).map(sentence).collect()
}

/// Returns warnings as lines of the text.
fn warned(warnings: &[String]) -> impl Iterator<Item = String> {
    warnings.iter().map(|warning| format!("Warning: {warning}"))
}
