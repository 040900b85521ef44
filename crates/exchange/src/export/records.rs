//! Converts records for export.

use fathom_model::imported::{Benchmark, Values};
use fathom_model::{BenchRecord, Exit, ImportedRecord, Metric, Run, Unit};

use super::{Export, Figure};

/// Exports every run of `bench`, with all its metrics. The numeric time is left to a caller that can parse
/// `started_at`. Runs of a benchmark that isn't in the record are skipped.
pub fn of_bench(record: &BenchRecord) -> Export {
    let mut runs: Vec<Vec<&Run>> = vec![Vec::new(); record.benchmarks.len()];
    for run in &record.runs {
        if let Some(own) = runs.get_mut(run.benchmark) {
            own.push(run);
        }
    }
    // A run that fails only measures the time to its failure. Therefore figures include only successful runs,
    // as in the record's own summaries.
    for own in &mut runs {
        if own.iter().any(|run| run.exit.is_success()) {
            own.retain(|run| run.exit.is_success());
        }
    }
    let mut figures = Vec::new();
    for (benchmark, runs) in record.benchmarks.iter().zip(&runs) {
        for metric in Metric::ALL {
            let values: Vec<f64> = runs.iter().filter_map(|run| metric.of(run)).collect();
            if values.is_empty() {
                continue;
            }
            figures.push(Figure {
                benchmark: Benchmark {
                    name: benchmark.name.clone(),
                    parameters: benchmark.parameters.iter().cloned().collect(),
                    metric: metric.name().to_owned(),
                    unit: unit(metric.unit()).to_owned(),
                    direction: Some(metric.direction()),
                    exact: metric.is_exact(),
                    values: Values::Samples(values),
                    iterations: Vec::new(),
                    threads: None,
                },
                exit_codes: runs.iter().map(|run| code(run.exit)).collect(),
            });
        }
    }
    Export {
        tool: format!("fathom {}", record.fathom_version),
        time: record.started_at.clone(),
        figures,
        ..Export::default()
    }
}

/// Exports an imported record unchanged.
pub fn of_imported(record: ImportedRecord) -> Export {
    let version = record.source.version.map(|version| format!(" {version}"));
    let figures = record.benchmarks.into_iter().map(|benchmark| Figure {
        benchmark,
        exit_codes: Vec::new(),
    });
    Export {
        tool: format!("{}{}", record.source.tool, version.unwrap_or_default()),
        time: record.started_at,
        revision: record.revision.map(|revision| revision.id),
        context: record.source.environment,
        figures: figures.collect(),
        ..Export::default()
    }
}

fn unit(unit: Unit) -> &'static str {
    match unit {
        Unit::Seconds => "s",
        Unit::Bytes => "B",
        Unit::Count => "",
    }
}

fn code(exit: Exit) -> Option<i32> {
    match exit {
        Exit::Code(code) => Some(code),
        Exit::Signal(_) | Exit::TimedOut => None,
    }
}
