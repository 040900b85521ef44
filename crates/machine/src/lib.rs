//! What this machine can do at most, and whether it is quiet enough to measure on.

mod affinity;
mod chase;
mod gate;
mod kernels;
mod mapping;
mod result;
mod samples;
mod track;

pub use result::{Estimator, Heading, ProbeResult, Verdict};
