//! Which side was the limit, and whether the numbers can be trusted.

use fathom_model::Doubt;

/// If the generator used at least this share of its CPU, it was the limit: the server might have done more.
const BOUND_FROM: f64 = 0.85;
/// If other processes used at least this share of the CPUs, they took too much.
const NEIGHBOURS_FROM: f64 = 0.10;
/// Maximum delay of sending. The load was not as intended if more than a twentieth of the requests exceeded
/// both this delay and [`LAG_SHARE`].
const LAG_QUANTILE_NS: u64 = 100_000;
/// Maximum delay of sending, as a fraction of the median response time.
const LAG_SHARE: f64 = 0.10;
/// Largest deviation from Little's law that rounding and the ends of a step explain.
const LITTLE_OFF: f64 = 0.05;
/// Largest relative difference between the first round and the others. The two halves may differ by half of
/// this.
const STEADY_WITHIN: f64 = 0.10;

/// Observations of a step, or of all steps of a kind.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Observed {
    /// Whether it was an open loop.
    pub open: bool,
    /// CPU time of the generator's thread, as a fraction of the wall time.
    pub generator_cpu_share: f64,
    /// 95 % of the requests were sent with at most this delay, in nanoseconds.
    pub lag_p95_ns: Option<u64>,
    /// Median response time, nanoseconds.
    pub response_p50_ns: Option<u64>,
    /// CPU time of other processes, as a fraction of all usable CPUs.
    pub neighbours_share: f64,
    /// See [`crate::Totals::little`].
    pub little: Option<f64>,
    /// Number of good responses; a few of them don't support any conclusion.
    pub answered: u64,
}

/// Returns all reasons for doubt.
pub fn doubts(observed: &Observed) -> Vec<Doubt> {
    let mut found = Vec::new();
    if observed.generator_cpu_share >= BOUND_FROM {
        found.push(Doubt::GeneratorBound);
    }
    let allowed = observed
        .response_p50_ns
        .map_or(0.0, |ns| ns as f64 * LAG_SHARE);
    let allowed = allowed.max(LAG_QUANTILE_NS as f64);
    if observed.open && observed.lag_p95_ns.is_some_and(|ns| ns as f64 > allowed) {
        found.push(Doubt::Lagging);
    }
    if observed.neighbours_share > NEIGHBOURS_FROM {
        found.push(Doubt::Neighbours);
    }
    let off = observed
        .little
        .is_some_and(|little| (little - 1.0).abs() > LITTLE_OFF);
    if off && observed.answered > 0 {
        found.push(Doubt::Little);
    }
    found
}

/// Returns whether the values of consecutive rounds are stable: they aren't while a program is still being
/// compiled or fills its caches. Fewer than three rounds show nothing.
pub fn is_steady(rounds: &[f64]) -> bool {
    if rounds.len() < 3 {
        return true;
    }
    let near = |a: f64, b: f64, within: f64| (a - b).abs() <= within * b.abs();
    let (first_half, second_half) = rounds.split_at(rounds.len() / 2);
    near(rounds[0], median(&rounds[1..]), STEADY_WITHIN)
        && near(median(first_half), median(second_half), STEADY_WITHIN / 2.0)
}

fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match sorted.len() % 2 {
        0 => f64::midpoint(sorted[middle - 1], sorted[middle]),
        _ => sorted[middle],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const QUIET: Observed = Observed {
        open: true,
        generator_cpu_share: 0.4,
        lag_p95_ns: Some(60_000),
        response_p50_ns: Some(90_000),
        neighbours_share: 0.02,
        little: Some(1.003),
        answered: 1000,
    };

    #[test]
    fn a_quiet_step_leaves_no_doubt() {
        assert!(doubts(&QUIET).is_empty());
    }

    #[test]
    fn each_doubt_has_its_reason() {
        let with = |change: fn(&mut Observed)| {
            let mut observed = QUIET;
            change(&mut observed);
            doubts(&observed)
        };
        assert_eq!(
            with(|o| o.generator_cpu_share = 0.9),
            [Doubt::GeneratorBound]
        );
        assert_eq!(with(|o| o.lag_p95_ns = Some(150_000)), [Doubt::Lagging]);
        assert_eq!(with(|o| o.neighbours_share = 0.11), [Doubt::Neighbours]);
        assert_eq!(with(|o| o.little = Some(0.8)), [Doubt::Little]);
    }

    #[test]
    fn lag_counts_against_the_response_time_and_only_in_an_open_loop() {
        let slow = Observed {
            lag_p95_ns: Some(1_000_000),
            response_p50_ns: Some(20_000_000),
            ..QUIET
        };
        assert!(doubts(&slow).is_empty());
        let closed = Observed {
            open: false,
            lag_p95_ns: Some(1_000_000),
            ..QUIET
        };
        assert!(doubts(&closed).is_empty());
    }

    #[test]
    fn a_first_round_that_warms_up_is_not_steady() {
        assert!(is_steady(&[10.0, 10.2, 9.9, 10.1, 10.0]));
        assert!(!is_steady(&[14.0, 10.2, 9.9, 10.1, 10.0]));
        assert!(!is_steady(&[10.0, 10.0, 11.0, 12.0, 12.5]));
        assert!(is_steady(&[14.0, 10.0]));
    }
}
