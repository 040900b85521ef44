//! The observed rounds.

use fathom_diagnose::pipeline::{ObservedRound, observed_round};
use fathom_measure::interrupt;
use fathom_measure::pipeline::{self, PipeSession, trace_round};
use fathom_trace::Tier;

use super::journal::Recorder;
use super::{ObserveBy, PipePlan};
use crate::ConductError;
use crate::tiers::Tiers;

/// Observed rounds of short pipelines; of longer ones, one.
const ROUNDS: u32 = 3;
/// A pipeline over this is long.
const LONG_NS: u64 = 1_000_000_000;
/// A run that is stopped at each call is no pipeline any more: who waits for whom would be another.
const TIERS: [Tier; 3] = [Tier::Kernel, Tier::Perf, Tier::Sample];

/// What was observed.
#[derive(Default)]
pub(super) struct Observed {
    /// By which means.
    pub tier: Option<Tier>,
    /// Without delay.
    pub rounds: Vec<ObservedRound>,
    /// With a late stage.
    pub delayed: Vec<ObservedRound>,
    /// Why nothing was observed, if the machine is the reason.
    pub why_not: Vec<String>,
}

/// The tier, or why there is none.
pub(super) type Means = Result<Tier, Vec<String>>;

/// What will be used: the best tier that works here, or the one that was asked for.
///
/// # Errors
/// When the one that was asked for does not work here.
pub(super) fn means(plan: &PipePlan) -> Result<Means, ConductError> {
    let none = |why: &str| Ok(Err(vec![format!("no round was observed: {why}")]));
    match plan.observe_by {
        _ if plan.observed_rounds == Some(0) => none("--traced 0"),
        ObserveBy::Accounts => none("--tier accounts"),
        ObserveBy::Best => Ok(Tiers::tried().best(&TIERS)),
        ObserveBy::Tier(wanted) => Tiers::tried().check(wanted).map(|()| Ok(wanted)),
    }
}

/// Observes.
///
/// # Errors
/// When a stage can't be started under observation, or a round not be kept.
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
                let why = "an observed round was ended by --timeout or by Ctrl-C and is left out";
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
