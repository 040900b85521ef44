//! Commands in, measurements out.
//!
//! A [`CommandLine`] describes a command and its conditions. An [`Executor`] runs it once and returns a
//! [`fathom_model::Run`]; [`ProcessExecutor`] does so for real, [`simulated`] exactly and immediately.
//! [`conduct`] runs the rounds, and [`assess`](mod@assess) draws the conclusions.

pub mod assess;
mod beside;
mod call_filter;
pub mod cgroup;
mod command_line;
mod date;
mod delay;
mod digest;
mod environment;
mod error;
mod executor;
mod journal;
pub mod lookup;
mod mounts;
#[cfg(all(test, launcher))]
mod mutated;
mod rounds;
mod seccomp;
pub mod simulated;

#[cfg(launcher)]
mod drain;
mod emptying;
#[cfg(launcher)]
mod holders;
mod hooks;
#[cfg(launcher)]
mod input;
pub mod interrupt;
#[cfg(launcher)]
mod launcher;
#[cfg(launcher)]
mod page_cache;
#[cfg(launcher)]
pub mod pipeline;
#[cfg(launcher)]
mod process;
#[cfg(launcher)]
mod questions;
#[cfg(launcher)]
pub mod server;
#[cfg(launcher)]
pub mod startup;
#[cfg(launcher)]
mod steal;
#[cfg(launcher)]
mod traced;

pub use assess::{Against, Question, Verdicts, assess};
pub use beside::{Beside, write_whole};
pub use call_filter::{Answered, CallFilter, Steps};
pub use command_line::{CommandLine, Expectation, Input, Output, Without};
pub use date::now_rfc3339;
pub use delay::{Delay, ThreadName};
#[cfg(launcher)]
pub use delay::{can_stop_threads, cost_of_steps};
pub use digest::OutputDigest;
pub use environment::{remember_what_the_loader_took, variables};
pub use error::MeasureError;
pub use executor::{Attempt, Executor, Iteration, RunReport};
pub use hooks::end as end_what_hooks_left;
pub use journal::{Frame, Journal, write_bench};
pub use mounts::{Mount, try_mounts};
pub use rounds::{
    IgnoreFailure, Limits, Observer, Plan, Session, Silent, StopRule, WarmUp, conduct, go_on,
};

#[cfg(launcher)]
pub use page_cache::Renewal;
#[cfg(launcher)]
pub use process::{Hook, Hooks, ProcessExecutor, ProcessOptions};
#[cfg(launcher)]
pub use traced::traced_input;

/// An `LD_PRELOAD` library that joins small reads and writes of files.
#[cfg(launcher)]
pub fn joining_library() -> &'static [u8] {
    fathom_launcher::JOINING
}

/// Explains why a process or thread can't be created (`EAGAIN`), and where to look.
pub const NO_FURTHER_THREAD: &str = "the system allows no more processes or threads; the limits are this user's `ulimit -u` and pids.max of its \
     control group";
