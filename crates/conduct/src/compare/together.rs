//! Suggests the command that measures both sides together, in the same rounds, so that drift cancels.

use std::path::Path;

use fathom_model::CompareSide;
use fathom_store::git;

use super::side::{Again, SideSeries};

/// Returns the command; `None` if it can't be known because one side is another tool's file or its tree is
/// gone.
pub(super) fn command(
    here: &Path,
    base: &CompareSide,
    before: &SideSeries,
    head: &CompareSide,
    after: &SideSeries,
) -> Option<String> {
    let quote = |text: &str| shell_words::quote(text).into_owned();
    let (one, other) = (before.again.as_ref()?, after.again.as_ref()?);
    if let (
        Again::Command { verb, command },
        Again::Command {
            command: second, ..
        },
    ) = (one, other)
        && command != second
    {
        return Some(format!(
            "fathom {verb} {} {}",
            quote(command),
            quote(second)
        ));
    }
    let (from, to) = (base.revision.as_deref()?, head.revision.as_deref()?);
    if from == to {
        return None;
    }
    let short = |revision: &str| revision.chars().take(12).collect::<String>();
    match other {
        Again::Suite { subject } => Some(format!(
            "fathom gate --base {} --head {} --only {}",
            short(from),
            short(to),
            quote(subject)
        )),
        Again::Command { command, .. } => {
            let between = |from: &str, to: &str| git::between(here, from, to).ok();
            let (from, to, steps) = match (between(from, to), between(to, from)) {
                (Some(all), _) => (from, to, all.len() - 1),
                (None, Some(all)) => (to, from, all.len() - 1),
                (None, None) => (from, to, 1),
            };
            // Measure only the two ends, which are always included.
            let every = match steps {
                0 | 1 => String::new(),
                n => format!("--every {n} "),
            };
            Some(format!(
                "fathom versions {}..{} {every}-- {command}",
                short(from),
                short(to)
            ))
        }
    }
}
