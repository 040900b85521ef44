//! What this machine can do at most, and whether it is quiet enough to measure on.

mod affinity;
mod beside;
mod best;
mod chase;
mod check;
mod context;
mod core_width;
#[cfg(test)]
mod damaged;
mod deadline;
mod environment;
mod fingerprint;
mod gate;
mod glance;
mod groups;
mod kernels;
mod mapping;
mod mounts;
#[cfg(test)]
#[path = "../../model/tests/mutated/mod.rs"]
mod mutated;
mod probes;
pub mod remembered;
mod reported;
mod result;
mod ruler;
mod samples;
mod suite;
mod track;
pub mod tune;
mod visits;
mod work;

pub use affinity::allowed_cpus;
pub use best::BestFigures;
pub use check::{AgainstItself, as_remembered, check, disturbance};
pub use context::available_memory;
pub use core_width::cycles_per_addition;
pub use environment::environment;
pub use fathom_model::{CheckReport, Fitness, ProbeResult, SelfComparison};
pub use glance::{call_seconds, entry_32_seconds, lookup_seconds, simplest_call_seconds};
pub use reported::{ReportedCache, caches as reported_caches};
pub use result::Heading;
pub use suite::{Canaries, Options, Progress, canaries, everything, full, headings, only, quick};
pub use work::{turns_for as work_turns, work};
