//! The observed rounds.

use fathom_diagnose::pipeline::{ObservedRound, observed_round};
use fathom_measure::interrupt;
use fathom_measure::pipeline::{PipePlan, PipeSession, trace_round};
use fathom_trace::{Tier, detect};

use super::arguments::{Arguments, Tier as Asked};
use super::keeping::Keeper;
use crate::cli::failure::Failure;

/// Observed rounds of short pipelines; of longer ones, one.
const ROUNDS: u32 = 3;
/// A pipeline over this is long.
const LONG_NS: u64 = 1_000_000_000;

/// What was observed.
pub struct Explained {
    /// By which means.
    pub tier: Option<Tier>,
    /// Without delay.
    pub rounds: Vec<ObservedRound>,
    /// With a late stage.
    pub delayed: Vec<ObservedRound>,
    /// Why nothing was observed, if the machine is the reason.
    pub why_not: Vec<String>,
}

impl Explained {
    /// Nothing was observed.
    pub fn none() -> Explained {
        Explained {
            tier: None,
            rounds: Vec::new(),
            delayed: Vec::new(),
            why_not: Vec::new(),
        }
    }
}

/// What will be used: the best tier that works here, or the one that was asked for, and why there is
/// none.
///
/// # Errors
/// When the one that was asked for does not work here.
pub fn tier(arguments: &Arguments) -> Result<(Option<Tier>, Vec<String>), Failure> {
    if arguments.traced == Some(0) {
        return Ok((None, vec!["no round was observed: --traced 0".to_string()]));
    }
    let wanted = match arguments.tier {
        Some(Asked::Accounts) => {
            return Ok((
                None,
                vec!["no round was observed: --tier accounts".to_string()],
            ));
        }
        Some(Asked::Kernel) => Some(Tier::Kernel),
        Some(Asked::Perf) => Some(Tier::Perf),
        Some(Asked::Sample) => Some(Tier::Sample),
        None => None,
    };
    let tiers = detect::detect();
    let usable = tiers.iter().filter(|one| one.tier != Tier::Stops);
    match wanted {
        None => Ok(match usable.clone().find(|one| one.available) {
            Some(found) => (Some(found.tier), Vec::new()),
            None => (None, usable.map(|one| one.why_not.clone()).collect()),
        }),
        Some(wanted) => match tiers.iter().find(|one| one.tier == wanted) {
            Some(found) if !found.available => Err(Failure::Untrusted(format!(
                "this tier does not work here: {}; {}",
                found.why_not, found.remedy
            ))),
            _ => Ok((Some(wanted), Vec::new())),
        },
    }
}

/// Observes.
///
/// # Errors
/// When a stage can't be started under observation, or a round not be kept.
pub fn explain(
    arguments: &Arguments,
    plan: &PipePlan,
    session: &PipeSession,
    (tier, why_not): (Option<Tier>, Vec<String>),
    keeper: &mut Keeper,
) -> Result<Explained, Failure> {
    let mut explained = Explained {
        tier,
        why_not,
        ..Explained::none()
    };
    let Some(tier) = tier else {
        return Ok(explained);
    };
    let long = session.rounds.iter().any(|round| round.wall_ns > LONG_NS);
    let count = arguments.traced.unwrap_or(if long { 1 } else { ROUNDS });
    let stop = interrupt::flag();
    let late = plan.delays.as_deref();
    for round in 0..count {
        for delays in std::iter::once(None).chain(late.map(Some)) {
            if interrupt::received().is_some() {
                return Ok(explained);
            }
            keeper
                .progress
                .say(&format!("observed round {}", round + 1));
            let seen = observed_round(&trace_round(plan, delays, tier, stop.clone())?);
            if seen.cut_short {
                let why = "an observed round was ended by --timeout or by Ctrl-C and is left out";
                explained.why_not.push(why.to_string());
                return Ok(explained);
            }
            keeper.keep_observed(delays.is_some(), &seen.round)?;
            match delays {
                None => explained.rounds.push(seen),
                Some(_) => explained.delayed.push(seen),
            }
        }
    }
    Ok(explained)
}
