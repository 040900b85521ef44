//! How much is measured where nothing, or not everything, is said of it.

use std::time::Duration;

use fathom_measure::{Limits, StopRule};

/// One command needs no verdict: this long, or until its median is known well.
const TIME_FOR_ONE: Duration = Duration::from_secs(10);
/// Comparisons are measured until decided, but no longer.
const TIME_FOR_COMPARISONS: Duration = Duration::from_secs(300);
/// A first answer after ten runs of a millisecond is soon wrong about its tail.
const AT_LEAST: Duration = Duration::from_secs(1);
/// How well one command's median is to be known.
const PRECISION_OF_ONE: f64 = 0.005;
/// Rounds that are made at least, where there is time.
const LEAST_ROUNDS: u32 = 10;

/// What was asked for; what is absent follows from the rest.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Amount {
    /// Exactly this many rounds; the rest then counts for nothing.
    pub runs: Option<u32>,
    /// Fewest rounds, however long they take.
    pub min_runs: Option<u32>,
    /// Most rounds.
    pub max_runs: Option<u32>,
    /// Longest time.
    pub time: Option<Duration>,
    /// Until all medians and ratios are known to this share, not until decided.
    pub precision: Option<f64>,
}

impl Amount {
    /// When measuring ends.
    pub fn stop_rule(&self, commands: usize) -> StopRule {
        if let Some(runs) = self.runs {
            return StopRule::Runs(runs);
        }
        let one = commands == 1;
        let soft = self.time.unwrap_or(match one {
            true => TIME_FOR_ONE,
            false => TIME_FOR_COMPARISONS,
        });
        let hard = match (self.time, self.min_runs) {
            // Runs that were asked for are made, however long it takes.
            (_, Some(_)) => Duration::MAX,
            (Some(time), None) => time,
            (None, None) => TIME_FOR_COMPARISONS,
        };
        let minimum = self.min_runs.unwrap_or(LEAST_ROUNDS);
        StopRule::Answer(Limits {
            minimum: self.max_runs.map_or(minimum, |most| minimum.min(most)),
            maximum: self.max_runs,
            at_least: AT_LEAST.min(soft),
            soft,
            hard,
            precision: self.precision.or(one.then_some(PRECISION_OF_ONE)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits(amount: Amount, commands: usize) -> Limits {
        match amount.stop_rule(commands) {
            StopRule::Answer(limits) => limits,
            StopRule::Runs(runs) => panic!("exactly {runs} runs"),
        }
    }

    #[test]
    fn one_command_is_measured_for_less_time_than_a_comparison() {
        let one = limits(Amount::default(), 1);
        assert_eq!((one.soft, one.precision), (TIME_FOR_ONE, Some(0.005)));
        let two = limits(Amount::default(), 2);
        assert_eq!((two.soft, two.precision), (TIME_FOR_COMPARISONS, None));
        assert_eq!(two.hard, TIME_FOR_COMPARISONS);
    }

    #[test]
    fn runs_that_were_asked_for_are_made_however_long_it_takes() {
        let time = Some(Duration::from_secs(1));
        let amount = Amount {
            min_runs: Some(50),
            time,
            ..Amount::default()
        };
        assert_eq!(limits(amount, 2).hard, Duration::MAX);
        let most = Amount {
            max_runs: Some(3),
            time,
            ..Amount::default()
        };
        assert_eq!(
            (limits(most, 2).minimum, limits(most, 2).hard.as_secs()),
            (3, 1)
        );
    }
}
