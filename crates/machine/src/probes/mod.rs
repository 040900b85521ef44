//! The probes: one file each, each measuring one thing.

pub mod address_cache;
pub mod bandwidth;
pub mod branches;
pub mod cache_levels;
pub mod cache_line;
pub mod chains;
pub mod common_window;
pub mod core_clock;
pub mod core_to_core;
pub mod energy;
pub mod files;
pub mod hand_over;
pub mod hypervisor;
pub mod line_distance;
pub mod line_sharing;
pub mod line_slots;
pub mod load_latency;
pub mod nodes;
pub mod noise;
pub mod page_fault;
pub mod parallelism;
pub mod read_bandwidth;
pub mod spawn;
pub mod system_call;
pub mod throughput;
pub mod timer;
