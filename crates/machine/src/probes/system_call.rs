//! What a system call costs that does next to nothing.

use std::time::{Duration, Instant};

use crate::result::{Estimator, Heading, ProbeResult};
use crate::samples::Agreement;
use crate::track::Track;

pub(crate) const HEADING: Heading = Heading {
    id: "system_call",
    title: "system call (getppid)",
    unit: "ns",
    method: "100 raw getppid calls per chunk, per call, the fastest of the chunks that had the core for \
             themselves (its other hardware thread idle, told by additions side by side before and \
             after); mitigations, seccomp and the hypervisor are in it.",
};

/// The probe.
#[cfg(target_os = "linux")]
pub(crate) fn track() -> Result<Track, Box<ProbeResult>> {
    let agreement = Agreement {
        estimator: Estimator::Minimum,
        tolerance: 0.03,
    };
    Ok(
        Track::new(HEADING, agreement, Duration::from_millis(8), || {
            let start = Instant::now();
            for _ in 0..100 {
                // SAFETY: getppid takes no arguments and can't fail.
                std::hint::black_box(unsafe { libc::syscall(libc::SYS_getppid) });
            }
            start.elapsed().as_nanos() as f64 / 100.0
        })
        .in_cycles()
        .alone_on_core(),
    )
}

/// Raw system calls are not a stable interface on this system.
#[cfg(not(target_os = "linux"))]
pub fn track() -> Result<Track, Box<ProbeResult>> {
    let _ = (
        Duration::ZERO,
        Instant::now,
        Estimator::Minimum,
        Agreement::clone,
    );
    Err(Box::new(HEADING.not_measurable("only on Linux")))
}
