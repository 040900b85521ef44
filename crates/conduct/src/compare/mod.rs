//! `compare`: compares two sides that were measured at different times.

pub(crate) mod body;
pub(crate) mod clock;
pub(crate) mod drift;
pub(crate) mod file;
mod pairs;
pub(crate) mod side;
pub(crate) mod stored;
mod together;

use std::path::{Path, PathBuf};

use clock::Waits;
use fathom_model::{
    CompareRecord, DriftSource, Estimate, Metric, NotCompared, SCHEMA_VERSION, StoredComparison,
    StoredValue, Verdict,
};
use fathom_stats::{Measured, UnpairedRatio, judge_unpaired, unpaired_ratio};
use fathom_store::{Error, Store};
use side::{Session, Side, SideSeries};

use crate::history::higher_is_better;
use crate::{ConductError, stores};

/// The maximum number of benchmarks named in a sentence.
const NAMED: usize = 3;

/// What to compare.
#[derive(Debug, Clone)]
pub struct ComparePlan {
    /// The store, as given to `--store`.
    pub store: Option<String>,
    /// The side to compare with: a revision, a label, a record, or a file.
    pub base: String,
    /// What to compare.
    pub head: String,
    /// Names of benchmarks, as in [`crate::history::HistoryPlan`].
    pub benchmarks: Vec<String>,
    /// The name of the metric; if absent, the main metric of each benchmark.
    pub metric: Option<String>,
    /// Differences up to this share count as no difference.
    pub margin: f64,
    /// Include measurements of a work tree with modified tracked files.
    pub dirty: bool,
    /// Include measurements from different environments.
    pub across: bool,
}

/// Compares stored measurements.
///
/// # Errors
/// A side that doesn't exist or has nothing to compare; a store or a file that can't be read.
pub fn compare(plan: &ComparePlan, here: &Path) -> Result<CompareRecord, ConductError> {
    let files = [file_of(&plan.base), file_of(&plan.head)];
    // Two files need no store; if there is one, it provides their drift.
    let mut store = match stores::open(plan.store.as_deref(), here) {
        Ok(store) => Some(store),
        Err(_) if plan.store.is_none() && files.iter().all(Option::is_some) => None,
        Err(error) => return Err(error.into()),
    };
    let mut side = |asked: &str, file: &Option<PathBuf>| match (file, &mut store) {
        (Some(file), _) => file::read(asked, file, plan),
        (None, Some(store)) => stored::read(store, here, asked, plan),
        (None, None) => unreachable!("without a store, both sides must be files"),
    };
    let base = side(&plan.base, &files[0])?;
    let head = side(&plan.head, &files[1])?;
    let pairs = pairs::of(&base, &head);
    let mut compared = Compared {
        plan,
        here,
        store: store.as_mut(),
        same: base.is_same_as(&head),
        warnings: warnings(&base, &head),
        left_out: pairs.left_out,
        summaries: Vec::new(),
    };
    compared.warnings.extend(pairs.warning);
    let (mut comparisons, mut ratios) = (Vec::new(), Vec::new());
    for (one, other) in &pairs.found {
        if let Some((comparison, ratio)) = compared.one(&base, one, &head, other)? {
            comparisons.push(comparison);
            ratios.push(ratio);
        }
    }
    let verdicts = judge_unpaired(&ratios, plan.margin);
    for (comparison, verdict) in comparisons.iter_mut().zip(verdicts) {
        comparison.verdict = of_answers(verdict.toward(comparison.higher_is_better), comparison);
    }
    let Compared {
        mut warnings,
        left_out,
        summaries,
        ..
    } = compared;
    warnings.extend(of_summaries(&summaries));
    Ok(CompareRecord {
        schema_version: SCHEMA_VERSION,
        kind: "compare".to_owned(),
        fathom_version: env!("CARGO_PKG_VERSION").to_owned(),
        base: base.about,
        head: head.about,
        comparisons,
        left_out,
        warnings,
    })
}

/// Adjusts a verdict if requests failed. Answering faster with errors is not an improvement, and being slower
/// than a side that fails fast is not a regression; failing more slowly is one.
fn of_answers(verdict: Verdict, of: &StoredComparison) -> Verdict {
    match (of.base.is_of_failures(), of.head.is_of_failures(), verdict) {
        // Both sides are the same measurement.
        (.., Verdict::Same) if of.drift.source == DriftSource::None => Verdict::Same,
        (true, ..) | (_, true, Verdict::Faster | Verdict::Same) => Verdict::Undecided,
        (_, true, Verdict::Slower) if of.higher_is_better.is_none() => Verdict::Undecided,
        _ => verdict,
    }
}

/// Warns about benchmarks that are known less precisely than their intervals suggest.
fn of_summaries(benchmarks: &[String]) -> Option<String> {
    let (named, more) = match benchmarks {
        [] => return None,
        all => all.split_at(all.len().min(NAMED)),
    };
    let more = match more.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    Some(format!(
        "{}{more}: the file has no samples, so the other tool's own figures are compared, and the interval is only \
         as reliable as that tool's",
        named.join(", ")
    ))
}

/// Returns the path if `asked` means a file: a word with a slash, or with an extension that is not a number.
/// A label such as `v0.8` or a branch name thus keeps its meaning, whatever files the folder contains.
pub(crate) fn file_of(asked: &str) -> Option<PathBuf> {
    let path = Path::new(asked);
    let ending = path.extension().and_then(|ending| ending.to_str());
    let is_name = ending.is_some_and(|ending| ending.starts_with(|c: char| c.is_alphabetic()));
    ((asked.contains('/') || is_name) && path.is_file()).then(|| path.to_path_buf())
}

fn warnings(base: &Side, head: &Side) -> Vec<String> {
    let mut warnings = Vec::new();
    if base.is_same_as(head) {
        warnings.push(format!(
            "{} and {} are the same measurement, so there is nothing to compare",
            base.about.asked, head.about.asked
        ));
    }
    for side in [base, head] {
        if side.dirty_left_out > 0 {
            warnings.push(format!(
                "{} of {} omitted, because tracked files had uncommitted changes; --dirty includes them",
                match side.dirty_left_out {
                    1 => "1 measurement".to_owned(),
                    n => format!("{n} measurements"),
                },
                side.about.asked
            ));
        }
    }
    warnings
}

/// Collects the results of a comparison.
struct Compared<'c> {
    plan: &'c ComparePlan,
    here: &'c Path,
    store: Option<&'c mut Store>,
    /// Whether both sides are the same measurement.
    same: bool,
    warnings: Vec<String>,
    left_out: Vec<NotCompared>,
    /// Benchmarks for which another tool reports figures but no samples.
    summaries: Vec<String>,
}

impl Compared<'_> {
    fn warn(&mut self, warning: &str) {
        if !self.warnings.iter().any(|known| known == warning) {
            self.warnings.push(warning.to_owned());
        }
    }

    /// Compares one series of both sides; if that is impossible, returns `None` and the reason.
    fn one(
        &mut self,
        base: &Side,
        one: &SideSeries,
        head: &Side,
        other: &SideSeries,
    ) -> Result<Option<(StoredComparison, UnpairedRatio)>, Error> {
        let Some((before, after, across)) = self.sessions(base, one, head, other) else {
            return Ok(None);
        };
        // A clock that the user named is kept.
        let waits: Vec<Waits> = before.iter().chain(&after).map(|one| one.waits).collect();
        let wait_free = self.plan.metric.is_none() && clock::is_wait_free(&waits);
        let metric = match wait_free {
            true => Metric::Undisturbed.name(),
            false => other.metric.as_str(),
        };
        let sides = [&before, &after].map(|sessions| measured(sessions, wait_free));
        let found = if self.same || side::is_same_measurement(&before, &after) {
            Some((NONE, clock::NO_DRIFT))
        } else if let Some(exact) = exactly(&before, &after) {
            exact.map(|ratio| (ratio, clock::NO_DRIFT))
        } else {
            let (between, drift) = match self.store.as_deref_mut() {
                Some(store) => drift::of(
                    store,
                    (other, metric),
                    &before,
                    &after,
                    across,
                    self.plan.dirty,
                )?,
                None => drift::assumed(None, 0),
            };
            let besides = clock::besides(&waits, wait_free);
            let ratio = unpaired_ratio(&sides[0], &sides[1], between, besides);
            ratio.map(|ratio| (ratio, clock::with(drift, besides)))
        };
        let Some((ratio, drift)) = found else {
            let why = "a value is 0 or less, so there is no ratio".to_owned();
            self.left_out.push(other.left_out(why));
            return Ok(None);
        };
        if before.iter().chain(&after).any(|one| one.summary)
            && drift.source != DriftSource::None
            && !self.summaries.contains(&other.benchmark)
        {
            self.summaries.push(other.benchmark.clone());
        }
        let together = match drift.source {
            DriftSource::None => None,
            _ => together::command(self.here, &base.about, one, &head.about, other),
        };
        let runs = |sessions: &[&Session]| sessions.iter().map(|one| one.runs).sum();
        Ok(Some((
            StoredComparison {
                benchmark: other.benchmark.clone(),
                parameters: other.parameters.clone(),
                metric: metric.to_owned(),
                unit: other.unit.clone(),
                higher_is_better: higher_is_better(other.direction.as_deref()),
                base: value_of(&sides[0], runs(&before), &before),
                head: value_of(&sides[1], runs(&after), &after),
                ratio: ratio.ratio,
                p_value: ratio.p_value,
                drift,
                margin: self.plan.margin,
                verdict: Verdict::Undecided,
                across_environments: across,
                together,
            },
            ratio,
        )))
    }

    /// Returns the measurements of both sides that may be compared, all from one environment: the newest that
    /// both sides have. Also returns whether they are from different environments.
    fn sessions<'s>(
        &mut self,
        base: &Side,
        one: &'s SideSeries,
        head: &Side,
        other: &'s SideSeries,
    ) -> Option<(Vec<&'s Session>, Vec<&'s Session>, bool)> {
        let newest = |series: &'s SideSeries| series.sessions.iter().rev();
        let known = |session: &&Session| session.environment.is_some();
        let shared = newest(other)
            .filter(known)
            .find(|after| newest(one).any(|before| before.environment == after.environment));
        let of = |series: &'s SideSeries, environment: &Option<String>| -> Vec<&'s Session> {
            let sessions = series.sessions.iter();
            sessions
                .filter(|session| session.environment == *environment)
                .collect()
        };
        if let Some(shared) = shared {
            let environment = &shared.environment;
            return Some((of(one, environment), of(other, environment), false));
        }
        let (before, after) = (newest(one).next()?, newest(other).next()?);
        let found = (of(one, &before.environment), of(other, &after.environment));
        let (Some(here), Some(there)) = (&before.environment, &after.environment) else {
            let silent = if before.environment.is_none() {
                base
            } else {
                head
            };
            let asked = silent.about.asked.clone();
            if !self.same {
                self.warn(&format!(
                    "{asked} doesn't name the machine it was measured on: if the machines differ, the ratio \
                     reflects that too"
                ));
            }
            return Some((found.0, found.1, false));
        };
        let (here, there) = (base.facts(here), head.facts(there));
        if (before.imported || after.imported) && !side::contradict(here.clone(), there.clone()) {
            self.warn(
                "the two machine descriptions agree, but one has more details than the other: if the machines \
                 differ, the ratio reflects that too",
            );
            return Some((found.0, found.1, false));
        }
        let differ = format!("different environments ({})", side::difference(here, there));
        if !self.plan.across {
            let why = format!("{differ}; --across compares them anyway");
            self.left_out.push(other.left_out(why));
            return None;
        }
        self.warn(&format!(
            "{differ}: the ratio reflects both the machines and the code"
        ));
        Some((found.0, found.1, true))
    }
}

/// No difference and no variance.
const NONE: UnpairedRatio = UnpairedRatio {
    ratio: Estimate {
        value: 1.0,
        low: 1.0,
        high: 1.0,
        level: 0.95,
    },
    p_value: 1.0,
};

/// Returns the ratio of counts that are the same in every run of a side; such a ratio has no interval and no
/// test. Returns `Some(None)` if the ratio is undefined.
fn exactly(before: &[&Session], after: &[&Session]) -> Option<Option<UnpairedRatio>> {
    let value = |sessions: &[&Session]| {
        let first = sessions.first()?.exact?;
        let same = |one: &&Session| one.exact == Some(first);
        sessions.iter().all(same).then_some(first)
    };
    let (base, head) = (value(before)?, value(after)?);
    if base == head {
        return Some(Some(NONE));
    }
    let value = head / base;
    Some((base > 0.0 && head > 0.0).then_some(UnpairedRatio {
        ratio: Estimate {
            value,
            low: value,
            high: value,
            ..NONE.ratio
        },
        p_value: 0.0,
    }))
}

/// Returns the value to show for the measurements of a side. For several measurements, it is the middle one,
/// with an interval from the lowest to the highest end of all their intervals.
fn value_of(measured: &[Measured], runs: u32, sessions: &[&Session]) -> StoredValue {
    let mut by_value: Vec<&Estimate> = measured.iter().map(|one| &one.estimate).collect();
    by_value.sort_by(|one, other| one.value.total_cmp(&other.value));
    let ends = by_value.iter();
    StoredValue {
        value: by_value
            .get(by_value.len() / 2)
            .map_or(f64::NAN, |one| one.value),
        low: ends
            .clone()
            .map(|one| one.low)
            .fold(f64::INFINITY, f64::min),
        high: ends.map(|one| one.high).fold(f64::NEG_INFINITY, f64::max),
        runs,
        measurements: measured.len(),
        failed_share: sessions
            .iter()
            .filter_map(|one| one.failed)
            .reduce(f64::max),
    }
}

/// Returns the value of each session on the chosen clock.
fn measured(sessions: &[&Session], wait_free: bool) -> Vec<Measured> {
    let each = sessions.iter().map(|one| match &one.wait_free {
        Some(measured) if wait_free => measured.clone(),
        _ => one.measured.clone(),
    });
    each.collect()
}
