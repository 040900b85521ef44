//! The observed runs of all programs.

use fathom_diagnose::startup::{Observed, ObservedStarts};
use fathom_measure::startup::{ObserveOptions, Subject, TracedStart, trace_starts};
use fathom_measure::{MeasureError, interrupt};
use fathom_model::Warning;
use fathom_trace::Tier;

use super::StartupPlan;
use super::journal::Recorder;
use crate::tiers::Tiers;
use crate::{ConductError, Event, Observer};

/// Those that name files.
const TIERS: [Tier; 2] = [Tier::Kernel, Tier::Ptrace];

/// What was observed of each program; `None` for one that nothing could observe.
pub(super) struct Observations {
    /// By program.
    pub programs: Vec<Option<Observed>>,
    /// What could not be observed and why.
    pub warnings: Vec<Warning>,
}

/// Observes every program; what is known of it is kept after each run.
///
/// # Errors
/// When a tier that was asked for is not allowed, and when a run can't be kept.
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
    // Files are needed for cold runs even if nobody wants to see phases.
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
            "nothing here allows a program to be observed: no phases, no files (fathom why --tiers says why)"
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
            // A tier that was asked for must work; else the times stand without it.
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
            "observed by ptrace: files and lookups in one run in which every call is stopped; phases \
             in runs that stop only at the exec and at the program's first own instruction, 10 to 40 µs too \
             long each. Finer ones need root, or CAP_BPF and CAP_PERFMON"
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
