//! How late did this thread get a CPU?

use std::fs::File;
use std::os::unix::fs::FileExt;

use crate::account::{self, Schedstat};

/// How long and how often the calling thread got a CPU late: `/proc/thread-self/schedstat`.
pub(super) struct OwnWaits(Option<File>);

impl OwnWaits {
    pub(super) fn open() -> OwnWaits {
        OwnWaits(File::open("/proc/thread-self/schedstat").ok())
    }

    /// What the scheduler counted, and how often the thread went to sleep by itself.
    pub(super) fn read(&self) -> Option<(Schedstat, i64)> {
        let mut buffer = [0u8; 128];
        let length = self.0.as_ref()?.read_at(&mut buffer, 0).ok()?;
        let counted = account::schedstat(std::str::from_utf8(&buffer[..length]).ok()?)?;
        // SAFETY: an all-zero rusage is valid, and the call fills it.
        let usage = unsafe {
            let mut usage: libc::rusage = std::mem::zeroed();
            libc::getrusage(libc::RUSAGE_THREAD, &raw mut usage);
            usage
        };
        Some((counted, usage.ru_nvcsw))
    }

    /// The wait since then, if the thread slept once and was put on a CPU once: then it is the wait after
    /// the wake-up, and not one for a CPU that another took meanwhile.
    pub(super) fn since(&self, before: Option<(Schedstat, i64)>) -> Option<u64> {
        let ((before, slept_before), (now, slept)) = (before?, self.read()?);
        let once = now.slices.checked_sub(before.slices)? == 1 && slept - slept_before == 1;
        once.then(|| now.wait_ns.saturating_sub(before.wait_ns))
    }
}
