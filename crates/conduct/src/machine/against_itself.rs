//! Runs a program against itself to find the smallest difference that this machine can detect.

use fathom_machine::SelfComparison;
use fathom_measure::{
    Against, CommandLine, Hooks, IgnoreFailure, MeasureError, Plan, ProcessExecutor, Question,
    Silent, StopRule, assess, conduct,
};
use fathom_model::{Benchmark, InputFrom, Metric, OutputTo, Run, RunOrder};

use crate::bench::{ALPHA, MARGIN};
use crate::{ConductError, RunTerms};

/// The number of rounds, of two runs each.
const ROUNDS: u32 = 50;

/// The seed of the order. It is fixed; no seed favours one side over the other.
const SEED: u64 = 5;

/// Runs some milliseconds of fixed work 50 times against itself, in rounds of random order as `bench` does.
/// Returns the relative difference (0.01 = 1 %) that `bench` would detect in four of five attempts with its
/// default margin, or `None` if it would detect none. Also returns the basis of that figure.
///
/// # Errors
/// If the work can't be run, or was interrupted.
pub(super) fn smallest_difference(
    work: &CommandLine,
) -> Result<(Option<f64>, SelfComparison), ConductError> {
    let names = ["work", "the same work"];
    let mut executor = ProcessExecutor::new(
        vec![
            (work.clone(), Hooks::default()),
            (work.clone(), Hooks::default()),
        ],
        RunTerms::default().process_options(SEED),
    )?;
    let question = Question {
        names: names.map(String::from).to_vec(),
        against: Against::One(0),
        metrics: Vec::new(),
        margin: MARGIN,
        alpha: ALPHA,
    };
    let plan = Plan {
        benchmarks: 2,
        warmup: 2,
        order: RunOrder::Random,
        seed: SEED,
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
    let rests_on = SelfComparison {
        rounds: one.len(),
        clock: comparison.metric.name().to_string(),
        program_seconds: median(&[&one[..], &other[..]].concat()),
    };
    let smallest = fathom_stats::smallest_difference(&one, &other, MARGIN, ALPHA);
    Ok((smallest, rests_on))
}

fn median(values: &[f64]) -> f64 {
    fathom_stats::median_interval(values, 0.95).map_or(0.0, |median| median.value)
}

/// Returns the values of both sides on the clock that carries the verdict, for the rounds that have both.
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
