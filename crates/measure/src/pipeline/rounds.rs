//! Rounds: the live pipeline and each stage alone, in a random order each time.

use std::os::fd::AsRawFd;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use fathom_model::{AloneRuns, Exit, PipeRound, StagedInput, StopReason};
use rand::SeedableRng;
use rand::rngs::SmallRng;
use rand::seq::SliceRandom;

use super::outcome::{failing, is_sigpipe, reader_was_gone};
use super::plan::{HowMany, Kind, PipePlan, PipeSession, SoFar, Watcher};
use super::runner::{From, Prepared, Ran, RunOptions, Runner, Step, To};
use super::staging::{self, Kept};
use crate::launcher::{MOST_STAGES, fd};
use crate::{MeasureError, interrupt};

/// The descriptor number in the launcher of the second stage's staged input; the others follow.
const INPUTS: i32 = fd::EXTRA + MOST_STAGES as i32;
/// A stage that takes this many times as long alone as the whole pipeline, plus a margin, waits for something
/// that only the pipeline provides.
const ALONE_PATIENCE: u32 = 20;
const ALONE_LEAST: Duration = Duration::from_secs(2);

/// Stages the inputs and runs the rounds.
///
/// # Errors
/// If a stage can't be started, fails (unless that is ignored) or exceeds its time, or if the user interrupts
/// before a round is complete.
pub fn conduct(plan: &PipePlan, watcher: &mut dyn Watcher) -> Result<PipeSession, MeasureError> {
    let mut session = Session::begin(plan, watcher)?;
    let result = session.rounds(watcher);
    session.runner.sweep();
    let (stop, failure) = match result {
        Ok(stop) => (stop, None),
        Err(MeasureError::Interrupted) if !session.live.is_empty() => {
            (StopReason::Interrupted, None)
        }
        Err(error) => (StopReason::Failed, Some(error)),
    };
    match failure {
        Some(error) => Err(error),
        None => Ok(PipeSession {
            rounds: session.live,
            delayed: session.delayed,
            alone: session.alone,
            staged: session.staged,
            stop,
        }),
    }
}

struct Session<'a> {
    plan: &'a PipePlan,
    prepared: Vec<Prepared>,
    runner: Runner,
    /// Keeps the files of the inputs open.
    _kept: Vec<Kept>,
    staged: Vec<StagedInput>,
    live: Vec<PipeRound>,
    delayed: Vec<PipeRound>,
    alone: Vec<AloneRuns>,
    alone_timeout: Option<Duration>,
}

impl<'a> Session<'a> {
    /// Prepares everything, and runs the uncounted round.
    fn begin(plan: &'a PipePlan, watcher: &mut dyn Watcher) -> Result<Session<'a>, MeasureError> {
        let here = std::env::current_dir().map_err(|error| MeasureError::Directory {
            path: ".".into(),
            error,
        })?;
        let prepared: Vec<Prepared> = plan
            .stages
            .iter()
            .map(|command| Prepared::new(command, &here))
            .collect::<Result<_, _>>()?;
        let options = RunOptions {
            timeout: plan.timeout,
            pin: plan.pin.clone(),
            show_output: plan.show_output,
        };
        watcher.starts(0, Kind::First);
        plan.prepare(0)?;
        let mut first = None;
        let mut kept = Vec::new();
        if let Some(staging) = &plan.staging {
            let (ran, inputs) = staging::stage(&prepared, &plan.names, staging, &options)?;
            check(plan, &ran, None)?;
            (first, kept) = (Some(ran), inputs);
        }
        let places: Vec<(i32, i32)> = kept
            .iter()
            .filter_map(|kept| Some((kept.file.as_ref()?.as_raw_fd(), place(kept.input.stage))))
            .collect();
        let mut runner = Runner::start(prepared.len(), &places, options)?;
        let first = match first {
            Some(ran) => ran,
            None => {
                let ran = runner.run(&prepared, &live_steps(plan, None), plan.timeout)?;
                check(plan, &ran, None)?;
                ran
            }
        };
        let wall = Duration::from_nanos(first.round.wall_ns);
        let patience = wall.saturating_mul(ALONE_PATIENCE) + ALONE_LEAST;
        let alone = match plan.staging {
            Some(_) => (0..prepared.len())
                .map(|stage| AloneRuns {
                    stage,
                    wall_ns: Vec::new(),
                    cpu_ns: Vec::new(),
                    read_bytes: None,
                    not_run: why_not_alone(&first.round, &kept, stage),
                })
                .collect(),
            None => Vec::new(),
        };
        Ok(Session {
            plan,
            prepared,
            runner,
            staged: kept.iter().map(|kept| kept.input.clone()).collect(),
            _kept: kept,
            live: Vec::new(),
            delayed: Vec::new(),
            alone,
            alone_timeout: Some(plan.timeout.map_or(patience, |limit| limit.min(patience))),
        })
    }

    fn rounds(&mut self, watcher: &mut dyn Watcher) -> Result<StopReason, MeasureError> {
        let mut random = SmallRng::seed_from_u64(self.plan.seed);
        let mut kinds = vec![Kind::Live];
        kinds.extend(self.plan.delays.as_ref().map(|_| Kind::Delayed));
        kinds.extend(self.alone.iter().map(|alone| Kind::Alone(alone.stage)));
        let began = Instant::now();
        for round in 0u32.. {
            if let Some(stop) = self.enough(round, began.elapsed()) {
                return Ok(stop);
            }
            kinds.shuffle(&mut random);
            for kind in &kinds {
                if interrupt::stopped() {
                    return Err(MeasureError::Interrupted);
                }
                if let Kind::Alone(stage) = kind
                    && self.alone[*stage].not_run.is_some()
                {
                    continue;
                }
                watcher.starts(round, *kind);
                self.plan.prepare(round)?;
                self.make(*kind, round)?;
                watcher.made(*kind, &self.so_far())?;
            }
        }
        Ok(StopReason::MaximumRounds)
    }

    fn so_far(&self) -> SoFar<'_> {
        SoFar {
            rounds: &self.live,
            delayed: &self.delayed,
            alone: &self.alone,
            staged: &self.staged,
        }
    }

    fn enough(&self, made: u32, elapsed: Duration) -> Option<StopReason> {
        match self.plan.rounds {
            HowMany::Exactly(count) => (made >= count).then_some(StopReason::RunCount),
            HowMany::Until { maximum, .. } if made >= maximum => Some(StopReason::MaximumRounds),
            HowMany::Until { minimum, soft, .. } => {
                (made >= minimum && elapsed >= soft).then_some(StopReason::TimeBudget)
            }
        }
    }

    fn make(&mut self, kind: Kind, round: u32) -> Result<(), MeasureError> {
        let delays = match kind {
            Kind::Alone(stage) => return self.run_alone(stage),
            Kind::Delayed => self.plan.delays.as_deref(),
            Kind::Live | Kind::First => None,
        };
        let steps = live_steps(self.plan, delays);
        let ran = self.runner.run(&self.prepared, &steps, self.plan.timeout)?;
        check(self.plan, &ran, Some(round + 1))?;
        match kind {
            Kind::Delayed => self.delayed.push(ran.round),
            _ => self.live.push(ran.round),
        }
        Ok(())
    }

    fn run_alone(&mut self, stage: usize) -> Result<(), MeasureError> {
        let last = self.prepared.len() - 1;
        let step = Step {
            stage,
            from: match stage {
                0 => From::Command,
                // The launcher reopens its own descriptor, to read from the beginning of the file.
                _ => From::Path(PathBuf::from(format!("/proc/self/fd/{}", place(stage)))),
            },
            to: if stage == last {
                To::Command
            } else {
                To::Discard
            },
            delay: Duration::ZERO,
        };
        let ran = self
            .runner
            .run(&self.prepared, &[step], self.alone_timeout)?;
        if ran.interrupted {
            return Err(MeasureError::Interrupted);
        }
        let run = &ran.round.stages[0];
        let alone = &mut self.alone[stage];
        if !ran.cut_short.is_empty() {
            let seconds = self.alone_timeout.unwrap_or_default().as_secs_f64();
            alone.not_run = Some(format!(
                "run alone, it was still running after {seconds:.1} s"
            ));
            alone.wall_ns.clear();
            alone.cpu_ns.clear();
            self.runner.sweep();
            return Ok(());
        }
        if !run.exit.is_success() && !self.plan.ignore_failure {
            alone.not_run = Some(match run.exit {
                Exit::Code(code) => format!("run alone, it failed with exit code {code}"),
                Exit::Signal(signal) => {
                    format!(
                        "run alone, it was ended by {}",
                        crate::error::signal_name(signal)
                    )
                }
                Exit::TimedOut => "run alone, it took too long".to_string(),
            });
            alone.wall_ns.clear();
            alone.cpu_ns.clear();
            return Ok(());
        }
        alone.wall_ns.push(run.wall_ns());
        alone.cpu_ns.push(run.cpu_ns);
        alone.read_bytes = run.io.map(|io| io.read_bytes);
        Ok(())
    }
}

/// Returns the descriptor number in the launcher of this stage's staged input.
fn place(stage: usize) -> i32 {
    INPUTS + stage as i32 - 1
}

fn live_steps(plan: &PipePlan, delays: Option<&[Duration]>) -> Vec<Step> {
    let last = plan.stages.len() - 1;
    (0..=last)
        .map(|stage| Step {
            stage,
            from: if stage == 0 {
                From::Command
            } else {
                From::Neighbour
            },
            to: if stage == last {
                To::Command
            } else {
                To::Neighbour
            },
            delay: delays.map_or(Duration::ZERO, |delays| delays[stage]),
        })
        .collect()
}

/// Returns why a stage can't be run alone, if it can't.
fn why_not_alone(first: &PipeRound, kept: &[Kept], stage: usize) -> Option<String> {
    let input = kept.iter().find(|kept| kept.input.stage == stage);
    if let Some(why) = input.and_then(|kept| kept.input.not_kept.as_ref()) {
        return Some(format!("its input is not staged: {why}"));
    }
    is_sigpipe(&first.stages, stage).then(|| {
        "it runs until its reader closes the pipe (SIGPIPE), so run alone it might never end"
            .to_string()
    })
}

/// Turns an unwanted ending into an error.
fn check(plan: &PipePlan, ran: &Ran, round: Option<u32>) -> Result<(), MeasureError> {
    if ran.interrupted {
        return Err(MeasureError::Interrupted);
    }
    if !ran.cut_short.is_empty() {
        let running = ran.cut_short.iter().map(|&stage| plan.names[stage].clone());
        return Err(MeasureError::PipelineTimedOut {
            running: running.collect(),
        });
    }
    let stages = &ran.round.stages;
    match failing(&ran.round) {
        Some(index) if !plan.ignore_failure => Err(MeasureError::StageFailed {
            stage: plan.names[index].clone(),
            number: index + 1,
            exit: stages[index].exit,
            round,
            reader_gone: reader_was_gone(stages, index).then(|| plan.names[index + 1].clone()),
            stderr: ran.stderr[index].clone(),
        }),
        _ => Ok(()),
    }
}
