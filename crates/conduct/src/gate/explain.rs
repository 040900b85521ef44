//! Explains what additional work head does compared with base, for benchmarks that are worse.

use fathom_measure::interrupt;
use fathom_model::{GateRecord, GateVerdict, Metric, Run};

use super::{GatePlan, Measured};
use crate::why::{Differs, differs};
use crate::{DifferencePlan, Observer};

/// The maximum number of benchmarks to observe; each takes 2 to 8 s.
const BENCHMARKS: usize = 3;

/// Observes both sides of the benchmarks whose time is worse. The results are given by position among the
/// rows of the record.
pub(super) fn explain(
    plan: &GatePlan,
    measured: &Measured,
    record: &GateRecord,
    observer: &mut dyn Observer,
) -> Vec<(usize, Differs)> {
    let of_time = [Metric::Wall, Metric::Undisturbed].map(Metric::name);
    let rows = record.benchmarks.iter().enumerate();
    let worse = rows.filter(|(_, row)| {
        let is_time = of_time.contains(&row.metric.as_str()) && row.budget.is_none();
        row.verdict == GateVerdict::Worse && row.waived.is_none() && is_time
    });
    let mut found = Vec::new();
    for (place, row) in worse.take(BENCHMARKS) {
        let names = plan.targets.iter().position(|one| one.name == row.name);
        let Some(index) = names.filter(|_| !interrupt::stopped()) else {
            continue;
        };
        let target = &plan.targets[index];
        let asked = DifferencePlan {
            targets: [target.base.clone(), target.head.clone()],
            timed: timed(&measured.runs[index]),
            runs: None,
            seed: plan.seed,
            ignore_failure: plan.ignore_failure.clone(),
            tier: None,
            terms: plan.terms.clone(),
        };
        found.push((place, differs(&asked, observer)));
    }
    found
}

/// Treats the i-th run of each side as the i-th round. Of the two copies of base, only the first is used.
fn timed(runs: &[Vec<Run>; 2]) -> Vec<Run> {
    let for_each_head = runs[0].len() / runs[1].len().max(1);
    let every = [for_each_head.max(1), 1];
    let side = |benchmark: usize| {
        runs[benchmark]
            .iter()
            .step_by(every[benchmark])
            .zip(0..)
            .map(move |(run, round)| Run {
                benchmark,
                round,
                ..run.clone()
            })
    };
    side(0).chain(side(1)).collect()
}
