//! Adds a known delay to calls or to a thread. The share of the delay that appears in the total time is the
//! share that was on the critical path.
//!
//! Calls are delayed by their filter's own instructions ([`crate::Steps`]). If there are few calls, they are
//! delayed one by one: the kernel notifies Fathom of each. A thread is stopped for a fraction of the time
//! that it runs.

#[cfg(launcher)]
mod asked;
#[cfg(launcher)]
mod steps;
#[cfg(launcher)]
mod stopped;

use std::time::Duration;

#[cfg(launcher)]
pub(crate) use asked::Asked;
#[cfg(launcher)]
pub use steps::cost_of_steps;
#[cfg(launcher)]
pub(crate) use stopped::Stopper;
#[cfg(launcher)]
pub use stopped::can_stop_threads;

/// A delay that Fathom adds to a command, in addition to what its filter does by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Delay {
    /// Delays each call that the filter reports to Fathom by this duration.
    Calls(Duration),
    /// Stops these threads for this many thousandths of the time that they run.
    Threads(ThreadName, u32),
}

/// Identifies threads of a command across runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ThreadName {
    /// The name of their process, which is that of its first thread; at most 15 bytes.
    pub process: String,
    /// The position of the thread in its process, from 0, in order of creation. If absent, all threads with
    /// `name` are meant.
    pub place: Option<usize>,
    /// The thread's name, at most 15 bytes.
    pub name: String,
}
