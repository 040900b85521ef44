//! One traced round of the pipeline.

use std::ffi::OsString;
use std::fs::File;
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use fathom_trace::{
    GroupTrace, Io, Member, Tier, TimelineOptions, TraceCommand, TraceOptions, trace_group,
};

use super::plan::PipePlan;
use super::runner::Prepared;
use crate::process::cpu_mask;
use crate::{CommandLine, MeasureError, Output, traced_input};

/// Shorter waits are counted, but not placed on the timeline.
const SHORTEST_WAIT: Duration = Duration::from_micros(5);
/// The maximum number of waits on the timeline, which take 40 MB of memory; further waits are only counted.
const MOST_WAITS: usize = 400_000;

/// A traced round, as recorded.
#[derive(Debug, Clone)]
pub struct TracedRound {
    /// The trace; its members are the stages, in order.
    pub group: GroupTrace,
    /// The names of the pipes between the stages in the trace, in order.
    pub links: Vec<String>,
}

/// Runs the pipeline once and traces it, under the conditions of the timed rounds. Must be called on a thread
/// that lives until it returns.
///
/// # Errors
/// If the tier is not permitted, or a stage can't be started.
pub fn trace_round(
    plan: &PipePlan,
    delays: Option<&[Duration]>,
    tier: Tier,
    stop: Arc<AtomicBool>,
) -> Result<TracedRound, MeasureError> {
    let failed = |error| MeasureError::Launcher {
        what: "could not create pipes for the traced round",
        error,
    };
    plan.prepare(0)?;
    let last = plan.stages.len() - 1;
    let mut links = Vec::new();
    let mut incoming: Option<OwnedFd> = None;
    let mut members = Vec::new();
    let mut drain = None;
    for (index, stage) in plan.stages.iter().enumerate() {
        let mut command = command(plan, stage)?;
        command.stdin = match incoming.take() {
            Some(read) => Io::Fd(read),
            None => traced_input(&stage.input)?,
        };
        command.stdout = if index == last {
            let (io, thread) = output(plan, &stage.output)?;
            drain = thread;
            io
        } else {
            let (read, write) = super::pipe().map_err(failed)?;
            links.push(link_text(&read));
            incoming = Some(read);
            Io::Fd(write)
        };
        members.push(Member {
            command,
            delay: delays.map_or(Duration::ZERO, |delays| delays[index]),
        });
    }
    let options = TraceOptions {
        timeline: Some(TimelineOptions {
            shortest: SHORTEST_WAIT,
            most: MOST_WAITS,
            unnamed: true,
        }),
        labels: links.iter().map(|l| (l.clone(), l.clone())).collect(),
        stop: Some(stop),
        // Fault times aren't needed here, and would slow the stages down.
        fault_times: false,
        ..TraceOptions::default()
    };
    let pinned = Pinned::to(&plan.pin);
    let group = trace_group(members, tier, &options)?;
    drop(pinned);
    if let Some(drain) = drain {
        // The thread only reads; if it failed, the last stage saw a closed pipe.
        let _ = drain.join();
    }
    Ok(TracedRound { group, links })
}

fn command(plan: &PipePlan, stage: &CommandLine) -> Result<TraceCommand, MeasureError> {
    // Reports problems with an argument with the same message as timed runs.
    Prepared::new(stage, std::path::Path::new("/"))?;
    let mut argv: Vec<OsString> = stage.arguments.clone();
    // The resolved path, so that the same file is run as was timed.
    argv[0] = stage.program.clone().into_os_string();
    Ok(TraceCommand {
        env: Some(stage.environment()),
        cwd: stage.directory.clone(),
        timeout: plan.timeout,
        stderr: if plan.show_output {
            Io::Inherit
        } else {
            Io::Null
        },
        ..TraceCommand::new(argv)
    })
}

type Drain = std::thread::JoinHandle<()>;

fn output(plan: &PipePlan, output: &Output) -> Result<(Io, Option<Drain>), MeasureError> {
    let failed = |path: &std::path::Path| {
        let path = path.to_path_buf();
        move |error| MeasureError::Output { path, error }
    };
    Ok(match output {
        Output::Inherit => (Io::Inherit, None),
        Output::File(path) => (
            Io::Fd(File::create(path).map_err(failed(path))?.into()),
            None,
        ),
        Output::Null if plan.show_output => (Io::Inherit, None),
        Output::Null => (Io::Null, None),
        Output::Pipe => {
            let (read, write) = super::pipe().map_err(failed("a pipe".as_ref()))?;
            let thread = std::thread::spawn(move || {
                // The content doesn't matter; the copy ends when the pipe is closed.
                let _ = std::io::copy(&mut File::from(read), &mut std::io::sink());
            });
            (Io::Fd(write), Some(thread))
        }
    })
}

/// Returns the text that `/proc/PID/fd` shows for this pipe.
fn link_text(end: &OwnedFd) -> String {
    let link = std::fs::read_link(format!("/proc/self/fd/{}", end.as_raw_fd()));
    link.map_or_else(
        |_| "pipe".to_string(),
        |text| text.to_string_lossy().into_owned(),
    )
}

/// Restricts the calling thread to some CPUs until dropped; the stages inherit the restriction.
struct Pinned(Option<libc::cpu_set_t>);

impl Pinned {
    fn to(cpus: &[usize]) -> Pinned {
        let mask = cpu_mask(cpus);
        if mask.is_empty() {
            return Pinned(None);
        }
        // SAFETY: plain numbers; both sizes are those of the pointees.
        unsafe {
            let mut before: libc::cpu_set_t = std::mem::zeroed();
            libc::sched_getaffinity(0, size_of::<libc::cpu_set_t>(), &raw mut before);
            libc::sched_setaffinity(0, mask.len(), mask.as_ptr().cast());
            Pinned(Some(before))
        }
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        if let Some(before) = &self.0 {
            // SAFETY: the set that the kernel gave us.
            unsafe { libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), before) };
        }
    }
}
