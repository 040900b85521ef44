//! The causes that can be named.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::TimeCategory;

macro_rules! finding_ids {
    ($($id:ident = $text:literal in [$($part:ident),*]: $sentence:literal,)*) => {
        /// The cause that a finding names. `docs/findings.md` describes the evidence for each.
        #[derive(
            Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
        )]
        #[cfg_attr(test, derive(schemars::JsonSchema))]
        #[serde(rename_all = "kebab-case")]
        pub enum FindingId {
            $(#[doc = $sentence] $id,)*
        }

        impl FindingId {
            /// All causes, ordered by their texts.
            pub const ALL: &[FindingId] = &[$(FindingId::$id,)*];

            /// Returns the id used in records and output, such as `unbuffered-output`.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(FindingId::$id => $text,)*
                }
            }

            /// Describes the situation in a sentence or two.
            pub const fn sentence(self) -> &'static str {
                match self {
                    $(FindingId::$id => $sentence,)*
                }
            }

            /// Returns the parts of the account that contain most of the cause's time, most likely first;
            /// empty if the cause is about the whole life of a process or thread.
            pub const fn lies_in(self) -> &'static [TimeCategory] {
                match self {
                    $(FindingId::$id => &[$(TimeCategory::$part),*],)*
                }
            }
        }
    };
}

finding_ids! {
    AllocatorChurn = "allocator-churn" in [KernelMemory, PageFaults]:
        "Memory is repeatedly requested from the system and returned to it, or objects are repeatedly allocated and \
         freed within the program.",
    BusyPolling = "busy-polling" in [KernelWaiting]:
        "A loop keeps polling instead of waiting.",
    ClockCalls = "clock-calls" in [KernelWaiting]:
        "The program reads the time with system calls, or without them but so often that the cost matters.",
    ColdFiles = "cold-files" in [Disk]:
        "Mapped files and programs are read from the disk.",
    CpuStarved = "cpu-starved" in [Ready, Throttled, Stolen]:
        "The command has more busy threads than there are CPUs.",
    DelayedAckStall = "delayed-ack-stall" in [Network]:
        "A small write waits until the other side acknowledges the previous one.",
    DynamicLinking = "dynamic-linking" in [KernelFiles, KernelMemory, PageFaults]:
        "Finding and linking shared libraries takes a long time.",
    GrowingWork = "growing-work" in [UserCode]:
        "Each piece of the input takes longer than the one before.",
    IdleCores = "idle-cores" in [UserCode]:
        "Threads that share work use only one CPU, or one of several processes does all of the work.",
    KernelBound = "kernel-bound" in [KernelIo, KernelFiles, KernelMemory, KernelProcesses, KernelWaiting, KernelOther,
        PageFaults, KernelOutside, Kernel]:
        "One call dominates the time, and no other finding fits.",
    LibraryWork = "library-work" in [UserCode]:
        "The program mostly does one kind of library work that it could avoid, such as exceptions, copies or reflection.",
    LineBufferedOutput = "line-buffered-output" in [KernelIo]:
        "Output that goes to a file or pipe is written line by line.",
    LockContention = "lock-contention" in [Locks]:
        "Threads queue or spin for a lock, or processes wait for a lock on a file or in shared memory.",
    MissingFileLookups = "missing-file-lookups" in [KernelFiles]:
        "Paths that don't exist are looked up.",
    PageFaultHeavy = "page-fault-heavy" in [PageFaults]:
        "A lot of memory is touched for the first time.",
    ProcessSpawning = "process-spawning" in [KernelProcesses]:
        "Many short-lived processes are created.",
    Rereading = "rereading" in [KernelIo]:
        "Files are read, or folders are listed, again and again.",
    Rewriting = "rewriting" in [KernelIo, KernelFiles]:
        "A whole file is rewritten for each change.",
    SerialRequests = "serial-requests" in []:
        "One thread handles the requests of several clients one after another.",
    Sleeping = "sleeping" in [Sleeping]:
        "The program sleeps deliberately.",
    SmallFileIo = "small-file-io" in [KernelIo]:
        "A file is accessed at random or opened again for each record, or many files are tiny.",
    StartupDominated = "startup-dominated" in []:
        "Loading code takes at least as long as the work itself, or other programs run before the real one.",
    SyncWrites = "sync-writes" in [Disk, KernelIo]:
        "Each of many writes waits until its data is on the disk.",
    ThreadSpawning = "thread-spawning" in []:
        "A thread is created for each small piece of work.",
    UnbufferedInput = "unbuffered-input" in [KernelIo]:
        "A stream, or a file from start to end, is read a few bytes per call.",
    UnbufferedOutput = "unbuffered-output" in [KernelIo]:
        "Standard output or error, or a file, is written in pieces smaller than a line.",
    UnoptimisedBuild = "unoptimised-build" in [UserCode]:
        "The code that takes much of the time was compiled without optimisation, or with run-time error checks.",
    WaitingForChild = "waiting-for-child" in [WaitingForChild]:
        "Child processes that could run in parallel run one after another, or a process that should exit has to be \
         killed.",
    WaitingForDisk = "waiting-for-disk" in [Disk]:
        "Calls wait for the storage device.",
    WaitingForInput = "waiting-for-input" in [WaitingForInput]:
        "The command waits for a slower program that writes its standard input or a named pipe.",
    WaitingForNetwork = "waiting-for-network" in [Network]:
        "Replies take long, or a connection is made for every few requests.",
    WaitingForOutput = "waiting-for-output" in [WaitingForOutput]:
        "The command waits for a slower program that reads its standard output, a named pipe or a socket on this \
         machine.",
    WakeupStorm = "wakeup-storm" in [KernelWaiting, KernelIo, WaitingForPipe, Locks]:
        "Threads or processes spend more time waking each other than working.",
}

impl fmt::Display for FindingId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// The error if no finding has this id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownFinding(pub String);

impl fmt::Display for UnknownFinding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no finding is named `{}`", self.0)
    }
}

impl std::error::Error for UnknownFinding {}

impl FromStr for FindingId {
    type Err = UnknownFinding;

    fn from_str(text: &str) -> Result<FindingId, UnknownFinding> {
        let mut all = FindingId::ALL.iter().copied();
        let found = all.find(|id| id.as_str() == text);
        found.ok_or_else(|| UnknownFinding(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_written_and_read_as_its_text() {
        for id in FindingId::ALL.iter().copied() {
            let json = serde_json::to_string(&id).expect("an id is JSON");
            assert_eq!(json, format!("\"{id}\""));
            assert_eq!(serde_json::from_str::<FindingId>(&json).ok(), Some(id));
            assert_eq!(id.to_string().parse(), Ok(id));
        }
        assert!("unbuffered".parse::<FindingId>().is_err());
        assert!(
            FindingId::ALL.is_sorted_by_key(|id| id.as_str()),
            "ids are ordered as their texts"
        );
    }
}
