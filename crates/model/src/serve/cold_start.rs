//! Launches of a server, from its start to its first answer.

use serde::{Deserialize, Serialize};

use crate::Estimate;

/// The distribution of one quantity over launches.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Spread {
    /// The smallest.
    pub min: f64,
    /// Median.
    pub p50: f64,
    /// 90th percentile.
    pub p90: f64,
    /// 95th percentile; absent with fewer than 20 launches.
    pub p95: Option<f64>,
    /// 99th percentile; absent with fewer than 100 launches.
    pub p99: Option<f64>,
    /// The largest.
    pub max: f64,
}

/// Why a launch took longer than the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum SlowLaunch {
    /// It waited for a CPU.
    WaitedForCpu,
    /// It read from the storage device.
    WaitedForDisk,
    /// It used more CPU time.
    WorkedLonger,
    /// It slept longer, for another reason.
    Other,
}

/// How it was seen that a server listens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ListeningBy {
    /// The kernel held the call of `listen` for Fathom.
    Kernel,
    /// By asking again and again which sockets listen.
    Look,
}

/// One launch. Milliseconds from the call of `execve`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Launch {
    /// Place in the order of all launches, from 0.
    pub position: u32,
    /// The server's files were taken out of memory before.
    pub evicted: bool,
    /// Its program had been loaded.
    pub exec_ms: f64,
    /// It listened; absent where it was never seen to.
    pub listening_ms: Option<f64>,
    /// How that was seen.
    pub listening_by: Option<ListeningBy>,
    /// It may have been earlier by this much, microseconds: the time since the look before.
    pub listening_uncertainty_us: Option<f64>,
    /// The kernel had accepted a connection.
    pub accepted_ms: f64,
    /// TLS was agreed on; absent without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secured_ms: Option<f64>,
    /// The first byte of the first good answer had come.
    pub first_byte_ms: f64,
    /// The first good answer had come whole.
    pub ready_ms: f64,
    /// CPU time of all its processes until then.
    pub cpu_ms: f64,
    /// Time that its threads were ready to run and had no CPU.
    pub run_queue_wait_ms: f64,
    /// Bytes fetched from the storage device.
    pub read_bytes: u64,
    /// Page faults that had to read from the storage device.
    pub major_faults: u64,
    /// Answers before the first good one.
    pub answers_before: u32,
    /// From SIGTERM until nothing of it was left.
    pub stop_ms: f64,
    /// Processes that had to be killed.
    pub killed: u32,
    /// Why it took longer than the others, if it did.
    pub slow: Option<SlowLaunch>,
}

/// How long a server takes from its launch to its first answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ColdStart {
    /// Launches.
    pub launches: usize,
    /// To the end of `execve`.
    pub exec_ms: Spread,
    /// To listening; absent where it was never seen to.
    pub listening_ms: Option<Spread>,
    /// How that was seen, in most launches.
    pub listening_by: Option<ListeningBy>,
    /// Largest uncertainty of that, in microseconds; 0 where the kernel said so.
    pub listening_uncertainty_us: Option<f64>,
    /// To a connection that the kernel accepted.
    pub accepted_ms: Spread,
    /// To TLS that was agreed on; absent without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secured_ms: Option<Spread>,
    /// To the first byte of the first good answer.
    pub first_byte_ms: Spread,
    /// To the whole of it.
    pub ready_ms: Spread,
    /// The median of that with its interval.
    pub ready_median_ms: Estimate,
    /// CPU time until then.
    pub cpu_ms: Spread,
    /// From SIGTERM until nothing was left.
    pub stop_ms: Spread,
    /// Launches that were slow because they waited for a CPU.
    pub waited_for_cpu: usize,
    /// Because they waited for a disk.
    pub waited_for_disk: usize,
    /// Because they used more CPU time.
    pub worked_longer: usize,
    /// For another reason.
    pub slow_otherwise: usize,
    /// Every launch.
    pub runs: Vec<Launch>,
}
