//! From the call of `execve` to the first byte of output, and to the exit.
//!
//! [`measure`] makes the rounds, warm and cold; [`observe()`] traces further runs for
//! phases and files; [`summaries`] and [`comparisons`] say what follows. `docs/startup.md` says
//! where the stamps are taken.

mod chain;
mod cold;
mod elf;
mod observe;
mod output;
mod phases;
mod session;
mod starved;
mod story;
mod summary;
mod terminal;
pub mod watch;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

pub use chain::files_of;
pub use cold::{Chill, ColdFiles, Evictor};
pub use observe::{Observed, best_tier, compare_with_timed, observe};
pub use session::{CoreLook, Keeper, Rounds, StartupSession, Subject, measure, warm_up};
pub use summary::{budget, comparisons, judged_metric, summaries};
pub use terminal::first_output_on_a_terminal;

/// Limits of observed runs.
#[derive(Debug, Clone)]
pub struct ObserveOptions {
    /// Longest time that one may take.
    pub timeout: Option<Duration>,
    /// Ends the run that is on when it becomes true.
    pub stop: Arc<AtomicBool>,
}
