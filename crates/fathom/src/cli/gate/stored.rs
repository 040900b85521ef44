//! Judges earlier measurements by the rule of `compare`.

use fathom_conduct::compare::{ComparePlan, compare};
use fathom_conduct::fingerprint;
use fathom_conduct::gate::MARGIN;
use fathom_model::{
    CompareRecord, DriftSource, Estimate, GateBenchmark, GateRecord, GateRule, GateSide,
    GateVerdict, LeftOut, Metric, NullArm, SCHEMA_VERSION, StoredComparison, StoredValue, Verdict,
    listed, with_parameters,
};

use fathom_report::failed_requests;

use super::{Arguments, Undecided};
use crate::cli::failure::Failure;
use crate::cli::versions::here;

/// Confidence level of the interval of one measurement.
const LEVEL: f64 = 0.95;

/// Converts the verdicts of `compare` to those of a gate.
///
/// # Errors
/// Those of [`compare`].
pub(super) fn judge(arguments: &Arguments, base: &str, head: &str) -> Result<GateRecord, Failure> {
    let margin = arguments.margin.unwrap_or(MARGIN);
    let plan = |(metric, own): (Option<Metric>, Option<f64>)| ComparePlan {
        store: arguments.saving.store.clone(),
        base: base.to_owned(),
        head: head.to_owned(),
        benchmarks: arguments.only.clone(),
        metric: metric.map(|metric| metric.name().to_owned()),
        margin: own.unwrap_or(margin),
        dirty: false,
        across: false,
    };
    // The main metric of each benchmark is compared, or the requested metrics one after another.
    let asked = arguments.metrics()?.into_iter();
    let asked: Vec<_> = asked.map(|(metric, own)| (Some(metric), own)).collect();
    let plans = match asked.is_empty() {
        true => vec![plan((None, None))],
        false => asked.into_iter().map(plan).collect(),
    };
    let here = here()?;
    let all = plans.iter().map(|plan| compare(plan, &here));
    let all: Vec<CompareRecord> = all.collect::<Result<_, _>>()?;
    let mut benchmarks: Vec<GateBenchmark> = Vec::new();
    for (plan, compared) in plans.iter().zip(&all) {
        let rows = compared.comparisons.iter();
        benchmarks.extend(rows.map(|one| row(one, plan.margin)));
    }
    let left_out = || all.iter().flat_map(|compared| &compared.left_out);
    if benchmarks.is_empty() {
        let why = left_out()
            .next()
            .map_or("both sides are empty".to_owned(), |one| {
                format!("{}: {}", one.benchmark, one.why)
            });
        return Err(Failure::Untrusted(format!(
            "nothing can be compared: {why}"
        )));
    }
    let has = |verdict| benchmarks.iter().any(|row| row.verdict == verdict);
    let verdict = match (has(GateVerdict::Worse), has(GateVerdict::CannotTell)) {
        (true, _) => GateVerdict::Worse,
        (false, false) if !benchmarks.is_empty() => GateVerdict::NotWorse,
        _ => GateVerdict::CannotTell,
    };
    Ok(GateRecord {
        schema_version: SCHEMA_VERSION,
        kind: "gate".to_owned(),
        fathom_version: env!("CARGO_PKG_VERSION").to_owned(),
        started_at: fathom_measure::now_rfc3339(),
        jobs: Vec::new(),
        environment: fingerprint::environment(),
        base: GateSide {
            name: base.to_owned(),
            revision: None,
        },
        head: GateSide {
            name: head.to_owned(),
            revision: None,
        },
        rule: GateRule::Stored {
            margin,
            undecided_passes: arguments.undecided != Some(Undecided::Fail),
        },
        verdict,
        benchmarks,
        exact_changes: Vec::new(),
        null_arm: NullArm::default(),
        left_out: left_out()
            .map(|one| LeftOut {
                name: one.benchmark.clone(),
                reason: one.why.clone(),
            })
            .collect(),
        settings_changed: Vec::new(),
        notes: notes(&all),
        complete: true,
        seconds: 0.0,
    })
}

/// Returns the notes. Failed requests come first, because the change caused them.
fn notes(all: &[CompareRecord]) -> Vec<String> {
    let failed = all.iter().flat_map(failed_requests);
    let warnings = all.iter().flat_map(|compared| compared.warnings.clone());
    let mut notes: Vec<String> = Vec::new();
    for note in failed.chain(warnings) {
        // The comparison of each metric gives the same notes about both sides.
        if !notes.contains(&note) {
            notes.push(note);
        }
    }
    notes
}

/// Returns the estimate for a value from several measurements. Its interval spans all of theirs, and has no
/// known confidence level.
fn estimate(of: &StoredValue) -> Estimate {
    Estimate {
        value: of.value,
        low: of.low,
        high: of.high,
        level: if of.measurements == 1 { LEVEL } else { 0.0 },
    }
}

fn row(one: &StoredComparison, margin: f64) -> GateBenchmark {
    let lowest = 1.0 + margin;
    let fails = one.head.is_of_failures() && !one.base.is_of_failures();
    let verdict = match one.verdict {
        _ if fails => GateVerdict::Worse,
        // For a score whose direction isn't documented, higher may be better.
        Verdict::Slower | Verdict::Faster if one.higher_is_better.is_none() => {
            GateVerdict::CannotTell
        }
        Verdict::Slower if one.ratio.low > lowest || one.ratio.high < 1.0 / lowest => {
            GateVerdict::Worse
        }
        Verdict::Faster | Verdict::Same => GateVerdict::NotWorse,
        Verdict::Slower | Verdict::Undecided => GateVerdict::CannotTell,
    };
    let mut why = Vec::new();
    if fails {
        why.push("its requests fail, but those of base succeed".to_owned());
    }
    if verdict == GateVerdict::CannotTell {
        let share = format!("{:.0} %", 100.0 * one.drift.share);
        why.push(match one.drift.source {
            _ if one.base.is_of_failures() || one.head.is_of_failures() => {
                "most requests failed, so the figures can't be compared".to_owned()
            }
            _ if one.higher_is_better.is_none() => {
                "it is unclear whether higher or lower values are better".to_owned()
            }
            DriftSource::Assumed => format!(
                "with so few earlier measurements, a difference of {share} between separate ones is not significant"
            ),
            DriftSource::Waits => format!("its runs waited for a CPU, which may explain a difference of {share}"),
            _ => format!("separate measurements of it differ by up to {share} here"),
        });
        let together = one.together.iter();
        why.extend(together.map(|command| format!("this would decide it: {command}")));
    }
    GateBenchmark {
        name: with_parameters(&one.benchmark, listed(&one.parameters)),
        parameters: one.parameters.clone(),
        metric: one.metric.clone(),
        unit: one.unit.clone(),
        higher_is_better: one.higher_is_better == Some(true),
        ratio: Some(one.ratio),
        verdict,
        rounds: 0,
        confirmation_rounds: 0,
        margin,
        floor: 0.0,
        floor_source: None,
        base: Some(estimate(&one.base)),
        head: Some(estimate(&one.head)),
        clocks: Vec::new(),
        budget: None,
        waived: None,
        why,
        difference: Vec::new(),
    }
}
