//! The record of an import: another tool's measurements, as in its file.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub use crate::Direction;

/// One import of a file, or of a folder written by a tool, as written by `fathom import --json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ImportedRecord {
    /// [`crate::SCHEMA_VERSION`].
    #[cfg_attr(test, schemars(extend("const" = crate::SCHEMA_VERSION)))]
    pub schema_version: u32,
    /// Always `imported`.
    #[cfg_attr(test, schemars(extend("const" = "imported")))]
    pub kind: String,
    /// The version of Fathom that imported.
    pub fathom_version: String,
    /// The time of the measurement if the file states it, otherwise of the import. RFC 3339, UTC.
    pub started_at: String,
    /// Whether `started_at` is from the file.
    pub time_from_file: bool,
    /// The measured source, if the file states it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revision: Option<ImportedRevision>,
    /// The environment, as far as the file states it.
    pub environment: ImportedEnvironment,
    /// The tool and file it comes from.
    pub source: Source,
    /// The measured benchmarks.
    pub benchmarks: Vec<Benchmark>,
    /// The contents of the file that aren't in the record, with the reason.
    pub left_out: Vec<LeftOut>,
}

/// The state of the source named in a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ImportedRevision {
    /// The id of the commit.
    pub id: String,
    /// Branch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// Whether tracked files differed from the commit.
    pub dirty: bool,
}

/// What a file states about the machine, with the field names of [`crate::Environment`].
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ImportedEnvironment {
    /// The operating system, with its release if available.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernel: Option<String>,
    /// Processor architecture.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub architecture: Option<String>,
    /// Processor model name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_model: Option<String>,
    /// The number of CPUs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpus: Option<u64>,
    /// Memory in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_bytes: Option<u64>,
    /// Name of the machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
}

/// The contents of one file (or one folder of a tool).
#[derive(Debug, Clone, PartialEq)]
pub struct Imported {
    /// The tool and file it comes from.
    pub source: Source,
    /// The measured benchmarks.
    pub benchmarks: Vec<Benchmark>,
    /// The contents of the file that aren't included, with the reason.
    pub left_out: Vec<LeftOut>,
}

/// The tool that measured, and its file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Source {
    /// Name of the tool.
    pub tool: String,
    /// The version of the tool, or of its format, if the file states it.
    pub version: Option<String>,
    /// The file's name as given; `-` is standard input.
    pub file: String,
    /// What the file states about the machine and the build.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub environment: BTreeMap<String, String>,
}

/// One metric of one benchmark.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Benchmark {
    /// The name, as in the tool.
    pub name: String,
    /// Parameters by name.
    pub parameters: BTreeMap<String, String>,
    /// The quantity; `wall` is wall time for one operation.
    pub metric: String,
    /// The unit of the values, as in the tool.
    pub unit: String,
    /// Which direction is better, if known.
    pub direction: Option<Direction>,
    /// Whether it is a count that is the same in each run of the same code, so that a difference needs no
    /// test.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub exact: bool,
    /// The values.
    #[serde(flatten)]
    pub values: Values,
    /// The number of operations in a sample: one for each sample, or one for all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub iterations: Vec<u64>,
    /// The number of threads that worked at the same time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub threads: Option<u64>,
}

impl Benchmark {
    /// Returns the parameters that distinguish its series from others, including the number of threads if
    /// there are several. The place among equal names comes last, as in [`crate::distinguish`].
    pub fn series_parameters(&self) -> Vec<(String, String)> {
        let mut all: Vec<(String, String)> = self.parameters.clone().into_iter().collect();
        if let Some(threads) = self.threads.filter(|threads| *threads != 1) {
            all.push(("threads".to_owned(), threads.to_string()));
        }
        all.sort_by_key(|(name, _)| name == crate::parameters::PLACE);
        all
    }
}

/// Samples, or another tool's summary of them. A summary is never treated as a sample.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Values {
    /// The measurements, in the order of the file.
    Samples(Vec<f64>),
    /// Figures that the tool computed from its samples.
    Summary(Box<Summary>),
}

/// Figures of samples that the file doesn't contain.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Summary {
    /// The number of samples.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count: Option<u64>,
    /// The single value that the tool reports, if it doesn't state its kind.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<f64>,
    /// Arithmetic mean.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mean: Option<f64>,
    /// Median.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub median: Option<f64>,
    /// The standard deviation of the samples.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub standard_deviation: Option<f64>,
    /// The smallest value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min: Option<f64>,
    /// The largest value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max: Option<f64>,
    /// The lower end of the tool's interval.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub low: Option<f64>,
    /// The upper end of the tool's interval.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub high: Option<f64>,
    /// The confidence level of the interval, if the tool states it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schemars(range(min = 0.0, max = 1.0)))]
    pub level: Option<f64>,
    /// Quantiles by percent: `"99.9"`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub quantiles: BTreeMap<String, f64>,
    /// Figures specific to this tool, under its names.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub other: BTreeMap<String, f64>,
}

/// Contents that the record omits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LeftOut {
    /// Its name in the file.
    pub what: String,
    /// Why it is omitted.
    pub reason: String,
    /// How many times it occurs.
    pub count: u64,
}

/// Returns which direction is better, judging by the unit: lower for times, sizes and allocations, higher for
/// rates, except rates of something unwanted. Unknown for other units.
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

/// Returns the factor that converts values of a unit to seconds, bytes or operations per second, and the
/// resulting unit; other units aren't converted. Tools use different units for the same quantity, and a
/// series has only one.
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
