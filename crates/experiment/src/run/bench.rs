//! `how = "bench"`: all subjects in one session, in rounds.

use std::path::Path;
use std::time::{Duration, Instant};

use fathom_model::{BenchRecord, Exit, Metric};

use super::command::{self, CommandError, execute};
use super::verb;
use super::{Interrupted, NO_TIME, Yield};
use crate::file::experiment::Measure;
use crate::metrics::unit_text;
use crate::resolve::{Folders, Job, Sink, Target};
use crate::results::{Cause, Gap, Samples};

/// Fewest rounds that a limit on the time leaves.
const FEWEST_ROUNDS: u64 = 5;

/// How much is measured.
#[derive(Debug, Clone, Copy)]
pub struct Amount {
    /// Rounds.
    pub rounds: u64,
    /// Time that is left; more rounds than fit into it are not begun.
    pub time: Option<Duration>,
    /// When everything has to have ended, whatever it has by then.
    pub deadline: Option<Instant>,
}

impl Amount {
    /// Nothing more may begin.
    pub fn is_over(&self) -> bool {
        is_over(self.deadline)
    }

    /// Rounds that fit, if one takes this many seconds.
    pub fn fitting(&self, seconds: f64) -> u64 {
        match self.time {
            Some(time) if seconds > 0.0 => {
                let fit = (time.as_secs_f64() / seconds).floor() as u64;
                self.rounds.min(fit.max(FEWEST_ROUNDS))
            }
            _ => self.rounds,
        }
    }
}

/// The time is up.
pub fn is_over(deadline: Option<Instant>) -> bool {
    deadline.is_some_and(|deadline| Instant::now() >= deadline)
}

/// Runs every target once, unmeasured. Those that fail are gaps and are left out; the seconds that one
/// round takes are known then.
pub fn try_out(
    targets: Vec<Target>,
    measure: &Measure,
    amount: Amount,
    folders: &Folders,
    outcome: &mut Yield,
) -> Result<(Vec<Target>, f64), Interrupted> {
    let mut good = Vec::new();
    let mut seconds = 0.0;
    for target in targets {
        if amount.is_over() {
            outcome.results.gaps.push(no_time(measure, &target));
            continue;
        }
        let stem = folders.work.join("logs").join(format!(
            "try-{}-{}",
            measure.id.value,
            target.file_part()
        ));
        let job = Job {
            output: match &target.job.output {
                Sink::File(path) => Sink::File(path.clone()),
                _ => Sink::File("/dev/null".into()),
            },
            ..target.job.clone()
        }
        .until(amount.deadline);
        let reason = match execute(&job, &stem) {
            Err(CommandError::Interrupted) => return Err(Interrupted),
            Err(CommandError::NotStarted(why)) => why,
            Ok(ended) if ended.run.exit == Exit::TimedOut && amount.is_over() => {
                outcome.results.gaps.push(no_time(measure, &target));
                continue;
            }
            Ok(ended) if ended.run.exit.is_success() || target.may_fail => {
                seconds += ended.run.wall_ns as f64 / 1e9;
                good.push(target);
                continue;
            }
            Ok(ended) => format!(
                "{}: {}",
                command::describe(ended.run.exit),
                command::last_words(&ended.stderr)
            ),
        };
        outcome.failed = true;
        outcome.results.gaps.push(Gap {
            measure: Some(measure.id.value.clone()),
            subject: Some(target.subject.clone()),
            parameters: target.parameters.clone(),
            reason: format!("{} failed ({reason})", target.label()),
            cause: Cause::Failed,
        });
    }
    Ok((good, seconds))
}

/// A target that is left out because the time is up.
pub fn no_time(measure: &Measure, target: &Target) -> Gap {
    Gap {
        measure: Some(measure.id.value.clone()),
        subject: Some(target.subject.clone()),
        parameters: target.parameters.clone(),
        reason: format!("{} was not measured: {NO_TIME}", target.label()),
        cause: Cause::NotMeasured,
    }
}

/// The options that say how a job is run, for verbs that take several commands in quotes.
pub fn run_options(jobs: &[&Job]) -> Vec<String> {
    let mut words = Vec::new();
    for job in jobs {
        let input = job.input.as_ref();
        words.push(format!(
            "--input={}",
            input.map_or("null".to_string(), |path| path.display().to_string())
        ));
        words.push(format!(
            "--output={}",
            match &job.output {
                Sink::Null => "null".to_string(),
                Sink::Pipe => "pipe".to_string(),
                Sink::File(path) => path.display().to_string(),
            }
        ));
        words.push(format!("--cwd={}", job.directory.display()));
        let assignments: Vec<String> = job
            .variables
            .iter()
            .map(|(name, value)| shell_words::quote(&format!("{name}={value}")).into_owned())
            .collect();
        words.push(format!("--env={}", assignments.join(" ")));
    }
    let longest = jobs.iter().filter_map(|job| job.timeout).max();
    if let Some(timeout) = longest {
        words.push(format!("--timeout={}ms", timeout.as_millis().max(1)));
    }
    words
}

/// The words after `fathom` of a session.
pub fn arguments(targets: &[Target], rounds: u64, warmup: u64, record: &Path) -> Vec<String> {
    let mut words = vec![
        "bench".to_string(),
        "--style=none".to_string(),
        format!("--json={}", record.display()),
        format!("--runs={rounds}"),
        format!("--warmup={warmup}"),
    ];
    let jobs: Vec<&Job> = targets.iter().map(|target| &target.job).collect();
    words.extend(run_options(&jobs));
    if targets.iter().any(|target| target.may_fail) {
        words.push("--ignore-failure".to_string());
    }
    words.extend(
        targets
            .iter()
            .map(|target| format!("--command-name={}", target.label())),
    );
    // Nothing behind this can be taken for an option of ours: each is one quoted command.
    words.extend(targets.iter().map(|target| target.job.line()));
    words
}

/// Measures and reads the record.
pub fn run(
    program: &Path,
    measure: &Measure,
    targets: Vec<Target>,
    amount: Amount,
    folders: &Folders,
) -> Result<Yield, Interrupted> {
    let mut outcome = Yield::default();
    let (targets, seconds) = try_out(targets, measure, amount, folders, &mut outcome)?;
    if targets.is_empty() {
        return Ok(outcome);
    }
    let rounds = amount.fitting(seconds);
    if rounds < amount.rounds {
        outcome.notes.push(format!(
            "{rounds} rounds instead of {}, to keep to the time",
            amount.rounds
        ));
    }
    for target in &targets {
        if let Sink::File(path) = &target.job.output
            && let Some(folder) = path.parent()
        {
            // Where it can't be made, `bench` says why.
            let _ = std::fs::create_dir_all(folder);
        }
    }
    let name = format!("records/{}.json", measure.id.value);
    let record = folders.work.join(&name);
    // A record of an earlier run is no evidence of this one.
    let _ = std::fs::remove_file(&record);
    let words = arguments(&targets, rounds, measure.warmup, &record);
    let log = folders
        .work
        .join("logs")
        .join(format!("{}.err", measure.id.value));
    let mut cut = false;
    match verb::run(program, &words, &log, amount.deadline) {
        Ok(end) if end.cut => {
            cut = true;
            outcome.notes.push("cut short: its time was up".to_string());
        }
        Ok(end) if end.code == 130 => outcome.interrupted = true,
        Ok(end) if end.code != 0 => {
            outcome.failed = true;
            outcome.notes.push(format!("bench: {}", end.said.trim()));
        }
        Ok(_) => {}
        Err(error) => {
            outcome.failed = true;
            outcome
                .notes
                .push(format!("bench can't be started: {error}"));
        }
    }
    let text = std::fs::read_to_string(&record).unwrap_or_default();
    match serde_json::from_str::<BenchRecord>(&text) {
        Ok(read) => {
            outcome.records.push(name);
            outcome.results.samples = samples(&read, &targets, &measure.id.value);
            read.runs
                .iter()
                .for_each(|run| outcome.results.waits.add_run(run));
        }
        // It was ended before its first round.
        Err(_) if cut => {}
        Err(error) => {
            outcome.failed = true;
            outcome
                .notes
                .push(format!("its record can't be read: {error}"));
        }
    }
    for target in &targets {
        let measured = (outcome.results.samples.iter()).any(|samples| {
            samples.subject.as_deref() == Some(&target.subject)
                && samples.parameters == target.parameters
        });
        if !measured {
            let why = outcome
                .notes
                .last()
                .cloned()
                .unwrap_or_else(|| "interrupted".to_string());
            outcome.results.gaps.push(Gap {
                measure: Some(measure.id.value.clone()),
                subject: Some(target.subject.clone()),
                parameters: target.parameters.clone(),
                reason: format!("{} was not measured ({why})", target.label()),
                cause: match outcome.interrupted || cut {
                    true => Cause::NotMeasured,
                    false => Cause::Failed,
                },
            });
        }
    }
    Ok(outcome)
}

/// The metrics of all runs, by round.
fn samples(record: &BenchRecord, targets: &[Target], measure: &str) -> Vec<Samples> {
    let mut all = Vec::new();
    for (index, target) in targets.iter().enumerate() {
        let runs: Vec<_> = record
            .runs
            .iter()
            .filter(|run| run.benchmark == index)
            .collect();
        let mut add = |metric: &str, unit: &str, exact, primary, values: Vec<(u32, f64)>| {
            if !values.is_empty() {
                all.push(Samples {
                    measure: measure.to_string(),
                    metric: metric.to_string(),
                    subject: Some(target.subject.clone()),
                    parameters: target.parameters.clone(),
                    unit: unit.to_string(),
                    values,
                    exact,
                    primary,
                    is_share: false,
                });
            }
        };
        for metric in Metric::ALL {
            let values = runs
                .iter()
                .filter_map(|run| Some((run.round, metric.of(run)?)))
                .collect();
            let primary = metric == Metric::Wall;
            add(
                metric.name(),
                unit_text(metric.unit()),
                false,
                primary,
                values,
            );
        }
        if !runs.is_empty() {
            let failed = runs.iter().filter(|run| !run.exit.is_success()).count();
            add("failures", "", true, false, vec![(0, failed as f64)]);
        }
    }
    all
}
