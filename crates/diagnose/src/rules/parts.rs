//! From which parts of the account can the time of a finding come?

use fathom_model::{Finding, FindingId as Id, TimeAccount, TimeCategory as Part};

/// Calls that move bytes or map them, with the library around them, the files that they are of, and
/// what they make the disk do.
const OF_BYTES: &[Part] = &[
    Part::KernelIo,
    Part::KernelFiles,
    Part::KernelMemory,
    Part::UserCode,
    Part::PageFaults,
    Part::Disk,
];

/// `None`: from all of them, as what is about the whole of a process or about several.
fn parts(id: Id) -> Option<&'static [Part]> {
    Some(match id {
        Id::UnbufferedInput
        | Id::UnbufferedOutput
        | Id::LineBufferedOutput
        | Id::SmallFileIo
        | Id::Rereading
        | Id::SyncWrites => OF_BYTES,
        Id::WaitingForInput => &[Part::WaitingForInput],
        Id::WaitingForOutput => &[Part::WaitingForOutput],
        // The CPU time of fetching is where the fault was.
        Id::WaitingForDisk | Id::ColdFiles => OF_BYTES,
        Id::WaitingForNetwork | Id::DelayedAckStall => &[Part::Network],
        Id::Sleeping => &[Part::Sleeping],
        // Faults that nobody timed are in the own code.
        Id::PageFaultHeavy => &[Part::PageFaults, Part::KernelMemory, Part::UserCode],
        Id::AllocatorChurn => &[Part::KernelMemory, Part::PageFaults, Part::UserCode],
        Id::MissingFileLookups => &[Part::KernelFiles, Part::KernelIo, Part::UserCode],
        Id::ClockCalls => &[Part::KernelWaiting, Part::KernelOther, Part::UserCode],
        // What is around its calls is own code.
        Id::KernelBound
        | Id::LockContention
        | Id::WakeupStorm
        | Id::IdleCores
        | Id::CpuStarved
        | Id::BusyPolling
        | Id::WaitingForChild
        | Id::ProcessSpawning
        | Id::ThreadSpawning
        | Id::StartupDominated
        | Id::DynamicLinking => return None,
    })
}

/// What the account has of the parts that a finding can come from, ns. Where the kernel's time
/// isn't split, all of it.
fn most_ns(account: &TimeAccount, id: Id) -> u64 {
    let Some(parts) = parts(id) else {
        return account.wall_ns;
    };
    let own = parts.iter().map(|part| account.ns(*part)).sum::<u64>();
    let any_in_kernel = parts.iter().any(|part| part.is_in_kernel());
    match any_in_kernel {
        true => own + account.ns(Part::Kernel),
        false => own,
    }
}

/// The finding with no more than its parts of the account have. What saves CPU time beside the
/// critical path isn't in the account.
pub(super) fn within_parts(account: &TimeAccount, mut finding: Finding) -> Finding {
    let most = most_ns(account, finding.id);
    finding.could_win_ns = finding.could_win_ns.min(most);
    if finding.could_win_cpu_ns == 0 && finding.could_win_latency_ns == 0 {
        let share = most as f64 / account.wall_ns.max(1) as f64;
        finding.share = finding.share.min(share);
    }
    finding
}
