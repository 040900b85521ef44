//! Stops threads from outside for a known fraction of the time that they run.
//!
//! A thread is stopped (`PTRACE_INTERRUPT`) only while it runs: a stop during a wait would be absorbed by the
//! wait. Fathom detaches right after each stop, so nothing holds the thread if Fathom ends.

use std::collections::HashMap;
use std::fs;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread::JoinHandle;
use std::time::Duration;

use super::ThreadName;
use crate::launcher::now_ns;
use crate::server::descendants;

/// The minimum time between two readings of the running times of the threads. The kernel updates them at its
/// ticks, every 1 to 10 ms. Reading takes CPU time that the threads may need, the more the less they are stopped:
/// so a reading waits until a stop may be due.
const LEAST_BETWEEN_LOOKS_NS: u64 = 500_000;
/// The number of readings after which the list of threads is refreshed.
const LOOKS: u32 = 4;
/// A thread is stopped each time it has run for this long. Until it runs again after a stop, some 50 µs pass that
/// aren't counted, so stops must not be too short.
const FOR_A_STOP_NS: u64 = 4_000_000;

/// Stops the threads of one run.
#[derive(Debug)]
pub(crate) struct Stopper {
    ends: Arc<AtomicBool>,
    thread: JoinHandle<u64>,
}

impl Stopper {
    /// Starts stopping threads of the next process that this launcher starts. `share` is in thousandths of
    /// their running time.
    pub(crate) fn start(launcher: i32, which: ThreadName, share: u32) -> std::io::Result<Stopper> {
        let ends = Arc::new(AtomicBool::new(false));
        let until = Arc::clone(&ends);
        let thread = std::thread::Builder::new()
            .name("fathom-stops".to_owned())
            .spawn(move || watch(launcher, &which, share, &until))?;
        Ok(Stopper { ends, thread })
    }

    /// Ends the stopping, and returns the total time that the threads were stopped, in nanoseconds.
    pub(crate) fn finish(self) -> u64 {
        self.ends.store(true, Relaxed);
        self.thread.join().unwrap_or_default()
    }
}

fn watch(launcher: i32, which: &ThreadName, share: u32, ends: &AtomicBool) -> u64 {
    // SAFETY: only sets the timer slack of this thread.
    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1) };
    let mut delayed_ns = 0;
    // The threads of each process in order of creation, including those that have ended.
    let mut made: HashMap<i32, Vec<i32>> = HashMap::new();
    let mut ran: HashMap<i32, u64> = HashMap::new();
    let mut threads = Vec::new();
    let mut looks = 0;
    while !ends.load(Relaxed) {
        if looks == 0 || threads.is_empty() {
            let below = descendants(launcher.unsigned_abs());
            threads = find(below, which, &mut made);
            looks = LOOKS;
        }
        looks -= 1;
        let mut until_next = match threads.is_empty() {
            true => 0,
            false => FOR_A_STOP_NS,
        };
        for &(pid, tid) in &threads {
            let Some(now) = ran_for(pid, tid) else {
                continue;
            };
            let before = ran.entry(tid).or_insert(0);
            let since = now.saturating_sub(*before);
            if since < FOR_A_STOP_NS || !runs(pid, tid) {
                until_next = until_next.min(FOR_A_STOP_NS.saturating_sub(since));
                continue;
            }
            let stop = since * u64::from(share) / 1_000;
            if let Some(stopped) = stop_for(tid, Duration::from_nanos(stop)) {
                *before = now;
                if share > 0 {
                    delayed_ns += stopped;
                }
            }
        }
        let until_next = until_next.max(LEAST_BETWEEN_LOOKS_NS);
        std::thread::sleep(Duration::from_nanos(until_next));
    }
    delayed_ns
}

/// Returns the threads of the processes that `which` names, each with its process.
fn find(
    processes: Vec<u32>,
    which: &ThreadName,
    made: &mut HashMap<i32, Vec<i32>>,
) -> Vec<(i32, i32)> {
    let mut found = Vec::new();
    for pid in processes {
        let pid = pid.cast_signed();
        let mut there = threads_of(pid);
        there.sort_unstable();
        if name_of(pid, pid).as_deref() != Some(&which.process) {
            continue;
        }
        let known = made.entry(pid).or_default();
        for tid in &there {
            if !known.contains(tid) {
                known.push(*tid);
            }
        }
        match which.place {
            Some(place) => found.extend(known.get(place).map(|tid| (pid, *tid))),
            None => {
                let meant = |tid: &i32| name_of(pid, *tid).as_deref() == Some(&which.name);
                found.extend(there.into_iter().filter(meant).map(|tid| (pid, tid)));
            }
        }
    }
    found
}

fn threads_of(pid: i32) -> Vec<i32> {
    let entries = fs::read_dir(format!("/proc/{pid}/task"));
    let entries = entries.into_iter().flatten().flatten();
    entries
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .collect()
}

fn name_of(pid: i32, tid: i32) -> Option<String> {
    let name = fs::read_to_string(format!("/proc/{pid}/task/{tid}/comm")).ok()?;
    Some(name.trim_end_matches('\n').to_owned())
}

/// Returns the thread's time on a CPU, in ns.
fn ran_for(pid: i32, tid: i32) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/{pid}/task/{tid}/schedstat")).ok()?;
    text.split_ascii_whitespace().next()?.parse().ok()
}

/// Returns whether a thread is running or ready to run.
fn runs(pid: i32, tid: i32) -> bool {
    let text = fs::read_to_string(format!("/proc/{pid}/task/{tid}/stat")).unwrap_or_default();
    // A name may contain any character, including `)`.
    let behind = text.rsplit_once(')').map_or("", |(_, behind)| behind);
    behind.trim_start().starts_with('R')
}

/// Reports whether Fathom may stop threads of the programs that it starts.
pub fn can_stop_threads() -> bool {
    // It ends when its input does, even if Fathom is killed.
    let child = Command::new("cat").stdin(Stdio::piped()).spawn();
    let Ok(mut child) = child else {
        return false;
    };
    let stopped = stop_for(child.id().cast_signed(), Duration::ZERO);
    let _ = child.kill();
    let _ = child.wait();
    stopped.is_some()
}

/// Stops a thread for `time`. Returns how long it was actually stopped, in ns, or `None` if it can't be
/// stopped.
fn stop_for(tid: i32, time: Duration) -> Option<u64> {
    let request = |what, data: usize| {
        // SAFETY: these requests take numbers and don't access our memory.
        unsafe { libc::ptrace(what, tid, 0usize, data) }
    };
    if request(libc::PTRACE_SEIZE, 0) != 0 {
        return None;
    }
    request(libc::PTRACE_INTERRUPT, 0);
    let mut status = 0;
    // SAFETY: `status` is live. The call waits only for the given thread, which the calling thread traces.
    let waited = unsafe { libc::waitpid(tid, &raw mut status, libc::__WALL) };
    if waited != tid || !libc::WIFSTOPPED(status) {
        return None;
    }
    let since = now_ns();
    if !time.is_zero() {
        std::thread::sleep(time);
    }
    let stopped = now_ns() - since;
    // If a signal stopped it first, pass the signal on.
    let signal = match status >> 16 {
        0 => libc::WSTOPSIG(status),
        _ => 0,
    };
    if request(libc::PTRACE_DETACH, signal as usize) != 0 {
        // The thread was killed in the meantime. Its parent is notified only after its tracer has reaped it.
        // SAFETY: as above.
        unsafe { libc::waitpid(tid, &raw mut status, libc::__WALL) };
    }
    Some(stopped)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_that_runs_is_stopped_and_goes_on() {
        let mut child = Command::new("sh")
            .args(["-c", "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done"])
            .spawn()
            .unwrap();
        let tid = child.id() as i32;
        let mut stopped = None;
        while stopped.is_none() && child.try_wait().unwrap().is_none() {
            stopped = stop_for(tid, Duration::from_millis(2));
        }
        if let Some(ns) = stopped {
            assert!(ns >= 2_000_000, "{ns}");
        }
        assert!(child.wait().unwrap().success());
    }

    #[test]
    fn a_thread_is_found_by_its_place_or_its_name() {
        let mut child = Command::new("sleep").arg("60").spawn().unwrap();
        let tid = child.id() as i32;
        // Until the child has executed the other program, it has the name of this one.
        while name_of(tid, tid).as_deref() != Some("sleep") {
            std::thread::yield_now();
        }
        let of = |place, name: &str| ThreadName {
            process: "sleep".to_owned(),
            place,
            name: name.to_owned(),
        };
        assert!(descendants(std::process::id()).contains(&child.id()));
        let found = |which: &ThreadName| {
            let mut made = HashMap::new();
            let mut all = find(vec![child.id()], which, &mut made);
            all.sort_unstable();
            all
        };
        assert_eq!(found(&of(Some(0), "")), [(tid, tid)]);
        assert_eq!(found(&of(None, "sleep")), [(tid, tid)]);
        assert!(found(&of(Some(1), "")).is_empty());
        assert!(found(&of(None, "other")).is_empty());
        child.kill().unwrap();
        child.wait().unwrap();
    }
}
