//! The ptrace tier: every call stopped twice through `ptrace`, up to a budget, then let run freely.
//!
//! Needs no privilege beyond being allowed to trace one's own children. Counts are exact up to the
//! budget; times hold the stops themselves, 12 to 90 us each. Or stopped at its milestones only
//! (`TraceOptions::only_milestones`): then times hold, and calls and files are not seen.

mod entry;
mod execed;
mod observe;
mod requests;
mod run;
mod stacks;
mod table;

pub(crate) use observe::{attempt, observe};
pub use run::TIMES_HOLD_STOPS;
