//! Tests that real output of each tool can be read, and that no file can crash the reader.

mod action;
mod criterion;
mod exports;
mod hostile;
mod identity;
mod load;
mod mutation;
mod older;
mod samples;

use std::path::{Path, PathBuf};

use fathom_exchange::{Benchmark, Error, Imported, Values, read};

pub(crate) fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/samples")
}

pub(crate) fn sample(file: &str) -> Vec<u8> {
    std::fs::read(folder().join(file)).unwrap_or_else(|error| panic!("{file}: {error}"))
}

pub(crate) fn text(text: &str) -> Result<Imported, Error> {
    read(text.as_bytes(), "text", None)
}

pub(crate) fn imported(file: &str) -> Imported {
    read(&sample(file)[..], file, None).unwrap_or_else(|error| panic!("{file}: {error}"))
}

/// Returns the only series with this name, metric and parameters.
pub(crate) fn series<'a>(
    from: &'a Imported,
    name: &str,
    metric: &str,
    parameters: &[(&str, &str)],
) -> &'a Benchmark {
    let wanted = |one: &&Benchmark| {
        let has =
            |(key, value): &(&str, &str)| one.parameters.get(*key).is_some_and(|own| own == value);
        one.name == name && one.metric == metric && parameters.iter().all(has)
    };
    let found = from.benchmarks.iter().filter(wanted).collect::<Vec<_>>();
    assert_eq!(
        found.len(),
        1,
        "{name} {metric} {parameters:?} in {from:#?}"
    );
    found[0]
}

pub(crate) fn samples(of: &Benchmark) -> &[f64] {
    match &of.values {
        Values::Samples(samples) => samples,
        Values::Summary(summary) => panic!("a summary: {summary:?}"),
    }
}

pub(crate) fn summary(of: &Benchmark) -> &fathom_exchange::Summary {
    match &of.values {
        Values::Summary(summary) => summary,
        Values::Samples(samples) => panic!("samples: {samples:?}"),
    }
}

/// Returns how often something was omitted for a reason that contains these words.
pub(crate) fn left_out(from: &Imported, what: &str, reason: &str) -> u64 {
    let entries = from
        .left_out
        .iter()
        .filter(|entry| entry.what == what && entry.reason.contains(reason));
    entries.map(|entry| entry.count).sum()
}
