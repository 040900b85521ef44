//! The rules, one a file.
//!
//! A rule reads an [`Analysis`] and returns a finding, or none. Two rules may see the same time
//! from two sides: [`arbitration`] says which of the two is reported.

mod allocation;
mod allocator_churn;
mod arbitration;
mod blocking_in_lock;
mod busy_polling;
mod call_cost;
mod children;
mod clock_calls;
mod clock_reads;
mod code_files;
mod cold_files;
mod cpu_starved;
mod delayed_ack_stall;
mod discarded_buffers;
mod dynamic_linking;
mod futex_thrashing;
mod goroutine_locks;
mod idle_cores;
mod idle_processes;
mod io_latency;
mod kernel_bound;
mod line_buffered_output;
mod lock_barging;
mod lock_contention;
mod lock_convoys;
mod missing_file_lookups;
mod page_fault_heavy;
mod parts;
mod peer;
mod polled_paths;
mod process_spawning;
mod pseudo_files;
mod reopened_files;
mod repeated_listing;
mod reread_cost;
mod rereading;
mod seek_rereads;
mod sleeping;
mod small_file_io;
mod small_io;
mod spinning;
mod startup_dominated;
mod sync_writes;
mod thread_spawning;
mod tiny_files;
mod unbuffered_input;
mod unbuffered_output;
mod waiting_for_child;
mod waiting_for_disk;
mod waiting_for_input;
mod waiting_for_network;
mod waiting_for_output;
mod wakeup_storm;
mod wrappers;

use fathom_model::Finding;

use crate::analysis::Analysis;

type Rule = fn(&Analysis<'_>) -> Option<Finding>;

const RULES: &[Rule] = &[
    unbuffered_input::find,
    unbuffered_output::find,
    line_buffered_output::find,
    small_file_io::find,
    waiting_for_input::find,
    waiting_for_output::find,
    waiting_for_disk::find,
    waiting_for_network::find,
    delayed_ack_stall::find,
    locks,
    waiting_for_child::find,
    process_spawning::find,
    thread_spawning::find,
    sleeping::find,
    polls,
    starved,
    cold_files::find,
    page_fault_heavy::find,
    memory,
    sync_writes::find,
    missing_file_lookups::find,
    rereading::find,
    starts,
    linking,
    idle_cores::find,
    idle_processes::find,
    wakeup_storm::find,
    clocks,
    kernel_bound::find,
];

/// The ways in which a lock is contended, of which one is reported: what samples show of mutexes
/// goes first, then where whoever holds it is asleep.
fn locks(analysis: &Analysis<'_>) -> Option<Finding> {
    goroutine_locks::find(analysis)
        .or_else(|| blocking_in_lock::find(analysis))
        .or_else(|| convoy_or_thrashing(analysis))
        .or_else(|| lock_barging::find(analysis))
        .or_else(|| futex_thrashing::find(analysis))
        .or_else(|| spinning::for_lock(analysis))
}

/// Threads that queue for a lock may lose more by the calls for it than by waiting.
fn convoy_or_thrashing(analysis: &Analysis<'_>) -> Option<Finding> {
    let queued = lock_contention::find(analysis)?;
    let thrashing = futex_thrashing::find(analysis);
    let costs_more = |thrashing: &Finding| thrashing.could_win_ns > queued.could_win_ns;
    Some(thrashing.filter(costs_more).unwrap_or(queued))
}

/// Asking again and again, by calls or by reads of memory.
fn polls(analysis: &Analysis<'_>) -> Option<Finding> {
    busy_polling::find(analysis).or_else(|| spinning::find(analysis))
}

/// What comes before the work: other programs, or the program's own code. Of a process that ran
/// already nobody saw it.
fn starts(analysis: &Analysis<'_>) -> Option<Finding> {
    if analysis.trace.attached.is_some() {
        return None;
    }
    let found = [wrappers::find(analysis), startup_dominated::find(analysis)];
    found
        .into_iter()
        .flatten()
        .max_by_key(|one| one.could_win_ns)
}

/// Likewise the loader's work.
fn linking(analysis: &Analysis<'_>) -> Option<Finding> {
    dynamic_linking::find(analysis).filter(|_| analysis.trace.attached.is_none())
}

/// Memory that is taken and given back, by calls or within the program.
fn memory(analysis: &Analysis<'_>) -> Option<Finding> {
    allocator_churn::find(analysis).or_else(|| allocation::find(analysis))
}

/// CPUs that the command doesn't get: its group's limit goes before too many threads of its own,
/// which would wait less without it.
fn starved(analysis: &Analysis<'_>) -> Option<Finding> {
    cpu_starved::by_limit(analysis).or_else(|| cpu_starved::find(analysis))
}

/// Clocks that are read, by calls or without.
fn clocks(analysis: &Analysis<'_>) -> Option<Finding> {
    clock_calls::find(analysis).or_else(|| clock_reads::find(analysis))
}

/// All findings, the largest first.
pub(crate) fn all(analysis: &Analysis<'_>) -> Vec<Finding> {
    let mut found: Vec<Finding> = RULES.iter().filter_map(|rule| rule(analysis)).collect();
    found = arbitration::arbitrate(found);
    if found.is_empty() {
        found.extend(cpu_starved::by_others(analysis));
    }
    let found = found.into_iter();
    found
        .map(|finding| parts::within_parts(&analysis.account, finding))
        .collect()
}
