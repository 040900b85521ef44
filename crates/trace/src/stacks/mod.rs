//! The callers that led to where threads were.
//!
//! The observer of a thread passes its registers and a copy of the top of its stack. The copies are kept in
//! bounded memory until the run is over, together with the mappings of the process at that time. They are
//! then unwound and dropped. Frames are positions in files until they are named, after the last run.

mod alike;
mod collector;
mod java;
mod pool;

pub(crate) use collector::{Random, RawStack, StackCollector};
pub use pool::StackPool;
