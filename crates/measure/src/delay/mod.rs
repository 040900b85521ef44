//! A known delay for calls or for a thread: what of it comes out at the end lay on the critical path.
//!
//! Calls are delayed by their filter's own instructions ([`crate::Steps`]), or, where there are few
//! of them, one by one: the kernel asks Fathom about each. A thread is stopped for a part of the time that
//! it runs.

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

/// What is delayed of a command, beyond what its filter does by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Delay {
    /// Each call that its filter asks about, for so long.
    Calls(Duration),
    /// Threads, for so many thousandths of the time that they run.
    Threads(ThreadName, u32),
}

/// Threads of a command, as they are known from run to run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ThreadName {
    /// Name of their process: of its first thread, at most 15 bytes.
    pub process: String,
    /// The how manieth of its process it is, from 0; all of this name if absent.
    pub place: Option<usize>,
    /// Its name, at most 15 bytes.
    pub name: String,
}
