//! How is a command run under the sampling tier?

use std::time::Duration;

use super::tree::Tree;
use crate::command::{TraceCommand, TraceOptions};
use crate::error::TraceError;
use crate::result::{Sampling, Tier, Trace};
use crate::spawn;
use crate::watch::{Limits, ended, now};

/// What a run without calls can't see; a second run under stops tells some of it.
pub(crate) const NO_CALLS: &str =
    "numbers of calls, their bytes and errors: only shares of time are seen";

/// Rounds between looks for new threads and processes: listing costs 20 us a process.
const ROUNDS_PER_LISTING: u64 = 4;

/// Runs the command and tells what the samples saw.
pub(crate) fn observe(command: &TraceCommand, options: &TraceOptions) -> Result<Trace, TraceError> {
    let mut child = spawn::hold(command, None)?;
    child.wait_ready()?;
    let limits = Limits::start(command.timeout, options.stop.clone());
    let _slack = Slack::least();
    let start = now();
    let mut tree = Tree::new(child.pid, start);
    let period = options.sample_period.as_nanos().max(100_000) as u64;
    let mut sampling = Sampling {
        period_ns: period,
        ..Sampling::default()
    };
    child.release()?;

    let mut next = start + period;
    let mut cut_short = false;
    loop {
        let wait = Duration::from_nanos(next.saturating_sub(now()));
        if ended(&child.pidfd, limits.shorten(wait)) {
            break;
        }
        if limits.reached() && !cut_short {
            cut_short = true;
            child.kill();
            tree.survivors(child.pid).iter().for_each(kill);
        }
        let late = now().saturating_sub(next);
        sampling.late_ticks += u64::from(late > period / 2);
        sampling.worst_lateness_ns = sampling.worst_lateness_ns.max(late);
        tree.look(now);
        if sampling.ticks.is_multiple_of(ROUNDS_PER_LISTING) {
            tree.discover(now());
        }
        sampling.ticks += 1;
        // Rounds that were missed are not made up for: each look stands for the time it covers.
        next = (next + period).max(now());
    }
    let end = now();
    child.wait_exec()?;
    // Once more, so that what ended with the command is not taken for having outlived it.
    tree.look(now);
    tree.survivors(child.pid).iter().for_each(kill);
    let mut trace = Trace {
        tier: Some(Tier::Sample),
        duration_ns: end - start,
        started_clock_ns: start,
        exec_called_clock_ns: child.exec_called(),
        sampling: Some(sampling),
        not_visible: vec![
            NO_CALLS.to_owned(),
            "processes that live for less than a few milliseconds".to_owned(),
            "whether a thread that could run did run: take CPU time from the accounts".to_owned(),
        ],
        ..Trace::default()
    };
    tree.finish(child.pid, end, &mut trace);
    let (status, usage) = child.reap()?;
    trace.end = crate::accounts::end(status, cut_short);
    trace.accounts = crate::accounts::accounts(&usage);
    if let Some(root) = trace.processes.first_mut() {
        root.end = Some(trace.end);
        root.ended_ns = Some(trace.duration_ns);
    }
    Ok(trace)
}

fn kill(pid: &u32) {
    // SAFETY: sends a signal to a process of the sampled tree, alive when last looked at.
    unsafe { libc::kill(*pid as i32, libc::SIGKILL) };
}

/// Timer slack of this thread while sampling: the usual 50 us would be 5 % of a period.
struct Slack(libc::c_int);

impl Slack {
    fn least() -> Self {
        // SAFETY: reads and sets a number of this thread.
        unsafe {
            let before = libc::prctl(libc::PR_GET_TIMERSLACK);
            libc::prctl(libc::PR_SET_TIMERSLACK, 1);
            Self(before)
        }
    }
}

impl Drop for Slack {
    fn drop(&mut self) {
        // SAFETY: restores what was read above.
        unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, self.0.max(1)) };
    }
}
