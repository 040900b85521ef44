//! The fingerprint of machine and system that is kept with every measurement.

use serde::{Deserialize, Serialize};

/// Where a measurement was made. Fields that the system does not tell are absent.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
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
}
