//! Reports whether the programs had to wait for a CPU.

use fathom_model::{CpuWaits, StartupRecord};

use crate::waits;

/// Returns a label and a sentence for a program that had to wait, in the words of `bench`.
pub(super) fn of(record: &StartupRecord, program: usize) -> Option<(&'static str, String)> {
    let runs = record.runs.iter().filter(|run| run.program == program);
    let known: Vec<_> = runs
        .filter_map(|run| Some((run, run.waited_for_others_ns()?)))
        .collect();
    let mut all = CpuWaits::default();
    known.iter().for_each(|(run, ns)| all.add(*ns, run.exit_ns));
    if !all.disturbed() {
        return None;
    }
    let who = match known.iter().all(|(run, _)| run.wait_is_exact) {
        true => "",
        false => "in the main thread ",
    };
    let number = number(record, program);
    let text = waits::sentence(&all, who);
    Some((
        waits::label(&all),
        format!("{number}{text}; these waits are included in the times"),
    ))
}

/// Returns `program 2: ` if there are several programs.
pub(super) fn number(record: &StartupRecord, program: usize) -> String {
    match record.programs.len() {
        2.. => format!("program {}: ", program + 1),
        _ => String::new(),
    }
}
