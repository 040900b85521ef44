//! Combines the traced runs of one program: phases, files, and how well both ways of timing agree.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use fathom_measure::startup::{Purpose, TracedStart};
use fathom_model::{
    Agreement, Cache, Finding, FindingId, Run, StampedBy, StartupMetric, StartupRun, StartupTrace,
};
use fathom_trace::{Tier, Trace};

use super::first_output::{self, Output, Source};
use super::phases;
use super::summary::{judged_metric, own_exit_ns};
use super::timeline::{self, StartTimeline};
use crate::observation::Observation;

/// The results of a program's traced runs.
#[derive(Debug, Clone)]
pub struct Observed {
    /// The trace for the record, without the parts that need the timed runs.
    pub trace: StartupTrace,
    /// The programs that ran, for the record.
    pub ran: Vec<String>,
    /// Every file that a start needs: programs, libraries, opened files.
    pub files: Vec<PathBuf>,
    /// Times to the first byte in runs with known phases, in ns. In the tier `kernel`, they are based on the
    /// kernel's timestamps; in the tier `stops`, on the parent's, minus the time at stops.
    pub first_output_ns: Vec<u64>,
    /// Times to the exit of the same runs, in ns, measured the same way.
    pub exit_ns: Vec<u64>,
    /// Why there are no phases, if known.
    pub no_phases: Option<String>,
    /// The traced run that showed the files.
    whole: Arc<Trace>,
}

/// Evaluates the traced runs of one program, one by one.
#[derive(Debug)]
pub struct ObservedStarts {
    program: usize,
    tier: Tier,
    runs: usize,
    files: Option<(StartTimeline, Arc<Trace>)>,
    timed: Vec<StartTimeline>,
    /// Times of the first byte, both by the parent's timestamp and by the kernel's.
    pairs: Vec<(u64, u64)>,
    not_visible: Vec<String>,
    no_phases: Option<String>,
}

/// The results of one traced run.
struct Start {
    timeline: StartTimeline,
    /// Time to the first byte as seen by the parent.
    parent_ns: Option<u64>,
    trace: Trace,
    /// Why the timeline has no phases.
    no_phases: Option<String>,
}

impl ObservedStarts {
    /// Creates an evaluation for the program with this index, traced in this tier.
    pub fn new(program: usize, tier: Tier) -> ObservedStarts {
        ObservedStarts {
            program,
            tier,
            runs: 0,
            files: None,
            timed: Vec::new(),
            pairs: Vec::new(),
            not_visible: Vec::new(),
            no_phases: None,
        }
    }

    /// Adds the next run.
    pub fn add(&mut self, run: TracedStart) {
        let purpose = run.purpose;
        self.add_read(purpose, read(run));
    }

    fn add_read(&mut self, purpose: Purpose, start: Start) {
        self.runs += 1;
        if purpose == Purpose::FilesAndTimes {
            let kernel_ns = start.timeline.first_output_ns;
            self.pairs.extend(start.parent_ns.zip(kernel_ns));
        }
        self.no_phases = start.no_phases.or(self.no_phases.take());
        if purpose != Purpose::Times {
            self.not_visible = start.trace.not_visible.clone();
            self.files = Some((start.timeline.clone(), Arc::new(start.trace)));
        }
        if purpose != Purpose::Files {
            self.timed.push(start.timeline);
        }
    }

    /// Returns the results so far; `None` until a run has shown files.
    pub fn observed(&self) -> Option<Observed> {
        let (last, whole) = self.files.clone()?;
        let timed = || self.timed.iter();
        let phases = phases::median(&self.timed);
        Some(Observed {
            no_phases: self.no_phases.clone().filter(|_| phases.is_empty()),
            first_output_ns: timed().filter_map(|start| start.first_output_ns).collect(),
            exit_ns: timed().filter_map(|start| start.exit_ns).collect(),
            trace: StartupTrace {
                program: self.program,
                tier: self.tier.name().to_string(),
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
                findings: Vec::new(),
            },
            ran: lossy(&last.ran),
            files: each_once([last.ran, last.libraries, last.files].concat()),
            whole,
        })
    }
}

fn read(run: TracedStart) -> Start {
    let TracedStart {
        purpose,
        mut trace,
        output: watched,
        paths,
    } = run;
    // A timestamp with an unknown delay can't confirm another.
    let first_ns = watched
        .first_byte_ns
        .filter(|_| watched.by != Some(StampedBy::LateReader));
    let parent_ns = first_ns
        .zip(trace.exec_called_clock_ns)
        .map(|(first, called)| first.saturating_sub(called));
    let output = Output {
        bytes: watched.bytes,
        first_ns,
    };
    let is_alone = first_output::is_alone(&trace);
    let source = match purpose {
        Purpose::Times => first_output::settle_without_calls(&mut trace, output),
        Purpose::FilesAndTimes | Purpose::Files => first_output::settle(&mut trace, output),
    };
    let no_phases = no_phases(&trace, source, purpose != Purpose::Times || is_alone);
    let mut timeline = timeline::read(&trace, &paths, purpose != Purpose::Files);
    if no_phases.is_some() {
        timeline.phases.clear();
        (timeline.first_output_ns, timeline.exit_ns) = (None, None);
    }
    Start {
        timeline,
        // This is kept only if the main figure comes from another source.
        parent_ns: parent_ns.filter(|_| source == Source::Call),
        trace,
        no_phases,
    }
}

/// Returns why the length of a run's phases is unknown.
fn no_phases(trace: &Trace, source: Source, writer_is_known: bool) -> Option<String> {
    if !trace.without_rights.is_empty() {
        // This program is not the one that was timed.
        return Some(format!(
            "not seen: {}; the files and lookups are those of a run without these privileges",
            trace.rights_not_visible().join("; ")
        ));
    }
    let why = match source {
        _ if !writer_is_known => {
            "several of its processes run programs, and stopping them does not show which one wrote the first byte"
        }
        Source::Silence if trace.end.cut_short => {
            "the observed runs were ended before they wrote anything"
        }
        Source::Unknown => {
            "its first byte was seen late, by an unknown amount, and no traced call shows when it was written"
        }
        _ => return None,
    };
    Some(why.to_string())
}

/// Keeps only the first occurrence of each path, because a chain of wrappers may execute the same shell
/// several times.
fn each_once(paths: Vec<PathBuf>) -> Vec<PathBuf> {
    let mut known = BTreeSet::new();
    let first = |path: &PathBuf| known.insert(path.clone());
    paths.into_iter().filter(first).collect()
}

fn lossy(paths: &[PathBuf]) -> Vec<String> {
    let paths = paths.iter();
    paths
        .map(|path| path.to_string_lossy().into_owned())
        .collect()
}

/// Fills in what makes the start long, and how much slower the traced runs were than the timed ones, up to
/// the first output, or up to the exit if a run wrote nothing. `cpus` is the number of CPUs that the program
/// may use.
pub fn compare_with_timed(observed: &mut Observed, runs: &[StartupRun], cpus: usize) {
    observed.trace.findings = findings(observed, runs, cpus);
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

/// Returns what `why` finds about the start in the traced run, with times of the timed runs.
fn findings(observed: &Observed, runs: &[StartupRun], cpus: usize) -> Vec<Finding> {
    let trace = &*observed.whole;
    let own = |run: &&StartupRun| run.program == observed.trace.program && run.cache == Cache::Warm;
    let timed = runs.iter().filter(own).filter_map(|run| {
        let wall_ns = match trace.end.cut_short {
            true => run.first_output_ns?,
            false => own_exit_ns(run)?,
        };
        Some(as_run(run, wall_ns))
    });
    let observation = Observation {
        trace: trace.clone(),
        timed: timed.collect(),
        cpus,
        ..Observation::default()
    };
    let mut found = crate::diagnose(&observation).findings;
    found.retain(|finding| finding.id == FindingId::StartupDominated);
    found
}

/// Returns what is known about a timed start in the form of a timed run.
fn as_run(start: &StartupRun, wall_ns: u64) -> Run {
    Run {
        benchmark: start.program,
        round: start.round,
        position: start.position,
        started_ns: 0,
        wall_ns,
        spawn_ns: 0,
        cpu_ns: start.cpu_ns,
        user_ns: 0,
        system_ns: 0,
        run_queue_wait_ns: start.run_queue_wait_ns,
        harness_wait_ns: None,
        undisturbed_ns: None,
        peak_memory_bytes: 0,
        minor_faults: start.minor_faults,
        major_faults: start.major_faults,
        voluntary_switches: 0,
        involuntary_switches: 0,
        io: None,
        steal_ns: None,
        throttled_ns: start.throttled_ns,
        delayed_ns: None,
        left_behind: start.left_behind,
        exit: start.exit,
    }
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
    use crate::fake::Fake;

    #[test]
    fn a_file_is_taken_once_where_it_came_first() {
        let paths = ["/bin/bash", "/a", "/bin/bash", "/b", "/a"].map(PathBuf::from);
        assert_eq!(
            each_once(paths.to_vec()),
            ["/bin/bash", "/a", "/b"].map(PathBuf::from)
        );
    }

    fn run(first_output_ns: Option<u64>, exit_ns: u64) -> StartupRun {
        StartupRun {
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
            throttled_ns: None,
            minor_faults: 0,
            major_faults: 0,
            cpu: None,
            cycles_per_addition: None,
            read_bytes: None,
            void: false,
            left_behind: 0,
            exit: fathom_model::Exit::Code(0),
        }
    }

    #[test]
    fn a_silent_program_is_compared_by_the_time_to_its_exit() {
        let timeline = |first_output_ns, exit_ns| StartTimeline {
            first_output_ns,
            exit_ns: Some(exit_ns),
            ..StartTimeline::default()
        };
        let compared = |timeline: StartTimeline, run| {
            let mut starts = ObservedStarts::new(0, Tier::Kernel);
            let start = Start {
                timeline,
                parent_ns: None,
                trace: Trace::default(),
                no_phases: None,
            };
            starts.add_read(Purpose::FilesAndTimes, start);
            let mut observed = starts.observed().unwrap();
            compare_with_timed(&mut observed, &[run], 1);
            (observed.trace.slowdown, observed.trace.slowdown_metric)
        };
        assert_eq!(
            compared(timeline(None, 900), run(None, 300)),
            (Some(3.0), Some(StartupMetric::Exit))
        );
        assert_eq!(
            compared(timeline(Some(200), 900), run(Some(100), 300)),
            (Some(2.0), Some(StartupMetric::FirstOutput))
        );
    }

    #[test]
    fn agreement_is_parent_side_less_kernel_side() {
        let agreed = agreement(vec![(500, 480), (500, 510), (500, 450)]).unwrap();
        assert_eq!(agreed.median_difference_ns, 20);
        assert_eq!(agreed.largest_difference_ns, 50);
        assert_eq!(agreement(Vec::new()), None);
    }

    #[test]
    fn a_start_that_loads_much_code_has_its_finding() {
        let mut fake = Fake::new(1000);
        fake.trace.processes[0].execs[0].path = "/usr/bin/python3".to_owned();
        for i in 0..300 {
            let name = format!("/lib/module{i}.pyc");
            fake.file(&name, 1, 2, 9_000, 1 + i * 2_500_000);
        }
        let mut starts = ObservedStarts::new(0, Tier::Kernel);
        starts.add_read(
            Purpose::FilesAndTimes,
            Start {
                timeline: StartTimeline::default(),
                parent_ns: None,
                trace: fake.trace,
                no_phases: None,
            },
        );
        let mut observed = starts.observed().expect("one run");
        compare_with_timed(&mut observed, &[run(None, 1_000_000_000)], 2);
        let [found] = &observed.trace.findings[..] else {
            panic!("{:?}", observed.trace.findings)
        };
        assert!(found.statement.contains("300 code files"), "{found:?}");
    }
}
