//! Determines which files must be evicted from memory for a cold run.

use std::path::Path;

use fathom_measure::startup::{self, ColdFiles};

use super::observe::Observations;
use crate::Target;

/// Returns the files that the observed runs opened or, if there are no observed runs, the program and its
/// interpreter.
pub(super) fn files(targets: &[Target], observations: &Observations) -> Vec<ColdFiles> {
    targets
        .iter()
        .zip(&observations.programs)
        .map(|(target, observed)| match observed {
            Some(observed) => ColdFiles {
                found_by: observed.trace.tier.clone(),
                files: observed.files.clone(),
            },
            None => {
                let directory = target.command.directory.as_deref();
                let directory = std::path::absolute(directory.unwrap_or(Path::new(".")));
                ColdFiles {
                    found_by: "none".to_string(),
                    files: startup::files_of(
                        &target.command.program,
                        &directory.unwrap_or_else(|_| "/".into()),
                    ),
                }
            }
        })
        .collect()
}
