//! Splits the record into one for each version. Each is stored under its revision, and together they form one
//! series. Pure functions.

use fathom_model::{BenchRecord, Run, Version, VersionsRecord};
use fathom_store::Revision;

/// A version to store.
#[derive(Debug, Clone)]
pub struct VersionToKeep {
    /// The runs of the version, as if it had been measured alone.
    pub record: BenchRecord,
    /// The revision whose committed files were measured, if there is one.
    pub revision: Option<Revision>,
    /// Its name.
    pub label: String,
}

/// Returns the measured versions, oldest first, as measurements of a benchmark named `name`.
pub fn records(record: &VersionsRecord, name: &str) -> Vec<VersionToKeep> {
    let Some(measured) = &record.measured else {
        return Vec::new();
    };
    let one = |version: &Version| {
        Some(VersionToKeep {
            record: alone(measured, version.benchmark?, name)?,
            revision: version.revision.clone().map(|id| Revision {
                id,
                branch: None,
                dirty: false,
            }),
            label: version.version.clone(),
        })
    };
    record.versions.iter().filter_map(one).collect()
}

/// Returns the record with only this benchmark, under the name that all versions share.
fn alone(measured: &BenchRecord, index: usize, name: &str) -> Option<BenchRecord> {
    let mut benchmark = measured.benchmarks.get(index)?.clone();
    benchmark.name = name.to_owned();
    benchmark.parameters = Vec::new();
    let own = |run: &&Run| run.benchmark == index;
    let runs = |all: &[Run]| {
        let own = all.iter().filter(own);
        own.map(|run| Run {
            benchmark: 0,
            ..run.clone()
        })
        .collect()
    };
    let outcome = measured.outcome.as_ref().map(|outcome| {
        let mut outcome = outcome.clone();
        outcome.comparisons.clear();
        outcome.cross_checks.clear();
        outcome.results.retain(|result| result.benchmark == index);
        for result in &mut outcome.results {
            result.benchmark = 0;
        }
        for warnings in [&mut outcome.warnings, &mut outcome.notes] {
            warnings.retain(|warning| warning.benchmark.is_none_or(|of| of == index));
            for warning in warnings {
                warning.benchmark = warning.benchmark.map(|_| 0);
            }
        }
        outcome.warmups = runs(&outcome.warmups);
        outcome
    });
    Some(BenchRecord {
        benchmarks: vec![benchmark],
        runs: runs(&measured.runs),
        outcome,
        ..measured.clone()
    })
}
