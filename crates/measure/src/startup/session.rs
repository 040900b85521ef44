//! Rounds of starts: every program once in each cache state, in a random order.

use std::time::Duration;

use fathom_model::{Cache, Estimate, RunOrder, StampedBy, StartupRun, StopReason};

use crate::{
    Against, Attempt, CommandLine, Executor, Hook, Hooks, IgnoreFailure, Iteration, Limits,
    MeasureError, Plan, ProcessExecutor, ProcessOptions, Question, RunReport, Silent, StopRule,
    conduct,
};

use super::cold::Chill;

/// A program, and the hook to run before each of its runs.
#[derive(Debug, Clone)]
pub struct Subject {
    /// The name for messages.
    pub name: String,
    /// The command to run. Its output should be [`crate::Output::Pipe`], because only that is watched.
    pub command: CommandLine,
    /// The `--prepare` hook.
    pub prepare: Option<Hook>,
}

/// How much to measure.
#[derive(Debug, Clone)]
pub struct Rounds {
    /// The number of warm-up rounds.
    pub warmup: u32,
    /// The maximum number of rounds.
    pub most: u32,
    /// The number of rounds to run however long they take.
    pub least: u32,
    /// After `least` rounds, no further round begins once this time has passed; `None` runs all of `most`.
    pub time: Option<Duration>,
    /// The seed of the run order.
    pub seed: u64,
    /// Failures that are counted instead of ending the measurement.
    pub ignore_failure: IgnoreFailure,
}

/// The result of a session.
#[derive(Debug)]
pub struct StartupSession {
    /// Every measured run.
    pub runs: Vec<StartupRun>,
    /// The median time of the empty program from the call of `execve` to its exit, in seconds.
    pub floor: Option<Estimate>,
    /// The CPUs on which the output was watched.
    pub watching_cpus: Vec<usize>,
    /// Why it ended.
    pub stop: StopReason,
    /// The failure that ended it, if any.
    pub failure: Option<MeasureError>,
}

impl StartupSession {
    /// Returns the session before the first run.
    pub fn begun() -> StartupSession {
        StartupSession {
            runs: Vec::new(),
            floor: None,
            watching_cpus: Vec::new(),
            stop: StopReason::Interrupted,
            failure: None,
        }
    }
}

/// Is passed every measured run as soon as it ends; nothing else begins before it returns.
pub trait Keeper {
    /// Stores the run, and the CPUs on which the output is watched.
    ///
    /// # Errors
    /// If it can't be stored: measuring then ends.
    fn keep(&mut self, run: &StartupRun, watching_cpus: &[usize]) -> Result<(), MeasureError>;
}

/// Probes the core of a CPU on which a run has just ended: returns the number of cycles that an addition
/// takes there alongside others, which is higher if something is running on the core's other hardware thread.
/// `None` if that can't be determined.
pub type CoreProbe<'a> = &'a dyn Fn(usize) -> Option<f64>;

/// Runs the rounds. With `chill`, each round has a warm and a cold run of each program.
///
/// The launcher ends with the calling thread.
///
/// # Errors
/// If the launcher can't be started. Later failures are in the session, with the runs completed until then.
pub fn measure(
    subjects: &[Subject],
    rounds: &Rounds,
    options: ProcessOptions,
    chill: Option<&mut dyn Chill>,
    core: CoreProbe<'_>,
    keeper: &mut dyn Keeper,
) -> Result<StartupSession, MeasureError> {
    let commands = subjects
        .iter()
        .map(|subject| (subject.command.clone(), Hooks::default()))
        .collect();
    let states = 1 + usize::from(chill.is_some());
    let mut starter = Starter {
        executor: ProcessExecutor::watching(commands, options)?,
        subjects,
        chill,
        core,
        keeper,
        stale: vec![false; subjects.len()],
        runs: Vec::new(),
    };
    let plan = Plan {
        benchmarks: subjects.len() * states,
        warmup: rounds.warmup,
        order: RunOrder::Random,
        seed: rounds.seed,
        stop: match rounds.time {
            None => StopRule::Runs(rounds.most),
            Some(time) => StopRule::Answer(Limits {
                minimum: rounds.least.min(rounds.most),
                maximum: Some(rounds.most),
                // Never stop for an answer, because the tail of the distribution is wanted.
                at_least: Duration::MAX,
                soft: time,
                hard: Duration::MAX,
                precision: None,
            }),
        },
        question: Question {
            names: (0..states)
                .flat_map(|_| subjects.iter().map(|s| s.name.clone()))
                .collect(),
            against: Against::One(0),
            metrics: Vec::new(),
            margin: 0.01,
            alpha: 0.05,
        },
        ignore_failure: rounds.ignore_failure.clone(),
    };
    let session = conduct(&plan, &mut starter, &mut Silent);
    let floor: Vec<f64> = session.floor_ns.iter().map(|ns| *ns as f64 / 1e9).collect();
    Ok(StartupSession {
        watching_cpus: starter.executor.watching_cpus(),
        runs: starter.runs,
        floor: fathom_stats::median_interval(&floor, 0.95),
        stop: session.stop,
        failure: session.failure,
    })
}

/// Runs each program once without storing anything, so that its files are in memory as after a run. Used
/// before observed runs that aren't preceded by timed ones. How a run ends doesn't matter here.
///
/// The launcher ends with the calling thread.
///
/// # Errors
/// If the launcher or a program can't be started, or if the user interrupts.
pub fn warm_up(subjects: &[Subject], options: ProcessOptions) -> Result<(), MeasureError> {
    let commands = subjects
        .iter()
        .map(|subject| (subject.command.clone(), Hooks::default()))
        .collect();
    let mut executor = ProcessExecutor::watching(commands, options)?;
    for (benchmark, subject) in subjects.iter().enumerate() {
        if let Some(prepare) = &subject.prepare {
            prepare.run(Some(Iteration::Warmup(0)))?;
        }
        let report = executor.run(&[Attempt {
            benchmark,
            warmup: true,
            round: 0,
            position: 0,
        }])?;
        if report.interrupted {
            return Err(MeasureError::Interrupted);
        }
        if report.run.left_behind > 0 {
            executor.sweep();
        }
    }
    Ok(())
}

/// Starts programs, warm and cold, and stores the measurements.
struct Starter<'a, 'c> {
    executor: ProcessExecutor,
    subjects: &'a [Subject],
    chill: Option<&'c mut dyn Chill>,
    core: CoreProbe<'a>,
    keeper: &'a mut dyn Keeper,
    /// Programs whose files may have been evicted since they last ran, because libraries are shared.
    stale: Vec<bool>,
    runs: Vec<StartupRun>,
}

impl Starter<'_, '_> {
    fn split(&self, benchmark: usize) -> (usize, Cache) {
        match benchmark.checked_sub(self.subjects.len()) {
            None => (benchmark, Cache::Warm),
            Some(program) => (program, Cache::Cold),
        }
    }

    /// Brings the program's files into the cache state that the run needs. Returns `true` if the user
    /// interrupted.
    fn set_cache(
        &mut self,
        program: usize,
        cache: Cache,
        attempt: &Attempt,
    ) -> Result<bool, MeasureError> {
        match (cache, &mut self.chill) {
            (Cache::Cold, Some(chill)) => {
                chill.chill(program)?;
                self.stale.fill(true);
            }
            _ if self.stale[program] => {
                let again = Attempt {
                    benchmark: program,
                    warmup: true,
                    ..*attempt
                };
                let report = self.executor.run(&[again])?;
                self.stale[program] = false;
                return Ok(report.interrupted);
            }
            _ => {}
        }
        Ok(false)
    }

    fn keep(&mut self, program: usize, cache: Cache, report: &RunReport) {
        let stamps = self.executor.last_stamps();
        let run = &report.run;
        let exit_ns = (stamps.end_ns - stamps.exec_ns.min(stamps.end_ns))
            .saturating_sub(run.harness_wait_ns.unwrap_or(0));
        // The exit is an upper limit for a late timestamp of the first byte, unless a process that continued
        // to run wrote the byte.
        let mut by = stamps.output.by;
        let first = stamps.output.first_byte_ns.map(|at| {
            // No program writes before its start, so such a timestamp was corrected by a wait of a different
            // kind.
            let first = at.checked_sub(stamps.exec_ns).unwrap_or_else(|| {
                by = Some(StampedBy::LateReader);
                exit_ns
            });
            match run.left_behind {
                0 => first.min(exit_ns),
                _ => first,
            }
        });
        let read_bytes = run.io.map(|io| io.device_read_bytes);
        self.runs.push(StartupRun {
            program,
            round: run.round,
            position: run.position,
            cache,
            first_output_ns: first,
            first_output_by: by,
            first_output_uncertainty_ns: stamps.output.uncertainty_ns,
            exit_ns,
            exit_corrected: run.harness_wait_ns.is_some(),
            output_bytes: stamps.output.bytes,
            run_queue_wait_ns: run
                .run_queue_wait_ns
                .map(|ns| ns.saturating_sub(stamps.wait_before_exec_ns)),
            throttled_ns: run.throttled_ns,
            wait_is_exact: run.undisturbed_ns.is_some(),
            cpu_ns: run.cpu_ns,
            minor_faults: run.minor_faults,
            major_faults: run.major_faults,
            cpu: stamps.cpu,
            cycles_per_addition: stamps.cpu.and_then(self.core),
            read_bytes,
            void: cache == Cache::Cold && run.major_faults == 0 && read_bytes.unwrap_or(0) == 0,
            left_behind: run.left_behind,
            exit: run.exit,
        });
    }
}

impl Executor for Starter<'_, '_> {
    fn set_up(&mut self, _: usize) -> Result<(), MeasureError> {
        Ok(())
    }

    fn settle(&mut self) {
        self.executor.settle();
    }

    fn run(&mut self, upcoming: &[Attempt]) -> Result<RunReport, MeasureError> {
        let attempt = &upcoming[0];
        let (program, cache) = self.split(attempt.benchmark);
        if let Some(prepare) = &self.subjects[program].prepare {
            prepare.run(Some(attempt.iteration()))?;
        }
        if self.set_cache(program, cache, attempt)? {
            return Err(MeasureError::Interrupted);
        }
        let own = Attempt {
            benchmark: program,
            ..*attempt
        };
        let mut report = self.executor.run(&[own])?;
        if !attempt.warmup && !report.interrupted {
            self.keep(program, cache, &report);
            if let Some(run) = self.runs.last() {
                self.keeper.keep(run, &self.executor.watching_cpus())?;
            }
        }
        if report.run.left_behind > 0 {
            // A leftover process could write into the next program's pipe.
            self.executor.sweep();
        }
        report.run.benchmark = attempt.benchmark;
        Ok(report)
    }

    fn floor(&mut self, runs: u32) -> Result<Vec<u64>, MeasureError> {
        let mut walls = Vec::new();
        for _ in 0..runs {
            if self.executor.floor(1)?.is_empty() {
                break;
            }
            let stamps = self.executor.last_stamps();
            walls.push(stamps.end_ns.saturating_sub(stamps.exec_ns));
        }
        Ok(walls)
    }

    fn clean_up(&mut self, _: usize) -> Result<(), MeasureError> {
        Ok(())
    }

    fn sweep(&mut self) {
        self.executor.sweep();
    }

    fn elapsed(&self) -> Duration {
        self.executor.elapsed()
    }

    fn interrupted(&self) -> bool {
        self.executor.interrupted()
    }
}
