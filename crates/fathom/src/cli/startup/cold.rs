//! Which files a cold run must not find in memory.

use std::path::Path;

use fathom_measure::startup::{self, ColdFiles};

use super::observing::Observations;
use super::subjects::Prepared;

/// What was seen to be opened; where nothing could observe, the program and its interpreter.
pub fn files(prepared: &[Prepared], seen: &Observations) -> Vec<ColdFiles> {
    prepared
        .iter()
        .zip(&seen.programs)
        .map(|(one, observed)| match observed {
            Some(observed) => ColdFiles {
                found_by: observed.trace.tier.clone(),
                files: observed.files.clone(),
            },
            None => {
                let directory = one.target.command.directory.as_deref();
                let directory = std::path::absolute(directory.unwrap_or(Path::new(".")));
                ColdFiles {
                    found_by: "none".to_string(),
                    files: startup::files_of(
                        &one.target.command.program,
                        &directory.unwrap_or_else(|_| "/".into()),
                    ),
                }
            }
        })
        .collect()
}
