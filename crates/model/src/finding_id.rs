//! Which causes can be named?

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::TimeCategory;

macro_rules! finding_ids {
    ($($id:ident = $text:literal: $sentence:literal,)*) => {
        /// The cause that a finding names. `docs/findings.md` says of each by what evidence it is
        /// found.
        #[derive(
            Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
        )]
        #[cfg_attr(test, derive(schemars::JsonSchema))]
        #[serde(rename_all = "kebab-case")]
        pub enum FindingId {
            $(#[doc = $sentence] $id,)*
        }

        impl FindingId {
            /// All of them, by their texts.
            pub const ALL: &[FindingId] = &[$(FindingId::$id,)*];

            /// As it stands in records and on screens, such as `unbuffered-output`.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(FindingId::$id => $text,)*
                }
            }

            /// What is so where it is found, in a sentence or two.
            pub const fn sentence(self) -> &'static str {
                match self {
                    $(FindingId::$id => $sentence,)*
                }
            }
        }
    };
}

finding_ids! {
    AllocatorChurn = "allocator-churn":
        "Memory goes to the system and back, or objects are made and thrown away within the program.",
    BusyPolling = "busy-polling":
        "A loop asks again and again.",
    ClockCalls = "clock-calls":
        "The time is asked for by real calls, or without them so often that it weighs.",
    ColdFiles = "cold-files":
        "Mapped files and programs come from the disk.",
    CpuStarved = "cpu-starved":
        "The command has more busy threads than there are CPUs.",
    DelayedAckStall = "delayed-ack-stall":
        "A small write waits until the other side acknowledges the one before it.",
    DynamicLinking = "dynamic-linking":
        "Finding and binding libraries takes long.",
    IdleCores = "idle-cores":
        "Threads that share work use one CPU; or one of several processes does all of it.",
    KernelBound = "kernel-bound":
        "One call rules the time and has no better name.",
    LineBufferedOutput = "line-buffered-output":
        "Output that nobody watches is written line by line.",
    LockContention = "lock-contention":
        "Threads queue for a lock or spin for one, or processes wait for one on a file or in shared memory.",
    MissingFileLookups = "missing-file-lookups":
        "Paths are asked for that aren't there.",
    PageFaultHeavy = "page-fault-heavy":
        "Much memory is touched for the first time.",
    ProcessSpawning = "process-spawning":
        "Many short processes are made.",
    Rereading = "rereading":
        "Files are read, or folders listed, again and again.",
    Sleeping = "sleeping":
        "The program pauses by its own wish.",
    SmallFileIo = "small-file-io":
        "A file is gone about, or opened anew, for a record a call; or many files are tiny.",
    StartupDominated = "startup-dominated":
        "Loading code takes about as long as the work, or longer; or other programs run before the real one.",
    SyncWrites = "sync-writes":
        "Each of many writes waits to be on the disk.",
    ThreadSpawning = "thread-spawning":
        "A thread is made for each small piece of work.",
    UnbufferedInput = "unbuffered-input":
        "A stream, or a file from its front to its end, is read a few bytes a call.",
    UnbufferedOutput = "unbuffered-output":
        "Standard output or error, or a file, is written in pieces of a line.",
    WaitingForChild = "waiting-for-child":
        "Children that could run side by side run in turn.",
    WaitingForDisk = "waiting-for-disk":
        "Calls wait for the storage device.",
    WaitingForInput = "waiting-for-input":
        "Whoever writes standard input, or a named pipe, is slower.",
    WaitingForNetwork = "waiting-for-network":
        "Replies take long.",
    WaitingForOutput = "waiting-for-output":
        "Whoever reads standard output, a named pipe or a socket on this machine is slower.",
    WakeupStorm = "wakeup-storm":
        "Threads or processes wake each other more than they work.",
}

impl FindingId {
    /// The parts of the account in which its time lies; empty where it is about a whole life.
    pub fn lies_in(self) -> &'static [TimeCategory] {
        use TimeCategory as Part;
        match self {
            FindingId::UnbufferedInput
            | FindingId::UnbufferedOutput
            | FindingId::LineBufferedOutput
            | FindingId::SmallFileIo
            | FindingId::Rereading => &[Part::KernelIo],
            FindingId::WaitingForInput => &[Part::WaitingForInput],
            FindingId::WaitingForOutput => &[Part::WaitingForOutput],
            FindingId::WaitingForDisk | FindingId::ColdFiles => &[Part::Disk],
            FindingId::SyncWrites => &[Part::Disk, Part::KernelIo],
            FindingId::WaitingForNetwork | FindingId::DelayedAckStall => &[Part::Network],
            FindingId::LockContention => &[Part::Locks],
            FindingId::WaitingForChild => &[Part::WaitingForChild],
            FindingId::ProcessSpawning => &[Part::KernelProcesses],
            FindingId::Sleeping => &[Part::Sleeping],
            FindingId::BusyPolling | FindingId::ClockCalls => &[Part::KernelWaiting],
            FindingId::CpuStarved => &[Part::Ready, Part::Throttled, Part::Stolen],
            FindingId::PageFaultHeavy => &[Part::PageFaults],
            FindingId::AllocatorChurn => &[Part::KernelMemory, Part::PageFaults],
            FindingId::MissingFileLookups => &[Part::KernelFiles],
            FindingId::DynamicLinking => &[Part::KernelFiles, Part::KernelMemory, Part::PageFaults],
            FindingId::IdleCores => &[Part::UserCode],
            FindingId::WakeupStorm => &[
                Part::KernelWaiting,
                Part::KernelIo,
                Part::WaitingForPipe,
                Part::Locks,
            ],
            FindingId::KernelBound => &Part::IN_KERNEL,
            FindingId::StartupDominated | FindingId::ThreadSpawning => &[],
        }
    }
}

impl fmt::Display for FindingId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// No finding has this id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownFinding(pub String);

impl fmt::Display for UnknownFinding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no finding is called `{}`", self.0)
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
