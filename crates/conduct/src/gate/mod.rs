//! `gate`: a suite at base and at head, measured in one go and judged.

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

/// What a change must exceed where nothing is set.
pub const MARGIN: f64 = 0.03;
/// How long a gate measures where nothing is said.
pub const TIME: Duration = Duration::from_secs(300);

/// A benchmark at base and at head.
#[derive(Debug, Clone)]
pub struct GateTarget {
    /// Its name.
    pub name: String,
    /// At base.
    pub base: Target,
    /// Base once more, with files and a build of its own where head has them: the null arm.
    pub twin: Target,
    /// At head.
    pub head: Target,
    /// What is judged of it.
    pub judged: Vec<Judged>,
    /// Metrics that may not exceed something.
    pub budgets: Vec<Budget>,
}

/// A metric of a benchmark that may not become worse.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Judged {
    /// Which; time, by the clock that suits the runs, if it is `None`.
    pub metric: Option<Metric>,
    /// Smallest change that counts, as a share.
    pub margin: f64,
}

/// What is asked of a benchmark by these metrics, each with its own margin if it has one, where others have
/// `margin`: time if none is named. What is counted is a budget, unless it was given a margin: it may not be
/// more than at base.
pub fn asked(metrics: &[(Metric, Option<f64>)], margin: f64) -> (Vec<Judged>, Vec<Budget>) {
    let (mut judged, mut budgets) = (Vec::new(), Vec::new());
    for (metric, own) in metrics {
        match own.filter(|own| *own > 0.0) {
            None if metric.is_exact() => budgets.push(Budget::as_base(*metric)),
            _ => judged.push(Judged {
                // The clock is chosen by the runs.
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

/// By which rule it is judged.
#[derive(Debug, Clone, PartialEq)]
pub enum Rule {
    /// Paired rounds until each benchmark is decided, what looks worse confirmed in fresh rounds.
    Paired {
        /// Whether `cannot tell` lets the suite pass.
        undecided_passes: bool,
    },
    /// The fastest of so many runs of either side.
    BestOf {
        /// The rule.
        rule: BestOf,
        /// Benchmarks that can't fail alone.
        protected: Vec<String>,
    },
}

/// What is to be judged, and how.
#[derive(Debug, Clone)]
pub struct GatePlan {
    /// What is compared with.
    pub base: GateSide,
    /// What is judged.
    pub head: GateSide,
    /// The suite.
    pub targets: Vec<GateTarget>,
    /// Folders that only one side reads: the pages of their files are dealt anew before each round.
    pub folders: Vec<PathBuf>,
    /// Benchmarks that aren't measured, and why.
    pub left_out: Vec<LeftOut>,
    /// What head changes in the settings.
    pub settings_changed: Vec<String>,
    /// Known changes that are let pass.
    pub waivers: Vec<Waiver>,
    /// Today, as waivers write it.
    pub today: String,
    /// Margin of benchmarks without one of their own, for the record.
    pub margin: f64,
    /// The rule.
    pub rule: Rule,
    /// The suite is measured in so many parts of its own, of which this is one: 1 if it is all of it.
    pub parts: usize,
    /// Longest time of measuring.
    pub time: Duration,
    /// Warm-up rounds.
    pub warmup: u32,
    /// Seed of the order.
    pub seed: u64,
    /// The store whose earlier gates say how noisy each benchmark is.
    pub history: Option<Location>,
    /// Failures that are counted instead of ending everything.
    pub ignore_failure: IgnoreFailure,
    /// Wait until the machine is quiet, at most this long.
    pub require_quiet: Option<Duration>,
    /// How the commands are run.
    pub terms: RunTerms,
}

/// A verdict, what went wrong, and what is behind it.
#[derive(Debug)]
pub struct Gated {
    /// The verdict; what was known of it if something went wrong.
    pub record: GateRecord,
    /// Why measuring ended early, if it did so by a failure.
    pub failure: Option<MeasureError>,
    /// What head takes more than base, for the first rows of the record that are worse in time, by
    /// their places.
    pub differences: Vec<(usize, Differs)>,
}

/// What was measured, before it is put into words.
struct Measured {
    gate: Gate,
    /// Noise floors from earlier gates, by row.
    floors: Vec<Option<Floor>>,
    /// Runs of base and of head, by benchmark, in the order of the rounds.
    runs: Vec<[Vec<Run>; 2]>,
    /// All rounds that are complete.
    seconds: f64,
    /// Ended by the user.
    interrupted: bool,
    failure: Option<MeasureError>,
}

/// Measures base and head of all benchmarks in the same rounds until each is decided or the time is
/// over, and judges.
///
/// # Errors
/// What keeps it from being measured at all. A run that fails ends measuring; the record then says
/// what was known.
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
            "the noise floor is from this measurement alone, earlier gates can't be read: {error}"
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
    /// What is decided, with the place of its benchmark: each metric of each.
    fn rows(&self) -> impl Iterator<Item = (usize, Judged)> {
        let targets = self.targets.iter().enumerate();
        targets.flat_map(|(place, target)| target.judged.iter().map(move |one| (place, *one)))
    }

    /// The noise floor of each row. What earlier gates say is of time.
    fn floors(&self, of_targets: &[Option<Floor>]) -> Vec<Option<Floor>> {
        let floor = |(place, judged): (usize, Judged)| match judged.metric {
            None => of_targets[place],
            Some(_) => None,
        };
        self.rows().map(floor).collect()
    }
}

/// What the decision asks of each row.
fn questions(plan: &GatePlan, floors: &[Option<Floor>]) -> Vec<GateQuestion> {
    let question = |((_, judged), floor): ((usize, Judged), &Option<Floor>)| GateQuestion {
        metric: judged.metric,
        margin: judged.margin,
        floor: floor.map(|floor| floor.share),
    };
    plan.rows().zip(floors).map(question).collect()
}

/// Tells who watches how far it is.
fn report(gate: &Gate, observer: &mut dyn Observer, rounds: usize) {
    let wanted = gate.wanted();
    observer.on(Event::Gates {
        rounds,
        undecided: wanted.iter().filter(|rounds| **rounds > 0).count(),
        of: wanted.len(),
        confirms: (0..wanted.len()).any(|benchmark| gate.is_confirming(benchmark)),
    });
}
