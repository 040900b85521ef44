//! What head takes more than base, of each benchmark that is worse.

use fathom_conduct::gate::GatePlan;
use fathom_conduct::{DifferencePlan, Observer, difference};
use fathom_measure::interrupt;
use fathom_model::{GateRecord, GateVerdict, Metric};
use fathom_report::difference_parts;

/// Benchmarks that are explained: each takes some 10 s.
const MOST: usize = 3;
/// Parts of the difference that are named.
const PARTS: usize = 3;

/// Times and observes both sides of what is worse in time, and adds the first parts of the
/// difference. Where that fails the verdict stands, and the reason is said.
pub(super) fn explain(plan: &GatePlan, record: &mut GateRecord, observer: &mut dyn Observer) {
    let of_time = [Metric::Wall, Metric::Undisturbed, Metric::Cpu].map(Metric::name);
    let worse = record.benchmarks.iter_mut().filter(|row| {
        let is_time = of_time.contains(&row.metric.as_str()) && row.budget.is_none();
        row.verdict == GateVerdict::Worse && row.waived.is_none() && is_time
    });
    for row in worse.take(MOST) {
        let target = plan.targets.iter().find(|target| target.name == row.name);
        let Some(target) = target.filter(|_| !interrupt::stopped()) else {
            continue;
        };
        let plan = DifferencePlan {
            targets: [target.base.clone(), target.head.clone()],
            timed: Vec::new(),
            runs: None,
            seed: plan.seed,
            ignore_failure: plan.ignore_failure.clone(),
            tier: None,
            terms: plan.terms.clone(),
        };
        row.difference = match difference(&plan, observer) {
            Ok(found) => difference_parts(&found.difference, PARTS),
            Err(error) => vec![format!("what differs is not known: {error}")],
        };
    }
}
