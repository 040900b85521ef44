//! The client against real servers on this machine. Counts and bounds that hold whatever the
//! machine's speed.
#![cfg(target_os = "linux")]

mod hostile;
mod http2;
mod omission;
mod secured;
mod world;

/// Tests ask how much memory a hostile answer takes.
#[global_allocator]
static ALLOCATOR: fathom_test_memory::Counting = fathom_test_memory::Counting;
