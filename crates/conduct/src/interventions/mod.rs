//! Interventions: ways to run a command without a cause, without changing its source. Each has its own file
//! in `kinds`.
//!
//! An [`Intervention`] declares what it takes away, what it needs, what it can break, and which findings it
//! tests. Its `Change` turns one command into two: with and without the cause. The two are otherwise
//! identical; even a system call filter is installed in both, so that both bear its cost.

mod change;
mod folder;
pub(crate) mod judge;
mod kinds;
mod observed;
pub(crate) mod prove;
mod same;
mod slope;
mod tries;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

pub(crate) use change::Change;
use fathom_diagnose::Language;
use fathom_model::{Finding, FindingId, Metric};
use fathom_trace::{Exec, Trace};
pub use kinds::ALL;
pub use prove::{ProvePlan, Tries, prove, tries};
pub use slope::{Slopes, listing as slopes};
pub use tries::{Arms, by_hand};

use slope::{CLASSES, PREFIX};

use crate::{ConductError, Target, did_you_mean};

/// How much of a cause an intervention takes away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Takes {
    /// The whole cause: if nothing is saved, it was not the cause.
    All,
    /// All calls that the kernel counts: if most of them remain, nothing is known.
    Calls,
    /// It removes as much of the cause as the program permits. If nothing is saved, the result is unknown.
    Some,
}

/// A way to run a command without a possible cause.
pub struct Intervention {
    /// The name that `--try` accepts.
    pub name: &'static str,
    /// What the intervention removes.
    pub takes_away: &'static str,
    /// What it needs.
    pub needs: &'static str,
    /// What it can break.
    pub can_break: &'static str,
    /// The findings it tests.
    pub findings: &'static [FindingId],
    pub(crate) takes: Takes,
    /// Whether the files of the intervention must lie in memory.
    pub(crate) in_memory: bool,
    /// What is compared, if it isn't the clock that carries verdicts: a wait for a CPU is part of the wall time
    /// only.
    pub(crate) metric: Option<Metric>,
    /// Whether its effect shows in the first run that checks whether the command does the same.
    pub(crate) shows_at_once: bool,
    /// The number of additional runs of the command that are needed to arrange the intervention.
    pub(crate) looks: u64,
    /// Returns the change to a command, or why this command can't be run that way.
    pub(crate) arrange: fn(&Case<'_>) -> Result<Change, String>,
}

/// The default values, which suit most interventions.
const USUAL: Intervention = Intervention {
    name: "",
    takes_away: "",
    needs: "nothing",
    can_break: "nothing known",
    findings: &[],
    takes: Takes::Some,
    in_memory: false,
    metric: None,
    shows_at_once: true,
    looks: 0,
    arrange: |_| Ok(Change::default()),
};

impl std::fmt::Debug for Intervention {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

/// Returns the intervention with this name.
///
/// # Errors
/// [`ConductError::Refused`], with the available names.
pub fn named(name: &str) -> Result<&'static Intervention, ConductError> {
    let found = ALL.iter().find(|one| one.name == name);
    found.ok_or_else(|| {
        let classes = CLASSES.iter().map(|one| format!("{PREFIX}{}", one.name));
        let names: Vec<String> = ALL
            .iter()
            .map(|one| one.name.to_owned())
            .chain(classes)
            .collect();
        let near = did_you_mean(name, names.iter().map(String::as_str));
        let hint = near.map_or(String::new(), |near| format!("; did you mean {near}?"));
        ConductError::Refused(format!(
            "unknown intervention {name:?}{hint} (`fathom bench --try list` lists them)"
        ))
    })
}

/// Why an intervention is requested.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Asks<'a> {
    /// The user named it.
    ByHand,
    /// A finding suggested it. `all` also permits interventions that make files outside scratch folders less
    /// durable.
    For { finding: &'a Finding, all: bool },
}

/// A command to run with an intervention.
pub(crate) struct Case<'a> {
    pub target: &'a Target,
    /// The trace of an observed run.
    pub trace: &'a Trace,
    pub asks: Asks<'a>,
    /// Whether the command may be run to inspect it; if not, the only question is whether the intervention is
    /// possible.
    pub may_look: bool,
    /// A folder for the intervention's files, which is removed afterwards.
    pub folder: &'a Path,
}

impl Case<'_> {
    /// Returns the value that a variable has for the command.
    fn variable(&self, name: &str) -> Option<OsString> {
        let all = self.target.command.environment();
        let found = all.into_iter().rfind(|(known, _)| known == name);
        found.map(|(_, value)| value)
    }

    fn is_set(&self, name: &str) -> bool {
        self.variable(name).is_some_and(|value| !value.is_empty())
    }

    /// Returns the programs that the processes of the tree executed.
    fn programs(&self) -> impl Iterator<Item = &Exec> {
        let processes = self.trace.processes.iter();
        processes.flat_map(|process| &process.execs)
    }

    /// Returns the folder in which the command runs.
    fn folder_of_runs(&self) -> PathBuf {
        let here = std::env::current_dir().unwrap_or_default();
        here.join(self.target.command.folder())
    }

    /// Reports whether a program of the tree is an interpreter or runtime of this language, judging by its
    /// name.
    fn runs(&self, language: Language) -> bool {
        let mut languages = self
            .programs()
            .map(|exec| Language::from_program_name(&exec.path));
        languages.any(|known| known == Some(language))
    }

    /// Returns `Err` with the reason if no program of the tree runs this language.
    fn needs(&self, language: Language, name: &str) -> Result<(), String> {
        let is_there = self.runs(language);
        is_there
            .then_some(())
            .ok_or_else(|| format!("it does not run {name}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_has_a_name_of_its_own_and_says_everything() {
        let mut names: Vec<&str> = ALL.iter().map(|one| one.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), ALL.len());
        for one in ALL {
            for text in [one.takes_away, one.needs, one.can_break] {
                assert!(
                    !text.is_empty() && !text.ends_with('.'),
                    "{}: {text}",
                    one.name
                );
            }
            assert_eq!(named(one.name).unwrap().name, one.name);
        }
    }

    #[test]
    fn a_name_that_is_none_is_answered_with_the_nearest() {
        let said = named("no-slep").unwrap_err().to_string();
        assert!(said.contains("did you mean no-sleep?"), "{said}");
        assert!(
            !named("frobnicate")
                .unwrap_err()
                .to_string()
                .contains("mean")
        );
    }
}
