//! How much is measured where nothing, or not everything, is said of it.

use std::time::Duration;

use fathom_measure::{Limits, StopRule};

/// People wait this long for an answer, for a median or for a verdict. It doesn't limit the fewest
/// rounds, without which there is no verdict. When it was five minutes, two commands that didn't
/// differ took 237 s.
const TIME: Duration = Duration::from_secs(10);
/// As long as this may be measured where revisions are built for it: the builds take minutes anyway,
/// and what is undecided is asked for with all of them again.
pub const TIME_BESIDE_BUILDS: Duration = Duration::from_secs(300);
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
        let soft = self.time.unwrap_or(TIME);
        let hard = match (self.time, self.min_runs) {
            (Some(time), None) => time,
            // Runs that were asked for are made, however long it takes.
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
