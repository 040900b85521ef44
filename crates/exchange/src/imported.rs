//! What an import gives: the record of one file.

use std::collections::BTreeMap;

use serde::Serialize;

/// What one file (or one folder of a tool) holds.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Imported {
    /// Always `imported`.
    pub kind: &'static str,
    /// Where it comes from.
    pub source: Source,
    /// What was measured.
    pub benchmarks: Vec<Benchmark>,
    /// What the file holds and the record doesn't, with the reason.
    pub left_out: Vec<LeftOut>,
}

/// The tool that measured, and its file.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Source {
    /// Name of the tool.
    pub tool: &'static str,
    /// Version of the tool, or of its format, where the file says so.
    pub version: Option<String>,
    /// The file's name as it was given.
    pub file: String,
    /// What the file says of the machine and the build.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub environment: BTreeMap<String, String>,
}

/// One metric of one benchmark.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Benchmark {
    /// Name, as the tool has it.
    pub name: String,
    /// Parameters by name.
    pub parameters: BTreeMap<String, String>,
    /// What was measured; `wall` is wall time for one operation.
    pub metric: String,
    /// Unit of the values, as the tool has it.
    pub unit: String,
    /// Which way is better, where that is known.
    pub direction: Option<Direction>,
    /// The values.
    #[serde(flatten)]
    pub values: Values,
    /// Operations in a sample: one number for each sample, or one for all.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub iterations: Vec<u64>,
    /// Threads that worked at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub threads: Option<u64>,
}

/// Samples, or what somebody else made of them. A summary is never taken for a sample.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Values {
    /// What was measured, in the order of the file.
    Samples(Vec<f64>),
    /// Figures that the tool made of its samples.
    Summary(Box<Summary>),
}

/// Which way is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// Times, bytes.
    LowerIsBetter,
    /// Rates.
    HigherIsBetter,
}

/// Figures of samples that the file doesn't hold.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Summary {
    /// Number of samples.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count: Option<u64>,
    /// The one value that the tool gives, where it doesn't say of which kind.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<f64>,
    /// Arithmetic mean.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mean: Option<f64>,
    /// Median.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub median: Option<f64>,
    /// Standard deviation of the samples.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub standard_deviation: Option<f64>,
    /// Smallest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min: Option<f64>,
    /// Largest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max: Option<f64>,
    /// Lower end of the tool's interval.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub low: Option<f64>,
    /// Upper end of the tool's interval.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub high: Option<f64>,
    /// Confidence level of the interval, where the tool says it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub level: Option<f64>,
    /// Quantiles by percent: `"99.9"`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub quantiles: BTreeMap<String, f64>,
    /// Figures that only this tool has, by its name for them.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub other: BTreeMap<String, f64>,
}

/// What the record doesn't hold.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LeftOut {
    /// What the file calls it.
    pub what: String,
    /// Why it isn't taken.
    pub reason: String,
    /// How often.
    pub count: u64,
}
