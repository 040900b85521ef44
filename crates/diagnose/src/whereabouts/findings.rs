//! Which object and which place in the code is a finding about?

use fathom_model::{Finding, TimeCategory, WhereRow};

use super::atoms::ENDS;
use crate::findings::declaration;

/// A place is a finding's if so much of what the finding can be about is there.
const MOST: f64 = 0.5;

/// Gives each finding the object and the place that most of its time is at; nothing where no place
/// has most of it.
pub(crate) fn name_places(findings: &mut [Finding], rows: &[WhereRow]) {
    for finding in findings {
        let own: Vec<&WhereRow> = rows.iter().filter(|row| is_about(finding, row)).collect();
        let all: u64 = own.iter().map(|row| row.ns).sum();
        // Rows are sorted.
        let Some(first) = own.first().filter(|row| row.ns as f64 >= MOST * all as f64) else {
            continue;
        };
        finding.object.clone_from(&first.object);
        finding.code = first.place.clone();
        finding.callers.clone_from(&first.callers);
    }
}

fn is_about(finding: &Finding, row: &WhereRow) -> bool {
    let declared = declaration(finding.id);
    let parts = finding.id.lies_in();
    let is_part = parts.contains(&row.kind)
        || row.kind == TimeCategory::Kernel && parts.iter().any(|part| part.is_in_kernel());
    let call = row.call.as_deref();
    let fits = declared.calls.is_none_or(|is| call.is_some_and(is));
    // What is known of a finding's file has to be the row's too.
    let path = finding.place.path.as_deref();
    let object = row.object.as_deref();
    let same = match (path, object) {
        (Some(path), Some(object)) => path.contains(object) || object.contains(path),
        _ => true,
    };
    // How processes end is where the time goes, and never why.
    is_part && fits && same && row.call.as_deref() != Some(ENDS)
}
