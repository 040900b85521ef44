//! `why --pid`: observes a running process for a while and explains it.

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

/// The tiers that don't stop the process they observe.
const TIERS: [Tier; 3] = [Tier::Kernel, Tier::Perf, Tier::Sample];

/// The CPU time between two samples of user code, as for commands.
const SAMPLES: Duration = Duration::from_nanos(3_989_000);

/// What to observe, and how.
#[derive(Debug, Clone)]
pub struct AttachPlan {
    /// The process; its threads and children are included.
    pub pid: u32,
    /// How long to observe, unless the process ends first.
    pub time: Duration,
    /// The tier; if absent, the best one permitted.
    pub tier: Option<Tier>,
    /// Whether to measure the limits of the machine if they are unknown.
    pub measure_limits: bool,
}

/// Observes the process, then explains it. The process continues.
///
/// # Errors
/// If there is no such process, the user may not trace it, or no tier works here.
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
    let root = PathBuf::from(format!("/proc/{}/root", plan.pid));
    super::source_lines::add(&mut explanation, &root, &folder);
    explanation.explaining.names_by = asked::names_by(&explanation, &observation.trace);
    Ok(Explained {
        explanation,
        observation,
    })
}

/// Observes with the requested tier, or otherwise with the best one that works.
///
/// # Errors
/// If no tier works.
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
    // A tier that was permitted may no longer be permitted, or the limit of open files may be too low for all
    // threads.
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
            "no tier can observe a process here: {}",
            why_not.err().unwrap_or_default().join("; ")
        )),
    })
}

/// Combines the trace with information from the files of its programs.
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

/// Reports whether the process was started with `PYTHONUNBUFFERED` set to a nonempty value.
fn has_python_unbuffered(pid: u32) -> bool {
    let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
    language::is_unbuffered(&variables(&environment).collect::<Vec<_>>())
}
