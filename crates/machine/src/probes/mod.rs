//! The probes: one file each, each measuring one thing.

pub mod core_clock;
pub mod load_latency;
pub mod noise;
pub mod read_bandwidth;
pub mod spawn;
pub mod system_call;
pub mod timer;
