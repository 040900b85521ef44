//! Native call stacks: from copied stacks and registers to named frames.
//!
//! Nothing here observes a process: bytes and files in, frames out.

mod tree;

pub use tree::{Frame, Node, Reach, StackTree};
