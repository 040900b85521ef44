//! Which object and which place in the code is a finding about?

use std::collections::BTreeMap;

use fathom_model::{CodePlace, Finding, TimeCategory, WhereRow};
use fathom_trace::{Activity, StackRow};

use super::atoms::ENDS;
use super::divide::code_place;
use crate::analysis::Analysis;
use crate::findings::declaration;

/// A place is a finding's if so much of what the finding can be about is there.
const MOST: f64 = 0.5;

/// Gives each finding the object and the place that most of its time is at, or from where its path was
/// opened or asked for; nothing where no place has most of it.
pub(crate) fn name_places(analysis: &Analysis<'_>, findings: &mut [Finding], rows: &[WhereRow]) {
    for finding in findings {
        name_place(finding, rows);
        if finding.code == CodePlace::default()
            && let Some(mut way) = by_path(analysis, finding)
        {
            finding.code = way.remove(0);
            finding.callers = way;
        }
    }
}

/// The way to the calls that named the finding's path, the nearest first, if most of these went it.
fn by_path(analysis: &Analysis<'_>, finding: &Finding) -> Option<Vec<CodePlace>> {
    let path = finding.place.path.as_deref()?;
    let stacks = analysis.trace.stacks.as_ref()?;
    let mut ways: BTreeMap<Vec<CodePlace>, u64> = BTreeMap::new();
    let named =
        |row: &StackRow| row.activity == Activity::Call && row.path.as_deref() == Some(path);
    let rows = stacks.rows.iter().enumerate();
    for (at, row) in rows.filter(|(_, row)| named(row)) {
        let way = analysis.routes().of(stacks, at).rev().map(code_place);
        *ways.entry(way.collect()).or_default() += row.samples.max(1);
    }
    let all: u64 = ways.values().sum();
    let (way, most) = ways.into_iter().max_by_key(|(_, samples)| *samples)?;
    (most as f64 >= MOST * all as f64 && !way.is_empty()).then_some(way)
}

fn name_place(finding: &mut Finding, rows: &[WhereRow]) {
    let own: Vec<&WhereRow> = rows.iter().filter(|row| is_about(finding, row)).collect();
    let all: u64 = own.iter().map(|row| row.ns).sum();
    // Rows are sorted.
    let Some(first) = own.first() else { return };
    if first.ns as f64 >= MOST * all as f64 {
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
        (Some(path), Some(object)) => {
            // Many files of a folder are one object, with their number.
            let folder = object.split(" (").next().unwrap_or(object);
            path.contains(folder) || object.contains(path)
        }
        _ => true,
    };
    // How processes end is where the time goes, and never why.
    is_part && fits && same && row.call.as_deref() != Some(ENDS)
}
