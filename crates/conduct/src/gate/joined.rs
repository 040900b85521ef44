//! Joins the parts of a suite whose benchmarks were each measured in a separate job.

use fathom_model::{GateRecord, LeftOut};

use super::conclude::verdict;

/// Joins the records of a suite's parts into one; `None` without parts. Each part knows the number of parts.
/// `lost` are benchmarks whose part is missing.
pub fn joined(parts: Vec<GateRecord>, lost: Vec<LeftOut>) -> Option<GateRecord> {
    let mut parts = parts.into_iter();
    let mut all = parts.next()?;
    for part in parts {
        all.jobs.extend(part.jobs);
        all.benchmarks.extend(part.benchmarks);
        all.exact_changes.extend(part.exact_changes);
        all.null_arm.failed |= part.null_arm.failed;
        all.null_arm.benchmarks.extend(part.null_arm.benchmarks);
        all.left_out.extend(part.left_out);
        all.complete &= part.complete;
        all.seconds += part.seconds;
        let unsaid = |known: &[String], more: Vec<String>| -> Vec<String> {
            more.into_iter()
                .filter(|one| !known.contains(one))
                .collect()
        };
        let settings = unsaid(&all.settings_changed, part.settings_changed);
        all.settings_changed.extend(settings);
        let notes = unsaid(&all.notes, part.notes);
        all.notes.extend(notes);
    }
    all.complete &= lost.is_empty();
    all.left_out.extend(lost);
    all.verdict = verdict(&all);
    Some(all)
}
