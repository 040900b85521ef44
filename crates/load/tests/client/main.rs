//! The client against real servers on this machine. Counts and bounds that hold whatever the
//! machine's speed.
#![cfg(target_os = "linux")]

mod hostile;
mod http2;
mod memory;
mod omission;
mod secured;
mod world;
