//! The cost of a system call that does almost nothing.

use std::time::{Duration, Instant};

use crate::result::{Estimator, Heading};
use crate::samples::Agreement;
use crate::track::Track;

pub(crate) const HEADING: Heading = Heading {
    id: "system_call",
    title: "system call (getppid)",
    unit: "ns",
    method: "100 raw getppid calls per chunk; the time per call, in the fastest of the chunks that had the core to \
         themselves (its other hardware thread idle, as shown by independent additions before and after); \
         mitigations, seccomp and the hypervisor are included.",
};

/// Returns the probe.
pub(crate) fn track() -> Track {
    let agreement = Agreement {
        estimator: Estimator::Minimum,
        tolerance: 0.03,
    };
    Track::new(HEADING, agreement, Duration::from_millis(8), || {
        let start = Instant::now();
        for _ in 0..100 {
            // SAFETY: getppid takes no arguments and can't fail.
            std::hint::black_box(unsafe { libc::syscall(libc::SYS_getppid) });
        }
        start.elapsed().as_nanos() as f64 / 100.0
    })
    .in_cycles()
    .alone_on_core()
}
