//! Computes a slope from rounds of delayed runs. Pure functions.

use std::collections::BTreeMap;

use fathom_model::{Metric, Run, Slope};
use fathom_stats::slope_in_rounds;

/// How often the interval contains the true share.
const LEVEL: f64 = 0.95;
/// The minimum share of the time that the largest delay must have; with less, the variation between runs
/// could be mistaken for its effect.
const LEAST: f64 = 0.03;

/// How the runs of a measurement become a slope.
#[derive(Debug, Clone, PartialEq)]
pub struct Slopes {
    /// What was delayed, by the name that `--try` accepts.
    pub of: String,
    /// The delay of each run, in seconds, by command; `None` if the runs report it themselves.
    pub(super) per_run: Option<[f64; 4]>,
}

impl Slopes {
    /// Returns the slope of time over delay. Returns `None` if there are too few rounds with all sizes, or if
    /// hardly anything was delayed.
    ///
    /// If the smallest delay may have had no effect, but larger ones had, the interval begins with the slope of
    /// the smallest: a delay that is longer than what a thread waits for puts it on the critical path.
    pub(crate) fn of(&self, runs: &[Run], metric: Metric) -> Option<Slope> {
        let mut rounds: BTreeMap<u32, BTreeMap<usize, [f64; 2]>> = BTreeMap::new();
        let mut added = vec![Vec::new(); super::SIZES.len()];
        let mut times = Vec::new();
        for run in runs.iter().filter(|run| run.exit.is_success()) {
            let known = self.per_run.and_then(|all| all.get(run.benchmark).copied());
            let measured = || run.delayed_ns.map(|ns| ns as f64 / 1e9);
            let (Some(delay), Some(time)) = (known.or_else(measured), metric.of(run)) else {
                continue;
            };
            let round = rounds.entry(run.round).or_default();
            round.insert(run.benchmark, [delay, time]);
            times.push(time);
            added.get_mut(run.benchmark)?.push(delay);
        }
        let whole = rounds.values().filter(|points| points.len() == added.len());
        let whole: Vec<Vec<[f64; 2]>> = whole
            .map(|points| points.values().copied().collect())
            .collect();
        let mean = |all: &[f64]| all.iter().sum::<f64>() / all.len().max(1) as f64;
        let added: Vec<f64> = added.iter().map(|all| mean(all)).collect();
        if whole.len() < super::FEWEST_ROUNDS as usize || added.last()? < &(LEAST * mean(&times)) {
            return None;
        }
        let of_sizes = |sizes: usize| {
            let points: Vec<_> = whole.iter().map(|all| all[..sizes].to_vec()).collect();
            let slope = slope_in_rounds(&points, LEVEL)?;
            Some(Slope {
                of: self.of.clone(),
                value: slope.value,
                low: slope.low,
                high: slope.high,
                rounds: whole.len() as u32,
                added_ms: added.iter().map(|one| 1e3 * one).collect(),
            })
        };
        let all = of_sizes(added.len())?;
        match all.is_on_the_path() {
            Some(true) => {
                let smallest = of_sizes(2)?;
                Some(match smallest.low > Slope::ON_THE_PATH {
                    true => all,
                    false => Slope {
                        low: smallest.low,
                        ..all
                    },
                })
            }
            _ => Some(all),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_measure::{Attempt, simulated::quiet_run};

    /// Returns runs in which this share of a delay appears in the time.
    fn runs(share: f64) -> Vec<Run> {
        runs_taking(|delay| share * delay)
    }

    /// Returns runs that take this much longer if they are delayed.
    fn runs_taking(longer: impl Fn(f64) -> f64) -> Vec<Run> {
        let of = |round: u32, benchmark: usize| {
            let delay = benchmark as f64 * 10e6;
            let noise = f64::from((round * 7 + benchmark as u32 * 3) % 5) * 1e5;
            let attempt = Attempt {
                benchmark,
                warmup: false,
                round,
                position: benchmark as u32,
            };
            Run {
                delayed_ns: Some(delay as u64),
                ..quiet_run(&attempt, (100e6 + longer(delay) + noise) as u64)
            }
        };
        (0..12)
            .flat_map(|round| (0..4).map(move |benchmark| (round, benchmark)))
            .map(|(round, benchmark)| of(round, benchmark))
            .collect()
    }

    fn slopes(per_run: Option<[f64; 4]>) -> Slopes {
        Slopes {
            of: "slope:x".to_owned(),
            per_run,
        }
    }

    #[test]
    fn the_share_that_comes_out_is_the_slope() {
        for share in [0.0, 0.4, 1.0] {
            let slope = slopes(None).of(&runs(share), Metric::Wall).unwrap();
            assert!((slope.value - share).abs() < 0.02, "{slope:?}");
            assert!(
                slope.low <= share + 0.01 && share - 0.01 <= slope.high,
                "{slope:?}"
            );
            assert_eq!((slope.rounds, slope.added_ms.len()), (12, 4));
        }
    }

    #[test]
    fn what_perhaps_only_a_large_delay_puts_on_the_path_is_undecided() {
        // The thread waits for 12 of the 30 ms of the largest delay.
        let runs = runs_taking(|delay| (delay - 12e6).max(0.0));
        let slope = slopes(None).of(&runs, Metric::Wall).unwrap();
        assert_eq!(slope.is_on_the_path(), None, "{slope:?}");
    }

    #[test]
    fn a_delay_that_is_known_beforehand_goes_first() {
        let per_run = Some([0.0, 0.02, 0.04, 0.06]);
        let slope = slopes(per_run).of(&runs(1.0), Metric::Wall).unwrap();
        assert!((slope.value - 0.5).abs() < 0.02, "{slope:?}");
    }

    #[test]
    fn a_run_without_the_metric_takes_only_its_round_away() {
        let mut runs = runs(1.0);
        runs[5].delayed_ns = None;
        assert_eq!(slopes(None).of(&runs, Metric::Wall).unwrap().rounds, 11);
    }

    #[test]
    fn nothing_follows_where_nothing_was_delayed() {
        let undelayed = |run: Run| Run {
            delayed_ns: Some(0),
            ..run
        };
        let runs: Vec<Run> = runs(1.0).into_iter().map(undelayed).collect();
        assert_eq!(slopes(None).of(&runs, Metric::Wall), None);
        assert_eq!(slopes(None).of(&[], Metric::Wall), None);
    }
}
