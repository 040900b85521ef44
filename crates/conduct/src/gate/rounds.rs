//! Rounds for those benchmarks that need them, while there is time.

use std::time::{Duration, Instant};

use fathom_measure::{Attempt, Executor, MeasureError, ProcessExecutor};
use fathom_model::Run;
use fathom_stats::{Gate, GateRound, GateRun};
use rand::rngs::SmallRng;
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};

use super::floor::Floor;
use super::{GatePlan, Measured, Rule, questions, report};
use crate::{ConductError, Observer};

/// Screening may take this part of the time; the rest is left for what has to be confirmed.
const SCREENING: f64 = 0.75;
/// Runs of either side in a round of a benchmark.
const EACH: usize = 2;
/// Rounds that are handed to the launcher at once: it is quick only if it knows what comes, and the
/// clock is looked at between them.
const AT_ONCE: usize = 5;

/// Measures until all is decided, the time is over, or something ends it.
///
/// # Errors
/// When nothing can be run at all.
pub(super) fn measure(
    plan: &GatePlan,
    floors: Vec<Option<Floor>>,
    observer: &mut dyn Observer,
) -> Result<Measured, ConductError> {
    let commands = plan
        .targets
        .iter()
        .flat_map(|target| [&target.base, &target.head]);
    let mut executor = ProcessExecutor::new(
        commands
            .map(|target| (target.command.clone(), target.hooks.clone()))
            .collect(),
        plan.terms.process_options(plan.seed),
    )?;
    let mut session = Session {
        plan,
        random: SmallRng::seed_from_u64(plan.seed),
        round: 0,
        position: 0,
        measured: Measured {
            gate: Gate::new(questions(plan, &floors)),
            floors,
            runs: vec![Default::default(); plan.targets.len()],
            seconds: 0.0,
            interrupted: false,
            failure: None,
        },
    };
    let began = Instant::now();
    let ended = session.all(&mut executor, observer, began);
    executor.sweep();
    drop(executor);
    let mut measured = session.measured;
    measured.seconds = began.elapsed().as_secs_f64();
    match ended {
        Ok(()) => {}
        Err(MeasureError::Interrupted) => measured.interrupted = true,
        Err(error) => measured.failure = Some(error),
    }
    Ok(measured)
}

struct Session<'p> {
    plan: &'p GatePlan,
    random: SmallRng,
    round: u32,
    position: u32,
    measured: Measured,
}

impl Session<'_> {
    fn all(
        &mut self,
        executor: &mut ProcessExecutor,
        observer: &mut dyn Observer,
        began: Instant,
    ) -> Result<(), MeasureError> {
        let benchmarks = self.plan.targets.len();
        for benchmark in 0..2 * benchmarks {
            executor.set_up(benchmark)?;
        }
        executor.settle();
        let everything: Vec<usize> = (0..benchmarks).collect();
        for round in 0..self.plan.warmup {
            self.some(executor, &everything, 1, Some(round))?;
        }
        match &self.plan.rule {
            Rule::Paired { .. } => self.paired(executor, observer, began)?,
            Rule::BestOf { rule, .. } => {
                // Ten times as many for the null arm: the chance that the rule fails is drawn from it.
                let rounds = rule.runs * 10;
                for round in 0..rounds {
                    if round >= rule.runs && began.elapsed() > self.plan.time {
                        break;
                    }
                    self.some(executor, &everything, 1, None)?;
                    report(&self.measured.gate, observer, round + 1);
                }
            }
        }
        for benchmark in 0..2 * benchmarks {
            executor.clean_up(benchmark)?;
        }
        Ok(())
    }

    fn paired(
        &mut self,
        executor: &mut ProcessExecutor,
        observer: &mut dyn Observer,
        began: Instant,
    ) -> Result<(), MeasureError> {
        let time = self.plan.time;
        let screening = Duration::from_secs_f64(time.as_secs_f64() * SCREENING);
        loop {
            let limit = if self.measured.gate.is_screening() {
                screening
            } else {
                time
            };
            loop {
                let wanted = self.measured.gate.wanted();
                let open: Vec<usize> = (0..wanted.len())
                    .filter(|benchmark| wanted[*benchmark] > 0)
                    .collect();
                let fewest = open.iter().map(|benchmark| wanted[*benchmark]).min();
                let Some(fewest) = fewest else { break };
                if began.elapsed() >= limit {
                    break;
                }
                self.some(executor, &open, fewest.min(AT_ONCE), None)?;
                report(&self.measured.gate, observer, self.round as usize);
            }
            let gate = &mut self.measured.gate;
            if gate.wanted().iter().all(|wanted| *wanted == 0) {
                gate.analyse();
                if gate.wanted().iter().all(|wanted| *wanted == 0) {
                    return Ok(());
                }
            } else if gate.is_screening() {
                gate.end_screening();
            } else {
                gate.end();
                return Ok(());
            }
        }
    }

    /// So many rounds of these benchmarks, each two runs of base and two of head in a random order.
    fn some(
        &mut self,
        executor: &mut ProcessExecutor,
        benchmarks: &[usize],
        rounds: usize,
        warmup: Option<u32>,
    ) -> Result<(), MeasureError> {
        let mut attempts = Vec::new();
        for _ in 0..rounds {
            let mut order: Vec<usize> = benchmarks
                .iter()
                .flat_map(|benchmark| [2 * benchmark, 2 * benchmark + 1])
                .flat_map(|target| [target; EACH])
                .collect();
            order.shuffle(&mut self.random);
            for target in order {
                attempts.push(Attempt {
                    benchmark: target,
                    warmup: warmup.is_some(),
                    round: warmup.unwrap_or(self.round),
                    position: self.position,
                });
                self.position += u32::from(warmup.is_none());
            }
            self.round += u32::from(warmup.is_none());
        }
        let mut runs: Vec<Vec<Run>> = vec![Vec::new(); 2 * self.plan.targets.len()];
        for place in 0..attempts.len() {
            if executor.interrupted() && !executor.is_ahead() {
                return Err(MeasureError::Interrupted);
            }
            let report = executor.run(&attempts[place..])?;
            if report.interrupted {
                return Err(MeasureError::Interrupted);
            }
            let target = attempts[place].benchmark;
            if !self.plan.ignore_failure.lets_pass(report.run.exit) {
                return Err(MeasureError::RunFailed {
                    command: self.name_of(target),
                    exit: report.run.exit,
                    run: warmup.is_none().then_some(report.run.round + 1),
                    stderr: report.stderr_tail,
                });
            }
            runs[target].push(report.run);
        }
        if warmup.is_none() {
            for benchmark in benchmarks {
                let [base, head] =
                    [2 * benchmark, 2 * benchmark + 1].map(|target| runs[target].clone());
                for round in 0..rounds {
                    let stretch = EACH * round..EACH * (round + 1);
                    let round = GateRound {
                        base: two(&base[stretch.clone()], &mut self.random),
                        head: two(&head[stretch], &mut self.random),
                    };
                    self.measured.gate.add(*benchmark, &round);
                }
                self.measured.runs[*benchmark][0].extend(base);
                self.measured.runs[*benchmark][1].extend(head);
            }
        }
        Ok(())
    }

    fn name_of(&self, target: usize) -> String {
        let both = &self.plan.targets[target / 2];
        let side = if target.is_multiple_of(2) {
            "base"
        } else {
            "head"
        };
        format!("{} at {side}", both.name)
    }
}

/// Which of the two came first is left to chance, or the null arm would show what the second run of a
/// program in a round gains from the first.
fn two(runs: &[Run], random: &mut SmallRng) -> [GateRun; EACH] {
    let seconds = |ns: u64| ns as f64 / 1e9;
    let run = |run: &Run| GateRun {
        wall: seconds(run.wall_ns),
        cpu_wait_free: run.undisturbed_ns.map(seconds),
    };
    match random.random_bool(0.5) {
        true => [run(&runs[0]), run(&runs[1])],
        false => [run(&runs[1]), run(&runs[0])],
    }
}
