//! Makes Go collect garbage less often.

use fathom_diagnose::Language;
use fathom_model::FindingId;

use crate::interventions::{Case, Change, Intervention, USUAL};
use crate::why::language::language_of;

pub(super) const INTERVENTION: Intervention = Intervention {
    name: "go-collects-less",
    takes_away: "most of Go's garbage collections: the heap may grow to nine times the memory in use (GOGC=800)",
    needs: "a program in Go",
    can_break: "the program uses more memory",
    findings: &[FindingId::AllocatorChurn, FindingId::PageFaultHeavy],
    arrange,
    ..USUAL
};

fn arrange(case: &Case<'_>) -> Result<Change, String> {
    let folder = case.target.command.folder();
    let programs = case
        .trace
        .processes
        .iter()
        .filter_map(|process| process.execs.last());
    let mut programs = programs.take(MOST_PROGRAMS);
    match programs.any(|exec| language_of(&folder.join(&exec.path)) == Some(Language::Go)) {
        true => Ok(Change::setting("GOGC", "800")),
        false => Err("it runs no Go code".to_owned()),
    }
}

/// The maximum number of programs to inspect.
const MOST_PROGRAMS: usize = 8;
