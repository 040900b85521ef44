//! Chooses the clock by which times are compared, and bounds how far waits for a CPU may have moved them.

use fathom_model::{Drift, DriftSource};

/// At this share of the wall time or more, differences between wall times are mostly waits for a CPU. `bench`
/// switches its clock at the same share.
const WAITED: f64 = 0.005;
/// Other processes that have the CPU also evict the program's cached data, which makes the program slower by
/// this fraction of the waits.
const AFTER_WAITS: f64 = 0.25;
/// The wait-free time is used if at least this share of the runs has it.
const KNOWN: f64 = 0.5;

/// How far waits for a CPU affect a measurement of wall time.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Waits {
    /// The share of the wall time during which a run was ready but had no CPU.
    pub(crate) share: f64,
    /// Whether the wait-free time is known.
    pub(crate) can_be_taken_off: bool,
}

/// Computes the waits of one measurement from its medians, each given with the number of runs behind it.
pub(crate) fn waits(
    wall: (f64, u32),
    wait_free: Option<(f64, u32)>,
    run_queue: Option<(f64, u32)>,
) -> Waits {
    let known = wait_free.filter(|(_, runs)| f64::from(*runs) >= KNOWN * f64::from(wall.1));
    let waited = match (known, run_queue) {
        (Some((wait_free, _)), _) => wall.0 - wait_free,
        (None, Some((waited, _))) => waited,
        (None, None) => 0.0,
    };
    Waits {
        share: (waited / wall.0).clamp(0.0, 1.0),
        can_be_taken_off: known.is_some(),
    }
}

/// Reports whether both sides are compared by the wait-free time: all measurements must have it, and at least
/// one must have waited.
pub(crate) fn is_wait_free(all: &[Waits]) -> bool {
    all.iter().all(|one| one.can_be_taken_off) && all.iter().any(|one| one.share > WAITED)
}

/// Returns the share by which waits may have moved the ratio, with the chosen clock.
pub(crate) fn besides(all: &[Waits], wait_free: bool) -> f64 {
    let most = all.iter().map(|one| one.share).fold(0.0, f64::max);
    match wait_free {
        true => AFTER_WAITS * most,
        // Waits of 20 % of the wall time make it a quarter longer than the rest.
        false => most / (1.0 - most).max(0.01),
    }
}

/// Combines drift and waits into one share.
pub(crate) fn with(drift: Drift, besides: f64) -> Drift {
    Drift {
        share: drift.share.ln_1p().hypot(besides.ln_1p()).exp_m1(),
        source: match besides > drift.share {
            true => DriftSource::Waits,
            false => drift.source,
        },
        ..drift
    }
}

/// No drift: the values are exact counts, or both sides are the same measurement.
pub(crate) const NO_DRIFT: Drift = Drift {
    share: 0.0,
    source: DriftSource::None,
    measurements: 0,
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_is_chosen_for_both_sides_and_what_it_cannot_see_is_allowed_for() {
        let quiet = waits((1.0, 10), Some((0.999, 10)), None);
        let busy = waits((2.0, 10), Some((1.0, 6)), Some((0.9, 10)));
        let threads = waits((2.0, 10), None, Some((0.5, 10)));
        assert!(!is_wait_free(&[quiet, quiet]) && is_wait_free(&[quiet, busy]));
        assert!(!is_wait_free(&[busy, threads]));
        assert!((busy.share - 0.5).abs() < 1e-12 && (threads.share - 0.25).abs() < 1e-12);
        // If too few runs have the wait-free time, it doesn't represent them all.
        assert!(!waits((2.0, 10), Some((1.0, 4)), None).can_be_taken_off);
        assert!((besides(&[quiet, threads], false) - 1.0 / 3.0).abs() < 1e-12);
        assert!((besides(&[quiet, busy], true) - 0.125).abs() < 1e-12);
    }
}
