//! Measures how long the report and the exports take for a very long session.

use std::hint::black_box;
use std::time::{Duration, Instant};

use fathom_machine::environment;
use fathom_measure::simulated::quiet_run;
use fathom_measure::{
    Against, Attempt, Frame, Journal, MeasureError, Question, assess, now_rfc3339, write_bench,
};
use fathom_model::{
    BenchRecord, Benchmark, Conditions, InputFrom, OutputTo, Run, RunOrder, SCHEMA_VERSION,
    StopReason,
};
use fathom_report as report;
use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};

use crate::Result;
use crate::table::{Table, result};
use crate::tools::Tools;

const RUNS: u32 = 100_000;
const ASKED: Duration = Duration::from_secs(1);
/// Number of attempts, whose median counts: a neighbour could disturb a single one.
const TRIES: usize = 3;

/// Measures the work after the last run of a session of two commands.
///
/// # Errors
/// If the JSON can't be written.
pub(crate) fn measure(tools: &Tools) -> Result<Table> {
    let question = Question {
        names: vec!["old".into(), "new".into()],
        against: Against::One(0),
        metrics: Vec::new(),
        margin: 0.01,
        alpha: 0.05,
    };
    let mut record = record();
    let floor = [300_000; 40];
    let assessed = || {
        assess(
            &record.runs,
            &record.benchmarks,
            &question,
            fathom_stats::sequential::last(0.05, &[]),
            StopReason::RunCount,
            &floor,
        )
    };
    let mut steps = vec![(
        "statistics and verdicts",
        time(|| drop(black_box(assessed()))),
        0,
    )];
    let outcome = assessed();
    record.outcome = Some(outcome);
    let whole = &record;
    let terminal = report::TerminalOptions::default();
    type Write<'a> = (&'static str, Box<dyn Fn() -> String + 'a>);
    let writes: [Write; 6] = [
        ("terminal", Box::new(|| report::terminal(whole, &terminal))),
        ("--export-json", Box::new(|| report::hyperfine_json(whole))),
        ("--export-csv", Box::new(|| report::csv(whole))),
        (
            "--export-markdown",
            Box::new(|| report::markdown(whole, None)),
        ),
        (
            "--export-asciidoc",
            Box::new(|| report::asciidoc(whole, None)),
        ),
        (
            "--export-orgmode",
            Box::new(|| report::orgmode(whole, None)),
        ),
    ];
    for (name, write) in &writes {
        steps.push((name, time(|| drop(black_box(write()))), write().len()));
    }
    let length = report::json(whole).len();
    let json = || drop(black_box(report::json(whole)));
    let json = ("--json - (standard output)", time(json), length);
    let closing = (
        "--json FILE: closing the record",
        close_journal(tools, whole)?,
        length,
    );

    let mut table = Table::new(
        "Large: 100,000 recorded runs",
        &["step", "time", "bytes", "asked", "result"],
    );
    let ms = |time: Duration| format!("{:.1} ms", time.as_secs_f64() * 1e3);
    let all: Duration = steps.iter().map(|(_, took, _)| *took).sum();
    steps.extend([json, closing]);
    for (name, took, length) in &steps {
        let length = if *length > 0 {
            length.to_string()
        } else {
            String::new()
        };
        table.row([name.to_string(), ms(*took), length]);
    }
    for (name, took, _) in [json, closing] {
        let all = all + took;
        let name = format!(
            "all of it, with {}",
            name.split([':', '(']).next().unwrap_or(name).trim()
        );
        let reached = result(all < ASKED);
        table.row([
            name,
            ms(all),
            String::new(),
            "under 1 s".to_string(),
            reached,
        ]);
    }
    table.note(format!(
        "Two commands with 50,000 simulated runs each, all metrics, through the library; median of {TRIES}. With FILE each run was written when it ended; what is left is to write the whole record beside it, sync it to the disk, and rename it."
    ));
    Ok(table)
}

/// Measures the work that remains at the end for `--json FILE`: the runs are already in the file.
fn close_journal(tools: &Tools, record: &BenchRecord) -> Result<Duration> {
    let path = tools.file("large.json");
    let failed = |error: MeasureError| error.to_string();
    let mut journals = Vec::new();
    for _ in 0..TRIES {
        let mut journal = Journal::create(&path, Frame::of_bench(record)).map_err(failed)?;
        for run in &record.runs {
            journal.append(run).map_err(failed)?;
        }
        let start = Instant::now();
        journal
            .finish(|out| write_bench(record, out))
            .map_err(failed)?;
        journals.push(start.elapsed());
    }
    let _ = std::fs::remove_file(&path);
    journals.sort();
    Ok(journals[TRIES / 2])
}

fn time(mut step: impl FnMut()) -> Duration {
    let mut times: Vec<Duration> = (0..TRIES)
        .map(|_| {
            let start = Instant::now();
            step();
            start.elapsed()
        })
        .collect();
    times.sort();
    times[TRIES / 2]
}

/// Returns a record of runs with noise and a tail; the second command is 2 % slower.
fn record() -> BenchRecord {
    let mut random = SmallRng::seed_from_u64(1);
    let mut run = |position: u32| -> Run {
        let (benchmark, round) = ((position % 2) as usize, position / 2);
        let typical = 6e6 * (1.0 + 0.02 * benchmark as f64);
        let tail: f64 = if random.random_bool(0.05) {
            random.random_range(0.0..1.0)
        } else {
            0.0
        };
        let noise = random.random_range(-0.02..0.02) + tail;
        let wall_ns = (typical * (1.0 + noise)) as u64;
        let attempt = Attempt {
            benchmark,
            warmup: false,
            round,
            position,
        };
        let wait = random.random_range(0..20_000);
        Run {
            started_ns: u64::from(position) * 6_500_000,
            run_queue_wait_ns: Some(wait),
            undisturbed_ns: Some(wall_ns - wait),
            cpu_ns: wall_ns - wait,
            minor_faults: random.random_range(50..55),
            involuntary_switches: random.random_range(0..3),
            ..quiet_run(&attempt, wall_ns)
        }
    };
    let benchmark = |name: &str| Benchmark {
        name: name.to_string(),
        command: name.to_string(),
        arguments: vec![name.to_string()],
        arguments_bytes: None,
        shell: None,
        parameters: Vec::new(),
        input: InputFrom::Null,
        output: OutputTo::Null,
        working_directory: None,
        environment_variables: Vec::new(),
    };
    BenchRecord {
        schema_version: SCHEMA_VERSION,
        kind: "bench".to_string(),
        fathom_version: env!("CARGO_PKG_VERSION").to_string(),
        started_at: now_rfc3339(),
        jobs: Vec::new(),
        environment: environment(),
        conditions: Conditions {
            seed: 1,
            order: RunOrder::Random,
            warmup_runs: 1,
            pinned_cpus: None,
            timeout_seconds: None,
            margin: 0.01,
            metrics: Vec::new(),
            environment_size_randomised: true,
        },
        benchmarks: vec![benchmark("old"), benchmark("new")],
        runs: (0..RUNS).map(&mut run).collect(),
        complete: true,
        outcome: None,
    }
}
