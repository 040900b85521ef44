//! Runs a whole experiment: prepares, measures, judges.

mod deciding;
mod folders;
mod measuring;
mod record;

pub(crate) use deciding::MOST_TIMES;
pub(crate) use folders::ready;
pub use folders::{default_work, folders};

use std::path::PathBuf;
use std::time::{Duration, Instant};

use fathom_conduct::fingerprint;
use fathom_machine::remembered::Change;
use fathom_measure::interrupt;
use fathom_model::{ExperimentRecord, MeasureResult};
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::file::experiment::{Experiment, How, Measure};
use crate::metrics;
use crate::plan;
use crate::prepare::{Prepared, Preparer, StepKind};
use crate::resolve::Scope;
use crate::results::{Cause, Gap, Results};
use crate::run::bench::is_over;
use crate::run::{Interrupted, NO_TIME, Yield};
use crate::select::Selection;
use crate::state::{Done, State};

/// The time limit, with `--quick`, for an experiment that doesn't define one.
pub const QUICK_TIME: Duration = Duration::from_secs(30);

/// Options for running an experiment.
#[derive(Debug, Clone)]
pub struct Options {
    /// The work folder of the run.
    pub work: PathBuf,
    /// Whether to measure only the quick set.
    pub quick: bool,
    /// Whether tools may be installed.
    pub install: bool,
    /// Whether to continue an earlier run.
    pub resume: bool,
    /// The result of the machine check, if it was made.
    pub machine_check: Option<String>,
    /// Patterns of `--only`.
    pub only: Vec<String>,
    /// The time limit for measuring, which overrides that of the file.
    pub time: Option<Duration>,
    /// The time by which everything must have ended, including builds: commands that are running then are
    /// ended, and later ones are skipped.
    pub deadline: Option<Instant>,
}

/// Progress events.
#[derive(Debug, Clone, PartialEq)]
pub enum Event<'e> {
    /// The machine differs from its profile.
    MachineChanged(&'e [Change]),
    /// A preparation step starts.
    Preparing(StepKind, &'e str),
    /// A measure begins: its id, its method, its number, and the total number of measures.
    Measuring(&'e str, How, usize, usize),
    /// A claim that depends on this measure is undecided, so as many rounds are added as it already has.
    MoreRounds(&'e str, u64),
}

/// Why an experiment could not be run.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The selection or the paths are invalid.
    #[error("{0}")]
    Usage(String),
    /// The work folder can't be used.
    #[error("can't use the work folder {}: {error}{}", path.display(), way_out(error))]
    Work {
        /// The folder.
        path: PathBuf,
        /// The cause.
        error: std::io::Error,
    },
}

/// Returns advice if the user can't write to the folder next to the file, for example in another user's clone
/// or on a read-only medium.
fn way_out(error: &std::io::Error) -> &'static str {
    use std::io::ErrorKind::{PermissionDenied, ReadOnlyFilesystem};
    match error.kind() {
        PermissionDenied | ReadOnlyFilesystem => {
            "\nchoose a folder that you can write to for builds, inputs and records: --work DIR"
        }
        _ => "",
    }
}

/// The result of a run.
#[derive(Debug)]
pub struct End {
    /// The complete record.
    pub record: ExperimentRecord,
    /// The result of the machine check made before the first measurement.
    pub machine_check: Option<String>,
    /// Whether a subject, build or generator failed.
    pub failed: bool,
    /// Whether the user interrupted the run.
    pub interrupted: bool,
}

/// Runs a checked experiment.
///
/// # Errors
/// [`RunError`]. Failures during the run are part of the record.
pub fn run(
    experiment: &Experiment,
    options: &Options,
    observer: &mut dyn FnMut(Event<'_>),
) -> Result<End, RunError> {
    fingerprint::take(&mut |event: fathom_conduct::Event<'_>| {
        if let fathom_conduct::Event::MachineChanged(changes) = event {
            observer(Event::MachineChanged(changes));
        }
    });
    let began = Instant::now();
    let selection = Selection::of(experiment, &options.only).map_err(RunError::Usage)?;
    let folders = folders(experiment, &options.work)?;
    let _lock = ready(&folders, options.resume)?;
    let scope = Scope {
        experiment,
        folders: &folders,
        quick: options.quick,
    };
    let input = input_of(experiment, options);
    let state = match options.resume {
        true => State::read(&folders.work, &input),
        false => None,
    };
    let mut running = Running {
        scope,
        options,
        selection: &selection,
        state: state.unwrap_or_else(|| State::new(input, options.machine_check.clone())),
        results: Results {
            promised: crate::check::promised(experiment),
            ..Results::default()
        },
        measures: Vec::new(),
        warnings: Vec::new(),
        interrupted: false,
        failed: false,
        time: options
            .time
            .or(experiment.time_budget)
            .or(options.quick.then_some(QUICK_TIME)),
        measuring: None,
    };
    let prepared = running.prepare(observer)?;
    running.measure(&prepared, observer)?;
    running.decide(&prepared, observer)?;
    let record = running.record(&prepared, began.elapsed().as_secs_f64());
    Ok(End {
        record,
        machine_check: running.state.machine_check,
        failed: running.failed,
        interrupted: running.interrupted,
    })
}

/// The tables of a file that affect how results are judged and described, but not the results themselves.
const JUDGING: [&str; 6] = [
    "answers", "claims", "pictures", "question", "source", "title",
];

/// Returns the fingerprint of everything on which the results depend.
fn input_of(experiment: &Experiment, options: &Options) -> String {
    let measured = match toml::from_str::<serde_json::Map<String, Value>>(&experiment.text) {
        Ok(mut tables) => {
            tables.retain(|name, _| !JUDGING.contains(&name.as_str()));
            Value::Object(tables).to_string()
        }
        // The file contains a date, which JSON can't represent.
        Err(_) => experiment.text.clone(),
    };
    // Of all calls counted by `why`, only those that a claim names are kept.
    let calls = metrics::named_calls(experiment).into_iter();
    let calls: Vec<String> = calls.map(|(name, _)| name).collect();
    format!(
        "{} {} {} {}",
        sha256(&format!("{measured} {}", calls.join(" "))),
        env!("CARGO_PKG_VERSION"),
        options.quick,
        options.only.join(" ")
    )
}

fn sha256(text: &str) -> String {
    Sha256::digest(text.as_bytes())
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

struct Running<'r> {
    scope: Scope<'r>,
    options: &'r Options,
    selection: &'r Selection,
    state: State,
    results: Results,
    measures: Vec<MeasureResult>,
    warnings: Vec<String>,
    interrupted: bool,
    failed: bool,
    time: Option<Duration>,
    /// When measuring started.
    measuring: Option<Instant>,
}

impl Running<'_> {
    fn prepare(&mut self, observer: &mut dyn FnMut(Event<'_>)) -> Result<Prepared, RunError> {
        let needs = plan::needs_of(&self.scope, self.selection).map_err(RunError::Usage)?;
        let mut preparer = Preparer {
            scope: self.scope,
            logs: self.scope.folders.work.join("logs"),
            install: self.options.install,
            keep_builds: self.options.resume,
            deadline: self.options.deadline,
            prepared: Prepared::default(),
        };
        for (need, combination) in needs {
            let mut step = |kind, name: &str| observer(Event::Preparing(kind, name));
            if preparer.prepare(&need, &combination, &mut step).is_err() {
                self.interrupted = true;
                break;
            }
        }
        Ok(preparer.prepared)
    }

    fn measure(
        &mut self,
        prepared: &Prepared,
        observer: &mut dyn FnMut(Event<'_>),
    ) -> Result<(), RunError> {
        self.measuring = Some(Instant::now());
        let wanted: Vec<&Measure> = (self.scope.experiment.measures.iter())
            .filter(|measure| self.selection.measures.contains(&measure.id.value))
            .collect();
        let count = wanted.len();
        for (index, measure) in wanted.into_iter().enumerate() {
            let id = measure.id.value.clone();
            if let Some(done) = self.state.done.get(&id).cloned() {
                self.take(done);
                continue;
            }
            if let Some(why) = self.left_out(measure) {
                self.results.gaps.push(gap(measure, &why));
                self.note(measure, format!("not measured: {why}"));
                continue;
            }
            observer(Event::Measuring(&id, measure.how, index + 1, count));
            let began = Instant::now();
            let outcome = self.one(measure, prepared, count - index, None);
            self.keep(measure, outcome, began.elapsed().as_secs_f64())?;
        }
        Ok(())
    }

    /// Returns why a measure is skipped, if it is.
    fn left_out(&self, measure: &Measure) -> Option<String> {
        if self.interrupted || interrupt::received().is_some() {
            return Some("interrupted".to_string());
        }
        if self.options.quick && !measure.quick {
            return Some("--quick skips it".to_string());
        }
        if is_over(self.options.deadline) {
            return Some(NO_TIME.to_string());
        }
        match self.left() {
            Some(left) if left.is_zero() => Some("the time limit was reached".to_string()),
            _ => None,
        }
    }

    /// Returns the remaining time for measuring.
    fn left(&self) -> Option<Duration> {
        let used = self
            .measuring
            .map_or(Duration::ZERO, |began| began.elapsed());
        self.time.map(|time| time.saturating_sub(used))
    }

    fn note(&mut self, measure: &Measure, note: String) {
        self.measures.push(MeasureResult {
            id: measure.id.value.clone(),
            how: measure.how.name().to_string(),
            complete: false,
            seconds: 0.0,
            records: Vec::new(),
            notes: vec![note],
        });
    }

    fn keep(
        &mut self,
        measure: &Measure,
        outcome: Result<Yield, Interrupted>,
        seconds: f64,
    ) -> Result<(), RunError> {
        let outcome = Yield::from(outcome);
        self.interrupted |= outcome.interrupted;
        let complete = !outcome.interrupted && outcome.results.gaps.is_empty();
        let mut results = outcome.results;
        let mut notes = outcome.notes;
        if results.samples.is_empty() && results.findings.is_empty() && notes.is_empty() {
            notes.extend(why_nothing(&results.gaps));
        }
        if outcome.interrupted {
            results.gaps.push(gap(measure, "interrupted"));
            notes.push("interrupted".to_string());
        }
        let done = Done {
            measure: MeasureResult {
                id: measure.id.value.clone(),
                how: measure.how.name().to_string(),
                complete,
                seconds,
                records: outcome.records,
                notes,
            },
            results,
            looks: 1,
        };
        // An incomplete measure is repeated by --resume.
        if complete {
            self.state
                .done
                .insert(measure.id.value.clone(), done.clone());
            self.save()?;
        }
        self.failed |= outcome.failed;
        self.take(done);
        Ok(())
    }

    fn save(&self) -> Result<(), RunError> {
        let work = &self.scope.folders.work;
        self.state.write(work).map_err(|error| RunError::Work {
            path: work.clone(),
            error,
        })
    }

    fn take(&mut self, done: Done) {
        self.measures.push(done.measure);
        self.results.samples.extend(done.results.samples);
        self.results.findings.extend(done.results.findings);
        self.results.gaps.extend(done.results.gaps);
        self.results.waits.extend(&done.results.waits);
    }
}

fn gap(measure: &Measure, why: &str) -> Gap {
    Gap {
        measure: Some(measure.id.value.clone()),
        subject: None,
        parameters: Vec::new(),
        reason: format!("{} was not measured: {why}", measure.id.value),
        cause: Cause::NotMeasured,
    }
}

/// Returns why a measure has no results at all.
fn why_nothing(gaps: &[Gap]) -> Option<String> {
    let mut reasons: Vec<&str> = gaps.iter().map(|gap| gap.reason.as_str()).collect();
    reasons.dedup();
    (!reasons.is_empty()).then(|| format!("not measured: {}", reasons.join("; ")))
}
