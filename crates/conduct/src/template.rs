//! A command to run on several versions of a program.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use fathom_measure::{Against, Hook, Hooks, IgnoreFailure, Input, MeasureError, Output};

use fathom_model::{Metric, Run, RunOrder};

use crate::bench::{ALPHA, Amount, MARGIN};
use crate::{BenchPlan, CommandPlan, ConductError, Observer, RunTerms, Target, bench};

/// How revisions are built.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Builds {
    /// The build command, run by a shell in the files of each revision; `None` if no build is needed.
    pub command: Option<String>,
    /// The space that builds may take, in bytes; see [`crate::worktrees::Worktrees::open`].
    pub cache_bytes: u64,
    /// Whether to build again even if a build exists or failed before.
    pub again: bool,
}

/// A command with placeholders for a version: `{version}`, `{revision}`, `{repo}`.
#[derive(Debug, Clone)]
pub struct Template {
    /// The command; its directory is relative to the version's files.
    pub command: CommandPlan,
    /// Commands to run around it.
    pub hooks: Hooks,
}

impl Template {
    /// Returns what follows the revisions in a suggested command line: ` --build make -- ./tool FILE`.
    pub(crate) fn typed(&self, builds: &Builds) -> String {
        let build = builds.command.as_deref().map_or_else(String::new, |build| {
            format!(" --build {}", shell_words::quote(build))
        });
        format!("{build} -- {}", self.command.text)
    }
}

/// The values for the placeholders.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Filled<'f> {
    /// The name of the version.
    pub(crate) version: &'f str,
    /// The full id of the revision, if there is one.
    pub(crate) revision: Option<&'f str>,
    /// The user's own work tree, if there is one.
    pub(crate) repository: Option<&'f Path>,
}

impl Filled<'_> {
    fn places(&self) -> Vec<(&'static str, String)> {
        let path = |path: &Path| path.display().to_string();
        let all = [
            ("{version}", Some(self.version.to_owned())),
            ("{revision}", self.revision.map(str::to_owned)),
            ("{repo}", self.repository.map(path)),
        ];
        all.into_iter()
            .filter_map(|(place, value)| Some((place, value?)))
            .collect()
    }

    fn into_text(self, text: &str) -> String {
        let places = self.places().into_iter();
        places.fold(text.to_owned(), |text, (place, value)| {
            text.replace(place, &value)
        })
    }

    /// Fills in a line that a shell interprets. A tag may be named `$(reboot)`, and quoting can't be relied
    /// on because the placeholder may be anywhere in the line.
    ///
    /// # Errors
    /// A name, if it contains characters that a shell would interpret.
    pub(crate) fn into_shell_line(self, line: &str) -> Result<String, String> {
        for (place, value) in self.places() {
            if line.contains(place) && !value.chars().all(is_plain) {
                return Err(format!(
                    "{place} is {value:?} here, which a shell would not read as one word, so it is not substituted"
                ));
            }
        }
        Ok(self.into_text(line))
    }

    fn into_path(self, path: &Path) -> PathBuf {
        path.to_str()
            .map_or_else(|| path.to_path_buf(), |text| self.into_text(text).into())
    }
}

/// Reports whether no shell gives the character a special meaning, wherever it is in a line.
fn is_plain(character: char) -> bool {
    character.is_alphanumeric() || "/._-+@:,=%".contains(character)
}

impl Template {
    /// Returns the command for a version whose files are in `folder`, with its program resolved.
    ///
    /// # Errors
    /// The reason why it can't be run there.
    pub(crate) fn on(&self, filled: Filled<'_>, folder: Option<&Path>) -> Result<Target, String> {
        let mut plan = self.command.clone();
        plan.text = filled.into_text(&plan.text);
        if plan.shell.is_some() {
            let line = plan.words.last_mut().and_then(|word| {
                let text = word.to_str()?.to_owned();
                Some((word, text))
            });
            if let Some((word, text)) = line {
                *word = filled.into_shell_line(&text)?.into();
            }
        } else {
            for word in &mut plan.words {
                if let Some(text) = word.to_str() {
                    *word = OsString::from(filled.into_text(text));
                }
            }
        }
        plan.directory = match (folder, plan.directory) {
            (Some(folder), Some(within)) => Some(folder.join(within)),
            (folder, within) => within.or(folder.map(Path::to_path_buf)),
        };
        if let Input::File(path) = &mut plan.input {
            *path = filled.into_path(path);
        }
        if let Output::File(path) = &mut plan.output {
            *path = filled.into_path(path);
        }
        plan.parameters = vec![("version".to_owned(), filled.version.to_owned())];
        let directory = plan.directory.clone();
        let mut target = plan.find().map_err(|error| said(&error))?;
        target.benchmark.name = filled.version.to_owned();
        target.hooks = self.hooks.clone();
        if let Some(prepare) = target.hooks.prepare.take() {
            target.hooks.prepare = Some(Hook {
                arguments: filled_line(&prepare.arguments, filled)?,
                text: filled.into_text(&prepare.text),
                directory,
                ..prepare
            });
        }
        Ok(target)
    }
}

fn filled_line(words: &[OsString], filled: Filled<'_>) -> Result<Vec<OsString>, String> {
    let mut words = words.to_vec();
    if let Some(line) = words.last_mut()
        && let Some(text) = line.to_str()
    {
        *line = filled.into_shell_line(text)?.into();
    }
    Ok(words)
}

/// The trial run of a command, or the reason why it can't be measured; an old version may lack an option, for
/// example.
pub(crate) type Tried = Result<Run, String>;

/// Runs the command once, only to check that it works.
///
/// # Errors
/// Errors that would keep any command from running.
pub(crate) fn try_once(
    target: &Target,
    ignore_failure: &IgnoreFailure,
    terms: &RunTerms,
    observer: &mut dyn Observer,
) -> Result<Tried, ConductError> {
    let plan = BenchPlan {
        targets: vec![target.clone()],
        against: Against::One(0),
        metrics: Vec::new(),
        alpha: ALPHA,
        amount: Amount {
            runs: Some(1),
            ..Amount::default()
        },
        warmup: 0,
        seed: 0,
        margin: MARGIN,
        ignore_failure: ignore_failure.clone(),
        require_quiet: None,
        canaries: false,
        vary_environment_size: true,
        order: RunOrder::Random,
        keep_daemons: false,
        record: None,
        terms: terms.clone(),
        slope: None,
    };
    let tried = bench(&plan, observer)?;
    match (tried.failure, tried.record.runs.into_iter().next()) {
        (None, Some(run)) => Ok(Ok(run)),
        (Some(error), _) => Ok(Err(said(&error))),
        (None, None) => Err(MeasureError::Interrupted.into()),
    }
}

/// Reports whether ratios can be formed from values of this metric, as far as one run shows; this is
/// impossible for a value of 0.
pub(crate) fn has_ratio(metric: Option<Metric>, run: &Run) -> bool {
    let metric = metric.unwrap_or(Metric::Wall);
    metric.of(run).is_some_and(|value| value > 0.0)
}

/// Formats the error with the end of the command's standard error.
fn said(error: &MeasureError) -> String {
    const LINES: usize = 5;
    let (MeasureError::RunFailed { stderr, .. } | MeasureError::HookFailed { stderr, .. }) = error
    else {
        return error.to_string();
    };
    let text = String::from_utf8_lossy(stderr);
    let lines: Vec<&str> = text.trim_end().lines().collect();
    let end = &lines[lines.len().saturating_sub(LINES)..];
    std::iter::once(error.to_string())
        .chain(end.iter().map(|line| (*line).to_owned()))
        .collect::<Vec<_>>()
        .join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_a_shell_would_interpret_is_not_filled_in() {
        let of = |version| Filled {
            version,
            revision: None,
            repository: Some(Path::new("/a b")),
        };
        let line = "./run-{version} 'x'";
        assert_eq!(
            of("v1.2.3-rc.1").into_shell_line(line).unwrap(),
            "./run-v1.2.3-rc.1 'x'"
        );
        for hostile in ["$(reboot)", "a;b", "a b", "`x`", "a'b", "a\"b", "a&b", "*"] {
            assert!(of(hostile).into_shell_line(line).is_err(), "{hostile}");
        }
        // A value that isn't used can't do any harm.
        assert!(of("v1").into_shell_line(line).is_ok());
        assert!(of("v1").into_shell_line("cat {repo}/x").is_err());
    }
}
