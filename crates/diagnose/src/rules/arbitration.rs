//! Of findings that see the same time from two sides, which is reported?

use fathom_model::{Finding, FindingId as Id};

/// Findings of the first kind that are left out where one of the second is found: the second names
/// the cause, the first its effect.
const EXPLAINED_BY: &[(Id, &[Id])] = &[
    (Id::WaitingForNetwork, &[Id::DelayedAckStall]),
    (Id::IdleCores, &[Id::LockContention, Id::WakeupStorm]),
    (
        Id::WakeupStorm,
        &[Id::LockContention, Id::CpuStarved, Id::ThreadSpawning],
    ),
    (Id::PageFaultHeavy, &[Id::AllocatorChurn]),
    (
        Id::WaitingForChild,
        &[Id::ProcessSpawning, Id::IdleCores, Id::StartupDominated],
    ),
    (Id::DynamicLinking, &[Id::ProcessSpawning]),
    (
        Id::StartupDominated,
        &[
            Id::DynamicLinking,
            Id::MissingFileLookups,
            Id::ProcessSpawning,
        ],
    ),
    (
        Id::AllocatorChurn,
        &[Id::ProcessSpawning, Id::ThreadSpawning],
    ),
    // Memory for what is read again is a part of the work on it.
    (Id::PageFaultHeavy, &[Id::ProcessSpawning, Id::Rereading]),
    (Id::SmallFileIo, &[Id::Rereading, Id::ProcessSpawning]),
    (Id::UnbufferedInput, &[Id::Rereading]),
    // What is waited for is each of the files.
    (Id::WaitingForDisk, &[Id::SmallFileIo]),
    (Id::LineBufferedOutput, &[Id::ProcessSpawning]),
    (Id::Sleeping, &[Id::DelayedAckStall, Id::WakeupStorm]),
    // Java's threads that await processes wait for each other too.
    (
        Id::LockContention,
        &[Id::CpuStarved, Id::ProcessSpawning, Id::ThreadSpawning],
    ),
    (Id::IdleCores, &[Id::BusyPolling, Id::CpuStarved]),
    // Who hands over to another thread looks for it for a while before it sleeps.
    (Id::BusyPolling, &[Id::WakeupStorm]),
];

/// The findings that are reported, the largest first.
pub(super) fn arbitrate(found: Vec<Finding>) -> Vec<Finding> {
    let mut found = explained_by(named_for_locks(named_for_linking(found)));
    found.sort_by(|a, b| (b.rank_ns(), a.id).cmp(&(a.rank_ns(), b.id)));
    unless_explained(found)
}

/// Short processes that spend half of their time on finding and binding libraries are named for
/// that.
fn named_for_linking(mut found: Vec<Finding>) -> Vec<Finding> {
    let of = |id: Id| found.iter().find(|f| f.id == id).map(Finding::rank_ns);
    if let (Some(linking), Some(spawning)) = (of(Id::DynamicLinking), of(Id::ProcessSpawning))
        && linking * 2 >= spawning
    {
        found.retain(|finding| finding.id != Id::ProcessSpawning);
    }
    found
}

/// More busy threads than CPUs finish the whole perhaps no later than as many would. If a lock
/// costs a good part of what each of them waits, it is what makes them slow, and without it they
/// are not too many.
fn named_for_locks(mut found: Vec<Finding>) -> Vec<Finding> {
    let lock = found.iter().find(|f| f.id == Id::LockContention);
    if let Some(lock) = lock.map(|lock| lock.could_win_ns) {
        let only_later =
            |f: &Finding| f.id == Id::CpuStarved && f.could_win_ns < f.could_win_latency_ns;
        found.retain(|f| !only_later(f) || lock * least_times(f.id) < f.rank_ns());
    }
    found
}

/// The cause must be of this part of the effect's size. Who finds a lock taken and who is woken to
/// find it are counted separately, so that the lock shows less of itself.
fn least_times(effect: Id) -> u64 {
    match effect {
        Id::WakeupStorm => 4,
        // It holds these waits, if they are of its files.
        Id::WaitingForDisk => 1,
        _ => 3,
    }
}

fn is_of_file(finding: &Finding) -> bool {
    let path = finding.place.path.as_deref();
    finding.place.fd != Some(0) && path.is_some_and(|path| path.starts_with('/'))
}

fn explained_by(found: Vec<Finding>) -> Vec<Finding> {
    let rank = |id: Id| found.iter().find(|f| f.id == id).map(Finding::rank_ns);
    // A small cause doesn't hide a large effect.
    let is_explained = |finding: &Finding| {
        // What comes by a pipe isn't what is read again from a file.
        let comes = finding.id == Id::UnbufferedInput && !is_of_file(finding);
        !comes
            && EXPLAINED_BY.iter().any(|(effect, causes)| {
                *effect == finding.id
                    && causes
                        .iter()
                        .filter_map(|id| rank(*id))
                        .any(|ns| ns * least_times(finding.id) >= finding.rank_ns())
            })
    };
    found
        .iter()
        .filter(|finding| !is_explained(finding))
        .cloned()
        .collect()
}

/// The finding of last resort goes where another explains half as much.
fn unless_explained(found: Vec<Finding>) -> Vec<Finding> {
    let Some(own) = found
        .iter()
        .find(|f| f.id == Id::KernelBound)
        .map(|f| f.could_win_ns)
    else {
        return found;
    };
    let least = |id: Id| match id {
        // What the kernel does to wake threads is in the calls, and not in the waits.
        Id::WakeupStorm | Id::LockContention => 4,
        // To do it side by side makes it no less.
        Id::WaitingForChild | Id::IdleCores => 1,
        _ => 2,
    };
    let explained = found
        .iter()
        .any(|f| f.id != Id::KernelBound && f.rank_ns() * least(f.id) >= own);
    found
        .into_iter()
        .filter(|f| !(explained && f.id == Id::KernelBound))
        .collect()
}
