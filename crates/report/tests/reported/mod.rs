//! Reports of artificial stores, whose changes are known.

use fathom_model::{
    Drift, DriftSource, Estimate, GateBenchmark, GateRecord, GateVerdict, HistoryEnvironment,
    Measurement, Report, ReportBenchmark, ReportComparison, ReportPoint, ReportSamples,
    ReportSeries, ServeRecord, Verdict, VersionsRecord,
};
use fathom_test_browser::hostile::{MARKUP as EVIL, names};

const START: i64 = 1_790_000_000;

/// Twelve benchmarks over sixty revisions of two environments; the first became slower at the fortieth.
pub(crate) fn ordinary() -> Report {
    let mut report = suite(12, 60);
    let mut other = report.environments[0].clone();
    other.key = "b".to_owned();
    other.kernel = Some("Linux 6.19.2".to_owned());
    report.environments.push(other);
    for benchmark in &mut report.benchmarks {
        for series in &mut benchmark.series {
            for point in series.points.iter_mut().filter(|point| point.index < 12) {
                point.environment = 1;
            }
        }
    }
    for (place, label) in [(10, "v1.0"), (25, "v1.1"), (45, "v1.2"), (59, "v1.3")] {
        report.measurements[place].labels = vec![label.to_owned()];
    }
    report.measurements[30].dirty = true;
    let first = &mut report.benchmarks[0];
    first.parameters = vec![("threads".to_owned(), "2".to_owned())];
    for point in first.series[0]
        .points
        .iter_mut()
        .filter(|point| point.index >= 40)
    {
        point.value *= 1.12;
        point.low *= 1.12;
        point.high *= 1.12;
    }
    for series in report.benchmarks.iter_mut().map(|one| &mut one.series[0]) {
        let inside: Vec<f64> = series.points[12..]
            .iter()
            .map(|point| point.value)
            .collect();
        series.changes = fathom_stats::change_points(&inside).change_points;
        for change in &mut series.changes {
            change.index += 12;
            change.until += 12;
        }
    }
    report
}

/// A suite of `benchmarks` benchmarks over `revisions` revisions, each measured with fifteen metrics.
pub(crate) fn suite(benchmarks: usize, revisions: usize) -> Report {
    let measurements = (0..revisions).map(|at| Measurement {
        id: format!(
            "{:016x}",
            0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(at as u64 + 1)
        )
        .repeat(4),
        time: (START + at as i64 * 86_400) * 1000,
        started_at: "2026-11-25T20:00:00Z".to_owned(),
        revision: Some(format!(
            "{:040x}",
            0xc2b2_ae3d_27d4_eb4f_u128 * (at as u128 + 7)
        )),
        dirty: false,
        labels: Vec::new(),
    });
    Report {
        source: ".fathom/store.sqlite".to_owned(),
        fathom_version: "0.1.0".to_owned(),
        margin: 0.01,
        baseline: "the previous label, or the first measurement".to_owned(),
        measurements: measurements.collect(),
        environments: vec![HistoryEnvironment {
            key: "a".to_owned(),
            kernel: Some("Linux 6.18.44".to_owned()),
            architecture: Some("x86_64".to_owned()),
            cpu_model: Some("AMD EPYC 9R14".to_owned()),
            cpus: Some(2),
            memory_bytes: Some(24 << 30),
            ..HistoryEnvironment::default()
        }],
        benchmarks: (0..benchmarks).map(|at| benchmark(at, revisions)).collect(),
        ..Report::default()
    }
}

fn benchmark(number: usize, revisions: usize) -> ReportBenchmark {
    let all = ["wall", "cpu", "user", "system", "peak_memory", "read_calls"];
    let series: Vec<ReportSeries> = all
        .iter()
        .enumerate()
        .map(|(place, metric)| series(number, place, metric, revisions))
        .collect();
    let values = |from: f64| {
        (0..40)
            .map(|run| from * (1.0 + noise(run, 3) * 0.02))
            .collect()
    };
    let last = revisions - 1;
    let samples = [last - 1, last].map(|index| ReportSamples {
        index,
        values: sorted(values(series[0].points[index].value)),
    });
    let compared = |base: usize, ratio: f64, verdict| {
        Some(ReportComparison {
            higher_is_better: Some(false),
            base,
            wait_free: false,
            ratio: Estimate {
                value: ratio,
                low: ratio * 0.97,
                high: ratio * 1.03,
                level: 0.95,
            },
            drift: Drift {
                share: 0.03,
                source: DriftSource::Successive,
                measurements: revisions - 1,
            },
            verdict,
        })
    };
    let (before, baseline) = match number {
        0 => (
            compared(last - 1, 1.006, Verdict::Same),
            compared(0, 1.12, Verdict::Slower),
        ),
        1 => (
            compared(last - 1, 0.86, Verdict::Faster),
            compared(0, 0.85, Verdict::Faster),
        ),
        _ => (
            compared(last - 1, 1.01, Verdict::Undecided),
            compared(0, 0.99, Verdict::Undecided),
        ),
    };
    ReportBenchmark {
        name: format!("parse-{number} --input corpus/large-{number}.bin"),
        parameters: Vec::new(),
        series,
        before,
        baseline,
        samples: samples.to_vec(),
    }
}

fn sorted(mut values: Vec<f64>) -> Vec<f64> {
    values.sort_by(f64::total_cmp);
    values
}

/// Returns reproducible noise from -1 to 1.
fn noise(at: usize, salt: usize) -> f64 {
    let mixed = ((at + 1) * (salt + 3) * 2_654_435_761) ^ (at * 40_503);
    (mixed >> 7) as f64 % 10_007.0 / 5003.5 - 1.0
}

fn series(number: usize, place: usize, metric: &str, revisions: usize) -> ReportSeries {
    let (unit, level) = match metric {
        "peak_memory" => ("bytes", 12e6),
        "read_calls" => ("count", 1200.0),
        _ => ("seconds", 0.0123 * 1.4f64.powi((number % 20) as i32)),
    };
    let points = (0..revisions).map(|index| {
        let value = level * (1.0 + 0.01 * noise(index, number * 7 + place));
        let value = if unit == "seconds" {
            value
        } else {
            value.round()
        };
        ReportPoint {
            index,
            measurement: index,
            environment: 0,
            runs: 20 + (index % 3) as u32,
            value,
            low: value * 0.995,
            high: value * 1.006,
        }
    });
    ReportSeries {
        metric: metric.to_owned(),
        unit: unit.to_owned(),
        direction: Some("lower_is_better".to_owned()),
        meaning: "from the start of the program to its end".to_owned(),
        total: revisions,
        points: points.collect(),
        changes: Vec::new(),
    }
}

/// The record of a real `fathom gate` of two commands.
pub(crate) fn gate() -> GateRecord {
    serde_json::from_str(include_str!("gate.json")).expect("a record")
}

/// The record of a real `fathom versions` of three releases.
fn versions() -> VersionsRecord {
    serde_json::from_str(include_str!("versions.json")).expect("a record")
}

/// The suite with records of verbs that have their own answers.
pub(crate) fn with_records(serve: ServeRecord) -> Report {
    let mut gate = gate();
    let row = gate.benchmarks[0].clone();
    gate.verdict = GateVerdict::Worse;
    gate.benchmarks.push(GateBenchmark {
        name: "parse-large".to_owned(),
        verdict: GateVerdict::Worse,
        why: vec!["looked worse in 20 rounds, and again in 20 new ones".to_owned()],
        ..row.clone()
    });
    gate.benchmarks.push(GateBenchmark {
        name: "noisy".to_owned(),
        verdict: GateVerdict::CannotTell,
        ratio: None,
        ..row
    });
    Report {
        gates: vec![gate],
        versions: vec![versions()],
        serves: vec![serve],
        ..ordinary()
    }
}

/// Like [`with_records`], with hostile names.
pub(crate) fn with_hostile_records(serve: ServeRecord) -> Report {
    let mut report = with_records(serve);
    let gate = &mut report.gates[0];
    gate.base.name = EVIL.to_owned();
    gate.head.name = "\u{202e}x".repeat(50_000);
    gate.notes = vec![EVIL.repeat(200), "\u{1b}[31m".to_owned()];
    for row in &mut gate.benchmarks {
        row.name = format!("{EVIL}{}", "x".repeat(100_000));
        row.metric = EVIL.to_owned();
        row.why = vec![EVIL.repeat(300); 9];
    }
    let versions = &mut report.versions[0];
    versions.command = EVIL.repeat(400);
    for version in &mut versions.versions {
        version.version = format!("\u{202e}{EVIL}");
    }
    report
}

/// Names that could become markup, reverse the line, or break the layout.
pub(crate) fn hostile() -> Report {
    let evil = EVIL;
    let mut report = suite(4, 12);
    let names = names().into_iter().chain(["x".repeat(100_001)]);
    for (benchmark, name) in report.benchmarks.iter_mut().zip(names) {
        benchmark.name = name;
        benchmark.parameters = vec![(evil.to_owned(), evil.repeat(900))];
        benchmark.series[0].meaning = evil.repeat(50);
        benchmark.series[1].unit = evil.to_owned();
        benchmark.series[2].metric = evil.repeat(5);
    }
    for measurement in &mut report.measurements {
        measurement.labels = vec![evil.repeat(100), "\u{202e}v1".to_owned()];
        measurement.revision = Some(evil.to_owned());
        measurement.id = evil.to_owned();
        measurement.started_at = evil.to_owned();
    }
    report.environments[0].cpu_model = Some(evil.repeat(90));
    report.environments[0].kernel = Some(evil.repeat(90));
    report.source = evil.repeat(50);
    report.baseline = evil.to_owned();
    report
}
