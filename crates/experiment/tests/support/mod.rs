//! Results and files for tests, without measuring.
#![allow(dead_code, reason = "each test uses a part")]

use std::path::Path;

use fathom_experiment::file::parse::parse;
use fathom_experiment::results::{Cause, Findings, Gap, Results, Samples};
use fathom_experiment::{Experiment, FileError, check};
use fathom_model::{ClaimResult, Combination};

/// Parses and checks a text.
pub(crate) fn experiment(text: &str) -> Result<Experiment, FileError> {
    let experiment = parse(Path::new("experiment.toml"), text)?;
    check::check(&experiment)?;
    Ok(experiment)
}

/// Returns a file with two subjects, a `bench` measure, a `why` measure and these claims.
pub(crate) fn with_claims(claims: &str) -> String {
    format!(
        r#"schema_version = 1
title = "t"
[subjects.a]
command = "a"
[subjects.b]
command = "b"
[subjects."c-1.2"]
command = "c"
[[measure]]
id = "time"
how = "bench"
[[measure]]
id = "inner"
how = "value"
values.ops = {{ pattern = "([0-9]+) ops", unit = "ops/s", better = "higher" }}
[[measure]]
id = "cause"
how = "why"
{claims}"#
    )
}

/// Returns one claim.
pub(crate) fn claim(layer: &str, holds: &str) -> String {
    with_claims(&format!(
        "[[claims]]\nid = \"x\"\ntext = \"x\"\nlayer = \"{layer}\"\nholds = '''{holds}'''\n"
    ))
}

/// Returns samples of `time.wall`, in seconds, by round.
pub(crate) fn wall(subject: &str, values: &[f64]) -> Samples {
    samples("time", "wall", Some(subject), "s", values)
}

/// Returns samples of any metric.
pub(crate) fn samples(
    measure: &str,
    metric: &str,
    subject: Option<&str>,
    unit: &str,
    values: &[f64],
) -> Samples {
    Samples {
        measure: measure.to_string(),
        metric: metric.to_string(),
        subject: subject.map(str::to_string),
        parameters: Vec::new(),
        unit: unit.to_string(),
        values: (0..).zip(values.iter().copied()).collect(),
        exact: false,
        primary: metric == "wall",
        is_share: false,
    }
}

/// Returns the same samples under a parameter.
pub(crate) fn under(samples: Samples, name: &str, value: &str) -> Samples {
    Samples {
        parameters: vec![(name.to_string(), value.to_string())],
        ..samples
    }
}

/// Returns values around a centre, plus or minus a share, all of them different.
pub(crate) fn around(centre: f64, spread: f64, count: usize) -> Vec<f64> {
    (0..count)
        .map(|i| {
            // The order is fixed and has no trend.
            let place = (i * 7 % count) as f64 / (count - 1).max(1) as f64 - 0.5;
            centre * (1.0 + 2.0 * spread * place)
        })
        .collect()
}

/// Returns findings of `why`.
pub(crate) fn found(subject: &str, ids: &[&str]) -> Findings {
    Findings {
        measure: "cause".to_string(),
        subject: subject.to_string(),
        parameters: Vec::new(),
        ids: ids.iter().map(|id| (*id).to_string()).collect(),
        limited: None,
    }
}

/// Returns a gap.
pub(crate) fn gap(subject: &str, reason: &str) -> Gap {
    Gap {
        measure: None,
        subject: Some(subject.to_string()),
        parameters: Vec::new(),
        reason: reason.to_string(),
        cause: Cause::Missing,
    }
}

/// Returns the verdict of the file's first claim.
pub(crate) fn judged(text: &str, results: &Results) -> ClaimResult {
    judged_under(text, results, &[Vec::new()])
}

/// Returns the verdict of the file's first claim, under combinations of parameters.
pub(crate) fn judged_under(
    text: &str,
    results: &Results,
    combinations: &[Combination],
) -> ClaimResult {
    let experiment = experiment(text).unwrap_or_else(|error| panic!("{error}"));
    fathom_experiment::verdict::claim(&experiment.claims[0], results, combinations, None)
}
