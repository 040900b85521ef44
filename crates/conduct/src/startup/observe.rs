//! Runs the observed runs of all programs.

use fathom_diagnose::startup::{Observed, ObservedStarts};
use fathom_measure::startup::{ObserveOptions, Subject, TracedStart, trace_starts};
use fathom_measure::{MeasureError, interrupt};
use fathom_model::Warning;
use fathom_trace::Tier;

use super::StartupPlan;
use super::journal::Recorder;
use crate::tiers::Tiers;
use crate::{ConductError, Event, Observer};

/// The tiers that report file names.
const TIERS: [Tier; 2] = [Tier::Kernel, Tier::Ptrace];

/// The observations of each program; `None` if it could not be observed.
pub(super) struct Observations {
    /// Observations by program.
    pub programs: Vec<Option<Observed>>,
    /// What could not be observed, and why.
    pub warnings: Vec<Warning>,
}

/// Observes every program, and stores the results after each run.
///
/// # Errors
/// If a requested tier is not permitted, or a run can't be stored.
pub(super) fn observe(
    plan: &StartupPlan,
    subjects: &[Subject],
    recorder: &mut Recorder,
    observer: &mut dyn Observer,
) -> Result<Observations, ConductError> {
    let mut all = Observations {
        programs: subjects.iter().map(|_| None).collect(),
        warnings: Vec::new(),
    };
    // Cold runs need the files even if no phases are requested.
    let runs = match (plan.observed_runs, plan.cold) {
        (0, Some(_)) => 1,
        (runs, _) => runs,
    };
    if runs == 0 {
        return Ok(all);
    }
    let tier = match plan.tier {
        Some(tier) => Some(tier),
        None => Tiers::tried().best(&TIERS).ok(),
    };
    let Some(tier) = tier else {
        all.warnings.push(warning(
            None,
            "no tier can observe programs here, so phases and files are missing (fathom why --tiers explains why)"
                .to_string(),
        ));
        return Ok(all);
    };
    let options = ObserveOptions {
        timeout: plan.terms.timeout,
        stop: interrupt::flag(),
    };
    observer.on(Event::Observes(tier));
    for (program, subject) in subjects.iter().enumerate() {
        let mut starts = ObservedStarts::new(program, tier);
        let mut each = |run: TracedStart| {
            starts.add(run);
            match starts.observed() {
                Some(observed) => recorder.keep_observed(program, &observed),
                None => Ok(()),
            }
        };
        match trace_starts(subject, tier, runs, &options, &mut each) {
            Ok(()) => all.programs[program] = starts.observed(),
            Err(error @ MeasureError::Journal { .. }) => return Err(error.into()),
            // A requested tier must work; otherwise the times are valid without observations.
            Err(error) if plan.tier.is_some() => return Err(error.into()),
            Err(error) => all.warnings.push(warning(Some(program), error.to_string())),
        }
    }
    for (program, observed) in all.programs.iter().enumerate() {
        let why = observed.as_ref().and_then(|one| one.no_phases.as_ref());
        all.warnings
            .extend(why.map(|why| warning(Some(program), format!("no phases: {why}"))));
    }
    if tier == Tier::Ptrace {
        all.warnings.push(warning(
            None,
            "observed with ptrace: the files and lookups come from one run that was stopped at every call; the \
             phases, each 10 to 40 µs too long, come from runs that were stopped only at the exec and at the \
             program's own first instruction. Finer phases need root, or CAP_BPF and CAP_PERFMON"
                .to_string(),
        ));
    }
    Ok(all)
}

fn warning(benchmark: Option<usize>, message: String) -> Warning {
    Warning {
        id: "observing".to_string(),
        benchmark,
        message,
    }
}
