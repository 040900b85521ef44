//! A view of a record by benchmark.

use fathom_model::{BenchRecord, Benchmark, Metric, Run, Summary};

/// One benchmark with its results.
pub(crate) struct Subject<'a> {
    /// Index in the record, from 0.
    pub(crate) index: usize,
    pub(crate) benchmark: &'a Benchmark,
    /// The benchmark's successful runs in their original order. If no run succeeded, all runs, as in the
    /// summaries.
    pub(crate) runs: Vec<&'a Run>,
    /// The benchmark's failed runs.
    pub(crate) failed: Vec<&'a Run>,
    /// Number of all runs, including failed ones.
    pub(crate) made: usize,
    summaries: &'a [Summary],
}

impl<'a> Subject<'a> {
    /// Returns all benchmarks of `record`, in the order in which they were given. Runs of a benchmark that
    /// isn't in the record are skipped.
    pub(crate) fn all(record: &'a BenchRecord) -> Vec<Subject<'a>> {
        let mut subjects: Vec<Subject<'a>> = record
            .benchmarks
            .iter()
            .enumerate()
            .map(|(index, benchmark)| Subject {
                index,
                benchmark,
                runs: Vec::new(),
                failed: Vec::new(),
                made: 0,
                summaries: &[],
            })
            .collect();
        for run in &record.runs {
            if let Some(subject) = subjects.get_mut(run.benchmark) {
                subject.made += 1;
                match run.exit.is_success() {
                    true => subject.runs.push(run),
                    false => subject.failed.push(run),
                }
            }
        }
        for subject in &mut subjects {
            if subject.runs.is_empty() {
                subject.runs.clone_from(&subject.failed);
            }
        }
        for result in record.outcome.iter().flat_map(|outcome| &outcome.results) {
            if let Some(subject) = subjects.get_mut(result.benchmark) {
                subject.summaries = &result.summaries;
            }
        }
        subjects
    }

    /// Returns the summary of one metric, if the benchmark has values for it.
    pub(crate) fn summary(&self, metric: Metric) -> Option<&'a Summary> {
        self.summaries
            .iter()
            .find(|summary| summary.metric == metric)
    }

    /// Returns the median of one metric, if the benchmark has values for it.
    pub(crate) fn median(&self, metric: Metric) -> Option<f64> {
        self.summary(metric).map(|summary| summary.median.value)
    }

    /// Returns the values of one metric, in the order of the runs; fewer if some runs had none.
    pub(crate) fn values(&self, metric: Metric) -> Vec<f64> {
        self.runs.iter().filter_map(|run| metric.of(run)).collect()
    }
}

/// Returns the number of rounds with at least one run.
pub(crate) fn rounds(record: &BenchRecord) -> u64 {
    record
        .runs
        .iter()
        .map(|run| u64::from(run.round) + 1)
        .max()
        .unwrap_or(0)
}

/// Returns the seconds from the start of the first run to the end of the last.
pub(crate) fn measured_for(record: &BenchRecord) -> Option<f64> {
    let runs = record.runs.iter();
    let end = runs.map(|run| run.started_ns.saturating_add(run.wall_ns));
    let start = record.runs.iter().map(|run| run.started_ns);
    let span = end.max()?.saturating_sub(start.min()?);
    Some(span as f64 / 1e9)
}
