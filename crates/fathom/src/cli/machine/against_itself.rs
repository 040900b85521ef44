//! A program against itself: the smallest difference that can be told on this machine.

use std::ffi::OsString;
use std::time::Duration;

use fathom_measure::{
    CommandLine, Hooks, IgnoreFailure, Input, MeasureError, Observer, Output, Plan,
    ProcessExecutor, ProcessOptions, Question, StopRule, assess, conduct,
};
use fathom_model::{Benchmark, Estimate, InputFrom, OutputTo, Run};

use crate::cli::failure::Failure;

/// Rounds of two runs each.
const ROUNDS: u32 = 50;

/// Time of one run without its start.
const WORK: Duration = Duration::from_millis(5);

/// A true difference as large as the interval's half width is told in one of two tries; in four of
/// five it must be (1.96 + 0.84) / 1.96 times as large (normal quantiles of 97.5 % and 80 %).
const FOUR_OF_FIVE: f64 = 1.43;

struct Silent;

impl Observer for Silent {
    fn round(&mut self, _: u32, _: bool) {}
    fn starts(&mut self, _: usize) {}
    fn ran(&mut self, _: &Run) -> Result<(), MeasureError> {
        Ok(())
    }
    fn round_done(&mut self, _: &[Run], _: u32, _: Duration) {}
}

/// Runs 5 ms of fixed work 50 times against itself, in rounds of random order as `bench` does, and
/// returns the relative difference (0.01 = 1 %) that `bench` would tell in four of five tries.
///
/// # Errors
/// When the work can't be run, or was interrupted.
pub fn smallest_difference() -> Result<f64, Failure> {
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
            seed: 5,
        },
    )?;
    let question = Question {
        names: names.map(String::from).to_vec(),
        reference: 0,
        margin: 0.01,
        alpha: 0.05,
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
    match outcome.comparisons.first() {
        Some(comparison) => Ok(told(&comparison.ratio)),
        None => Err(MeasureError::Interrupted.into()),
    }
}

/// From the interval of a ratio whose truth is 1. Where it lies does not matter: chance put it there.
fn told(ratio: &Estimate) -> f64 {
    (ratio.high / ratio.low).sqrt().ln().exp_m1() * FOUR_OF_FIVE
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_difference_is_half_the_width_however_the_interval_lies() {
        let estimate = |low: f64, high: f64| Estimate {
            value: 1.0,
            low,
            high,
            level: 0.95,
        };
        let centred = told(&estimate(1.0 / 1.01, 1.01));
        assert!((centred - 0.01 * FOUR_OF_FIVE).abs() < 1e-9, "{centred}");
        let aside = told(&estimate(1.0, 1.01 * 1.01));
        assert!((aside - centred).abs() < 1e-9, "{aside}");
    }
}
