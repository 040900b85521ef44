//! The observed run: the best tier that is allowed, under the same conditions as the timed runs.

use std::ffi::OsString;
use std::fs::File;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::time::Duration;

use fathom_diagnose::Language;
use fathom_measure::{Iteration, MeasureError, Output, interrupt, traced_input};
use fathom_model::Run;
use fathom_trace::{
    End, Exec, Io, Losses, Tier, TimelineOptions, Trace, TraceCommand, TraceOptions, detect,
};

use super::typical::{self, Usual};
use super::{Arguments, as_seen_from_here, cache, language, say};
use crate::cli::failure::Failure;
use crate::cli::target::Target;

/// Where the tiers that were found to work are kept.
const TIERS: &str = "tiers.json";

/// What is run and observed.
struct Subject<'a> {
    target: &'a Target,
    arguments: &'a Arguments,
    /// The command's own program, if it is written in Go.
    go: Option<PathBuf>,
}

/// Runs the command once more and watches; again, if that run was far from the timed ones.
///
/// # Errors
/// When no tier is allowed, or the command can't be started.
pub fn observe(target: &Target, arguments: &Arguments, timed: &[Run]) -> Result<Trace, Failure> {
    let subject = Subject {
        target,
        arguments,
        // Once, before anything prepares a run: it reads the program, which may be to be cold.
        go: go_program(target),
    };
    if let Some(tier) = arguments.tier {
        return watch_typical(&subject, tier.into(), timed);
    }
    let stamp = cache::rights_stamp();
    let kept: Option<Vec<detect::Availability>> = cache::load(TIERS, &stamp);
    let is_kept = kept.is_some();
    let all = kept.unwrap_or_else(|| detected(&stamp));
    match watch_best(&subject, &all, timed) {
        // What was allowed may be so no more: a limit that no stamp holds.
        Err(Failure::Trace(_)) if is_kept => watch_best(&subject, &detected(&stamp), timed),
        outcome => outcome,
    }
}

/// Tries every tier, which takes 30 ms, and keeps the answer.
pub fn detected(stamp: &str) -> Vec<detect::Availability> {
    let all = detect::detect();
    cache::store(TIERS, stamp, &all);
    all
}

fn watch_best(
    subject: &Subject<'_>,
    all: &[detect::Availability],
    timed: &[Run],
) -> Result<Trace, Failure> {
    let tier = best(all)?;
    let mut trace = watch_typical(subject, tier, timed)?;
    let stops = all
        .iter()
        .any(|tier| tier.tier == Tier::Stops && tier.available);
    // Samples tell what was waited for; which calls were made only a run that stops at them tells.
    if tier.only_looks() && stops && interrupt::received().is_none() {
        let own = subject.arguments.run_options.timeout;
        let limit = own.unwrap_or_else(|| longest(timed) * TIMES_AS_LONG + STOPPED_AT_LEAST);
        let calls = watch(subject, Tier::Stops, LOOKS, Some(limit))?;
        match why_not_added(&trace, &calls, own.is_some()) {
            None => fathom_diagnose::add_calls(&mut trace, calls),
            Some(why) => trace
                .not_visible
                .push(format!("which calls were made: {why}")),
        }
    }
    Ok(trace)
}

/// A run that is stopped at its calls may take so many times as long as the longest timed one, and this beside it. One that
/// traces its own children can't go on at all.
const TIMES_AS_LONG: u32 = 10;
const STOPPED_AT_LEAST: Duration = Duration::from_secs(15);

fn longest(timed: &[Run]) -> Duration {
    let longest = timed.iter().map(|run| run.wall_ns).max();
    Duration::from_nanos(longest.unwrap_or(0))
}

/// Why the calls of a second run, which was stopped at them, say nothing of the first. `limited`: the user set a time limit,
/// by which both may have been ended.
fn why_not_added(first: &Trace, stopped: &Trace, limited: bool) -> Option<String> {
    if interrupt::received().is_some() {
        // Calls of a part of a run are no counts.
        let why = "a signal to Fathom ended the run that was stopped at them";
        return Some(why.to_owned());
    }
    if limited && stopped.end.cut_short {
        return None;
    }
    let ended = |end: &End| (end.code, end.signal, end.cut_short);
    (ended(&first.end) != ended(&stopped.end)).then(|| {
        let how = match stopped.end.cut_short {
            true => "did not come to its end".to_owned(),
            false => match how_it_ended(&stopped.end) {
                end if end.is_empty() => "ended well, which the first did not".to_owned(),
                end => format!("ended with {end}"),
            },
        };
        format!(
            "the run that was stopped at them {how}; programs that trace others, or look for a tracer, do so"
        )
    })
}

/// The observed run that is most like the timed ones.
fn watch_typical(subject: &Subject<'_>, tier: Tier, timed: &[Run]) -> Result<Trace, Failure> {
    let looks = between_looks(tier, timed);
    let limit = subject.arguments.run_options.timeout;
    let mut best = watch(subject, tier, looks, limit)?;
    let Some(usual) = Usual::of(timed) else {
        return Ok(best);
    };
    for _ in 1..typical::MOST_RUNS {
        if !usual.is_far_from(&best) || interrupt::received().is_some() {
            break;
        }
        let trace = watch(subject, tier, looks, limit)?;
        // One that a signal cut short is like no other.
        let is_whole = !trace.end.cut_short;
        if is_whole && usual.distance(&trace) < usual.distance(&best) {
            best = trace;
        }
    }
    Ok(best)
}

/// CPU time between two looks at own code: a multiple of nothing that programs and kernels do by the millisecond. A
/// quarter of it made memory-bound code 3 to 6 % slower in a virtual machine within another.
const LOOKS: Duration = Duration::from_nanos(3_989_000);
/// The same where a whole run would have a few dozen of them.
const MANY_LOOKS: Duration = Duration::from_nanos(997_000);
/// CPU time of such a run, ns.
const SHORT_NS: u64 = 250_000_000;

/// In the perf tier the clock runs with the program. In the kernel tier it does on every CPU, also on the idle one, and
/// what starts in 50 ms would be 5 % slower by it.
fn between_looks(tier: Tier, timed: &[Run]) -> Duration {
    let is_short = !timed.is_empty() && timed.iter().all(|run| run.cpu_ns < SHORT_NS);
    match tier {
        Tier::Perf if is_short => MANY_LOOKS,
        _ => LOOKS,
    }
}

/// One observed run.
fn watch(
    subject: &Subject<'_>,
    tier: Tier,
    looks: Duration,
    limit: Option<Duration>,
) -> Result<Trace, Failure> {
    let (target, arguments, go) = (subject.target, subject.arguments, &subject.go);
    say(arguments, &format!("observing: tier {} …", tier.name()));
    if let Some(hook) = &target.prepare {
        hook.run(Some(Iteration::Run(0)))?;
    }
    let mut command = TraceCommand::new(program_first(target));
    let own = std::env::vars_os().filter(|(name, _)| {
        target
            .command
            .variables
            .iter()
            .all(|(added, _)| added != name)
    });
    command.env = Some(
        own.chain(target.command.variables.iter().cloned())
            .collect(),
    );
    command.cwd = target.command.directory.clone();
    command.timeout = limit;
    command.stdin = traced_input(&target.command.input)?;
    let drain = output(&mut command, target, arguments)?;
    let options = TraceOptions {
        timeline: matches!(tier, Tier::Kernel | Tier::Perf).then(TimelineOptions::default),
        profile: Some(looks),
        mutexes_of: go.clone().filter(|_| tier == Tier::Kernel),
        stop: Some(interrupt::flag()),
        ..TraceOptions::default()
    };
    let mut trace = fathom_trace::trace(&command, tier, &options)?;
    name_the_command(&mut trace, target);
    if go.is_some() && tier.only_looks() {
        let unseen = "how goroutines wait for mutexes: the kernel tier sees it";
        trace.not_visible.insert(0, unseen.to_owned());
    }
    // Closes the writing end, so that the drain comes to its end.
    drop(command);
    if let Some(drain) = drain {
        // It only reads; if it failed the command saw a closed pipe.
        let _ = drain.join();
    }
    Ok(trace)
}

/// The command's own program if it is written in Go.
fn go_program(target: &Target) -> Option<PathBuf> {
    let program = as_seen_from_here(&target.command);
    let language = language::language_of(&program);
    (language == Some(Language::Go)).then_some(program)
}

/// The best tier that works here.
fn best(all: &[detect::Availability]) -> Result<Tier, Failure> {
    match all.iter().find(|tier| tier.available) {
        Some(found) => Ok(found.tier),
        None => Err(Failure::Untrusted(format!(
            "nothing here allows a program to be observed: {}",
            all.iter()
                .map(|tier| tier.why_not.as_str())
                .collect::<Vec<_>>()
                .join("; ")
        ))),
    }
}

/// The arguments, with the program as it was found, so that the same file is run as was timed.
fn program_first(target: &Target) -> Vec<OsString> {
    let mut words = target.command.arguments.clone();
    words[0] = target.command.program.clone().into_os_string();
    words
}

type Drain = std::thread::JoinHandle<()>;

fn output(
    command: &mut TraceCommand,
    target: &Target,
    arguments: &Arguments,
) -> Result<Option<Drain>, Failure> {
    let show = arguments.run_options.show_output;
    command.stderr = if show { Io::Inherit } else { Io::Null };
    let mut drain = None;
    command.stdout = match &target.command.output {
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
                // The content doesn't matter; when the pipe is closed this ends.
                let _ = std::io::copy(&mut reader, &mut std::io::sink());
            }));
            Io::Fd(OwnedFd::from(writer))
        }
    };
    Ok(drain)
}

/// The sampler of an unprivileged user may not see what the command executed; who started it knows.
fn name_the_command(trace: &mut Trace, target: &Target) {
    let Some(root) = trace.processes.first_mut() else {
        return;
    };
    if !root.execs.is_empty() {
        return;
    }
    let words = program_first(target);
    let text = |word: &OsString| word.to_string_lossy().into_owned();
    root.execs.push(Exec {
        at_ns: root.started_ns,
        path: text(&words[0]),
        arguments: words.iter().map(text).collect(),
        ..Exec::default()
    });
}

/// How the observed run ended, if not well.
pub fn bad_end(end: &End) -> String {
    match how_it_ended(end) {
        how if how.is_empty() => how,
        how => format!("{how} in the explaining run"),
    }
}

fn how_it_ended(end: &End) -> String {
    match end {
        End {
            cut_short: true, ..
        } => "ended by --timeout".to_owned(),
        End {
            signal: Some(signal),
            ..
        } => format!("signal {signal}"),
        End {
            code: Some(code), ..
        } if *code != 0 => format!("exit code {code}"),
        _ => String::new(),
    }
}

/// What a tier is, in a line.
pub fn description(tier: Tier) -> &'static str {
    match tier {
        Tier::Kernel => "every call counted and timed in the kernel; under 0.5 µs a call",
        Tier::Perf => {
            "every wait timed by the kernel, its call told by looks; 1.2 µs a context switch"
        }
        Tier::Sample => "threads looked at 1,000 times a second; shares, no counts; costs nothing",
        Tier::Stops => {
            "every call stopped and looked at, for up to 20,000 calls; 10 to 90 µs a call"
        }
    }
}

/// What was lost, in words.
pub fn losses(lost: &Losses) -> Vec<String> {
    let kinds = [
        (lost.calls, "calls found the table of calls full"),
        (lost.off_cpu, "waits found their table full"),
        (
            lost.records,
            "opens, forks, execs or exits found the ring full",
        ),
        (lost.threads, "threads could not be followed"),
        (lost.names, "file names are not kept"),
        (lost.intervals, "waits are not in the timeline"),
    ];
    kinds
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| format!("{count} {what}"))
        .collect()
}
