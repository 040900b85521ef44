//! Detects costs that are paid for each item, although a batch could share them.

mod builds;
mod call_cost;
mod checked;
mod clocks;
mod kernel;
mod lookups;
mod memory;
mod objects;
mod signals;
mod streams;
#[cfg(test)]
mod tests;
mod tiny_files;

pub(crate) use builds::unoptimised;
pub(crate) use call_cost::{CallCost, part_of};
pub(crate) use checked::checked;
pub(crate) use clocks::{clock_calls, clock_reads};
pub(crate) use kernel::one_call;
pub(crate) use lookups::missing;
pub(crate) use memory::given_back;
pub(crate) use objects::objects;
pub(crate) use signals::signals;
pub(crate) use streams::{input, lines, output, records};
pub(crate) use tiny_files::{mapped_files, moved_files, read_one_by_one};
