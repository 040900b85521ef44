//! How much is measured when the caller gives few or no limits.

use std::time::Duration;

use fathom_measure::{Limits, StopRule};

/// The time a user waits for an answer, be it a median or a verdict. It doesn't limit the minimum number of
/// rounds, because a verdict needs those. With a limit of five minutes, comparing two commands that didn't
/// differ took 237 s.
const TIME: Duration = Duration::from_secs(10);
/// The time limit for measuring when revisions are built first. The builds take minutes anyway, and after an
/// undecided comparison they would have to be repeated.
pub const TIME_BESIDE_BUILDS: Duration = Duration::from_secs(300);
/// The shortest measurement: a first answer from ten runs of a millisecond says little about the tail.
const AT_LEAST: Duration = Duration::from_secs(1);
/// The precision at which the median of a single command is good enough, as a share.
const PRECISION_OF_ONE: f64 = 0.005;
/// The minimum number of rounds, if time allows.
const LEAST_ROUNDS: u32 = 10;

/// The limits that the caller gave; absent ones are derived from the others.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Amount {
    /// The exact number of rounds to run; if given, the other limits are ignored.
    pub runs: Option<u32>,
    /// The minimum number of rounds, however long they take.
    pub min_runs: Option<u32>,
    /// The maximum number of rounds.
    pub max_runs: Option<u32>,
    /// The time limit.
    pub time: Option<Duration>,
    /// The precision, as a share, to which all medians and ratios must be known before measuring ends. If
    /// absent, measuring ends when the comparison is decided.
    pub precision: Option<f64>,
}

impl Amount {
    /// Returns the rule that ends the measurement of `commands` commands.
    pub fn stop_rule(&self, commands: usize) -> StopRule {
        if let Some(runs) = self.runs {
            return StopRule::Runs(runs);
        }
        let one = commands == 1;
        let soft = self.time.unwrap_or(TIME);
        let hard = match (self.time, self.min_runs) {
            (Some(time), None) => time,
            // An explicit minimum of runs has no time limit.
            _ => Duration::MAX,
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
    fn ten_seconds_or_ten_rounds_whichever_is_later() {
        let one = limits(Amount::default(), 1);
        let two = limits(Amount::default(), 2);
        assert_eq!((one.precision, two.precision), (Some(0.005), None));
        for each in [one, two] {
            assert_eq!((each.soft.as_secs(), each.minimum), (10, 10));
            assert_eq!(each.hard, Duration::MAX);
        }
    }

    #[test]
    fn a_time_that_was_asked_for_ends_it_before_the_fewest_rounds_too() {
        let amount = Amount {
            time: Some(Duration::from_secs(300)),
            ..Amount::default()
        };
        let asked = limits(amount, 2);
        assert_eq!((asked.soft, asked.hard), (asked.hard, asked.soft));
        assert_eq!(asked.soft.as_secs(), 300);
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
