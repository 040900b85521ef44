//! A whole run of an experiment: prepare, measure, judge.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use fathom_measure::{environment, interrupt, now_rfc3339};
use fathom_model::{ExperimentRecord, MeasureResult, ResultRow, SCHEMA_VERSION};
use sha2::{Digest, Sha256};

use crate::expression::LEVEL;
use crate::file::experiment::{Experiment, How, Measure};
use crate::plan;
use crate::prepare::{Prepared, Preparer, StepKind};
use crate::resolve::{Folders, Scope};
use crate::results::{Cause, Gap, Results};
use crate::run::bench::{Amount, is_over};
use crate::run::{Interrupted, NO_TIME, Yield, bench, observed, printed};
use crate::select::Selection;
use crate::state::{Done, State};
use crate::verdict;

/// With `--quick` an experiment that names no time gets this long.
pub const QUICK_TIME: Duration = Duration::from_secs(30);

/// How an experiment is run.
#[derive(Debug, Clone)]
pub struct Options {
    /// Fathom itself, for the other verbs.
    pub program: PathBuf,
    /// The folder of the run.
    pub work: PathBuf,
    /// The small set.
    pub quick: bool,
    /// Tools may be installed.
    pub install: bool,
    /// Go on where an earlier run stopped.
    pub resume: bool,
    /// Patterns of `--only`.
    pub only: Vec<String>,
    /// Longest time for measuring; overrides the file's.
    pub time: Option<Duration>,
    /// When all of it has to have ended, builds included: what runs then is ended, what would begin later
    /// is left out.
    pub deadline: Option<Instant>,
}

/// What a run tells while it goes on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event<'e> {
    /// Something is made ready.
    Preparing(StepKind, &'e str),
    /// A measure begins: its id, how, its number and how many there are.
    Measuring(&'e str, How, usize, usize),
}

/// Why an experiment could not be run.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The selection or the paths are wrong.
    #[error("{0}")]
    Usage(String),
    /// The work folder can't be used.
    #[error("can't use the work folder {}: {error}", path.display())]
    Work {
        /// The folder.
        path: PathBuf,
        /// Why.
        error: std::io::Error,
    },
}

/// The end of a run.
#[derive(Debug)]
pub struct End {
    /// Everything.
    pub record: ExperimentRecord,
    /// A subject, build or generator failed.
    pub failed: bool,
    /// The user interrupted.
    pub interrupted: bool,
}

/// The folder of the runs of a file: `.fathom/NAME` beside it.
pub fn default_work(file: &Path) -> PathBuf {
    let folder = file.parent().unwrap_or(Path::new("."));
    let name = file.file_stem().unwrap_or_default();
    folder.join(".fathom").join(name)
}

/// The folders of a run, absolute.
///
/// # Errors
/// When the current directory can't be told.
pub fn folders(experiment: &Experiment, work: &Path) -> Result<Folders, RunError> {
    let failed = |error| RunError::Work {
        path: work.to_path_buf(),
        error,
    };
    let absolute = |path: &Path| std::path::absolute(path).map_err(failed);
    let here = experiment.path.parent().unwrap_or(Path::new("."));
    let here = match here.as_os_str().is_empty() {
        true => Path::new("."),
        false => here,
    };
    Ok(Folders {
        here: absolute(here)?.components().collect(),
        work: absolute(work)?.components().collect(),
    })
}

/// Runs an experiment that was checked.
///
/// # Errors
/// [`RunError`]. What fails while it runs is part of the record.
pub fn run(
    experiment: &Experiment,
    options: &Options,
    tell: &mut dyn FnMut(Event<'_>),
) -> Result<End, RunError> {
    let began = Instant::now();
    let started_at = now_rfc3339();
    let selection = Selection::of(experiment, &options.only).map_err(RunError::Usage)?;
    let folders = folders(experiment, &options.work)?;
    let _lock = ready(&folders, options.resume)?;
    let scope = Scope {
        experiment,
        folders: &folders,
        quick: options.quick,
    };
    let fingerprint = fingerprint(experiment, options);
    let state = match options.resume {
        true => State::read(&folders.work, &fingerprint),
        false => None,
    };
    let mut running = Running {
        scope,
        options,
        selection: &selection,
        state: state.unwrap_or_else(|| State::new(fingerprint)),
        results: Results::default(),
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
    let prepared = running.prepare(tell)?;
    running.measure(&prepared, tell)?;
    let record = running.record(&prepared, started_at, began.elapsed().as_secs_f64());
    Ok(End {
        record,
        failed: running.failed,
        interrupted: running.interrupted,
    })
}

/// Makes the work folder and holds it, so that two runs do not mix.
fn ready(folders: &Folders, resume: bool) -> Result<std::fs::File, RunError> {
    let failed = |error| RunError::Work {
        path: folders.work.clone(),
        error,
    };
    std::fs::create_dir_all(&folders.work).map_err(failed)?;
    if let Some(parent) = folders.work.parent()
        && parent.file_name().is_some_and(|name| name == ".fathom")
        && !parent.join(".gitignore").exists()
    {
        // Results are no sources.
        std::fs::write(parent.join(".gitignore"), "*\n").map_err(failed)?;
    }
    let lock = std::fs::File::create(folders.work.join("lock")).map_err(failed)?;
    match lock.try_lock() {
        Ok(()) => {}
        Err(std::fs::TryLockError::WouldBlock) => {
            return Err(failed(std::io::Error::other(
                "another run uses it; wait for it, or give this one a folder with --work",
            )));
        }
        Err(std::fs::TryLockError::Error(error)) => return Err(failed(error)),
    }
    if !resume {
        match std::fs::remove_file(folders.work.join("state.json")) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(failed(error));
            }
            _ => {}
        }
        for folder in ["records", "logs"] {
            let path = folders.work.join(folder);
            if path.exists() {
                std::fs::remove_dir_all(&path).map_err(failed)?;
            }
        }
    }
    for folder in ["records", "logs", "inputs", "outputs"] {
        std::fs::create_dir_all(folders.work.join(folder)).map_err(failed)?;
    }
    Ok(lock)
}

fn fingerprint(experiment: &Experiment, options: &Options) -> String {
    format!(
        "{} {} {} {}",
        sha256(&experiment.text),
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
    /// When measuring began.
    measuring: Option<Instant>,
}

impl Running<'_> {
    fn prepare(&mut self, tell: &mut dyn FnMut(Event<'_>)) -> Result<Prepared, RunError> {
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
            let mut step = |kind, name: &str| tell(Event::Preparing(kind, name));
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
        tell: &mut dyn FnMut(Event<'_>),
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
            tell(Event::Measuring(&id, measure.how, index + 1, count));
            let began = Instant::now();
            let outcome = self.one(measure, prepared, count - index);
            self.keep(measure, outcome, began.elapsed().as_secs_f64())?;
        }
        Ok(())
    }

    /// Why a measure is not made now.
    fn left_out(&self, measure: &Measure) -> Option<String> {
        if self.interrupted || interrupt::received().is_some() {
            return Some("interrupted".to_string());
        }
        if self.options.quick && !measure.quick {
            return Some("it is not in the quick set".to_string());
        }
        if is_over(self.options.deadline) {
            return Some(NO_TIME.to_string());
        }
        match self.left() {
            Some(left) if left.is_zero() => Some("the time was up".to_string()),
            _ => None,
        }
    }

    /// Time for measuring that is left.
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

    fn one(
        &mut self,
        measure: &Measure,
        prepared: &Prepared,
        measures_left: usize,
    ) -> Result<Yield, Interrupted> {
        let scope = self.scope;
        let program = &self.options.program;
        let amount = Amount {
            rounds: plan::rounds(measure, scope.quick),
            time: self.left().map(|left| left / measures_left.max(1) as u32),
            deadline: self.options.deadline,
        };
        let mut lacking = Yield::default();
        let own_needs = plan::measure_needs(&scope, measure);
        let first = scope.combinations().into_iter().next().unwrap_or_default();
        if measure.how == How::Pipe
            && let Some(lack) = prepared.lack(&scope, &own_needs, &first)
        {
            lacking.results.gaps.push(Gap {
                cause: lack.cause,
                reason: lack.reason.clone(),
                ..gap(measure, "")
            });
            lacking.failed = lack.cause == Cause::Failed;
            return Ok(lacking);
        }
        let targets = match measure.how.has_subjects() {
            true => self.targets(measure, prepared, &mut lacking),
            false => Vec::new(),
        };
        let nothing = measure.how.has_subjects() && targets.is_empty();
        let mut outcome = match measure.how {
            _ if nothing => Yield::default(),
            How::Bench => bench::run(program, measure, targets, amount, scope.folders)?,
            How::Value => printed::run(measure, &targets, amount, scope.folders)?,
            How::Why => observed::why(program, measure, &targets, amount, &scope),
            How::Startup => observed::startup(program, measure, targets, amount, &scope)?,
            How::Pipe => observed::pipe(program, measure, amount, &scope),
            How::Machine => observed::machine(program, measure, amount, scope.folders),
            How::Static => printed::run_static(measure, amount, &scope, prepared)?,
        };
        outcome.failed |= lacking.failed;
        outcome.results.gaps.extend(lacking.results.gaps);
        Ok(outcome)
    }

    /// The targets that can be run; the others become gaps.
    fn targets(
        &self,
        measure: &Measure,
        prepared: &Prepared,
        lacking: &mut Yield,
    ) -> Vec<crate::resolve::Target> {
        let scope = self.scope;
        let wanted = |name: &str| self.selection.subjects.contains(name);
        let targets = match scope.targets(measure, &wanted) {
            Ok(targets) => targets,
            Err(why) => {
                lacking.failed = true;
                lacking.results.gaps.push(gap(measure, &why));
                return Vec::new();
            }
        };
        let mut good = Vec::new();
        for target in targets {
            let subject = (scope.experiment.subjects.iter())
                .find(|subject| subject.name.value == target.subject);
            let needs: BTreeSet<String> = subject
                .map(|subject| scope.needs(subject, &target.parameters))
                .unwrap_or_default();
            match prepared.lack(&scope, &needs, &target.parameters) {
                None => good.push(target),
                Some(lack) => {
                    lacking.failed |= lack.cause == Cause::Failed;
                    lacking.results.gaps.push(Gap {
                        measure: Some(measure.id.value.clone()),
                        subject: Some(target.subject.clone()),
                        parameters: target.parameters.clone(),
                        reason: lack.reason.clone(),
                        cause: lack.cause,
                    });
                }
            }
        }
        good
    }

    fn keep(
        &mut self,
        measure: &Measure,
        outcome: Result<Yield, Interrupted>,
        seconds: f64,
    ) -> Result<(), RunError> {
        let outcome = outcome.unwrap_or_else(|Interrupted| Yield {
            interrupted: true,
            ..Yield::default()
        });
        self.interrupted |= outcome.interrupted;
        let complete = !outcome.interrupted && outcome.results.gaps.is_empty();
        let mut results = outcome.results;
        let mut notes = outcome.notes;
        if results.samples.is_empty() && results.findings.is_empty() && notes.is_empty() {
            notes.extend(why_nothing(&results.gaps));
        }
        if outcome.interrupted {
            results.gaps.push(gap(measure, "interrupted"));
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
        };
        // What is incomplete is measured again by --resume.
        if complete {
            self.state
                .done
                .insert(measure.id.value.clone(), done.clone());
            let work = &self.scope.folders.work;
            self.state.write(work).map_err(|error| RunError::Work {
                path: work.clone(),
                error,
            })?;
        }
        self.failed |= outcome.failed;
        self.take(done);
        Ok(())
    }

    fn take(&mut self, done: Done) {
        self.measures.push(done.measure);
        self.results.samples.extend(done.results.samples);
        self.results.findings.extend(done.results.findings);
        self.results.gaps.extend(done.results.gaps);
    }

    fn record(
        &mut self,
        prepared: &Prepared,
        started_at: String,
        seconds: f64,
    ) -> ExperimentRecord {
        let scope = self.scope;
        let experiment = scope.experiment;
        let combinations = scope.combinations();
        let first = combinations.first().cloned().unwrap_or_default();
        self.results.promised = crate::check::promised(experiment);
        let claims: Vec<_> = (experiment.claims.iter())
            .filter(|claim| self.selection.claims.contains(&claim.id.value))
            .map(|claim| {
                let needs = claim.needs.iter().map(|need| need.value.clone()).collect();
                let lack = prepared.lack(&scope, &needs, &first);
                let reason = lack.map(|lack| lack.reason.as_str());
                verdict::claim(claim, &self.results, &combinations, reason)
            })
            .collect();
        let answers = (experiment.answers.iter())
            .map(|answer| verdict::answer(answer, &claims))
            .collect();
        let measured_all = (self.measures.iter())
            .all(|measure| measure.complete || (scope.quick && measure.seconds == 0.0));
        for gap in self
            .results
            .gaps
            .iter()
            .filter(|gap| gap.cause == Cause::Failed)
        {
            if !self.warnings.contains(&gap.reason) {
                self.warnings.push(gap.reason.clone());
            }
        }
        ExperimentRecord {
            schema_version: SCHEMA_VERSION,
            kind: "run".to_string(),
            fathom_version: env!("CARGO_PKG_VERSION").to_string(),
            started_at,
            environment: environment(),
            file: experiment.path.display().to_string(),
            file_sha256: sha256(&experiment.text),
            work_folder: scope.folders.work.display().to_string(),
            title: experiment.title.clone(),
            question: experiment.question.clone(),
            source: experiment.source.clone(),
            quick: scope.quick,
            complete: !self.interrupted && !self.failed && measured_all,
            seconds,
            tools: prepared.tools.clone(),
            measures: std::mem::take(&mut self.measures),
            results: rows(&self.results),
            claims,
            answers,
            warnings: std::mem::take(&mut self.warnings),
        }
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

/// Why a measure has no result at all.
fn why_nothing(gaps: &[Gap]) -> Option<String> {
    let mut reasons: Vec<&str> = gaps.iter().map(|gap| gap.reason.as_str()).collect();
    reasons.dedup();
    (!reasons.is_empty()).then(|| format!("not measured: {}", reasons.join("; ")))
}

fn rows(results: &Results) -> Vec<ResultRow> {
    results
        .samples
        .iter()
        .map(|samples| ResultRow {
            measure: samples.measure.clone(),
            metric: samples.metric.clone(),
            subject: samples.subject.clone(),
            parameters: samples.parameters.clone(),
            unit: samples.unit.clone(),
            runs: samples.values.len(),
            median: samples.median(LEVEL),
        })
        .collect()
}
