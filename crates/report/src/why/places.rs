//! Which stretches of the timeline a finding is about.

use fathom_model::Spent;

/// The parts in which the time of a finding lies; empty where it is about a whole life.
pub(super) fn parts(id: &str) -> &'static [Spent] {
    match id {
        "unbuffered-input"
        | "unbuffered-output"
        | "line-buffered-output"
        | "small-file-io"
        | "rereading" => &[Spent::KernelIo],
        "waiting-for-input" => &[Spent::WaitingForInput],
        "waiting-for-output" => &[Spent::WaitingForOutput],
        "waiting-for-disk" | "cold-files" => &[Spent::Disk],
        "sync-writes" => &[Spent::Disk, Spent::KernelIo],
        "waiting-for-network" | "delayed-ack-stall" => &[Spent::Network],
        "lock-contention" => &[Spent::Locks],
        "waiting-for-child" => &[Spent::WaitingForChild],
        "process-spawning" => &[Spent::KernelProcesses],
        "sleeping" => &[Spent::Sleeping],
        "busy-polling" | "clock-calls" => &[Spent::KernelWaiting],
        "cpu-starved" => &[Spent::Ready, Spent::Stolen],
        "page-fault-heavy" => &[Spent::PageFaults],
        "allocator-churn" => &[Spent::KernelMemory, Spent::PageFaults],
        "missing-file-lookups" => &[Spent::KernelFiles],
        "dynamic-linking" => &[Spent::KernelFiles, Spent::KernelMemory, Spent::PageFaults],
        "idle-cores" => &[Spent::UserCode],
        "wakeup-storm" => &[
            Spent::KernelWaiting,
            Spent::KernelIo,
            Spent::WaitingForPipe,
            Spent::Locks,
        ],
        "kernel-bound" => &Spent::IN_KERNEL,
        _ => &[],
    }
}
