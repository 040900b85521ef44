//! Which causes can be named?

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::TimeCategory;

macro_rules! finding_ids {
    ($($(#[$doc:meta])* $id:ident = $text:literal,)*) => {
        /// The cause that a finding names. `docs/findings.md` says of each by what evidence it is
        /// found.
        #[derive(
            Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
        )]
        #[cfg_attr(test, derive(schemars::JsonSchema))]
        #[serde(rename_all = "kebab-case")]
        pub enum FindingId {
            $($(#[$doc])* $id,)*
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
        }
    };
}

finding_ids! {
    /// Memory goes to the system and back, or objects are made and thrown away within the program.
    AllocatorChurn = "allocator-churn",
    /// A loop asks again and again.
    BusyPolling = "busy-polling",
    /// The time is asked for by real calls, or without them so often that it weighs.
    ClockCalls = "clock-calls",
    /// Mapped files and programs come from the disk.
    ColdFiles = "cold-files",
    /// The command has more busy threads than there are CPUs.
    CpuStarved = "cpu-starved",
    /// A small write waits until the other side acknowledges the one before it.
    DelayedAckStall = "delayed-ack-stall",
    /// Finding and binding libraries takes long.
    DynamicLinking = "dynamic-linking",
    /// Threads that share work use one CPU, or one of several processes does all of it.
    IdleCores = "idle-cores",
    /// One call has most of the time, and no better name fits.
    KernelBound = "kernel-bound",
    /// Output that nobody watches is written line by line.
    LineBufferedOutput = "line-buffered-output",
    /// Threads queue for a lock, or spin for one.
    LockContention = "lock-contention",
    /// Paths are asked for that aren't there.
    MissingFileLookups = "missing-file-lookups",
    /// Much memory is touched for the first time.
    PageFaultHeavy = "page-fault-heavy",
    /// Many short processes are made.
    ProcessSpawning = "process-spawning",
    /// Files are read, or folders listed, again and again.
    Rereading = "rereading",
    /// The program pauses by its own wish.
    Sleeping = "sleeping",
    /// A file is gone about, or opened anew, for a record a call; or many files are tiny.
    SmallFileIo = "small-file-io",
    /// Loading code takes about as long as the work, or longer.
    StartupDominated = "startup-dominated",
    /// Each of many writes waits to be on the disk.
    SyncWrites = "sync-writes",
    /// A thread is made for each small piece of work.
    ThreadSpawning = "thread-spawning",
    /// A stream is read a few bytes a call.
    UnbufferedInput = "unbuffered-input",
    /// Output is written in pieces of a line.
    UnbufferedOutput = "unbuffered-output",
    /// Children that could run side by side run in turn.
    WaitingForChild = "waiting-for-child",
    /// Calls wait for the storage device.
    WaitingForDisk = "waiting-for-disk",
    /// Whoever writes standard input, or a named pipe, is slower.
    WaitingForInput = "waiting-for-input",
    /// Replies take long.
    WaitingForNetwork = "waiting-for-network",
    /// Whoever reads standard output, a named pipe or a socket on this machine is slower.
    WaitingForOutput = "waiting-for-output",
    /// Threads or processes wake each other more than they work.
    WakeupStorm = "wakeup-storm",
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

    #[test]
    fn each_id_is_documented() {
        let docs = include_str!("../../../docs/findings.md");
        for id in FindingId::ALL {
            let starts = [
                format!("| `{id}` |"),
                format!("## `{id}`"),
                format!("### `{id}`"),
            ];
            let is_entry = |line: &str| starts.iter().any(|start| line.starts_with(start.as_str()));
            assert!(
                docs.lines().any(is_entry),
                "docs/findings.md has no entry for {id}"
            );
        }
    }
}
