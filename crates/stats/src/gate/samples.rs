//! The runs of one benchmark, and by which clock they are compared.

use fathom_model::Metric;

/// From this share of wall time on, waiting for a CPU is what wall times mostly differ by, and they are
/// compared without it (the same limit as `bench`).
const WAIT_SHARE: f64 = 0.005;

/// One run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GateRun {
    /// Wall time, seconds.
    pub wall: f64,
    /// Wall time less waits for a CPU, seconds, where that is known.
    pub cpu_wait_free: Option<f64>,
}

/// Two runs of base and two of head, measured in one round in a random order.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GateRound {
    /// Runs of base.
    pub base: [GateRun; 2],
    /// Runs of head.
    pub head: [GateRun; 2],
}

/// Two values of each round, one after the other, that belong together by position.
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

    /// The choice is the same whichever side a run is of: both must know the waits of most runs (a
    /// program with children doesn't), and wait.
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
            wall += run.wall;
            waited += run.cpu_wait_free.map_or(0.0, |free| run.wall - free);
        }
        let known = mostly_known(&self.base) && mostly_known(&self.head);
        match known && waited > WAIT_SHARE * wall {
            true => Metric::Undisturbed,
            false => Metric::Wall,
        }
    }

    /// A value that isn't known is 0, and its pair is left out.
    fn values(&self, runs: &[GateRun]) -> Vec<f64> {
        let metric = self.metric();
        let value = |run: &GateRun| match metric {
            Metric::Undisturbed => run.cpu_wait_free.unwrap_or(0.0),
            _ => run.wall,
        };
        runs.iter().map(value).collect()
    }

    /// Base and head of the same round.
    pub(super) fn pairs(&self) -> Pairs {
        Pairs {
            reference: self.values(&self.base),
            subject: self.values(&self.head),
        }
    }

    /// Two runs of the same program in the same round, base's and head's.
    pub(super) fn null_pairs(&self) -> Pairs {
        let all: Vec<f64> = self
            .values(&self.base)
            .into_iter()
            .chain(self.values(&self.head))
            .collect();
        Pairs {
            reference: all.iter().step_by(2).copied().collect(),
            subject: all.iter().skip(1).step_by(2).copied().collect(),
        }
    }

    /// The same in wall time, of base alone.
    pub(super) fn null_walls(&self) -> (Vec<f64>, Vec<f64>) {
        let walls = || self.base.iter().map(|run| run.wall);
        (
            walls().step_by(2).collect(),
            walls().skip(1).step_by(2).collect(),
        )
    }
}
