//! `why`, `startup`, `pipe` and `machine`: one child process each, and its record.

use std::path::{Path, PathBuf};

use fathom_model::Combination;

use super::bench::{Amount, no_time, run_options, try_out};
use super::{Interrupted, NO_TIME, Yield, records, verb};
use crate::file::experiment::Measure;
use crate::metrics;
use crate::resolve::{Folders, Job, Scope, Sink, Target};
use crate::results::{Cause, Gap, Samples};
use crate::sweep;

/// Runs a verb with a record of its own; the record's text, or why there is none.
struct Session<'s> {
    program: &'s Path,
    folders: &'s Folders,
    amount: Amount,
    outcome: Yield,
    /// The time was up before the last record was complete.
    cut: bool,
}

impl<'s> Session<'s> {
    fn new(program: &'s Path, folders: &'s Folders, amount: Amount) -> Session<'s> {
        Session {
            program,
            folders,
            amount,
            outcome: Yield::default(),
            cut: false,
        }
    }

    /// `name` is the record's, without its ending.
    fn record(&mut self, name: &str, words: Vec<String>) -> Result<String, String> {
        let relative = format!("records/{name}.json");
        let path = self.folders.work.join(&relative);
        let _ = std::fs::remove_file(&path);
        let log = self.folders.work.join("logs").join(format!("{name}.err"));
        if self.amount.is_over() {
            self.cut = true;
            return Err(NO_TIME.to_string());
        }
        let end = verb::run(self.program, &words, &log, self.amount.deadline)
            .map_err(|error| error.to_string())?;
        self.cut = end.cut;
        if end.cut {
            let note = format!("{name} was cut short: its time was up");
            self.outcome.notes.push(note);
        } else if end.code == 130 {
            self.outcome.interrupted = true;
        }
        match std::fs::read_to_string(&path) {
            Ok(text) => {
                self.outcome.records.push(relative);
                self.outcome.notes.extend(records::said_of_load(&text));
                Ok(text)
            }
            Err(_) if end.cut => Err(NO_TIME.to_string()),
            Err(_) if end.code == 130 => Err("interrupted".to_string()),
            Err(_) => Err(first_sentence(&end.said)),
        }
    }

    fn gap(
        &mut self,
        measure: &Measure,
        subject: Option<&str>,
        parameters: &Combination,
        why: &str,
    ) {
        let failed = !self.outcome.interrupted && !self.cut;
        self.outcome.failed |= failed;
        let what = match subject {
            Some(subject) => format!("{} of {subject}", measure.how.name()),
            None => measure.how.name().to_string(),
        };
        self.outcome.results.gaps.push(Gap {
            measure: Some(measure.id.value.clone()),
            subject: subject.map(str::to_string),
            parameters: parameters.clone(),
            reason: format!("{what}: {why}"),
            cause: match failed {
                true => Cause::Failed,
                false => Cause::NotMeasured,
            },
        });
    }
}

fn first_sentence(said: &str) -> String {
    let line = said.lines().find(|line| !line.trim().is_empty());
    line.unwrap_or("it left no record")
        .trim_start_matches("error: ")
        .to_string()
}

fn record_path(folders: &Folders, name: &str) -> PathBuf {
    folders.records().join(format!("{name}.json"))
}

/// The words of `fathom why` for a target.
pub fn why_arguments(target: &Target, rounds: u64, folders: &Folders, name: &str) -> Vec<String> {
    let mut words = vec![
        "why".to_string(),
        format!("--json={}", record_path(folders, name).display()),
        format!("--runs={rounds}"),
    ];
    if target.may_fail {
        words.push("--ignore-failure".to_string());
    }
    words.extend(run_options(&[&target.job]));
    words.push("--".to_string());
    words.extend(target.job.words.iter().cloned());
    words
}

/// Explains each target.
pub fn why(
    program: &Path,
    measure: &Measure,
    targets: &[Target],
    amount: Amount,
    scope: &Scope<'_>,
) -> Yield {
    let mut session = Session::new(program, scope.folders, amount);
    // Each metric once: the list has them for each subject.
    let asked: Vec<String> = metrics::of(scope.experiment, measure)
        .into_iter()
        .map(|known| known.metric)
        .collect::<std::collections::BTreeSet<_>>()
        .into_iter()
        .collect();
    for target in targets {
        if session.outcome.interrupted {
            session.gap(
                measure,
                Some(&target.subject),
                &target.parameters,
                "interrupted",
            );
            continue;
        }
        if amount.is_over() {
            session.outcome.results.gaps.push(no_time(measure, target));
            continue;
        }
        make_folder_of(&target.job);
        let name = format!("{}.{}", measure.id.value, target.file_part());
        let words = why_arguments(target, amount.rounds, scope.folders, &name);
        let read = session.record(&name, words).and_then(|text| {
            records::why(
                &text,
                &measure.id.value,
                &target.subject,
                &target.parameters,
                &asked,
            )
        });
        match read {
            Ok((samples, findings)) => {
                session.outcome.results.samples.extend(samples);
                if let Some(limited) = &findings.limited {
                    // Named where a claim asks for a count that this tier does not make.
                    session.outcome.results.gaps.push(Gap {
                        measure: Some(measure.id.value.clone()),
                        subject: Some(target.subject.clone()),
                        parameters: target.parameters.clone(),
                        reason: limited.clone(),
                        cause: Cause::Missing,
                    });
                }
                session.outcome.results.findings.push(findings);
            }
            Err(why) => session.gap(measure, Some(&target.subject), &target.parameters, &why),
        }
    }
    session.outcome
}

fn make_folder_of(job: &Job) {
    if let Sink::File(path) = &job.output
        && let Some(folder) = path.parent()
    {
        // Where it can't be made, the verb says why.
        let _ = std::fs::create_dir_all(folder);
    }
}

/// The words of `fathom startup` for all targets.
pub fn startup_arguments(
    measure: &Measure,
    targets: &[Target],
    rounds: u64,
    folders: &Folders,
) -> Vec<String> {
    let mut words = vec![
        "startup".to_string(),
        format!(
            "--json={}",
            record_path(folders, &measure.id.value).display()
        ),
        format!("--rounds={rounds}"),
    ];
    if targets.iter().any(|target| target.may_fail) {
        words.push("--ignore-failure".to_string());
    }
    let caches: Vec<&str> = measure
        .cache
        .iter()
        .map(|cache| cache.value.as_str())
        .collect();
    if caches.contains(&"cold") {
        words.push("--cold".to_string());
    }
    let jobs: Vec<&Job> = targets.iter().map(|target| &target.job).collect();
    words.extend(
        run_options(&jobs)
            .into_iter()
            // First output is taken where it is written: the verb chooses the sink itself.
            .filter(|word| !word.starts_with("--output=")),
    );
    words.extend(targets.iter().map(|target| target.job.line()));
    words
}

/// First output and exit of all targets.
pub fn startup(
    program: &Path,
    measure: &Measure,
    targets: Vec<Target>,
    amount: Amount,
    scope: &Scope<'_>,
) -> Result<Yield, Interrupted> {
    let mut session = Session::new(program, scope.folders, amount);
    // One that fails would end the session of all.
    let (targets, seconds) = try_out(
        targets,
        measure,
        amount,
        scope.folders,
        &mut session.outcome,
    )?;
    if targets.is_empty() {
        return Ok(session.outcome);
    }
    let caches = measure.cache.len().max(1) as f64;
    let rounds = amount.fitting(seconds * caches);
    if rounds < amount.rounds {
        session.outcome.notes.push(format!(
            "{rounds} rounds instead of {}, to keep to the time",
            amount.rounds
        ));
    }
    let targets = targets.as_slice();
    let words = startup_arguments(measure, targets, rounds, scope.folders);
    let subjects: Vec<(String, Combination)> = targets
        .iter()
        .map(|target| (target.subject.clone(), target.parameters.clone()))
        .collect();
    let read = session
        .record(&measure.id.value, words)
        .and_then(|text| records::startup(&text, &measure.id.value, &subjects));
    match read {
        Ok((samples, waits)) => {
            session.outcome.results.samples = samples;
            session.outcome.results.waits.extend(&waits);
        }
        Err(why) => {
            for target in targets {
                session.gap(measure, Some(&target.subject), &target.parameters, &why);
            }
        }
    }
    Ok(session.outcome)
}

/// The words of `fathom pipe` for one pipeline.
pub fn pipe_arguments(
    measure: &Measure,
    stages: &[Vec<String>],
    rounds: u64,
    scope: &Scope<'_>,
    name: &str,
) -> Vec<String> {
    let mut words = vec![
        "pipe".to_string(),
        format!("--json={}", record_path(scope.folders, name).display()),
        format!("--rounds={rounds}"),
        format!("--cwd={}", scope.folders.here.display()),
    ];
    if let Some(timeout) = measure.timeout {
        words.push(format!("--timeout={}ms", timeout.as_millis().max(1)));
    }
    words.extend(stages.iter().map(shell_words::join));
    words
}

/// Each pipeline with its stages.
pub fn pipe(program: &Path, measure: &Measure, amount: Amount, scope: &Scope<'_>) -> Yield {
    let mut session = Session::new(program, scope.folders, amount);
    let pipelines = match scope.pipelines(measure) {
        Ok(pipelines) => pipelines,
        Err(why) => {
            session.gap(measure, None, &Vec::new(), &why);
            return session.outcome;
        }
    };
    let names = metrics::stage_names(measure);
    for (parameters, stages) in pipelines {
        let name = format!("{}{}", measure.id.value, sweep::file_part(&parameters));
        let words = pipe_arguments(measure, &stages, amount.rounds, scope, &name);
        let read = session
            .record(&name, words)
            .and_then(|text| records::pipe(&text, &measure.id.value, &names, &parameters));
        match read {
            Ok(samples) => {
                let waits = samples.iter().any(|samples| samples.metric == "wait_input");
                session.outcome.results.samples.extend(samples);
                if !waits {
                    let why = "its waits were not seen, or observing slowed it by more than 10 %: only share_wait_input and share_wait_output are quoted then";
                    session.outcome.results.gaps.push(Gap {
                        measure: Some(measure.id.value.clone()),
                        subject: None,
                        parameters: parameters.clone(),
                        reason: why.to_string(),
                        cause: Cause::Missing,
                    });
                }
            }
            Err(why) => session.gap(measure, None, &parameters, &why),
        }
        if session.outcome.interrupted {
            break;
        }
    }
    session.outcome
}

/// The words of `fathom machine`.
pub fn machine_arguments(measure: &Measure, folders: &Folders) -> Vec<String> {
    let mut words = vec![
        "machine".to_string(),
        format!(
            "--json={}",
            record_path(folders, &measure.id.value).display()
        ),
    ];
    if measure.full {
        words.push("--full".to_string());
    }
    words
}

/// The probes of this machine.
pub fn machine(program: &Path, measure: &Measure, amount: Amount, folders: &Folders) -> Yield {
    let mut session = Session::new(program, folders, amount);
    let words = machine_arguments(measure, folders);
    let read = session
        .record(&measure.id.value, words)
        .and_then(|text| records::machine(&text, &measure.id.value));
    match read {
        Ok((samples, without)) => {
            session.outcome.results.samples = samples;
            for (id, why) in without {
                // A probe without an answer: named by its metric, so that claims on it say why.
                session.outcome.results.samples.push(Samples {
                    measure: measure.id.value.clone(),
                    metric: id.clone(),
                    subject: None,
                    parameters: Vec::new(),
                    unit: String::new(),
                    values: Vec::new(),
                    exact: true,
                    primary: false,
                    is_share: false,
                });
                session.outcome.notes.push(format!("{id}: {why}"));
            }
        }
        Err(why) => session.gap(measure, None, &Vec::new(), &why),
    }
    session.outcome
}
