//! The launcher: a static program of a few pages that starts the measured commands for Fathom.
//!
//! Why there is one at all: when a process executes a program, the kernel carries the largest
//! memory that the process had so far over into the program's own peak, however the process was
//! made. A child of Fathom would be reported with Fathom's memory. The launcher has next to none.
//! It is single-threaded, allocates nothing, and stays as it is however many runs there are.
//!
//! It also makes every descendant that loses its parent its own child, so that nothing escapes, and
//! it ends them all when Fathom dies.
//!
//! This source is compiled twice. As a library it gives Fathom the memory that both share
//! ([`shared`]), what the accounts in it mean ([`account`]), and the two programs. With
//! `program="launcher"` or `program="floor"` it is one of these programs: see `build.rs`.
#![cfg_attr(not(test), no_std)]
#![cfg_attr(program, no_main)]

pub mod account;
pub mod shared;

#[cfg(supported)]
mod child;
#[cfg(supported)]
mod death;
#[cfg(supported)]
mod files;
#[cfg(supported)]
mod jobs;
#[cfg(supported)]
mod pipeline;
#[cfg(supported)]
mod record;
#[cfg(supported)]
mod serve;
#[cfg(supported)]
mod system;
#[cfg(supported)]
mod tree;

#[cfg(program = "launcher")]
mod entry;
#[cfg(program = "floor")]
mod floor;
#[cfg(any(test, program = "launcher"))]
mod memory_functions;

#[cfg(supported)]
pub use serve::serve;

/// The launcher, an ELF file.
#[cfg(all(supported, not(program)))]
pub static LAUNCHER: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/launcher"));

/// The empty program, an ELF file: what running it costs is the floor under every measurement.
#[cfg(all(supported, not(program)))]
pub static FLOOR: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/floor"));
