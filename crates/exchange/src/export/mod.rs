//! Records in forms that other tools read: one pure function a format.

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

/// One measurement: a record, or a point in time of series.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Export {
    /// Who measured, with a version.
    pub tool: String,
    /// When, milliseconds since 1970, UTC.
    pub milliseconds: i64,
    /// The same as RFC 3339.
    pub time: String,
    /// Commit that was measured.
    pub revision: Option<String>,
    /// Names that the record was given.
    pub labels: Vec<String>,
    /// What is known of machine and build, by the names of the tool.
    pub context: BTreeMap<String, String>,
    /// The figures.
    pub figures: Vec<Figure>,
}

/// One metric of one benchmark.
#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    /// Name, parameters, metric, unit and values.
    pub benchmark: Benchmark,
    /// Of runs whose ends are known: the exit code of each, `None` after a signal or a time-out.
    pub exit_codes: Vec<Option<i32>>,
}

/// What a format makes of measurements.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Written {
    /// The text; empty if nothing could be written in this form.
    pub text: String,
    /// What the form can't carry.
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

/// A form that is written.
pub struct ExportFormat {
    /// As `--format` calls it.
    pub name: &'static str,
    /// Writes it.
    pub write: fn(&[Export]) -> Written,
}

/// Every form that is written.
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

/// A benchmark with its parameters, where a form has no place for them.
fn full_name(benchmark: &Benchmark) -> String {
    with_parameters(&benchmark.name, &benchmark.parameters)
}

/// The figures of a measurement by benchmark and parameters, in the order of the first of each.
fn by_benchmark(export: &Export) -> Vec<Vec<&Figure>> {
    let mut places = std::collections::HashMap::new();
    let mut groups: Vec<Vec<&Figure>> = Vec::new();
    let mut taken = std::collections::HashSet::new();
    for figure in &export.figures {
        let one = &figure.benchmark;
        // The same command twice in one session are two benchmarks.
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
