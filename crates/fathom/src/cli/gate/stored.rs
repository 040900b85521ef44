//! What was measured before, judged by the rule of `compare`.

use fathom_conduct::compare::{ComparePlan, compare};
use fathom_conduct::fingerprint;
use fathom_conduct::gate::MARGIN;
use fathom_model::{
    GateBenchmark, GateRecord, GateRule, GateSide, GateVerdict, LeftOut, NullArm, SCHEMA_VERSION,
    StoredComparison, Verdict,
};

use super::{Arguments, Undecided};
use crate::cli::failure::Failure;
use crate::cli::versions::here;

/// `compare`'s verdicts as a gate's.
///
/// # Errors
/// Those of [`compare`].
pub(super) fn judge(arguments: &Arguments, base: &str, head: &str) -> Result<GateRecord, Failure> {
    let margin = arguments.margin.unwrap_or(MARGIN);
    let plan = ComparePlan {
        store: arguments.store.clone(),
        base: base.to_owned(),
        head: head.to_owned(),
        benchmarks: arguments.only.clone(),
        metric: None,
        margin,
        dirty: false,
        across: false,
    };
    let compared = compare(&plan, &here()?)?;
    let benchmarks: Vec<GateBenchmark> = compared
        .comparisons
        .iter()
        .map(|one| row(one, margin))
        .collect();
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
        left_out: (compared.left_out.iter())
            .map(|one| LeftOut {
                name: one.benchmark.clone(),
                reason: one.why.clone(),
            })
            .collect(),
        settings_changed: Vec::new(),
        notes: compared.warnings,
        complete: true,
        seconds: 0.0,
    })
}

fn row(one: &StoredComparison, margin: f64) -> GateBenchmark {
    let lowest = 1.0 + margin;
    let verdict = match one.verdict {
        Verdict::Slower if one.ratio.low > lowest || one.ratio.high < 1.0 / lowest => {
            GateVerdict::Worse
        }
        Verdict::Faster | Verdict::Same => GateVerdict::NotWorse,
        Verdict::Slower | Verdict::Undecided => GateVerdict::CannotTell,
    };
    let parameters: String = one
        .parameters
        .iter()
        .map(|(name, value)| format!(" {name}={value}"))
        .collect();
    let why = match (verdict, &one.together) {
        (GateVerdict::CannotTell, Some(together)) => {
            vec![format!("this would settle it: {together}")]
        }
        _ => Vec::new(),
    };
    GateBenchmark {
        name: format!("{}{parameters}", one.benchmark),
        metric: one.metric.clone(),
        ratio: Some(one.ratio),
        verdict,
        rounds: 0,
        confirmation_rounds: 0,
        margin,
        floor: 0.0,
        base: Some(one.base.value),
        head: Some(one.head.value),
        budget: None,
        waived: None,
        why,
        difference: Vec::new(),
    }
}
