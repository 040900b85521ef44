//! Kernel-side observation of a process tree: what it called, what it waited for, and for how long.
//!
//! ```no_run
//! use fathom_trace::{Tier, TraceCommand, TraceOptions, trace};
//!
//! let command = TraceCommand::new(["dd", "if=/dev/zero", "of=/dev/null", "bs=1", "count=1000"]);
//! let trace = trace(&command, Tier::Kernel, &TraceOptions::default())?;
//! for row in &trace.syscalls {
//!     println!("{} on {:?}: {} calls, {} ns", row.name, row.fd, row.calls, row.total_ns);
//! }
//! # Ok::<(), fathom_trace::TraceError>(())
//! ```
//!
//! A traced run explains; it never times. Which tiers a machine allows, [`detect`](detect::detect)
//! tells by trying them. Linux only.

mod accounts;
pub mod calls;
mod collect;
mod command;
pub mod detect;
mod error;
mod guardian;
mod inherited;
mod kernel;
mod made;
mod merge;
mod names;
mod records;
mod result;
mod sample;
mod spawn;
mod stops;
mod watch;

pub use command::{Io, TimelineOptions, TraceCommand, TraceOptions};
pub use error::TraceError;
pub use kernel::btf::BtfError;
pub use result::{
    Accounts, Cause, CodeFault, DescriptorRow, End, Exec, FileRow, Interval, LookupRow, Losses,
    OffCpuRow, Process, SIZE_LIMITS, Sampling, SyscallRow, Thread, Tier, Trace,
};

/// Runs the command to its end under this tier and tells what was seen.
///
/// Blocks; the child is bound to the calling thread, which must live until this returns. Descendants
/// that outlive the command are killed.
///
/// # Errors
/// [`TraceError`]; nothing is left running then.
pub fn trace(
    command: &TraceCommand,
    tier: Tier,
    options: &TraceOptions,
) -> Result<Trace, TraceError> {
    match tier {
        Tier::Kernel => kernel::observe(command, options),
        Tier::Sample => sample::observe(command, options),
        Tier::Stops => stops::observe(command, options),
    }
}
