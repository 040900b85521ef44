//! What led to where threads were?
//!
//! Whoever sees a thread hands over its registers and a copy of the top of its stack. The copies are
//! kept in bounded memory, with what their process had mapped then, until the run is over; then they
//! are followed outwards and dropped. Frames are places in files until they are named, after the last
//! run.

mod alike;
mod collector;
mod pool;

pub(crate) use collector::{Random, RawStack, StackCollector};
pub use pool::StackPool;
