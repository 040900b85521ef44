//! What this machine can do at most, and whether it is quiet enough to measure on.

mod affinity;
mod beside;
mod best;
mod chase;
mod check;
mod context;
mod core_width;
mod deadline;
mod environment;
mod fingerprint;
mod gate;
mod glance;
mod groups;
mod kernels;
mod mapping;
mod mounts;
mod probes;
pub mod remembered;
mod reported;
mod result;
mod ruler;
mod samples;
mod suite;
pub mod table;
mod track;
pub mod tune;
mod visits;
mod work;

pub use affinity::allowed_cpus;
pub use best::Seen;
pub use check::{
    AgainstItself, CheckItem, CheckReport, Fitness, NoiseFloor, State, ToldBy, check, disturbance,
};
pub use core_width::cycles_per_addition;
pub use environment::environment;
pub use glance::{entry_32_seconds, lookup_seconds};
pub use probes::noise::Gaps;
pub use reported::{ReportedCache, caches as reported_caches};
pub use result::{Estimator, Heading, ProbeResult, Verdict};
pub use suite::{Options, Progress, canaries, everything, full, headings, only, quick};
pub use work::{turns_for as work_turns, work};
