//! Launches of a server, from its start to its first answer.

use serde::{Deserialize, Serialize};

use crate::Estimate;

/// The distribution of one quantity over launches.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Spread {
    /// The minimum.
    pub min: f64,
    /// Median.
    pub p50: f64,
    /// 90th percentile.
    pub p90: f64,
    /// 95th percentile; absent with fewer than 20 launches.
    pub p95: Option<f64>,
    /// 99th percentile; absent with fewer than 100 launches.
    pub p99: Option<f64>,
    /// The maximum.
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

/// How the listening of a server was detected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ListeningBy {
    /// The kernel held the call of `listen` for Fathom.
    Kernel,
    /// By repeatedly scanning the listening sockets.
    Look,
}

/// One launch. Times are in milliseconds from the call of `execve`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Launch {
    /// The position in the order of all launches, from 0.
    pub position: u32,
    /// Whether the server's files were evicted from memory before.
    pub evicted: bool,
    /// When its program was loaded.
    pub exec_ms: f64,
    /// When it listened; absent if that was never detected.
    pub listening_ms: Option<f64>,
    /// How the listening was detected.
    pub listening_by: Option<ListeningBy>,
    /// How much earlier it may have listened, in microseconds: the time since the previous scan.
    pub listening_uncertainty_us: Option<f64>,
    /// When the kernel accepted a connection.
    pub accepted_ms: f64,
    /// When the TLS handshake was complete; absent without TLS.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secured_ms: Option<f64>,
    /// When the first byte of the first good answer arrived.
    pub first_byte_ms: f64,
    /// When the first good answer was complete.
    pub ready_ms: f64,
    /// The CPU time of all its processes until the first good answer.
    pub cpu_ms: f64,
    /// The time that its threads were ready to run and had no CPU.
    pub run_queue_wait_ms: f64,
    /// Bytes fetched from the storage device.
    pub read_bytes: u64,
    /// The number of page faults that had to read from the storage device.
    pub major_faults: u64,
    /// The number of answers before the first good one.
    pub answers_before: u32,
    /// The time from SIGTERM until no process of the server was left.
    pub stop_ms: f64,
    /// The number of processes that had to be killed.
    pub killed: u32,
    /// Why it took longer than the others, if it did.
    pub slow: Option<SlowLaunch>,
}

/// How long a server takes from its launch to its first answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ColdStart {
    /// The number of launches.
    pub launches: usize,
    /// The time to the end of `execve`.
    pub exec_ms: Spread,
    /// The time to listening; absent if that was never detected.
    pub listening_ms: Option<Spread>,
    /// How the listening was detected in most launches.
    pub listening_by: Option<ListeningBy>,
    /// The largest uncertainty of the time to listening, in microseconds; 0 if the kernel reported it.
    pub listening_uncertainty_us: Option<f64>,
    /// The time to a connection that the kernel accepted.
    pub accepted_ms: Spread,
    /// The time to a complete TLS handshake; absent without TLS.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secured_ms: Option<Spread>,
    /// The time to the first byte of the first good answer.
    pub first_byte_ms: Spread,
    /// The time to the complete first good answer.
    pub ready_ms: Spread,
    /// The median of `ready_ms` with its interval.
    pub ready_median_ms: Estimate,
    /// The CPU time until the first good answer.
    pub cpu_ms: Spread,
    /// The time from SIGTERM until no process was left.
    pub stop_ms: Spread,
    /// The number of launches that were slow because they waited for a CPU.
    pub waited_for_cpu: usize,
    /// The number of launches that were slow because they waited for a disk.
    pub waited_for_disk: usize,
    /// The number of launches that were slow because they used more CPU time.
    pub worked_longer: usize,
    /// The number of launches that were slow for another reason.
    pub slow_otherwise: usize,
    /// Every launch.
    pub runs: Vec<Launch>,
}
