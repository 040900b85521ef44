//! Runs a command under the ptrace tier.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::requests;
use super::run::Run;
use crate::command::{TraceCommand, TraceOptions};
use crate::cpus::{allowed_cpus, busy_ns};
use crate::error::{TraceError, system};
use crate::result::{Tier, Trace};
use crate::spawn;
use crate::watch::{Limits, ended, now};

/// Runs the command and reports what the stops showed.
///
/// This uses a separate thread, because `ptrace` and its waits belong to the tracing thread; the caller's
/// other children are left alone.
pub(crate) fn observe(command: &TraceCommand, options: &TraceOptions) -> Result<Trace, TraceError> {
    std::thread::scope(|scope| {
        let run = scope.spawn(|| observe_here(command, options));
        match run.join() {
            Ok(result) => result,
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}

/// Checks whether a child can be traced at all, using one that never runs a program.
pub(crate) fn attempt() -> Result<(), TraceError> {
    let mut child = spawn::hold(&TraceCommand::nothing(), None)?;
    child.wait_ready()?;
    requests::seize(child.pid).map_err(system("tracing the child (ptrace)"))
}

fn observe_here(command: &TraceCommand, options: &TraceOptions) -> Result<Trace, TraceError> {
    let mut child = spawn::hold(command, None)?;
    child.wait_ready()?;
    requests::seize(child.pid).map_err(system("tracing the child (ptrace)"))?;
    requests::interrupt(child.pid).map_err(system("stopping the child (ptrace)"))?;
    let limits = Limits::start(command.timeout, options.stop.clone());
    let start = now();
    let mut run = Run::new(child.pid, start, options);
    run.name_descriptors(&options.labels);
    run.name_maps(command.name_maps.clone());
    let cpus = allowed_cpus();
    let busy_from = busy_ns(&cpus);
    child.release()?;

    let done = AtomicBool::new(false);
    let pidfd = child
        .pidfd
        .try_clone()
        .map_err(system("copying a descriptor"))?;
    let (pid, own_group) = (child.pid, child.own_group);
    let (outcome, cut_short) = std::thread::scope(|scope| {
        let watch = scope.spawn(|| {
            while !done.load(Ordering::Acquire) && !ended(&pidfd, Duration::from_millis(10)) {
                if limits.reached() {
                    spawn::kill_by_pidfd(&pidfd);
                    if own_group {
                        // SAFETY: the group's id stays in use while its leader is not reaped.
                        unsafe { libc::kill(-(pid as i32), libc::SIGKILL) };
                    }
                    return true;
                }
            }
            false
        });
        let outcome = run.handle_stops(&mut child);
        done.store(true, Ordering::Release);
        (outcome, watch.join().unwrap_or(false))
    });
    let busy_cpus_ns = busy_from.and_then(|from| busy_ns(&cpus)?.checked_sub(from));
    let (status, usage, end) = outcome?;
    child.wait_exec()?;
    let held_ns = run.held();
    Ok(Trace {
        tier: Some(Tier::Ptrace),
        duration_ns: end - start,
        started_clock_ns: start,
        exec_called_clock_ns: child.exec_called(),
        held_ns,
        busy_cpus_ns,
        end: crate::accounts::end(status, cut_short),
        accounts: crate::accounts::accounts(&usage),
        ..run.trace(end)
    })
}
