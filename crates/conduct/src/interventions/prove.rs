//! Tests each finding that an intervention can take away, by running the command with and without it.

use std::time::{Duration, Instant};

use fathom_measure::{Against, interrupt};
use fathom_model::quantity::counted;
use fathom_model::{AskedMetric, Finding, Metric, Proof, ProofVerdict, RunOrder, Saving};
use fathom_trace::Trace;

use super::judge::{EFFECTIVE, Measured, none, proof, proof_by};
use super::same::Seen;
use super::slope::{Delayed, FEWEST_ROUNDS, of_finding, rounds_in};
use super::tries::{Arms, delay, prepare};
use super::{ALL, Asks, Intervention, Takes};
use crate::bench::{ALPHA, Amount, BenchPlan, MARGIN, bench};
use crate::{ConductError, Explained, Observer, WhyPlan};

/// How to prove findings.
#[derive(Debug, Clone)]
pub struct ProvePlan {
    /// The plan with which the findings were made.
    pub why: WhyPlan,
    /// Also use interventions that make files outside temporary folders less durable.
    pub all: bool,
    /// The time limit for all tests together.
    pub time: Duration,
    /// The seed of the run order.
    pub seed: u64,
}

/// The tests that will be run.
#[derive(Debug)]
pub struct Tries {
    /// One entry for each finding that can be tested, in the order of the findings.
    tries: Vec<Try>,
    /// The wall time of a run, in seconds.
    wall: f64,
    time: Duration,
}

#[derive(Debug)]
struct Try {
    finding: usize,
    /// The ways to test the finding, tried one after the other until one decides.
    ways: Vec<Way>,
}

/// A way to test a finding.
#[derive(Debug)]
enum Way {
    Without(&'static Intervention),
    Delayed(String, Delayed),
}

impl Way {
    fn name(&self) -> &str {
        match self {
            Way::Without(intervention) => intervention.name,
            Way::Delayed(name, _) => name,
        }
    }

    /// Returns the number of runs that don't count: those needed to arrange the test, and three to compare what
    /// the commands do.
    fn beside(&self) -> u64 {
        match self {
            Way::Without(intervention) => intervention.looks + 3,
            Way::Delayed(..) => 3,
        }
    }
}

impl Tries {
    /// Returns a sentence that says how often the command will be run again; `None` if it won't be.
    pub fn announcement(&self) -> Option<String> {
        let names = |one: &Try| {
            let names: Vec<&str> = one.ways.iter().map(Way::name).collect();
            names.join(" else ")
        };
        let names: Vec<String> = self.tries.iter().map(names).collect();
        let findings = counted(names.len() as u64, "finding", "findings");
        let runs = self.most_runs();
        (!names.is_empty()).then(|| {
            format!(
                "proving {findings} ({}): the command is run at most {runs} more times, in at most {} s",
                names.join(", "),
                self.time.as_secs()
            )
        })
    }

    /// Returns the maximum number of runs that fit into the time.
    fn most_runs(&self) -> u64 {
        let ways = self.tries.iter().flat_map(|one| &one.ways);
        let fit = self.time.as_secs_f64() / self.wall.max(1e-4);
        ways.map(Way::beside).sum::<u64>() + 2 * (fit / 2.0).ceil() as u64
    }
}

/// Finds the possible tests. Findings that can't be tested get a proof that says so.
///
/// # Errors
/// If no folder can be created for the runs.
pub fn tries(plan: &ProvePlan, explained: &mut Explained) -> Result<Tries, ConductError> {
    let trace = &explained.observation.trace;
    let ended = explained.explanation.end.is_empty();
    let mut possible = Vec::new();
    for (index, finding) in explained.explanation.findings.iter_mut().enumerate() {
        let ways = match ended {
            true => ways(plan, trace, finding)?,
            false => Err("the command did not finish".to_owned()),
        };
        match ways {
            Ok(ways) => possible.push(Try {
                finding: index,
                ways,
            }),
            Err(why) => finding.proof = Some(none(ProofVerdict::NotPossible, None, why)),
        }
    }
    Ok(Tries {
        tries: possible,
        wall: explained.explanation.timed.wall.value,
        time: plan.time,
    })
}

/// Returns the interventions that are possible for a finding, and what can be delayed. If there are none,
/// returns `Err` with the reason why the first one isn't possible.
fn ways(
    plan: &ProvePlan,
    trace: &Trace,
    finding: &Finding,
) -> Result<Result<Vec<Way>, String>, ConductError> {
    let asks = Asks::For {
        finding,
        all: plan.all,
    };
    let mut ways = Vec::new();
    let mut why_not = None;
    for intervention in ALL.iter().filter(|one| one.findings.contains(&finding.id)) {
        match prepare(intervention, &plan.why.target, trace, asks, false)? {
            Ok(_) => ways.push(Way::Without(intervention)),
            Err(why) => why_not = why_not.or(Some(why)),
        }
    }
    match of_finding(finding, trace) {
        Ok((name, delayed)) => ways.push(Way::Delayed(name, delayed)),
        Err(why) => why_not = why_not.or(Some(why)),
    }
    Ok(match ways.is_empty() {
        true => Err(why_not.unwrap_or_default()),
        false => Ok(ways),
    })
}

/// Runs the tests, each with its share of the time. Refuted findings move below the others.
///
/// # Errors
/// If the command can't be run. A signal ends the tests; results until then are kept.
pub fn prove(
    plan: &ProvePlan,
    tries: Tries,
    explained: &mut Explained,
    observer: &mut dyn Observer,
) -> Result<(), ConductError> {
    let began = Instant::now();
    let mut left = tries.tries.len() as u32;
    for one in tries.tries {
        let time = plan.time.saturating_sub(began.elapsed()) / left.max(1);
        left -= 1;
        let finding = &mut explained.explanation.findings[one.finding];
        let trace = &explained.observation.trace;
        let wall = explained.explanation.timed.wall.value;
        match try_each(plan, &one, time, trace, (finding, wall), observer) {
            Ok(proof) => finding.proof = Some(proof),
            Err(error) if error.is_interruption() || interrupt::stopped() => break,
            Err(error) => return Err(error),
        }
    }
    let is_refuted = |proof: &Option<Proof>| {
        proof
            .as_ref()
            .is_some_and(|proof| proof.verdict == ProofVerdict::Refuted)
    };
    explained
        .explanation
        .findings
        .sort_by_key(|finding| is_refuted(&finding.proof));
    Ok(())
}

/// Tries one way after the other until one decides. If none decides, the result of the first is used.
fn try_each(
    plan: &ProvePlan,
    one: &Try,
    time: Duration,
    trace: &Trace,
    (finding, wall): (&Finding, f64),
    observer: &mut dyn Observer,
) -> Result<Proof, ConductError> {
    let began = Instant::now();
    let mut first = None;
    for (at, way) in one.ways.iter().enumerate() {
        let left = time.saturating_sub(began.elapsed());
        let others = &one.ways[at + 1..];
        let time = Time {
            own: share_of(left, others, wall),
            has_others: !others.is_empty(),
        };
        let proof = match try_one(plan, way, time, trace, (finding, wall), observer) {
            Err(error) if first.is_none() || !error.is_interruption() => return Err(error),
            Err(_) => break,
            Ok(proof) => proof,
        };
        if matches!(proof.verdict, ProofVerdict::Proved | ProofVerdict::Refuted) {
            return Ok(proof);
        }
        first.get_or_insert(proof);
    }
    Ok(first.expect("there is a way to try it"))
}

/// Returns the time for a way before `others`. A slope for which its part of the time would be too short leaves
/// it to the other ways.
fn share_of(left: Duration, others: &[Way], wall: f64) -> Duration {
    let even = left / (others.len() as u32 + 1);
    let fits = |way: &&Way| match way {
        Way::Without(_) => true,
        Way::Delayed(..) => rounds_in(even, wall) >= FEWEST_ROUNDS,
    };
    left / (others.iter().filter(fits).count() as u32 + 1)
}

/// The time of one way to test a finding.
struct Time {
    own: Duration,
    /// Whether another way could use what is left of it.
    has_others: bool,
}

/// Reports whether a first run without a cause saved so little that the other ways should have the time: even
/// with what a run may vary by, it wouldn't prove the finding.
fn is_hopeless(intervention: &Intervention, seen: &Seen, predicted: Option<Saving>) -> bool {
    let least = predicted.map_or(0.0, |saving| saving.low_ns as f64 / 1e9);
    intervention.takes == Takes::Some
        && intervention.shows_at_once
        && intervention.metric != Some(Metric::Cpu)
        && seen.with - seen.without < VARIES * EFFECTIVE * least
}

/// A single run may show this part of a saving.
const VARIES: f64 = 0.5;

fn try_one(
    plan: &ProvePlan,
    way: &Way,
    time: Time,
    trace: &Trace,
    (finding, wall): (&Finding, f64),
    observer: &mut dyn Observer,
) -> Result<Proof, ConductError> {
    let began = Instant::now();
    let name = way.name();
    let target = &plan.why.target;
    let arms = match way {
        Way::Without(intervention) => {
            let asks = Asks::For {
                finding,
                all: plan.all,
            };
            prepare(intervention, target, trace, asks, true)?
        }
        Way::Delayed(name, delayed) => delay(name, delayed, trace, (target, wall))?,
    };
    let mut arms = match arms {
        Ok(arms) => arms,
        Err(why) => return Ok(none(ProofVerdict::NotPossible, Some(name), why)),
    };
    let seen = match arms.check(trace, &plan.why.terms, plan.seed)? {
        Ok(seen) => seen,
        Err(differs) => return Ok(none(ProofVerdict::Void, Some(name), differs)),
    };
    let predicted = |took: f64| finding.saving.map(|saving| scaled(saving, took / wall));
    if let Way::Without(intervention) = way
        && time.has_others
        && is_hopeless(intervention, &seen, predicted(seen.with))
    {
        let why = "a first run without it saved hardly anything".to_owned();
        return Ok(none(ProofVerdict::Undecided, Some(name), why));
    }
    let too_few = || {
        let why = "no round finished in time; --time 5m allows more".to_owned();
        none(ProofVerdict::Undecided, Some(name), why)
    };
    let time = time.own.saturating_sub(began.elapsed());
    let rounds = rounds_in(time, wall.min(seen.with));
    if arms.slope.is_some() && rounds < FEWEST_ROUNDS {
        return Ok(too_few());
    }
    let amount = match arms.slope {
        Some(_) => Amount {
            runs: Some(rounds),
            ..Amount::default()
        },
        None => Amount {
            time: Some(time),
            ..Amount::default()
        },
    };
    let metric = match way {
        Way::Without(intervention) => intervention.metric,
        Way::Delayed(..) => None,
    };
    let asked = metric.map(|metric| AskedMetric::new(metric, None, MARGIN));
    let bench_plan = BenchPlan {
        metrics: asked.into_iter().collect(),
        ..bench_plan(plan, &arms, amount)
    };
    let measured = bench(&bench_plan, observer)?;
    if let Some(failure) = measured.failure {
        let why = format!("a run failed: {failure}");
        return Ok(none(ProofVerdict::Void, Some(name), why));
    }
    let slope = measured
        .record
        .outcome
        .as_ref()
        .and_then(|outcome| outcome.slope.clone());
    let measured = Measured::of(&measured.record);
    Ok(match (way, slope) {
        (Way::Without(intervention), _) => measured.map_or_else(too_few, |measured| {
            let of = intervention.metric.filter(|metric| *metric == Metric::Cpu);
            let predicted = match of {
                Some(_) => Some(of_cpu(finding)),
                None => predicted(measured.with),
            };
            Proof {
                metric: of,
                ..proof(name, intervention.takes, &measured, predicted)
            }
        }),
        (Way::Delayed(..), Some(slope)) => {
            proof_by(slope, measured.map_or(wall, |measured| measured.with))
        }
        (Way::Delayed(..), None) => {
            let why = "no run could be delayed".to_owned();
            none(ProofVerdict::Undecided, Some(name), why)
        }
    })
}

/// Returns a predicted saving for runs that take `factor` times as long: the machine may have been busier, or less
/// busy, when the prediction was made.
fn scaled(saving: Saving, factor: f64) -> Saving {
    let of = |ns: u64| (ns as f64 * factor) as u64;
    Saving {
        ns: of(saving.ns),
        low_ns: of(saving.low_ns),
        high_ns: of(saving.high_ns),
    }
}

/// Returns the CPU time that a finding predicts to save. Its interval isn't known; half is accepted.
fn of_cpu(finding: &Finding) -> Saving {
    let ns = finding.could_win_cpu_ns;
    Saving {
        ns,
        low_ns: ns / 2,
        high_ns: 2 * ns,
    }
}

fn bench_plan(plan: &ProvePlan, arms: &Arms, amount: Amount) -> BenchPlan {
    BenchPlan {
        targets: arms.targets.clone(),
        against: Against::One(0),
        metrics: Vec::new(),
        alpha: ALPHA,
        amount,
        // The runs that were compared have warmed everything up.
        warmup: 0,
        seed: plan.seed,
        order: RunOrder::Random,
        margin: MARGIN,
        ignore_failure: plan.why.ignore_failure.clone(),
        require_quiet: None,
        canaries: false,
        vary_environment_size: true,
        keep_daemons: false,
        record: None,
        terms: plan.why.terms.clone(),
        slope: arms.slope.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_saves_nothing_at_first_leaves_its_time_to_the_others() {
        let named = |name| super::super::named(name).unwrap();
        let seen = |without| Seen {
            expected: None,
            with: 1.0,
            without,
        };
        let predicted = |low_ns| {
            Some(Saving {
                ns: 2 * low_ns,
                low_ns,
                high_ns: 3 * low_ns,
            })
        };
        let half = predicted(500_000_000);
        let is_hopeless =
            |name, without, predicted| super::is_hopeless(named(name), &seen(without), predicted);
        assert!(is_hopeless("one-cpu", 1.05, half));
        assert!(!is_hopeless("one-cpu", 0.9, half));
        // What takes all of the cause away refutes it, and a cache is filled by the first run.
        assert!(!is_hopeless("no-sleep", 1.05, half));
        assert!(!is_hopeless("python-bytecode", 1.05, half));
    }

    #[test]
    fn a_prediction_of_a_busier_time_is_scaled() {
        let predicted = Saving {
            ns: 4_000,
            low_ns: 3_000,
            high_ns: 7_000,
        };
        let scaled = scaled(predicted, 0.1);
        assert_eq!((scaled.low_ns, scaled.ns, scaled.high_ns), (300, 400, 700));
    }

    #[test]
    fn a_slope_that_does_not_fit_leaves_its_time_to_the_others() {
        let slope = || {
            let calls = Delayed::Calls {
                numbers: vec![1],
                calls: Some(1),
            };
            Way::Delayed("slope:writes".to_owned(), calls)
        };
        let seconds = Duration::from_secs;
        assert_eq!(share_of(seconds(10), &[slope()], 0.01), seconds(5));
        assert_eq!(share_of(seconds(10), &[slope()], 1.0), seconds(10));
        let both = [Way::Without(&ALL[0]), slope()];
        assert_eq!(share_of(seconds(12), &both, 0.01), seconds(4));
        assert_eq!(share_of(seconds(12), &both, 1.0), seconds(6));
    }
}
