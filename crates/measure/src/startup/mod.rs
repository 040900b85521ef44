//! Measures from the call of `execve` to the first byte of output, and to the exit.
//!
//! [`measure`] runs the rounds, warm and cold; [`trace_starts`] traces additional runs. `docs/startup.md`
//! says where the timestamps are taken.

mod cold;
mod elf;
mod interpreters;
mod paths;
mod session;
mod terminal;
mod trace_starts;
pub mod watch;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

pub use cold::{Chill, ColdFiles, Evictor};
pub use interpreters::files_of;
pub use paths::ResolvedPaths;
pub use session::{CoreProbe, Keeper, Rounds, StartupSession, Subject, measure, warm_up};
pub use terminal::first_output_on_a_terminal;
pub use trace_starts::{Purpose, STDOUT, TracedStart, trace_starts};

/// Limits of traced runs.
#[derive(Debug, Clone)]
pub struct ObserveOptions {
    /// The time limit of a run.
    pub timeout: Option<Duration>,
    /// Ends the current run when it becomes true.
    pub stop: Arc<AtomicBool>,
}
