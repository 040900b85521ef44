//! Each finding that something can take away is tried: the command with and without it.

use std::time::{Duration, Instant};

use fathom_measure::{Against, interrupt};
use fathom_model::quantity::counted;
use fathom_model::{FindingId, Proof, ProofVerdict, RunOrder};
use fathom_trace::Trace;

use super::judge::{Measured, none, proof};
use super::tries::{Arms, prepare};
use super::{ALL, Asks, Intervention};
use crate::bench::{ALPHA, Amount, BenchPlan, MARGIN, bench};
use crate::{ConductError, Explained, Observer, WhyPlan};

/// How findings are to be proved.
#[derive(Debug, Clone)]
pub struct ProvePlan {
    /// As the findings were found.
    pub why: WhyPlan,
    /// Also by what makes files less durable that lie in no folder for temporary files.
    pub all: bool,
    /// For all of them together.
    pub time: Duration,
    /// Of the order of runs.
    pub seed: u64,
}

/// What will be tried, before it is.
#[derive(Debug)]
pub struct Tries {
    /// One for each finding that can be tried, in the order of the findings.
    tries: Vec<Try>,
    /// Of a run, s.
    wall: f64,
    time: Duration,
}

#[derive(Debug)]
struct Try {
    finding: usize,
    intervention: &'static Intervention,
    arms: Arms,
}

/// Runs that don't count: three to compare what they do, two to warm up.
const BESIDE: u64 = 5;

impl Tries {
    /// How often the command is run again, in a sentence; nothing where it isn't.
    pub fn announcement(&self) -> Option<String> {
        let names: Vec<&str> = self.tries.iter().map(|one| one.intervention.name).collect();
        let findings = counted(names.len() as u64, "finding", "findings");
        let runs = self.most_runs();
        (!names.is_empty()).then(|| {
            format!(
                "proving {findings} ({}): the command is run again at most {runs} times, {} s in all",
                names.join(", "),
                self.time.as_secs()
            )
        })
    }

    /// At most so many runs fit into the time.
    fn most_runs(&self) -> u64 {
        let tries = self.tries.len() as u64;
        let fit = self.time.as_secs_f64() / self.wall.max(1e-4);
        tries * BESIDE + 2 * (fit / 2.0).ceil() as u64
    }
}

/// Finds out what can be tried. Findings for which nothing can are given a proof that says so.
///
/// # Errors
/// When no folder can be made for the runs.
pub fn tries(plan: &ProvePlan, explained: &mut Explained) -> Result<Tries, ConductError> {
    let trace = &explained.observation.trace;
    let ended = explained.explanation.end.is_empty();
    let mut possible = Vec::new();
    for (index, finding) in explained.explanation.findings.iter_mut().enumerate() {
        let asks = Asks::For {
            finding: &finding.clone(),
            all: plan.all,
        };
        let fits = match ended {
            true => first_that_fits(plan, trace, asks, finding.id)?,
            false => Err("the command did not come to its end".to_owned()),
        };
        match fits {
            Ok((intervention, arms)) => possible.push(Try {
                finding: index,
                intervention,
                arms,
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

/// The first intervention for a finding that is possible; `Err` with the reason of the first one that
/// isn't.
fn first_that_fits(
    plan: &ProvePlan,
    trace: &Trace,
    asks: Asks<'_>,
    id: FindingId,
) -> Result<Result<(&'static Intervention, Arms), String>, ConductError> {
    let mut why_not = None;
    for intervention in ALL.iter().filter(|one| one.findings.contains(&id)) {
        match prepare(intervention, &plan.why.target, trace, asks)? {
            Ok(arms) => return Ok(Ok((intervention, arms))),
            Err(why) => why_not = why_not.or(Some(why)),
        }
    }
    Ok(Err(why_not.unwrap_or_else(|| beyond(id).to_owned())))
}

/// Why nothing takes a cause away from outside.
fn beyond(id: FindingId) -> &'static str {
    match id {
        FindingId::UnoptimisedBuild | FindingId::IdleCores => "it is in the program's own code",
        FindingId::WaitingForInput => "it is in the program that writes the input",
        FindingId::WaitingForOutput => "it is in the program that reads the output",
        FindingId::WaitingForNetwork | FindingId::DelayedAckStall => {
            "it is on the other side of a connection"
        }
        _ => "it is in how the program makes its calls",
    }
}

/// Tries them, each with its part of the time. What was refuted goes below the other findings.
///
/// # Errors
/// When the command can't be run. A signal ends it with what is known by then.
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
        match try_one(
            plan,
            &one,
            time,
            &explained.observation.trace,
            finding.saving,
            observer,
        ) {
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

fn try_one(
    plan: &ProvePlan,
    one: &Try,
    time: Duration,
    trace: &Trace,
    predicted: Option<fathom_model::Saving>,
    observer: &mut dyn Observer,
) -> Result<Proof, ConductError> {
    let began = Instant::now();
    let name = one.intervention.name;
    if let Err(differs) = one.arms.check(trace, &plan.why.terms, plan.seed)? {
        return Ok(none(ProofVerdict::Void, Some(name), differs));
    }
    let measured = bench(
        &rounds(plan, &one.arms, time.saturating_sub(began.elapsed())),
        observer,
    )?;
    if let Some(failure) = measured.failure {
        let why = format!("a run failed: {failure}");
        return Ok(none(ProofVerdict::Void, Some(name), why));
    }
    let too_few = || {
        let why = "no round ended in time; --time 5m gives it more".to_owned();
        none(ProofVerdict::Undecided, Some(name), why)
    };
    let measured = Measured::of(&measured.record);
    Ok(measured.map_or_else(too_few, |measured| {
        proof(name, one.intervention.takes, &measured, predicted)
    }))
}

fn rounds(plan: &ProvePlan, arms: &Arms, time: Duration) -> BenchPlan {
    BenchPlan {
        targets: arms.targets.to_vec(),
        against: Against::One(0),
        metrics: Vec::new(),
        alpha: ALPHA,
        amount: Amount {
            time: Some(time),
            ..Amount::default()
        },
        warmup: 1,
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
    }
}
