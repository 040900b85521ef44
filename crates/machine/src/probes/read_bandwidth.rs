//! How fast one core reads memory.

use std::time::{Duration, Instant};

use crate::context::Context;
use crate::kernels::streams;
use crate::mapping::{Mapping, Pages};
use crate::result::{Estimator, Heading, ProbeResult};
use crate::samples::Agreement;
use crate::track::Track;

pub const HEADING: Heading = Heading {
    id: "read_bandwidth_1",
    title: "reading memory, one core",
    unit: "GB/s",
    method: "one core sums a written buffer of four times the last-level cache (64 to 256 MiB) in \
             pieces of 512 KiB; the median piece. 1 GB = 1e9 bytes.",
};

/// Bytes of one chunk: 50 us at 10 GB/s.
const PIECE: usize = 512 << 10;

/// The probe.
pub fn track(context: &Context) -> Result<Track, Box<ProbeResult>> {
    if !context.memory_set_is_memory() {
        let why = "too little memory is available for a set that is twice the last-level cache";
        return Err(Box::new(ProbeResult::not_measurable(HEADING, why)));
    }
    let buffer = Mapping::touched(context.memory_set(), Pages::Huge).map_err(|error| {
        Box::new(ProbeResult::not_measurable(
            HEADING,
            format!("no memory: {error}"),
        ))
    })?;
    let agreement = Agreement {
        estimator: Estimator::Median,
        tolerance: 0.15,
    };
    let mut at = 0;
    Ok(Track::new(
        HEADING,
        agreement,
        Duration::from_millis(40),
        move || {
            let start = Instant::now();
            // SAFETY: the piece lies inside the mapping, whose length is a multiple of 2 MiB.
            std::hint::black_box(unsafe { streams::read(buffer.base().add(at), PIECE) });
            let ns = start.elapsed().as_nanos() as f64;
            at = (at + PIECE) % buffer.bytes();
            PIECE as f64 / ns
        },
    ))
}
