//! The fraction of the time in which the core's other hardware thread is busy.

use std::time::Duration;

use crate::core_width::CoreWidth;
use crate::cpu_gate::{CpuOf, Stretch};
use crate::result::{Estimator, Heading, ProbeResult, ProbeVerdict, difference};
use crate::ruler::Ruler;

pub(crate) const HEADING: Heading = Heading {
    id: "core_shared",
    title: "core shared with its other thread",
    unit: "%",
    method: "independent additions are timed in cycles; the figure is the share of the time in which they took at least \
         4 % longer than in the fastest hundredth of the samples. Sharing a core is not stolen time, and no thread \
         waits for a CPU.",
};

/// Fraction of a duration in which the core was shared, 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Shared {
    /// Over the whole duration.
    pub part: f64,
    /// Over its first and second half.
    pub halves: [f64; 2],
}

/// Returns how long the core was shared within `time`.
pub(crate) fn spin(time: Duration) -> Shared {
    let (mut width, mut ruler) = (CoreWidth::default(), Ruler::new());
    let clock = Stretch::begin(CpuOf::Nobody);
    while u128::from(clock.wall_ns()) < time.as_nanos() {
        width.sample(ruler.ghz());
    }
    Shared {
        part: width.shared(),
        halves: width.halves(),
    }
}

/// Returns the finding of [`spin`] as a figure.
pub(crate) fn result(shared: Shared) -> ProbeResult {
    let mut result = HEADING.blank(Estimator::Derived, ProbeVerdict::Ok);
    result.value = Some(shared.part * 100.0);
    let [a, b] = shared.halves;
    result.spread = Some(difference(a, b));
    if shared.part >= SHARED_FROM {
        result.add_note(MEANING);
    }
    result
}

/// Fraction of the time from which sharing is reported.
pub(crate) const SHARED_FROM: f64 = 0.05;

/// The effect of sharing on results.
pub(crate) const MEANING: &str = "programs take 10 to 25 % longer while the core is shared, although nothing is stolen and no thread waits; in a \
     virtual machine, the cause may be another virtual machine";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shared_core_is_told_with_what_it_does() {
        let shared = |part: f64, halves| Shared { part, halves };
        let noted = result(shared(0.4, [0.6, 0.3]));
        assert_eq!(noted.spread, Some(0.5));
        assert_eq!(
            (noted.value, noted.note.as_deref()),
            (Some(40.0), Some(MEANING))
        );
        let alone = result(shared(0.01, [0.01, 0.01]));
        assert_eq!((alone.verdict, alone.note), (ProbeVerdict::Ok, None));
    }

    #[test]
    fn a_part_lies_between_nothing_and_all() {
        let shared = spin(Duration::from_millis(3));
        assert!((0.0..=1.0).contains(&shared.part));
    }
}
