//! The first sentence of the report.

use fathom_model::{
    Environment, GateVerdict, HistoryEnvironment, Report, ReportBenchmark, Verdict,
};

use crate::line::Tone;
use crate::quantity::counted;
use crate::text::{bounded, escape};

/// Returns how many benchmarks changed since their previous measurement.
pub(super) fn answer(report: &Report) -> (Tone, String) {
    if report.benchmarks.is_empty() {
        return of_gates(report);
    }
    let count = |verdict| {
        let is = |one: &&ReportBenchmark| {
            one.before
                .as_ref()
                .is_some_and(|before| before.verdict == verdict)
        };
        report.benchmarks.iter().filter(is).count()
    };
    let (slower, faster) = (count(Verdict::Slower), count(Verdict::Faster));
    let all = counted(report.benchmarks.len() as u64, "benchmark", "benchmarks");
    let compared = report.benchmarks.iter().any(|one| one.before.is_some());
    match (slower, faster) {
        (0, 0) if !compared => (Tone::Plain, format!("{all}, each measured once")),
        (0, 0) => (
            Tone::Plain,
            format!("No definite change since the previous measurements: {all}"),
        ),
        (0, faster) => (
            Tone::Good,
            format!("{faster} of {all} faster than in the previous measurement, none slower"),
        ),
        (slower, faster) => (
            Tone::Bad,
            format!("{slower} of {all} slower than in the previous measurement, {faster} faster"),
        ),
    }
}

fn of_gates(report: &Report) -> (Tone, String) {
    match report.gates.last().map(|gate| gate.verdict) {
        Some(GateVerdict::Worse) => (Tone::Bad, "Last gate: worse".to_owned()),
        Some(GateVerdict::NotWorse) => (Tone::Good, "Last gate: not worse".to_owned()),
        Some(GateVerdict::CannotTell) => (Tone::Notice, "Last gate: cannot tell".to_owned()),
        None if report.versions.is_empty() => (
            Tone::Plain,
            "Nothing is saved yet: in a project, `fathom bench` saves its results; elsewhere, add --save"
                .to_owned(),
        ),
        None => (
            Tone::Plain,
            counted(
                report.versions.len() as u64,
                "record of versions",
                "records of versions",
            ),
        ),
    }
}

/// Returns the basis of the answer.
pub(super) fn basis(report: &Report) -> String {
    let mut parts = vec![format!("From {}", escape(&bounded(&report.source, 120)))];
    if !report.measurements.is_empty() {
        let count = report.measurements.len() as u64;
        parts.push(counted(count, "measurement", "measurements"));
        parts.push(format!(
            "the baseline is {}",
            escape(&bounded(&report.baseline, 60))
        ));
    }
    parts.join("; ")
}

/// Returns where the newest point was measured, as far as known, and when.
pub(super) fn origin(report: &Report) -> (Environment, String) {
    let last = report
        .benchmarks
        .iter()
        .filter_map(|one| one.main()?.points.last());
    let newest = last.max_by_key(|point| report.measurements[point.measurement].time);
    match newest {
        Some(point) => (
            environment(&report.environments[point.environment]),
            report.measurements[point.measurement].started_at.clone(),
        ),
        None => {
            let gates = report
                .gates
                .iter()
                .map(|one| (&one.environment, &one.started_at));
            let versions = report
                .versions
                .iter()
                .map(|one| (&one.environment, &one.started_at));
            let found = gates.chain(versions).last();
            found.map_or_else(Default::default, |(environment, at)| {
                (environment.clone(), at.clone())
            })
        }
    }
}

fn environment(facts: &HistoryEnvironment) -> Environment {
    Environment {
        kernel: facts.kernel.clone().unwrap_or_default(),
        architecture: facts.architecture.clone().unwrap_or_default(),
        cpu_model: facts.cpu_model.clone(),
        cpus: facts.cpus.unwrap_or(0) as usize,
        memory_bytes: facts.memory_bytes,
        virtual_machine: facts.virtual_machine,
        ..Environment::default()
    }
}
