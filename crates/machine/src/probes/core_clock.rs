//! The clock speed of the core, measured without counters.

use std::time::Duration;

use crate::kernels::chains;
use crate::result::{Estimator, Heading, ProbeResult};
use crate::ruler::{Ruler, ns_per_cycle};
use crate::samples::Agreement;
use crate::track::{Track, alone};

pub(crate) const HEADING: Heading = Heading {
    id: "core_clock",
    title: "core clock",
    unit: "GHz",
    method: "256 dependent additions take 256 cycles; the fastest chunk of 50 us. Neither the time-stamp counter nor \
         cpuinfo's MHz is the core's clock.",
};

const BESIDE_VECTORS: Heading = Heading {
    id: "core_clock_vectors",
    title: "core clock with wide vectors",
    unit: "GHz",
    method: "the same additions (10 us) right after 80 us of vector multiply-adds on all ports, repeatedly: a core that \
         lowers its clock for wide vectors keeps it low for longer than that.",
};

/// The figures measured here.
pub(crate) const HEADINGS: &[Heading] = &[BESIDE_VECTORS];

/// Iterations of 256 additions in one chunk: 47 us at 3.5 GHz.
const TURNS: u64 = 640;

/// Returns the probe.
pub(crate) fn track() -> Track {
    // The minimum is of time per cycle; `invert` turns the result into GHz.
    let agreement = Agreement {
        estimator: Estimator::Minimum,
        tolerance: 0.03,
    };
    Track::new(HEADING, agreement, Duration::from_millis(20), || {
        ns_per_cycle(TURNS)
    })
    .inverted()
}

/// Iterations of 256 additions after each sequence of vectors: 10 us at 3.5 GHz.
const TURNS_BETWEEN: u64 = 140;

/// Iterations of 8 chains of 16 multiply-adds: about 80 us at two per cycle.
const VECTOR_TURNS: u64 = 4000;

/// Measures the clock while wide vectors are busy, together with the plain clock. The first chunks of a pass
/// fall into the time that a core needs to lower its clock (up to about 20 us). The minimum would pick them;
/// the tenth percentile of about 400 chunks doesn't.
pub(crate) fn beside_vectors() -> ProbeResult {
    let operation = chains::Operation::FusedMultiplyAdd;
    if !chains::available(operation) {
        let why = "this processor has no such instruction";
        return BESIDE_VECTORS.not_measurable(why);
    }
    let agreement = Agreement {
        estimator: Estimator::P10,
        tolerance: 0.02,
    };
    let track = Track::new(
        BESIDE_VECTORS,
        agreement,
        Duration::from_millis(40),
        move || {
            std::hint::black_box(chains::run(operation, 8, VECTOR_TURNS));
            ns_per_cycle(TURNS_BETWEEN)
        },
    );
    // Measure this before the vectors, because they lower the clock for longer than one piece of work.
    let plain = Ruler::new().ghz();
    let mut result = alone(track.inverted());
    if let Some(beside) = result.value {
        result.add_note(format!(
            "vectors of {} doubles; {:.1} % below the plain clock",
            chains::VECTOR_DOUBLES,
            (1.0 - beside / plain).max(0.0) * 100.0
        ));
    }
    result
}
