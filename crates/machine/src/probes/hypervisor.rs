//! The cost of CPUID, which the hypervisor emulates for each caller.

use std::time::{Duration, Instant};

use crate::kernels;
use crate::result::{Estimator, Heading, ProbeResult};
use crate::samples::Agreement;
use crate::track::{Track, alone};

const HEADING: Heading = Heading {
    id: "cpuid",
    title: "CPUID",
    unit: "ns",
    method: "10 CPUID instructions in a row; the time per instruction, in the fastest chunk; a hypervisor has to handle \
         each (1 to 4 us), while bare metal takes about 20 to 100 ns.",
};

/// The figures measured here.
pub(crate) const HEADINGS: &[Heading] = &[HEADING];

/// Runs the probe.
pub(crate) fn run() -> ProbeResult {
    if kernels::identify().is_none() {
        let why = "this architecture has no instruction that a hypervisor must handle";
        return HEADING.not_measurable(why);
    }
    let agreement = Agreement {
        estimator: Estimator::Minimum,
        tolerance: 0.05,
    };
    let mut result = alone(Track::new(
        HEADING,
        agreement,
        Duration::from_millis(15),
        || {
            let start = Instant::now();
            for _ in 0..10 {
                std::hint::black_box(kernels::identify());
            }
            start.elapsed().as_nanos() as f64 / 10.0
        },
    ));
    if result.value.is_some_and(|ns| ns > 500.0) {
        result.add_note("a hypervisor answers it");
    }
    result
}
