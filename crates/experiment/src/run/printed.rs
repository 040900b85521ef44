//! `how = "value"` and `how = "static"`: numbers that programs print, sizes of files, counts of a pattern.

use std::path::Path;

use fathom_model::{Combination, CpuWaits, Exit};

use super::bench::{Amount, no_time};
use super::command::{self, CommandError, execute};
use super::{Interrupted, NO_TIME, Yield};
use crate::file::experiment::{From, Measure, Take, Value};
use crate::prepare::Prepared;
use crate::resolve::{Folders, Job, Scope, Sink, Target};
use crate::results::{Cause, Gap, Samples};
use crate::sweep;

/// The maximum number of bytes to read from a program's output.
const MOST_OUTPUT: u64 = 16 << 20;

/// Runs the targets in rounds and reads their numbers. The order rotates by one from round to round, so that
/// each target is in each position equally often.
pub fn run(
    measure: &Measure,
    targets: &[Target],
    amount: Amount,
    folders: &Folders,
) -> Result<Yield, Interrupted> {
    let mut outcome = Yield::default();
    let mut reading: Vec<Reading<'_>> = targets
        .iter()
        .map(|target| Reading {
            target,
            values: measure.values.iter().map(|_| Vec::new()).collect(),
            failure: None,
            waits: CpuWaits::default(),
        })
        .collect();
    let mut rounds = amount.rounds;
    let began = std::time::Instant::now();
    let warmup = measure.warmup;
    let mut round = 0;
    let mut over = false;
    while round < warmup + rounds && reading.iter().any(|r| r.failure.is_none()) {
        let count = reading.len();
        for place in 0..count {
            let one = &mut reading[(place + round as usize) % count];
            if one.failure.is_some() {
                continue;
            }
            if amount.is_over() {
                over = true;
                break;
            }
            let counted = round.checked_sub(warmup);
            if one
                .once(measure, counted.map(|r| r as u32), amount, folders)
                .is_err()
            {
                outcome.interrupted = true;
                break;
            }
        }
        if outcome.interrupted {
            break;
        }
        if over {
            outcome
                .notes
                .push("cut short by its time limit".to_string());
            break;
        }
        round += 1;
        if round == 1 {
            let fitting = amount.fitting(began.elapsed().as_secs_f64());
            if fitting < rounds {
                outcome.notes.push(format!(
                    "{fitting} rounds instead of {rounds}, to stay within the time limit"
                ));
                rounds = fitting;
            }
        }
    }
    for one in reading {
        one.finish(measure, &mut outcome);
    }
    let name = format!("records/{}.json", amount.record_name(measure));
    let record = serde_json::json!({
        "schema_version": 1,
        "kind": "value",
        "samples": outcome.results.samples,
        "gaps": outcome.results.gaps,
    });
    match std::fs::write(folders.work.join(&name), format!("{record:#}\n")) {
        Ok(()) => outcome.records.push(name),
        Err(error) => outcome
            .notes
            .push(format!("its record can't be written: {error}")),
    }
    Ok(outcome)
}

/// A target, with the values read so far.
struct Reading<'t> {
    target: &'t Target,
    values: Vec<Vec<(u32, f64)>>,
    failure: Option<String>,
    /// The waits for a CPU in the runs that count.
    waits: CpuWaits,
}

impl Reading<'_> {
    /// Runs the target once; `round` is absent for a warm-up.
    fn once(
        &mut self,
        measure: &Measure,
        round: Option<u32>,
        amount: Amount,
        folders: &Folders,
    ) -> Result<(), Interrupted> {
        let target = self.target;
        let stem =
            folders
                .work
                .join("logs")
                .join(format!("{}-{}", measure.id.value, target.file_part()));
        // The output must go to a file for a pattern, regardless of where the subject's output goes in other
        // measures.
        let job = Job {
            output: Sink::Null,
            ..target.job.clone()
        }
        .until(amount.deadline);
        let ended = match execute(&job, &stem) {
            Err(CommandError::Interrupted) => return Err(Interrupted),
            Err(CommandError::NotStarted(why)) => {
                self.failure = Some(why);
                return Ok(());
            }
            Ok(ended) => ended,
        };
        if ended.run.exit == Exit::TimedOut && amount.is_over() {
            // The run was stopped because the time was up, so it is neither a result nor a failure.
            return Ok(());
        }
        if !ended.run.exit.is_success() && !target.may_fail {
            self.failure = Some(format!(
                "{}: {}",
                command::describe(ended.run.exit),
                command::last_words(&ended.stderr)
            ));
            return Ok(());
        }
        if round.is_some() {
            self.waits.add_run(&ended.run);
        }
        for (value, numbers) in measure.values.iter().zip(&mut self.values) {
            let file = match value.from {
                From::Stdout => &ended.stdout,
                From::Stderr => &ended.stderr,
            };
            match read(value, file) {
                Ok(number) => {
                    if let Some(round) = round {
                        numbers.push((round, number));
                    }
                }
                Err(why) if target.may_fail => {
                    let _ = why;
                }
                Err(why) => self.failure = Some(why),
            }
        }
        Ok(())
    }

    fn finish(self, measure: &Measure, outcome: &mut Yield) {
        outcome.results.waits.extend(&self.waits);
        let nothing = self.values.iter().all(Vec::is_empty);
        if nothing && self.failure.is_none() && !outcome.interrupted && !self.target.may_fail {
            outcome.results.gaps.push(no_time(measure, self.target));
        }
        for (value, values) in measure.values.iter().zip(self.values) {
            if values.is_empty() {
                continue;
            }
            outcome.results.samples.push(Samples {
                measure: measure.id.value.clone(),
                metric: value.name.value.clone(),
                subject: Some(self.target.subject.clone()),
                parameters: self.target.parameters.clone(),
                unit: value.unit.0.to_string(),
                values,
                exact: false,
                primary: measure.values.len() == 1,
                is_share: false,
            });
        }
        if let Some(why) = self.failure {
            outcome.failed = true;
            outcome.results.gaps.push(Gap {
                measure: Some(measure.id.value.clone()),
                subject: Some(self.target.subject.clone()),
                parameters: self.target.parameters.clone(),
                reason: format!("{} failed ({why})", self.target.label()),
                cause: Cause::Failed,
            });
        }
    }
}

/// Returns the number that a pattern finds in a file, in the value's unit.
fn read(value: &Value, file: &Path) -> Result<f64, String> {
    let text = command::head(file, MOST_OUTPUT);
    let mut found = Vec::new();
    for captures in value.pattern.captures_iter(&text) {
        let Some(group) = captures.get(1) else {
            continue;
        };
        // Programs print thousands separators as commas and underscores.
        let digits = group.as_str().trim().replace([',', '_'], "");
        match digits.parse::<f64>() {
            Ok(number) if number.is_finite() => found.push(number * value.unit.1),
            _ => {
                return Err(format!(
                    "the value {} is {:?}, which is not a number",
                    value.name.value,
                    group.as_str()
                ));
            }
        }
        if value.take == Take::First {
            break;
        }
    }
    let taken = match value.take {
        Take::First => found.first().copied(),
        Take::Last => found.last().copied(),
        Take::Min => found.iter().copied().reduce(f64::min),
        Take::Max => found.iter().copied().reduce(f64::max),
        Take::Sum => (!found.is_empty()).then(|| found.iter().sum()),
    };
    taken.ok_or_else(|| {
        let stream = match value.from {
            From::Stdout => "standard output",
            From::Stderr => "standard error",
        };
        format!(
            "it did not print the value {} to {stream}",
            value.name.value
        )
    })
}

/// Measures sizes of files and counts of patterns, under each combination of parameters on which they depend.
pub fn run_static(
    measure: &Measure,
    amount: Amount,
    scope: &Scope<'_>,
    prepared: &Prepared,
) -> Result<Yield, Interrupted> {
    let mut outcome = Yield::default();
    let all: Vec<Combination> = (scope.combinations().into_iter())
        .filter(|combination| sweep::allowed(&measure.only, combination))
        .collect();
    let id = &measure.id.value;
    for (name, text) in &measure.files {
        let names = sweep::names_used(scope.experiment, [text.value.as_str()], &[]);
        for part in distinct(&all, &names) {
            let size = size(text, &part, measure, scope, prepared);
            note(&mut outcome, id, "size", name, "B", part, size);
        }
    }
    for count in &measure.counts {
        let mut needs: std::collections::BTreeSet<String> =
            count.needs.iter().map(|need| need.value.clone()).collect();
        needs.extend(scope.mentioned([count.command.value.as_str()]));
        let names = sweep::names_used(scope.experiment, [count.command.value.as_str()], &[]);
        for part in distinct(&all, &names) {
            let counted = match prepared.lack(scope, &needs, &part) {
                Some(lack) => Err((lack.reason.clone(), lack.cause)),
                None => counted(count, amount, scope, &part)?,
            };
            note(
                &mut outcome,
                id,
                "count",
                &count.name.value,
                "",
                part,
                counted,
            );
        }
    }
    Ok(outcome)
}

/// Returns the size of a file in bytes. If the file is missing, the error names what its build lacked.
fn size(
    text: &str,
    part: &Combination,
    measure: &Measure,
    scope: &Scope<'_>,
    prepared: &Prepared,
) -> Result<f64, (String, Cause)> {
    let path = scope.fill(text, part).map_err(|why| (why, Cause::Failed))?;
    let path = scope.folders.here.join(path);
    match std::fs::metadata(&path) {
        Ok(metadata) => Ok(metadata.len() as f64),
        Err(error) => {
            let needs = crate::plan::measure_needs(scope, measure);
            Err(match prepared.lack(scope, &needs, part) {
                Some(lack) => (lack.reason.clone(), lack.cause),
                None => (format!("{}: {error}", path.display()), Cause::Failed),
            })
        }
    }
}

fn distinct(all: &[Combination], names: &std::collections::BTreeSet<String>) -> Vec<Combination> {
    let mut parts: Vec<Combination> = Vec::new();
    for combination in all {
        let part = sweep::part(combination, names);
        if !parts.contains(&part) {
            parts.push(part);
        }
    }
    parts
}

fn counted(
    count: &crate::file::experiment::Count,
    amount: Amount,
    scope: &Scope<'_>,
    part: &Combination,
) -> Result<Result<f64, (String, Cause)>, Interrupted> {
    let failed = |why: String| Err((why, Cause::Failed));
    let no_time = || Err((NO_TIME.to_string(), Cause::NotMeasured));
    if amount.is_over() {
        return Ok(no_time());
    }
    let job = match scope.count(count, part) {
        Ok(job) => job.until(amount.deadline),
        Err(why) => return Ok(failed(why)),
    };
    let stem = scope.folders.work.join("logs").join(format!(
        "count-{}{}",
        count.name.value,
        sweep::file_part(part)
    ));
    Ok(match execute(&job, &stem) {
        Err(CommandError::Interrupted) => return Err(Interrupted),
        Err(CommandError::NotStarted(why)) => failed(why),
        Ok(ended) if ended.run.exit == Exit::TimedOut && amount.is_over() => no_time(),
        Ok(ended) if !ended.run.exit.is_success() => failed(format!(
            "{} ({}): {}",
            job.words[0],
            command::describe(ended.run.exit),
            command::last_words(&ended.stderr)
        )),
        Ok(ended) => {
            let file = match count.from {
                From::Stdout => &ended.stdout,
                From::Stderr => &ended.stderr,
            };
            let text = command::head(file, MOST_OUTPUT);
            Ok(count.pattern.find_iter(&text).count() as f64)
        }
    })
}

fn note(
    outcome: &mut Yield,
    measure: &str,
    metric: &str,
    name: &str,
    unit: &str,
    parameters: Combination,
    value: Result<f64, (String, Cause)>,
) {
    match value {
        Ok(value) => outcome.results.samples.push(Samples {
            measure: measure.to_string(),
            metric: metric.to_string(),
            subject: Some(name.to_string()),
            parameters,
            unit: unit.to_string(),
            values: vec![(0, value)],
            exact: true,
            primary: false,
            is_share: false,
        }),
        Err((why, cause)) => {
            outcome.failed |= cause == Cause::Failed;
            outcome.results.gaps.push(Gap {
                measure: Some(measure.to_string()),
                subject: Some(name.to_string()),
                parameters,
                reason: format!("{metric} of {name}: {why}"),
                cause,
            });
        }
    }
}
