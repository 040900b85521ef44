//! Converts the kernel's data about a dead process to the numbers of a run.
//!
//! Fathom uses this to read answers. The launcher uses it because it writes runs to the record itself.

use crate::shared::{Answer, Text};

/// The measurements of a run. Times are nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Metrics {
    /// Time from before the process was created until its exit was seen.
    pub wall_ns: u64,
    /// Time from before the process was created until it called `execve`.
    pub spawn_ns: u64,
    /// Resource usage of the process and the children that it reaped.
    pub usage: Usage,
    /// Time that its main thread was ready to run but had no CPU.
    pub run_queue_wait_ns: Option<u64>,
    /// Time that the launcher was ready to see the exit but had no CPU.
    pub harness_wait_ns: Option<u64>,
    /// The wall time minus both waits, if that is exact.
    pub undisturbed_ns: Option<u64>,
    /// Bytes and calls with which the process read and wrote.
    pub io: Option<Io>,
}

/// `/proc/PID/io`, with its original field names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Io {
    /// Bytes returned by read calls.
    pub rchar: u64,
    /// Bytes accepted by write calls.
    pub wchar: u64,
    /// Number of read calls.
    pub syscr: u64,
    /// Number of write calls.
    pub syscw: u64,
    /// Bytes read from a device.
    pub read_bytes: u64,
    /// Bytes that will be written to a device.
    pub write_bytes: u64,
}

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exited {
    /// The process exited with this code.
    Code(i32),
    /// The process was ended by this signal.
    Signal(i32),
}

/// Returns the numbers of a run.
pub fn metrics(answer: &Answer) -> Metrics {
    let usage = usage(&answer.usage);
    let main_thread = text(&answer.schedstat).and_then(schedstat);
    let wall_ns = answer.end_ns.saturating_sub(answer.start_ns);
    let worked_ns = main_thread.map_or(0, |thread| thread.on_cpu_ns);
    let harness_wait_ns = harness_wait_ns(answer).filter(|wait| fits(*wait, worked_ns, wall_ns));
    Metrics {
        wall_ns,
        spawn_ns: answer.exec_ns.saturating_sub(answer.start_ns),
        usage,
        run_queue_wait_ns: main_thread.map(|thread| thread.wait_ns),
        harness_wait_ns,
        undisturbed_ns: undisturbed_ns(wall_ns, &usage, main_thread, harness_wait_ns),
        io: text(&answer.io).and_then(io),
    }
}

/// Returns how long the process had waited for a CPU before it called `execve`; 0 if not requested.
pub fn wait_before_exec_ns(answer: &Answer) -> u64 {
    let before = text(&answer.before_exec).and_then(schedstat);
    before.map_or(0, |before| before.wait_ns)
}

/// The time of one thread on a CPU and waiting for one. Source: `/proc/PID/schedstat`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Schedstat {
    /// Time on a CPU.
    pub on_cpu_ns: u64,
    /// Time ready to run, but without a CPU.
    pub wait_ns: u64,
    /// How often the thread was scheduled on a CPU.
    pub slices: u64,
}

/// Fields of `struct rusage` that Linux fills.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Usage {
    /// CPU time in user mode.
    pub user_ns: u64,
    /// CPU time in the kernel.
    pub system_ns: u64,
    /// Largest resident memory.
    pub peak_memory_bytes: u64,
    /// Page faults that needed no device.
    pub minor_faults: u64,
    /// Page faults that needed a device.
    pub major_faults: u64,
    /// Number of times that the process left the CPU to wait.
    pub voluntary_switches: u64,
    /// Number of times that the process was preempted.
    pub involuntary_switches: u64,
}

impl Usage {
    /// Returns the CPU time in ns.
    pub fn cpu_ns(&self) -> u64 {
        self.user_ns.saturating_add(self.system_ns)
    }
}

fn text<const N: usize>(text: &Text<N>) -> Option<&str> {
    let length = usize::try_from(text.length).ok().filter(|n| *n > 0)?;
    core::str::from_utf8(text.bytes.get(..length)?).ok()
}

/// Parses the text of a `schedstat` file; `None` for anything else.
pub fn schedstat(text: &str) -> Option<Schedstat> {
    let mut words = text.split_ascii_whitespace();
    let on_cpu_ns = words.next()?.parse().ok()?;
    let wait_ns = words.next()?.parse().ok()?;
    let slices = words.next()?.parse().ok()?;
    Some(Schedstat {
        on_cpu_ns,
        wait_ns,
        slices,
    })
}

fn io(text: &str) -> Option<Io> {
    let mut lines = text.lines();
    // The fields are in the kernel's order; an additional line at the end is ignored.
    let mut value = |name: &str| -> Option<u64> {
        lines
            .next()?
            .strip_prefix(name)?
            .strip_prefix(": ")?
            .parse()
            .ok()
    };
    Some(Io {
        rchar: value("rchar")?,
        wchar: value("wchar")?,
        syscr: value("syscr")?,
        syscw: value("syscw")?,
        read_bytes: value("read_bytes")?,
        write_bytes: value("write_bytes")?,
    })
}

fn usage(words: &[i64; 18]) -> Usage {
    let number = |at: usize| words[at] as u64;
    let time = |at: usize| {
        let seconds = number(at).saturating_mul(1_000_000_000);
        seconds.saturating_add(number(at + 1).saturating_mul(1_000))
    };
    Usage {
        user_ns: time(0),
        system_ns: time(2),
        peak_memory_bytes: number(4).saturating_mul(1024),
        minor_faults: number(8),
        major_faults: number(9),
        voluntary_switches: number(16),
        involuntary_switches: number(17),
    }
}

/// Returns the CPU on which a process last ran: the 39th field of its `/proc/PID/stat`; -1 if it is missing.
pub fn last_cpu(stat: &[u8]) -> i32 {
    // The second field, a name in parentheses, may contain anything.
    let Some(name_end) = stat.iter().rposition(|byte| *byte == b')') else {
        return -1;
    };
    let field = stat[name_end..].split(|byte| *byte == b' ').nth(37);
    let Some(field) = field.filter(|field| !field.is_empty()) else {
        return -1;
    };
    let mut cpu = 0;
    for byte in field {
        if !byte.is_ascii_digit() || cpu > 1 << 20 {
            return -1;
        }
        cpu = cpu * 10 + i32::from(byte - b'0');
    }
    cpu
}

/// Converts the status that `wait4` returns.
pub fn exited(status: i32) -> Exited {
    match status & 0x7f {
        0 => Exited::Code((status >> 8) & 0xff),
        signal => Exited::Signal(signal),
    }
}

/// The largest difference between the CPU times of the whole process and of its main thread that still means
/// 'a single thread and no child'. The two are read some microseconds apart while the dead process leaves its
/// CPU, and `rusage` is truncated to microseconds twice; creating a thread or child costs at least 20 µs.
const SAME_CPU_TIME_NS: u64 = 15_000;

/// Returns the wall time minus the waits of the program and the launcher for a CPU, if that is exact. It is
/// exact if the main thread used all the CPU time, because there are then no other waits.
fn undisturbed_ns(
    wall_ns: u64,
    usage: &Usage,
    main_thread: Option<Schedstat>,
    harness_wait_ns: Option<u64>,
) -> Option<u64> {
    let main_thread = main_thread?;
    if usage.cpu_ns().abs_diff(main_thread.on_cpu_ns) > SAME_CPU_TIME_NS {
        return None;
    }
    let undisturbed = wall_ns
        .checked_sub(main_thread.wait_ns)?
        .checked_sub(harness_wait_ns?)?;
    // The result can't be less than the work itself; if it is, the launcher's waits overlapped the program's
    // run.
    (undisturbed >= main_thread.on_cpu_ns).then_some(undisturbed)
}

/// Returns the time that the launcher was ready to see the exit but had no CPU; `None` if it can't be
/// separated from waits while the program was still running.
fn harness_wait_ns(answer: &Answer) -> Option<u64> {
    let before = schedstat(text(&answer.own_before)?)?;
    let after = schedstat(text(&answer.own_after)?)?;
    wait_for_the_exit_ns(before, after)
}

/// Returns whether the launcher's wait can have come after the program's work. A launcher that is preempted
/// right before it begins to wait, and finds the program dead when it resumes, has waited in parallel with
/// the work.
fn fits(wait_ns: u64, worked_ns: u64, wall_ns: u64) -> bool {
    wait_ns.saturating_add(worked_ns) <= wall_ns
}

/// Returns how long the launcher waited for a CPU between the two readings, if it was scheduled exactly once.
/// It sleeps once between them, until the exit wakes it. If it was not scheduled at all, the program was dead
/// before the launcher began to wait; if more than once, the launcher was also preempted in between.
fn wait_for_the_exit_ns(before: Schedstat, after: Schedstat) -> Option<u64> {
    (after.slices.checked_sub(before.slices)? == 1)
        .then(|| after.wait_ns.saturating_sub(before.wait_ns))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_beside_the_work_is_none_for_the_exit() {
        assert!(fits(2_000, 60_000, 63_000));
        assert!(!fits(60_000, 60_000, 63_000));
        assert!(!fits(u64::MAX, 1, 2));
    }

    #[test]
    fn schedstat_has_time_on_the_cpu_then_time_waiting() {
        let parsed = schedstat("1234567 89 12\n").unwrap();
        assert_eq!(
            parsed,
            Schedstat {
                on_cpu_ns: 1_234_567,
                wait_ns: 89,
                slices: 12
            }
        );
        assert_eq!(schedstat("12 13"), None);
        assert_eq!(schedstat("x y z"), None);
    }

    #[test]
    fn io_has_bytes_of_the_device_and_bytes_that_were_read() {
        let text = "rchar: 10\nwchar: 20\nsyscr: 3\nsyscw: 4\nread_bytes: 4096\nwrite_bytes: 8192\ncancelled_write_bytes: 0\n";
        let counts = io(text).unwrap();
        assert_eq!((counts.rchar, counts.wchar), (10, 20));
        assert_eq!((counts.syscr, counts.syscw), (3, 4));
        assert_eq!((counts.read_bytes, counts.write_bytes), (4096, 8192));
        assert_eq!(io("rchar: 10\n"), None);
    }

    #[test]
    fn the_last_cpu_is_the_39th_field_whatever_the_name() {
        let stat = |name: &str, cpu: &str| {
            let zeros = "0 ".repeat(35);
            format!("77 ({name}) S {zeros}{cpu} 0 0\n")
        };
        assert_eq!(last_cpu(stat("a) b", "3").as_bytes()), 3);
        assert_eq!(last_cpu(stat("a", "-1").as_bytes()), -1);
        assert_eq!(last_cpu(stat("a", "99999999999").as_bytes()), -1);
        assert_eq!(last_cpu(b"77 (a) S 1"), -1);
    }

    #[test]
    fn a_wait_status_is_a_code_or_a_signal() {
        assert_eq!(exited(0), Exited::Code(0));
        assert_eq!(exited(3 << 8), Exited::Code(3));
        assert_eq!(exited(9), Exited::Signal(9));
        assert_eq!(exited(11 | 0x80), Exited::Signal(11), "with a core dump");
    }

    #[test]
    fn undisturbed_time_is_only_claimed_when_the_main_thread_did_all_the_work() {
        let usage = Usage {
            user_ns: 900_000,
            system_ns: 100_000,
            ..Usage::default()
        };
        let alone = Some(Schedstat {
            on_cpu_ns: 1_000_400,
            wait_ns: 300_000,
            slices: 2,
        });
        assert_eq!(
            undisturbed_ns(2_000_000, &usage, alone, Some(50_000)),
            Some(1_650_000)
        );
        let helped = Some(Schedstat {
            on_cpu_ns: 600_000,
            wait_ns: 300_000,
            slices: 2,
        });
        assert_eq!(undisturbed_ns(2_000_000, &usage, helped, Some(0)), None);
        assert_eq!(undisturbed_ns(2_000_000, &usage, None, Some(0)), None);
        assert_eq!(undisturbed_ns(2_000_000, &usage, alone, None), None);
        assert_eq!(
            undisturbed_ns(1_500_000, &usage, alone, Some(400_000)),
            None,
            "less than its CPU time"
        );
    }

    #[test]
    fn a_wait_for_the_exit_is_no_other_wait_of_the_launcher() {
        let at = |wait_ns, slices| Schedstat {
            on_cpu_ns: 0,
            wait_ns,
            slices,
        };
        assert_eq!(wait_for_the_exit_ns(at(100, 7), at(350, 8)), Some(250));
        assert_eq!(
            wait_for_the_exit_ns(at(100, 7), at(100, 7)),
            None,
            "the program was dead before"
        );
        assert_eq!(
            wait_for_the_exit_ns(at(100, 7), at(900, 9)),
            None,
            "it was preempted on the way"
        );
    }
}
