//! Did the machine keep the programs waiting for a CPU?

use fathom_model::StartupRecord;

use crate::disturbance::disturbance;

/// Of each program that had to wait a label and a sentence, in the words of `bench`.
pub(super) fn of(record: &StartupRecord) -> Vec<(&'static str, String)> {
    let programs = 0..record.programs.len();
    programs
        .filter_map(|program| one(record, program))
        .collect()
}

fn one(record: &StartupRecord, program: usize) -> Option<(&'static str, String)> {
    let runs = record.runs.iter().filter(|run| run.program == program);
    let known: Vec<_> = runs
        .filter_map(|run| Some((run, run.run_queue_wait_ns?)))
        .collect();
    let waits: Vec<(u64, u64)> = known.iter().map(|(run, ns)| (*ns, run.exit_ns)).collect();
    let who = match known.iter().all(|(run, _)| run.wait_is_exact) {
        true => "",
        false => "in the main thread ",
    };
    let (label, text) = disturbance(&waits, who)?;
    let number = number(record, program);
    Some((label, format!("{number}{text}; that is in these times")))
}

/// `program 2: ` where there are several.
pub(super) fn number(record: &StartupRecord, program: usize) -> String {
    match record.programs.len() {
        2.. => format!("program {}: ", program + 1),
        _ => String::new(),
    }
}
