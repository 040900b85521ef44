//! From what the kernel says of a dead process to the numbers of a run. Pure.

use fathom_model::{Exit, IoCounts};

use crate::launcher::{Answer, Text};

/// On a CPU, and ready but waiting for one, of one thread. Source: `/proc/PID/schedstat`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Schedstat {
    pub on_cpu_ns: u64,
    pub wait_ns: u64,
    /// How often it was put on a CPU.
    pub slices: u64,
}

/// Fields of `struct rusage` that Linux fills.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Usage {
    pub user_ns: u64,
    pub system_ns: u64,
    pub peak_memory_bytes: u64,
    pub minor_faults: u64,
    pub major_faults: u64,
    pub voluntary_switches: u64,
    pub involuntary_switches: u64,
}

pub(crate) fn text(text: &Text) -> Option<&str> {
    let length = usize::try_from(text.length).ok().filter(|n| *n > 0)?;
    std::str::from_utf8(text.bytes.get(..length)?).ok()
}

pub(crate) fn schedstat(text: &str) -> Option<Schedstat> {
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

pub(crate) fn io(text: &str) -> Option<IoCounts> {
    let value = |name: &str| -> Option<u64> {
        text.lines()
            .find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
            .and_then(|number| number.trim().parse().ok())
    };
    Some(IoCounts {
        read_bytes: value("rchar")?,
        written_bytes: value("wchar")?,
        read_calls: value("syscr")?,
        write_calls: value("syscw")?,
        device_read_bytes: value("read_bytes")?,
        device_written_bytes: value("write_bytes")?,
    })
}

pub(crate) fn usage(words: &[i64; 18]) -> Usage {
    let time = |at: usize| words[at] as u64 * 1_000_000_000 + words[at + 1] as u64 * 1_000;
    Usage {
        user_ns: time(0),
        system_ns: time(2),
        peak_memory_bytes: words[4] as u64 * 1024,
        minor_faults: words[8] as u64,
        major_faults: words[9] as u64,
        voluntary_switches: words[16] as u64,
        involuntary_switches: words[17] as u64,
    }
}

/// From the status that `wait4` gives.
pub(crate) fn exit(status: i32) -> Exit {
    match status & 0x7f {
        0 => Exit::Code((status >> 8) & 0xff),
        signal => Exit::Signal(signal),
    }
}

/// How far CPU time of the whole process and of its main thread may differ for 'there was one
/// thread and no child'. The two are read some microseconds apart while the dead process leaves its
/// CPU, and `rusage` is cut to microseconds twice; a thread or child costs at least 20 µs to make.
const SAME_CPU_TIME_NS: u64 = 15_000;

/// Wall time less what the program and the launcher waited for a CPU, if that is exact: when all
/// CPU time was the main thread's, its waits are all the waits there were.
pub(crate) fn undisturbed_ns(
    wall_ns: u64,
    usage: &Usage,
    main_thread: Option<Schedstat>,
    harness_wait_ns: Option<u64>,
) -> Option<u64> {
    let main_thread = main_thread?;
    let cpu_ns = usage.user_ns + usage.system_ns;
    if cpu_ns.abs_diff(main_thread.on_cpu_ns) > SAME_CPU_TIME_NS {
        return None;
    }
    let undisturbed = wall_ns
        .checked_sub(main_thread.wait_ns)?
        .checked_sub(harness_wait_ns?)?;
    // Less than the work itself can't be: the launcher's waits then overlapped the program's run.
    (undisturbed >= main_thread.on_cpu_ns).then_some(undisturbed)
}

/// Time that the launcher was ready to see the exit but had no CPU; `None` where that can't be told
/// from waits while the program was still running.
pub(crate) fn harness_wait_ns(answer: &Answer) -> Option<u64> {
    let before = schedstat(text(&answer.own_before)?)?;
    let after = schedstat(text(&answer.own_after)?)?;
    wait_for_the_exit_ns(before, after)
}

/// Between the two readings the launcher sleeps once, until the exit wakes it: it is put on a CPU
/// exactly once. Never means that the program was dead before the launcher began to wait; more often
/// means that it was also taken off the CPU on the way.
fn wait_for_the_exit_ns(before: Schedstat, after: Schedstat) -> Option<u64> {
    (after.slices.checked_sub(before.slices)? == 1)
        .then(|| after.wait_ns.saturating_sub(before.wait_ns))
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn io_tells_read_bytes_of_the_device_from_bytes_that_were_read() {
        let text = "rchar: 10\nwchar: 20\nsyscr: 3\nsyscw: 4\nread_bytes: 4096\nwrite_bytes: 8192\ncancelled_write_bytes: 0\n";
        let counts = io(text).unwrap();
        assert_eq!(counts.read_bytes, 10);
        assert_eq!(counts.written_bytes, 20);
        assert_eq!((counts.read_calls, counts.write_calls), (3, 4));
        assert_eq!(
            (counts.device_read_bytes, counts.device_written_bytes),
            (4096, 8192)
        );
        assert_eq!(io("rchar: 10\n"), None);
    }

    #[test]
    fn a_wait_status_is_a_code_or_a_signal() {
        assert_eq!(exit(0), Exit::Code(0));
        assert_eq!(exit(3 << 8), Exit::Code(3));
        assert_eq!(exit(9), Exit::Signal(9));
        assert_eq!(exit(11 | 0x80), Exit::Signal(11), "with a core dump");
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
    fn a_wait_for_the_exit_is_told_from_other_waits_of_the_launcher() {
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
