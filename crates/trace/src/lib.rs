//! Kernel-side observation of a process tree: what it called, what it waited for, and for how long.
//!
//! ```no_run
//! use fathom_trace::{Tier, TraceCommand, TraceOptions, trace};
//!
//! let command = TraceCommand::new(["dd", "if=/dev/zero", "of=/dev/null", "bs=1", "count=1000"]);
//! let trace = trace(&command, Tier::Kernel, &TraceOptions::default())?;
//! for row in &trace.syscalls {
//!     println!("{} on {:?}: {} calls, {} ns", row.name, row.fd, row.calls, row.total_ns);
//! }
//! # Ok::<(), fathom_trace::TraceError>(())
//! ```
//!
//! A traced run explains; it is never used for timing. [`detect`](detect::detect) finds out which tiers a
//! machine allows by trying them. Linux only.

mod accounts;
mod asked_for;
mod attach;
pub mod calls;
mod close_from;
mod collect;
mod command;
mod cpus;
mod descriptor;
mod descriptor_events;
pub mod detect;
mod error;
mod group;
mod guardian;
mod inherited;
mod kernel;
mod mutexes;
mod name_maps;
mod names;
mod orphans;
mod path_totals;
mod paths;
mod perf;
mod profile;
mod programs;
mod progress;
mod ptrace;
mod python;
mod records;
mod result;
mod rights;
mod sample;
mod signals;
mod spawn;
mod stacks;
mod timed_locks;
mod uses;
mod watch;

pub use attach::Target;
pub use close_from::close_from;
pub use command::{Io, Member, TimelineOptions, TraceCommand, TraceOptions};
pub use cpus::{allowed_cpus, busy_ns, run_on};
pub use descriptor::{DescriptorKind, Socket, SocketEnd, SocketFamily};
pub use error::{AttachError, TraceError};
pub use kernel::btf::BtfError;
pub use mutexes::MutexRow;
pub use name_maps::{NameMaps, has_name_map};
pub use orphans::{Adopted, Orphans};
pub use perf::CallCount;
pub use profile::{FunctionRow, Profile};
pub use ptrace::TIMES_HOLD_STOPS;
pub use result::{
    Accounts, Activity, Attached, AwaitedPeer, CallOverhead, Cause, DescriptorRow, End, Entered,
    Exec, FaultOverhead, FileRow, GroupTrace, InFlightRow, Interval, Limited, Lines, LookupRow,
    Losses, MemberEnd, OffCpuRow, PathRow, PollEnds, Process, Progress, ProgressRow, SIZE_LIMITS,
    Sampling, StackRow, Stacks, StopReading, SyscallRow, Thread, Tier, Trace,
    is_of_withheld_rights,
};
pub use rights::gives_rights;
pub use sample::NO_CALLS;
pub use signals::{RefusedRow, SignalRow};
pub use stacks::StackPool;
pub use uses::{Flow, Moved, UseRow};

use std::time::Duration;

/// Runs the command to its end under this tier and reports the observations.
///
/// Blocks; the child is bound to the calling thread, which must live until this returns. Descendants that
/// outlive the command are killed.
///
/// # Errors
/// [`TraceError`]; in this case, no process is left running.
pub fn trace(
    command: &TraceCommand,
    tier: Tier,
    options: &TraceOptions,
) -> Result<Trace, TraceError> {
    let mut seen = match tier {
        Tier::Kernel => kernel::observe(command, options),
        Tier::Perf | Tier::Sample => sample::observe(command, tier, options),
        Tier::Ptrace => ptrace::observe(command, options),
    }?;
    // The ptrace tier checks at each stop.
    if tier != Tier::Ptrace {
        rights::note_those_withheld(&mut seen, command.cwd.as_deref());
    }
    if let Some(maps) = &command.name_maps {
        let pids = seen.processes.iter().map(|process| process.pid);
        let maps_of_run = maps.ran(pids).into_iter();
        seen.asked_for = maps_of_run.map(|path| path.display().to_string()).collect();
        let pool = options.stacks.iter();
        pool.for_each(|pool| pool.known_inside(maps.known_inside()));
    }
    options.stacks.iter().for_each(|pool| pool.traced(&seen));
    Ok(seen)
}

/// Runs the commands concurrently, as the stages of a pipeline, and reports the observations of all of them.
/// The pipes between the commands belong to the caller: descriptors in [`Io::Fd`] are closed here once each
/// command has its own.
///
/// Blocks as [`trace`] does. The ptrace tier is refused: it lets one thread run at a time, which would change
/// which stage waits for which.
///
/// # Errors
/// [`TraceError`]; in this case, no process is left running.
pub fn trace_group(
    members: Vec<Member>,
    tier: Tier,
    options: &TraceOptions,
) -> Result<GroupTrace, TraceError> {
    let folder = members.first().and_then(|one| one.command.cwd.clone());
    let mut seen = match tier {
        Tier::Kernel => kernel::observe_group(members, options),
        Tier::Perf | Tier::Sample => sample::observe_group(members, tier, options),
        Tier::Ptrace => Err(TraceError::Group),
    }?;
    rights::note_those_withheld(&mut seen.trace, folder.as_deref());
    options
        .stacks
        .iter()
        .for_each(|pool| pool.traced(&seen.trace));
    Ok(seen)
}

/// Observes a process with its threads and children for `time`, or until it ends or the caller stops it, and
/// reports the observations. The process continues.
///
/// # Errors
/// [`TraceError`]; the ptrace tier is refused: it stops a process at every call.
pub fn attach(
    target: &Target,
    time: Duration,
    tier: Tier,
    options: &TraceOptions,
) -> Result<Trace, TraceError> {
    let seen = match tier {
        Tier::Kernel => kernel::attach(target, time, options),
        Tier::Perf | Tier::Sample => sample::attach(target, time, tier, options),
        Tier::Ptrace => Err(AttachError::Stops.into()),
    }?;
    options.stacks.iter().for_each(|pool| pool.traced(&seen));
    Ok(seen)
}

#[cfg(test)]
#[global_allocator]
static ALLOCATOR: fathom_test_memory::Counting = fathom_test_memory::Counting;
