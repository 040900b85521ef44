//! What can be delayed: calls of a class, or threads.

use fathom_measure::ThreadName;
use fathom_model::{Finding, FindingId};
use fathom_trace::{Cause, DescriptorKind, SyscallRow, Thread, Tier, Trace};

use super::{PREFIX, THREAD};

/// A class of calls that have a similar purpose.
pub(crate) struct Class {
    /// The name that `--try` accepts.
    pub name: &'static str,
    /// The calls. None of them waits for another process or thread of the command: a delay before such a wait
    /// would be absorbed by the wait.
    pub calls: &'static [&'static str],
    /// The findings that are about these calls.
    findings: &'static [FindingId],
}

pub(crate) static CLASSES: &[Class] = &[
    Class {
        name: "writes",
        calls: &["write", "writev", "pwrite64", "pwritev", "pwritev2"],
        findings: &[
            FindingId::UnbufferedOutput,
            FindingId::LineBufferedOutput,
            FindingId::SmallFileIo,
            FindingId::SyncWrites,
            FindingId::Rewriting,
            FindingId::WaitingForNetwork,
            FindingId::DelayedAckStall,
            FindingId::WakeupStorm,
        ],
    },
    Class {
        name: "reads",
        calls: &[
            "read",
            "readv",
            "pread64",
            "preadv",
            "preadv2",
            "getdents64",
        ],
        findings: &[
            FindingId::UnbufferedInput,
            FindingId::SmallFileIo,
            FindingId::Rereading,
            FindingId::ColdFiles,
            FindingId::WaitingForDisk,
        ],
    },
    Class {
        name: "files",
        calls: &[
            "open",
            "openat",
            "openat2",
            "stat",
            "lstat",
            "newfstatat",
            "statx",
            "access",
            "faccessat",
            "faccessat2",
            "readlink",
            "readlinkat",
            "unlink",
            "unlinkat",
            "rename",
            "renameat",
            "renameat2",
            "mkdir",
            "mkdirat",
        ],
        findings: &[
            FindingId::MissingFileLookups,
            FindingId::SmallFileIo,
            FindingId::Rereading,
            FindingId::DynamicLinking,
        ],
    },
    Class {
        name: "syncs",
        calls: &[
            "fsync",
            "fdatasync",
            "sync_file_range",
            "msync",
            "syncfs",
            "sync",
        ],
        findings: &[FindingId::SyncWrites, FindingId::WaitingForDisk],
    },
    Class {
        name: "sleeps",
        calls: &[
            "nanosleep",
            "clock_nanosleep",
            "select",
            "pselect6",
            "poll",
            "ppoll",
            "epoll_wait",
            "epoll_pwait",
        ],
        findings: &[FindingId::Sleeping],
    },
    Class {
        name: "programs",
        calls: &["execve", "execveat"],
        findings: &[FindingId::ProcessSpawning, FindingId::WaitingForChild],
    },
    Class {
        name: "processes",
        calls: &["fork", "vfork", "clone", "clone3"],
        findings: &[FindingId::ProcessSpawning],
    },
    Class {
        name: "threads",
        calls: &["clone", "clone3"],
        findings: &[FindingId::ThreadSpawning],
    },
    Class {
        name: "sends",
        calls: &["sendto", "sendmsg", "sendmmsg"],
        findings: &[
            FindingId::WaitingForNetwork,
            FindingId::DelayedAckStall,
            FindingId::WakeupStorm,
        ],
    },
    Class {
        name: "wakes",
        calls: &["futex"],
        findings: &[FindingId::LockContention, FindingId::WakeupStorm],
    },
    Class {
        name: "unlocks",
        calls: &["flock", "fcntl"],
        findings: &[FindingId::LockContention],
    },
    Class {
        name: "memory",
        calls: &["mmap", "munmap", "brk", "madvise", "mremap", "mprotect"],
        findings: &[FindingId::AllocatorChurn],
    },
    Class {
        name: "clocks",
        calls: &["clock_gettime", "gettimeofday", "time"],
        findings: &[FindingId::ClockCalls],
    },
];

/// The part of a command that is delayed.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Delayed {
    /// System calls.
    Calls {
        /// The numbers of the system calls.
        numbers: Vec<u32>,
        /// How often they are made; `None` if that isn't known.
        calls: Option<u64>,
    },
    /// Threads, and their total running time in seconds.
    Threads(ThreadName, f64),
}

impl Delayed {
    /// Returns what is delayed, given the name that `--try` accepts, without its prefix: a class, a call or a
    /// thread.
    pub(crate) fn named(name: &str, trace: &Trace) -> Result<Delayed, String> {
        if let Some(thread) = name.strip_prefix(THREAD) {
            let meant = trace.threads.iter().find(|one| one.name == thread);
            let place = thread.parse().ok();
            let meant = meant.or_else(|| {
                let pid = trace.processes.first()?.pid;
                in_order(trace, pid).get::<usize>(place?).copied()
            });
            return match meant {
                Some(one) => threads(one, place.is_some(), trace),
                None => Err(format!("it has no thread {thread:?}")),
            };
        }
        match CLASSES.iter().find(|class| class.name == name) {
            Some(class) => calls(class.calls, trace),
            None => calls(&[name], trace),
        }
    }
}

/// Returns what is delayed for a finding, with the name that `--try` accepts for it: the calls that the
/// finding is about, or otherwise the thread.
pub(crate) fn of_finding(finding: &Finding, trace: &Trace) -> Result<(String, Delayed), String> {
    match finding.id {
        FindingId::WaitingForInput => {
            return Err("the cause is in the program that writes the input".to_owned());
        }
        FindingId::WaitingForOutput => {
            return Err("the cause is in the program that reads the output".to_owned());
        }
        // The CPU is taken by other processes, not by one thread of the command.
        FindingId::CpuStarved => {
            return Err(
                "its threads take the CPU from each other, or other programs do".to_owned(),
            );
        }
        // A thread that only polls may be stopped without any loss, although it takes a CPU.
        FindingId::BusyPolling if finding.could_win_ns < finding.could_win_cpu_ns / 2 => {
            return Err("the loop costs CPU time, not the command's time".to_owned());
        }
        _ if finding.could_win_ns == 0 => {
            return Err("the finding costs no wall time".to_owned());
        }
        _ => (),
    }
    if let Some(found) = calls_of_finding(finding, trace) {
        return Ok(found);
    }
    // Stopping a thread that is waiting doesn't delay it.
    let waits = [
        FindingId::Sleeping,
        FindingId::SyncWrites,
        FindingId::WaitingForDisk,
        FindingId::WaitingForNetwork,
        FindingId::DelayedAckStall,
        FindingId::WaitingForChild,
    ];
    if waits.contains(&finding.id) {
        return Err("a delay in its calls would be hidden in the wait".to_owned());
    }
    let of_place = |one: &&Thread| {
        let place = &finding.place;
        place
            .tid
            .map_or(place.pid.is_none_or(|pid| pid == one.pid), |tid| {
                tid == one.tid
            })
    };
    let all = trace.threads.iter().filter(of_place);
    let busiest = all
        .max_by_key(|one| one.on_cpu_ns)
        .ok_or("none of its threads could be identified")?;
    let place = in_order(trace, busiest.pid)
        .iter()
        .position(|one| one.tid == busiest.tid);
    let by_place = place.is_some_and(|place| place < MOST_PLACES);
    let name = match (place, by_place) {
        (Some(place), true) => place.to_string(),
        _ => busiest.name.clone(),
    };
    Ok((
        format!("{PREFIX}{THREAD}{name}"),
        threads(busiest, by_place, trace)?,
    ))
}

fn calls_of_finding(finding: &Finding, trace: &Trace) -> Option<(String, Delayed)> {
    if finding.id == FindingId::KernelBound {
        let rows = trace.syscalls.iter().filter(|row| is_native(row.number));
        let longest =
            rows.max_by_key(|row| row.total_ns - row.blocked_ns.unwrap_or(0).min(row.total_ns))?;
        let delayed = calls(&[&longest.name], trace).ok()?;
        return Some((format!("{PREFIX}{}", longest.name), delayed));
    }
    let about = CLASSES
        .iter()
        .filter(|class| class.findings.contains(&finding.id));
    let about = about.filter(|class| is_used_for(class, finding.id, trace));
    let known = about.filter_map(|class| Some((class, calls(class.calls, trace).ok()?)));
    // If there are several, choose the one that takes the longest.
    let time = |class: &Class| -> u64 {
        let rows = trace
            .syscalls
            .iter()
            .filter(|row| class.calls.contains(&&*row.name));
        let own = |row: &SyscallRow| match &*row.name {
            // Its waits aren't delayed.
            "futex" => row.total_ns - row.blocked_ns.unwrap_or(0).min(row.total_ns),
            _ => row.total_ns,
        };
        rows.map(own).sum()
    };
    let (class, delayed) = known.max_by_key(|(class, _)| time(class))?;
    Some((format!("{PREFIX}{}", class.name), delayed))
}

/// The minimum share of the writes that go to sockets or pipes if a finding is about these.
const MOST_WRITES: f64 = 0.9;

/// Reports whether the calls of a class are what a finding is about: writes may also go to files.
fn is_used_for(class: &Class, finding: FindingId, trace: &Trace) -> bool {
    let meant: fn(&DescriptorKind) -> bool = match finding {
        FindingId::WaitingForNetwork | FindingId::DelayedAckStall => {
            |kind| matches!(kind, DescriptorKind::Socket(_))
        }
        FindingId::WakeupStorm => |kind| kind.path().is_none(),
        _ => return true,
    };
    if class.name != "writes" {
        return true;
    }
    let rows = trace.syscalls.iter();
    let rows: Vec<&SyscallRow> = rows
        .filter(|row| class.calls.contains(&&*row.name))
        .collect();
    let is_meant = |row: &&&SyscallRow| {
        let mut known = trace.descriptors.iter();
        let known = known.find(|one| one.pid == row.pid && Some(one.fd) == row.fd);
        known.is_some_and(|one| one.names.iter().any(meant))
    };
    let count =
        |rows: &mut dyn Iterator<Item = &&SyscallRow>| -> u64 { rows.map(|row| row.calls).sum() };
    let all = count(&mut rows.iter());
    count(&mut rows.iter().filter(is_meant)) as f64 >= MOST_WRITES * all as f64
}

/// The maximum number of threads of a process that can be named by position; the others can only be named by
/// name.
pub(super) const MOST_PLACES: usize = 64;

/// Reports whether the number is that of a call of the kernel's native entry.
fn is_native(number: u32) -> bool {
    number < 65_536
}

fn calls(names: &[&str], trace: &Trace) -> Result<Delayed, String> {
    let rows = trace
        .syscalls
        .iter()
        .filter(|row| names.contains(&&*row.name) && is_native(row.number));
    let mut numbers = Vec::new();
    let mut calls = 0;
    for row in rows {
        let delayed = delayed_of(row, trace);
        if delayed == 0 {
            continue;
        }
        calls += delayed;
        if !numbers.contains(&row.number) {
            numbers.push(row.number);
        }
    }
    let counted = matches!(trace.tier, Some(Tier::Kernel | Tier::Ptrace)) && !trace.calls_cut;
    match calls {
        0 => Err(format!("no call of {} was seen", names.join(", "))),
        calls => Ok(Delayed::Calls {
            numbers,
            calls: counted.then_some(calls),
        }),
    }
}

/// Returns the number of calls of a row that a delay applies to.
fn delayed_of(row: &SyscallRow, trace: &Trace) -> u64 {
    match &*row.name {
        // Those that neither failed nor slept woke another thread.
        "futex" => {
            let waits = trace.off_cpu.iter().filter(|wait| {
                wait.tid == row.tid
                    && wait.call.as_deref() == Some("futex")
                    && wait.cause == Cause::Asleep
            });
            let slept: u64 = waits.map(|wait| wait.count).sum();
            row.calls.saturating_sub(row.errors + slept)
        }
        // One for each lock.
        "flock" => row.calls / 2,
        // Waits that mostly end because of their time limit are pauses.
        "epoll_wait" | "epoll_pwait" => match row.polls {
            Some(polls) if 2 * polls.by_limit_ns >= polls.total_ns => polls.by_limit,
            _ => 0,
        },
        _ => row.calls + row.unfinished,
    }
}

pub(super) fn in_order(trace: &Trace, pid: u32) -> Vec<&Thread> {
    let mut all: Vec<&Thread> = trace.threads.iter().filter(|one| one.pid == pid).collect();
    all.sort_by_key(|one| (one.started_ns, one.tid));
    all
}

/// The minimum running time of a thread, in nanoseconds: a thread that runs less isn't seen often enough to
/// be stopped.
pub(super) const LEAST_RUN_NS: u64 = 20_000_000;

fn threads(one: &Thread, by_place: bool, trace: &Trace) -> Result<Delayed, String> {
    let place = in_order(trace, one.pid)
        .iter()
        .position(|other| other.tid == one.tid);
    let first = trace
        .threads
        .iter()
        .find(|other| other.tid == one.pid)
        .unwrap_or(one);
    let meant = |other: &&Thread| match by_place {
        true => other.tid == one.tid,
        false => other.name == one.name,
    };
    let run: u64 = trace
        .threads
        .iter()
        .filter(meant)
        .filter_map(|one| one.on_cpu_ns)
        .sum();
    if run < LEAST_RUN_NS {
        return Err("its thread runs too briefly to be stopped from outside".to_owned());
    }
    let name = ThreadName {
        process: first.name.clone(),
        place: place.filter(|_| by_place),
        name: one.name.clone(),
    };
    Ok(Delayed::Threads(name, run as f64 / 1e9))
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_trace::SyscallRow;

    fn trace() -> Trace {
        let thread = |tid, name: &str, run| Thread {
            pid: 1,
            tid,
            name: name.to_owned(),
            started_ns: u64::from(tid),
            on_cpu_ns: Some(run),
            ..Thread::default()
        };
        let row = |name: &str, number, calls| SyscallRow {
            pid: 1,
            name: name.to_owned(),
            number,
            calls,
            ..SyscallRow::default()
        };
        Trace {
            tier: Some(Tier::Kernel),
            processes: vec![fathom_trace::Process {
                pid: 1,
                ..fathom_trace::Process::default()
            }],
            threads: vec![
                thread(2, "worker", 50_000_000),
                thread(1, "main", 90_000_000),
                thread(3, "idle", 5),
            ],
            syscalls: vec![
                row("write", 1, 7),
                row("writev", 20, 2),
                row("write", 65_540, 9),
            ],
            ..Trace::default()
        }
    }

    #[test]
    fn calls_are_known_by_their_class_or_their_name() {
        let calls = |name| Delayed::named(name, &trace());
        let of = |numbers: &[u32], calls| Delayed::Calls {
            numbers: numbers.to_vec(),
            calls: Some(calls),
        };
        assert_eq!(calls("writes").unwrap(), of(&[1, 20], 9));
        assert_eq!(calls("writev").unwrap(), of(&[20], 2));
        assert!(calls("reads").unwrap_err().contains("read, readv"));
        assert!(calls("frobnicate").is_err());
    }

    #[test]
    fn threads_are_known_by_their_place_or_their_name() {
        let name = |name| match Delayed::named(name, &trace()) {
            Ok(Delayed::Threads(name, run)) => (name.process, name.place, name.name, run),
            other => panic!("{other:?}"),
        };
        assert_eq!(
            name("thread:0"),
            ("main".to_owned(), Some(0), "main".to_owned(), 0.09)
        );
        assert_eq!(
            name("thread:worker"),
            ("main".to_owned(), None, "worker".to_owned(), 0.05)
        );
        assert!(Delayed::named("thread:idle", &trace()).is_err());
        assert!(Delayed::named("thread:7", &trace()).is_err());
    }
}
