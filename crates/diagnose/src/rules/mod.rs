//! The rules, one a file.
//!
//! A rule reads an [`Analysis`] and returns a finding, or none. Which of them finds what, and which
//! of two that see the same time from two sides is reported, is declared in `findings/`.

mod allocation;
mod allocator_churn;
mod blocking_in_lock;
mod busy_polling;
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
mod idle_teams;
mod io_latency;
mod kernel_bound;
mod lock_barging;
mod lock_contention;
mod lock_convoys;
mod missing_file_lookups;
mod page_fault_heavy;
mod polled_paths;
mod process_spawning;
mod pseudo_files;
mod sleeping;
mod small_file_io;
mod spinning;
mod startup_dominated;
mod sync_writes;
mod thread_spawning;
mod tiny_files;
mod waiting_for_child;
mod waiting_for_disk;
mod waiting_for_network;
mod wakeup_storm;
mod wrappers;

use crate::analysis::Analysis;
use crate::claim::Claim;

pub(crate) use cold_files::find as cold_files;
pub(crate) use delayed_ack_stall::find as delayed_ack_stall;
pub(crate) use idle_cores::find as idle_cores;
pub(crate) use idle_processes::find as idle_processes;
pub(crate) use kernel_bound::find as kernel_bound;
pub(crate) use missing_file_lookups::find as missing_file_lookups;
pub(crate) use page_fault_heavy::find as page_fault_heavy;
pub(crate) use process_spawning::find as process_spawning;
pub(crate) use pseudo_files::{is_of_system, is_pseudo};
pub(crate) use sleeping::find as sleeping;
pub(crate) use small_file_io::find as small_file_io;
pub(crate) use sync_writes::find as sync_writes;
pub(crate) use thread_spawning::find as thread_spawning;
pub(crate) use tiny_files::read_one_by_one;
pub(crate) use waiting_for_child::find as waiting_for_child;
pub(crate) use waiting_for_disk::find as waiting_for_disk;
pub(crate) use waiting_for_network::find as waiting_for_network;
pub(crate) use wakeup_storm::find as wakeup_storm;

/// The ways in which a lock is contended, of which one is reported: what samples show of mutexes
/// goes first, then where whoever holds it is asleep.
pub(crate) fn lock_contention(analysis: &Analysis<'_>) -> Option<Claim> {
    goroutine_locks::find(analysis)
        .or_else(|| blocking_in_lock::find(analysis))
        .or_else(|| convoy_or_thrashing(analysis))
        .or_else(|| lock_barging::find(analysis))
        .or_else(|| futex_thrashing::find(analysis))
        .or_else(|| spinning::for_lock(analysis))
}

/// Threads that queue for a lock may lose more by the calls for it than by waiting.
fn convoy_or_thrashing(analysis: &Analysis<'_>) -> Option<Claim> {
    let queued = lock_contention::find(analysis)?;
    let thrashing = futex_thrashing::find(analysis);
    let costs_more = |thrashing: &Claim| thrashing.could_win_ns > queued.could_win_ns;
    Some(thrashing.filter(costs_more).unwrap_or(queued))
}

/// Asking again and again, by calls or by reads of memory.
pub(crate) fn busy_polling(analysis: &Analysis<'_>) -> Option<Claim> {
    busy_polling::find(analysis).or_else(|| spinning::find(analysis))
}

/// What comes before the work: other programs, or the program's own code. Of a process that ran
/// already nobody saw it.
pub(crate) fn startup_dominated(analysis: &Analysis<'_>) -> Option<Claim> {
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
pub(crate) fn dynamic_linking(analysis: &Analysis<'_>) -> Option<Claim> {
    dynamic_linking::find(analysis).filter(|_| analysis.trace.attached.is_none())
}

/// Memory that is taken and given back, by calls or within the program.
pub(crate) fn allocator_churn(analysis: &Analysis<'_>) -> Option<Claim> {
    allocator_churn::find(analysis).or_else(|| allocation::find(analysis))
}

/// CPUs that the command doesn't get: its group's limit goes before too many threads of its own,
/// which would wait less without it, and of these those that wait for each other before others.
pub(crate) fn cpu_starved(analysis: &Analysis<'_>) -> Option<Claim> {
    cpu_starved::by_limit(analysis)
        .or_else(|| idle_teams::find(analysis))
        .or_else(|| cpu_starved::find(analysis))
}

/// Clocks that are read, by calls or without.
pub(crate) fn clock_calls(analysis: &Analysis<'_>) -> Option<Claim> {
    clock_calls::find(analysis).or_else(|| clock_reads::find(analysis))
}

/// Other programs had the CPUs: asked where nothing else is found.
pub(crate) fn starved_by_others(analysis: &Analysis<'_>) -> Option<Claim> {
    cpu_starved::by_others(analysis)
}
