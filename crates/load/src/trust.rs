//! Which side was the limit, and can the numbers be trusted?

use fathom_model::Doubt;

/// The generator had this much of its CPU: the server might have done more.
const BOUND_FROM: f64 = 0.85;
/// Others had this share of the CPUs.
const NEIGHBOURS_FROM: f64 = 0.10;
/// Requests that were sent later than this made the load another one: a twentieth of them...
const LAG_QUANTILE_NS: u64 = 100_000;
/// ...or a tenth of the response time, if that is more.
const LAG_SHARE: f64 = 0.10;
/// Little's law is off by more than rounding and the ends of a step explain.
const LITTLE_OFF: f64 = 0.05;
/// The first round may differ from the others by this much, and halves from each other by half.
const STEADY_WITHIN: f64 = 0.10;

/// What is known of a step, or of all steps of a kind.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Observed {
    /// It was an open loop.
    pub open: bool,
    /// CPU time of the generator's thread, as a share of the time.
    pub generator_cpu_share: f64,
    /// 95 % of the requests were sent no later than this, nanoseconds.
    pub lag_p95_ns: Option<u64>,
    /// Median response time, nanoseconds.
    pub response_p50_ns: Option<u64>,
    /// CPU time of others, as a share of all CPUs that may be used.
    pub neighbours_share: f64,
    /// See [`crate::Totals::little`].
    pub little: Option<f64>,
    /// Good answers; few of them support nothing.
    pub answered: u64,
}

/// All reasons for doubt.
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

/// Whether values of consecutive rounds stay where they are: a program that is still being compiled
/// or still fills its caches doesn't. Fewer than three rounds show nothing.
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
