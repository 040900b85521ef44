//! `why --pid`: a process that runs already is observed for a while and explained.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use fathom_diagnose::{Observation, Subject};
use fathom_measure::{interrupt, now_rfc3339, variables};
use fathom_trace::{
    StackPool, Stacks, Target as Process, Tier, TimelineOptions, Trace, TraceError, TraceOptions,
    attach,
};

use super::observe::CALL_STACKS;
use super::{Explained, asked, language, languages, limits};
use crate::tiers::Tiers;
use crate::{ConductError, Event, Observer, fingerprint, throttling};

/// Those that don't stop what they observe.
const TIERS: [Tier; 3] = [Tier::Kernel, Tier::Perf, Tier::Sample];

/// CPU time between two samples of own code, as for commands.
const SAMPLES: Duration = Duration::from_nanos(3_989_000);

/// What is to be observed, and how.
#[derive(Debug, Clone)]
pub struct AttachPlan {
    /// The process, with its threads and children.
    pub pid: u32,
    /// For so long, or until it ends.
    pub time: Duration,
    /// The way of observing; the best that is allowed if absent.
    pub tier: Option<Tier>,
    /// Measure the limits of the machine if they are not known.
    pub measure_limits: bool,
}

/// Observes, then explains. The process goes on.
///
/// # Errors
/// When there is no such process, the user may not trace it, or no tier works here.
pub fn attached(plan: &AttachPlan, observer: &mut dyn Observer) -> Result<Explained, ConductError> {
    let process = Process::find(plan.pid).map_err(TraceError::from)?;
    fingerprint::take(observer);
    let started_at = now_rfc3339();
    let timeline = Some(TimelineOptions::default());
    let trace = observe(&process, plan.time, plan.tier, timeline, observer)?;
    let observation = observation(trace, plan.measure_limits);
    let root = observation.trace.processes.first();
    let program = root.and_then(|root| root.execs.first());
    let arguments = program.map_or_else(Vec::new, |exec| exec.arguments.clone());
    let subject = Subject {
        command: shell_words::join(&arguments),
        arguments,
        started_at,
        environment: fingerprint::environment(),
        floor: None,
    };
    let mut explanation = fathom_diagnose::explanation(subject, &observation);
    super::packages::name(&mut explanation);
    let folder = PathBuf::from(format!("/proc/{}/cwd", plan.pid));
    super::java_lines::name(&mut explanation, &observation.trace, &folder);
    explanation.explaining.names_by = asked::names_by(&explanation, &observation.trace);
    Ok(Explained {
        explanation,
        observation,
    })
}

/// Observes by this tier, or by the best that works.
///
/// # Errors
/// When none does.
pub(crate) fn observe(
    process: &Process,
    time: Duration,
    tier: Option<Tier>,
    timeline: Option<TimelineOptions>,
    observer: &mut dyn Observer,
) -> Result<Trace, ConductError> {
    let mut by = |tier: Tier| {
        observer.on(Event::Observes(tier));
        let stacks = StackPool::of_one_run();
        let options = TraceOptions {
            timeline: timeline.filter(|_| tier != Tier::Sample),
            profile: Some(SAMPLES),
            stacks: Some(stacks.clone()),
            call_stacks: Some(CALL_STACKS),
            stop: Some(interrupt::flag()),
            ..TraceOptions::default()
        };
        let mut trace = attach(process, time, tier, &options)?;
        asked::ask_jvm(process.pid, &trace, &stacks);
        trace.stacks = stacks.named(&trace);
        let lacking = trace.stacks.iter().flat_map(Stacks::not_visible);
        trace.not_visible.extend(lacking);
        Ok(trace)
    };
    if let Some(tier) = tier {
        return Ok(by(tier)?);
    }
    let tiers = Tiers::known();
    let best = tiers.best(&TIERS);
    // What was allowed may be so no more, or a limit of open files be too low for all threads.
    let allowed = TIERS.into_iter().filter(|tier| tiers.allows(*tier));
    let mut failed = None;
    for tier in allowed {
        match by(tier) {
            Ok(trace) => return Ok(trace),
            Err(refused @ TraceError::Attach(_)) => return Err(refused.into()),
            Err(error) => failed = Some(error),
        }
    }
    Err(match (failed, best) {
        (Some(error), _) => error.into(),
        (None, why_not) => ConductError::Untrusted(format!(
            "nothing here allows a process to be observed: {}",
            why_not.err().unwrap_or_default().join("; ")
        )),
    })
}

/// What was traced, with what the files of its programs say.
pub(crate) fn observation(trace: Trace, measure_limits: bool) -> Observation {
    let folder = Path::new("/");
    let root = trace.processes.first();
    let program = root.and_then(|root| Some(PathBuf::from(&root.execs.last()?.path)));
    let unbuffered = root.is_some_and(|root| has_python_unbuffered(root.pid));
    Observation {
        cpus: std::thread::available_parallelism().map_or(1, usize::from),
        limits: limits::limits(measure_limits, None, &trace),
        cpu_limit: throttling::limit(),
        language: program.and_then(|program| language::language_of(&program)),
        languages: languages(folder, &trace),
        unbuffered_by_variable: unbuffered,
        trace,
        ..Observation::default()
    }
}

/// Whether it was begun with `PYTHONUNBUFFERED` set to something.
fn has_python_unbuffered(pid: u32) -> bool {
    let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
    language::is_unbuffered(&variables(&environment).collect::<Vec<_>>())
}
