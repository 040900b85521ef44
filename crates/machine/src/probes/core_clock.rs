//! How fast the core's clock runs, without counters.

use std::time::{Duration, Instant};

use crate::kernels;
use crate::result::{Estimator, Heading, ProbeResult};
use crate::samples::Agreement;
use crate::track::Track;

const HEADING: Heading = Heading {
    id: "core_clock",
    title: "core clock",
    unit: "GHz",
    method: "256 additions that each need the one before take 256 cycles; chunks of 50 us, the \
             fastest. Neither the time-stamp counter nor cpuinfo's MHz is the core's clock.",
};

/// Turns of 256 additions in one chunk: 47 us at 3.5 GHz.
const TURNS: u64 = 640;

/// The probe; `Err` on architectures without machine code.
pub fn track() -> Result<Track, Box<ProbeResult>> {
    if !kernels::EXACT {
        let result = ProbeResult::not_measurable(HEADING, kernels::NO_MACHINE_CODE);
        return Err(Box::new(result));
    }
    // The minimum is of time per cycle; `invert` turns the result into GHz.
    let agreement = Agreement {
        estimator: Estimator::Minimum,
        tolerance: 0.005,
    };
    Ok(
        Track::new(HEADING, agreement, Duration::from_millis(20), || {
            let start = Instant::now();
            let adds = kernels::dependent_adds(TURNS);
            start.elapsed().as_nanos() as f64 / adds as f64
        })
        .inverted(),
    )
}
