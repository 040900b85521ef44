//! Which clock times are compared by, and how far waits for a CPU may have moved them.

use fathom_model::{Drift, DriftSource};

/// From this share of wall time on, waiting for a CPU is what wall times mostly differ by; `bench` changes its clock
/// at the same one.
const WAITED: f64 = 0.005;
/// Time in which others had the CPU also empties its caches: by this part of the waits a program takes longer
/// once it runs again.
const AFTER_WAITS: f64 = 0.25;
/// The time less waits is used where at least this share of the runs has it.
const KNOWN: f64 = 0.5;

/// What a measurement holds of waits beside its wall time.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Waits {
    /// Share of the wall time in which a run was ready and had no CPU.
    pub(crate) share: f64,
    /// Whether the time without them is known.
    pub(crate) can_be_taken_off: bool,
}

/// Of the medians of one measurement, each with the number of runs that it comes from.
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

/// Whether both sides are compared by the time without waits: where all measurements have it, and one waited.
pub(crate) fn is_wait_free(all: &[Waits]) -> bool {
    all.iter().all(|one| one.can_be_taken_off) && all.iter().any(|one| one.share > WAITED)
}

/// By what share the ratio may be off because of waits, with the clock that was chosen.
pub(crate) fn besides(all: &[Waits], wait_free: bool) -> f64 {
    let most = all.iter().map(|one| one.share).fold(0.0, f64::max);
    match wait_free {
        true => AFTER_WAITS * most,
        // Waits of 20 % of the wall time made the rest a quarter longer.
        false => most / (1.0 - most).max(0.01),
    }
}

/// What is allowed for, in one share.
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

/// Counted exactly, or one measurement on both sides.
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
        // Of too few runs the time without waits is no figure of all.
        assert!(!waits((2.0, 10), Some((1.0, 4)), None).can_be_taken_off);
        assert!((besides(&[quiet, threads], false) - 1.0 / 3.0).abs() < 1e-12);
        assert!((besides(&[quiet, busy], true) - 0.125).abs() < 1e-12);
    }
}
