//! Reads Google Benchmark's aggregates: one row each for mean, median and deviation, which together form one
//! summary. In files from before `run_type`, and in CSV, only the suffixes of their names distinguish them
//! from benchmarks.

use std::collections::{BTreeMap, HashSet};

use crate::collector::{Collector, Measure};
use fathom_model::imported::Summary;

/// The names of all rows.
pub(super) struct Names<'a>(HashSet<&'a str>);

impl<'a> Names<'a> {
    pub(super) fn of(all: impl Iterator<Item = &'a str>) -> Names<'a> {
        Names(all.collect())
    }

    /// Splits a name into the benchmark and the kind of aggregate, if it is an aggregate's name. Because a
    /// benchmark may itself be called `x_mean`, the other aggregates must be present, too.
    pub(super) fn split<'n>(&self, name: &'n str) -> Option<(&'n str, &'n str)> {
        let (base, kind) = name.rsplit_once('_')?;
        let has = |name: &str, kind: &str| self.0.contains(format!("{name}_{kind}").as_str());
        let aggregated = |name: &str| {
            // Releases before 1.2 had no medians, but always contained the rows themselves.
            has(name, "mean")
                && has(name, "stddev")
                && (has(name, "median") || self.0.contains(name))
        };
        let known = matches!(kind, "mean" | "median" | "stddev" | "cv");
        (aggregated(base) && (known || !aggregated(name))).then_some((base, kind))
    }

    pub(super) fn contains(&self, name: &str) -> bool {
        self.0.contains(name)
    }
}

/// Aggregates of benchmarks whose repetitions aren't in the file.
#[derive(Default)]
pub(super) struct Aggregates(BTreeMap<(String, usize), (Measure, Summary)>);

impl Aggregates {
    /// Adds the figures of a row, each with its measure; `count` is the number of repetitions.
    pub(super) fn add(
        &mut self,
        base: &str,
        kind: &str,
        count: Option<u64>,
        figures: impl Iterator<Item = (Measure, f64)>,
        out: &mut Collector,
    ) {
        if !matches!(kind, "mean" | "median" | "stddev") {
            let reason = format!("aggregate '{kind}' has another unit, or is user-defined");
            return out.left_out(format!("{base}_{kind}"), reason);
        }
        for (number, (measure, value)) in figures.enumerate() {
            let new = || (measure, Summary::default());
            let entry = self.0.entry((base.to_owned(), number)).or_insert_with(new);
            let summary = &mut entry.1;
            summary.count = summary.count.or(count);
            *match kind {
                "mean" => &mut summary.mean,
                "median" => &mut summary.median,
                _ => &mut summary.standard_deviation,
            } = Some(value);
        }
    }

    pub(super) fn write(self, out: &mut Collector) {
        for (measure, summary) in self.0.into_values() {
            out.summary(measure, summary);
        }
    }
}
