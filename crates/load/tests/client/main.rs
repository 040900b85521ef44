//! The client against real servers on this machine. Tests check counts and bounds that hold at any speed of
//! the machine.
#![cfg(target_os = "linux")]

mod hostile;
mod http2;
mod omission;
mod secured;
mod world;

/// Tests check how much memory a malicious response takes.
#[global_allocator]
static ALLOCATOR: fathom_test_memory::Counting = fathom_test_memory::Counting;
