//! Traces additional runs of a program, for files, phases and the time of the first byte.

use std::ffi::OsString;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::time::Duration;

use fathom_trace::{Io, Tier, TimelineOptions, Trace, TraceCommand, TraceError, TraceOptions};

use super::paths::ResolvedPaths;
use super::session::Subject;
use super::watch::{Watch, Watched};
use crate::{CommandLine, Iteration, MeasureError, traced_input};

/// The name in the traces that distinguishes the command's standard output from other pipes.
pub const STDOUT: &str = "standard output of the command";
/// The maximum number of stops; a start makes some hundreds to thousands of calls.
const STOPS: u64 = 100_000;
/// The maximum time that stops may take.
const STOPS_TIME: Duration = Duration::from_secs(20);
/// Shorter times off a CPU count as on-CPU time: a context switch alone takes 1 to 2 µs.
const SHORTEST_WAIT: Duration = Duration::from_micros(1);

/// The purpose of a traced run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// Files, phases, and whether both ways of timing agree.
    FilesAndTimes,
    /// Files only: every call is stopped, so times aren't available.
    Files,
    /// Phases only: the program is stopped only at milestones, so files aren't available.
    Times,
}

/// A traced run, as recorded.
#[derive(Debug)]
pub struct TracedStart {
    /// Its purpose.
    pub purpose: Purpose,
    /// The tracer's recording; standard output is named [`STDOUT`] in it.
    pub trace: Trace,
    /// The parent's observation of the output.
    pub output: Watched,
    /// The files behind the paths of the trace.
    pub paths: ResolvedPaths,
}

/// Runs `subject` and traces it: `runs` times in tier `kernel`, and once more in tier `stops` if files and
/// times aren't available from the same run. Output is watched as in the timed runs, and each run is passed
/// to `each`.
///
/// # Errors
/// If it can't be started or traced, and the errors of `each`; an ordinary failure of the program is not an
/// error.
pub fn trace_starts(
    subject: &Subject,
    tier: Tier,
    runs: u32,
    options: &super::ObserveOptions,
    each: &mut dyn FnMut(TracedStart) -> Result<(), MeasureError>,
) -> Result<(), MeasureError> {
    let directory = directory_of(&subject.command)?;
    let purposes = match tier {
        Tier::Ptrace => [vec![Purpose::Files], vec![Purpose::Times; runs as usize]].concat(),
        _ => vec![Purpose::FilesAndTimes; runs as usize],
    };
    for (round, purpose) in (0..).zip(purposes) {
        if crate::interrupt::stopped() {
            break;
        }
        if let Some(prepare) = &subject.prepare {
            prepare.run(Some(Iteration::Run(round)))?;
        }
        each(once(subject, tier, purpose, options, &directory)?)?;
    }
    Ok(())
}

fn once(
    subject: &Subject,
    tier: Tier,
    purpose: Purpose,
    options: &super::ObserveOptions,
    directory: &Path,
) -> Result<TracedStart, MeasureError> {
    let failed = |what: &'static str| move |error| MeasureError::Launcher { what, error };
    let (reader, writer) = std::io::pipe().map_err(failed("could not create a pipe"))?;
    let link = std::fs::read_link(format!("/proc/self/fd/{}", writer.as_raw_fd()));
    let label = link.map_err(failed("could not create a pipe"))?;
    let watch = Watch::start(reader.into(), &[]).map_err(failed("could not be read from"))?;
    let command = command(subject, writer.into(), options.timeout)?;
    watch.begin();
    let trace = fathom_trace::trace(
        &command,
        tier,
        &TraceOptions {
            // Shows where the start waited for a CPU, which tier stops doesn't record.
            timeline: (tier == Tier::Kernel).then_some(TimelineOptions {
                shortest: SHORTEST_WAIT,
                ..TimelineOptions::default()
            }),
            // The phases include page faults, and a start should be disturbed as little as possible.
            fault_times: false,
            most_stops: STOPS,
            stops_time: STOPS_TIME,
            only_milestones: purpose == Purpose::Times,
            labels: vec![(label.to_string_lossy().into_owned(), STDOUT.to_string())],
            stop: Some(options.stop.clone()),
            ..TraceOptions::default()
        },
    )
    .map_err(|error| not_traced(error, &subject.command))?;
    Ok(TracedStart {
        purpose,
        output: watch.finish(),
        paths: ResolvedPaths::of(&trace, directory),
        trace,
    })
}

fn command(
    subject: &Subject,
    stdout: OwnedFd,
    timeout: Option<Duration>,
) -> Result<TraceCommand, MeasureError> {
    let line = &subject.command;
    let mut words: Vec<OsString> = line.arguments.clone();
    // The same file as in the timed runs.
    words[0] = line.program.clone().into_os_string();
    let mut command = TraceCommand::new(words);
    command.env = Some(line.environment());
    command.cwd = line.directory.clone();
    command.timeout = timeout;
    command.stdin = traced_input(&line.input)?;
    command.stdout = Io::Fd(stdout);
    command.stderr = Io::Null;
    Ok(command)
}

fn not_traced(error: TraceError, command: &CommandLine) -> MeasureError {
    MeasureError::Spawn {
        name: command.arguments[0].to_string_lossy().into_owned(),
        error: std::io::Error::other(format!("it can't be observed: {error}")),
    }
}

fn directory_of(command: &CommandLine) -> Result<PathBuf, MeasureError> {
    let here = std::env::current_dir().map_err(|error| MeasureError::Directory {
        path: ".".into(),
        error,
    })?;
    Ok(here.join(command.folder()))
}
