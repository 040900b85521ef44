//! Assesses runs. Pure: the same runs always give the same result.

mod observations;
mod other_metrics;

use std::collections::BTreeSet;

use fathom_model::{
    AskedMetric, Benchmark, BenchmarkResult, Comparison, Estimate, Floor, Metric, Outcome, Run,
    StopReason, Summary, Verdict,
};
use fathom_stats::PairData;
use fathom_stats::sequential::Allowance;

/// What to compare, and how closely.
#[derive(Debug, Clone, PartialEq)]
pub struct Question {
    /// Names of the benchmarks.
    pub names: Vec<String>,
    /// What each benchmark is compared with.
    pub against: Against,
    /// The metrics to compare; the first one is used for the medians. If empty, the clock that carries
    /// verdicts.
    pub metrics: Vec<AskedMetric>,
    /// Differences in time up to this share count as no difference (0.01 is 1 %).
    pub margin: f64,
    /// How often an interval may miss the ratio: 0.05 is one time in twenty. Identical programs are reported
    /// as different more rarely; see [`fathom_stats::sequential::CLAIM_SHARE`].
    pub alpha: f64,
}

/// Which benchmarks are compared with which.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Against {
    /// Compares all other benchmarks with this one.
    One(usize),
    /// Compares each benchmark with its predecessor: versions in order.
    Previous,
    /// Compares the last benchmark with the geometric mean of the two before it in each round, to decide
    /// which of the two it is nearer to.
    Middle,
}

impl Against {
    /// Returns the references of each comparison, one or two, and its subject.
    fn comparisons(self, benchmarks: usize) -> Vec<([usize; 2], usize)> {
        match self {
            Against::One(reference) => (0..benchmarks)
                .filter(|subject| *subject != reference)
                .map(|subject| ([reference, reference], subject))
                .collect(),
            Against::Previous => (1..benchmarks)
                .map(|subject| ([subject - 1, subject - 1], subject))
                .collect(),
            Against::Middle => (2..benchmarks)
                .skip(benchmarks.saturating_sub(3))
                .map(|subject| ([subject - 2, subject - 1], subject))
                .collect(),
        }
    }
}

/// The comparisons of a session.
#[derive(Debug, Clone, PartialEq)]
pub struct Verdicts {
    /// The first requested metric, or else the clock that carries the verdicts.
    pub metric: Metric,
    /// The comparisons of each benchmark with its reference, in `metric` and the other requested metrics.
    pub comparisons: Vec<Comparison>,
    /// The same comparisons by the other clock, if available.
    pub cross_checks: Vec<Comparison>,
    /// The median of each benchmark in the first metric.
    pub medians: Vec<Option<Estimate>>,
}

impl Verdicts {
    /// Reports whether every comparison has an answer. Without comparisons, there is nothing to decide.
    pub fn is_decided(&self) -> bool {
        !self.comparisons.is_empty()
            && self
                .comparisons
                .iter()
                .all(|c| c.verdict != Verdict::Undecided)
    }

    /// Reports whether every median and every ratio is known to within the share `precision`.
    pub fn is_precise(&self, precision: f64, benchmarks: usize) -> bool {
        let medians: Vec<_> = self.medians.iter().flatten().collect();
        medians.len() == benchmarks
            && medians.iter().all(|m| m.relative_half_width() <= precision)
            && self
                .comparisons
                .iter()
                .all(|c| c.ratio.relative_half_width() <= precision)
    }
}

/// The share of the wall time from which differences between wall times are mostly waits for a CPU.
const WAIT_SHARE: f64 = 0.005;

/// A clock that is missing in more than this share of the runs is not used. Values are missing at random (the
/// launcher noticed an exit late), so the rest is a fair sample; a program with threads or children lacks the
/// clock in every run.
const MISSING_SHARE: f64 = 0.5;

/// Returns the clock that carries the verdict: undisturbed time if every benchmark has it and runs had to
/// wait for a CPU, otherwise wall time. Undisturbed time can't use a round in which a run lacks it. If any
/// round is lost in this way, at least `fewest` must remain; with fewer, undisturbed time couldn't support a
/// claim that wall time can.
///
/// The choice depends on all runs together and never on which benchmark a run belongs to, so it can't favor
/// one of two identical programs.
pub fn clock(runs: &[Run], benchmarks: usize, fewest: usize) -> Metric {
    let everywhere = (0..benchmarks).all(|benchmark| has_undisturbed(runs, benchmark))
        && has_enough_rounds(runs, fewest);
    let waited: u64 = runs
        .iter()
        .filter_map(|r| r.wall_ns.checked_sub(r.undisturbed_ns?))
        .sum();
    let wall: u64 = runs.iter().map(|r| r.wall_ns).sum();
    if everywhere && waited as f64 > WAIT_SHARE * wall as f64 {
        Metric::Undisturbed
    } else {
        Metric::Wall
    }
}

fn has_undisturbed(runs: &[Run], benchmark: usize) -> bool {
    let (mut with, mut all) = (0usize, 0usize);
    for run in runs.iter().filter(|run| run.benchmark == benchmark) {
        all += 1;
        with += usize::from(run.undisturbed_ns.is_some());
    }
    all > 0 && (all - with) as f64 <= MISSING_SHARE * all as f64
}

/// Reports whether all runs have undisturbed time, or at least `fewest` rounds are complete.
fn has_enough_rounds(runs: &[Run], fewest: usize) -> bool {
    let without = |run: &&Run| run.undisturbed_ns.is_none();
    let lost: BTreeSet<u32> = runs.iter().filter(without).map(|run| run.round).collect();
    let all: BTreeSet<u32> = runs.iter().map(|run| run.round).collect();
    lost.is_empty() || all.len() - lost.len() >= fewest
}

/// Compares every benchmark with its reference.
pub fn verdicts(runs: &[Run], question: &Question, allowance: Allowance) -> Verdicts {
    let benchmarks = question.names.len();
    let fewest = fathom_stats::fewest_rounds(1.0 - allowance.claim);
    let by_clock = |metric| AskedMetric {
        metric,
        margin: question.margin,
    };
    let asked = match question.metrics.is_empty() {
        true => vec![by_clock(clock(runs, benchmarks, fewest))],
        false => question.metrics.clone(),
    };
    let metric = asked[0].metric;
    let other = match metric {
        Metric::Wall => Metric::Undisturbed,
        _ => Metric::Wall,
    };
    let has_both = || (0..benchmarks).all(|b| has_undisturbed(runs, b));
    let cross_checks = match question.metrics.is_empty() && has_both() {
        true => compare(runs, question, &[by_clock(other)], allowance),
        false => Vec::new(),
    };
    let median = |benchmark| {
        let values = values(runs, benchmark, metric);
        fathom_stats::median_interval(&values, 1.0 - allowance.interval.min(0.05))
    };
    Verdicts {
        metric,
        comparisons: compare(runs, question, &asked, allowance),
        cross_checks,
        medians: (0..benchmarks).map(median).collect(),
    }
}

/// Compares each benchmark with its reference in each of these metrics, one metric after the other.
fn compare(
    runs: &[Run],
    question: &Question,
    asked: &[AskedMetric],
    allowance: Allowance,
) -> Vec<Comparison> {
    let against = question.against.comparisons(question.names.len());
    let pairs: Vec<_> = asked
        .iter()
        .flat_map(|asked| {
            against
                .iter()
                .map(move |(of, subject)| (asked, of, *subject))
        })
        .map(|(asked, references, subject)| {
            let values = paired(runs, *references, subject, asked.metric);
            (asked, references[0], subject, values)
        })
        .collect();
    let data: Vec<PairData> = pairs
        .iter()
        .map(|(asked, reference, subject, values)| PairData {
            reference_index: *reference,
            subject_index: *subject,
            metric: asked.metric,
            reference: &values.0,
            subject: &values.1,
            margin: asked.margin,
        })
        .collect();
    match data.is_empty() {
        true => Vec::new(),
        false => fathom_stats::judge(&data, allowance),
    }
}

/// Returns the values of the reference (or of the middle of two) and of the subject, for the rounds in which
/// all of their runs succeeded and have a value.
pub fn paired(
    runs: &[Run],
    references: [usize; 2],
    subject: usize,
    metric: Metric,
) -> (Vec<f64>, Vec<f64>) {
    let rounds = runs
        .iter()
        .map(|run| run.round as usize + 1)
        .max()
        .unwrap_or(0);
    let mut by_round = vec![[None; 3]; rounds];
    for run in runs.iter().filter(|run| run.exit.is_success()) {
        let slots = &mut by_round[run.round as usize];
        for (slot, benchmark) in slots
            .iter_mut()
            .zip([references[0], references[1], subject])
        {
            if run.benchmark == benchmark {
                *slot = metric.of(run);
            }
        }
    }
    by_round
        .into_iter()
        .filter_map(|[a, b, subject]| Some((fathom_stats::geometric_middle(a?, b?), subject?)))
        .unzip()
}

/// Returns the values of the successful runs, or of all runs if none succeeded: a failing run only measures
/// its failure.
fn values(runs: &[Run], benchmark: usize, metric: Metric) -> Vec<f64> {
    let own = || runs.iter().filter(|run| run.benchmark == benchmark);
    let none_succeeded = !own().any(|run| run.exit.is_success());
    own()
        .filter(|run| none_succeeded || run.exit.is_success())
        .filter_map(|run| metric.of(run))
        .collect()
}

/// Returns the complete assessment of a session.
pub fn assess(
    runs: &[Run],
    benchmarks: &[Benchmark],
    question: &Question,
    allowance: Allowance,
    stop: StopReason,
    floor_ns: &[u64],
) -> Outcome {
    let verdicts = verdicts(runs, question, allowance);
    // These warnings are about times.
    let asks_for_time = question.metrics.is_empty() || question.metrics.iter().any(is_clock);
    let (warnings, notes) = (0..benchmarks.len())
        .flat_map(|benchmark| observations::of(runs, benchmark, verdicts.is_decided()))
        .partition::<Vec<_>, _>(|observation| observation.changes_belief && asks_for_time);
    let said = |all: Vec<observations::Observation>| all.into_iter().map(|one| one.said);
    let mut missing = other_metrics::without_ratio(runs, question, &verdicts.comparisons);
    missing.extend(said(warnings));
    let results = (0..benchmarks.len())
        .map(|benchmark| result(runs, benchmark))
        .collect();
    let floor: Vec<f64> = floor_ns.iter().map(|ns| *ns as f64 / 1e9).collect();
    Outcome {
        stop,
        results,
        also_differ: other_metrics::also_differ(runs, question, &verdicts.comparisons, allowance),
        slope: None,
        comparisons: verdicts.comparisons,
        cross_checks: verdicts.cross_checks,
        floor: fathom_stats::median_interval(&floor, 0.95).map(|wall| Floor {
            runs: floor.len(),
            wall,
        }),
        warnings: missing,
        notes: said(notes).collect(),
        warmups: Vec::new(),
    }
}

fn is_clock(asked: &AskedMetric) -> bool {
    matches!(asked.metric, Metric::Wall | Metric::Undisturbed)
}

fn result(runs: &[Run], benchmark: usize) -> BenchmarkResult {
    let summaries: Vec<Summary> = Metric::ALL
        .into_iter()
        .filter_map(|metric| {
            let values = values(runs, benchmark, metric);
            fathom_stats::summarize(metric, &values, 0.95)
        })
        .collect();
    let failed = |run: &&Run| run.benchmark == benchmark && !run.exit.is_success();
    BenchmarkResult {
        benchmark,
        failures: runs.iter().filter(failed).count(),
        summaries,
    }
}
