//! `machine`: measures the limits of this machine, and whether it is quiet enough.

mod against_itself;
mod record;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use fathom_machine::remembered::{self, Profile};
use fathom_machine::{Options, ProbeResult};
use fathom_measure::{CommandLine, interrupt};
use fathom_model::{CheckRecord, MachineRecord};

use crate::{ConductError, Event, Observer};

/// How long [`check`] watches the machine.
const CHECKED: Duration = Duration::from_secs(1);

/// Which probes to run.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Probes {
    /// Only the fingerprint (3 s, at most 8 s).
    Quick,
    /// All probes, in under 30 s.
    #[default]
    Default,
    /// All probes; a probe that other programs disturbed is repeated up to four times (at most 90 s).
    Full,
    /// Only the probes with these ids; `true` allows repetitions as in `Full`.
    Only(Vec<String>, bool),
}

impl Probes {
    fn name(&self) -> &'static str {
        match self {
            Probes::Quick => "quick",
            Probes::Default => "default",
            Probes::Full => "full",
            Probes::Only(..) => "only",
        }
    }
}

/// What to measure on the machine.
#[derive(Debug, Clone, Default)]
pub struct MachinePlan {
    /// The probes to run.
    pub probes: Probes,
    /// A folder on the disk to measure; the temporary folder if absent.
    pub directory: Option<PathBuf>,
    /// When to stop; the results until then are returned.
    pub deadline: Option<Instant>,
}

/// How to check the machine.
#[derive(Debug, Clone)]
pub struct CheckPlan {
    /// The folder for results and scratch files; the temporary folder if absent.
    pub directory: Option<PathBuf>,
    /// The work that is run against itself: some milliseconds of fixed work.
    pub work: CommandLine,
}

fn options(directory: Option<&PathBuf>) -> Options {
    let mut options = Options {
        stop: Some(interrupt::stopped),
        ..Options::default()
    };
    if let Some(directory) = directory {
        options.directory.clone_from(directory);
    }
    options
}

/// Runs the probes, and stores the fingerprint for `why` and `bench`.
pub fn machine(plan: &MachinePlan, observer: &mut dyn Observer) -> MachineRecord {
    let _limit = interrupt::until(plan.deadline);
    let options = options(plan.directory.as_ref());
    let mut progress = |what: &str| observer.on(Event::Probes(what));
    let mut results = match &plan.probes {
        Probes::Quick => fathom_machine::quick(&options, &mut progress),
        Probes::Default => fathom_machine::everything(&options, &mut progress),
        Probes::Full => fathom_machine::full(&options, &mut progress),
        Probes::Only(ids, patient) => fathom_machine::only(ids, *patient, &options, &mut progress),
    };
    let complete = !interrupt::stopped();
    if complete {
        remember(plan.probes.name(), &mut results);
    }
    record::figures(plan.probes.name(), complete, results)
}

/// Compares the figures with those of earlier runs, and stores the fingerprint. Failing to write the cache is
/// not an error.
fn remember(kind: &str, results: &mut [ProbeResult]) {
    let Some(folder) = remembered::default_folder() else {
        return;
    };
    let before = remembered::load(&folder);
    let mut best = before
        .as_ref()
        .map(|profile| profile.seen.clone())
        .unwrap_or_default();
    // Figures measured on some of the CPUs don't apply to others.
    let kind = format!("{kind} on {:?}", fathom_machine::allowed_cpus());
    best.judge(results, &kind, remembered::seconds_now());
    let now = Profile::now(results.iter().map(without_curve).collect());
    let kept = if now.is_whole() { Some(now) } else { before };
    if let Some(profile) = kept {
        let _ = remembered::save(
            &folder,
            &Profile {
                seen: best,
                ..profile
            },
        );
    }
}

/// Returns the result without its curve, because only figures are stored.
fn without_curve(result: &ProbeResult) -> ProbeResult {
    ProbeResult {
        points: None,
        points_over: None,
        points_unit: None,
        ..result.clone()
    }
}

/// A check; if no program was run against itself, it includes the reason.
#[derive(Debug)]
pub struct Checked {
    /// The record.
    pub record: CheckRecord,
    /// The failure, if one prevented running a program against itself. The rest of the check is valid; only
    /// its last line is missing.
    pub failure: Option<ConductError>,
}

/// Checks whether the machine is quiet and steady enough for measurements.
pub fn check(plan: &CheckPlan) -> Checked {
    let mut failure = None;
    let mut against_itself = || match against_itself::smallest_difference(&plan.work) {
        Ok(found) => Some(found),
        Err(error) => {
            failure = Some(error);
            None
        }
    };
    let directory = options(plan.directory.as_ref()).directory;
    let mut report = fathom_machine::check(CHECKED, &directory, Some(&mut against_itself));
    let profile = remembered::default_folder().and_then(|folder| remembered::load(&folder));
    let figures = fathom_machine::as_remembered(profile.as_ref());
    report.items.push(figures);
    let complete = !interrupt::stopped();
    Checked {
        record: record::check(complete, report),
        failure: failure.filter(|_| complete),
    }
}
