//! Prepares what is needed: looks for tools, installs those that it may install, builds, and stages inputs.

mod at_a_glance;
mod install;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Instant;

use fathom_model::{Combination, Exit, ToolResult};

pub use at_a_glance::{AtAGlance, Known, at_a_glance};
pub use install::install_jobs;
use install::missing;

use crate::file::experiment::{Content, Tool};
use crate::file::problem::Located;
use crate::resolve::{Job, Scope, Sink};
use crate::results::Cause;
use crate::run::bench::is_over;
use crate::run::command::{self, CommandError, execute};
use crate::run::{Interrupted, NO_TIME};
use crate::sweep;

/// Why something that is needed isn't available.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lack {
    /// The reason, for display.
    pub reason: String,
    /// The kind of cause.
    pub cause: Cause,
}

/// What is available, and what isn't.
#[derive(Debug, Default)]
pub struct Prepared {
    /// The tools that were looked for.
    pub tools: Vec<ToolResult>,
    /// What is lacking, by name and parameters. Everything else that was prepared is available.
    lacks: BTreeMap<(String, Combination), Lack>,
    done: BTreeSet<(String, Combination)>,
}

impl Prepared {
    /// Returns why one of these needs can't be met; `None` if all of them can.
    pub fn lack(
        &self,
        scope: &Scope<'_>,
        needs: &BTreeSet<String>,
        combination: &Combination,
    ) -> Option<&Lack> {
        needs.iter().find_map(|need| {
            keys_of(scope, need, combination)
                .into_iter()
                .find_map(|key| self.lacks.get(&key))
        })
    }
}

/// Returns the keys under which a need may be recorded: as a tool, as a build, and as an input.
fn keys_of(scope: &Scope<'_>, need: &str, combination: &Combination) -> Vec<(String, Combination)> {
    let experiment = scope.experiment;
    let mut keys = Vec::new();
    if experiment.tools.iter().any(|tool| tool.name.value == need) {
        keys.push((format!("tool {need}"), Vec::new()));
    }
    for build in experiment.builds.iter().filter(|b| b.name.value == need) {
        keys.push((
            format!("build {need}"),
            scope.build_part(build, combination),
        ));
    }
    for input in experiment.inputs.iter().filter(|i| i.name.value == need) {
        keys.push((
            format!("input {need}"),
            scope.input_part(input, combination),
        ));
    }
    keys
}

/// The kind of a preparation step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StepKind {
    /// Looking for a tool.
    Check,
    /// Installing a tool, which is done only if the user agrees.
    Install,
    /// Building.
    Build,
    /// Generating an input.
    Generate,
    /// Copying an input.
    Stage,
}

/// A function that is called before each step.
pub type StepObserver<'t> = &'t mut dyn FnMut(StepKind, &str);

/// Prepares needs, each under the parameters for which it is needed.
#[derive(Debug)]
pub struct Preparer<'e> {
    /// The scope that gives the values of placeholders.
    pub scope: Scope<'e>,
    /// The folder for the output of commands.
    pub logs: std::path::PathBuf,
    /// Whether tools may be installed.
    pub install: bool,
    /// Whether builds left by an interrupted run are reused.
    pub keep_builds: bool,
    /// The time by which everything must have ended; whatever isn't finished by then is skipped.
    pub deadline: Option<Instant>,
    /// The result so far.
    pub prepared: Prepared,
}

impl Preparer<'_> {
    /// Prepares one need, and what it needs itself.
    ///
    /// # Errors
    /// If the user interrupts. Needs that can't be prepared are recorded in [`Prepared`].
    pub fn prepare(
        &mut self,
        need: &str,
        combination: &Combination,
        observer: StepObserver<'_>,
    ) -> Result<(), Interrupted> {
        let scope = self.scope;
        for key in keys_of(&scope, need, combination) {
            if !self.prepared.done.insert(key.clone()) {
                continue;
            }
            let lack = match key.0.split(' ').next() {
                Some("tool") => self.tool(need, observer)?,
                Some("build") => self.build(need, combination, observer)?,
                _ => self.input(need, combination, observer)?,
            };
            if let Some(lack) = lack {
                self.prepared.lacks.insert(key, lack);
            }
        }
        Ok(())
    }

    /// Prepares what a build or an input lists, or mentions in its texts. Returns what is lacking.
    fn own_needs<'t>(
        &mut self,
        named: &[Located<String>],
        texts: impl IntoIterator<Item = &'t str>,
        combination: &Combination,
        observer: StepObserver<'_>,
    ) -> Result<Option<Lack>, Interrupted> {
        let mut needs: BTreeSet<String> = named.iter().map(|need| need.value.clone()).collect();
        needs.extend(self.scope.mentioned(texts));
        for need in &needs {
            self.prepare(need, combination, observer)?;
        }
        Ok(self
            .prepared
            .lack(&self.scope, &needs, combination)
            .cloned())
    }

    fn tool(
        &mut self,
        name: &str,
        observer: StepObserver<'_>,
    ) -> Result<Option<Lack>, Interrupted> {
        let scope = self.scope;
        let Some(tool) = scope.experiment.tools.iter().find(|t| t.name.value == name) else {
            return Ok(None);
        };
        if is_over(self.deadline) {
            return Ok(Some(no_time("check of", name)));
        }
        observer(StepKind::Check, name);
        let mut version = self.version(tool)?;
        let mut why = None;
        if version.is_none() && self.install && tool.packages.is_some() {
            observer(StepKind::Install, name);
            why = self.install(tool)?;
            version = self.version(tool)?;
        }
        if version.is_none() && is_over(self.deadline) {
            return Ok(Some(no_time("check of", name)));
        }
        let missing = version.is_none().then(|| missing(tool, self.install, why));
        self.prepared.tools.push(ToolResult {
            name: name.to_string(),
            version,
            missing: missing.clone(),
            without: tool.without.clone(),
        });
        Ok(missing.map(|reason| Lack {
            reason,
            cause: Cause::Missing,
        }))
    }

    /// Returns the first line of the check's output; `None` if the check fails.
    fn version(&self, tool: &Tool) -> Result<Option<String>, Interrupted> {
        let Ok(job) = self.scope.check(&tool.check) else {
            return Ok(None);
        };
        let log = self.log("check", &tool.name.value);
        match execute(&job.until(self.deadline), &log) {
            Ok(ended) if ended.run.exit.is_success() => Ok(Some(
                command::first_line(&ended.stdout)
                    .or_else(|| command::first_line(&ended.stderr))
                    .unwrap_or_else(|| "there".to_string())
                    .chars()
                    .take(200)
                    .collect(),
            )),
            Ok(_) | Err(CommandError::NotStarted(_)) => Ok(None),
            Err(CommandError::Interrupted) => Err(Interrupted),
        }
    }

    /// Runs the package manager; returns the error, if any.
    fn install(&self, tool: &Tool) -> Result<Option<String>, Interrupted> {
        for job in install_jobs(&self.scope, tool) {
            // The tool's folder must exist.
            if let Err(error) = std::fs::create_dir_all(self.scope.folders.tool(&tool.name.value)) {
                return Ok(Some(error.to_string()));
            }
            match execute(&job, &self.log("install", &tool.name.value)) {
                Ok(ended) if ended.run.exit.is_success() => {}
                Ok(ended) => {
                    return Ok(Some(format!(
                        "{} failed: {}",
                        job.words[0],
                        command::last_words(&ended.stderr)
                    )));
                }
                Err(CommandError::NotStarted(why)) => return Ok(Some(why)),
                Err(CommandError::Interrupted) => return Err(Interrupted),
            }
        }
        Ok(None)
    }

    fn log(&self, what: &str, name: &str) -> std::path::PathBuf {
        self.logs.join(format!("{what}-{name}"))
    }

    fn build(
        &mut self,
        name: &str,
        combination: &Combination,
        observer: StepObserver<'_>,
    ) -> Result<Option<Lack>, Interrupted> {
        let scope = self.scope;
        let Some(build) = scope.build_named(name) else {
            return Ok(None);
        };
        let texts = sweep::build_texts(build);
        if let Some(lack) = self.own_needs(&build.needs, texts, combination, observer)? {
            return Ok(Some(lack));
        }
        let part = scope.build_part(build, combination);
        let log = self.log("build", &format!("{name}{}", sweep::file_part(&part)));
        let job = match scope.build(build, combination) {
            Ok(job) => job,
            Err(reason) => {
                return Ok(Some(Lack {
                    reason,
                    cause: Cause::Failed,
                }));
            }
        };
        let mark = log.with_extension("done");
        if self.keep_builds && std::fs::read_to_string(&mark).is_ok_and(|line| line == job.line()) {
            return Ok(None);
        }
        if is_over(self.deadline) {
            return Ok(Some(no_time("build", name)));
        }
        observer(StepKind::Build, name);
        let reason = match execute(&job.clone().until(self.deadline), &log) {
            Ok(ended) if ended.run.exit == Exit::TimedOut && is_over(self.deadline) => {
                return Ok(Some(no_time("build", name)));
            }
            Ok(ended) if ended.run.exit.is_success() => {
                // If the mark is missing, the only consequence is that it is built again.
                let _ = std::fs::write(&mark, job.line());
                return Ok(None);
            }
            Ok(ended) => format!(
                "the build {name} failed ({}): {}",
                command::describe(ended.run.exit),
                command::last_words(&ended.stderr)
            ),
            Err(CommandError::NotStarted(why)) => format!("the build {name} can't be run: {why}"),
            Err(CommandError::Interrupted) => return Err(Interrupted),
        };
        Ok(Some(Lack {
            reason,
            cause: Cause::Failed,
        }))
    }

    fn input(
        &mut self,
        name: &str,
        combination: &Combination,
        observer: StepObserver<'_>,
    ) -> Result<Option<Lack>, Interrupted> {
        let scope = self.scope;
        let Some(input) = scope.input_named(name) else {
            return Ok(None);
        };
        let texts = sweep::input_text(input);
        if let Some(lack) = self.own_needs(&input.needs, texts, combination, observer)? {
            return Ok(Some(lack));
        }
        let path = scope.staged(input, combination);
        let failed = |reason: String| {
            Ok(Some(Lack {
                reason: format!("the input {name} can't be created: {reason}"),
                cause: Cause::Failed,
            }))
        };
        let bytes = match &input.content {
            Content::Generated(_) => {
                observer(StepKind::Generate, name);
                return self.generate(name, combination);
            }
            Content::Bytes(bytes) => bytes.clone(),
            Content::File(text) => {
                let from = match scope.fill(text, combination) {
                    Ok(text) => scope.folders.here.join(text),
                    Err(reason) => return failed(reason),
                };
                match std::fs::read(&from) {
                    Ok(bytes) => bytes,
                    Err(error) => return failed(format!("{}: {error}", from.display())),
                }
            }
        };
        observer(StepKind::Stage, name);
        match stage(&path, &bytes, scope.size(input)) {
            Ok(()) => Ok(None),
            Err(error) => failed(error.to_string()),
        }
    }

    fn generate(&self, name: &str, combination: &Combination) -> Result<Option<Lack>, Interrupted> {
        let scope = self.scope;
        let failed = |reason: String| {
            Ok(Some(Lack {
                reason: format!("the input {name} can't be created: {reason}"),
                cause: Cause::Failed,
            }))
        };
        let Some(input) = scope.input_named(name) else {
            return Ok(None);
        };
        let job = match scope.generator(input, combination) {
            Ok(Some(job)) => job,
            Ok(None) => return Ok(None),
            Err(reason) => return failed(reason),
        };
        let Sink::File(path) = job.output.clone() else {
            return Ok(None);
        };
        // The input is written under another name and then renamed, so that a partial input is never used.
        let beside = path.with_file_name(format!(
            ".{}",
            path.file_name().unwrap_or_default().to_string_lossy()
        ));
        let part = scope.input_part(input, combination);
        let log = self.log("input", &format!("{name}{}", sweep::file_part(&part)));
        let job = Job {
            output: Sink::File(beside.clone()),
            ..job
        };
        if is_over(self.deadline) {
            return Ok(Some(no_time("input", name)));
        }
        match execute(&job.until(self.deadline), &log) {
            Ok(ended) if ended.run.exit == Exit::TimedOut && is_over(self.deadline) => {
                Ok(Some(no_time("input", name)))
            }
            Ok(ended) if ended.run.exit.is_success() => match std::fs::rename(&beside, &path) {
                Ok(()) => Ok(None),
                Err(error) => failed(error.to_string()),
            },
            Ok(ended) => failed(format!(
                "its generator failed ({}): {}",
                command::describe(ended.run.exit),
                command::last_words(&ended.stderr)
            )),
            Err(CommandError::NotStarted(why)) => failed(why),
            Err(CommandError::Interrupted) => Err(Interrupted),
        }
    }
}

fn no_time(what: &str, name: &str) -> Lack {
    Lack {
        reason: format!("the {what} {name} was {NO_TIME}"),
        cause: Cause::NotMeasured,
    }
}

/// Writes an input, which is repeated to its size if it has one.
fn stage(path: &Path, bytes: &[u8], size: Option<u64>) -> std::io::Result<()> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    let Some(size) = size.filter(|_| !bytes.is_empty()) else {
        return std::fs::write(path, bytes);
    };
    use std::io::Write;
    let mut file = std::io::BufWriter::new(std::fs::File::create(path)?);
    let mut left = size;
    while left > 0 {
        let part = left.min(bytes.len() as u64);
        file.write_all(&bytes[..part as usize])?;
        left -= part;
    }
    file.flush()
}
