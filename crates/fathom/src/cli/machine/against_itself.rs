//! A program against itself: the smallest difference that can be told on this machine.

use std::ffi::OsString;
use std::time::Duration;

use fathom_machine::SelfComparison;
use fathom_measure::{
    CommandLine, Hooks, IgnoreFailure, Input, MeasureError, Output, Plan, ProcessExecutor,
    ProcessOptions, Question, Silent, StopRule, assess, conduct,
};
use fathom_model::{Benchmark, InputFrom, Metric, OutputTo, Run};

use crate::cli::failure::Failure;

/// Rounds of two runs each.
const ROUNDS: u32 = 50;

/// Time of one run without its start.
const WORK: Duration = Duration::from_millis(5);

/// The margin of `bench` where nothing else is said: 1 %.
const MARGIN: f64 = 0.01;

/// How often `bench` may call one program different from itself.
const ALPHA: f64 = 0.05;

/// Runs 5 ms of fixed work 50 times against itself, in rounds of random order as `bench` does, and
/// returns the relative difference (0.01 = 1 %) that `bench` would tell in four of five tries with its
/// usual margin, `None` if it would tell none; and what that rests on.
///
/// # Errors
/// When the work can't be run, or was interrupted.
pub fn smallest_difference() -> Result<(Option<f64>, SelfComparison), Failure> {
    let names = ["work", "the same work"];
    let command = command()?;
    let mut executor = ProcessExecutor::new(
        vec![
            (command.clone(), Hooks::default()),
            (command, Hooks::default()),
        ],
        ProcessOptions {
            timeout: None,
            pin: Vec::new(),
            vary_environment_size: true,
            show_output: false,
            keep_daemons: false,
            seed: 5,
        },
    )?;
    let question = Question {
        names: names.map(String::from).to_vec(),
        reference: 0,
        margin: MARGIN,
        alpha: ALPHA,
    };
    let plan = Plan {
        benchmarks: 2,
        warmup: 2,
        seed: 5,
        stop: StopRule::Runs(ROUNDS),
        question,
        ignore_failure: IgnoreFailure::Never,
    };
    let session = conduct(&plan, &mut executor, &mut Silent);
    drop(executor);
    if let Some(error) = session.failure {
        return Err(error.into());
    }
    let benchmarks = names.map(|name| Benchmark {
        name: name.to_string(),
        command: String::new(),
        arguments: Vec::new(),
        arguments_bytes: None,
        shell: None,
        parameters: Vec::new(),
        input: InputFrom::Null,
        output: OutputTo::Null,
        working_directory: None,
        environment_variables: Vec::new(),
    });
    let outcome = assess(
        &session.runs,
        &benchmarks,
        &plan.question,
        session.allowance,
        session.stop,
        &session.floor_ns,
    );
    let Some(comparison) = outcome.comparisons.first() else {
        return Err(MeasureError::Interrupted.into());
    };
    let (one, other) = by_round(&session.runs, comparison.metric);
    let told_by = SelfComparison {
        rounds: one.len(),
        clock: comparison.metric.name().to_string(),
        program_seconds: median(&[&one[..], &other[..]].concat()),
    };
    let smallest = fathom_stats::smallest_difference(&one, &other, MARGIN, ALPHA);
    Ok((smallest, told_by))
}

fn median(values: &[f64]) -> f64 {
    fathom_stats::median_interval(values, 0.95).map_or(0.0, |median| median.value)
}

/// The values of both, of the clock that carries the verdict, in the rounds that have both.
fn by_round(runs: &[Run], clock: Metric) -> (Vec<f64>, Vec<f64>) {
    let value = |round: u32, benchmark: usize| {
        let run = runs
            .iter()
            .find(|run| run.round == round && run.benchmark == benchmark)?;
        clock.of(run)
    };
    (0..ROUNDS)
        .filter_map(|round| Some((value(round, 0)?, value(round, 1)?)))
        .unzip()
}

/// This program, doing nothing but the work.
fn command() -> Result<CommandLine, Failure> {
    let own = std::env::current_exe().map_err(|error| {
        Failure::Untrusted(format!("the program can't find itself to run it: {error}"))
    })?;
    let turns = fathom_machine::work_turns(WORK);
    let words = ["machine", "--work", &turns.to_string()].map(OsString::from);
    Ok(CommandLine {
        arguments: std::iter::once(own.clone().into_os_string())
            .chain(words)
            .collect(),
        program: own,
        directory: None,
        variables: Vec::new(),
        input: Input::Null,
        output: Output::Null,
        expect: None,
    })
}
