//! Determines the object and the location in the code that a finding is about.

use std::collections::BTreeMap;

use fathom_model::{CodePlace, Finding, FindingId, TimeCategory, WhereRow};
use fathom_trace::{Activity, StackRow};

use super::atoms::ENDS;
use super::divide::code_place;
use super::route::Step;
use crate::analysis::Analysis;
use crate::findings::declaration;
use crate::runtimes::{LOCKING, group_of};

/// A place belongs to a finding if it accounts for at least this share of the time that the finding can be
/// about.
const MOST: f64 = 0.5;

/// Gives each finding the object and the place with most of its time, or the place from which its path was
/// opened or looked up. If no place has most of the time, it is left empty.
pub(crate) fn name_places(analysis: &Analysis<'_>, findings: &mut [Finding], rows: &[WhereRow]) {
    for finding in findings {
        // Some mechanisms know the place.
        if finding.code == CodePlace::default() {
            name_place(finding, rows);
        }
        if finding.code == CodePlace::default()
            && let Some(mut way) = by_path(analysis, finding).or_else(|| by_lock(analysis, finding))
        {
            finding.code = way.remove(0);
            finding.callers = way;
        }
    }
}

/// Returns the route to the calls that named the finding's path, nearest function first, if most of these
/// calls share it.
fn by_path(analysis: &Analysis<'_>, finding: &Finding) -> Option<Vec<CodePlace>> {
    let path = finding.place.path.as_deref()?;
    most_go(analysis, |row, _| {
        row.activity == Activity::Call && row.path.as_deref() == Some(path)
    })
}

/// Returns the route to the functions of a lock. This is for locks for which tasks of a runtime wait, while
/// no thread does.
fn by_lock(analysis: &Analysis<'_>, finding: &Finding) -> Option<Vec<CodePlace>> {
    let locks = |last: Step<'_>| !last.is_own && group_of(last.frame) == Some(LOCKING);
    let pid = finding
        .place
        .pid
        .filter(|_| finding.id == FindingId::LockContention)?;
    most_go(analysis, |row, last| {
        row.pid == pid && last.is_some_and(locks)
    })
}

/// Returns the route of most of the stacks that `is_meant` selects by their rows and innermost steps, nearest
/// function first; `None` if no route has most of them.
fn most_go(
    analysis: &Analysis<'_>,
    is_meant: impl Fn(&StackRow, Option<Step<'_>>) -> bool,
) -> Option<Vec<CodePlace>> {
    let stacks = analysis.trace.stacks.as_ref()?;
    let mut ways: BTreeMap<Vec<CodePlace>, u64> = BTreeMap::new();
    for (at, row) in stacks.rows.iter().enumerate() {
        let way = || analysis.routes().of(stacks, at).rev();
        if is_meant(row, way().next()) {
            *ways.entry(way().map(code_place).collect()).or_default() += row.samples.max(1);
        }
    }
    let all: u64 = ways.values().sum();
    let (way, most) = ways.into_iter().max_by_key(|(_, samples)| *samples)?;
    (most as f64 >= MOST * all as f64 && !way.is_empty()).then_some(way)
}

fn name_place(finding: &mut Finding, rows: &[WhereRow]) {
    let own: Vec<&WhereRow> = rows.iter().filter(|row| is_about(finding, row)).collect();
    let all: u64 = own.iter().map(|row| row.ns).sum();
    // Rows are sorted, so the first one is the largest.
    let Some(first) = own.first() else { return };
    if first.ns as f64 >= MOST * all as f64 {
        finding.object.clone_from(&first.object);
        finding.code = first.place.clone();
        finding.callers.clone_from(&first.callers);
        return;
    }
    // One function may work on many objects.
    let of = |place: &CodePlace| {
        let same = own.iter().filter(|row| row.place == *place);
        same.map(|row| row.ns).sum::<u64>()
    };
    let most = own.iter().max_by_key(|row| of(&row.place));
    if let Some(most) = most.filter(|most| of(&most.place) as f64 >= MOST * all as f64) {
        finding.code = most.place.clone();
        finding.callers.clone_from(&most.callers);
    }
}

fn is_about(finding: &Finding, row: &WhereRow) -> bool {
    let declared = declaration(finding.id);
    let parts = finding.id.lies_in();
    let is_part = parts.contains(&row.kind)
        || row.kind == TimeCategory::Kernel && parts.iter().any(|part| part.is_in_kernel());
    let call = row.call.as_deref();
    let fits = declared.calls.is_none_or(|is| call.is_some_and(is));
    // If a finding's file is known, it must also be the row's file.
    let path = finding.place.path.as_deref();
    let object = row.object.as_deref();
    let same = match (path, object) {
        (Some(path), Some(object)) => {
            // Many files of a folder form one object, whose name includes their number.
            let folder = object.split(" (").next().unwrap_or(object);
            path.contains(folder) || object.contains(path)
        }
        _ => true,
    };
    // The end of a process can take time but is never a cause.
    is_part && fits && same && row.call.as_deref() != Some(ENDS)
}
