//! How is a command run under the in-kernel tier?

use std::time::Duration;

use super::harvest::Harvest;
use super::session::Session;
use crate::collect::Collector;
use crate::command::{TraceCommand, TraceOptions};
use crate::error::{TraceError, system};
use crate::inherited;
use crate::kernel::layout::lost;
use crate::records::Alive;
use crate::result::{Losses, Tier, Trace};
use crate::spawn::{self, Held};
use crate::watch::{Limits, ended, now};

/// Distance of looks at the ring: 4 MiB hold what comes in 10 ms many times over.
const LOOK: Duration = Duration::from_millis(10);

/// Runs the command and tells what the kernel saw.
pub(crate) fn observe(command: &TraceCommand, options: &TraceOptions) -> Result<Trace, TraceError> {
    let mut session = Session::arm(options)?;
    let mut child = spawn::hold(command, Some(session.follow()))?;
    child.wait_ready()?;
    let limits = Limits::start(command.timeout, options.stop.clone());
    let start = now();
    let most = options.timeline.map(|t| t.most);
    let mut collector = Collector::new(start, child.pid, most);
    inherited::name_descriptors(
        &mut collector.names,
        child.pid,
        options.stdout_name.as_deref(),
    );
    child.release()?;

    let mut harvest = Harvest::default();
    let mut cut_short = false;
    while !ended(&child.pidfd, limits.shorten(LOOK)) {
        session.ring.drain(|record| collector.record(record));
        harvest.take_ended(&session, &mut collector.ended)?;
        if limits.reached() {
            cut_short = true;
            kill_tree(&session, &child);
            while !ended(&child.pidfd, LOOK) {
                session.ring.drain(|record| collector.record(record));
            }
            break;
        }
    }
    let end = now();
    let alive = alive(&session)?;
    session.ring.drain(|record| collector.record(record));
    end_survivors(&session, child.pid)?;
    session.disarm();
    child.wait_exec()?;
    let start = collector.start();
    let trace = finish(&session, collector, harvest, &alive, end)?;
    let (status, usage) = child.reap()?;
    Ok(Trace {
        tier: Some(Tier::Kernel),
        duration_ns: end - start,
        started_clock_ns: start,
        exec_called_clock_ns: child.exec_called(),
        end: crate::accounts::end(status, cut_short),
        accounts: crate::accounts::accounts(&usage),
        ..trace
    })
}

fn finish(
    session: &Session,
    mut collector: Collector,
    mut harvest: Harvest,
    alive: &[Alive],
    end: u64,
) -> Result<Trace, TraceError> {
    harvest.take_all(session)?;
    collector.end(harvest.calls, harvest.off_cpu, alive, end);
    let mut trace = collector.trace();
    let kernel = losses(session)?;
    trace.lost = Losses {
        names: trace.lost.names,
        intervals: trace.lost.intervals,
        ..kernel
    };
    Ok(trace)
}

fn losses(session: &Session) -> Result<Losses, TraceError> {
    let count = |which: i32| -> Result<u64, TraceError> {
        let value = session.maps.lost.get(&which.to_ne_bytes());
        let value = value.map_err(system("reading the table of losses"))?;
        let bytes = value.and_then(|v| v.try_into().ok());
        Ok(bytes.map_or(0, u64::from_ne_bytes))
    };
    Ok(Losses {
        calls: count(lost::CALLS)?,
        off_cpu: count(lost::OFF_CPU)?,
        records: count(lost::RECORDS)?,
        threads: count(lost::THREADS)?,
        ..Losses::default()
    })
}

fn alive(session: &Session) -> Result<Vec<Alive>, TraceError> {
    let entries = session.maps.tasks.entries();
    let entries = entries.map_err(system("reading the table of threads"))?;
    Ok(entries
        .iter()
        .filter_map(|(_, v)| Alive::decode(v))
        .collect())
}

/// Kills what outlived the command until there is none: one that was just being killed may have made
/// another meanwhile.
fn end_survivors(session: &Session, root: u32) -> Result<(), TraceError> {
    // As long as the kernel takes to end processes, but not for ever: some may not be killed by us.
    const ROUNDS: u32 = 500;
    for _ in 0..ROUNDS {
        let mut left = alive(session)?;
        left.retain(|one| one.call.who.pid != root);
        if left.is_empty() {
            break;
        }
        kill_survivors(&left, root);
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    Ok(())
}

fn kill_tree(session: &Session, child: &Held) {
    child.kill();
    if let Ok(alive) = alive(session) {
        kill_survivors(&alive, child.pid);
    }
}

/// Kills what left the command's process group. A thread leaves the table as it exits, so that
/// these numbers are theirs, except within the microseconds since the table was read.
fn kill_survivors(alive: &[Alive], root: u32) {
    for survivor in alive {
        let pid = survivor.call.who.pid;
        // In another pid namespace the kernel's numbers are not ours: then the root is not there.
        if pid != root && in_our_namespace(pid) {
            // SAFETY: sends a signal to a process of the traced tree.
            unsafe { libc::kill(pid as i32, libc::SIGKILL) };
        }
    }
}

fn in_our_namespace(pid: u32) -> bool {
    // Without a nested namespace the list that the kernel shows has a single number.
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|l| l.starts_with("NSpid:"));
    line.is_some_and(|l| l.split_whitespace().count() == 2)
        && std::path::Path::new(&format!("/proc/{pid}")).exists()
}
