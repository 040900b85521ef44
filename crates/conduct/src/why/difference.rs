//! `why` for two commands: times both in the same rounds, observes them, and lists what differs.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use fathom_diagnose::Observation;
use fathom_diagnose::difference::{self, Side};
use fathom_measure::{IgnoreFailure, interrupt, now_rfc3339};
use fathom_model::{
    Difference, DifferenceCommand, DifferenceRecord, Explanation, Finding, FindingId, OnlyFinding,
    Run, SCHEMA_VERSION, TimeAccount,
};
use fathom_trace::Tier;

use super::timing::{self, Timing};
use super::{WhyPlan, limits, observation, observe};
use crate::{ConductError, Observer, RunTerms, Target, fingerprint};

/// Two commands, and how to time and observe them.
#[derive(Debug, Clone)]
pub struct DifferencePlan {
    /// The two commands, called A and B.
    pub targets: [Target; 2],
    /// Earlier timed runs, in rounds that have both: benchmark 0 is A, benchmark 1 is B. If empty, the
    /// commands are timed now.
    pub timed: Vec<Run>,
    /// The number of timed rounds; if absent, rounds are run until both medians are known precisely enough.
    pub runs: Option<u32>,
    /// The seed of the order within rounds.
    pub seed: u64,
    /// Failures of timed runs that are counted instead of ending the measurement.
    pub ignore_failure: IgnoreFailure,
    /// The tier; if absent, the best one permitted.
    pub tier: Option<Tier>,
    /// How the commands are run.
    pub terms: RunTerms,
}

/// The maximum number of observed runs of each command; their spread shows how precisely a part is known. For
/// programs that take 1 to 3 ms, five runs left 5 to 7 % of the time unreported because parts were smaller
/// than their intervals; most of it was user code.
const MOST_OBSERVED: u32 = 20;
/// The time it takes to switch observation on and off for a run.
const SWITCHING: Duration = Duration::from_millis(100);
/// The minimum number of observed runs for a meaningful spread; if fewer fit, one run is enough.
const FEWEST_OBSERVED: u32 = 3;
/// The approximate total time for the observed runs of a command, if there are several.
const OBSERVING: Duration = Duration::from_secs(3);
/// The time after which no more runs of both are observed: on a busy machine, switching takes ten times as long.
const MOST_TIME: Duration = Duration::from_secs(12);

/// Explains what additional work B does compared with A; used by every verb that has two commands.
///
/// Times both in interleaved rounds, unless `plan.timed` has runs. Observes both, alternating between A and
/// B, several times if they are short. Then lists the parts of the difference between the medians. This takes
/// 4 to 15 s for commands of some 100 ms, and half of that if they were already timed.
///
/// # Errors
/// If a command can't be run or observed, or if Fathom is told to stop before both were observed.
pub fn difference(
    plan: &DifferencePlan,
    observer: &mut dyn Observer,
) -> Result<DifferenceRecord, ConductError> {
    let (timings, observations, added) = observed(plan, observer)?;
    record(plan, &timings, &observations, added).ok_or(ConductError::NothingTimed)
}

/// The difference, or a message that says why it is unknown; for verbs whose own result is valid either way.
pub type Differs = Result<Difference, String>;

/// Like [`difference`], but without diagnosing any findings.
pub(crate) fn differs(plan: &DifferencePlan, observer: &mut dyn Observer) -> Differs {
    let (_, observations, _) = observed(plan, observer).map_err(|error| error.to_string())?;
    let (difference, _) =
        of_sides(&observations).ok_or_else(|| ConductError::NothingTimed.to_string())?;
    Ok(difference)
}

/// What the observed runs of each command were given in addition to what the timed runs were given.
type Added = [Option<String>; 2];
type Observed = ([Timing; 2], [Vec<Observation>; 2], Added);

/// Times and observes both commands.
fn observed(plan: &DifferencePlan, observer: &mut dyn Observer) -> Result<Observed, ConductError> {
    let _limit = interrupt::until(plan.terms.deadline);
    let timings = timings(plan, observer)?;
    if interrupt::stopped() {
        return Err(nothing_observed(&timings[0]));
    }
    let (observations, added) = observations(plan, &timings, observer)?;
    Ok((timings, observations, added))
}

fn of_sides(observations: &[Vec<Observation>; 2]) -> Option<(Difference, [TimeAccount; 2])> {
    let [a, b] = observations;
    difference::difference(Side { observations: a }, Side { observations: b })
}

fn timings(
    plan: &DifferencePlan,
    observer: &mut dyn Observer,
) -> Result<[Timing; 2], ConductError> {
    if plan.timed.is_empty() {
        return timing::time_both(plan, observer);
    }
    let started_at = now_rfc3339();
    Ok([0, 1].map(|index| {
        let own = plan.timed.iter().filter(|run| run.benchmark == index);
        Timing::known(own.cloned().collect(), None, &started_at)
    }))
}

/// Returns how many runs of each command to observe.
fn observed_runs(timings: &[Timing; 2]) -> u32 {
    let timed = timings.iter().map(|timing| timing.timed.runs as u32);
    // A small `--runs` limits the observed runs as well.
    let most = timed.fold(MOST_OBSERVED, u32::min).max(1);
    let walls = timings.iter().map(|timing| timing.timed.wall.value);
    let longest = walls.fold(0.0, f64::max) + SWITCHING.as_secs_f64();
    match (OBSERVING.as_secs_f64() / longest) as u32 {
        few if few < FEWEST_OBSERVED => 1,
        many => many.min(most),
    }
}

/// Observes A and B alternately.
fn observations(
    plan: &DifferencePlan,
    timings: &[Timing; 2],
    observer: &mut dyn Observer,
) -> Result<([Vec<Observation>; 2], Added), ConductError> {
    let mut observations = [Vec::new(), Vec::new()];
    let mut added = [None, None];
    let began = Instant::now();
    for turn in 0..observed_runs(timings) {
        if turn >= FEWEST_OBSERVED && began.elapsed() > MOST_TIME {
            break;
        }
        // The order alternates, so that disturbances at the beginning of a round affect both commands.
        let order = if turn % 2 == 0 { [0, 1] } else { [1, 0] };
        for index in order {
            let (target, timing) = (&plan.targets[index], &timings[index]);
            let mut observed = observe::observe(&alone(plan, index), &timing.runs, observer)?;
            if interrupt::stopped() && observed.trace.end.cut_short {
                // If both commands were already observed, that is enough for a result.
                return match observations.iter().all(|side| !side.is_empty()) {
                    true => Ok((observations, added)),
                    false => Err(nothing_observed(timing)),
                };
            }
            let floor = timing.timed.floor.map(|floor| floor.value);
            let limits = limits::limits(false, floor, &observed.trace);
            added[index] = observed.added.take();
            observations[index].push(observation(target, timing, observed, limits));
        }
    }
    Ok((observations, added))
}

fn nothing_observed(timing: &Timing) -> ConductError {
    ConductError::NothingObserved(Box::new(timing.timed.clone()))
}

/// Returns the plan for observing the command with this index alone.
fn alone(plan: &DifferencePlan, index: usize) -> WhyPlan {
    WhyPlan {
        target: plan.targets[index].clone(),
        runs: plan.runs,
        ignore_failure: plan.ignore_failure.clone(),
        tier: plan.tier,
        measure_limits: false,
        terms: plan.terms.clone(),
    }
}

fn record(
    plan: &DifferencePlan,
    timings: &[Timing; 2],
    observations: &[Vec<Observation>; 2],
    added: Added,
) -> Option<DifferenceRecord> {
    let (difference, accounts) = of_sides(observations)?;
    let explained = [0, 1].map(|index| {
        let (target, timing) = (&plan.targets[index], &timings[index]);
        let each = observations[index].iter();
        let each = each.map(|one| super::explain(target, timing, one));
        each.collect::<Vec<Explanation>>()
    });
    let found = [0, 1].map(|index| {
        let each = explained[index].iter();
        each.map(|one| one.findings.as_slice())
            .collect::<Vec<&[Finding]>>()
    });
    let mut findings: Vec<OnlyFinding> = [(0, 1), (1, 0)]
        .into_iter()
        .flat_map(|(command, other)| {
            let only = only(&found[command], &found[other], || {
                let each = observations[other].iter();
                each.map(fathom_diagnose::sizes).collect()
            });
            only.into_iter()
                .map(move |finding| OnlyFinding { command, finding })
        })
        .collect();
    findings.sort_by_key(|only| std::cmp::Reverse(only.finding.could_win_ns));
    let [a, b] = &explained;
    let paths = difference::paths([a, b]);
    let mut commands = Vec::new();
    let mut warnings: Vec<String> = Vec::new();
    for ((explanations, account), added) in [a, b].into_iter().zip(accounts).zip(added) {
        let last = explanations.last()?;
        let mut command = command(last, explanations.len(), account);
        command.observation.added = added;
        commands.push(command);
        for warning in &last.warnings {
            if !warnings.contains(warning) {
                warnings.push(warning.clone());
            }
        }
    }
    Some(DifferenceRecord {
        schema_version: SCHEMA_VERSION,
        kind: "difference".to_owned(),
        fathom_version: env!("CARGO_PKG_VERSION").to_owned(),
        started_at: timings[0].started_at.clone(),
        environment: fingerprint::environment(),
        commands,
        difference,
        paths,
        findings,
        warnings,
    })
}

/// Returns the findings that most observed runs of one command have and no observed run of the other has, not
/// even at half the size. The reason is that commands don't differ just because a finding on one side is
/// slightly too small to be reported. `sizes` holds the size of each finding in the observed runs of the
/// other command.
fn only(
    of: &[&[Finding]],
    other: &[&[Finding]],
    sizes: impl FnOnce() -> Vec<BTreeMap<FindingId, u64>>,
) -> Vec<Finding> {
    let has = |run: &[Finding], id| run.iter().any(|one| one.id == id);
    // The text is taken from the last run that has the finding.
    let mut findings: Vec<Finding> = Vec::new();
    for finding in of.iter().rev().copied().flatten() {
        let often = of.iter().filter(|run| has(run, finding.id)).count();
        let in_other = other.iter().any(|run| has(run, finding.id));
        if 2 * often > of.len() && !in_other && !has(&findings, finding.id) {
            findings.push(finding.clone());
        }
    }
    if !findings.is_empty() {
        let sizes = sizes();
        findings.retain(|finding| {
            let of_run = |run: &BTreeMap<FindingId, u64>| run.get(&finding.id).copied();
            let most = sizes.iter().filter_map(of_run).max().unwrap_or(0);
            2 * most < finding.rank_ns()
        });
    }
    findings
}

fn command(last: &Explanation, observed_runs: usize, account: TimeAccount) -> DifferenceCommand {
    DifferenceCommand {
        command: last.command.clone(),
        arguments: last.arguments.clone(),
        end: last.end.clone(),
        timed: last.timed.clone(),
        observed_runs,
        observation: last.explaining.clone(),
        account,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn findings_that_the_other_has_nearly_as_large_are_not_a_difference() {
        let finding: Finding = serde_json::from_value(serde_json::json!({
            "id": "sleeping", "statement": "", "evidence": [], "share": 0.1, "saving_ns": 100,
            "advice": "", "confidence": "certain", "limit": null,
            "place": { "pid": null, "tid": null, "fd": null, "path": null },
        }))
        .expect("a finding");
        let (some, none): (&[Finding], &[Finding]) = (std::slice::from_ref(&finding), &[]);
        let left = |sizes: &[u64]| {
            let sizes = sizes.iter().map(|ns| BTreeMap::from([(finding.id, *ns)]));
            only(&[some, some, none], &[none, none], || sizes.collect()).len()
        };
        assert_eq!(left(&[20, 49]), 1);
        assert_eq!(left(&[20, 51]), 0, "most of it is there");
        assert_eq!(left(&[]), 1);
        let reported = only(&[some, some], &[none, some], Vec::new);
        assert!(reported.is_empty(), "one run of the other has it");
    }
}
