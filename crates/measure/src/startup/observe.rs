//! Further runs that are observed: for phases, files, and how well both ways of timing agree.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::time::Duration;

use fathom_model::{Agreement, Cache, StampedBy, StartupMetric, StartupRun, StartupTrace};
use fathom_trace::{
    Io, Tier, TimelineOptions, Trace, TraceCommand, TraceError, TraceOptions, detect,
};

use super::output::{self, Seen, ToldBy};
use super::phases;
use super::session::Subject;
use super::story::{self, Story};
use super::summary::{judged_metric, own_exit_ns};
use super::watch::Watch;
use crate::{CommandLine, Iteration, MeasureError, traced_input};

/// Beyond this the budget of stops is used up: a start has some hundreds to thousands of calls.
const STOPS: u64 = 100_000;
/// Longest time that stops may take.
const STOPS_TIME: Duration = Duration::from_secs(20);
/// Shorter times off a CPU are taken for times on it: a switch alone takes 1 to 2 µs.
const SHORTEST_WAIT: Duration = Duration::from_micros(1);

/// What observing a program told.
#[derive(Debug, Clone)]
pub struct Observed {
    /// For the record; without what needs the timed runs.
    pub trace: StartupTrace,
    /// What ran, for the record.
    pub ran: Vec<String>,
    /// Every file that a start needs: what ran, libraries, what was opened.
    pub files: Vec<PathBuf>,
    /// Times to the first byte of the runs whose phases were observed, ns: by the kernel's stamps in tier `kernel`,
    /// in tier `stops` by the parent's, less the time at stops.
    pub first_output_ns: Vec<u64>,
    /// Times to the exit of the same runs, ns, likewise.
    pub exit_ns: Vec<u64>,
    /// Where there are no phases: why, if that is known.
    pub no_phases: Option<String>,
}

/// How a program may be observed here: the best tier that names files; `None` if none is allowed.
pub fn best_tier() -> Option<Tier> {
    let all = detect::detect();
    let allowed = |tier: Tier| all.iter().any(|one| one.tier == tier && one.available);
    [Tier::Kernel, Tier::Stops]
        .into_iter()
        .find(|t| allowed(*t))
}

/// Runs `subject` and observes: `runs` times in tier `kernel`, and once more in tier `stops`, where files and
/// times can't be had of the same run. Output is watched as in the timed runs. `told` gets what is known after
/// each run.
///
/// # Errors
/// When it can't be started or observed, and those of `told`; an ordinary failure of the program is none.
pub fn observe(
    program: usize,
    subject: &Subject,
    tier: Tier,
    runs: u32,
    options: &super::ObserveOptions,
    told: &mut dyn FnMut(&Observed) -> Result<(), MeasureError>,
) -> Result<Option<Observed>, MeasureError> {
    let directory = directory_of(&subject.command)?;
    let mut so_far = SoFar::default();
    let looks = match tier {
        Tier::Stops => [vec![Look::Files], vec![Look::Times; runs as usize]].concat(),
        _ => vec![Look::Both; runs as usize],
    };
    let mut observed = None;
    for (round, look) in (0..).zip(looks) {
        if crate::interrupt::stopped() {
            break;
        }
        if let Some(prepare) = &subject.prepare {
            prepare.run(Some(Iteration::Run(round)))?;
        }
        let glance = once(subject, tier, look, options, &directory)?;
        if so_far.add(look, glance) {
            observed = so_far.observed(program, tier);
        }
        if let Some(observed) = &observed {
            told(observed)?;
        }
    }
    Ok(observed)
}

/// What an observed run is made for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Look {
    /// Files, phases and the agreement of both ways.
    Both,
    /// Files: every call is stopped, so that times are not to be had.
    Files,
    /// Phases: stopped at milestones only, so that files are not to be had.
    Times,
}

/// What one observed run told.
struct Glance {
    story: Story,
    /// To the first byte as the parent saw it.
    parent_ns: Option<u64>,
    not_visible: Vec<String>,
    /// Why its story has no phases.
    no_phases: Option<String>,
}

/// The observed runs of one program so far.
#[derive(Debug, Default)]
struct SoFar {
    runs: usize,
    files: Option<Story>,
    timed: Vec<Story>,
    pairs: Vec<(u64, u64)>,
    not_visible: Vec<String>,
    no_phases: Option<String>,
}

impl SoFar {
    /// Whether there is enough for [`SoFar::observed`].
    fn add(&mut self, look: Look, glance: Glance) -> bool {
        self.runs += 1;
        if look == Look::Both {
            let kernel_ns = glance.story.first_output_ns;
            self.pairs.extend(glance.parent_ns.zip(kernel_ns));
        }
        self.no_phases = glance.no_phases.or(self.no_phases.take());
        if look != Look::Times {
            self.files = Some(glance.story.clone());
            self.not_visible = glance.not_visible;
        }
        if look != Look::Files {
            self.timed.push(glance.story);
        }
        self.files.is_some()
    }

    fn observed(&self, program: usize, tier: Tier) -> Option<Observed> {
        let last = self.files.clone()?;
        let first_output_ns = self.timed.iter().filter_map(|story| story.first_output_ns);
        let phases = phases::median(&self.timed);
        Some(Observed {
            no_phases: self.no_phases.clone().filter(|_| phases.is_empty()),
            first_output_ns: first_output_ns.collect(),
            exit_ns: self.timed.iter().filter_map(|s| s.exit_ns).collect(),
            trace: StartupTrace {
                program,
                tier: tier.name().to_string(),
                runs: self.runs,
                phases,
                libraries: lossy(&last.libraries),
                files: lossy(&last.files),
                failed_lookups: last.failed_lookups,
                missing: last.missing.clone(),
                bytes_read: last.bytes_read,
                minor_faults: last.minor_faults,
                major_faults: last.major_faults,
                slowdown: None,
                slowdown_metric: None,
                agreement: agreement(self.pairs.clone()),
                not_visible: self.not_visible.clone(),
            },
            ran: lossy(&last.ran),
            files: each_once([last.ran, last.libraries, last.files].concat()),
        })
    }
}

/// The first of each: a chain of wrappers may execute one shell several times.
fn each_once(paths: Vec<PathBuf>) -> Vec<PathBuf> {
    let mut seen = BTreeSet::new();
    let first = |path: &PathBuf| seen.insert(path.clone());
    paths.into_iter().filter(first).collect()
}

fn lossy(paths: &[PathBuf]) -> Vec<String> {
    let paths = paths.iter();
    paths
        .map(|path| path.to_string_lossy().into_owned())
        .collect()
}

/// Fills in how much slower the traced runs were than the timed ones: to the first output, or to the exit where
/// a run wrote nothing.
pub fn compare_with_timed(observed: &mut Observed, runs: &[StartupRun]) {
    let trace = &mut observed.trace;
    let metric = match observed.first_output_ns.is_empty() {
        true => StartupMetric::Exit,
        false => judged_metric(runs, trace.program),
    };
    let traced = match metric {
        StartupMetric::FirstOutput => &observed.first_output_ns,
        StartupMetric::Exit => &observed.exit_ns,
    };
    let timed: Vec<f64> = runs
        .iter()
        .filter(|run| run.program == trace.program && run.cache == Cache::Warm)
        .filter_map(|run| match metric {
            StartupMetric::FirstOutput => run.first_output_ns,
            StartupMetric::Exit => own_exit_ns(run),
        })
        .map(|ns| ns as f64)
        .collect();
    let traced: Vec<f64> = traced.iter().map(|ns| *ns as f64).collect();
    let median = |values: &[f64]| fathom_stats::median_interval(values, 0.95).map(|m| m.value);
    trace.slowdown = median(&traced)
        .zip(median(&timed))
        .filter(|(_, timed)| *timed > 0.0)
        .map(|(traced, timed)| traced / timed);
    trace.slowdown_metric = trace.slowdown.map(|_| metric);
}

fn once(
    subject: &Subject,
    tier: Tier,
    look: Look,
    options: &super::ObserveOptions,
    directory: &Path,
) -> Result<Glance, MeasureError> {
    let failed = |what: &'static str| move |error| MeasureError::Launcher { what, error };
    let (reader, writer) = std::io::pipe().map_err(failed("could not make a pipe"))?;
    let link = std::fs::read_link(format!("/proc/self/fd/{}", writer.as_raw_fd()));
    let label = link.map_err(failed("could not make a pipe"))?;
    let watch = Watch::start(reader.into(), &[]).map_err(failed("could not be read from"))?;
    let command = command(subject, writer.into(), options.timeout)?;
    watch.begin();
    let mut trace = fathom_trace::trace(
        &command,
        tier,
        &TraceOptions {
            // Where the start waited for a CPU; in tier stops nothing tells.
            timeline: (tier == Tier::Kernel).then_some(TimelineOptions {
                shortest: SHORTEST_WAIT,
                ..TimelineOptions::default()
            }),
            // The phases hold them; the less a start is disturbed the better.
            fault_times: false,
            most_stops: STOPS,
            stops_time: STOPS_TIME,
            only_milestones: look == Look::Times,
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
    let seen = watched
        .first_byte_ns
        .filter(|_| watched.by != Some(StampedBy::LateReader));
    let parent_ns = seen
        .zip(trace.exec_called_clock_ns)
        .map(|(seen, called)| seen.saturating_sub(called));
    let output = Seen {
        bytes: watched.bytes,
        first_ns: seen,
    };
    let is_alone = output::is_alone(&trace);
    let told_by = match look {
        Look::Times => output::settle_without_calls(&mut trace, output),
        Look::Both | Look::Files => output::settle(&mut trace, output),
    };
    let no_phases = no_phases(&trace, told_by, look != Look::Times || is_alone);
    let mut story = story::read(&trace, directory, look != Look::Files);
    if no_phases.is_some() {
        story.phases.clear();
        (story.first_output_ns, story.exit_ns) = (None, None);
    }
    Ok(Glance {
        story,
        // No second opinion where it is the first.
        parent_ns: parent_ns.filter(|_| told_by == ToldBy::Call),
        not_visible: trace.not_visible,
        no_phases,
    })
}

/// Why a run tells nothing of how long its phases take.
fn no_phases(trace: &Trace, told_by: ToldBy, writer_is_known: bool) -> Option<String> {
    if !trace.without_rights.is_empty() {
        // It is another program than was timed.
        return Some(format!(
            "not seen is {}; the files and look-ups are those of such a run",
            trace.rights_not_visible().join("; ")
        ));
    }
    let why = match told_by {
        _ if !writer_is_known => {
            "several of its processes run programs, and stops don't show whose byte came first"
        }
        ToldBy::Silence if trace.end.cut_short => {
            "the observed runs were ended before they wrote anything"
        }
        ToldBy::Nobody => "its first byte was seen late by an unknown time, and no call tells it",
        _ => return None,
    };
    Some(why.to_string())
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
    command.stdin = traced_input(&line.input)?;
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
    Ok(here.join(command.folder()))
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
    fn a_file_is_taken_once_where_it_came_first() {
        let paths = ["/bin/bash", "/a", "/bin/bash", "/b", "/a"].map(PathBuf::from);
        assert_eq!(
            each_once(paths.to_vec()),
            ["/bin/bash", "/a", "/b"].map(PathBuf::from)
        );
    }

    #[test]
    fn a_silent_program_is_compared_by_the_time_to_its_exit() {
        let run = |first_output_ns, exit_ns| StartupRun {
            program: 0,
            round: 0,
            position: 0,
            cache: Cache::Warm,
            first_output_ns,
            first_output_by: None,
            first_output_uncertainty_ns: None,
            exit_ns,
            exit_corrected: true,
            output_bytes: 0,
            run_queue_wait_ns: None,
            wait_is_exact: false,
            cpu_ns: 0,
            minor_faults: 0,
            major_faults: 0,
            cpu: None,
            cycles_per_addition: None,
            read_bytes: None,
            void: false,
            left_behind: 0,
            exit: fathom_model::Exit::Code(0),
        };
        let story = |first_output_ns, exit_ns| Story {
            first_output_ns,
            exit_ns: Some(exit_ns),
            ..Story::default()
        };
        let compared = |story: Story, run| {
            let mut so_far = SoFar::default();
            let not_visible = Vec::new();
            let glance = Glance {
                story,
                parent_ns: None,
                not_visible,
                no_phases: None,
            };
            so_far.add(Look::Both, glance);
            let mut observed = so_far.observed(0, Tier::Kernel).unwrap();
            compare_with_timed(&mut observed, &[run]);
            (observed.trace.slowdown, observed.trace.slowdown_metric)
        };
        assert_eq!(
            compared(story(None, 900), run(None, 300)),
            (Some(3.0), Some(StartupMetric::Exit))
        );
        assert_eq!(
            compared(story(Some(200), 900), run(Some(100), 300)),
            (Some(2.0), Some(StartupMetric::FirstOutput))
        );
    }

    #[test]
    fn agreement_is_parent_side_less_kernel_side() {
        let told = agreement(vec![(500, 480), (500, 510), (500, 450)]).unwrap();
        assert_eq!(told.median_difference_ns, 20);
        assert_eq!(told.largest_difference_ns, 50);
        assert_eq!(agreement(Vec::new()), None);
    }
}
