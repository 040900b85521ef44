//! The fingerprint of machine and system that is kept with every measurement.

use serde::{Deserialize, Serialize};

/// Where a measurement was made. Fields that the system does not report are absent.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Environment {
    /// Operating system and kernel release.
    pub kernel: String,
    /// Processor architecture as the kernel names it.
    pub architecture: String,
    /// Processor model name.
    pub cpu_model: Option<String>,
    /// CPUs that this process may use.
    pub cpus: usize,
    /// Memory of the machine in bytes.
    pub memory_bytes: Option<u64>,
    /// Name of the machine.
    pub host: Option<String>,
    /// Frequency governor of CPU 0.
    pub governor: Option<String>,
    /// Whether the processor says that it runs under a hypervisor.
    pub virtual_machine: Option<bool>,
    /// One-minute load average at the start.
    pub load_average: Option<f64>,
    /// What the machine can do, measured; absent if no profile of it is remembered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fingerprint: Option<Fingerprint>,
}

/// What was measured of the machine itself: once as a profile, and in part again before this
/// measurement.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Fingerprint {
    /// Seconds between the profile and this measurement.
    pub measured_seconds_ago: u64,
    /// The quick profile, as it is remembered.
    pub profile: Vec<MachineFigure>,
    /// Five of the same probes right before this measurement; those without an answer are left out.
    pub canaries: Vec<MachineFigure>,
    /// Canaries without an answer: the machine was too busy for them, or lacks what they need.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub skipped: Vec<String>,
    /// Probes whose canary lies farther from the profile than on a machine that did not change.
    pub changed: Vec<String>,
}

/// One figure of the machine.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct MachineFigure {
    /// Name of the probe, such as `memory_latency`.
    pub id: String,
    /// The figure.
    pub value: f64,
    /// Its unit, such as `ns` or `GB/s`.
    pub unit: String,
}
