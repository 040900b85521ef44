//! Further runs that are observed: for phases, files, and how well both ways of timing agree.

use std::ffi::OsString;
use std::fs::File;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::time::Duration;

use fathom_model::{
    Agreement, Cache, PhaseTime, StampedBy, StartupPhase, StartupRun, StartupTrace,
};
use fathom_trace::{Io, Tier, TraceCommand, TraceError, TraceOptions, detect};

use super::session::Subject;
use super::story::{self, Story};
use super::watch::Watch;
use crate::{CommandLine, Input, MeasureError};

/// Beyond this the budget of stops is used up: a start has some hundreds to thousands of calls.
const STOPS: u64 = 100_000;
/// Longest time that stops may take.
const STOPS_TIME: Duration = Duration::from_secs(20);

/// What observing a program told.
#[derive(Debug, Clone)]
pub struct Observed {
    /// For the record; without what needs the timed runs.
    pub trace: StartupTrace,
    /// What ran, for the record.
    pub ran: Vec<String>,
    /// Every file that a start needs: what ran, libraries, what was opened.
    pub files: Vec<PathBuf>,
}

/// How a program may be observed here: the best tier that names files; `None` if none is allowed.
pub fn best_tier() -> Option<Tier> {
    let all = detect::detect();
    let allowed = |tier: Tier| all.iter().any(|one| one.tier == tier && one.available);
    [Tier::Kernel, Tier::Stops]
        .into_iter()
        .find(|t| allowed(*t))
}

/// Runs `subject` `runs` times and observes. Output is watched as in the timed runs.
///
/// # Errors
/// When it can't be started or observed; an ordinary failure of the program is none.
pub fn observe(
    program: usize,
    subject: &Subject,
    tier: Tier,
    runs: u32,
    options: &super::ObserveOptions,
) -> Result<Option<Observed>, MeasureError> {
    let directory = directory_of(&subject.command)?;
    let mut stories = Vec::new();
    let mut pairs = Vec::new();
    let mut not_visible = Vec::new();
    for round in 0..runs {
        if crate::interrupt::received().is_some() {
            break;
        }
        if let Some(prepare) = &subject.prepare {
            prepare.run(Some(round))?;
        }
        let (story, parent_ns, unseen) = once(subject, tier, options, &directory)?;
        pairs.extend(parent_ns.zip(story.first_output_ns));
        stories.push(story);
        not_visible = unseen;
    }
    let Some(last) = stories.last().cloned() else {
        return Ok(None);
    };
    let lossy = |paths: &[PathBuf]| -> Vec<String> {
        paths
            .iter()
            .map(|path| path.to_string_lossy().into_owned())
            .collect()
    };
    let timed = tier == Tier::Kernel;
    Ok(Some(Observed {
        trace: StartupTrace {
            program,
            tier: tier_name(tier).to_string(),
            runs: stories.len(),
            phases: median_phases(&stories),
            libraries: lossy(&last.libraries),
            files: lossy(&last.files),
            failed_lookups: last.failed_lookups,
            missing: last.missing.clone(),
            bytes_read: last.bytes_read,
            minor_faults: last.minor_faults,
            major_faults: last.major_faults,
            slowdown: None,
            agreement: timed.then(|| agreement(pairs)).flatten(),
            not_visible,
        },
        ran: lossy(&last.ran),
        files: [last.ran, last.libraries, last.files].concat(),
    }))
}

/// Fills in how much slower the traced runs were than the timed ones, by the kernel's own stamps of
/// the former.
pub fn compare_with_timed(trace: &mut StartupTrace, runs: &[StartupRun]) {
    let timed: Vec<f64> = runs
        .iter()
        .filter(|run| run.program == trace.program && run.cache == Cache::Warm)
        .filter_map(|run| run.first_output_ns)
        .map(|ns| ns as f64)
        .collect();
    let traced: Vec<f64> = trace
        .agreement
        .iter()
        .flat_map(|agreement| &agreement.pairs)
        .map(|(_, kernel)| *kernel as f64)
        .collect();
    let median = |values: &[f64]| fathom_stats::median_interval(values, 0.95).map(|m| m.value);
    trace.slowdown = median(&traced)
        .zip(median(&timed))
        .filter(|(_, timed)| *timed > 0.0)
        .map(|(traced, timed)| traced / timed);
}

fn once(
    subject: &Subject,
    tier: Tier,
    options: &super::ObserveOptions,
    directory: &Path,
) -> Result<(Story, Option<u64>, Vec<String>), MeasureError> {
    let failed = |what: &'static str| move |error| MeasureError::Launcher { what, error };
    let (reader, writer) = std::io::pipe().map_err(failed("could not make a pipe"))?;
    let link = std::fs::read_link(format!("/proc/self/fd/{}", writer.as_raw_fd()));
    let label = link.map_err(failed("could not make a pipe"))?;
    let watch = Watch::start(reader.into(), &[]).map_err(failed("could not be read from"))?;
    let command = command(subject, writer.into(), options.timeout)?;
    watch.begin();
    let trace = fathom_trace::trace(
        &command,
        tier,
        &TraceOptions {
            code_faults: tier == Tier::Kernel,
            // The phases hold them; the less a start is disturbed the better.
            fault_times: false,
            most_stops: STOPS,
            stops_time: STOPS_TIME,
            labels: vec![(
                label.to_string_lossy().into_owned(),
                story::STDOUT.to_string(),
            )],
            stop: Some(options.stop.clone()),
            ..TraceOptions::default()
        },
    )
    .map_err(|error| not_observed(error, &subject.command))?;
    let watched = watch.finish();
    // A stamp that is late by an unknown time is no second opinion.
    let parent_ns = watched
        .first_byte_ns
        .filter(|_| watched.by != Some(StampedBy::LateReader))
        .zip(trace.exec_called_clock_ns)
        .map(|(seen, called)| seen.saturating_sub(called));
    let story = story::read(&trace, directory, tier == Tier::Kernel);
    Ok((story, parent_ns, trace.not_visible))
}

fn command(
    subject: &Subject,
    stdout: OwnedFd,
    timeout: Option<Duration>,
) -> Result<TraceCommand, MeasureError> {
    let line = &subject.command;
    let mut words: Vec<OsString> = line.arguments.clone();
    // The same file as was timed.
    words[0] = line.program.clone().into_os_string();
    let mut command = TraceCommand::new(words);
    let own = std::env::vars_os()
        .filter(|(name, _)| line.variables.iter().all(|(added, _)| added != name));
    command.env = Some(own.chain(line.variables.iter().cloned()).collect());
    command.cwd = line.directory.clone();
    command.timeout = timeout;
    command.stdin = match &line.input {
        Input::Null => Io::Null,
        Input::File(path) => {
            let file = File::open(path).map_err(|error| MeasureError::Input {
                path: path.clone(),
                error,
            })?;
            Io::Fd(file.into())
        }
    };
    command.stdout = Io::Fd(stdout);
    command.stderr = Io::Null;
    Ok(command)
}

fn not_observed(error: TraceError, command: &CommandLine) -> MeasureError {
    MeasureError::Spawn {
        name: command.arguments[0].to_string_lossy().into_owned(),
        error: std::io::Error::other(format!("it can't be observed: {error}")),
    }
}

fn directory_of(command: &CommandLine) -> Result<PathBuf, MeasureError> {
    let here = std::env::current_dir().map_err(|error| MeasureError::Directory {
        path: ".".into(),
        error,
    })?;
    Ok(here.join(command.directory.as_deref().unwrap_or(Path::new(""))))
}

fn tier_name(tier: Tier) -> &'static str {
    match tier {
        Tier::Kernel => "kernel",
        Tier::Sample => "sample",
        Tier::Stops => "stops",
    }
}

/// The median of each phase, where all runs have the same ones.
fn median_phases(stories: &[Story]) -> Vec<PhaseTime> {
    // A run may lack the entry, when its page was in place already: take the kind that most have.
    let kinds = |story: &Story| -> Vec<StartupPhase> {
        story.phases.iter().map(|phase| phase.phase).collect()
    };
    let count = |wanted: &[StartupPhase]| stories.iter().filter(|s| kinds(s) == wanted).count();
    let Some(most) = stories.iter().map(kinds).max_by_key(|kind| count(kind)) else {
        return Vec::new();
    };
    let alike: Vec<&Story> = stories.iter().filter(|s| kinds(s) == most).collect();
    most.iter()
        .enumerate()
        .map(|(at, phase)| {
            let mut values: Vec<u64> = alike.iter().map(|story| story.phases[at].ns).collect();
            values.sort_unstable();
            PhaseTime {
                phase: *phase,
                ns: values[values.len() / 2],
            }
        })
        .collect()
}

fn agreement(pairs: Vec<(u64, u64)>) -> Option<Agreement> {
    let mut differences: Vec<i64> = pairs
        .iter()
        .map(|(parent, kernel)| *parent as i64 - *kernel as i64)
        .collect();
    differences.sort_unstable();
    Some(Agreement {
        median_difference_ns: *differences.get(differences.len() / 2)?,
        largest_difference_ns: differences.iter().map(|d| d.unsigned_abs()).max()?,
        pairs,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phases_are_the_median_of_the_runs_that_have_the_same_ones() {
        let story = |times: &[(StartupPhase, u64)]| Story {
            phases: times
                .iter()
                .map(|(phase, ns)| PhaseTime {
                    phase: *phase,
                    ns: *ns,
                })
                .collect(),
            ..Story::default()
        };
        use StartupPhase::{Exec, Loader, LoaderToMain};
        let stories = [
            story(&[(Exec, 10), (Loader, 100)]),
            story(&[(Exec, 9999), (LoaderToMain, 1)]),
            story(&[(Exec, 30), (Loader, 300)]),
            story(&[(Exec, 20), (Loader, 200)]),
        ];
        let told: Vec<_> = median_phases(&stories).iter().map(|p| p.ns).collect();
        assert_eq!(told, [20, 200]);
        assert!(median_phases(&[]).is_empty());
    }

    #[test]
    fn agreement_is_parent_side_less_kernel_side() {
        let told = agreement(vec![(500, 480), (500, 510), (500, 450)]).unwrap();
        assert_eq!(told.median_difference_ns, 20);
        assert_eq!(told.largest_difference_ns, 50);
        assert_eq!(agreement(Vec::new()), None);
    }
}
