//! The record of an import: what another tool measured, as its file says it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub use crate::Direction;

/// One import of one file, or of a folder that a tool writes: what `fathom import --json` writes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ImportedRecord {
    /// [`crate::SCHEMA_VERSION`].
    #[cfg_attr(test, schemars(extend("const" = crate::SCHEMA_VERSION)))]
    pub schema_version: u32,
    /// Always `imported`.
    #[cfg_attr(test, schemars(extend("const" = "imported")))]
    pub kind: String,
    /// Version of Fathom that imported.
    pub fathom_version: String,
    /// When it was measured, where the file says so, else when it was imported. RFC 3339, UTC.
    pub started_at: String,
    /// Whether `started_at` is the file's.
    pub time_from_file: bool,
    /// What was measured, where the file says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revision: Option<ImportedRevision>,
    /// Where it was measured, as far as the file says so.
    pub environment: ImportedEnvironment,
    /// Where it comes from.
    pub source: Source,
    /// What was measured.
    pub benchmarks: Vec<Benchmark>,
    /// What the file holds and the record doesn't, with the reason.
    pub left_out: Vec<LeftOut>,
}

/// The state of the source that a file names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ImportedRevision {
    /// Id of the commit.
    pub id: String,
    /// Branch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// Tracked files differed from the commit.
    pub dirty: bool,
}

/// What a file says of the machine, by the names of [`crate::Environment`].
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ImportedEnvironment {
    /// Operating system, with its release where it is there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernel: Option<String>,
    /// Processor architecture.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub architecture: Option<String>,
    /// Processor model name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_model: Option<String>,
    /// CPUs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpus: Option<u64>,
    /// Memory in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_bytes: Option<u64>,
    /// Name of the machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
}

/// What one file (or one folder of a tool) holds.
#[derive(Debug, Clone, PartialEq)]
pub struct Imported {
    /// Where it comes from.
    pub source: Source,
    /// What was measured.
    pub benchmarks: Vec<Benchmark>,
    /// What the file holds and this doesn't, with the reason.
    pub left_out: Vec<LeftOut>,
}

/// The tool that measured, and its file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Source {
    /// Name of the tool.
    pub tool: String,
    /// Version of the tool, or of its format, where the file says so.
    pub version: Option<String>,
    /// The file's name as it was given; `-` is standard input.
    pub file: String,
    /// What the file says of the machine and the build.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub environment: BTreeMap<String, String>,
}

/// One metric of one benchmark.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
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
    /// Counted, so that each run of the same code has the same value: a difference needs no test.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub exact: bool,
    /// The values.
    #[serde(flatten)]
    pub values: Values,
    /// Operations in a sample: one number for each sample, or one for all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub iterations: Vec<u64>,
    /// Threads that worked at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub threads: Option<u64>,
}

impl Benchmark {
    /// The parameters that tell its series from others: threads, too, if there are several. The place among
    /// equal names comes last, as in [`crate::distinguish`].
    pub fn series_parameters(&self) -> Vec<(String, String)> {
        let mut all: Vec<(String, String)> = self.parameters.clone().into_iter().collect();
        if let Some(threads) = self.threads.filter(|threads| *threads != 1) {
            all.push(("threads".to_owned(), threads.to_string()));
        }
        all.sort_by_key(|(name, _)| name == crate::parameters::PLACE);
        all
    }
}

/// Samples, or what somebody else made of them. A summary is never taken for a sample.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Values {
    /// What was measured, in the order of the file.
    Samples(Vec<f64>),
    /// Figures that the tool made of its samples.
    Summary(Box<Summary>),
}

/// Figures of samples that the file doesn't hold.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default)]
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
    #[cfg_attr(test, schemars(range(min = 0.0, max = 1.0)))]
    pub level: Option<f64>,
    /// Quantiles by percent: `"99.9"`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub quantiles: BTreeMap<String, f64>,
    /// Figures that only this tool has, by its name for them.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub other: BTreeMap<String, f64>,
}

/// What the record doesn't hold.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LeftOut {
    /// What the file calls it.
    pub what: String,
    /// Why it isn't taken.
    pub reason: String,
    /// How often.
    pub count: u64,
}

/// Which way is better, by the unit: times, sizes and allocations less, rates more, but for rates of what
/// nobody wants. Of other units it isn't known.
pub fn direction_of_unit(unit: &str) -> Option<Direction> {
    match base_unit(unit).1 {
        "seconds" | "bytes" | "B/op" | "allocs/op" => return Some(Direction::LowerIsBetter),
        "GHz" => return Some(Direction::HigherIsBetter),
        _ => {}
    }
    let (what, each) = unit.rsplit_once('/')?;
    let of_time = ["s", "sec", "second", "ms", "us", "µs", "ns", "min"].contains(&each);
    let unwanted = ["err", "fail", "miss", "fault", "timeout", "drop"]
        .iter()
        .any(|word| what.to_lowercase().contains(word));
    match (of_time, unwanted) {
        (false, _) => None,
        (true, false) => Some(Direction::HigherIsBetter),
        (true, true) => Some(Direction::LowerIsBetter),
    }
}

/// The factor that brings values of a unit to seconds, bytes or operations per second, and what the
/// unit is then called; any other unit stays. Tools differ in their units for the same thing, and a
/// series has one.
pub fn base_unit(unit: &str) -> (f64, &str) {
    match unit {
        "s" | "sec" | "sec/op" | "s/op" | "seconds" => (1.0, "seconds"),
        "ms" | "ms/op" => (1e-3, "seconds"),
        "us" | "µs" | "us/op" | "µs/op" => (1e-6, "seconds"),
        "ns" | "ns/op" | "ns/iter" => (1e-9, "seconds"),
        "min/op" => (60.0, "seconds"),
        "B" | "bytes" => (1.0, "bytes"),
        "ops/s" | "op/s" => (1.0, "ops/s"),
        "ops/ms" | "op/ms" => (1e3, "ops/s"),
        "ops/us" | "ops/µs" | "op/us" => (1e6, "ops/s"),
        "ops/ns" | "op/ns" => (1e9, "ops/s"),
        "ops/min" => (1.0 / 60.0, "ops/s"),
        "MB/s" => (1e6, "B/s"),
        "MiB/s" => (1_048_576.0, "B/s"),
        other => (1.0, other),
    }
}
