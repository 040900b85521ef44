//! How fast one core reads memory.

use std::time::{Duration, Instant};

use crate::context::{Context, NO_MEMORY_SET};
use crate::kernels::streams;
use crate::mapping::{Mapping, Pages};
use crate::result::{Estimator, Heading, ProbeResult};
use crate::samples::Agreement;
use crate::track::{Track, alone};

pub(crate) const HEADING: Heading = Heading {
    id: "read_bandwidth_1",
    title: "reading memory, one core",
    unit: "GB/s",
    method: "one core sums a buffer that was written before, four times the size of the last-level cache (64 to 256 \
         MiB; three times the cache if 256 MiB is less than twice its size), in pieces of 1 MiB; the mean of the \
         pieces. 1 GB = 1e9 bytes.",
};

const WORDS: Heading = Heading {
    id: "read_bandwidth_words",
    title: "reading memory, by words",
    unit: "GB/s",
    method: "the same, but with loads of 4 bytes, one in every 16 bytes, as in code that compilers don't vectorise (and \
         in lmbench), with a separate sum for every 256 bytes: the more loads a line takes, the fewer lines are in \
         flight.",
};

/// The figures measured here in addition to the fingerprint.
pub(crate) const HEADINGS: &[Heading] = &[WORDS];

/// Bytes per chunk: 100 us at 10 GB/s.
const PIECE: usize = 1 << 20;

/// Returns the probe.
pub(crate) fn track(context: &Context) -> Result<Track, Box<ProbeResult>> {
    // SAFETY: `reading` only passes pieces of its mapping.
    reading(HEADING, context, |at| unsafe { streams::read(at, PIECE) })
}

/// Measures the read bandwidth by words.
pub(crate) fn by_words(context: &Context) -> ProbeResult {
    // SAFETY: `reading` only passes pieces of its mapping.
    let track = reading(WORDS, context, |at| unsafe {
        streams::read_words(at, PIECE)
    });
    track.map_or_else(|result| *result, alone)
}

/// Returns a track that reads memory in pieces with `read`.
fn reading(
    heading: Heading,
    context: &Context,
    read: fn(*const u8) -> u64,
) -> Result<Track, Box<ProbeResult>> {
    if !context.memory_set_is_memory() {
        return Err(Box::new(heading.not_measurable(NO_MEMORY_SET)));
    }
    let buffer = Mapping::touched(context.memory_set(), Pages::Huge)
        .map_err(|error| Box::new(heading.not_measurable(format!("no memory: {error}"))))?;
    let agreement = Agreement {
        estimator: Estimator::Mean,
        tolerance: 0.15,
    };
    let mut at = 0;
    Ok(
        Track::new(heading, agreement, Duration::from_millis(40), move || {
            let start = Instant::now();
            // SAFETY: the piece lies inside the mapping, whose length is a multiple of 2 MiB.
            std::hint::black_box(read(unsafe { buffer.base().add(at) }));
            let ns = start.elapsed().as_nanos() as f64;
            at = (at + PIECE) % buffer.bytes();
            PIECE as f64 / ns
        })
        .shared(),
    )
}
