//! The kernel's counts for each thread, at the beginning and at the end.
//!
//! The counts cover a thread's whole life; their difference covers the observed time.

use std::collections::HashMap;
use std::fs;

use crate::result::{Accounts, Thread, Tier, Trace};
use crate::sample::parse::{self, Doing};

/// The state of one thread at one time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Reading {
    /// Its name.
    pub name: String,
    /// Its state, as the kernel's letter.
    pub state: u8,
    /// The system call that it is in.
    pub doing: Option<Doing>,
    /// CPU time, ns; the next field is the time in the run queue.
    pub on_cpu: u64,
    pub ready: u64,
    /// Number of times it was scheduled on a CPU.
    pub turns: u64,
    /// Numbers of minor and major page faults.
    pub faults: (u64, u64),
    /// Numbers of voluntary and involuntary switches.
    pub switches: (u64, u64),
}

/// Reads the kernel's data on a thread; `None` if it has ended or access is denied.
pub(crate) fn read_thread(pid: u32, tid: u32) -> Option<Reading> {
    let read = |name: &str| fs::read(format!("/proc/{pid}/task/{tid}/{name}")).ok();
    let status = read("status")?;
    let schedstat = read("schedstat").unwrap_or_default();
    let doing = read("syscall").and_then(|text| parse::doing(&text));
    let stat = parse::stat(&read("stat")?)?;
    // A running thread has returned from its call.
    let doing = doing.filter(|_| stat.state != b'R');
    let (on_cpu, ready) = parse::schedstat(&schedstat).unwrap_or_default();
    Some(Reading {
        name: stat.name.clone(),
        state: stat.state,
        doing,
        on_cpu,
        ready,
        turns: parse::turns(&schedstat).unwrap_or(0),
        faults: stat.faults,
        switches: switches(&String::from_utf8_lossy(&status)),
    })
}

/// Parses voluntary and involuntary switches from `status`.
fn switches(status: &str) -> (u64, u64) {
    let of = |word| parse::status_number(status, word).unwrap_or(0);
    (
        of("voluntary_ctxt_switches:"),
        of("nonvoluntary_ctxt_switches:"),
    )
}

/// CPU time of a process in kernel ticks, in user code and in the kernel, including ended threads and
/// children that it has waited for. Only the proportion of the two is used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Ticks {
    user: u64,
    system: u64,
}

impl Ticks {
    fn of(pid: u32) -> Option<Self> {
        let text = fs::read(format!("/proc/{pid}/stat")).ok()?;
        let rest = parse::behind_name(&text)?;
        // Fields 14 to 17 of the line: utime, stime, cutime, cstime.
        let mut words = rest.split(' ').skip(11).map(str::parse::<u64>);
        let mut next = || words.next()?.ok();
        let (user, system) = (next()?, next()?);
        Some(Self {
            user: user + next()?,
            system: system + next()?,
        })
    }
}

/// All threads of a tree at one time.
#[derive(Debug, Default)]
pub(crate) struct Readings {
    threads: HashMap<u32, Reading>,
    ticks: HashMap<u32, Ticks>,
}

impl Readings {
    /// Reads the current state of these threads, given by process id and thread id.
    pub(crate) fn of(threads: impl Iterator<Item = (u32, u32)>) -> Self {
        let mut all = Self::default();
        for (pid, tid) in threads {
            if let Some(reading) = read_thread(pid, tid) {
                all.add(pid, tid, reading);
            }
        }
        all
    }

    /// Adds one reading.
    pub(crate) fn add(&mut self, pid: u32, tid: u32, reading: Reading) {
        self.threads.insert(tid, reading);
        if !self.ticks.contains_key(&pid) {
            self.ticks.extend(Ticks::of(pid).map(|ticks| (pid, ticks)));
        }
    }

    /// Returns the reading of this thread, if there is one.
    pub(crate) fn get(&self, tid: u32) -> Option<&Reading> {
        self.threads.get(&tid)
    }
}

/// Reduces the counts, which cover whole lives, to the observed time, and adds what is known of threads that
/// continue.
pub(super) fn complete(trace: &mut Trace, before: &Readings, after: &Readings) {
    let by_counts = trace.tier == Some(Tier::Sample);
    let mut cpu_ns = 0;
    for thread in &mut trace.threads {
        let (begun, now) = (before.get(thread.tid), after.get(thread.tid));
        let charged = of_thread(thread, begun, now);
        if by_counts {
            // For a thread that ended, the last reading covers its whole life.
            let begun = begun.filter(|_| thread.ended_ns.is_some());
            let charged = charged.saturating_sub(begun.map_or(0, |one| one.on_cpu));
            thread.on_cpu_ns = Some(charged);
        }
        cpu_ns += thread.on_cpu_ns.filter(|_| by_counts).unwrap_or(charged);
    }
    let peak = |pid: &u32| {
        let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
        let kibibytes: u64 = parse::status_number(&status, "VmHWM:")?;
        Some(kibibytes * 1024)
    };
    let (mut user, mut system) = (0, 0);
    for (pid, ticks) in &after.ticks {
        let begun = before.ticks.get(pid).copied().unwrap_or_default();
        user += ticks.user.saturating_sub(begun.user);
        system += ticks.system.saturating_sub(begun.system);
    }
    let of_user = match user + system {
        0 => 0.5,
        all => user as f64 / all as f64,
    };
    let user_ns = (cpu_ns as f64 * of_user) as u64;
    let sum = |of: fn(&Thread) -> Option<u64>| trace.threads.iter().filter_map(of).sum();
    trace.accounts = Accounts {
        user_ns,
        system_ns: cpu_ns - user_ns,
        peak_memory_bytes: after.ticks.keys().filter_map(peak).max().unwrap_or(0),
        minor_faults: sum(|one| one.minor_faults),
        major_faults: sum(|one| one.major_faults),
        voluntary_switches: sum(|one| one.voluntary_switches),
        involuntary_switches: sum(|one| one.involuntary_switches),
    };
}

/// Completes a thread. Returns its CPU time by the scheduler's count in ns, if that was read.
fn of_thread(thread: &mut Thread, before: Option<&Reading>, after: Option<&Reading>) -> u64 {
    let none = Reading::default();
    let begun = before.unwrap_or(&none);
    let since = |count: &mut Option<u64>, begun: u64| {
        *count = count.map(|all| all.saturating_sub(begun));
    };
    let Some(after) = after.filter(|_| thread.ended_ns.is_none()) else {
        since(&mut thread.ready_ns, begun.ready);
        since(&mut thread.minor_faults, begun.faults.0);
        since(&mut thread.major_faults, begun.faults.1);
        since(&mut thread.voluntary_switches, begun.switches.0);
        since(&mut thread.involuntary_switches, begun.switches.1);
        return thread.on_cpu_ns.unwrap_or(0);
    };
    thread.name.clone_from(&after.name);
    thread.ready_ns = Some(after.ready.saturating_sub(begun.ready));
    thread.minor_faults = Some(after.faults.0.saturating_sub(begun.faults.0));
    thread.major_faults = Some(after.faults.1.saturating_sub(begun.faults.1));
    thread.voluntary_switches = Some(after.switches.0.saturating_sub(begun.switches.0));
    thread.involuntary_switches = Some(after.switches.1.saturating_sub(begun.switches.1));
    after.on_cpu.saturating_sub(begun.on_cpu)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_thread_had_before_is_no_part_of_what_was_observed() {
        let reading = |on_cpu, ready, switches| Reading {
            name: "worker".to_owned(),
            on_cpu,
            ready,
            faults: (on_cpu, 0),
            switches: (switches, 0),
            ..Reading::default()
        };
        let (before, after) = (reading(900, 50, 10), reading(1_400, 70, 17));
        let mut goes_on = Thread::default();
        assert_eq!(of_thread(&mut goes_on, Some(&before), Some(&after)), 500);
        let counts = (goes_on.ready_ns, goes_on.minor_faults);
        assert_eq!(counts, (Some(20), Some(500)));
        assert_eq!(goes_on.voluntary_switches, Some(7));
        assert_eq!(goes_on.name, "worker");
        // For a thread that ended, its records contain the counts of its whole life.
        let mut ended = Thread {
            ended_ns: Some(1),
            on_cpu_ns: Some(300),
            ready_ns: Some(80),
            voluntary_switches: Some(12),
            ..Thread::default()
        };
        assert_eq!(of_thread(&mut ended, Some(&before), None), 300);
        assert_eq!(
            (ended.ready_ns, ended.voluntary_switches),
            (Some(30), Some(2))
        );
    }

    #[test]
    fn own_counts_can_be_read() {
        let own = std::process::id();
        // SAFETY: gettid only returns this thread's id.
        let tid = unsafe { libc::gettid() } as u32;
        let reading = read_thread(own, tid).expect("it runs");
        assert_eq!((reading.state, reading.doing), (b'R', None));
        assert!(Ticks::of(own).is_some());
    }
}
