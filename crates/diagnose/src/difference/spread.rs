//! Computes how uncertain each part is.
//!
//! There are two sources of uncertainty. *The timed runs*: an account adds up to a median that is known only
//! within an interval. Each part gets its share of the interval of its kind (CPU time, waits for a CPU, other
//! waits), which is computed from the rounds. *The observed runs*: the breakdown of the median varies from
//! run to run. If each command was observed several times, this is the spread of the part itself, by Welch's
//! interval; if it was observed once, it is the spread of the part's kind over the timed runs. Parts known
//! from samples also have the uncertainty of the number of samples. The squares of the uncertainties are
//! added.

use std::collections::BTreeMap;

use fathom_model::{Run, TimeCategory};

use super::table::Series;

/// The kind of time that determines how a part varies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    OnCpu,
    ForCpu,
    Waits,
}

pub(super) fn kind(spent: TimeCategory) -> Kind {
    match spent {
        TimeCategory::Ready | TimeCategory::Throttled | TimeCategory::Stolen => Kind::ForCpu,
        TimeCategory::UserCode => Kind::OnCpu,
        spent if spent.is_in_kernel() => Kind::OnCpu,
        _ => Kind::Waits,
    }
}

/// Returns a run's time of this kind in ns. With several threads, CPU time may exceed wall time; all that is
/// then known about the waits is that they are within the wall time.
fn of_run(run: &Run, kind: Kind) -> f64 {
    let queued = run.run_queue_wait_ns.unwrap_or(0);
    match kind {
        Kind::OnCpu => run.cpu_ns as f64,
        Kind::ForCpu => queued as f64,
        Kind::Waits => match run.wall_ns.checked_sub(run.cpu_ns + queued) {
            Some(waits) => waits as f64,
            None => run.wall_ns as f64,
        },
    }
}

/// The interval of a difference, in ns.
#[derive(Debug, Clone, Copy)]
pub(super) struct Interval {
    pub low: f64,
    pub high: f64,
}

impl Interval {
    /// Returns whether the interval excludes zero.
    pub(super) fn leaves_out_nothing(self) -> bool {
        self.low > 0.0 || self.high < 0.0
    }
}

/// Half of the width of a part's interval.
#[derive(Debug, Clone, Copy)]
pub(super) struct Half(f64);

impl Half {
    pub(super) fn around(self, value: f64) -> Interval {
        Interval {
            low: value - self.0,
            high: value + self.0,
        }
    }
}

/// The known spread of both commands.
pub(super) struct Spread {
    /// Half of the width of the interval of the difference in each kind, as a part of the larger median.
    of_medians: BTreeMap<Kind, f64>,
    /// The standard deviation of a run of A and of B, as a part of its median.
    of_runs: BTreeMap<Kind, [f64; 2]>,
    level: f64,
}

const KINDS: [Kind; 3] = [Kind::OnCpu, Kind::ForCpu, Kind::Waits];

impl Spread {
    /// Computes the spread. `level` is the confidence level of each interval, 0 to 1.
    pub(super) fn of(a: &[Run], b: &[Run], level: f64) -> Spread {
        let mut spread = Spread {
            of_medians: BTreeMap::new(),
            of_runs: BTreeMap::new(),
            level,
        };
        for kind in KINDS {
            let (of_a, of_b) = paired(a, b, |run| of_run(run, kind));
            let larger = median(&of_a).max(median(&of_b)).max(1.0);
            let half = match fathom_stats::paired_difference(&of_a, &of_b, level) {
                Some(known) => widened((known.high - known.low) / 2.0, known.level, level),
                None => f64::INFINITY,
            };
            spread.of_medians.insert(kind, half / larger);
            let of_runs = [&of_a, &of_b].map(|values| deviation(values) / median(values).max(1.0));
            spread.of_runs.insert(kind, of_runs);
        }
        spread
    }

    pub(super) fn half(&self, series: &Series) -> Half {
        let mut squares = 0.0;
        let mut of_runs = 0.0;
        for (spent, ns) in &series.by {
            let kind = kind(*spent);
            let of_medians = self.of_medians[&kind] * ns[0].max(ns[1]);
            squares += of_medians.powi(2);
            of_runs += (0..2)
                .map(|side| (self.of_runs[&kind][side] * ns[side]).powi(2))
                .sum::<f64>();
        }
        let wide = fathom_stats::normal_half_width(self.level);
        squares += match fathom_stats::mean_difference(&series.ns[0], &series.ns[1], self.level) {
            Some(known) if known.level > 0.0 => ((known.high - known.low) / 2.0).powi(2),
            _ => wide.powi(2) * of_runs,
        };
        if let Some(samples) = series.samples {
            let means = series.means();
            let few = |side: usize| means[side].powi(2) / samples[side].max(1) as f64;
            squares += wide.powi(2) * (few(0) + few(1));
        }
        Half(squares.sqrt())
    }
}

/// Returns the values of A and of B by round, for rounds that have both, regardless of how the runs ended.
pub(super) fn paired(a: &[Run], b: &[Run], of: impl Fn(&Run) -> f64) -> (Vec<f64>, Vec<f64>) {
    let of_b: BTreeMap<u32, f64> = b.iter().map(|run| (run.round, of(run))).collect();
    let both = a
        .iter()
        .filter_map(|run| Some((of(run), *of_b.get(&run.round)?)));
    both.unzip()
}

fn median(values: &[f64]) -> f64 {
    fathom_stats::median_interval(values, 0.5).map_or(0.0, |median| median.value)
}

/// Returns the standard deviation of a normal sample that has the same median distance from its median. A
/// single disturbed run thus doesn't dominate.
fn deviation(values: &[f64]) -> f64 {
    /// The standard deviation of a normal distribution, in units of the median distance from the median.
    const OF_NORMAL: f64 = 1.4826;
    let middle = median(values);
    let distances: Vec<f64> = values.iter().map(|value| (value - middle).abs()).collect();
    OF_NORMAL * median(&distances)
}

/// Widens half of an interval to the wanted level, as for a normal distribution, if there were too few
/// rounds. If it has no level at all, the interval becomes infinite.
fn widened(half: f64, has: f64, wanted: f64) -> f64 {
    match has {
        has if has >= wanted => half,
        has if has <= 0.0 => f64::INFINITY,
        has => {
            half * fathom_stats::normal_half_width(wanted) / fathom_stats::normal_half_width(has)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_rounds_make_an_interval_wider_and_one_says_nothing() {
        assert_eq!(widened(2.0, 0.95, 0.95), 2.0);
        assert!((widened(2.0, 0.6827, 0.9545) - 4.0).abs() < 0.01);
        assert_eq!(widened(0.0, 0.0, 0.95), f64::INFINITY);
    }

    #[test]
    fn the_rounds_that_both_have_are_pairs() {
        let run = |round, ms: u64| Run {
            round,
            ..crate::fake::run(ms * 1_000_000, 0)
        };
        let (a, b) = ([run(0, 5), run(1, 6), run(2, 7)], [run(2, 9), run(0, 8)]);
        let ms = |run: &Run| run.wall_ns as f64 / 1e6;
        assert_eq!(paired(&a, &b, ms), (vec![5.0, 7.0], vec![8.0, 9.0]));
    }
}
