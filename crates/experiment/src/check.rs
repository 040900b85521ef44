//! Checks that the parts of a file fit together: used names exist, nothing needs itself, and every claim is
//! about something that is measured, in compatible units.

mod claims;
mod needs;
mod parts;
mod promised;
mod texts;

pub use promised::{measured_subjects, promised};

use crate::file::experiment::Experiment;
use crate::file::problem::{FileError, Problems};

/// Checks a parsed file.
///
/// # Errors
/// All problems, with their positions.
pub fn check(experiment: &Experiment) -> Result<(), FileError> {
    let problems = Problems::default();
    let checker = Checker {
        experiment,
        problems: &problems,
    };
    checker.needs();
    checker.placeholders();
    checker.subjects();
    checker.measures();
    checker.evidence();
    checker.pictures();
    // Claims about subjects that don't exist would only repeat errors reported earlier.
    let problems = match problems.into_sorted() {
        found if found.is_empty() => {
            let problems = Problems::default();
            Checker {
                experiment,
                problems: &problems,
            }
            .claims();
            problems.into_sorted()
        }
        found => found,
    };
    if problems.is_empty() {
        return Ok(());
    }
    Err(FileError {
        path: experiment.path.clone(),
        text: experiment.text.clone(),
        problems,
    })
}

struct Checker<'e> {
    experiment: &'e Experiment,
    problems: &'e Problems,
}

impl Checker<'_> {
    fn names<'a, T>(list: &'a [T], name: impl Fn(&'a T) -> &'a str) -> Vec<&'a str> {
        list.iter().map(name).collect()
    }

    fn tools(&self) -> Vec<&str> {
        Self::names(&self.experiment.tools, |t| &t.name.value)
    }

    fn builds(&self) -> Vec<&str> {
        Self::names(&self.experiment.builds, |b| &b.name.value)
    }

    fn inputs(&self) -> Vec<&str> {
        Self::names(&self.experiment.inputs, |i| &i.name.value)
    }

    fn subject_names(&self) -> Vec<&str> {
        Self::names(&self.experiment.subjects, |s| &s.name.value)
    }
}
