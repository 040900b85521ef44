//! Which stretches of the timeline a finding is about.

use fathom_model::{FindingId, TimeCategory};

/// The parts in which the time of a finding lies; empty where it is about a whole life.
pub(super) fn parts(id: FindingId) -> &'static [TimeCategory] {
    match id {
        FindingId::UnbufferedInput
        | FindingId::UnbufferedOutput
        | FindingId::LineBufferedOutput
        | FindingId::SmallFileIo
        | FindingId::Rereading => &[TimeCategory::KernelIo],
        FindingId::WaitingForInput => &[TimeCategory::WaitingForInput],
        FindingId::WaitingForOutput => &[TimeCategory::WaitingForOutput],
        FindingId::WaitingForDisk | FindingId::ColdFiles => &[TimeCategory::Disk],
        FindingId::SyncWrites => &[TimeCategory::Disk, TimeCategory::KernelIo],
        FindingId::WaitingForNetwork | FindingId::DelayedAckStall => &[TimeCategory::Network],
        FindingId::LockContention => &[TimeCategory::Locks],
        FindingId::WaitingForChild => &[TimeCategory::WaitingForChild],
        FindingId::ProcessSpawning => &[TimeCategory::KernelProcesses],
        FindingId::Sleeping => &[TimeCategory::Sleeping],
        FindingId::BusyPolling | FindingId::ClockCalls => &[TimeCategory::KernelWaiting],
        FindingId::CpuStarved => &[
            TimeCategory::Ready,
            TimeCategory::Throttled,
            TimeCategory::Stolen,
        ],
        FindingId::PageFaultHeavy => &[TimeCategory::PageFaults],
        FindingId::AllocatorChurn => &[TimeCategory::KernelMemory, TimeCategory::PageFaults],
        FindingId::MissingFileLookups => &[TimeCategory::KernelFiles],
        FindingId::DynamicLinking => &[
            TimeCategory::KernelFiles,
            TimeCategory::KernelMemory,
            TimeCategory::PageFaults,
        ],
        FindingId::IdleCores => &[TimeCategory::UserCode],
        FindingId::WakeupStorm => &[
            TimeCategory::KernelWaiting,
            TimeCategory::KernelIo,
            TimeCategory::WaitingForPipe,
            TimeCategory::Locks,
        ],
        FindingId::KernelBound => &TimeCategory::IN_KERNEL,
        FindingId::StartupDominated | FindingId::ThreadSpawning => &[],
    }
}
