//! The ptrace tier: each call is stopped twice through `ptrace` until a budget is spent; then the command
//! runs freely.
//!
//! It needs no privilege other than that of tracing its own children. Counts are exact until the budget is
//! spent; times include the stops themselves, 12 to 90 us each. Alternatively, the command is stopped only at
//! its milestones (`TraceOptions::only_milestones`): then times are accurate, and calls and files are not
//! seen.

mod entry;
mod execed;
mod observe;
mod requests;
mod run;
mod stacks;
mod table;

pub(crate) use observe::{attempt, observe};
pub use run::TIMES_HOLD_STOPS;
