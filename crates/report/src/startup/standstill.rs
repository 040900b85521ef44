//! Detects single runs that stood still, without computing and without waiting for a CPU.

use fathom_model::{Cache, StartupRecord, StartupRun};

use super::waits::number;
use super::words;

/// The minimum length of a standstill: a timer or a page read from the disk explains a shorter one.
const LEAST_NS: u64 = 5_000_000;
/// The minimum length of a standstill as a multiple of the usual wait: a program that waits in every run has
/// its own reason.
const TIMES_THE_USUAL: u64 = 10;

/// Returns a label and a sentence for a program that stood still in some runs.
pub(super) fn of(record: &StartupRecord, program: usize) -> Option<(&'static str, String)> {
    let warm = |run: &&StartupRun| run.program == program && run.cache == Cache::Warm;
    let mut stood: Vec<u64> = record
        .runs
        .iter()
        .filter(warm)
        .filter_map(stood_ns)
        .collect();
    stood.sort_unstable();
    let usual = *stood.get(stood.len() / 2)?;
    let least = LEAST_NS.max(TIMES_THE_USUAL * usual);
    let long = &stood[stood.partition_point(|ns| *ns < least)..];
    let (first, last) = (long.first()?, long.last()?);
    let time = |ns: u64| words::time(ns as f64 / 1e9);
    let how_long = match first == last {
        true => time(*last),
        false => format!("{} to {}", time(*first), time(*last)),
    };
    Some((
        "stood still",
        format!(
            "{}{} of {} runs, for {how_long} (usually {}), neither running nor waiting for a CPU: the program \
             waited for a device, a timer or another program, or the whole machine stalled",
            number(record, program),
            long.len(),
            stood.len(),
            time(usual)
        ),
    ))
}

/// Returns the part of the time to the exit that was neither CPU time nor waiting for a CPU; `None` if
/// unknown.
fn stood_ns(run: &StartupRun) -> Option<u64> {
    let waited = run.run_queue_wait_ns.filter(|_| run.wait_is_exact)?;
    Some(run.exit_ns.saturating_sub(run.cpu_ns + waited))
}
