//! Determines how late this thread noticed what it was woken for.

use std::fs::File;
use std::os::unix::fs::FileExt;

use fathom_launcher::account::{self, Schedstat};

/// How long and how often the calling thread waited for a CPU (`/proc/thread-self/schedstat`), and its time
/// on CPUs.
pub(super) struct OwnWaits(Option<File>);

/// The thread's accounts at one moment.
#[derive(Debug, Clone, Copy)]
pub(super) struct Accounts {
    counted: Schedstat,
    /// How often the thread went to sleep voluntarily.
    slept: i64,
    /// The time on CPUs, ns.
    cpu_ns: u64,
}

impl OwnWaits {
    pub(super) fn open() -> OwnWaits {
        OwnWaits(File::open("/proc/thread-self/schedstat").ok())
    }

    /// Reads the current accounts. The CPU time is read last, to be as close as possible to a sleep that
    /// follows.
    pub(super) fn read(&self) -> Option<Accounts> {
        let (counted, slept) = self.waits()?;
        let cpu_ns = cpu_ns();
        Some(Accounts {
            counted,
            slept,
            cpu_ns,
        })
    }

    /// Returns the delay since the wake-up, if the thread slept once and was put on a CPU once: then the wait
    /// came after the wake-up, and wasn't for a CPU that another thread took in the meantime. The delay is
    /// the wait for a CPU plus the time on the CPU since then: the switch to the thread and its return from
    /// the kernel, some 5 to 30 µs. It also includes going to sleep, 1 to 2 µs, which roughly compensates for
    /// the missing time from the byte to the wake-up.
    pub(super) fn since(&self, before: Option<Accounts>) -> Option<u64> {
        let cpu_ns = cpu_ns();
        let before = before?;
        let (now, slept) = self.waits()?;
        let once = now.slices.checked_sub(before.counted.slices)? == 1 && slept - before.slept == 1;
        let waited = now.wait_ns.saturating_sub(before.counted.wait_ns);
        once.then(|| waited + cpu_ns.saturating_sub(before.cpu_ns))
    }

    fn waits(&self) -> Option<(Schedstat, i64)> {
        let mut buffer = [0u8; 128];
        let length = self.0.as_ref()?.read_at(&mut buffer, 0).ok()?;
        let counted = account::schedstat(std::str::from_utf8(&buffer[..length]).ok()?)?;
        // SAFETY: an all-zero rusage is valid, and the call fills it in.
        let usage = unsafe {
            let mut usage: libc::rusage = std::mem::zeroed();
            libc::getrusage(libc::RUSAGE_THREAD, &raw mut usage);
            usage
        };
        Some((counted, usage.ru_nvcsw))
    }
}

/// Returns the time that the calling thread has been on CPUs, ns, accurate at the time of the call.
fn cpu_ns() -> u64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: writes to a live timespec; this clock always exists.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}
