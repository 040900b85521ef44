//! What head takes more than base, for what is worse.

use fathom_model::{DifferenceRow, GateRecord, GateVerdict, Metric, Run};

use super::{GatePlan, Measured};
use crate::{DifferencePlan, Observer, difference};

/// So many benchmarks are observed at most: each takes some seconds.
const BENCHMARKS: usize = 3;
/// Rows of each.
const ROWS: usize = 3;

/// Fills in the first rows of `why base head` for benchmarks that are worse. What can't be observed has
/// a reason instead.
pub(super) fn explain(
    plan: &GatePlan,
    measured: &Measured,
    record: &mut GateRecord,
    observer: &mut dyn Observer,
) {
    let is_time = |metric: &str| {
        [Metric::Wall, Metric::Undisturbed]
            .iter()
            .any(|one| one.name() == metric)
    };
    let worse = record.benchmarks.iter_mut().filter(|row| {
        row.verdict == GateVerdict::Worse && row.waived.is_none() && is_time(&row.metric)
    });
    for row in worse.take(BENCHMARKS) {
        let Some(place) = plan
            .targets
            .iter()
            .position(|target| target.name == row.name)
        else {
            continue;
        };
        let target = &plan.targets[place];
        let asked = DifferencePlan {
            targets: [target.base.clone(), target.head.clone()],
            timed: timed(&measured.runs[place]),
            runs: None,
            seed: plan.seed,
            ignore_failure: plan.ignore_failure.clone(),
            tier: None,
            terms: plan.terms.clone(),
        };
        match difference(&asked, observer) {
            Ok(found) => row.difference = found.difference.parts().take(ROWS).map(line).collect(),
            Err(error) => row
                .why
                .push(format!("what differs could not be observed: {error}")),
        }
    }
}

/// The i-th run of either side stands for the i-th round: which of the two runs of a round it was is
/// left to chance.
fn timed(runs: &[Vec<Run>; 2]) -> Vec<Run> {
    let side = |benchmark: usize| {
        runs[benchmark]
            .iter()
            .zip(0..)
            .map(move |(run, round)| Run {
                benchmark,
                round,
                ..run.clone()
            })
    };
    side(0).chain(side(1)).collect()
}

fn line(row: &DifferenceRow) -> String {
    let file = row
        .file
        .as_ref()
        .map_or_else(String::new, |file| format!(" on {file}"));
    format!(
        "{}{file}: {:+.2} ms ({:+.2} to {:+.2})",
        row.part.replace('_', " "),
        row.milliseconds,
        row.low,
        row.high
    )
}
