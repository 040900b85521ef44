//! Converts records to formats that other tools read, with one pure function for each format.

mod bencher;
pub(crate) mod cell;
mod csv;
mod github;
mod gobench;
mod hyperfine;
mod jsonl;
mod moments;
mod openmetrics;
mod records;

use std::collections::BTreeMap;

pub use cell::{quoted_cell, text_cell};
use fathom_model::imported::{Benchmark, LeftOut};
use fathom_model::with_parameters;
pub use hyperfine::hyperfine;
pub use moments::{Moments, mean};
pub use records::{of_bench, of_imported};

/// One measurement: a record, or one point of a time series.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Export {
    /// The tool that measured, with its version.
    pub tool: String,
    /// Time of the measurement in milliseconds since 1970, UTC.
    pub milliseconds: i64,
    /// The same time in RFC 3339 format.
    pub time: String,
    /// The commit that was measured.
    pub revision: Option<String>,
    /// Labels of the record.
    pub labels: Vec<String>,
    /// Properties of the machine and the build, under the tool's names.
    pub context: BTreeMap<String, String>,
    /// The figures.
    pub figures: Vec<Figure>,
}

/// One metric of one benchmark.
#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    /// Name, parameters, metric, unit and values.
    pub benchmark: Benchmark,
    /// The exit code of each run, if known; `None` after a signal or a timeout.
    pub exit_codes: Vec<Option<i32>>,
}

/// The result of writing measurements in a format.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Written {
    /// The text; empty if nothing could be written in this format.
    pub text: String,
    /// Data that the format can't represent.
    pub left_out: Vec<LeftOut>,
}

impl Written {
    fn left_out(&mut self, what: &str, reason: &str) {
        let same = |entry: &&mut LeftOut| entry.what == what && entry.reason == reason;
        match self.left_out.iter_mut().find(same) {
            Some(entry) => entry.count += 1,
            None => self.left_out.push(LeftOut {
                what: what.to_owned(),
                reason: reason.to_owned(),
                count: 1,
            }),
        }
    }
}

/// An output format.
pub struct ExportFormat {
    /// Its name for `--format`.
    pub name: &'static str,
    /// Writes measurements in this format.
    pub write: fn(&[Export]) -> Written,
}

/// All output formats.
pub static EXPORTS: &[ExportFormat] = &[
    ExportFormat {
        name: "hyperfine",
        write: hyperfine,
    },
    ExportFormat {
        name: "bencher",
        write: bencher::bencher,
    },
    ExportFormat {
        name: "gobench",
        write: gobench::gobench,
    },
    ExportFormat {
        name: "github-action-benchmark",
        write: github::github_action_benchmark,
    },
    ExportFormat {
        name: "openmetrics",
        write: openmetrics::openmetrics,
    },
    ExportFormat {
        name: "csv",
        write: csv::csv,
    },
    ExportFormat {
        name: "jsonl",
        write: jsonl::jsonl,
    },
];

/// Returns a benchmark's name with its parameters, for formats that have no field for parameters.
fn full_name(benchmark: &Benchmark) -> String {
    with_parameters(&benchmark.name, &benchmark.parameters)
}

/// Groups the figures of a measurement by benchmark and parameters, in order of first appearance.
fn by_benchmark(export: &Export) -> Vec<Vec<&Figure>> {
    let mut places = std::collections::HashMap::new();
    let mut groups: Vec<Vec<&Figure>> = Vec::new();
    let mut taken = std::collections::HashSet::new();
    for figure in &export.figures {
        let one = &figure.benchmark;
        // If a session has the same command twice, it counts as two benchmarks.
        let mut place = 0;
        while !taken.insert((&one.name, &one.parameters, &one.metric, place)) {
            place += 1;
        }
        let at = *places
            .entry((&one.name, &one.parameters, place))
            .or_insert_with(|| {
                groups.push(Vec::new());
                groups.len() - 1
            });
        groups[at].push(figure);
    }
    groups
}
