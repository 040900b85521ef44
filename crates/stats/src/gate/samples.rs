//! The runs of one benchmark, and the clock for comparing them.

use fathom_model::Metric;

/// The share of wall time from which on wall times differ mostly by waits for a CPU. They are then compared
/// without these waits (the same limit as in `bench`).
const WAIT_SHARE: f64 = 0.005;

/// One run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GateRun {
    /// Wall time in seconds, or the requested metric in its unit; 0 if unknown.
    pub value: f64,
    /// Wall time minus waits for a CPU, in seconds, if known and if time is judged.
    pub cpu_wait_free: Option<f64>,
}

/// Two runs of base and two of head, measured in one round in a random order.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GateRound {
    /// Runs of base, each using its own copy if head has one.
    pub base: [GateRun; 2],
    /// Runs of head. If head ran once, both are the same run.
    pub head: [GateRun; 2],
}

/// Pairs of values, one pair per round, matched by position.
#[derive(Debug, Clone, Default)]
pub(super) struct Pairs {
    pub(super) reference: Vec<f64>,
    pub(super) subject: Vec<f64>,
}

/// Runs by round.
#[derive(Debug, Clone, Default)]
pub(super) struct Samples {
    base: Vec<GateRun>,
    head: Vec<GateRun>,
}

impl Samples {
    pub(super) fn add(&mut self, round: &GateRound) {
        self.base.extend(round.base);
        self.head.extend(round.head);
    }

    pub(super) fn rounds(&self) -> usize {
        self.base.len() / 2
    }

    pub(super) fn with(&self, more: &Samples) -> Samples {
        let mut all = self.clone();
        all.base.extend(&more.base);
        all.head.extend(&more.head);
        all
    }

    /// Returns the metric for comparing runs. The choice doesn't depend on the side of a run: the waits of
    /// most runs of both sides must be known (they aren't for a program with children), and must matter.
    pub(super) fn metric(&self) -> Metric {
        let mostly_known = |runs: &[GateRun]| {
            let known = runs
                .iter()
                .filter(|run| run.cpu_wait_free.is_some())
                .count();
            2 * known >= runs.len()
        };
        let (mut wall, mut waited) = (0.0, 0.0);
        for run in self.base.iter().chain(&self.head) {
            wall += run.value;
            waited += run.cpu_wait_free.map_or(0.0, |free| run.value - free);
        }
        let known = mostly_known(&self.base) && mostly_known(&self.head);
        match known && waited > WAIT_SHARE * wall {
            true => Metric::Undisturbed,
            false => Metric::Wall,
        }
    }

    /// Returns the values of `runs`. An unknown value is 0, and its pair is skipped.
    fn values(&self, runs: &[GateRun]) -> Vec<f64> {
        let metric = self.metric();
        let value = |run: &GateRun| match metric {
            Metric::Undisturbed => run.cpu_wait_free.unwrap_or(0.0),
            _ => run.value,
        };
        runs.iter().map(value).collect()
    }

    /// Returns base and head, one pair per round: the geometric mean of the two runs of each. Common
    /// properties of a round's runs, such as the memory pages of their files, would make two pairs of the
    /// same round similar, and an interval that counted both would be too narrow. A value is 0 if one of the
    /// two runs is unknown.
    pub(super) fn pairs(&self) -> Pairs {
        let both = |runs: &[GateRun]| -> Vec<f64> {
            let values = self.values(runs);
            values
                .chunks(2)
                .map(|two| two.iter().product::<f64>().sqrt())
                .collect()
        };
        Pairs {
            reference: both(&self.base),
            subject: both(&self.head),
        }
    }

    /// Returns base and its copy in the same round.
    pub(super) fn null_pairs(&self) -> Pairs {
        let all = self.values(&self.base);
        Pairs {
            reference: all.iter().step_by(2).copied().collect(),
            subject: all.iter().skip(1).step_by(2).copied().collect(),
        }
    }

    /// Like [`Samples::null_pairs`], but returns wall times.
    pub(super) fn null_walls(&self) -> (Vec<f64>, Vec<f64>) {
        let walls = || self.base.iter().map(|run| run.value);
        (
            walls().step_by(2).collect(),
            walls().skip(1).step_by(2).collect(),
        )
    }
}
