//! Which stretches of the timeline a finding is about.

use fathom_model::{FindingId, Spent};

/// The parts in which the time of a finding lies; empty where it is about a whole life.
pub(super) fn parts(id: FindingId) -> &'static [Spent] {
    match id {
        FindingId::UnbufferedInput
        | FindingId::UnbufferedOutput
        | FindingId::LineBufferedOutput
        | FindingId::SmallFileIo
        | FindingId::Rereading => &[Spent::KernelIo],
        FindingId::WaitingForInput => &[Spent::WaitingForInput],
        FindingId::WaitingForOutput => &[Spent::WaitingForOutput],
        FindingId::WaitingForDisk | FindingId::ColdFiles => &[Spent::Disk],
        FindingId::SyncWrites => &[Spent::Disk, Spent::KernelIo],
        FindingId::WaitingForNetwork | FindingId::DelayedAckStall => &[Spent::Network],
        FindingId::LockContention => &[Spent::Locks],
        FindingId::WaitingForChild => &[Spent::WaitingForChild],
        FindingId::ProcessSpawning => &[Spent::KernelProcesses],
        FindingId::Sleeping => &[Spent::Sleeping],
        FindingId::BusyPolling | FindingId::ClockCalls => &[Spent::KernelWaiting],
        FindingId::CpuStarved => &[Spent::Ready, Spent::Stolen],
        FindingId::PageFaultHeavy => &[Spent::PageFaults],
        FindingId::AllocatorChurn => &[Spent::KernelMemory, Spent::PageFaults],
        FindingId::MissingFileLookups => &[Spent::KernelFiles],
        FindingId::DynamicLinking => &[Spent::KernelFiles, Spent::KernelMemory, Spent::PageFaults],
        FindingId::IdleCores => &[Spent::UserCode],
        FindingId::WakeupStorm => &[
            Spent::KernelWaiting,
            Spent::KernelIo,
            Spent::WaitingForPipe,
            Spent::Locks,
        ],
        FindingId::KernelBound => &Spent::IN_KERNEL,
        FindingId::StartupDominated | FindingId::ThreadSpawning => &[],
    }
}
