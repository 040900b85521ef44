//! `compare`: two sides that were measured at different times.

pub(crate) mod drift;
pub(crate) mod file;
pub(crate) mod side;
pub(crate) mod stored;
mod together;

use std::path::{Path, PathBuf};

use fathom_model::{
    CompareRecord, Estimate, NotCompared, SCHEMA_VERSION, StoredComparison, StoredValue, Verdict,
};
use fathom_stats::{Measured, UnpairedRatio, judge_unpaired, unpaired_ratio};
use fathom_store::{Error, Store};
use side::{Session, Side, SideSeries};

use crate::history::higher_is_better;
use crate::{ConductError, stores};

/// Benchmarks that a sentence names.
const NAMED: usize = 3;

/// What is compared.
#[derive(Debug, Clone)]
pub struct ComparePlan {
    /// The store as `--store` names it.
    pub store: Option<String>,
    /// What is compared with: a revision, a label, a record, a file.
    pub base: String,
    /// What is compared.
    pub head: String,
    /// Names of benchmarks, as of [`crate::history::HistoryPlan`].
    pub benchmarks: Vec<String>,
    /// Name of the metric; absent, the main one of each benchmark.
    pub metric: Option<String>,
    /// Differences up to this share count as none.
    pub margin: f64,
    /// Also measurements of a tree whose tracked files differed.
    pub dirty: bool,
    /// Also measurements of different environments.
    pub across: bool,
}

/// Compares what was stored.
///
/// # Errors
/// A side that isn't there, or has nothing to compare; a store or a file that can't be read.
pub fn compare(plan: &ComparePlan, here: &Path) -> Result<CompareRecord, ConductError> {
    let files = [file_of(&plan.base), file_of(&plan.head)];
    // Two files need no store; if there is one it knows their drift.
    let mut store = match stores::open(plan.store.as_deref(), here) {
        Ok(store) => Some(store),
        Err(_) if plan.store.is_none() && files.iter().all(Option::is_some) => None,
        Err(error) => return Err(error.into()),
    };
    let mut side = |asked: &str, file: &Option<PathBuf>| match (file, &mut store) {
        (Some(file), _) => file::read(asked, file, plan),
        (None, Some(store)) => stored::read(store, here, asked, plan),
        (None, None) => unreachable!("without a store both sides are files"),
    };
    let base = side(&plan.base, &files[0])?;
    let head = side(&plan.head, &files[1])?;
    let mut compared = Compared {
        plan,
        here,
        store: store.as_mut(),
        warnings: warnings(&base, &head),
        left_out: Vec::new(),
        summaries: Vec::new(),
    };
    let (mut comparisons, mut ratios) = (Vec::new(), Vec::new());
    for (one, other) in pairs(&base, &head, &mut compared) {
        if let Some((comparison, ratio)) = compared.one(&base, one, &head, other)? {
            comparisons.push(comparison);
            ratios.push(ratio);
        }
    }
    let verdicts = judge_unpaired(&ratios, plan.margin);
    for (comparison, verdict) in comparisons.iter_mut().zip(verdicts) {
        comparison.verdict = verdict.toward(comparison.higher_is_better);
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

/// What is known less well than it seems: of these benchmarks.
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
        "of {}{more} another tool's figures are compared, not its samples, which it doesn't give: the interval is as \
         right as the tool's own",
        named.join(", ")
    ))
}

/// The file that is meant, if one is: a word with a slash or with an ending that is no number, so that
/// a label `v0.8` or a branch is one, whatever lies in the folder.
pub(crate) fn file_of(asked: &str) -> Option<PathBuf> {
    let path = Path::new(asked);
    let ending = path.extension().and_then(|ending| ending.to_str());
    let is_name = ending.is_some_and(|ending| ending.starts_with(|c: char| c.is_alphabetic()));
    ((asked.contains('/') || is_name) && path.is_file()).then(|| path.to_path_buf())
}

fn warnings(base: &Side, head: &Side) -> Vec<String> {
    let mut warnings = Vec::new();
    for side in [base, head] {
        if side.dirty_left_out > 0 {
            warnings.push(format!(
                "{} of {} left out: tracked files differed from the revision; --dirty takes them",
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

/// The series of both sides that belong together. Where none does and each side has one benchmark,
/// those two do: two files of two programs.
fn pairs<'s>(
    base: &'s Side,
    head: &'s Side,
    compared: &mut Compared<'_>,
) -> Vec<(&'s SideSeries, &'s SideSeries)> {
    let mut found = Vec::new();
    for one in &base.series {
        if let Some(other) = head.series.iter().find(|other| other.is_same(one)) {
            found.push((one, other));
        }
    }
    if found.is_empty()
        && let ([one], [other]) = (base.series.as_slice(), head.series.as_slice())
        && one.metric == other.metric
        && one.unit == other.unit
    {
        compared.warnings.push(format!(
            "the benchmarks have different names: {:?} and {:?}",
            one.benchmark, other.benchmark
        ));
        return vec![(one, other)];
    }
    let mut only_in = |side: &Side, other: &Side| {
        for one in &side.series {
            if other.series.iter().any(|other| other.is_same(one)) {
                continue;
            }
            let asked = &side.about.asked;
            let why = match other.series.iter().find(|other| other.has_name_of(one)) {
                Some(other) => format!("{asked} has it in {:?}, not in {:?}", one.unit, other.unit),
                None => format!("only {asked} has it"),
            };
            compared.left_out.push(one.left_out(why));
        }
    };
    only_in(base, head);
    only_in(head, base);
    found
}

/// What comparing gathers.
struct Compared<'c> {
    plan: &'c ComparePlan,
    here: &'c Path,
    store: Option<&'c mut Store>,
    warnings: Vec<String>,
    left_out: Vec<NotCompared>,
    /// Benchmarks of which another tool gives figures, but not its samples.
    summaries: Vec<String>,
}

impl Compared<'_> {
    fn warn(&mut self, warning: &str) {
        if !self.warnings.iter().any(|known| known == warning) {
            self.warnings.push(warning.to_owned());
        }
    }

    /// One series of both sides; `None`, and a reason, where it can't be compared.
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
        let (between, drift) = match self.store.as_deref_mut() {
            Some(store) => drift::of(store, other, &before, &after, across, self.plan.dirty)?,
            None => drift::assumed(None, 0),
        };
        let measured = |sessions: &[&Session]| -> Vec<Measured> {
            sessions.iter().map(|one| one.measured.clone()).collect()
        };
        let Some(ratio) = unpaired_ratio(&measured(&before), &measured(&after), between) else {
            let why = "a value is 0 or less, so there is no ratio".to_owned();
            self.left_out.push(other.left_out(why));
            return Ok(None);
        };
        if before.iter().chain(&after).any(|one| one.summary)
            && !self.summaries.contains(&other.benchmark)
        {
            self.summaries.push(other.benchmark.clone());
        }
        let together = together::command(self.here, &base.about, one, &head.about, other);
        Ok(Some((
            StoredComparison {
                benchmark: other.benchmark.clone(),
                parameters: other.parameters.clone(),
                metric: other.metric.clone(),
                unit: other.unit.clone(),
                higher_is_better: higher_is_better(other.direction.as_deref()),
                base: value_of(&before),
                head: value_of(&after),
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

    /// The measurements of both sides that may be compared: of one environment, the newest that both
    /// have; and whether they are of different ones.
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
            self.warn(&format!(
                "{asked} doesn't say on which machine it was measured: if on another one, the ratio is \
                 that of the machines, too"
            ));
            return Some((found.0, found.1, false));
        };
        let differ = format!(
            "different environments ({})",
            side::difference(base.facts(here), head.facts(there))
        );
        if !self.plan.across {
            let why = format!("{differ}; --across compares them all the same");
            self.left_out.push(other.left_out(why));
            return None;
        }
        self.warn(&format!(
            "{differ}: the ratio is that of the machines and of the code together"
        ));
        Some((found.0, found.1, true))
    }
}

/// What is shown of the measurements of a side: of several the middle one, with the ends of all.
fn value_of(sessions: &[&Session]) -> StoredValue {
    let mut by_value: Vec<&Estimate> = sessions.iter().map(|one| &one.measured.estimate).collect();
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
        runs: sessions.iter().map(|one| one.runs).sum(),
        measurements: sessions.len(),
    }
}
