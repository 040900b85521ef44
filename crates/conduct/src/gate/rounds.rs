//! Runs rounds of the benchmarks that need them, while there is time.

use std::time::{Duration, Instant};

use fathom_measure::{Attempt, Executor, MeasureError, ProcessExecutor, Renewal};
use fathom_model::{Metric, Run};
use fathom_stats::{Gate, GateRound, GateRun};
use rand::SeedableRng;
use rand::rngs::SmallRng;
use rand::seq::SliceRandom;

use super::floor::Floor;
use super::journal::Journal;
use super::{GatePlan, Measured, Rule, questions, report};
use crate::{ConductError, Observer};

/// The share of the time that screening may take; the rest is reserved for confirmation.
const SCREENING: f64 = 0.75;
/// The targets of a benchmark that run in a round, by index, when each side has its own files. Each target
/// runs once. If one ran twice, its second run would find its files in the processor's caches, whereas two
/// separate copies don't share cached files.
const OF_COPIES: &[usize] = &[BASE, TWIN, HEAD];
/// The targets of a benchmark that run in a round for two commands without copies. Base is its own twin and
/// so runs twice; therefore head runs twice as well.
const OF_COMMANDS: &[usize] = &[BASE, TWIN, HEAD, HEAD];
const BASE: usize = 0;
const TWIN: usize = 1;
const HEAD: usize = 2;
/// The number of targets of a benchmark.
const TARGETS: usize = 3;
/// The number of rounds passed to the launcher at once. The launcher is fast only if it knows what comes
/// next, but the clock is only checked between batches.
const AT_ONCE: usize = 5;

/// Measures until everything is decided, the time is up, or a failure or an interrupt ends it.
///
/// # Errors
/// If nothing can be run at all.
pub(super) fn measure(
    plan: &GatePlan,
    floors: Vec<Option<Floor>>,
    observer: &mut dyn Observer,
) -> Result<Measured, ConductError> {
    let commands = plan
        .targets
        .iter()
        .flat_map(|target| [&target.base, &target.twin, &target.head]);
    let journal = Journal::open(plan)?;
    let mut executor = ProcessExecutor::new(
        commands
            .map(|target| (target.command.clone(), target.hooks.clone()))
            .collect(),
        plan.terms.process_options(plan.seed),
    )?
    .after(&journal.runs());
    let mut session = Session {
        plan,
        random: SmallRng::seed_from_u64(plan.seed),
        round: 0,
        position: 0,
        renewal: None,
        journal,
        before: Duration::ZERO,
        since: Instant::now(),
        measured: Measured {
            gate: Gate::new(questions(plan, &floors)).one_of(plan.parts),
            floors,
            runs: vec![Default::default(); plan.targets.len()],
            seconds: 0.0,
            interrupted: false,
            failure: None,
        },
    };
    let ended = session.all(&mut executor, observer);
    executor.sweep();
    drop(executor);
    let seconds = session.elapsed().as_secs_f64();
    let mut measured = session.measured;
    measured.seconds = seconds;
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
    /// Set once the files that the commands read are known.
    renewal: Option<Renewal>,
    journal: Journal,
    /// The time spent before `since`, in earlier attempts of a job.
    before: Duration,
    since: Instant,
    measured: Measured,
}

impl Session<'_> {
    /// Returns the time since the measurement began.
    fn elapsed(&self) -> Duration {
        self.before + self.since.elapsed()
    }

    fn all(
        &mut self,
        executor: &mut ProcessExecutor,
        observer: &mut dyn Observer,
    ) -> Result<(), MeasureError> {
        let benchmarks = self.plan.targets.len();
        for target in 0..TARGETS * benchmarks {
            executor.set_up(target)?;
        }
        executor.settle();
        let everything: Vec<usize> = (0..benchmarks).collect();
        let mut renewal = Renewal::begin(&self.plan.folders);
        for round in 0..self.plan.warmup {
            self.some(executor, &everything, 1, Some(round))?;
        }
        if self.plan.warmup > 0 {
            renewal.keep_what_was_read();
            self.renewal = Some(renewal).filter(|renewal| !renewal.is_empty());
        }
        match &self.plan.rule {
            Rule::Paired { .. } => self.paired(executor, observer)?,
            Rule::BestOf { rule, .. } => {
                // The null arm needs ten times as many rounds, because the rule's false alarm rate is
                // estimated from it.
                let rounds = rule.runs * 10;
                for round in 0..rounds {
                    if round >= rule.runs && self.elapsed() > self.plan.time {
                        break;
                    }
                    self.some(executor, &everything, 1, None)?;
                    report(&self.measured.gate, observer, round + 1);
                }
            }
        }
        for target in 0..TARGETS * benchmarks {
            executor.clean_up(target)?;
        }
        Ok(())
    }

    fn paired(
        &mut self,
        executor: &mut ProcessExecutor,
        observer: &mut dyn Observer,
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
                let wanted = self.wanted();
                let open: Vec<usize> = (0..wanted.len())
                    .filter(|benchmark| wanted[*benchmark] > 0)
                    .collect();
                let fewest = open.iter().map(|benchmark| wanted[*benchmark]).min();
                let Some(fewest) = fewest else { break };
                if self.elapsed() >= limit {
                    break;
                }
                let rounds = if self.renewal.is_some() { 1 } else { AT_ONCE };
                self.some(executor, &open, fewest.min(rounds), None)?;
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

    /// Returns the number of rounds that each benchmark needs: the lowest number needed by any of its open
    /// metrics.
    fn wanted(&self) -> Vec<usize> {
        let mut fewest = vec![0; self.plan.targets.len()];
        for ((target, _), wanted) in self.plan.rows().zip(self.measured.gate.wanted()) {
            fewest[target] = match (fewest[target], wanted) {
                (0, wanted) => wanted,
                (fewest, 0) => fewest,
                (fewest, wanted) => fewest.min(wanted),
            };
        }
        fewest
    }

    /// Makes this number of rounds of these benchmarks, each in a random order. Before the first round, the
    /// files that they read get new pages. Rounds that an earlier attempt recorded are not repeated.
    fn some(
        &mut self,
        executor: &mut ProcessExecutor,
        benchmarks: &[usize],
        rounds: usize,
        warmup: Option<u32>,
    ) -> Result<(), MeasureError> {
        let in_round = match self.plan.folders.is_empty() {
            true => OF_COMMANDS,
            false => OF_COPIES,
        };
        let heads = in_round.iter().filter(|place| **place == HEAD).count();
        let mut attempts = Vec::new();
        for _ in 0..rounds {
            let mut order: Vec<usize> = benchmarks
                .iter()
                .flat_map(|benchmark| {
                    in_round
                        .iter()
                        .map(move |place| TARGETS * benchmark + place)
                })
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
        let wanted = attempts.iter().map(|one| (one.round, one.benchmark));
        let earlier = match warmup {
            None => self.journal.next(wanted.collect()),
            Some(_) => None,
        };
        let (elapsed, made) = match earlier {
            Some(earlier) => {
                (self.before, self.since) = (earlier.elapsed, Instant::now());
                (earlier.elapsed, earlier.runs)
            }
            None => {
                let made = self.made(executor, &attempts)?;
                (self.elapsed(), made)
            }
        };
        if warmup.is_none() {
            self.journal.keep(elapsed, &made)?;
            let mut runs: Vec<Vec<Run>> = vec![Vec::new(); TARGETS * self.plan.targets.len()];
            for run in made {
                runs[run.benchmark].push(run);
            }
            for benchmark in benchmarks {
                let [base, twin, head] = [BASE, TWIN, HEAD]
                    .map(|place| std::mem::take(&mut runs[TARGETS * benchmark + place]));
                let rows = self.plan.rows().enumerate();
                let own = rows.filter(|(_, (target, _))| target == benchmark);
                for (row, (_, judged)) in own {
                    let value = |run: &Run| value(run, judged.metric);
                    let heads = head.chunks_exact(heads);
                    for ((base, twin), head) in base.iter().zip(&twin).zip(heads) {
                        let round = GateRound {
                            base: [value(base), value(twin)],
                            head: [value(&head[0]), value(&head[head.len() - 1])],
                        };
                        self.measured.gate.add(row, &round);
                    }
                }
                let [of_base, of_head] = &mut self.measured.runs[*benchmark];
                of_base.extend(base.into_iter().zip(twin).flat_map(<[Run; 2]>::from));
                of_head.extend(head);
            }
        }
        Ok(())
    }

    /// Makes these runs, in this order.
    fn made(
        &mut self,
        executor: &mut ProcessExecutor,
        attempts: &[Attempt],
    ) -> Result<Vec<Run>, MeasureError> {
        if let Some(renewal) = &mut self.renewal {
            renewal.renew(&mut self.random);
        }
        let is_first = attempts[0].round == 0 && (attempts[0].warmup || self.plan.warmup == 0);
        let mut runs: Vec<Run> = Vec::with_capacity(attempts.len());
        for (place, attempt) in attempts.iter().enumerate() {
            if executor.interrupted() && !executor.is_ahead() {
                return Err(MeasureError::Interrupted);
            }
            let report = executor.run(&attempts[place..])?;
            if report.interrupted {
                return Err(MeasureError::Interrupted);
            }
            let target = attempt.benchmark;
            if !self.plan.ignore_failure.lets_pass(report.run.exit) {
                return Err(MeasureError::RunFailed {
                    command: self.name_of(target),
                    exit: report.run.exit,
                    run: (!attempt.warmup).then_some(report.run.round + 1),
                    always: is_first && runs.iter().all(|run| run.benchmark != target),
                    stderr: report.stderr_tail,
                });
            }
            runs.push(report.run);
        }
        Ok(runs)
    }

    fn name_of(&self, target: usize) -> String {
        let both = &self.plan.targets[target / TARGETS];
        let side = match target % TARGETS {
            HEAD => "head",
            _ => "base",
        };
        format!("{} at {side}", both.name)
    }
}

fn value(run: &Run, metric: Option<Metric>) -> GateRun {
    match metric {
        Some(metric) => GateRun {
            value: metric.of(run).unwrap_or(0.0),
            cpu_wait_free: None,
        },
        None => GateRun {
            value: run.wall_ns as f64 / 1e9,
            cpu_wait_free: Metric::Undisturbed.of(run),
        },
    }
}
