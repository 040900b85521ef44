//! The fingerprint of the machine and system that is stored with every measurement.

use serde::{Deserialize, Serialize};

/// The environment of a measurement. Fields that the system doesn't report are absent.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Environment {
    /// Operating system and kernel release.
    pub kernel: String,
    /// The processor architecture, as named by the kernel.
    pub architecture: String,
    /// Processor model name.
    pub cpu_model: Option<String>,
    /// The number of CPUs that this process may use.
    pub cpus: usize,
    /// The memory of the machine in bytes.
    pub memory_bytes: Option<u64>,
    /// Name of the machine.
    pub host: Option<String>,
    /// Frequency governor of CPU 0.
    pub governor: Option<String>,
    /// Whether the processor reports that it runs under a hypervisor.
    pub virtual_machine: Option<bool>,
    /// One-minute load average at the start.
    pub load_average: Option<f64>,
    /// The measured capabilities of the machine; absent if no profile of it is stored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fingerprint: Option<Fingerprint>,
}

/// Measurements of the machine itself: once as a profile, and partly repeated before this measurement.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Fingerprint {
    /// The number of seconds between the profile and this measurement.
    pub measured_seconds_ago: u64,
    /// The stored quick profile.
    pub profile: Vec<MachineFigure>,
    /// Five of the same probes right before this measurement; those without a result are omitted.
    pub canaries: Vec<MachineFigure>,
    /// Canaries without a result: the machine was too busy, or lacks something they need.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub skipped: Vec<String>,
    /// Probes whose canary differs from the profile by more than it does on an unchanged machine.
    pub changed: Vec<String>,
}

/// One figure of the machine.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct MachineFigure {
    /// The name of the probe, such as `memory_latency`.
    pub id: String,
    /// The figure.
    pub value: f64,
    /// The unit, such as `ns` or `GB/s`.
    pub unit: String,
}
