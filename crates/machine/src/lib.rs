//! The limits of this machine's performance, and whether it is quiet enough to measure on.

mod affinity;
mod best;
mod call_sample;
mod chase;
mod check;
mod context;
mod core_state;
mod core_width;
mod cpu_gate;
#[cfg(test)]
mod damaged;
mod deadline;
mod environment;
mod fingerprint;
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
mod spaced_visits;
mod suite;
mod track;
pub mod tune;
mod work;

pub use affinity::allowed_cpus;
pub use best::BestFigures;
pub use call_sample::{call_seconds, entry_32_seconds, lookup_seconds, simplest_call_seconds};
pub use check::{AgainstItself, as_remembered, check, disturbance};
pub use context::available_memory;
pub use core_width::cycles_per_addition;
pub use environment::environment;
pub use fathom_model::{CheckReport, Fitness, ProbeResult, SelfComparison};
pub use reported::{ReportedCache, caches as reported_caches};
pub use result::Heading;
pub use suite::{Canaries, Options, Progress, canaries, everything, full, headings, only, quick};
pub use work::{turns_for as work_turns, work};
