//! What this machine can do at most, and whether it is quiet enough to measure on.

mod kernels;
mod result;
pub use result::{Estimator, Heading, ProbeResult, Verdict};
