//! The observed run, which uses the best permitted tier under the same conditions as the timed runs.

use std::ffi::OsString;
use std::fs::File;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use fathom_diagnose::{Asked, Language};
use fathom_measure::{Iteration, MeasureError, Output, interrupt, traced_input};
use fathom_model::{Exit, Run};
use fathom_trace::{
    End, Exec, Io, Profile, StackPool, Stacks, Tier, TimelineOptions, Trace, TraceCommand,
    TraceOptions,
};

use super::representative::{self, Reference};
use super::{WhyPlan, asked, from_here, language};
use crate::tiers::Tiers;
use crate::{ConductError, Event, Observer, Target};

/// The tiers to choose from: all of them, because each is informative about a command.
const TIERS: [Tier; 4] = [Tier::Kernel, Tier::Perf, Tier::Sample, Tier::Ptrace];

/// The command to run and observe.
struct Subject<'a> {
    plan: &'a WhyPlan,
    timed: &'a [Run],
    /// The command's program, if it is written in Go.
    go: Option<PathBuf>,
    /// How the command is made to write the names of generated code.
    asked: Option<Asked>,
    /// Stacks of all observed runs.
    stacks: StackPool,
    observer: &'a mut dyn Observer,
}

/// Runs the command once more and observes it. If that run differs much from the timed ones, observes it
/// again.
///
/// # Errors
/// If no tier is permitted, or the command can't be started.
pub(super) fn observe(
    plan: &WhyPlan,
    timed: &[Run],
    observer: &mut dyn Observer,
) -> Result<Observed, ConductError> {
    let mut subject = Subject {
        plan,
        timed,
        // This is done once, before any run is prepared, because it reads the program, which may have to be
        // cold.
        go: go_program(&plan.target),
        asked: asked::asked(&plan.target),
        stacks: match median(timed, |run| run.wall_ns) {
            Some(wall_ns) if Duration::from_nanos(wall_ns) > FOR_MORE_RUNS => {
                StackPool::of_one_run()
            }
            _ => StackPool::default(),
        },
        observer,
    };
    let mut trace = match plan.tier {
        Some(tier) => subject.most_representative(tier),
        None => subject.by_what_is_allowed(),
    }?;
    let more_samples = subject.more_samples(&trace);
    subject.more_stacks(&trace);
    trace.stacks = subject.stacks.named(&trace);
    let lacking = trace.stacks.iter().flat_map(Stacks::not_visible);
    trace.not_visible.extend(lacking);
    trace.leave_out_what_was_asked_for();
    Ok(Observed {
        trace,
        more_samples,
        added: subject.asked.map(|asked| asked.added),
    })
}

/// The observations.
pub(super) struct Observed {
    /// The run to explain.
    pub trace: Trace,
    /// The samples of another run, if this one had too few.
    pub more_samples: Option<Profile>,
    /// What the run was given in addition to what the timed runs were given.
    pub added: Option<String>,
}

/// A run that is stopped at its calls may take at most this many times as long as the longest timed run, but
/// always at least the minimum below. The limit exists because a program that traces its own children can't
/// continue at all when stopped.
const TIMES_AS_LONG: u32 = 10;
const STOPPED_AT_LEAST: Duration = Duration::from_secs(15);

/// The CPU time between two samples of user code. It is not a multiple of a millisecond, because programs and
/// kernels use whole-millisecond intervals. Sampling at a quarter of this interval made memory-bound code 3
/// to 6 % slower in a nested virtual machine.
const SAMPLES: Duration = Duration::from_nanos(3_989_000);
/// The CPU time between two samples for runs that would otherwise have only a few dozen samples.
const MANY_SAMPLES: Duration = Duration::from_nanos(997_000);
/// The initial time, in calls, waits and faults, between two stacks; it doubles as a run goes on. A run of 50
/// ms has some hundred stacks, which take 1 % of the run and are excluded from its account.
pub(super) const CALL_STACKS: Duration = Duration::from_nanos(65_536);
/// The CPU time, in nanoseconds, below which a run is short enough to need `MANY_SAMPLES`.
const SHORT_NS: u64 = 250_000_000;
/// The CPU time, in nanoseconds, below which no clock gives enough samples to name a function.
const TOO_SHORT_NS: u64 = 40_000_000;
/// The number of samples needed to name functions.
const ENOUGH_SAMPLES: u64 = 64;
/// The number of stacks to collect. With this many, the callers of something that takes 5 % of the time are
/// known to within 1.4 percentage points.
const ENOUGH_STACKS: u64 = 1_000;
/// How long a short command is run repeatedly to collect that many stacks.
const FOR_MORE_RUNS: Duration = Duration::from_millis(1_500);
/// The minimum CPU time of these runs, in nanoseconds, so that each has at least a few samples.
const TOO_SHORT_FOR_STACKS_NS: u64 = 4_000_000;

impl Subject<'_> {
    fn by_the_best(&mut self, tiers: &Tiers) -> Result<Trace, ConductError> {
        let tier = tiers.best(&TIERS).map_err(|why_not| {
            ConductError::Untrusted(format!(
                "no tier can observe a program here: {}",
                why_not.join("; ")
            ))
        })?;
        let mut trace = self.most_representative(tier)?;
        // Samples show what the program waited for; which calls were made is shown only by a run that stops
        // at calls.
        if tier.only_samples() && tiers.allows(Tier::Ptrace) && !interrupt::stopped() {
            let own = self.plan.terms.timeout;
            let limit = own.unwrap_or_else(|| self.longest() * TIMES_AS_LONG + STOPPED_AT_LEAST);
            let mut calls = self.once(Tier::Ptrace, SAMPLES, Some(limit))?;
            calls.leave_out_what_was_asked_for();
            match why_not_added(&trace, &calls, own.is_some()) {
                None => fathom_diagnose::add_calls(&mut trace, calls),
                Some(why) => trace
                    .not_visible
                    .push(format!("the calls that were made: {why}")),
            }
        }
        Ok(trace)
    }

    fn by_what_is_allowed(&mut self) -> Result<Trace, ConductError> {
        let tiers = Tiers::known();
        match self.by_the_best(&tiers) {
            // A tier that was permitted may no longer be permitted, because of a limit that the stamp doesn't
            // include.
            Err(ConductError::Trace(_)) if tiers.is_kept => {
                self.by_the_best(&Tiers::tried_and_kept())
            }
            outcome => outcome,
        }
    }

    /// If the kernel tier took too few samples of a run, returns the samples of another run. That run uses a
    /// clock that runs with the program and costs a short program nothing. Returns `None` if no more samples
    /// are needed or possible, or if the other run was of a different kind.
    fn more_samples(&mut self, trace: &Trace) -> Option<Profile> {
        let median = self.median_cpu_ns()?;
        let own = trace.profile.iter().flat_map(|profile| &profile.functions);
        let own: u64 = own.map(|row| row.samples).sum();
        let is_short = (TOO_SHORT_NS..SHORT_NS).contains(&median);
        let is_kernels = trace.tier == Some(Tier::Kernel) && !trace.end.cut_short;
        if !is_kernels || !is_short || own >= ENOUGH_SAMPLES || interrupt::stopped() {
            return None;
        }
        self.alike(trace, MANY_SAMPLES)?.profile
    }

    /// Adds stacks from more runs, if the command is short and either has too few stacks or has stacks deeper
    /// than what was copied. Uses a clock that runs with the program, at a rate that doesn't disturb it.
    fn more_stacks(&mut self, trace: &Trace) {
        let wall_ns = median(self.timed, |run| run.wall_ns);
        let (Some(cpu_ns), Some(wall_ns)) = (self.median_cpu_ns(), wall_ns) else {
            return;
        };
        let is_sampled = matches!(trace.tier, Some(Tier::Kernel | Tier::Perf));
        if !is_sampled || trace.end.cut_short || cpu_ns < TOO_SHORT_FOR_STACKS_NS {
            return;
        }
        let (began, wall) = (Instant::now(), Duration::from_nanos(wall_ns));
        while self.stacks.wants_more(ENOUGH_STACKS) && !interrupt::stopped() {
            let left = FOR_MORE_RUNS.saturating_sub(began.elapsed());
            if left < wall {
                break;
            }
            let runs = left.as_nanos() / wall.as_nanos().max(1);
            let missing = ENOUGH_STACKS.saturating_sub(self.stacks.samples());
            let samples = Duration::from_nanos(cpu_ns)
                .saturating_mul(runs.min(u32::MAX.into()) as u32)
                .checked_div(missing as u32)
                .unwrap_or(SAMPLES);
            if self
                .alike(trace, samples.clamp(MANY_SAMPLES, SAMPLES))
                .is_none()
            {
                break;
            }
        }
    }

    /// Runs the command once more in the perf tier. Returns `None` if that isn't possible, or if the new run
    /// was of a different kind than the traced one.
    fn alike(&mut self, trace: &Trace, samples: Duration) -> Option<Trace> {
        let more = self.once(Tier::Perf, samples, self.plan.terms.timeout);
        let more = more.ok()?;
        match ended(&more.end) == ended(&trace.end) {
            true => Some(more),
            false => {
                self.stacks.forget(&more);
                None
            }
        }
    }

    fn median_cpu_ns(&self) -> Option<u64> {
        median(self.timed, |run| run.cpu_ns)
    }

    fn longest(&self) -> Duration {
        let longest = self.timed.iter().map(|run| run.wall_ns).max();
        Duration::from_nanos(longest.unwrap_or(0))
    }

    /// Returns the observed run that is most like the timed ones.
    fn most_representative(&mut self, tier: Tier) -> Result<Trace, ConductError> {
        let samples = self.between_samples(tier);
        let limit = self.plan.terms.timeout;
        let mut best = self.once(tier, samples, limit)?;
        let Some(reference) = Reference::of(self.timed) else {
            return Ok(best);
        };
        for _ in 1..representative::MOST_RUNS {
            if !reference.is_far_from(&best) || interrupt::stopped() {
                break;
            }
            let trace = self.once(tier, samples, limit)?;
            // A run that a signal cut short is not comparable.
            let is_whole = !trace.end.cut_short;
            let is_better = is_whole && reference.distance(&trace) < reference.distance(&best);
            let (better, other) = match is_better {
                true => (trace, best),
                false => (best, trace),
            };
            if ended(&other.end) != ended(&better.end) {
                self.stacks.forget(&other);
            }
            best = better;
        }
        Ok(best)
    }

    /// Returns the sampling interval. In the perf tier the clock runs with the program. In the kernel tier it
    /// runs on every CPU, even an idle one, and would slow a program that starts in 50 ms by 5 %.
    fn between_samples(&self, tier: Tier) -> Duration {
        let is_short = self.timed.iter().all(|run| run.cpu_ns < SHORT_NS);
        match tier {
            Tier::Perf if is_short && !self.timed.is_empty() => MANY_SAMPLES,
            _ => SAMPLES,
        }
    }

    /// Runs and observes the command once with a request for names. If the run doesn't end as the timed ones
    /// did, repeats it without the request.
    fn once(
        &mut self,
        tier: Tier,
        samples: Duration,
        limit: Option<Duration>,
    ) -> Result<Trace, ConductError> {
        let run = self.run(tier, samples, limit);
        let ends_well = run.as_ref().is_ok_and(|trace| self.ends_as_timed(trace));
        // Stopping a program at its calls may change how it ends.
        if self.asked.is_none() || ends_well || tier == Tier::Ptrace || interrupt::stopped() {
            return run;
        }
        if let Ok(trace) = &run {
            self.stacks.forget(trace);
        }
        self.asked = None;
        self.run(tier, samples, limit)
    }

    fn ends_as_timed(&self, trace: &Trace) -> bool {
        let as_this = |run: &Run| match run.exit {
            Exit::Code(code) => trace.end.code == Some(code),
            Exit::Signal(signal) => trace.end.signal == Some(signal),
            Exit::TimedOut => trace.end.cut_short,
        };
        self.timed.is_empty() || self.timed.iter().any(as_this)
    }

    fn run(
        &mut self,
        tier: Tier,
        samples: Duration,
        limit: Option<Duration>,
    ) -> Result<Trace, ConductError> {
        let target = &self.plan.target;
        self.observer.on(Event::Observes(tier));
        if let Some(hook) = &target.hooks.prepare {
            hook.run(Some(Iteration::Run(0)))?;
        }
        let mut command = TraceCommand::new(target.words_as_found());
        command.env = Some(target.command.environment());
        command.cwd = target.command.directory.clone();
        command.timeout = limit;
        command.stdin = traced_input(&target.command.input)?;
        // Tiers that stop at calls collect stacks for calls, too.
        if let Some(asked) = self.asked.as_ref().filter(|_| tier != Tier::Sample) {
            asked::ask(asked, &mut command);
        }
        let drain = output(&mut command, self.plan)?;
        let options = TraceOptions {
            timeline: matches!(tier, Tier::Kernel | Tier::Perf).then(TimelineOptions::default),
            profile: Some(samples),
            stacks: Some(self.stacks.clone()),
            call_stacks: Some(CALL_STACKS),
            mutexes_of: self.go.clone().filter(|_| tier == Tier::Kernel),
            stop: Some(interrupt::flag()),
            ..TraceOptions::default()
        };
        let mut trace = fathom_trace::trace(&command, tier, &options)?;
        name_the_command(&mut trace, target);
        if self.go.is_some() && tier.only_samples() {
            let not_visible = "how goroutines wait for mutexes: only the kernel tier sees that";
            trace.not_visible.insert(0, not_visible.to_owned());
        }
        // Dropping the command closes the write end, so that the drain ends.
        drop(command);
        if let Some(drain) = drain {
            // The drain only reads; if it failed, the command saw a closed pipe.
            let _ = drain.join();
        }
        Ok(trace)
    }
}

/// Returns the median over the timed runs; `None` if there are none.
fn median(runs: &[Run], of: impl Fn(&Run) -> u64) -> Option<u64> {
    let mut values: Vec<u64> = runs.iter().map(of).collect();
    values.sort_unstable();
    values.get(values.len() / 2).copied()
}

/// Returns how the run ended; a run that ends differently is of a different kind.
fn ended(end: &End) -> (Option<i32>, Option<i32>, bool) {
    (end.code, end.signal, end.cut_short)
}

/// Returns why the calls of a second run, which was stopped at them, don't apply to the first; `None` if they
/// do. `limited` means that the user set a time limit, which may have ended both.
fn why_not_added(first: &Trace, stopped: &Trace, limited: bool) -> Option<String> {
    if interrupt::stopped() {
        // The calls of a partial run can't be used as counts.
        let why = "a signal to Fathom ended the run that was stopped at each call";
        return Some(why.to_owned());
    }
    if limited && stopped.end.cut_short {
        return None;
    }
    (ended(&first.end) != ended(&stopped.end)).then(|| {
        let how = match stopped.end.cut_short {
            true => "did not finish".to_owned(),
            false => match fathom_diagnose::end_in_words(&stopped.end) {
                end if end.is_empty() => "succeeded, unlike the first run".to_owned(),
                end => format!("ended with {end}"),
            },
        };
        format!(
            "the run that was stopped at each call {how}; this happens with programs that trace others or detect a \
             tracer"
        )
    })
}

/// Returns the command's program if it is written in Go.
fn go_program(target: &Target) -> Option<PathBuf> {
    let program = from_here(&target.command);
    let language = language::language_of(&program);
    (language == Some(Language::Go)).then_some(program)
}

type Drain = std::thread::JoinHandle<()>;

fn output(command: &mut TraceCommand, plan: &WhyPlan) -> Result<Option<Drain>, ConductError> {
    let show = plan.terms.show_output;
    command.stderr = if show { Io::Inherit } else { Io::Null };
    let mut drain = None;
    command.stdout = match &plan.target.command.output {
        _ if show => Io::Inherit,
        Output::Null => Io::Null,
        Output::Inherit => Io::Inherit,
        Output::File(path) => match File::create(path) {
            Ok(file) => Io::Fd(file.into()),
            Err(error) => {
                return Err(MeasureError::Output {
                    path: path.clone(),
                    error,
                }
                .into());
            }
        },
        Output::Pipe => {
            let failed = |error| MeasureError::Output {
                path: "a pipe".into(),
                error,
            };
            let (mut reader, writer) = std::io::pipe().map_err(failed)?;
            drain = Some(std::thread::spawn(move || {
                // The content doesn't matter; the copy ends when the pipe is closed.
                let _ = std::io::copy(&mut reader, &mut std::io::sink());
            }));
            Io::Fd(OwnedFd::from(writer))
        }
    };
    Ok(drain)
}

/// Names the command's program, which an unprivileged user's sampler may not have seen; this process started
/// it and knows.
fn name_the_command(trace: &mut Trace, target: &Target) {
    let Some(root) = trace.processes.first_mut() else {
        return;
    };
    if !root.execs.is_empty() {
        return;
    }
    let words = target.words_as_found();
    let text = |word: &OsString| word.to_string_lossy().into_owned();
    root.execs.push(Exec {
        at_ns: root.started_ns,
        path: text(&words[0]),
        arguments: words.iter().map(text).collect(),
        ..Exec::default()
    });
}
