//! The sampling tier: the activity of each thread, sampled 1000 times a second from outside.
//!
//! It needs no privileges and doesn't slow down the target, but it gives only shares, not counts. If the
//! kernel also records the switches (the perf tier), the times of waits are exact.

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
