//! `machine`: what this machine can do at most, and whether it is quiet enough.

mod against_itself;
mod record;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use fathom_machine::remembered::{self, Profile};
use fathom_machine::{Options, ProbeResult};
use fathom_measure::{CommandLine, interrupt};
use fathom_model::{CheckRecord, MachineRecord};

use crate::{ConductError, Event, Observer};

/// Time for which the machine is watched in [`check`].
const CHECKED: Duration = Duration::from_secs(1);

/// Which probes are taken.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Probes {
    /// Only the fingerprint (3 s, at most 8).
    Quick,
    /// All, in under 30 s.
    #[default]
    Default,
    /// All, and what other programs disturbed is tried up to four times more (at most 90 s).
    Full,
    /// These, by their ids; `true` for more tries as in `Full`.
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

/// What is to be measured of the machine.
#[derive(Debug, Clone, Default)]
pub struct MachinePlan {
    /// The probes.
    pub probes: Probes,
    /// A folder on the disk that is to be measured; that of temporary files if absent.
    pub directory: Option<PathBuf>,
    /// When measuring ends with what it has by then.
    pub deadline: Option<Instant>,
}

/// How the machine is checked.
#[derive(Debug, Clone)]
pub struct CheckPlan {
    /// Where results and scratch files would lie; the folder of temporary files if absent.
    pub directory: Option<PathBuf>,
    /// What is run against itself: some milliseconds of fixed work.
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

/// Takes the probes, and keeps the fingerprint for `why` and `bench`.
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

/// Holds the figures against what earlier runs showed, and keeps the fingerprint. A cache that
/// can't be written is no failure.
fn remember(kind: &str, results: &mut [ProbeResult]) {
    let Some(folder) = remembered::default_folder() else {
        return;
    };
    let before = remembered::load(&folder);
    let mut best = before
        .as_ref()
        .map(|profile| profile.seen.clone())
        .unwrap_or_default();
    // What was measured on some of the CPUs is no measure of what is on others.
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

/// Figures are remembered, curves are not.
fn without_curve(result: &ProbeResult) -> ProbeResult {
    ProbeResult {
        points: None,
        points_over: None,
        points_unit: None,
        ..result.clone()
    }
}

/// A check, and why no program was run against itself, if none was.
#[derive(Debug)]
pub struct Checked {
    /// The record.
    pub record: CheckRecord,
    /// The rest of the check stands; only its last line is missing.
    pub failure: Option<ConductError>,
}

/// Whether the machine is quiet and steady enough to measure on.
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
