//! The command lines with which a user makes a measure by hand, as shown by `--plan`. The experiment itself
//! doesn't run these, but calls the verbs' code.

use std::path::{Path, PathBuf};

use fathom_conduct::redaction;

use crate::file::experiment::Measure;
use crate::resolve::{Folders, Job, Scope, Sink, Target};

fn record_path(folders: &Folders, name: &str) -> PathBuf {
    folders.records().join(format!("{name}.json"))
}

/// Returns the options that specify how a job is run, for verbs that take several quoted commands.
fn run_options(jobs: &[&Job]) -> Vec<String> {
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
        let variables = job.variables.iter();
        let variables = variables.map(|(name, value)| (name.as_str(), value.as_str()));
        words.push(format!("--env={}", redaction::typed_words(variables)));
    }
    let longest = jobs.iter().filter_map(|job| job.timeout).max();
    if let Some(timeout) = longest {
        words.push(format!("--timeout={}ms", timeout.as_millis().max(1)));
    }
    words
}

/// Returns the words of `fathom bench` for all targets.
pub(super) fn bench(targets: &[Target], rounds: u64, warmup: u64, record: &Path) -> Vec<String> {
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
    // Nothing after this can be mistaken for one of our options, because each word is one quoted command.
    words.extend(targets.iter().map(|target| target.job.line()));
    words
}

/// Returns the words of `fathom why` for a target.
pub(super) fn why(target: &Target, rounds: u64, folders: &Folders, name: &str) -> Vec<String> {
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

/// Returns the words of `fathom startup` for all targets.
pub(super) fn startup(
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
    if measure.also_cold() {
        words.push("--cold".to_string());
    }
    let jobs: Vec<&Job> = targets.iter().map(|target| &target.job).collect();
    words.extend(
        run_options(&jobs)
            .into_iter()
            // The first output is measured at the place where it is written, so the verb chooses the sink
            // itself.
            .filter(|word| !word.starts_with("--output=")),
    );
    words.extend(targets.iter().map(|target| target.job.line()));
    words
}

/// Returns the words of `fathom serve` for all targets.
pub(super) fn serve(
    measure: &Measure,
    targets: &[Target],
    rounds: u64,
    folders: &Folders,
) -> Vec<String> {
    let record = record_path(folders, &measure.id.value);
    let mut words = vec!["serve".to_string(), format!("--json={}", record.display())];
    let loads: Vec<&str> = measure
        .load
        .iter()
        .map(|load| load.value.as_str())
        .collect();
    words.extend(match &loads[..] {
        [] => vec![format!("--launches={rounds}"), "--rounds=0".to_string()],
        ["websocket"] => vec![
            "--launches=0".to_string(),
            format!("--rounds={rounds}"),
            "--websocket".to_string(),
        ],
        loads => vec![
            "--launches=0".to_string(),
            format!("--rounds={rounds}"),
            format!("--connections={}", loads.join(",")),
            "--rate=0".to_string(),
        ],
    });
    let path = measure.path.iter();
    words.extend(path.map(|path| redaction::typed_word(&format!("--path={path}"))));
    if measure.also_cold() {
        words.push("--cold".to_string());
    }
    if let Some(step) = measure.step {
        words.push(format!("--time={}ms", step.as_millis().max(1)));
    }
    if measure.deflate {
        words.push("--deflate".to_string());
    }
    let jobs: Vec<&Job> = targets.iter().map(|target| &target.job).collect();
    words.extend(run_options(&jobs));
    words.extend(targets.iter().map(|target| target.job.line()));
    words
}

/// Returns the words of `fathom pipe` for one pipeline.
pub(super) fn pipe(
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

/// Returns the words of `fathom machine`.
pub(super) fn machine(measure: &Measure, folders: &Folders) -> Vec<String> {
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
