//! The sampling tier: what is each thread doing, asked 1000 times a second from outside.
//!
//! Needs no privilege and does not slow the target, but sees shares and no counts. Where the kernel
//! also records the switches (the perf tier), the times of waits are exact.

mod affinity;
mod attach;
mod observe;
pub(crate) mod parse;
mod thread;
mod timeline;
mod tree;

pub(crate) use attach::attach;
pub use observe::NO_CALLS;
pub(crate) use observe::{observe, observe_group};
