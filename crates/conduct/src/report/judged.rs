//! Finds what changed: compares the newest point of each benchmark with an earlier one, and finds lasting
//! changes of level.

use fathom_model::{
    Estimate, Metric, Report, ReportBenchmark, ReportComparison, ReportPoint, ReportSeries, Verdict,
};
use fathom_stats::{Measured, UnpairedRatio, change_points, judge_unpaired, unpaired_ratio};

use crate::ConductError;
use crate::compare::clock;
use crate::compare::{drift, side};
use crate::history::higher_is_better;

/// The maximum number of points that are searched for changes, not counting metrics that represent a
/// benchmark. Searching 10,000 points takes 20 ms.
const MOST_SEARCHED: usize = 60_000;

/// Fills in comparisons and changes, and sorts the largest changes first.
///
/// # Errors
/// A baseline that matches no measurement.
pub(super) fn judge(
    report: &mut Report,
    base: Option<&str>,
    floors: &[Option<f64>],
) -> Result<(), ConductError> {
    if let Some(base) = base
        && !report.benchmarks.is_empty()
        && !report.measurements.iter().any(|one| is_called(one, base))
    {
        return Err(ConductError::Refused(format!(
            "--base {base:?}: no measurement has that label or revision; `fathom history NAME` lists them"
        )));
    }
    report.baseline = match base {
        Some(base) => base.to_owned(),
        None => "the previous label, or the first measurement".to_owned(),
    };
    let mut searched = 0;
    for benchmark in &mut report.benchmarks {
        for (place, series) in benchmark.series.iter_mut().enumerate() {
            searched += series.points.len();
            if place == 0 || searched <= MOST_SEARCHED {
                series.changes = changes(series);
            }
        }
    }
    let before = compare(report, floors, |_, points, last| previous(points, last));
    let baseline = compare(report, floors, |report, points, last| {
        baseline(report, points, last, base)
    });
    let both = before.into_iter().zip(baseline);
    for (benchmark, (before, baseline)) in report.benchmarks.iter_mut().zip(both) {
        (benchmark.before, benchmark.baseline) = (before, baseline);
    }
    report.benchmarks.sort_by(|one, other| {
        let (one_key, other_key) = (urgency(one), urgency(other));
        (one_key.0.cmp(&other_key.0))
            .then_with(|| other_key.1.total_cmp(&one_key.1))
            .then_with(|| one.name.cmp(&other.name))
    });
    Ok(())
}

fn is_called(one: &fathom_model::Measurement, base: &str) -> bool {
    let revision = one.revision.as_deref();
    one.labels.iter().any(|label| label == base)
        || (base.len() >= 4 && revision.is_some_and(|revision| revision.starts_with(base)))
        || (base.len() >= 4 && one.id.starts_with(base))
}

/// Returns where the level of a series changed permanently. Each change is found among the points of one
/// environment, because a difference between environments is not a change of the program.
pub(super) fn changes(series: &ReportSeries) -> Vec<fathom_model::ChangePoint> {
    let mut environments: Vec<usize> = series.points.iter().map(|one| one.environment).collect();
    environments.sort_unstable();
    environments.dedup();
    let mut all = Vec::new();
    for environment in environments {
        let inside = |one: &&ReportPoint| one.environment == environment;
        let points: Vec<&ReportPoint> = series.points.iter().filter(inside).collect();
        let values: Vec<f64> = points.iter().map(|one| one.value).collect();
        for mut change in change_points(&values).change_points {
            change.index = points[change.index].index;
            change.until = points[change.until].index;
            all.push(change);
        }
    }
    all.sort_by_key(|change| change.index);
    all
}

/// Returns the index of the preceding point in the same environment.
fn previous(points: &[ReportPoint], last: &ReportPoint) -> Option<usize> {
    let same = |one: &ReportPoint| one.environment == last.environment;
    points[..points.len() - 1].iter().rposition(same)
}

/// Returns the index of the baseline: the named point if one is named; otherwise the newest point with a
/// label, or else the first point in this environment.
fn baseline(
    report: &Report,
    points: &[ReportPoint],
    last: &ReportPoint,
    base: Option<&str>,
) -> Option<usize> {
    let earlier = &points[..points.len() - 1];
    let same = |one: &ReportPoint| one.environment == last.environment;
    match base {
        Some(base) => earlier
            .iter()
            .rposition(|one| same(one) && is_called(&report.measurements[one.measurement], base)),
        None => {
            let labelled = |one: &ReportPoint| {
                same(one) && !report.measurements[one.measurement].labels.is_empty()
            };
            let found = earlier.iter().rposition(labelled);
            found.or_else(|| earlier.iter().position(same))
        }
    }
}

/// Compares the last point of each benchmark with the one that `choose` selects, and judges all of them
/// together.
fn compare(
    report: &Report,
    floors: &[Option<f64>],
    choose: impl Fn(&Report, &[ReportPoint], &ReportPoint) -> Option<usize>,
) -> Vec<Option<ReportComparison>> {
    let found: Vec<Option<(ReportComparison, UnpairedRatio)>> = report
        .benchmarks
        .iter()
        .map(|benchmark| {
            let points = &benchmark.main()?.points;
            let last = points.last()?;
            let base = choose(report, points, last)?;
            one(report, benchmark, base, floors)
        })
        .collect();
    let ratios: Vec<UnpairedRatio> = found.iter().flatten().map(|(_, ratio)| *ratio).collect();
    let mut verdicts = judge_unpaired(&ratios, report.margin).into_iter();
    let judged = found.into_iter().map(|found| {
        let (mut comparison, _) = found?;
        comparison.verdict = verdicts.next()?.toward(comparison.higher_is_better);
        Some(comparison)
    });
    judged.collect()
}

/// Compares the last point with the one at `base`, by the rule that `compare` uses when single runs aren't
/// available.
fn one(
    report: &Report,
    benchmark: &ReportBenchmark,
    base: usize,
    floors: &[Option<f64>],
) -> Option<(ReportComparison, UnpairedRatio)> {
    let series = benchmark.main()?;
    let points = &series.points;
    let (last, earlier) = points.split_last()?;
    let code = |one: &ReportPoint| {
        let of = &report.measurements[one.measurement];
        match (&of.revision, of.labels.is_empty()) {
            (Some(revision), _) => Some(revision.clone()),
            (None, false) => Some(of.labels.join("\n")),
            (None, true) => None,
        }
    };
    let usable = |one: &&ReportPoint| {
        one.environment == last.environment && !report.measurements[one.measurement].dirty
    };
    let beside = |metric: Metric, point: &ReportPoint| {
        let of_wall = series.metric == Metric::Wall.name();
        let mut all = benchmark.series.iter().filter(|_| of_wall);
        let other = all.find(|one| one.metric == metric.name())?;
        let same = |one: &&ReportPoint| one.measurement == point.measurement;
        other.points.iter().find(same)
    };
    let both = [&points[base], last];
    let waits = both.map(|point| {
        let figure = |one: &ReportPoint| (one.value, one.runs);
        let beside = |metric| beside(metric, point).map(figure);
        let (wait_free, waited) = (beside(Metric::Undisturbed), beside(Metric::RunQueueWait));
        clock::waits(figure(point), wait_free, waited)
    });
    let wait_free = clock::is_wait_free(&waits);
    let on_clock = |point: &ReportPoint| match wait_free {
        true => beside(Metric::Undisturbed, point).copied(),
        false => Some(*point),
    };
    let measured: Vec<(f64, Option<String>)> = earlier
        .iter()
        .filter(usable)
        .filter_map(|one| Some((on_clock(one)?.value, code(one))))
        .collect();
    let apart = 1 + earlier[base + 1..].iter().filter(usable).count();
    let floor = floors.get(last.environment).copied().flatten();
    let (between, drift) = drift::between(&measured, apart, floor);
    let besides = clock::besides(&waits, wait_free);
    // The medians of the records and their intervals are used. Every row thus has the same basis, whether its
    // runs are available or not, and a live page agrees with a file.
    let of = |point: &ReportPoint| {
        let point = on_clock(point)?;
        Some(Measured {
            samples: Vec::new(),
            estimate: side::estimate(point.value, point.low, point.high, point.runs),
        })
    };
    let ratio = unpaired_ratio(&[of(&points[base])?], &[of(last)?], between, besides)?;
    let comparison = ReportComparison {
        higher_is_better: higher_is_better(series.direction.as_deref()),
        base: points[base].index,
        wait_free,
        ratio: ratio.ratio,
        drift: clock::with(drift, besides),
        verdict: Verdict::Undecided,
    };
    Some((comparison, ratio))
}

/// Sorts slower benchmarks first, then faster ones, then those that differ from the baseline; within each
/// group, the largest change first.
fn urgency(benchmark: &ReportBenchmark) -> (u8, f64) {
    let size = |ratio: &Estimate| ratio.value.ln().abs();
    let of = |comparison: &Option<ReportComparison>| {
        let comparison = comparison.as_ref()?;
        Some((comparison.verdict, size(&comparison.ratio)))
    };
    match (of(&benchmark.before), of(&benchmark.baseline)) {
        (Some((Verdict::Slower, size)), _) => (0, size),
        (Some((Verdict::Faster, size)), _) => (1, size),
        (_, Some((Verdict::Slower, size))) => (2, size),
        (_, Some((Verdict::Faster, size))) => (3, size),
        (Some((_, size)), _) => (4, size),
        _ => (5, 0.0),
    }
}
