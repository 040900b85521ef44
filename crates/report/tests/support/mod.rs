//! Artificial, reproducible sessions: the numbers come from a small generator and the estimates are computed
//! from them, so the reports under test are as consistent as real ones.

// Each test file is a separate program and uses only a part of this module.
#![allow(dead_code)]

pub(crate) mod estimate;
pub(crate) mod program;

use fathom_model::{
    AskedMetric, BenchRecord, Benchmark, BenchmarkResult, Comparison, Conditions, Environment,
    Floor, InputFrom, Metric, Outcome, OutputTo, RunOrder, SCHEMA_VERSION, StopReason, Verdict,
    Warning,
};

use estimate::{compare, median, summaries};
use program::{Lcg, Program};

/// Returns a finished session with `rounds` rounds of `programs`. Each program is compared with the first, by
/// undisturbed time if all of them have it.
pub(crate) fn session(programs: &[Program], rounds: u32) -> BenchRecord {
    let mut random = Lcg::new(42);
    let mut runs = Vec::new();
    for round in 0..rounds {
        // Disturbances affect neighbouring runs alike, as on a real machine.
        let load = random.exponential();
        for (index, program) in programs.iter().enumerate() {
            let position = runs.len() as u32;
            runs.push(program.run(index, round, position, load, &mut random));
        }
    }
    let mut record = BenchRecord {
        schema_version: SCHEMA_VERSION,
        kind: "bench".into(),
        fathom_version: "0.1.0".into(),
        started_at: "2026-11-21T06:00:00Z".into(),
        jobs: Vec::new(),
        environment: environment(),
        conditions: conditions(),
        benchmarks: programs.iter().map(benchmark).collect(),
        runs,
        complete: true,
        outcome: None,
    };
    record.outcome = Some(outcome(&record));
    record
}

/// Recomputes the outcome of a record whose runs were changed.
pub(crate) fn outcome(record: &BenchRecord) -> Outcome {
    let count = record.benchmarks.len();
    let known = |metric: Metric| record.runs.iter().all(|run| metric.of(run).is_some());
    let (first, second) = if known(Metric::Undisturbed) {
        (Metric::Undisturbed, Some(Metric::Wall))
    } else {
        (Metric::Wall, None)
    };
    let all = |metric: Metric| -> Vec<Comparison> {
        (1..count)
            .filter_map(|subject| compare(record, subject, metric))
            .collect()
    };
    let comparisons = all(first);
    let decided = comparisons
        .iter()
        .all(|comparison| comparison.verdict != Verdict::Undecided);
    let stop = match (count, decided) {
        (0 | 1, _) => StopReason::Precise,
        (_, true) => StopReason::Decided,
        (_, false) => StopReason::MaximumRounds,
    };
    Outcome {
        stop,
        results: (0..count)
            .map(|index| BenchmarkResult {
                benchmark: index,
                failures: record
                    .runs
                    .iter()
                    .filter(|run| run.benchmark == index && !run.exit.is_success())
                    .count(),
                summaries: summaries(record, index),
            })
            .collect(),
        comparisons,
        cross_checks: second.map(all).unwrap_or_default(),
        also_differ: Vec::new(),
        slope: None,
        floor: Some(floor()),
        warnings: Vec::new(),
        notes: Vec::new(),
        warmups: Vec::new(),
    }
}

/// Returns the session with these requested metrics. Counts that never differ are compared exactly.
pub(crate) fn asked(mut record: BenchRecord, metrics: &[(Metric, f64)]) -> BenchRecord {
    let metrics = metrics.iter();
    let metrics = metrics.map(|(metric, margin)| AskedMetric {
        metric: *metric,
        margin: *margin,
    });
    record.conditions.metrics = metrics.collect();
    let mut comparisons = Vec::new();
    for asked in &record.conditions.metrics {
        for subject in 1..record.benchmarks.len() {
            let mut one = compare(&record, subject, asked.metric).expect("every run has it");
            one.margin = asked.margin;
            if asked.metric.is_exact() && one.ratio.low == one.ratio.high {
                (one.ratio.level, one.claim_level) = (1.0, 1.0);
            }
            comparisons.push(one);
        }
    }
    let outcome = outcome_of(&mut record);
    outcome.cross_checks.clear();
    outcome.comparisons = comparisons;
    record
}

/// Returns the session's outcome for modification.
pub(crate) fn outcome_of(record: &mut BenchRecord) -> &mut Outcome {
    record
        .outcome
        .as_mut()
        .expect("a session always has one here")
}

/// Returns the verdicts of a session, to check that a scenario matches its name.
pub(crate) fn verdicts(record: &BenchRecord) -> Vec<Verdict> {
    record
        .outcome
        .iter()
        .flat_map(|outcome| &outcome.comparisons)
        .map(|comparison| comparison.verdict)
        .collect()
}

/// Creates a warning about one benchmark.
pub(crate) fn warning(benchmark: Option<usize>, id: &str, message: &str) -> Warning {
    Warning {
        id: id.into(),
        benchmark,
        message: message.into(),
    }
}

fn floor() -> Floor {
    let mut random = Lcg::new(7);
    let times: Vec<f64> = (0..50)
        .map(|_| 0.000_13 * (1.0 + 0.04 * random.exponential()))
        .collect();
    Floor {
        runs: times.len(),
        wall: median(&estimate::sorted(times)),
    }
}

fn benchmark(program: &Program) -> Benchmark {
    Benchmark {
        name: program.name.clone(),
        command: program.name.clone(),
        arguments: program.name.split(' ').map(str::to_owned).collect(),
        arguments_bytes: None,
        shell: None,
        parameters: Vec::new(),
        input: InputFrom::Null,
        output: OutputTo::Null,
        working_directory: None,
        environment_variables: Vec::new(),
    }
}

fn conditions() -> Conditions {
    Conditions {
        order: RunOrder::Random,
        seed: 42,
        warmup_runs: 3,
        pinned_cpus: None,
        timeout_seconds: None,
        margin: 0.01,
        metrics: Vec::new(),
        environment_size_randomised: true,
    }
}

fn environment() -> Environment {
    Environment {
        kernel: "Linux 6.18.44".into(),
        architecture: "x86_64".into(),
        cpu_model: Some("AMD EPYC 9R14".into()),
        cpus: 2,
        memory_bytes: Some(4 << 30),
        host: Some("bench-1".into()),
        governor: None,
        virtual_machine: Some(true),
        load_average: Some(0.2),
        fingerprint: None,
    }
}
