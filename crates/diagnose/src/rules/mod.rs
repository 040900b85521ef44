//! The rules, one a file.
//!
//! A rule reads an [`Analysis`] and returns findings, or none. Two rules may see the same time from
//! two sides; [`explained_by`] says which of the two is reported.

mod allocation;
mod allocator_churn;
mod blocking_in_lock;
mod buffer_advice;
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

use fathom_model::{Finding, FindingId};

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
    cpu_starved::find,
    cold_files::find,
    page_fault_heavy::find,
    memory,
    sync_writes::find,
    missing_file_lookups::find,
    rereading::find,
    startup_dominated::find,
    dynamic_linking::find,
    idle_cores::find,
    idle_processes::find,
    wakeup_storm::find,
    clocks,
    kernel_bound::find,
];

/// Findings of the first kind that are left out where one of the second is found: the second names
/// the cause, the first its effect.
const EXPLAINED_BY: &[(FindingId, &[FindingId])] = &[
    (FindingId::WaitingForNetwork, &[FindingId::DelayedAckStall]),
    (
        FindingId::IdleCores,
        &[FindingId::LockContention, FindingId::WakeupStorm],
    ),
    (
        FindingId::WakeupStorm,
        &[
            FindingId::LockContention,
            FindingId::CpuStarved,
            FindingId::ThreadSpawning,
        ],
    ),
    (FindingId::PageFaultHeavy, &[FindingId::AllocatorChurn]),
    (
        FindingId::WaitingForChild,
        &[FindingId::ProcessSpawning, FindingId::IdleCores],
    ),
    (FindingId::DynamicLinking, &[FindingId::ProcessSpawning]),
    (
        FindingId::StartupDominated,
        &[
            FindingId::DynamicLinking,
            FindingId::MissingFileLookups,
            FindingId::ProcessSpawning,
        ],
    ),
    (
        FindingId::AllocatorChurn,
        &[FindingId::ProcessSpawning, FindingId::ThreadSpawning],
    ),
    // Memory for what is read again is a part of the work on it.
    (
        FindingId::PageFaultHeavy,
        &[FindingId::ProcessSpawning, FindingId::Rereading],
    ),
    (
        FindingId::SmallFileIo,
        &[FindingId::Rereading, FindingId::ProcessSpawning],
    ),
    (FindingId::UnbufferedInput, &[FindingId::Rereading]),
    // What is waited for is each of the files.
    (FindingId::WaitingForDisk, &[FindingId::SmallFileIo]),
    (FindingId::LineBufferedOutput, &[FindingId::ProcessSpawning]),
    (
        FindingId::Sleeping,
        &[FindingId::DelayedAckStall, FindingId::WakeupStorm],
    ),
    // Java's threads that await processes wait for each other too.
    (
        FindingId::LockContention,
        &[
            FindingId::CpuStarved,
            FindingId::ProcessSpawning,
            FindingId::ThreadSpawning,
        ],
    ),
    (
        FindingId::IdleCores,
        &[FindingId::BusyPolling, FindingId::CpuStarved],
    ),
    // Who hands over to another thread looks for it for a while before it sleeps.
    (FindingId::BusyPolling, &[FindingId::WakeupStorm]),
];

/// The ways in which a lock is contended, of which one is reported: what was seen of mutexes goes
/// first, then where whoever holds it is asleep.
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
    let fought = futex_thrashing::find(analysis);
    let costs_more = |fought: &Finding| fought.could_win_ns > queued.could_win_ns;
    Some(fought.filter(costs_more).unwrap_or(queued))
}

/// Asking again and again, by calls or by reads of memory.
fn polls(analysis: &Analysis<'_>) -> Option<Finding> {
    busy_polling::find(analysis).or_else(|| spinning::find(analysis))
}

/// Memory that is taken and given back, by calls or within the program.
fn memory(analysis: &Analysis<'_>) -> Option<Finding> {
    allocator_churn::find(analysis).or_else(|| allocation::find(analysis))
}

/// Clocks that are read, by calls or without.
fn clocks(analysis: &Analysis<'_>) -> Option<Finding> {
    clock_calls::find(analysis).or_else(|| clock_reads::find(analysis))
}

/// All findings, the largest first.
pub(crate) fn all(analysis: &Analysis<'_>) -> Vec<Finding> {
    let mut found: Vec<Finding> = RULES.iter().filter_map(|rule| rule(analysis)).collect();
    found = explained_by(named_for_locks(named_for_linking(found)));
    found.sort_by(|a, b| (b.rank_ns(), a.id).cmp(&(a.rank_ns(), b.id)));
    found = kernel_bound::unless_explained(found);
    if found.is_empty() {
        found.extend(cpu_starved::by_others(analysis));
    }
    found
}

/// Short processes that spend half of their time on finding and binding libraries are named for
/// that.
fn named_for_linking(mut found: Vec<Finding>) -> Vec<Finding> {
    let of = |id: FindingId| found.iter().find(|f| f.id == id).map(Finding::rank_ns);
    if let (Some(linking), Some(spawning)) = (
        of(FindingId::DynamicLinking),
        of(FindingId::ProcessSpawning),
    ) && linking * 2 >= spawning
    {
        found.retain(|finding| finding.id != FindingId::ProcessSpawning);
    }
    found
}

/// More busy threads than CPUs finish the whole perhaps no later than as many would. If a lock
/// costs a good part of what each of them waits, it is what makes them slow, and without it they
/// are not too many.
fn named_for_locks(mut found: Vec<Finding>) -> Vec<Finding> {
    let lock = found.iter().find(|f| f.id == FindingId::LockContention);
    if let Some(lock) = lock.map(|lock| lock.could_win_ns) {
        let only_later =
            |f: &Finding| f.id == FindingId::CpuStarved && f.could_win_ns < f.could_win_latency_ns;
        found.retain(|f| !only_later(f) || lock * least_times(f.id) < f.rank_ns());
    }
    found
}

/// The cause must be of this part of the effect's size. Who finds a lock taken and who is woken to
/// find it are counted separately, so that the lock shows less of itself.
fn least_times(effect: FindingId) -> u64 {
    match effect {
        FindingId::WakeupStorm => 4,
        // It holds these waits, if they are of its files.
        FindingId::WaitingForDisk => 1,
        _ => 3,
    }
}

fn is_of_file(finding: &Finding) -> bool {
    let path = finding.place.path.as_deref();
    finding.place.fd != Some(0) && path.is_some_and(|path| path.starts_with('/'))
}

fn explained_by(found: Vec<Finding>) -> Vec<Finding> {
    let win = |id: FindingId| found.iter().find(|f| f.id == id).map(Finding::rank_ns);
    // A small cause doesn't hide a large effect.
    let is_explained = |finding: &Finding| {
        // What comes by a pipe isn't what is read again from a file.
        let comes = finding.id == FindingId::UnbufferedInput && !is_of_file(finding);
        !comes
            && EXPLAINED_BY.iter().any(|(effect, causes)| {
                *effect == finding.id
                    && causes
                        .iter()
                        .filter_map(|id| win(*id))
                        .any(|ns| ns * least_times(finding.id) >= finding.rank_ns())
            })
    };
    found
        .iter()
        .filter(|finding| !is_explained(finding))
        .cloned()
        .collect()
}
