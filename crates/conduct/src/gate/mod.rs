//! `gate`: measures a suite at base and at head together, and judges it.

mod conclude;
mod exact;
mod explain;
mod floor;
mod joined;
mod journal;
mod rounds;

use std::path::PathBuf;
use std::time::Duration;

use fathom_measure::{IgnoreFailure, MeasureError, interrupt, now_rfc3339};
use fathom_model::{Environment, GateRecord, GateSide, LeftOut, Metric, Run, Waiver};
pub use fathom_stats::BestOf;
use fathom_stats::{Gate, GateQuestion};
use fathom_store::Location;
use floor::Floor;

use crate::quiet::wait_until_quiet;
use crate::why::Differs;
use crate::{ConductError, Event, Observer, RunTerms, Target, fingerprint};
pub use exact::{Budget, BudgetLimit};
pub use joined::joined;

/// The default margin that a change must exceed.
pub const MARGIN: f64 = 0.03;
/// The default time for which a gate measures.
pub const TIME: Duration = Duration::from_secs(300);

/// A benchmark at base and at head.
#[derive(Debug, Clone)]
pub struct GateTarget {
    /// Its name.
    pub name: String,
    /// The benchmark at base.
    pub base: Target,
    /// A second copy of base, with its own files and its own build, like head: the null arm.
    pub twin: Target,
    /// The benchmark at head.
    pub head: Target,
    /// The metrics that are judged.
    pub judged: Vec<Judged>,
    /// Metrics with an upper limit.
    pub budgets: Vec<Budget>,
}

/// A metric of a benchmark that must not become worse.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Judged {
    /// The metric; if `None`, time, by the clock that suits the runs.
    pub metric: Option<Metric>,
    /// The smallest change that counts, as a share.
    pub margin: f64,
}

/// Splits metrics into those judged and those with a budget. Metrics without their own margin use `margin`;
/// if none is named, time is judged. A counted metric becomes a budget of no more than base, unless it has
/// its own margin.
pub fn asked(metrics: &[(Metric, Option<f64>)], margin: f64) -> (Vec<Judged>, Vec<Budget>) {
    let (mut judged, mut budgets) = (Vec::new(), Vec::new());
    for (metric, own) in metrics {
        match own.filter(|own| *own > 0.0) {
            None if metric.is_exact() => budgets.push(Budget::as_base(*metric)),
            _ => judged.push(Judged {
                // The clock is chosen from the runs.
                metric: Some(*metric).filter(|metric| *metric != Metric::Wall),
                margin: own.unwrap_or(margin),
            }),
        }
    }
    if metrics.is_empty() {
        judged.push(Judged {
            metric: None,
            margin,
        });
    }
    (judged, budgets)
}

/// The rule that judges the suite.
#[derive(Debug, Clone, PartialEq)]
pub enum Rule {
    /// Runs paired rounds until each benchmark is decided. Benchmarks that look worse are confirmed in fresh
    /// rounds.
    Paired {
        /// Whether the suite passes with `cannot tell`.
        undecided_passes: bool,
    },
    /// Compares the fastest of several runs on each side.
    BestOf {
        /// The rule.
        rule: BestOf,
        /// Benchmarks that can't fail the suite on their own.
        protected: Vec<String>,
    },
}

/// What to judge, and how.
#[derive(Debug, Clone)]
pub struct GatePlan {
    /// The side to compare with.
    pub base: GateSide,
    /// The side to judge.
    pub head: GateSide,
    /// The benchmarks of the suite.
    pub targets: Vec<GateTarget>,
    /// Folders that only one side reads; the files in them get new pages before each round.
    pub folders: Vec<PathBuf>,
    /// Benchmarks that aren't measured, and why.
    pub left_out: Vec<LeftOut>,
    /// Settings that head changes.
    pub settings_changed: Vec<String>,
    /// Known changes that are allowed.
    pub waivers: Vec<Waiver>,
    /// Today's date, in the format of the waivers.
    pub today: String,
    /// The margin of benchmarks without their own, for the record.
    pub margin: f64,
    /// The rule.
    pub rule: Rule,
    /// The number of parts in which the suite is measured, this being one of them; 1 if this is the whole
    /// suite.
    pub parts: usize,
    /// The time limit for measuring.
    pub time: Duration,
    /// The number of warm-up rounds.
    pub warmup: u32,
    /// The seed of the run order.
    pub seed: u64,
    /// The store whose earlier gates show how noisy each benchmark is.
    pub history: Option<Location>,
    /// Failures that are counted instead of ending the measurement.
    pub ignore_failure: IgnoreFailure,
    /// Wait for the machine to become quiet, at most this long.
    pub require_quiet: Option<Duration>,
    /// How the commands are run.
    pub terms: RunTerms,
}

/// The verdict, and any failure.
#[derive(Debug)]
pub struct Gated {
    /// The verdict, or what was known before a failure.
    pub record: GateRecord,
    /// Why measuring ended early, if a failure ended it.
    pub failure: Option<MeasureError>,
    /// The additional work that head does compared with base, for the first rows of the record whose time is
    /// worse. Each has the index of its row.
    pub differences: Vec<(usize, Differs)>,
}

/// The measurements, before they are turned into a record.
struct Measured {
    gate: Gate,
    /// Noise floors from earlier gates, by row.
    floors: Vec<Option<Floor>>,
    /// Runs of base and of head, by benchmark, in the order of the rounds.
    runs: Vec<[Vec<Run>; 2]>,
    /// The total duration of all complete rounds, in seconds.
    seconds: f64,
    /// Whether the user ended it.
    interrupted: bool,
    failure: Option<MeasureError>,
}

/// Measures base and head of all benchmarks in the same rounds until each is decided or the time is up, then
/// judges them.
///
/// # Errors
/// If nothing can be measured at all. A failing run ends the measurement; the record then holds what was
/// known until then.
pub fn gate(plan: &GatePlan, observer: &mut dyn Observer) -> Result<Gated, ConductError> {
    let _limit = interrupt::until(plan.terms.deadline);
    let started_at = now_rfc3339();
    if let Some(patience) = plan.require_quiet {
        wait_until_quiet(patience, observer)?;
    }
    fingerprint::take(observer);
    let environment: Environment = fingerprint::environment();
    let history = plan.history.as_ref();
    let floors = history.map(|store| floor::of(store, &environment, &plan.targets));
    let (floors, unread) = match floors.transpose() {
        Ok(floors) => (floors, None),
        Err(error) => (None, Some(error)),
    };
    let floors = floors.unwrap_or_else(|| vec![None; plan.targets.len()]);
    let measured = rounds::measure(plan, plan.floors(&floors), observer)?;
    if measured.seconds == 0.0 && measured.failure.is_none() && measured.interrupted {
        return Err(MeasureError::Interrupted.into());
    }
    let mut record = conclude::record(plan, started_at, environment, &measured);
    record.notes.extend(unread.map(|error| {
        format!(
            "the noise floor is estimated from this measurement alone, because earlier gates can't be read: {error}"
        )
    }));
    let differences = match record.complete && !record.null_arm.failed {
        true => explain::explain(plan, &measured, &record, observer),
        false => Vec::new(),
    };
    Ok(Gated {
        record,
        failure: measured.failure,
        differences,
    })
}

impl GatePlan {
    /// Returns the rows to decide, one for each metric of each benchmark, with the index of the benchmark.
    fn rows(&self) -> impl Iterator<Item = (usize, Judged)> {
        let targets = self.targets.iter().enumerate();
        targets.flat_map(|(place, target)| target.judged.iter().map(move |one| (place, *one)))
    }

    /// Returns the noise floor of each row. Earlier gates give floors only for time.
    fn floors(&self, of_targets: &[Option<Floor>]) -> Vec<Option<Floor>> {
        let floor = |(place, judged): (usize, Judged)| match judged.metric {
            None => of_targets[place],
            Some(_) => None,
        };
        self.rows().map(floor).collect()
    }
}

/// Returns, for each row, the question that the decision rule answers.
fn questions(plan: &GatePlan, floors: &[Option<Floor>]) -> Vec<GateQuestion> {
    let question = |((_, judged), floor): ((usize, Judged), &Option<Floor>)| GateQuestion {
        metric: judged.metric,
        margin: judged.margin,
        floor: floor.map(|floor| floor.share),
    };
    plan.rows().zip(floors).map(question).collect()
}

/// Reports progress to the observer.
fn report(gate: &Gate, observer: &mut dyn Observer, rounds: usize) {
    let wanted = gate.wanted();
    observer.on(Event::Gates {
        rounds,
        undecided: wanted.iter().filter(|rounds| **rounds > 0).count(),
        of: wanted.len(),
        confirms: (0..wanted.len()).any(|benchmark| gate.is_confirming(benchmark)),
    });
}
