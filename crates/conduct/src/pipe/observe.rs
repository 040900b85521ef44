//! Runs the observed rounds.

use fathom_diagnose::pipeline::{ObservedRound, observed_round};
use fathom_measure::interrupt;
use fathom_measure::pipeline::{self, PipeSession, trace_round};
use fathom_trace::Tier;

use super::journal::Recorder;
use super::{ObserveBy, PipePlan};
use crate::ConductError;
use crate::tiers::Tiers;

/// The number of observed rounds of short pipelines; longer ones get one.
const ROUNDS: u32 = 3;
/// The wall time, in nanoseconds, above which a pipeline counts as long.
const LONG_NS: u64 = 1_000_000_000;
/// The tiers that can be used. Those that stop a run at each call are excluded, because they would change
/// which stage waits for which.
const TIERS: [Tier; 3] = [Tier::Kernel, Tier::Perf, Tier::Sample];

/// The observed rounds.
#[derive(Default)]
pub(super) struct Observed {
    /// The tier used.
    pub tier: Option<Tier>,
    /// Rounds without delay.
    pub rounds: Vec<ObservedRound>,
    /// Rounds in which a stage starts late.
    pub delayed: Vec<ObservedRound>,
    /// Why nothing was observed, if the machine is the reason.
    pub why_not: Vec<String>,
}

/// The tier, or why there is none.
pub(super) type Means = Result<Tier, Vec<String>>;

/// Returns the tier to use: the best that works here, or the requested one.
///
/// # Errors
/// If the requested tier doesn't work here.
pub(super) fn means(plan: &PipePlan) -> Result<Means, ConductError> {
    let none = |why: &str| Ok(Err(vec![format!("no round was observed: {why}")]));
    match plan.observe_by {
        _ if plan.observed_rounds == Some(0) => none("--traced 0"),
        ObserveBy::Accounts => none("--tier accounts"),
        ObserveBy::Best => Ok(Tiers::tried().best(&TIERS)),
        ObserveBy::Tier(wanted) => Tiers::tried().check(wanted).map(|()| Ok(wanted)),
    }
}

/// Runs and observes the rounds.
///
/// # Errors
/// If a stage can't be started under observation, or a round can't be written.
pub(super) fn observe(
    plan: &PipePlan,
    timed: &pipeline::PipePlan,
    session: &PipeSession,
    means: Means,
    recorder: &mut Recorder<'_>,
) -> Result<Observed, ConductError> {
    let mut observed = Observed::default();
    let tier = match means {
        Ok(tier) => tier,
        Err(why_not) => {
            observed.why_not = why_not;
            return Ok(observed);
        }
    };
    observed.tier = Some(tier);
    let long = session.rounds.iter().any(|round| round.wall_ns > LONG_NS);
    let count = plan
        .observed_rounds
        .unwrap_or(if long { 1 } else { ROUNDS });
    let late = timed.delays.as_deref();
    for round in 0..count {
        for delays in std::iter::once(None).chain(late.map(Some)) {
            if interrupt::stopped() {
                return Ok(observed);
            }
            recorder.observes(round);
            let traced = trace_round(timed, delays, tier, interrupt::flag())?;
            let one = observed_round(&traced);
            if one.cut_short {
                let why = "one observed round was ended by --timeout or Ctrl-C and is omitted";
                observed.why_not.push(why.to_string());
                return Ok(observed);
            }
            recorder.keep_observed(delays.is_some(), &one.round)?;
            match delays {
                None => observed.rounds.push(one),
                Some(_) => observed.delayed.push(one),
            }
        }
    }
    Ok(observed)
}
